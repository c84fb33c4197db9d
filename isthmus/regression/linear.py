"""What every linear map with ``coef_`` and ``intercept_`` predicts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from isthmus._validation import validate_data


class LinearRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """A small linear estimator: no sample weights, no missing values, computed in float64."""

    coef_: Any
    intercept_: Any

    def predict(self, X: ArrayLike) -> NDArray:
        """Predict outputs.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            ``X @ coef_.T + intercept_``.
        """
        check_is_fitted(self)
        rows = validate_data(self, X, reset=False, dtype=np.float64)
        return np.asarray(rows @ self.coef_.T + self.intercept_)
