"""What do folds cost that know nothing of the order of rows, where the rows have one?

The number of components is chosen in five folds of the training rows: consecutive ones, ones that rows
are dealt to by content (what "auto" does), and ones that fit the order: later rows from earlier ones
where new rows come later, whole samples where there are scans, another draw elsewhere. Cells are the
error of new rows over that of the number that is best for them, which nobody knows: geometric means over
sets, draws and models (PLS, PCR, reduced rank), and the worst mean of a set.

- *shuffled*: rows in no order; new rows are a quarter of them.
- *sorted*: the same rows, training rows sorted by the first output.
- *time, between* and *time, after*: tables in the order of time; new rows lie between the training rows, or
  come after them.
- *drift, between* and *drift, after*: spectra whose baseline walks at random from row to row.
- *scans*: three scans of each sample, one after the other; new rows are scans of other samples.

    ISTHMUS_DATA=... python benchmarks/folds.py [--draws 4]
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from component_rules import MOST_ROWS, tables
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit, TimeSeriesSplit

from isthmus import PCR, PLS, ComponentSearchCV, ReducedRankRegression
from isthmus.kernels.distinct import deal_by_content

IN_TIME = ("atp1d", "atp7d", "rf1", "scm20d")
MIXED = ("corn_m5", "tecator", "gasoline", "dough", "oes97", "edm", "jura", "diabetes")
SCANNED = ("corn_m5", "tecator", "gasoline", "dough", "yarn", "simulated_0")
MODELS = (PLS, PCR, ReducedRankRegression)
FOLDS = ("consecutive", "by content", "of the order")


def ordered(name: str) -> tuple[NDArray, NDArray]:
    """A table in the order of time, at most so many rows of it, evenly spaced."""
    mulan = np.load(Path(os.environ["ISTHMUS_DATA"]) / "mulan_regression.npz")
    X, Y = mulan[f"{name}_X"], mulan[f"{name}_Y"]
    whole = np.flatnonzero(np.isfinite(X).all(axis=1) & np.isfinite(Y).all(axis=1))
    kept = whole[np.linspace(0, len(whole) - 1, min(len(whole), MOST_ROWS)).astype(int)]
    return X[kept].astype(float), Y[kept].astype(float)


def problems(
    draws: int,
) -> Iterator[tuple[str, str, NDArray, NDArray, NDArray, NDArray, Any, bool]]:
    """Kind, set, training and new rows, the folds of the order, and whether the inputs are a curve."""
    for name, (X, Y, curve) in tables().items():
        if name in IN_TIME:
            X, Y = ordered(name)
        n = len(X)
        rng = np.random.default_rng(0)
        for _ in range(draws):
            drawn = rng.permutation(n)
            new, rows = np.split(drawn, [n // 4])
            if name in MIXED:
                yield "shuffled", name, X[rows], Y[rows], X[new], Y[new], None, curve
                own = rows[np.argsort(Y[rows, 0])]
                yield "sorted", name, X[own], Y[own], X[new], Y[new], None, curve
            own = np.sort(rows)
            if name in IN_TIME:
                yield "time, between", name, X[own], Y[own], X[new], Y[new], None, curve
                begin = int(rng.integers(n // 4))
                early, late = np.split(np.arange(begin, begin + 3 * n // 4), [9 * n // 16])
                time = TimeSeriesSplit(5)
                yield "time, after", name, X[early], Y[early], X[late], Y[late], time, curve
            if name in SCANNED:
                spread = X.std(axis=0).mean()
                walk = np.cumsum(rng.normal(size=(n, 2)), axis=0) / np.sqrt(n)
                moved = X + spread * walk @ np.vstack(
                    [np.ones(X.shape[1]), np.linspace(-1, 1, X.shape[1])]
                )
                yield "drift, between", name, moved[own], Y[own], moved[new], Y[new], None, curve
                early, late = np.split(np.arange(n), [3 * n // 4])
                time = TimeSeriesSplit(5)
                yield (
                    "drift, after",
                    name,
                    moved[early],
                    Y[early],
                    moved[late],
                    Y[late],
                    time,
                    curve,
                )
                scans = np.repeat(own, 3)
                noise = 0.01 * spread * rng.normal(size=(3 * n, X.shape[1]))
                repeated = X[scans] + noise[: len(scans)]
                groups = np.repeat(np.arange(len(own)), 3)
                folds = list(GroupKFold(5).split(repeated, groups=groups))
                fresh = X[new] + noise[len(scans) : len(scans) + len(new)]
                yield "scans", name, repeated, Y[scans], fresh, Y[new], folds, curve


def excess(
    model: Any, A: NDArray, B: NDArray, C: NDArray, D: NDArray, of_order: Any
) -> list[float]:
    """Error of new rows over that of the best number, by each kind of folds."""
    content = PredefinedSplit(deal_by_content(A, 5, Y=B))
    unit = np.where(B.std(axis=0) > 0, B.std(axis=0), 1.0)
    ways = (KFold(5), content, of_order or KFold(5, shuffle=True, random_state=0))
    most = min(40, *A.shape, len(A) * 3 // 5 - 1)
    found = [
        ComponentSearchCV(model, n_components=most, cv=cv, refit=False).fit(A, B) for cv in ways
    ]
    path = clone(model).set_params(n_components=most).fit(A, B).predict_path(C)
    errors = np.sqrt(np.mean(((path.reshape(len(path), *D.shape) - D) / unit) ** 2, axis=(1, 2)))
    chosen = [min(search.best_params_["n_components"], len(path)) for search in found]
    return [float(errors[k - 1] / errors.min()) for k in chosen]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--draws", type=int, default=4)
    given = parser.parse_args()
    logs: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for kind, name, A, B, C, D, of_order, curve in problems(given.draws):
        for cls in MODELS:
            if cls is ReducedRankRegression and B.shape[1] == 1:
                continue
            model = cls(scale="y" if curve else True)
            logs[kind][name].append(np.log(excess(model, A, B, C, D, of_order)))
    print(f"| rows | {' | '.join(FOLDS)} |\n|---|{'---|' * len(FOLDS)}")
    for kind, sets in logs.items():
        means = np.array([np.mean(found, axis=0) for found in sets.values()])
        cells = [
            f"{np.exp(m):.3f} ({np.exp(w):.2f})"
            for m, w in zip(means.mean(axis=0), means.max(axis=0))
        ]
        print(f"| {kind} | {' | '.join(cells)} |")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
