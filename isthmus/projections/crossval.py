"""Ridge weight and number of components by held-out score, the factorisation shared over the weights.

Each fold is decomposed once: its Gram matrix by eigenvectors, or its moments as the whole minus the fold;
every ridge weight and every number of components follows. Training eigenvalues are never looked at: they
only grow as the ridge falls.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import Array, spreads
from isthmus.features import KernelMap, left_out_ridge
from isthmus.projections.eigen import Ridge
from isthmus.projections.problem import OutputSide
from isthmus.projections.rows import KernelSide

# Ridge weights as shares of the trace: half decades from interpolation to strong smoothing.
FRACTIONS = 10.0 ** np.arange(-6.0, -0.4, 0.5)
# n_components="auto" looks no further: in more dimensions the neighbours that judge are all far away.
MOST_COMPONENTS = 20
_OF_TRACE = 0.99  # of the outputs' kernel, by which objects are predicted
SAME_SCORE = 1e-9
"""Scores, shares of a variance, that differ by less are tied."""


def leave_one_out_ridge(inputs: KernelSide, outputs: OutputSide, most: int) -> Ridge:
    """Return the ridge of the least error of rows left out singly, by regression on the input kernel.

    Vectors count in units of their deviations, objects in the feature space of their kernel.
    """
    side, rows = outputs.side, outputs.T
    if side is not None and not side.vectors:
        phi = KernelMap(_OF_TRACE, kernel="precomputed")
        L = side.output_gram().astype(side.precision, copy=False)
        targets = phi.fit_transform(L, sample_weight=inputs.weights)
    else:
        rows = np.asarray(rows if side is None else side.rows, dtype=np.float64)
        targets = rows / spreads(rows, inputs.weights)
    given = inputs.kernel, inputs.rows, targets, inputs.weights
    alpha, _, mean_square = left_out_ridge(*given, most, inputs.n_jobs)
    return Ridge(alpha / mean_square if outputs.coupling.balanced else alpha, False)


@dataclass
class Choice:
    """The chosen ridge and number of components, the held-out score of each output and all scores."""

    ridge: Ridge
    r: Any
    scores: Array
    table: dict[str, Any]


Coordinates = Callable[[int, list[Ridge], Any], list[Array]]


def choose(
    coordinates: Coordinates,
    judge: Any,
    folds: NDArray,
    ridge: Ridge | None,
    r: Any,
    limit: int,
    otherwise: Ridge | None,
) -> Choice:
    """Score all candidates on the same folds and take the best.

    ``coordinates(k, ridges, r)`` are those of the judged rows for every ridge, learned without fold k;
    ``folds`` are the folds of these rows, ``otherwise`` the ridge if no fold has a score.
    """
    ridges = [Ridge(float(f), True) for f in FRACTIONS] if ridge is None else [ridge]
    ranks = np.arange(1, min(limit, MOST_COMPONENTS) + 1) if r == "auto" else None
    most = r if ranks is None else int(ranks[-1])
    found = []
    for k in range(int(folds.max()) + 1):
        with warnings.catch_warnings():  # what is said of the whole need not be said of each fold
            warnings.simplefilter("ignore")
            try:
                fold = coordinates(k, ridges, most)
            except ValueError:  # a fold without variation has no score
                continue
        rows = [[Z] if ranks is None else [Z[:, :rank] for rank in ranks] for Z in fold]
        found.append([[_scores(judge, Z, folds == k) for Z in row] for row in rows])
    mean = _mean_over_folds(found, len(ridges), 1 if ranks is None else len(ranks))
    if np.isnan(mean).all():
        if otherwise is None or ranks is not None:
            raise ValueError("No fold could be scored: y does not vary within the folds.")
        return Choice(otherwise, r, mean[0, 0], _table(ridges, ranks, r, mean))
    i, j = best_candidate(mean)
    chosen = r if ranks is None else int(ranks[j])
    return Choice(ridges[i], chosen, mean[i, j], _table(ridges, ranks, r, mean))


def best_candidate(scores: Array) -> tuple[int, int]:
    """Places of the ridge and the number of components; of a tie the larger ridge and the fewer components.

    ``scores`` (ridges, ranks, outputs): an output counts by the best score that any candidate reaches for
    it, so that outputs that cannot be predicted have no weight.
    """
    weighted = weighted_scores(scores)[::-1]
    # The same neighbours give the same score up to rounding, which must not decide.
    is_best = weighted >= np.nanmax(weighted) - SAME_SCORE
    place, j = divmod(int(np.argmax(is_best)), weighted.shape[1])
    return len(scores) - 1 - place, j


def weighted_scores(scores: Array) -> Array:
    """Means over the outputs, each weighted by the best that is reached for it; equal where none is."""
    reached = np.nanmax(np.where(np.isnan(scores), -np.inf, scores), axis=(0, 1))
    weights = np.maximum(reached, 0.0)
    if not weights.any():
        weights = np.isfinite(reached).astype(float)
    counted = weights > 0
    return scores[:, :, counted] @ (weights[counted] / weights.sum())


def _scores(judge: Any, Z: Array, test: NDArray) -> Any:
    """Of each output; NaN for all where there is nothing to judge."""
    train_rows = np.flatnonzero(~test)
    test_rows = np.flatnonzero(test)
    if not len(test_rows) or not len(train_rows) or not np.isfinite(Z).all():
        return np.nan
    return judge.scores(Z, train_rows, test_rows)


def _mean_over_folds(found: list[Any], n_ridges: int, n_ranks: int) -> Array:
    """(ridges, ranks, outputs)."""
    flat = [s for fold in found for row in fold for s in row]
    q = max((np.size(s) for s in flat), default=1)
    scores = np.array([np.broadcast_to(s, (q,)) for s in flat], dtype=float)
    scores = scores.reshape(len(found), n_ridges, n_ranks, q)
    return mean_score(scores, axis=0)


def mean_score(scores: Array, axis: int = -1) -> Array:
    """Mean over the outputs, or over another axis, that have a score; NaN where none has."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.nanmean(scores, axis=axis)


def _table(ridges: list[Ridge], ranks: NDArray | None, r: Any, mean: Array) -> dict[str, Any]:
    """One row a candidate; alphas that are fractions of the trace are given as such."""
    names = ranks if ranks is not None else [r]
    return {
        "alpha": np.repeat([ridge.value for ridge in ridges], len(names)),
        "alpha_is_fraction_of_trace": ridges[0].relative,
        "n_components": np.tile(np.asarray(names, dtype=object), len(ridges)),
        "mean_test_score": mean_score(mean).ravel(),
        "output_test_scores": mean.reshape(-1, mean.shape[2]),
    }
