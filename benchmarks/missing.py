"""What do holes cost? A search with 5 % of the inputs missing against the same search in complete rows.

Default calls, one process, each time the best of several turns taken alternately. "max difference" is
between the scores of the search and those of refits, in all folds and ranks. Times are of the processor, so
that other work on the machine does not count.

PCR is farthest, because its complete search costs next to nothing. Rows fewer than their columns are solved
in the space that they span, and no matrix of the order of the columns is made. Folds do not share steps:
each model of the gaps is the one that a fit to the training rows finds, and held-out rows have no say.

    python benchmarks/missing.py --repeats 5
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from _common import Row, describe, largest_difference, print_header, print_row, print_summary
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

from isthmus import PCR, PLS, ComponentSearchCV, ReducedRankRegression

SHAPES = [(1000, 22, 3), (200, 8, 2), (3000, 60, 5), (60, 300, 3), (200, 1000, 3)]
LATENT, NOISE, SHARE = 6, 0.5, 0.05
BOUND = 10.0


def rows_with_holes(n: int, p: int, q: int) -> tuple[NDArray, NDArray, NDArray]:
    """Complete inputs, the same with holes, outputs."""
    rng = np.random.default_rng(0)
    latent = rng.normal(size=(n, LATENT))
    X = latent @ rng.normal(size=(LATENT, p)) + NOISE * rng.normal(size=(n, p))
    Y = latent @ rng.normal(size=(LATENT, q)) + NOISE * rng.normal(size=(n, q))
    return X, np.where(rng.random(X.shape) < SHARE, np.nan, X), Y


def milliseconds(jobs: list[Callable[[], Any]], repeats: int) -> list[float]:
    """Best processor time of each job."""
    best = [np.inf] * len(jobs)
    for _ in range(repeats):
        for i, job in enumerate(jobs):
            begin = time.process_time()
            job()
            best[i] = min(best[i], 1e3 * (time.process_time() - begin))
    return best


def difference_to_refits(search: Any, X: NDArray, Y: NDArray) -> float:
    """Between the scores of the first three candidates and those of refits."""
    worst = 0.0
    for i, (train, test) in enumerate(KFold(5).split(X)):
        for j, candidate in enumerate(search.cv_results_["params"][:3]):
            refit = clone(search.estimator).set_params(**candidate).fit(X[train], Y[train])
            score = np.array(r2_score(Y[test], refit.predict(X[test])))
            found = search.cv_results_[f"split{i}_test_score"][j]
            worst = max(worst, largest_difference(score, found))
    return worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    rows = []
    print_header()
    with threadpool_limits(1):
        for shape in SHAPES:
            X, holes, Y = rows_with_holes(*shape)
            for kind in (PLS, PCR, ReducedRankRegression):
                search = ComponentSearchCV(kind(missing="em"))
                whole = ComponentSearchCV(kind())
                ours, peer = milliseconds(
                    [lambda: search.fit(holes, Y), lambda: whole.fit(X, Y)],  # noqa: B023
                    repeats,
                )
                gap = difference_to_refits(search, holes, Y)
                row = Row("holes", describe(*shape), 1, ours, peer, BOUND, gap, kind.__name__)
                print_row(row)
                rows.append(row)
    print_summary(rows)


if __name__ == "__main__":
    main()
