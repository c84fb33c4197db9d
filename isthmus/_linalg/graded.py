"""Columns in widely different units: powers of two that bring them into range, and their decomposition."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from isthmus._linalg.basics import Array

# Columns that differ by more than this factor are decomposed with their own digits.
_APART = 1e4
# Columns more than 2^60 apart are 2^60 apart after ``graded_units``.
_MOST_POWERS_APART = 60


def column_units(A: NDArray) -> Array:
    """Return ``power_of_two`` of each column; NaN does not count."""
    return _units(_sizes(A))


def _units(sizes: Array) -> Array:
    ordinary = (sizes == 0) | ((sizes > 1e-100) & (sizes < 1e100))
    return np.where(ordinary, 1.0, _powers(np.frexp(sizes)[1]))


def graded_units(A: NDArray) -> Array:
    """Return a power of two for each column that keeps the order of their sizes; ones for ordinary data.

    A criterion that adds up squares over columns does not know a factor of 2^60 from a larger one: what the
    small columns add to it is lost in rounding either way. So columns that are farther apart are brought
    as near as that, and all can be squared.
    """
    sizes = _sizes(A)
    units = _units(sizes)
    if (units == 1.0).all():
        return units
    exponents = np.where(sizes > 0, np.frexp(sizes)[1], np.frexp(sizes.max())[1])
    order = np.argsort(-exponents, kind="stable")
    gaps = np.minimum(-np.diff(exponents[order], prepend=exponents[order[0]]), _MOST_POWERS_APART)
    places = np.empty_like(exponents)
    places[order] = -np.cumsum(gaps)
    return _powers(exponents - places)


def _powers(exponents: NDArray) -> Array:
    return np.asarray(np.ldexp(1.0, np.clip(exponents, -1021, 1023)), dtype=np.float64)


def _sizes(A: NDArray) -> Array:
    """Largest absolute value of each column; NaN counts as zero."""
    high, low = (ufunc.reduce(A, axis=0, initial=0.0) for ufunc in (np.fmax, np.fmin))
    return np.maximum(high, -low).astype(np.float64)


def is_graded(norms: Array) -> bool:
    """Whether columns of these norms differ so much that a plain decomposition costs digits."""
    largest = norms.max(initial=0.0)
    if largest <= _APART * norms.min(initial=largest):
        return False
    return bool(largest > _APART * norms[norms > 0].min())


class ColumnSizes:
    """Sizes of columns, for decompositions in which every column keeps its own digits.

    A plain one is right to rounding of the largest column: nothing is left of a column 1e16 times smaller.
    """

    def __init__(self, norms: Array) -> None:
        self.norms = norms
        self.are_graded = is_graded(norms)

    def svd(self, A: Array, tolerance: float = 1e-14) -> tuple[Array, Array, Array]:
        """Thin singular value decomposition; the sizes have errors of ``tolerance`` times themselves.

        Where they differ much, a pivoted QR decomposition comes first, as in [DV2008]_: the rows of R fall,
        and left vectors of small singular values keep their digits. An entry of a right vector is then the
        projection of its column on the left one, where that is the more accurate.
        """
        if not self.are_graded:
            U, s, Vt = np.linalg.svd(A, full_matrices=False)
            return U, s, Vt
        basis, R, places = qr(A, mode="economic", pivoting=True, check_finite=False)
        floors = tolerance * self.norms[places]
        dependent = np.abs(R.diagonal()) <= floors[: len(R)]
        if dependent.any():
            # What rounding leaves of a large column may exceed all that small ones have: it is taken out.
            R[dependent] *= np.abs(R[dependent]) > floors
            falling = np.argsort(-np.linalg.norm(R, axis=1), kind="stable")
            basis, R = basis[:, falling], R[falling]
        U, s, Vt = np.linalg.svd(R, full_matrices=False)
        U = basis @ U
        right = np.empty_like(Vt)
        right[:, places] = Vt
        projected = (U.T @ A) / np.where(s > 0, s, 1.0)[:, None]
        small = np.linalg.norm(A, axis=0) < s[:, None]
        return U, s, np.where(small, projected, right)

    def rounding_units(self, Vt: Array) -> Any:
        """Return what each singular value is known relative to."""
        return np.abs(Vt) @ self.norms if self.are_graded else np.linalg.norm(self.norms)


def graded_svd(A: Array, norms: Array, tolerance: float = 1e-14) -> tuple[Array, Array, Array]:
    """Thin singular value decomposition of columns of sizes ``norms``."""
    return ColumnSizes(norms).svd(A, tolerance)
