"""All experiments, by paper: the rows of ``registry.toml``."""

from __future__ import annotations

import tomllib
from importlib.resources import files

from isthmus.experiments.base import Experiment

PAPERS = {
    "BGFS2004": "Multivariate regression with Stiefel constraints (2004)",
    "B2006": "Extensions to kernel dependency estimation (thesis, 2006)",
    "KP2008": "Covariance operator inverse regression (2008)",
    "YYT2005": "Multi-output regularised projection (2005)",
    "CSGHY": "Partial least squares on Riemannian manifolds",
}

_ROWS = tomllib.loads(files("isthmus.experiments").joinpath("registry.toml").read_text("utf-8"))
EXPERIMENTS = {
    name: Experiment(name, needs=tuple(row.pop("needs", ())), **row) for name, row in _ROWS.items()
}
