"""What searches of a rung share, and what they find: maps as plain arrays, as a model file keeps them."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from isthmus._linalg import Array
from isthmus._saved import saved
from isthmus._validation import validate_data
from isthmus.expansion import Expansion

MOST_RANKS = 25  # components that are tried, in every fold


class InnerSearch(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """A search of one rung: ``fit`` chooses, sets ``best_estimator_`` and ``best_params_``."""

    best_estimator_: Any
    best_params_: dict[str, Any]

    def predict(self, X: ArrayLike) -> NDArray:
        """Predict with the fitted model."""
        check_is_fitted(self)
        return self.best_estimator_.predict(X)


class FoundModel(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """A model that a search has made; it predicts and is not fitted by itself."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> FoundModel:
        """Refuse: the search fits it."""
        raise TypeError(f"{type(self).__name__} is made by a search and has no fit of its own.")


@saved(coef_="q p|p", intercept_="q|")
class LinearMap(FoundModel):
    """A linear map whose coefficients were found elsewhere: ``X @ coef_.T + intercept_``."""

    @classmethod
    def of(cls, coef: Array, intercept: Array, flat: bool) -> LinearMap:
        """Make a map; ``flat`` predicts one target in one dimension."""
        self = cls()
        self.coef_ = np.ascontiguousarray(coef[0] if flat else coef)
        self.intercept_ = intercept[0] if flat else np.ascontiguousarray(intercept)
        self.n_features_in_ = coef.shape[1]
        return self

    def predict(self, X: ArrayLike) -> NDArray:
        """Predict outputs."""
        check_is_fitted(self, "coef_")
        rows = validate_data(self, X, reset=False, dtype=np.float64)
        return rows @ self.coef_.T + self.intercept_


@saved(expansion___coef="n q|n", lowest_="-inf q|", highest_="inf q|")
class KernelModel(FoundModel):
    """A kernel expansion as a regressor; ``isthmus.compress`` takes it.

    A wide kernel with a small ridge weight is a polynomial, which may be anything far from the training
    rows. Predictions end as far outside the training outputs as these are wide.

    Attributes
    ----------
    expansion_ : Expansion
    lowest_, highest_ : ndarray of shape (n_targets,) or float
        Where predictions end.
    """

    @classmethod
    def of(
        cls, points: Array, coef: Array, kernel: Any, intercept: Array, outputs: Array, flat: bool
    ) -> KernelModel:
        """Make a model of training ``outputs``; ``flat`` predicts one target in one dimension."""
        self = cls()
        if flat:
            coef, intercept, outputs = coef[:, 0], intercept[0], outputs[:, 0]
        self.expansion_ = Expansion(points, coef, kernel, intercept)
        low, high = outputs.min(axis=0), outputs.max(axis=0)
        self.lowest_, self.highest_ = 2 * low - high, 2 * high - low
        self.n_features_in_ = points.shape[1]
        return self

    def predict(self, X: ArrayLike) -> NDArray:
        """Predict outputs."""
        check_is_fitted(self, "expansion_")
        predicted = self.expansion_(validate_data(self, X, reset=False, dtype=np.float64))
        return np.clip(predicted, self.lowest_, self.highest_)

    def to_expansion(self) -> Expansion:
        """Return the functions behind the predictions."""
        return self.expansion_

    def with_expansion(self, expansion: Expansion) -> KernelModel:
        """Return the same model with another expansion."""
        other = copy(self)
        other.expansion_ = expansion
        return other
