"""Treatments of curves such as spectra: linear operators on the columns, and corrections of each row.

A linear treatment has its matrix in ``operator_``: coefficients for treated columns times it are
coefficients for the columns that were measured. Any other transformer can stand beside these.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solveh_banded
from scipy.signal import savgol_filter
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from isthmus._linalg import Array
from isthmus._validation import validate_data


class Treatment(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """A transformer of curves that keeps the number of points."""

    def fit(self, X: ArrayLike, y: Any = None) -> Treatment:
        """Learn what the treatment takes from the training rows.

        Parameters
        ----------
        X : array of shape (n_samples, n_points)
            Curves in rows.
        y : None
            Not used.

        Returns
        -------
        self : object
            The fitted treatment.
        """
        rows = validate_data(self, X, dtype=np.float64)
        self._check()
        self._learn(rows)
        return self

    def transform(self, X: ArrayLike) -> NDArray:
        """Treat curves.

        Parameters
        ----------
        X : array of shape (n_samples, n_points)
            Curves in rows.

        Returns
        -------
        treated : ndarray of shape (n_samples, n_points)
        """
        check_is_fitted(self, "n_features_in_")
        return self._treat(validate_data(self, X, reset=False, dtype=np.float64))

    def _check(self) -> None:
        """Check the parameters."""

    def _learn(self, rows: Array) -> None:
        """Learn from the training rows; most treatments have nothing to learn."""

    def _treat(self, rows: Array) -> Array:
        raise NotImplementedError


class LinearTreatment(Treatment):
    """A treatment that is a matrix: treated rows are ``X @ operator_.T``.

    Attributes
    ----------
    operator_ : ndarray of shape (n_points, n_points)
        Made when it is asked for.
    """

    @property
    def operator_(self) -> Array:
        """The matrix of the treatment."""
        check_is_fitted(self, "n_features_in_")
        return np.ascontiguousarray(self._treat(np.eye(self.n_features_in_)).T)


class SavitzkyGolay(LinearTreatment):
    """Smooth curves, or take their derivative, by a polynomial in a moving window, [SG1964]_.

    Parameters
    ----------
    window : int, default=11
        Points of the window; an odd number. Curves with fewer points get the largest that fits.
    degree : int, default=2
        Degree of the polynomial.
    derivative : int, default=0
        Which derivative; 0 smooths.
    """

    def __init__(self, window: int = 11, degree: int = 2, derivative: int = 0) -> None:
        self.window = window
        self.degree = degree
        self.derivative = derivative

    def _check(self) -> None:
        check_scalar(self.window, "window", Integral, min_val=3)
        check_scalar(self.degree, "degree", Integral, min_val=0, max_val=int(self.window) - 1)
        check_scalar(self.derivative, "derivative", Integral, min_val=0, max_val=int(self.degree))
        if self.window % 2 == 0:
            raise ValueError(f"window == {self.window}, must be odd.")

    def _treat(self, rows: Array) -> Array:
        p = rows.shape[1]
        window = min(int(self.window), p - 1 + p % 2)
        degree = min(int(self.degree), window - 1)
        if self.derivative > degree:
            return np.zeros(rows.shape)
        return savgol_filter(rows, window, degree, deriv=int(self.derivative), axis=1)


class GapDerivative(LinearTreatment):
    """Take differences of points that are so far apart, [NW1984]_; points at the ends have a shorter gap.

    Parameters
    ----------
    gap : int, default=5
        Points between the two that are subtracted, on both sides of a point.
    """

    def __init__(self, gap: int = 5) -> None:
        self.gap = gap

    def _check(self) -> None:
        check_scalar(self.gap, "gap", Integral, min_val=1)

    def _treat(self, rows: Array) -> Array:
        places = np.arange(rows.shape[1])
        after = np.minimum(places + self.gap, rows.shape[1] - 1)
        before = np.maximum(places - self.gap, 0)
        steps = np.maximum(after - before, 1)
        return (rows[:, after] - rows[:, before]) / steps


class Detrend(LinearTreatment):
    """Subtract the polynomial of least squares from each curve, [BDL1989]_.

    Parameters
    ----------
    degree : int, default=2
        Degree of the polynomial.
    """

    def __init__(self, degree: int = 2) -> None:
        self.degree = degree

    def _check(self) -> None:
        check_scalar(self.degree, "degree", Integral, min_val=0)

    def _treat(self, rows: Array) -> Array:
        p = rows.shape[1]
        places = np.linspace(-1, 1, p)
        basis, _ = np.linalg.qr(np.vander(places, min(self.degree + 1, p)))
        return rows - (rows @ basis) @ basis.T


class Whittaker(LinearTreatment):
    r"""Smooth curves by a penalty on their second differences, [E2003]_.

    .. math::
        \min_z \|x - z\|^2 + \lambda \|D_2 z\|^2

    Parameters
    ----------
    strength : float, default=100.0
        The penalty :math:`\lambda`.
    """

    def __init__(self, strength: float = 100.0) -> None:
        self.strength = strength

    def _check(self) -> None:
        check_scalar(self.strength, "strength", Real, min_val=0)

    def _treat(self, rows: Array) -> Array:
        p = rows.shape[1]
        if p < 3:
            return rows.copy()
        differences = np.diff(np.eye(p), 2, axis=0)
        penalty = np.eye(p) + self.strength * differences.T @ differences
        bands = np.zeros((3, p))
        for k in range(3):
            bands[2 - k, k:] = np.diagonal(penalty, k)
        return np.ascontiguousarray(solveh_banded(bands, rows.T).T)


class NormalVariate(Treatment):
    """Centre each curve and divide it by its standard deviation (SNV), [BDL1989]_."""

    def _treat(self, rows: Array) -> Array:
        centred = rows - rows.mean(axis=1, keepdims=True)
        return _divide(centred, centred.std(axis=1, keepdims=True))


class ScatterCorrection(Treatment):
    """Fit each curve by the mean curve of the training rows and undo offset and slope (MSC), [GMM1985]_.

    Attributes
    ----------
    reference_ : ndarray of shape (n_points,)
        The mean of the training rows.
    """

    def _learn(self, rows: Array) -> None:
        self.reference_ = rows.mean(axis=0)

    def _treat(self, rows: Array) -> Array:
        centred = self.reference_ - self.reference_.mean()
        norm = float(centred @ centred)
        means = rows.mean(axis=1, keepdims=True)
        slopes = (rows @ centred)[:, None] / (norm if norm > 0 else 1.0)
        return _divide(rows - means, slopes) + self.reference_.mean()


class Absorbance(Treatment):
    """Turn reflectances into absorbances, ``log10(1 / R)``.

    Parameters
    ----------
    least : float, default=1e-6
        Smaller reflectances are taken for this one.
    """

    def __init__(self, least: float = 1e-6) -> None:
        self.least = least

    def _check(self) -> None:
        check_scalar(self.least, "least", Real, min_val=0, include_boundaries="neither")

    def _treat(self, rows: Array) -> Array:
        return -np.log10(np.maximum(rows, self.least))


def _divide(rows: Array, by: Array) -> Array:
    """Divide rows; a flat curve stays as it is."""
    return rows / np.where(np.abs(by) > 0, by, 1.0)
