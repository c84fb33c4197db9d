"""Columns with long tails, bent in and scaled."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from isthmus._linalg import Array, spreads
from isthmus._validation import validate_data


class BentScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):
    """Bend columns, then give each mean zero and unit variance."""

    def fit(self, X: ArrayLike, y: Any = None, sample_weight: Array | None = None) -> Self:
        """Learn how the columns are bent, and their scales."""
        rows = validate_data(self, X, dtype=np.float64)
        weights = np.ones(len(rows)) if sample_weight is None else np.asarray(sample_weight)
        self._learn(rows, weights)
        bent = self._bend(rows)
        self.mean_ = np.average(bent, axis=0, weights=weights)
        self.scale_ = np.sqrt(np.average((bent - self.mean_) ** 2, axis=0, weights=weights))
        self.scale_[self.scale_ == 0] = 1.0
        return self

    def transform(self, X: ArrayLike) -> NDArray:
        """Bend and scale."""
        check_is_fitted(self)
        rows = validate_data(self, X, reset=False, dtype=np.float64)
        return (self._bend(rows) - self.mean_) / self.scale_

    @abstractmethod
    def _learn(self, rows: Array, weights: Array) -> None:
        """Keep what the bend depends on."""

    @abstractmethod
    def _bend(self, rows: Array) -> Array:
        """Return the columns, bent."""


class TailScaler(BentScaler):
    r"""Bend long tails in, then give every column mean zero and unit variance.

    A value goes to :math:`\operatorname{arsinh}((x - m) / d)` with the median ``m`` of its column and the
    median ``d`` of the distances from it: a straight line among the middle half of the values, a logarithm
    far outside. Distances between rows, by which kernels go, are then no longer those of the few largest
    values.

    Attributes
    ----------
    center_, unit_ : ndarray of shape (n_features,)
        Medians and median distances from them; the standard deviation where that is zero.
    mean_, scale_ : ndarray of shape (n_features,)
        Means and standard deviations of the bent columns.
    """

    def _learn(self, rows: Array, weights: Array) -> None:
        self.center_ = _medians(rows, weights)
        self.unit_ = _medians(np.abs(rows - self.center_), weights)
        self.unit_ = np.where(self.unit_ > 0, self.unit_, spreads(rows))

    def _bend(self, rows: Array) -> Array:
        return np.arcsinh((rows - self.center_) / self.unit_)


def _medians(columns: Array, weights: Array) -> Array:
    """Medians of columns, where a weight stands for as many copies of its row."""
    order = np.argsort(columns, axis=0, kind="stable")
    ranked = np.take_along_axis(columns, order, axis=0)
    sums = np.cumsum(weights[order], axis=0)
    half = 0.5 * sums[-1]
    # Rounding of the sums must not decide where both sides weigh the same.
    low = (sums >= half * (1 - 1e-12)).argmax(axis=0)
    high = (sums > half * (1 + 1e-12)).argmax(axis=0)
    everywhere = np.arange(columns.shape[1])
    return 0.5 * (ranked[low, everywhere] + ranked[high, everywhere])
