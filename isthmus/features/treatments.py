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
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from isthmus._linalg import Array
from isthmus._validation import BaseEstimator, finite_answer, validate_data

_BASELINE_STEPS = 50  # most curves need fewer than ten


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
        rows = validate_data(self, X, reset=False, dtype=np.float64)
        return finite_answer(self, self._treat(rows))

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
    """Take differences of points a fixed gap apart, [NW1984]_; points at the ends have a shorter gap.

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
        bands = _difference_bands(p, self.strength)
        bands[2] += 1.0
        return np.ascontiguousarray(solveh_banded(bands, rows.T).T)


class NormalVariate(Treatment):
    """Centre each curve and divide it by its standard deviation (SNV), [BDL1989]_."""

    def _treat(self, rows: Array) -> Array:
        centred = rows - rows.mean(axis=1, keepdims=True)
        return _divide(centred, centred.std(axis=1, keepdims=True))


class ScatterCorrection(Treatment):
    r"""Fit each curve by the mean curve and a polynomial, and undo both (MSC, EMSC).

    .. math::
        x = b\, m + \sum_k c_k \lambda^k + e, \qquad x \mapsto m + e / b

    with the mean :math:`m` of the training rows. The default undoes offset and slope: multiplicative
    scatter correction, [GMM1985]_. A higher degree makes it the extended one, [MS1991]_.

    Parameters
    ----------
    degree : int, default=0
        Degree of the polynomial along the curve; 2 is usual for the extended correction.

    Attributes
    ----------
    reference_ : ndarray of shape (n_points,)
        The mean of the training rows.
    """

    def __init__(self, degree: int = 0) -> None:
        self.degree = degree

    def _check(self) -> None:
        check_scalar(self.degree, "degree", Integral, min_val=0)

    def _learn(self, rows: Array) -> None:
        self.reference_ = rows.mean(axis=0)

    def _treat(self, rows: Array) -> Array:
        p = rows.shape[1]
        basis, _ = np.linalg.qr(np.vander(np.linspace(-1, 1, p), min(self.degree + 1, p)))
        # What the polynomial leaves of the reference decides the slope.
        own = self.reference_ - basis @ (basis.T @ self.reference_)
        norm = float(own @ own)
        slopes = (rows @ own)[:, None] / (norm if norm > 0 else 1.0)
        left = rows - (rows @ basis) @ basis.T
        return _divide(left, slopes) + (self.reference_ - own)


class Baseline(Treatment):
    r"""Subtract a smooth baseline that lies below the peaks: asymmetric least squares, [EB2005]_.

    .. math::
        \min_z \sum_i w_i (x_i - z_i)^2 + \lambda \|D_2 z\|^2, \qquad
        w_i = a \text{ where } x_i > z_i \text{, else } 1 - a

    Parameters
    ----------
    strength : float, default=1e5
        The penalty :math:`\lambda` on second differences; a larger one gives a stiffer baseline.
    asymmetry : float, default=0.01
        The weight :math:`a` of points above the baseline, between 0 and 1.
    """

    def __init__(self, strength: float = 1e5, asymmetry: float = 0.01) -> None:
        self.strength = strength
        self.asymmetry = asymmetry

    def _check(self) -> None:
        check_scalar(self.strength, "strength", Real, min_val=0)
        check_scalar(
            self.asymmetry, "asymmetry", Real, min_val=0, max_val=1, include_boundaries="neither"
        )

    def _treat(self, rows: Array) -> Array:
        if rows.shape[1] < 3:
            return rows - rows.min(axis=1, keepdims=True)
        return rows - np.array([self._baseline(row) for row in rows])

    def _baseline(self, row: Array) -> Array:
        penalty = _difference_bands(len(row), self.strength)
        weights = np.ones(len(row))
        for _ in range(_BASELINE_STEPS):  # until the weights, which are two numbers, stay the same
            bands = penalty.copy()
            bands[2] += weights
            z = solveh_banded(bands, weights * row)
            new = np.where(row > z, self.asymmetry, 1 - self.asymmetry)
            if (new == weights).all():
                break
            weights = new
        return np.asarray(z)


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


def _difference_bands(p: int, strength: float) -> Array:
    """Return the upper bands of ``strength`` times D'D, D the second differences of p points."""
    bands = np.zeros((3, p))
    for start in range(3):  # the stencil 1, -2, 1 against itself
        for k in range(3 - start):
            product = (1.0, -2.0, 1.0)[start] * (1.0, -2.0, 1.0)[start + k]
            bands[2 - k, start + k : p - 2 + start + k] += strength * product
    return bands


def _divide(rows: Array, by: Array) -> Array:
    """Divide rows; a flat curve stays as it is."""
    return rows / np.where(np.abs(by) > 0, by, 1.0)
