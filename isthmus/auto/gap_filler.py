"""Gaps in the inputs, filled before any method by what the training rows of a fold tell."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from isthmus._linalg import Array, weight_unit
from isthmus.problems.gaps import MissingModel
from isthmus.problems.missing import fit_missing, unit_of_seen

# What fills a gap need not have its last digits, and a column of few values would take very many steps.
_MAX_ITER = 100
_TOL = 1e-4


class GapFiller:
    """Fill the gaps of inputs: in a fold by its training rows alone, in the end by all rows.

    A gap takes its mean given what is observed of its row, under the probabilistic PCA of the inputs
    [TB1999]_ that ``missing="em"`` fits. So every method can have the rows, not only linear maps.

    Attributes
    ----------
    model : MissingModel
        Of all rows.
    complete : ndarray of shape (n_samples, n_features)
        All rows, filled by it.
    """

    def __init__(self, X: Array, weights: Array | None) -> None:
        self.X, self.weights = X, weights
        self.model = _model_of(X, weights)
        self.complete = self.model.filled(X)
        self._kept: dict[tuple[bytes, bytes], tuple[Array, Array]] = {}

    def fold(self, train: NDArray, test: NDArray) -> tuple[Array, Array]:
        """Return complete training and test rows; every fold is filled once, for all methods."""
        key = train.tobytes(), test.tobytes()
        if key not in self._kept:
            rows, others = self.X[train], self.X[test]
            # Nothing is known of a column without a training value: it is constant.
            unknown = np.isnan(rows).all(axis=0)
            rows[:, unknown] = others[:, unknown] = 0.0
            model = _model_of(rows, None if self.weights is None else self.weights[train])
            self._kept[key] = model.filled(rows), model.filled(others)
        return self._kept[key]


def filler_of(X: Array, Y: Array, weights: Array | None) -> GapFiller | None:
    """What fills the gaps of inputs; None without any.

    Nor where outputs have gaps: these are for linear maps, whose own model fills both sides.
    """
    if np.isnan(X).any() and not np.isnan(Y).any():
        return GapFiller(X, weights)
    return None


def _model_of(X: Array, weights: Array | None) -> MissingModel:
    """The model that fills rows like these, in units whose squares float64 can hold."""
    seen = ~np.isnan(X).all(axis=1)  # a row without any value tells nothing
    unit = unit_of_seen(X)
    if weights is not None:
        weights = weights[seen] / weight_unit(weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        _, model = fit_missing(X[seen] / unit, weights, X.shape[1], max_iter=_MAX_ITER, tol=_TOL)
    model.multiply_units(np.full(X.shape[1], unit))
    return model
