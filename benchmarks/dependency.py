"""How does kernel dependency estimation do on real data with several outputs, and what does it cost?

Silhouettes to postures, torques of a robot arm and all Mulan sets: ``DependencyRegressor`` against
scikit-learn's kernel ridge, Gaussian process and nearest neighbours, all under the same three folds, with
hyperparameters chosen by three inner folds. Then the time of a fit and of a prediction against
``KernelRidge``. The first part needs the environment variable ISTHMUS_DATA and some twenty minutes.

    ISTHMUS_DATA=... python benchmarks/dependency.py --write docs/dependency.md
"""

from __future__ import annotations

import argparse
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from _common import (
    Row,
    best_times,
    largest_difference,
    low_rank_data,
    print_header,
    print_row,
    print_summary,
    record,
    versions,
)
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.impute import SimpleImputer
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isthmus import DependencyRegressor, KernelMap, ReducedRankRegression
from isthmus.datasets import load_mulan, load_sarcos, load_silhouette_pose
from isthmus.kernels import median_gamma

MULAN = ("atp1d", "atp7d", "edm", "enb", "jura", "oes97", "rf1", "scm20d", "wq")
SETS = ("silhouettes", "sarcos", *MULAN)
MOST_ROWS, GP_ROWS, OUTER, INNER = 1500, 300, 3, 3
WIDTHS, ALPHAS = (0.01, 0.1, 0.3, 1.0, 3.0), (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)
OUTPUT_WIDTHS, SEARCH_ROWS = (0.1, 1.0), 400
BOUND = 1.1


def problem(name: str) -> tuple[NDArray, NDArray]:
    """At most 1500 rows, drawn once; inputs and outputs that never change are left out."""
    if name == "silhouettes":
        bunch = load_silhouette_pose()
    elif name == "sarcos":
        bunch = load_sarcos()
    else:
        bunch = load_mulan(name)
    order = np.random.default_rng(0).permutation(len(bunch.data))[:MOST_ROWS]
    X, Y = bunch.data[order], bunch.target[order]
    return X[:, np.nanstd(X, axis=0) > 0], Y[:, Y.std(axis=0) > 0]


def kernel_grid(X: NDArray, prefix: str, alpha: str) -> dict[str, Any]:
    gamma = median_gamma(X, random_state=0)
    return {f"{prefix}gamma": [width * gamma for width in WIDTHS], alpha: list(ALPHAS)}


def search(model: Any, grid: dict[str, Any], X: NDArray, Y: NDArray) -> Any:
    folds = KFold(INNER, shuffle=True, random_state=0)
    return GridSearchCV(model, grid, cv=folds, scoring="neg_mean_squared_error").fit(X, Y)


def fits(X: NDArray, Y: NDArray) -> dict[str, Any]:
    """Every method, with its hyperparameters chosen on these rows."""
    linear = search(
        DependencyRegressor(KernelMap(), Ridge()),
        kernel_grid(X, "inputs__", "map__alpha"),
        X,
        Y,
    ).best_estimator_
    gamma, alpha = linear.inputs.gamma, linear.map.alpha
    low_rank = search(
        DependencyRegressor(
            KernelMap(gamma=gamma, random_state=0),
            ReducedRankRegression(alpha=alpha, scale=False),
        ),
        {"map__n_components": sorted({1, 2, Y.shape[1] // 2, Y.shape[1]} - {0})},
        X,
        Y,
    ).best_estimator_
    return {
        "DependencyRegressor, no search": DependencyRegressor(
            KernelMap(random_state=0), RidgeCV(ALPHAS)
        ).fit(X, Y),
        "DependencyRegressor, linear outputs": linear,
        "DependencyRegressor, low rank": low_rank,
        "DependencyRegressor, RBF outputs": rbf_outputs(X, Y),
        "KernelRidge": search(KernelRidge(kernel="rbf"), kernel_grid(X, "", "alpha"), X, Y),
        "Gaussian process": gaussian_process(X, Y),
        "nearest neighbours": search(
            KNeighborsRegressor(weights="distance"), {"n_neighbors": [1, 3, 5, 10, 20]}, X, Y
        ),
    }


def rbf_outputs(X: NDArray, Y: NDArray) -> Any:
    """Outputs with a kernel of their own; widths and ridge weight by at most 400 rows, then all rows."""
    outputs = KernelMap(n_components=min(100, len(X) // 4), preimage="learned", random_state=0)
    x_gamma, y_gamma = median_gamma(X, random_state=0), median_gamma(Y, random_state=0)
    grid = {
        "inputs__gamma": [factor * x_gamma for factor in WIDTHS[1::2]],
        "map__alpha": list(ALPHAS[1:]),
        "outputs__gamma": [factor * y_gamma for factor in OUTPUT_WIDTHS],
    }
    model = DependencyRegressor(KernelMap(), Ridge(), outputs)
    found = search(model, grid, X[:SEARCH_ROWS], Y[:SEARCH_ROWS])
    return clone(found.best_estimator_).fit(X, Y)


def gaussian_process(X: NDArray, Y: NDArray) -> GaussianProcessRegressor:
    """Hyperparameters by likelihood on at most 300 rows, then all rows."""
    scale = 1 / np.sqrt(2 * median_gamma(X, random_state=0))
    first = GaussianProcessRegressor(1.0 * RBF(scale) + WhiteKernel(0.1)).fit(
        X[:GP_ROWS], Y[:GP_ROWS]
    )
    return clone(first).set_params(kernel=first.kernel_, optimizer=None).fit(X, Y)


def table() -> list[str]:
    lines: list[str] = []
    for name in SETS:
        X, Y = problem(name)
        errors: dict[str, list[NDArray]] = {}
        for train, test in KFold(OUTER, shuffle=True, random_state=1).split(X):
            inputs = make_pipeline(SimpleImputer(), StandardScaler()).fit(X[train])
            outputs = StandardScaler().fit(Y[train])
            A, B = inputs.transform(X[train]), outputs.transform(Y[train])
            truth = outputs.transform(Y[test])
            for method, model in fits(A, B).items():
                left = ((model.predict(inputs.transform(X[test])) - truth) ** 2).sum(axis=0)
                errors.setdefault(method, []).append(left)
        total = ((Y - Y.mean(axis=0)) ** 2).sum(axis=0) / Y.var(axis=0)
        scores = {m: float(np.sqrt(np.sum(e, axis=0) / total).mean()) for m, e in errors.items()}
        if not lines:
            lines = ["| set | rows x inputs -> outputs | " + " | ".join(scores) + " |"]
            lines.append("|---" * (len(scores) + 2) + "|")
        best = min(scores.values())
        cells = [
            f"**{value:.3f}**" if value == best else f"{value:.3f}" for value in scores.values()
        ]
        shape = f"{X.shape[0]} x {X.shape[1]} -> {Y.shape[1]}"
        lines.append(f"| {name} | {shape} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    return lines


def speed() -> list[Row]:
    return [
        row
        for shape in ((1000, 20, 5), (2000, 50, 20), (3000, 20, 1))
        for row in contest_of(*shape)
    ]


def contest_of(n: int, p: int, q: int) -> list[Row]:
    rows = []
    X, Y = low_rank_data(n, p, q)
    Y = Y - Y.mean(axis=0)
    gamma = 1 / (2 * p)
    ours = DependencyRegressor(KernelMap(gamma=gamma), Ridge(1.0))
    peer = KernelRidge(kernel="rbf", gamma=gamma, alpha=1.0)
    times = best_times({"ours": lambda: ours.fit(X, Y), "peer": lambda: peer.fit(X, Y)}, 15)
    shape = f"{n} x {p} -> {q}"
    rows.append(
        Row("fit", shape, 1, 1e3 * times["ours"], 1e3 * times["peer"], BOUND, peer="KernelRidge")
    )
    print_row(rows[-1])
    Z = X[:1000] + 0.1
    times = best_times({"ours": lambda: ours.predict(Z), "peer": lambda: peer.predict(Z)}, 15)
    rows.append(
        Row(
            "predict 1000 rows",
            shape,
            1,
            1e3 * times["ours"],
            1e3 * times["peer"],
            BOUND,
            difference=largest_difference(ours.predict(Z), peer.predict(Z)),
            peer="KernelRidge",
            note="without an intercept",
        )
    )
    print_row(rows[-1])
    return rows


def document(lines: list[str], rows: list[Row]) -> str:
    times = "\n".join(
        f"- {row.question}, {row.shape}: {row.ratio:.2f} of {row.peer}'s time." for row in rows
    )
    return f"""# Several real outputs

Written by [`benchmarks/dependency.py`](../benchmarks/dependency.py). Relative root mean squared error,
averaged over outputs (1 is the mean of the training outputs), on rows that neither the fit nor the choice
of hyperparameters has seen: {OUTER} outer folds, {INNER} inner ones, at most {MOST_ROWS} rows a set drawn
once, missing inputs (rf1) replaced by means and everything standardised inside the folds. Kernel width and
ridge weight from {len(WIDTHS)} x {len(ALPHAS)} values, the same for `DependencyRegressor` and
`KernelRidge`. The Gaussian process has its hyperparameters from the likelihood of at most {GP_ROWS} rows,
RBF outputs their widths and ridge weight from a search on at most {SEARCH_ROWS} rows; both are then
fitted to all.
"No search" is the median width and `RidgeCV`, whose leave-one-out error takes one fit. {versions()}.

{chr(10).join(lines)}

## What it shows

With linear outputs `DependencyRegressor` is kernel ridge with an intercept, and does what `KernelRidge`
does; the rank constraint gains nothing beyond a hundredth. RBF outputs with the learned pre-image gain on
silhouettes and rf1, and lose on the sets with few rows, where the pre-image is learned from as few. No
method wins everywhere: the Gaussian process is ahead on edm and scm20d, kernel ridge without an intercept
on atp7d. Two of these losses have to do with the choice of hyperparameters:

- oes97 takes a hundredth of the median's gamma in every fold, the end of the grid; one that ended at three
  tenths left 0.71 here.
- scm20d needs a narrower one than the grid has. With ten times the median's gamma the first fold has 0.489,
  the Gaussian process 0.497 there; this was seen after the table and is not in it.

The median width with `RidgeCV` is within three per cent of the searched one on seven of eleven sets, and
far off on oes97 and rf1: the width is worth a search.

## Time

With a linear output kernel, one thread, best of fifteen turns taken alternately:

{times}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="write the tables to this file")
    parser.add_argument("--record", action="store_true", help="append the ratios to results.csv")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print_header()
    rows = speed()
    print_summary(rows)
    if os.environ.get("ISTHMUS_DATA"):
        lines = table()
        if options.write:
            options.write.write_text(document(lines, rows), "utf-8")
    if options.record:
        record(rows)


if __name__ == "__main__":
    main()
