"""The predictions of a fold with every number of components, and their errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isthmus.linalg import Array

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
        """Mean squared error of each rank and output, (n_ranks, q).

        ||e - sum_i t_i l_i||^2 expands into products of the scores, so that all ranks cost two small
        matrix products; where the errors fall so far that this cancels, residuals are formed.
        """
        k = self.scores.shape[1]
        w = mean_weights(len(Y), weights)
        T, L, error = self.scores, self.loadings.T, Y - self.y_mean
        weighted = T * w[:, None]
        below = np.tril(weighted.T @ T)
        below *= 2.0
        below[np.diag_indices(k)] *= 0.5
        steps = L * (below @ L - 2.0 * (weighted.T @ error))
        errors = np.cumsum(np.vstack([w @ error**2, steps]), axis=0)
        if (errors < _CANCELLED * errors[0]).any():
            errors = self._residual_errors(error, w)
        return errors[[min(rank, k) for rank in ranks]]

    def _residual_errors(self, error: Array, w: Array) -> Array:
        error = error.copy()
        errors = [w @ error**2]
        for t, loading in zip(self.scores.T, self.loadings.T):
            error -= np.outer(t, loading)
            errors.append(w @ error**2)
        return np.array(errors)


@dataclass
class RefitPath:
    """Predictions of a fold by a fit for each number of components."""

    predictions: dict[int, Array]

    def predict(self, rank: int) -> Array:
        return self.predictions[rank]

    def errors(self, Y: NDArray, weights: Array | None, ranks: list[int]) -> Array:
        w = mean_weights(len(Y), weights)
        return np.array([w @ (Y - self.predictions[rank]) ** 2 for rank in ranks])


def mean_weights(n: int, weights: Array | None) -> Array:
    """Weights that sum to one."""
    return np.full(n, 1.0 / n) if weights is None else weights / weights.sum()
