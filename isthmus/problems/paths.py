"""The predictions of a fold with every number of components, and their errors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import Array

# Below this share of the error of the mean, expanded squares have lost too many digits.
_CANCELLED = 1e-6


@dataclass
class FoldPath:
    """Predictions for the test rows of a fold with 1..k components: y_mean + cumulated t_i l_i'."""

    scores: Array  # (n_test, k)
    loadings: Array  # (q, k), in the user's units
    y_mean: Array

    def predict(self, rank: int) -> Array:
        """Predictions with ``rank`` components, or all where the path ended before."""
        return self.y_mean + self.scores[:, :rank] @ self.loadings[:, :rank].T

    def errors(self, Y: NDArray, weights: Array | None, ranks: list[int]) -> Array:
        """Mean squared error of each rank and output, (n_ranks, q), where it is observed.

        ||e - sum_i t_i l_i||^2 expands into products of the scores, so that all ranks cost two small
        matrix products; where the errors fall so far that this cancels, residuals are formed.
        """
        T, error = self.scores, Y - self.y_mean
        picked = [min(rank, T.shape[1]) for rank in ranks]
        if np.isnan(error).any():
            return self._residual_errors(error, observed_weights(Y, weights))[picked]
        w = mean_weights(len(Y), weights)
        weighted = T.T * w
        errors = expanded_errors(weighted @ T, weighted @ error, w @ error**2, self.loadings)
        if (errors < _CANCELLED * errors[0]).any():
            errors = self._residual_errors(error, w[:, None])
        return errors[picked]

    def _residual_errors(self, error: Array, w: Array) -> Array:
        error = np.nan_to_num(error)  # what is missing has no weight
        errors = [(w * error**2).sum(axis=0)]
        for t, loading in zip(self.scores.T, self.loadings.T):
            error -= np.outer(t, loading)
            errors.append((w * error**2).sum(axis=0))
        return np.array(errors)


def expanded_errors(gram: Array, cross: Array, squares: Array, loadings: Array) -> Array:
    """||e - sum_i t_i l_i||^2 for 0..k components and each output, from products of the scores."""
    L = loadings.T
    errors = np.empty((len(L) + 1, len(squares)))
    errors[0] = squares
    np.multiply(L, (gram * pairs(len(L))) @ L - 2.0 * cross, out=errors[1:])
    return np.cumsum(errors, axis=0, out=errors)


@cache
def pairs(k: int) -> Array:
    """How often the product of two components counts in a square: twice before, once with itself."""
    return np.tri(k) + np.tri(k, k=-1)


@dataclass
class RefitPath:
    """Predictions of a fold by a fit for each number of components."""

    predictions: dict[int, Array]

    def predict(self, rank: int) -> Array:
        return self.predictions[rank]

    def errors(self, Y: NDArray, weights: Array | None, ranks: list[int]) -> Array:
        """Of the observed entries of Y; NaN for an output without any."""
        w = observed_weights(Y, weights)
        Y = np.nan_to_num(Y)
        return np.array([(w * (Y - self.predictions[rank]) ** 2).sum(axis=0) for rank in ranks])


def mean_weights(n: int, weights: Array | None) -> Array:
    """Weights that sum to one."""
    return np.full(n, 1.0 / n) if weights is None else weights / weights.sum()


def observed_weights(Y: NDArray, weights: Array | None) -> Array:
    """Weights that sum to one over the observed entries of each output; NaN where there are none."""
    w = ~np.isnan(Y) * mean_weights(len(Y), weights)[:, None]
    with np.errstate(invalid="ignore"):
        return np.asarray(w / w.sum(axis=0))
