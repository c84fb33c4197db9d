"""Positive outputs and inputs by their logarithms."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from isthmus._linalg import Array
from isthmus.auto.methods.evidence import EvidenceSearch
from isthmus.auto.methods.maps import FoundModel, InnerSearch
from isthmus.auto.methods.tails import BentScaler

_WIDE_OUTPUTS = 3.0  # largest over smallest output; below, logarithms are all but straight lines


def want_logarithms(Y: Array) -> bool:
    """Tell whether all outputs are positive and one of them is wide enough to bend its logarithm."""
    low, high = Y.min(axis=0), Y.max(axis=0)
    return bool((low > 0).all() and (high >= _WIDE_OUTPUTS * low).any())


class LogScaler(BentScaler):
    """Take logarithms of columns that are positive, then scale all columns.

    Below the smallest value of the fit a logarithm goes on along its tangent, so that zeros and negative
    values have a place.

    Attributes
    ----------
    low_ : ndarray of shape (n_features,)
        Smallest values of the columns whose logarithms are taken, zero for the others.
    mean_, scale_ : ndarray of shape (n_features,)
        Means and standard deviations after that.
    """

    def _learn(self, rows: Array, weights: Array) -> None:
        self.low_ = np.maximum(rows.min(axis=0), 0.0)

    def _bend(self, rows: Array) -> Array:
        low = np.where(self.low_ > 0, self.low_, 1.0)
        logs = np.log(np.maximum(rows / low, 1.0)) + np.minimum(rows / low - 1.0, 0.0)
        return np.where(self.low_ > 0, logs, rows)


class LogModel(FoundModel):
    """The exponential of what a model predicts, times a factor.

    Attributes
    ----------
    model_ : fitted estimator
        Of the logarithms.
    factor_ : ndarray of shape (n_targets,) or float
        With the least squared error of the training rows: the exponential of a mean is below the mean.
    highest_ : ndarray of shape (n_targets,) or float
        Where the logarithms end: an exponential of what lies far outside has no bound.
    """

    def predict(self, X: ArrayLike) -> NDArray:
        """Predict outputs."""
        check_is_fitted(self, "model_")
        return self.factor_ * np.exp(np.minimum(self.model_.predict(X), self.highest_))


class LogSearch(InnerSearch):
    """Gaussian processes of the logarithms of positive outputs.

    Sizes, prices and costs follow products of powers of their inputs, with errors in proportion to
    themselves: straight lines of logarithms, which go on where a few large values lie alone.

    Parameters
    ----------
    random_state : int, default=0
        Seed for the rows of the median rule.

    Attributes
    ----------
    best_estimator_ : LogModel
    best_params_ : dict
        ``alpha``, the noise of the logarithms of each target.
    """

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: Array | None = None) -> LogSearch:
        """Average, then fit."""
        Y = np.asarray(y, dtype=np.float64)
        if not (Y > 0).all():
            raise ValueError("outputs must be positive to have logarithms.")
        bank = {"autoscaled": StandardScaler(), "logarithms": LogScaler()}
        logs = np.log(Y)
        search = EvidenceSearch(bank, random_state=self.random_state)
        search.fit(X, logs, sample_weight=sample_weight)
        weights = np.ones(len(Y)) if sample_weight is None else sample_weight
        model = LogModel()
        model.model_ = search.best_estimator_
        model.highest_ = logs.max(axis=0) + logs.std(axis=0)
        fitted = np.exp(np.minimum(model.model_.predict(X), model.highest_))
        model.factor_ = weights @ (Y * fitted) / (weights @ fitted**2)
        model.n_features_in_ = search.n_features_in_
        self.best_estimator_ = model
        self.best_params_ = {"alpha": search.best_params_["alpha"]}
        self.n_features_in_ = search.n_features_in_
        return self
