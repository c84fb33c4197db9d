"""Gaps in inputs and outputs, filled before any method by what the training rows of a fold tell."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from isthmus._linalg import Array, weight_unit
from isthmus.problems import MissingModel, fit_missing

# What fills a gap need not have its last digits, and a column of few values would take very many steps.
_MAX_ITER = 100
_TOL = 1e-4


class GapFiller:
    """Fill gaps of inputs and outputs: in a fold by its training rows alone, in the end by all rows.

    A gap takes its mean given what is observed of its row, under the probabilistic PCA [TB1999]_ that
    ``missing="em"`` fits. So every method can have the rows, not only linear maps. Outputs are
    filled for training, never to be judged by: gaps of inputs do not depend on them.

    Attributes
    ----------
    model : MissingModel or None
        Of the inputs of all rows; None without gaps there.
    inputs, outputs : ndarray of shape (n_samples, n_features), (n_samples, n_targets)
        All rows, complete.
    """

    def __init__(self, X: Array, Y: Array, weights: Array | None) -> None:
        self.X, self.Y, self.weights = X, Y, weights
        self.model, self.inputs, self.outputs = _complete(X, Y, weights)
        self._kept: dict[tuple[bytes, bytes], tuple[Array, Array, Array]] = {}

    def fold(self, train: NDArray, test: NDArray) -> tuple[Array, Array, Array]:
        """Return complete training rows, test rows and training outputs; once for all methods."""
        key = train.tobytes(), test.tobytes()
        if key not in self._kept:
            rows, others, outputs = self.X[train], self.X[test], self.Y[train]
            # Nothing is known of a column without a training value: it is constant.
            unknown = np.isnan(rows).all(axis=0)
            rows[:, unknown] = others[:, unknown] = 0.0
            unknown = np.isnan(outputs).all(axis=0)
            outputs[:, unknown] = np.nanmean(self.Y[:, unknown], axis=0)
            weights = None if self.weights is None else self.weights[train]
            model, inputs, outputs = _complete(rows, outputs, weights)
            if model is None and np.isnan(others).any():
                model = _model_of(rows, weights)
            others = others if model is None else model.filled(others)
            self._kept[key] = inputs, others, outputs
        return self._kept[key]


def filler_of(X: Array, Y: Array, weights: Array | None) -> GapFiller | None:
    """What fills the gaps of inputs and outputs; None without any."""
    if np.isnan(X).any() or np.isnan(Y).any():
        return GapFiller(X, Y, weights)
    return None


def _complete(
    X: Array, Y: Array, weights: Array | None
) -> tuple[MissingModel | None, Array, Array]:
    """The model of the inputs if they have gaps, and both sides without gaps."""
    model = None
    if np.isnan(X).any():
        model = _model_of(X, weights)
        X = model.filled(X)
    if np.isnan(Y).any():
        both = np.hstack([X, Y])
        Y = _model_of(both, weights).filled(both)[:, X.shape[1] :]
    return model, X, Y


def _model_of(Z: Array, weights: Array | None) -> MissingModel:
    """The model that fills rows like these, in units whose squares float64 can hold."""
    seen = ~np.isnan(Z).all(axis=1)  # a row without any value tells nothing
    largest = np.fmax.reduce(np.abs(Z), axis=0)
    units = np.ldexp(1.0, np.frexp(np.where(largest > 0, largest, 1.0))[1] - 1)
    if weights is not None:
        weights = weights[seen] / weight_unit(weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        _, model = fit_missing(Z[seen] / units, weights, Z.shape[1], max_iter=_MAX_ITER, tol=_TOL)
    model.multiply_units(units)
    return model
