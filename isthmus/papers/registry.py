"""All experiments, by paper: the rows of ``experiments.toml`` in the folder of each paper."""

from __future__ import annotations

import tomllib
from importlib.resources import files

from isthmus.papers.experiment import Experiment

# Key in docs/references.bib: folder of the paper, and its title.
_FOLDERS = {
    "BGFS2004": ("stiefel_report", "Multivariate regression with Stiefel constraints (2004)"),
    "B2006": (
        "kernel_dependency_thesis",
        "Extensions to kernel dependency estimation (thesis, 2006)",
    ),
    "KP2008": ("coir", "Covariance operator inverse regression (2008)"),
    "YYT2005": ("morp", "Multi-output regularised projection (2005)"),
    "CSGHY": ("riemannian_pls", "Partial least squares on Riemannian manifolds"),
}
PAPERS = {paper: title for paper, (_, title) in _FOLDERS.items()}


def _read_experiments() -> dict[str, Experiment]:
    experiments = {}
    for paper, (folder, _) in _FOLDERS.items():
        text = files("isthmus.papers").joinpath(folder, "experiments.toml").read_text("utf-8")
        for name, row in tomllib.loads(text).items():
            module = f"isthmus.papers.{folder}.{row.pop('module')}"
            needs = tuple(row.pop("needs", ()))
            experiments[name] = Experiment(name, paper, module=module, needs=needs, **row)
    return experiments


EXPERIMENTS = _read_experiments()
