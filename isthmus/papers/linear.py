"""What the small linear estimators of the papers share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from numpy.typing import ArrayLike

from isthmus._linalg import Array
from isthmus._validation import check_count
from isthmus.regression import LinearRegressor


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
        rows, Y, y_is_1d = self._check_fit(X, y)
        self._keep_map(*self._fit(rows, Y), y_is_1d)
        return self

    @abstractmethod
    def _fit(self, X: Array, Y: Array) -> tuple[Array, Array]:
        """Return coefficients (n_targets, n_features) and intercepts (n_targets,)."""
