"""What small linear estimators share: checks, shapes, ``coef_`` and ``intercept_``, predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from isthmus._linalg import Array
from isthmus._saved import saved
from isthmus._validation import BaseEstimator, check_enough_samples, finite_answer, validate_data


@saved(coef_="q p|p", intercept_="q|")
class LinearRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """A small linear estimator: no sample weights, no missing values, computed in float64."""

    coef_: Any
    intercept_: Any

    def _check_fit(self, X: ArrayLike, y: ArrayLike) -> tuple[Array, Array, bool]:
        """Checked rows, outputs (n, q), and whether y has one dimension."""
        rows, outputs = validate_data(
            self, X, y, multi_output=True, y_numeric=True, dtype=np.float64
        )
        check_enough_samples(len(rows))
        Y = np.asarray(outputs, dtype=np.float64)
        return rows, Y.reshape(len(rows), -1), Y.ndim == 1

    def _keep_map(self, coef: Array, intercept: Array, y_is_1d: bool) -> None:
        """Keep coefficients (q, p) and intercepts (q,) in the shape that y had."""
        self.coef_ = coef[0] if y_is_1d else coef
        self.intercept_ = float(intercept[0]) if y_is_1d else intercept

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
        return finite_answer(self, np.asarray(rows @ self.coef_.T + self.intercept_))
