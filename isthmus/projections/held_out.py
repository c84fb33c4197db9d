"""How much do the coordinates tell of the outputs of rows that were held out?

Training pictures lie: with a weak ridge any outputs can be laid out neatly. So every fit is judged on
rows it has not seen, by nearest-neighbour regression on the coordinates.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold
from sklearn.neighbors import NearestNeighbors

from isthmus._linalg import Array

N_NEIGHBOURS = 10
SCORE_ROWS = 20_000
"""Of more rows than these a sample is judged."""


def fold_labels(n: int, cv: int, seed: int) -> NDArray[np.intp]:
    """The fold of each row, rows shuffled."""
    labels = np.empty(n, dtype=np.intp)
    for k, (_, test) in enumerate(KFold(cv, shuffle=True, random_state=seed).split(np.empty(n))):
        labels[test] = k
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
    the mean of the training rows stands in.
    """

    def __init__(self, Y: Array) -> None:
        self.Y = Y
        self.has_holes = bool(np.isnan(Y).any())

    def take(self, rows: NDArray) -> VectorJudge:
        """The judge of some of the rows."""
        return VectorJudge(self.Y[rows])

    def scores(self, near: NDArray, train: NDArray, test: NDArray) -> Array:
        """A score for each output, (q,)."""
        truth, known = self.Y[test], self.Y[train]
        if not self.has_holes:
            return _explained(truth, known[near].mean(axis=1))
        with warnings.catch_warnings():  # means of nothing
            warnings.simplefilter("ignore", RuntimeWarning)
            guess: Array = np.nanmean(known[near], axis=1)
            guess = np.asarray(np.where(np.isnan(guess), np.nanmean(known, axis=0), guess))
        columns = zip(truth.T, guess.T, strict=True)
        return np.concatenate(
            [_explained(t[~np.isnan(t), None], g[~np.isnan(t), None]) for t, g in columns]
        )


def _explained(truth: Array, guess: Array) -> Array:
    found = np.full(truth.shape[1], np.nan)
    if len(truth) > 1:
        errors = ((truth - guess) ** 2).sum(axis=0)
        totals = ((truth - truth.mean(axis=0)) ** 2).sum(axis=0)
        varied = totals > 1e-12 * np.maximum((truth**2).sum(axis=0), np.finfo(float).tiny)
        found[varied] = 1.0 - errors[varied] / totals[varied]
    return found


class KernelJudge:
    """R2 in the feature space of an output kernel, for outputs that are not vectors."""

    def __init__(self, L: Array) -> None:
        self.L = L

    def take(self, rows: NDArray) -> KernelJudge:
        """The judge of some of the rows."""
        return KernelJudge(self.L[np.ix_(rows, rows)])

    def scores(self, near: NDArray, train: NDArray, test: NDArray) -> Array:
        """One score, (1,)."""
        L, chosen = self.L, train[near]  # (t, k)
        own = L[test, test]
        cross = L[test[:, None], chosen].mean(axis=1)
        among = L[chosen[:, :, None], chosen[:, None, :]].mean(axis=(1, 2))
        errors = (own - 2.0 * cross + among).sum()
        total = own.sum() - L[np.ix_(test, test)].sum() / len(test)
        return np.array([1.0 - errors / total if total > 0 else np.nan])
