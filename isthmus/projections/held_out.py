"""How well the coordinates predict the outputs of rows that were held out.

Training pictures lie: with a weak ridge any outputs can be laid out neatly. So every fit is judged on
rows it has not seen, by nearest-neighbour regression on the coordinates.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from isthmus._linalg import ROUNDING, TIE, Array
from isthmus.kernels import sample_groups

# Few enough to follow a curve, enough to average noise: the judge is the same for all methods.
N_NEIGHBOURS = 10
# R2 of so many rows has a standard error below 0.01.
SCORE_ROWS = 20_000
"""Of more rows than these a sample is judged."""


def judged_rows(n: int, seed: int) -> NDArray[np.intp]:
    """Rows that are judged, all or a sample of many, drawn by place and apart from the folds."""
    if n <= SCORE_ROWS:
        return np.arange(n)
    # Another generator than that of the folds: the same permutation would take whole folds.
    return np.sort(np.random.default_rng(seed).permutation(n)[:SCORE_ROWS])


class Judge(ABC):
    """Scores of held-out rows by the outputs of their neighbours among the training rows.

    Copies of a sample, equal in inputs and outputs, are one neighbour that counts by the weights of all:
    neither copies of all rows nor a common factor of their weights change a score.
    """

    def __init__(self, n: int, weights: Array | None) -> None:
        self.weights = np.ones(n) if weights is None else weights
        self.groups = np.arange(n)  # equal for copies, once they are known

    @abstractmethod
    def take(self, rows: NDArray) -> Judge:
        """The judge of some of the rows, copies not yet merged."""

    @abstractmethod
    def _output_groups(self) -> NDArray:
        """A number for each row that it shares with equal outputs."""

    @abstractmethod
    def _explained(
        self, near: NDArray, shares: Array, known: NDArray, counts: Array, test: NDArray
    ) -> Array:
        """A score for each output, from the places of neighbours (t, k) and their shares.

        ``known`` are the training rows without copies, ``counts`` the weights of all copies.
        """

    def merge_copies(self, inputs: Any) -> Judge:
        """Take rows for copies that are equal in these inputs and in their outputs."""
        pairs = np.column_stack([sample_groups(inputs), self._output_groups()])
        self.groups = sample_groups(pairs)
        return self

    def scores(self, Z: Array, train: NDArray, test: NDArray) -> Array:
        """A score for each output, (q,), of the test rows by coordinates of all rows."""
        _, first, copy_of = np.unique(self.groups[train], return_index=True, return_inverse=True)
        counts = np.bincount(copy_of, self.weights[train]).astype(np.float64)
        known = train[first]
        k = min(N_NEIGHBOURS, len(known))
        found: Any = NearestNeighbors(n_neighbors=min(2 * k, len(known))).fit(Z[known])
        distances, near = found.kneighbors(Z[test])
        # One input may have several outputs: rounding would decide which of them is the last.
        shares = counts[near] * (distances <= distances[:, [k - 1]] * (1.0 + TIE))
        shares /= shares.sum(axis=1, keepdims=True)
        return self._explained(known[near], shares, known, counts, test)


class VectorJudge(Judge):
    """R2 of each output over its observed entries; NaN where those of a test fold do not vary.

    Of a missing entry of a neighbour nothing is known: the others are averaged, and where none is observed
    the mean of the training rows stands in. A neighbour counts by its weight, and is one of the nearest
    whatever that is.
    """

    def __init__(self, Y: Array, weights: Array | None = None) -> None:
        super().__init__(len(Y), weights)
        self.Y = Y
        self.has_holes = bool(np.isnan(Y).any())

    def take(self, rows: NDArray) -> VectorJudge:
        return VectorJudge(self.Y[rows], self.weights[rows])

    def _output_groups(self) -> NDArray:
        return sample_groups(np.hstack([np.nan_to_num(self.Y), np.isnan(self.Y)]))

    def _explained(
        self, near: NDArray, shares: Array, known: NDArray, counts: Array, test: NDArray
    ) -> Array:
        truth, own = self.Y[test], self.weights[test]
        if not self.has_holes:
            return _explain(truth, np.einsum("tk,tkq->tq", shares, self.Y[near]), own)
        with np.errstate(invalid="ignore"):  # means of nothing
            guess = _observed_mean(self.Y[near], shares, axis=1)
            guess = np.where(np.isnan(guess), _observed_mean(self.Y[known], counts, axis=0), guess)
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


class KernelJudge(Judge):
    """R2 in the feature space of an output kernel, for outputs that are not vectors."""

    def __init__(self, L: Array, weights: Array | None = None) -> None:
        super().__init__(len(L), weights)
        self.L = L

    def take(self, rows: NDArray) -> KernelJudge:
        return KernelJudge(self.L[np.ix_(rows, rows)], self.weights[rows])

    def _output_groups(self) -> NDArray:
        sizes = self.L.diagonal()
        squares = sizes[:, None] + sizes - 2.0 * self.L  # of distances, zero up to rounding
        return np.asarray((squares <= ROUNDING * sizes.max(initial=0.0)).argmax(axis=1))

    def _explained(
        self, near: NDArray, shares: Array, known: NDArray, counts: Array, test: NDArray
    ) -> Array:
        L = self.L
        own, w = L[test, test], self.weights[test]
        cross = np.einsum("tk,tk->t", shares, L[test[:, None], near])
        values = L[near[:, :, None], near[:, None, :]]
        among = np.einsum("tj,tjk,tk->t", shares, values, shares)
        errors = w @ (own - 2.0 * cross + among)
        total = w @ own - w @ L[np.ix_(test, test)] @ w / w.sum()
        return np.array([1.0 - errors / total if total > 0 else np.nan])
