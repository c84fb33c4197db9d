"""How well the coordinates predict the outputs of rows that were held out.

Training pictures lie: with a weak ridge any outputs can be laid out neatly. So every fit is judged on
rows it has not seen, by nearest-neighbour regression on the coordinates.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold
from sklearn.neighbors import NearestNeighbors

from isthmus._linalg import Array

# Few enough to follow a curve, enough to average noise: the judge is the same for all methods.
N_NEIGHBOURS = 10
# R2 of so many rows has a standard error below 0.01.
SCORE_ROWS = 20_000
"""Of more rows than these a sample is judged."""


def fold_labels(n: int, cv: int, seed: int) -> NDArray[np.intp]:
    """The fold of each row, rows shuffled."""
    labels = np.empty(n, dtype=np.intp)
    for k, (_, test) in enumerate(KFold(cv, shuffle=True, random_state=seed).split(np.empty(n))):
        labels[test] = k
    return labels


def check_folds(cv: Any, n: int) -> Any:
    """Return a number of folds, or the fold of each row for splits whose test parts divide all rows."""
    if cv is None:
        return None
    if isinstance(cv, Integral) and not isinstance(cv, bool) and int(cv) >= 2:
        return int(cv)
    if not isinstance(cv, list | tuple) or len(cv) < 2:
        raise ValueError(
            f"cv == {cv!r}, must be an integer >= 2, None or a list of splits, each (train, test)."
        )
    labels = np.full(n, -1, dtype=np.intp)
    for k, (_, test) in enumerate(cv):
        labels[np.asarray(test)] = k
    if (labels < 0).any() or sum(len(test) for _, test in cv) != n:
        raise ValueError(f"cv: every one of the {n} rows must be in the test part of one split.")
    return labels


def judged_rows(n: int, seed: int) -> NDArray[np.intp]:
    """Rows that are judged, all or a sample of many, drawn apart from the folds."""
    if n <= SCORE_ROWS:
        return np.arange(n)
    # Another generator than that of the folds: the same permutation would take whole folds.
    return np.sort(np.random.default_rng(seed).permutation(n)[:SCORE_ROWS])


def neighbours(z_train: Array, z_test: Array) -> NDArray[np.intp]:
    """Places of the nearest training rows of each test row."""
    k = min(N_NEIGHBOURS, len(z_train))
    found: Any = NearestNeighbors(n_neighbors=k).fit(z_train)
    return found.kneighbors(z_test, return_distance=False)


class VectorJudge:
    """R2 of each output over its observed entries; NaN where those of a test fold do not vary.

    Of a missing entry of a neighbour nothing is known: the others are averaged, and where none is observed
    the mean of the training rows stands in. A neighbour counts by its weight, and is one of the nearest
    whatever that is.
    """

    def __init__(self, Y: Array, weights: Array | None = None) -> None:
        self.Y = Y
        self.weights = np.ones(len(Y)) if weights is None else weights
        self.has_holes = bool(np.isnan(Y).any())

    def take(self, rows: NDArray) -> VectorJudge:
        """The judge of some of the rows."""
        return VectorJudge(self.Y[rows], self.weights[rows])

    def scores(self, near: NDArray, train: NDArray, test: NDArray) -> Array:
        """A score for each output, (q,)."""
        truth = self.Y[test]
        known = self.Y[train]
        own = self.weights[test]
        counts = self.weights[train]
        if not self.has_holes:
            shares = counts[near] / counts[near].sum(axis=1, keepdims=True)
            return _explain(truth, np.einsum("tk,tkq->tq", shares, known[near]), own)
        with np.errstate(invalid="ignore"):  # means of nothing
            guess = _observed_mean(known[near], counts[near], axis=1)
            guess = np.where(np.isnan(guess), _observed_mean(known, counts, axis=0), guess)
        columns = zip(truth.T, guess.T, strict=True)
        return np.concatenate(
            [
                _explain(t[~np.isnan(t), None], g[~np.isnan(t), None], own[~np.isnan(t)])
                for t, g in columns
            ]
        )


def _observed_mean(values: Array, weights: Array, axis: int) -> Array:
    """Weighted mean of what is observed; NaN where nothing is."""
    counts = np.where(np.isnan(values), 0.0, weights[..., None])
    sums = (np.nan_to_num(values) * counts).sum(axis=axis)
    return np.asarray(sums / counts.sum(axis=axis))


def _explain(truth: Array, guess: Array, weights: Array) -> Array:
    found = np.full(truth.shape[1], np.nan)
    if len(truth) > 1:
        errors = weights @ (truth - guess) ** 2
        totals = weights @ (truth - np.average(truth, axis=0, weights=weights)) ** 2
        # An output that is constant in the fold has no share to explain.
        varied = totals > 1e-12 * np.maximum(weights @ truth**2, np.finfo(float).tiny)
        found[varied] = 1.0 - errors[varied] / totals[varied]
    return found


class KernelJudge:
    """R2 in the feature space of an output kernel, for outputs that are not vectors."""

    def __init__(self, L: Array, weights: Array | None = None) -> None:
        self.L = L
        self.weights = np.ones(len(L)) if weights is None else weights

    def take(self, rows: NDArray) -> KernelJudge:
        """The judge of some of the rows."""
        return KernelJudge(self.L[np.ix_(rows, rows)], self.weights[rows])

    def scores(self, near: NDArray, train: NDArray, test: NDArray) -> Array:
        """One score, (1,)."""
        L, chosen = self.L, train[near]  # (t, k)
        own, w = L[test, test], self.weights[test]
        shares = self.weights[chosen] / self.weights[chosen].sum(axis=1, keepdims=True)
        cross = np.einsum("tk,tk->t", shares, L[test[:, None], chosen])
        values = L[chosen[:, :, None], chosen[:, None, :]]
        among = np.einsum("tj,tjk,tk->t", shares, values, shares)
        errors = w @ (own - 2.0 * cross + among)
        total = w @ own - w @ L[np.ix_(test, test)] @ w / w.sum()
        return np.array([1.0 - errors / total if total > 0 else np.nan])
