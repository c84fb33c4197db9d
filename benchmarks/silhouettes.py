"""How well do kernel dependency estimation and supervised coordinates read a body pose off a silhouette?

Shape-context histograms of real silhouettes (100 numbers) to 21 points of the body (63 numbers), the
training and test rows of the set. Neighbouring rows of a sequence are nearly alike, so that every
hyperparameter is chosen by folds that keep sequences together; no choice sees the test rows. Errors are
mean distances of points in the unit of the set. Needs the environment variable ISTHMUS_DATA; about half
a minute of one core, because kernel maps and projections take landmarks.

    ISTHMUS_DATA=... python benchmarks/silhouettes.py --write docs/imitation.md
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from _common import machine, versions
from imitation import put
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.neighbors import KNeighborsRegressor

from isthmus import COIR, MORP, DependencyRegressor, KernelMap, KernelSIR, ReducedRankRegression
from isthmus.datasets import load_silhouette_pose
from isthmus.kernels import gram, median_gamma
from isthmus.kernels.gram_matrix import gram_diagonal

FOLDS, LANDMARKS, COORDINATES = 4, 400, 10
WIDTHS, ALPHAS = (0.1, 0.3, 1.0, 3.0), (1e-3, 1e-2, 1e-1, 1.0, 10.0)
TV = "histogram_intersection"
NEIGHBOURS = (1, 2, 4, 8, 16, 32, 64)


def point_error(predicted: NDArray, true: NDArray) -> float:
    """Mean distance of body points."""
    away = (predicted - true).reshape(len(true), -1, 3)
    return float(np.linalg.norm(away, axis=2).mean())


class Table:
    """Training rows, test rows, folds of whole sequences, and a line for each method."""

    def __init__(self) -> None:
        bunch = load_silhouette_pose()
        train = bunch.train_index
        test = np.setdiff1d(np.arange(len(bunch.data)), train)
        self.X, self.Y = bunch.data[train], bunch.target[train]
        self.X_test, self.Y_test = bunch.data[test], bunch.target[test]
        self.folds = list(GroupKFold(FOLDS).split(self.X, groups=bunch.sequence[train]))
        self.mean = self.Y.mean(axis=0)
        self.lines = ["| method | mean point error | chosen |", "|---|---|---|"]

    def add(self, name: str, predicted: NDArray, chosen: str = "") -> None:
        self.lines.append(f"| {name} | {point_error(predicted, self.Y_test):.2f} | {chosen} |")
        print(f"{time.process_time():6.1f} s  {self.lines[-1]}", flush=True)

    def search(self, name: str, model: BaseEstimator, grid: dict[str, Any], X=None, X_test=None):
        """Choose by the folds, fit all training rows, predict the test rows."""
        X, X_test = (self.X, self.X_test) if X is None else (X, X_test)
        found = GridSearchCV(model, grid, cv=self.folds, scoring="neg_mean_squared_error")
        found.fit(X, self.Y - self.mean)
        self.add(name, found.predict(X_test) + self.mean, told(found.best_params_))
        return found.best_params_


def told(parameters: dict[str, Any]) -> str:
    return ", ".join(f"{key.split('__')[-1]} {value:.3g}" for key, value in parameters.items())


def peers(table: Table) -> dict[str, float]:
    """What everybody has: mean, ridge, neighbours, kernel ridge. Returns width and ridge of the last."""
    table.add("mean of the training rows", np.broadcast_to(table.mean, table.Y_test.shape))
    table.search("ridge", Ridge(), {"alpha": np.logspace(-1, 6, 15)})
    table.search(
        "k nearest neighbours, L1",
        KNeighborsRegressor(metric="manhattan"),
        {"n_neighbors": NEIGHBOURS},
    )
    gamma = median_gamma(table.X, random_state=0)
    return table.search(
        "kernel ridge, Gaussian",
        KernelRidge(kernel="rbf"),
        {"gamma": [w * gamma for w in WIDTHS], "alpha": ALPHAS},
    )


def intersection_ridge(table: Table) -> float:
    """Kernel ridge with the kernel of the thesis. Returns the ridge as a share of the mean diagonal."""
    K, K_test = gram(TV, table.X), gram(TV, table.X_test, table.X)
    size = float(np.diag(K).mean())
    best = table.search(
        "kernel ridge, histogram intersection",
        KernelRidge(kernel="precomputed"),
        {"alpha": [size * alpha for alpha in ALPHAS]},
        K,
        K_test,
    )
    return float(best["alpha"])


def dependency(table: Table, best: dict[str, float], tv_alpha: float) -> None:
    """Kernel dependency estimation: linear outputs, a low rank, and a kernel on the outputs."""
    gaussian = KernelMap(
        gamma=float(best["gamma"]), solver="landmarks", n_landmarks=LANDMARKS, random_state=0
    )
    crossing = KernelMap(kernel=TV, solver="landmarks", n_landmarks=LANDMARKS, random_state=0)
    ranks = [2, 4, 8, 16, 32]
    for name, inputs, alpha in (
        ("Gaussian", gaussian, float(best["alpha"])),
        ("histogram intersection", crossing, tv_alpha),
    ):
        pipe = DependencyRegressor(inputs, ReducedRankRegression(alpha=alpha, scale=False))
        table.search(
            f"DependencyRegressor, {name}, rank chosen", pipe, {"map__n_components": ranks}
        )
    for preimage, label in (("learned", "learned pre-image"), ("nearest", "nearest posture")):
        outputs = KernelMap(n_components=60, preimage=preimage, random_state=0)
        model = DependencyRegressor(gaussian, Ridge(float(best["alpha"])), outputs)
        model.fit(table.X, table.Y)
        table.add(
            f"DependencyRegressor, Gaussian inputs and outputs, {label}",
            model.predict(table.X_test),
        )


ENDS = {
    "k nearest neighbours": [KNeighborsRegressor(k) for k in NEIGHBOURS],
    "ridge": [Ridge(1e-6)],  # ten coordinates of unit-free scale: the projection's ridge is enough
}


def projections(table: Table) -> None:
    """Ten supervised coordinates, then neighbours and least squares in them."""
    common = {
        "n_components": COORDINATES,
        "solver": "features",
        "n_landmarks": LANDMARKS,
        "cv": None,
        "random_state": 0,
    }
    models = {
        "COIR": COIR(kernel=TV, **common),
        "KernelSIR": KernelSIR(kernel=TV, n_slices=20, **common),
        "MORP": MORP(kernel=TV, **common),
    }
    trace = float(gram_diagonal(TV, table.X).sum())
    alphas = [share * trace for share in (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)]
    for name, model in models.items():
        errors = {alpha: fold_errors(table, model.set_params(alpha=alpha)) for alpha in alphas}
        for label, ends in ENDS.items():
            alpha, i = min(
                ((alpha, i) for alpha in alphas for i in range(len(ends))),
                key=lambda pair: errors[pair[0]][label][pair[1]],
            )
            model.set_params(alpha=alpha).fit(table.X, table.Y)
            end = ends[i].fit(model.transform(table.X), table.Y)
            chosen = {"alpha": alpha / trace} | (
                {"n_neighbors": end.n_neighbors} if len(ends) > 1 else {}
            )
            table.add(
                f"{name}, {COORDINATES} coordinates, {label}",
                end.predict(model.transform(table.X_test)),
                told(chosen),
            )


def fold_errors(table: Table, model: Any) -> dict[str, NDArray]:
    """Squared errors of held-out sequences, one number for each way to end."""
    sums = {label: np.zeros(len(ends)) for label, ends in ENDS.items()}
    for train, held in table.folds:
        Z = model.fit(table.X[train], table.Y[train]).transform(table.X)
        for label, ends in ENDS.items():
            for i, end in enumerate(ends):
                off = end.fit(Z[train], table.Y[train]).predict(Z[held]) - table.Y[held]
                sums[label][i] += float((off**2).sum())
    return sums


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", type=Path, help="replace the table of this document")
    arguments = parser.parse_args()
    print(f"{machine()}; {versions()}")
    table = Table()
    best = peers(table)
    dependency(table, best, intersection_ridge(table))
    projections(table)
    print("", *table.lines, sep="\n")
    if arguments.write:
        put(arguments.write, "silhouettes", table.lines)


if __name__ == "__main__":
    main()
