"""What the small linear estimators of the papers share: checks, shapes and predictions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isthmus._linalg import Array
from isthmus._validation import check_count, check_enough_samples, validate_data
from isthmus.regression.linear import LinearRegressor


class PaperRegression(LinearRegressor, ABC):
    """A linear map fitted as a paper prints it: no sample weights, no missing values, no scaling."""

    n_components: int

    def fit(self, X: ArrayLike, y: ArrayLike) -> Any:
        """Fit the map.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Inputs.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Outputs.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        check_count("n_components", self.n_components)
        rows, targets = validate_data(
            self, X, y, multi_output=True, y_numeric=True, dtype=np.float64
        )
        check_enough_samples(len(rows))
        is_vector = targets.ndim == 1
        Y = np.asarray(targets, dtype=np.float64).reshape(len(targets), -1)
        coef, intercept = self._fit(rows, Y)
        self.coef_ = coef[0] if is_vector else coef
        self.intercept_ = float(intercept[0]) if is_vector else intercept
        return self

    @abstractmethod
    def _fit(self, X: Array, Y: Array) -> tuple[Array, Array]:
        """Return coefficients (n_targets, n_features) and intercepts (n_targets,)."""
