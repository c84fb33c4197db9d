"""What `fit_auto` costs: beside a grid search over as many kernels, and the joint grid beside its floor.

``grid``: eleven treatments, 25 ranks, 22 ridge weights and 10 folds on 80 x 700 -> 4, at most 2 s on one
thread and four times the eigendecompositions, products and treatments that nothing can avoid.
``table``: 400 x 300 -> 16 at most five times `GridSearchCV(KernelRidge)` over as many kernels, widths and
weights and 20 s; 50 x 30 -> 6 at most 3 s. Processor time, one thread.
``fat``: Tecator's fat on its published test rows, trained on the training and monitoring rows.
What is measured joins the store of `auto.py`, from which `auto_page.py` writes the page.

    OMP_NUM_THREADS=1 python benchmarks/auto_time.py grid table fat
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from auto import STORE, Store
from numpy.typing import NDArray
from scipy.linalg import eigh
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, KFold

from isthmus import ComponentSearchCV, ReducedRankRegression, fit_auto
from isthmus.auto.methods.kernel_search import ROUGH, SMOOTH, WIDTHS
from isthmus.auto.methods.principal import PrincipalSearch
from isthmus.auto.methods.treated import TreatedSearch, default_treatments
from isthmus.datasets import load_nir, make_spectra
from isthmus.problems.ridge import ALPHAS

N_TREATMENTS = 11
STORED = Store(STORE)


def seconds(work: Callable[[], Any], repeats: int) -> float:
    """Processor seconds, the least of so many runs."""
    found = []
    for _ in range(repeats):
        begin = time.process_time()
        work()
        found.append(time.process_time() - begin)
    return min(found)


def grid() -> None:
    spectra = make_spectra(80, random_state=0)
    X, Y = np.asarray(spectra.data), np.asarray(spectra.target)
    folds = list(KFold(10, shuffle=True, random_state=0).split(X))
    bank = dict(list(default_treatments().items())[:N_TREATMENTS])

    def ours() -> None:
        TreatedSearch(PrincipalSearch(), bank, cv=folds).fit(X, Y)

    def floor() -> None:
        for treatment in bank.values():
            Z = X if treatment is None else np.asarray(clone(treatment).fit_transform(X))
            Z = Z - Z.mean(axis=0)
            products = Z @ Z.T
            for train, _ in folds:
                eigh(products[np.ix_(train, train)], check_finite=False, driver="evd")

    ours()
    spent, least = seconds(ours, 5), seconds(floor, 5)
    name = "eleven treatments x 25 ranks x 22 ridge weights x 10 folds, 80 x 700 -> 4"
    STORED.add("cost", name, "ours", 1, seconds=spent, bound=min(2.0, 4 * least))
    STORED.add("cost", name, "decompositions, products and treatments alone", 1, seconds=least)

    norm = np.linalg.norm(X - X.mean(axis=0)) ** 2
    alphas = norm * np.logspace(-12, 2, 22)

    def components() -> None:
        model = ReducedRankRegression(scale=False)
        ComponentSearchCV(
            model, n_components=[1, 2, 3, 4], alpha=alphas, cv=folds, refit=False
        ).fit(X, Y)

    def loop() -> None:
        for train, test in folds:
            A, B = X[train] - X[train].mean(axis=0), Y[train] - Y[train].mean(axis=0)
            values, vectors = eigh(A @ A.T)
            scores = (X[test] - X[train].mean(axis=0)) @ A.T @ vectors
            for alpha in alphas:
                scores @ (vectors.T @ B / (values + alpha)[:, None])

    spent, least = seconds(components, 3), seconds(loop, 3)
    name = "ranks x 22 ridge weights from 1e-12 x 10 folds, 80 x 700 -> 4"
    STORED.add("cost", name, "ComponentSearchCV", 1, seconds=spent)
    STORED.add("cost", name, "a plain loop of eigh", 1, seconds=least)


def made(n: int, p: int, q: int) -> tuple[NDArray, NDArray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    return X, X @ rng.normal(size=(p, q)) + 5 * rng.normal(size=(n, q))


def table() -> None:
    X, Y = made(50, 30, 6)
    fit_auto(X, Y, verbose=0)
    spent = seconds(lambda: fit_auto(X, Y, verbose=0), 3)
    STORED.add("cost", "50 x 30 -> 6", "fit_auto", 1, seconds=spent, bound=3.0)
    X, Y = made(400, 300, 16)
    spent = seconds(lambda: fit_auto(X, Y, verbose=0), 1)
    # As many kernels and widths with one of the ridge weights: all of them cost the same.
    n_kernels = len(SMOOTH) + len(ROUGH)
    gammas = np.multiply.outer(1 + 0.01 * np.arange(n_kernels - 1), np.array(WIDTHS) / 340).ravel()
    grid = [
        {"kernel": ["rbf"], "gamma": np.array(WIDTHS) / 600, "alpha": [0.1]},
        {"kernel": ["laplacian"], "gamma": gammas, "alpha": [0.1]},
    ]
    part = seconds(lambda: GridSearchCV(KernelRidge(), grid, cv=5, refit=False).fit(X, Y), 1)
    peer = part * len(ALPHAS)
    STORED.add("cost", "400 x 300 -> 16", "fit_auto", 1, seconds=spent, bound=min(20.0, 5 * peer))
    told = f"GridSearchCV(KernelRidge), a part of its grid, times {len(ALPHAS)}"
    STORED.add("cost", "400 x 300 -> 16", told, 1, seconds=peer)


def fat() -> None:
    bunch = load_nir("tecator")
    X, Y = np.asarray(bunch.data, dtype=float), np.asarray(bunch.target, dtype=float)
    for label, treatments in (("with treatments", "auto"), ("without", None)):
        model = fit_auto(X[:172], Y[:172], treatments=treatments, verbose=0)
        off = np.asarray(model.predict(X[172:215])) - Y[172:215]
        for name, error in zip(bunch.target_names, np.sqrt((off**2).mean(axis=0)), strict=True):
            STORED.add("tecator", str(name), label, 1, error=float(error))


if __name__ == "__main__":
    parts = {"grid": grid, "table": table, "fat": fat}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for part in sys.argv[1:] or parts:
            parts[part]()
