"""Ridge weight and number of components by held-out score, the factorisation shared over the weights.

Each fold is decomposed once: its Gram matrix by eigenvectors, or its moments as the whole less the fold;
every ridge weight and every number of components follows. Training eigenvalues are never looked at: they
only grow as the ridge falls.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.linalg import Array
from isthmus.projections.eigen import rank_of
from isthmus.projections.held_out import fold_labels, neighbours
from isthmus.projections.problem import FeatureProblem, Ridge

FRACTIONS = 10.0 ** np.arange(-6.0, -0.4, 0.5)
MOST_COMPONENTS = 20


@dataclass
class Choice:
    """The chosen ridge and number of components, its held-out score and all scores."""

    ridge: Ridge
    r: Any
    score: float
    table: dict[str, Any]


def choose(
    estimator: Any,
    problem: Any,
    judge: Any,
    ridge: Ridge | None,
    r: Any,
    limit: int,
    cv: int,
    seed: int,
) -> Choice:
    """Score all candidates on the same folds and take the best."""
    ridges = [Ridge(float(f), True) for f in FRACTIONS] if ridge is None else [ridge]
    ranks = np.arange(1, min(limit, MOST_COMPONENTS) + 1) if r == "cv" else None
    by_features = isinstance(problem, FeatureProblem)
    folds = problem.folds if by_features else fold_labels(problem.n, cv, seed)
    sample = problem.sample if by_features else np.arange(problem.n)
    most = r if ranks is None else int(ranks[-1])
    scores = np.full((cv, len(ridges), 1 if ranks is None else len(ranks)), np.nan)
    for k in range(cv):
        with warnings.catch_warnings():  # what is said of the whole need not be said of each fold
            warnings.simplefilter("ignore")
            try:
                coordinates = _fold(estimator, problem, folds, sample, k, ridges, most)
            except ValueError:  # a fold without variation has no score
                continue
        test = folds[sample] == k
        for i, Z in enumerate(coordinates):
            for j, rank in enumerate([Z.shape[1]] if ranks is None else ranks):
                scores[k, i, j] = _score(judge, Z[:, : int(rank)], test)
    mean = _mean_over_folds(scores)
    if np.isnan(mean).all():
        if ridge is None or ranks is not None:
            raise ValueError("No fold could be scored: y does not vary within the folds.")
        return Choice(ridge, r, float("nan"), _table(ridges, ranks, r, mean))
    # Ties: the larger ridge and the fewer components.
    flipped = mean[::-1]
    place, j = divmod(int(np.nanargmax(flipped)), mean.shape[1])
    i = len(ridges) - 1 - place
    chosen = r if ranks is None else int(ranks[j])
    return Choice(ridges[i], chosen, float(mean[i, j]), _table(ridges, ranks, r, mean))


def _fold(
    estimator: Any,
    problem: Any,
    folds: NDArray,
    sample: NDArray,
    k: int,
    ridges: list[Ridge],
    r: Any,
) -> list[Array]:
    """Coordinates of the judged rows for every ridge, learned without fold k."""
    if isinstance(problem, FeatureProblem):
        fit: Any = problem.fit(without=k)
    else:
        fit = problem.fit(np.flatnonzero(folds != k), shared=len(ridges) > 1)
    found = []
    for ridge in ridges:
        axes = fit.solve(ridge, r if isinstance(r, int) else None)
        axes = axes.head(max(1, rank_of(axes.eigenvalues)))
        if isinstance(r, float):
            shares = np.cumsum(axes.eigenvalues) / axes.total
            axes = axes.head(int(np.searchsorted(shares, r - 1e-12)) + 1)
        coef = axes.coef * estimator._scaling(fit, axes)
        if isinstance(problem, FeatureProblem):
            found.append(fit.project_features(coef, problem.sample_features))
        else:
            found.append(fit.project(coef, sample))
    return found


def _score(judge: Any, Z: Array, test: NDArray) -> float:
    train_rows, test_rows = np.flatnonzero(~test), np.flatnonzero(test)
    if not len(test_rows) or not len(train_rows) or not np.isfinite(Z).all():
        return float("nan")
    near = neighbours(Z[train_rows], Z[test_rows])
    return judge.score(near, train_rows, test_rows)


def _mean_over_folds(scores: Array) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.nanmean(scores, axis=0)


def _table(ridges: list[Ridge], ranks: NDArray | None, r: Any, mean: Array) -> dict[str, Any]:
    """One row a candidate; alphas that are fractions of the trace are given as such."""
    names = ranks if ranks is not None else [r]
    return {
        "alpha": np.repeat([ridge.value for ridge in ridges], len(names)),
        "alpha_is_fraction_of_trace": ridges[0].relative,
        "n_components": np.tile(np.asarray(names, dtype=object), len(ridges)),
        "mean_test_score": mean.ravel(),
    }
