"""Searches in two stages, for maps that have no fast path of their own."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from isthmus._linalg import Array, spreads
from isthmus._validation import allow_far_rows
from isthmus.auto.clock import check_time
from isthmus.losses import MAD_TO_DEVIATION, get_loss, robust_scale
from isthmus.model_selection import ComponentSearchCV
from isthmus.regression import ReducedRankRegression, StiefelRegression

_REACH = 3.0  # deviations from the median at which an output counts as an outlier
_TOO_SMALL_RESIDUALS = 0.2  # residuals of the fit, as a share of those of rows left out


class RobustSearch(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Stiefel regression under a robust loss, its rank and ridge weight from the squared loss.

    Every rank and ridge weight under a robust loss is an iteration of its own; the closed form of
    the squared loss finds them in one, for outputs whose wild cells are pulled in. Both see outputs in
    units of their spreads, so that none counts by its unit; the loss, the objective and the singular
    values of the model are in these units, its predictions and coefficients in those of the outputs.

    Parameters
    ----------
    loss : str, default="huber"
        Loss of the second stage.
    n_components : sequence of int or None, default=None
        Candidates; None is all that there are.
    scale : bool, default=True
        Whether columns of X are divided by their standard deviations.
    cv : int or splitter, default=5
        Folds of the first stage.

    Attributes
    ----------
    best_estimator_ : StiefelRegression
    best_params_, cv_results_ :
        Of the first stage.
    """

    def __init__(
        self, loss: str = "huber", n_components: Any = None, scale: bool = True, cv: Any = 5
    ) -> None:
        self.loss = loss
        self.n_components = n_components
        self.scale = scale
        self.cv = cv

    def fit(self, X: ArrayLike, y: ArrayLike) -> RobustSearch:
        """Choose, then fit."""
        Y = np.asarray(y, dtype=np.float64)
        unit = self._units(Y)
        Y = Y / (unit if Y.ndim > 1 else unit[0])
        pilot = ComponentSearchCV(
            ReducedRankRegression(scale=self.scale),
            n_components=self.n_components,
            cv=self.cv,
            scoring="neg_mean_absolute_error",
            rule="one_se",
            refit=False,
        ).fit(X, _pulled_in(Y))
        self.best_params_, self.cv_results_ = pilot.best_params_, pilot.cv_results_
        self.best_index_, self.n_splits_ = pilot.best_index_, pilot.n_splits_
        with warnings.catch_warnings():  # a few steps short of the optimum is no matter here
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.best_estimator_ = StiefelRegression(
                loss=self._scaled_loss(X, Y), scale=self.scale, tol=1e-7, **self.best_params_
            ).fit(X, Y)
        self.best_estimator_._enlarge_outputs(unit)
        self.n_features_in_ = self.best_estimator_.n_features_in_
        return self

    def _units(self, Y: Array) -> Array:
        """Spreads of the outputs without their wild cells; ones where a loss is not of residuals."""
        columns = Y.reshape(len(Y), -1)
        if get_loss(self.loss).has_link:
            return np.ones(columns.shape[1])
        return spreads(_pulled_in(columns))

    def _scaled_loss(self, X: ArrayLike, y: ArrayLike) -> Any:
        """The loss; where the pilot all but interpolates, with the scale of rows left out.

        A loss takes its scale from the residuals of the rows of the fit. Where there are more columns
        than rows these tend to zero, and every row that is left out would be an outlier.
        """
        loss = get_loss(self.loss)
        rows = np.asarray(X, dtype=np.float64)
        Y = _pulled_in(y)
        pilot = ReducedRankRegression(scale=self.scale, **self.best_params_)
        fitted = robust_scale(Y - pilot.fit(rows, Y).predict(rows))
        left_out = np.zeros_like(Y)
        for train, test in check_cv(self.cv).split(rows, Y):
            check_time()
            with allow_far_rows():
                left_out[test] = Y[test] - pilot.fit(rows[train], Y[train]).predict(rows[test])
        if fitted < _TOO_SMALL_RESIDUALS * robust_scale(left_out):
            return loss.resolve(left_out)
        return self.loss

    def predict(self, X: ArrayLike) -> NDArray:
        """Predict with the fitted map."""
        check_is_fitted(self)
        return self.best_estimator_.predict(X)


def _pulled_in(y: ArrayLike) -> Array:
    """Outputs clipped at so many robust deviations from their medians."""
    Y = np.asarray(y, dtype=np.float64)
    middle = np.median(Y, axis=0)
    reach = _REACH * MAD_TO_DEVIATION * np.median(np.abs(Y - middle), axis=0)
    reach = np.where(reach > 0, reach, np.inf)  # half of the values are the same: leave them
    return np.clip(Y, middle - reach, middle + reach)
