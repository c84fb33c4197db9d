"""Scores of all candidates in all folds: of a regression, or of a pipeline that ends in one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

from isthmus._linalg import Array
from isthmus._validation import warn
from isthmus.kernels import take
from isthmus.problems import Split
from isthmus.regression import PathScores, path_scores


@dataclass
class Grid:
    """What is scored: candidates, scorers, and what to do with a fold that fails."""

    ranks: list[int]
    alphas: list[Any]
    scorers: dict[str, Any]
    y_is_1d: bool
    n_jobs: int | None
    error_score: Any
    progress: Callable[[int, int], None] | None
    keep_squares: bool = False


def score_rows(
    model: Any, X: Any, Y: NDArray, weights: Array | None, splits: list[Split], grid: Grid
) -> PathScores:
    """Score a regression on checked rows, all folds at once."""

    def score(some: list[Split]) -> PathScores:
        return path_scores(
            model, X, Y, weights, some, grid.ranks, grid.alphas, grid.scorers,
            y_is_1d=grid.y_is_1d, progress=grid.progress, keep_squares=grid.keep_squares,
        )  # fmt: skip

    # The folds take the threads that BLAS may use.
    threads = None if grid.n_jobs is None else effective_n_jobs(grid.n_jobs)
    with nullcontext() if threads is None else threadpool_limits(threads, "blas"):
        try:
            return score(splits)
        except Exception as error:
            if isinstance(grid.error_score, str):
                raise
            return _one_by_one([partial(score, [split]) for split in splits], error, grid)


def score_pipeline(
    treatments: Any,
    model: Any,
    X: Any,
    y: Any,
    weights: Array | None,
    splits: list[Split],
    grid: Grid,
) -> PathScores:
    """Score a regression behind treatments that are fitted to the training rows of each fold."""
    tasks = [
        delayed(_score_fold)(treatments, model, X, y, weights, split, grid) for split in splits
    ]
    found = Parallel(n_jobs=grid.n_jobs)(tasks)
    errors = [part for part in found if isinstance(part, Exception)]
    if errors:
        if isinstance(grid.error_score, str):
            raise errors[0]
        return _joined(found, errors[0], grid)
    return _joined(found, None, grid)


def _score_fold(
    treatments: Any, model: Any, X: Any, y: Any, weights: Array | None, split: Split, grid: Grid
) -> PathScores | Exception:
    try:
        prior = clone(treatments)
        A = prior.fit_transform(rows_of(X, split.train), rows_of(y, split.train))
        B = prior.transform(rows_of(X, split.test))
        rows = np.concatenate([split.train, split.test])
        both = sparse.vstack([A, B]).tocsr() if sparse.issparse(A) else np.vstack([A, B])
        w = None if weights is None else weights[rows]
        checked, Y, w = clone(model)._check_rows(both, rows_of(y, rows), w, reset=True)
        n_train = len(split.train)
        fold = Split(np.arange(n_train), np.arange(n_train, len(rows)), len(rows))
        return path_scores(
            model, checked, Y, w, [fold], grid.ranks, grid.alphas, grid.scorers,
            y_is_1d=grid.y_is_1d, keep_squares=grid.keep_squares,
        )  # fmt: skip
    except Exception as error:
        return error


def score_by_refits(
    search: Any, X: Any, y: Any, given: dict[str, Any], splits: list[Split], grid: Grid, prefix: str
) -> GridSearchCV:
    """Fit every candidate of a search in every fold, by scikit-learn."""
    candidates = {f"{prefix}n_components": grid.ranks}
    if grid.alphas != [None]:
        candidates[f"{prefix}alpha"] = grid.alphas
    grid_search = GridSearchCV(
        search.estimator,
        candidates,
        scoring=search.scorer_,
        cv=[(split.train, split.test) for split in splits],
        refit=False,
        n_jobs=search.n_jobs,
        error_score=search.error_score,
        verbose=search.verbose,
    )
    return grid_search.fit(X, y, **{name: v for name, v in given.items() if name != "groups"})


def _one_by_one(tasks: list[Callable[[], PathScores]], first: Exception, grid: Grid) -> PathScores:
    """Score fold after fold, so that those without an error keep their scores."""
    found: list[PathScores | Exception] = []
    for task in tasks:
        try:
            found.append(task())
        except Exception as error:
            found.append(error)
    return _joined(found, first, grid)


def _joined(found: list[Any], error: Exception | None, grid: Grid) -> PathScores:
    """Join the scores of folds; a fold that failed has the error score for every candidate."""
    good = [part for part in found if isinstance(part, PathScores)]
    if error is not None:
        if not good or grid.keep_squares:  # a pooled error needs all rows
            raise error
        warn(
            f"{len(found) - len(good)} of {len(found)} folds failed and have the score "
            f"{grid.error_score} for all candidates; error_score='raise' raises the first error, "
            f"{type(error).__name__}: {error}",
            FitFailedWarning,
        )
    shape = (len(grid.alphas), len(grid.ranks), 1)
    scores = {
        name: np.concatenate(
            [
                part.scores[name]
                if isinstance(part, PathScores)
                else np.full(shape, float(grid.error_score))
                for part in found
            ],
            axis=2,
        )
        for name in good[0].scores
    }
    seconds = [part.seconds if isinstance(part, PathScores) else np.zeros(1) for part in found]
    squares = [square for part in good for square in part.squares or []] or None
    return PathScores(good[0].ranks, good[0].alphas, scores, np.concatenate(seconds), squares)


def show_folds(done: int, total: int) -> None:
    """Print how many folds are done."""
    end = "\n" if done == total else ""
    print(f"\rfold {done} of {total}", end=end, file=sys.stderr, flush=True)


def rows_of(X: Any, rows: NDArray) -> Any:
    """Return some rows of an array, a table or a list."""
    return X.iloc[rows] if hasattr(X, "iloc") else take(X, rows)
