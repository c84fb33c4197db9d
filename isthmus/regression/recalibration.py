"""An old calibration on a new instrument or batch: slope and bias, and spiking with a few new rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import MetaEstimatorMixin, MultiOutputMixin, RegressorMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from isthmus._linalg import Array
from isthmus._saved import saved
from isthmus._validation import (
    BaseEstimator,
    allow_far_rows,
    check_array,
    check_flag,
    check_number,
    finite_answer,
)


@saved(slope_="q|", bias_="q|")
class SlopeBias(MetaEstimatorMixin, MultiOutputMixin, RegressorMixin, BaseEstimator):
    r"""Correct the predictions of a fitted model by a line, output by output.

    .. math::
        \hat y = a + b f(x)

    with the least squares line of a few reference values on the predictions of their rows: the oldest way
    to transfer a calibration; [FWT2002]_ reviews the others.

    Parameters
    ----------
    estimator : fitted regressor
        It is never fitted again. To let it survive ``clone`` (inside a pipeline or cross-validation), wrap
        it in scikit-learn's ``FrozenEstimator``.
    slope : bool, default=True
        Whether the slope is corrected; False corrects the bias alone, which one row determines.

    Attributes
    ----------
    slope_, bias_ : float or ndarray of shape (n_targets,)
        The line: ``bias_ + slope_ * prediction``.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus import PLS
    >>> from isthmus.regression import SlopeBias
    >>> X = np.random.default_rng(0).normal(size=(30, 4))
    >>> model = PLS(3).fit(X, X[:, 0])
    >>> corrected = SlopeBias(model).fit(X[:5], 2 * model.predict(X[:5]) + 1)
    >>> round(corrected.slope_, 6), round(corrected.bias_, 6)
    (2.0, 1.0)
    """

    def __init__(self, estimator: Any, *, slope: bool = True) -> None:
        self.estimator = estimator
        self.slope = slope

    def fit(self, X: ArrayLike, y: ArrayLike) -> SlopeBias:
        """Fit the line to new rows with reference values.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            New inputs.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Their reference values.

        Returns
        -------
        self : object
            The corrected model.
        """
        check_flag("slope", self.slope)
        try:
            with allow_far_rows():  # rows of another instrument are what the correction is for
                prediction = np.asarray(self.estimator.predict(X), dtype=np.float64)
        except NotFittedError as error:
            raise NotFittedError(
                "SlopeBias corrects a model that is fitted already: fit the estimator first, and wrap it "
                "in sklearn.frozen.FrozenEstimator where it will be cloned."
            ) from error
        Y = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")
        check_consistent_length(prediction, Y)
        if Y.shape != prediction.shape:
            raise ValueError(f"y.shape == {Y.shape}, expected {prediction.shape} as predicted.")
        slope = np.ones(Y.shape[1:])
        if self.slope:
            centred, deviation = (A - A.mean(axis=0) for A in (prediction, Y))
            # In units of their own, since squares may leave float64; equal predictions determine no slope.
            unit, y_unit = (np.abs(A).max(axis=0) for A in (centred, deviation))
            varies = unit > 0
            centred = centred / np.where(varies, unit, 1.0)
            deviation = deviation / np.where(y_unit > 0, y_unit, 1.0)
            cross = (centred * deviation).sum(axis=0) * (y_unit / np.where(varies, unit, 1.0))
            slope = np.divide(cross, (centred**2).sum(axis=0), out=slope, where=varies)
        bias = Y.mean(axis=0) - slope * prediction.mean(axis=0)
        self.slope_ = float(slope) if Y.ndim == 1 else slope
        self.bias_ = float(bias) if Y.ndim == 1 else bias
        return self

    def predict(self, X: ArrayLike) -> NDArray:
        """Predict outputs.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Corrected predictions.
        """
        check_is_fitted(self)
        with allow_far_rows():
            prediction = self.bias_ + self.slope_ * self.estimator.predict(X)
        return finite_answer(self, np.asarray(prediction))


def spike(
    X: ArrayLike, y: ArrayLike, X_new: ArrayLike, y_new: ArrayLike, *, share: float = 0.5
) -> tuple[Array, Array, Array]:
    """Combine old and new rows, with weights that give the few new ones their share.

    Parameters
    ----------
    X, y : array of shape (n_samples, n_features), (n_samples,) or (n_samples, n_targets)
        Rows of the old calibration.
    X_new, y_new : array
        The few rows of the new instrument, batch or site.
    share : float, default=0.5
        Share of the new rows in the total weight, between 0 and 1.

    Returns
    -------
    X, y, sample_weight : ndarray
        For the ``fit`` of any regressor that takes weights; the weights have mean one.

    Examples
    --------
    >>> from isthmus.regression import spike
    >>> X, y, weights = spike([[1.0], [2.0], [3.0]], [1, 2, 3], [[4.0]], [5])
    >>> weights.round(2)
    array([0.67, 0.67, 0.67, 2.  ])
    """
    check_number("share", share, "between 0 and 1, both excluded", high=1.0, strict=True)
    if share == 1:
        raise ValueError("share == 1, must be below 1: fit to the new rows alone instead.")
    old = check_array(X)
    new = check_array(X_new, input_name="X_new")
    check_consistent_length(old, y)
    check_consistent_length(new, y_new)
    if old.shape[1] != new.shape[1]:
        raise ValueError(f"X_new has {new.shape[1]} columns, expected {old.shape[1]} as X.")
    n, m = len(old), len(new)
    weights = np.repeat([(1 - share) * (n + m) / n, share * (n + m) / m], [n, m])
    return np.vstack([old, new]), np.concatenate([y, y_new]), weights
