"""Small pieces of linear algebra that every room above needs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

Array = NDArray[np.float64]

EPS = float(np.finfo(np.float64).eps)
ROUNDING = 1e-12
"""What is below this fraction of the largest of its kind is rounding error."""
TIE = 1e-9
"""Entries whose sizes differ by this fraction tie: rounding would decide which is the larger."""
GRAM_RANK_TOL = 1e-10
"""Eigenvalues of a Gram matrix below this fraction of the largest count as zero."""
BLOCK = 2**22
"""Numbers held at a time where rows go by in blocks: 32 MB of float64."""
BLOCK_ROWS = 4096
"""Rows at a time where what is held of a row has no fixed size."""
_CONSTANT_ULPS = 8.0
"""A column whose deviations are below so many roundings of its mean is constant."""
_SMALLEST_FLOAT = float(np.finfo(np.float64).tiny)
_LEAST_SQUARE = _SMALLEST_FLOAT / EPS
"""Smaller sums of squares have lost digits, or all of them."""
LARGEST_SQUARE = 1e200
"""Sums of squares beyond this, or below its inverse, are too near the ends of the range."""
_STACKED_ORDER = 100
"""Up to this order all eigenvectors of a stack in one call of NumPy beat one of each."""


_ORTHONORMAL_PROBES = 8
"""Random vectors that ask how far columns are from orthonormal ..."""
_ORTHONORMAL = 1e-11
"""... and the largest error of what they are told."""


def row_blocks(n: int, size: int) -> Iterator[slice]:
    """Slices of at most ``size`` that cover ``range(n)``."""
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def column_scales(squares: Array, mean: Array, weight: Any, scale: bool) -> tuple[Array, NDArray]:
    """Scale of each column, and whether it varies by more than the rounding of its mean."""
    live = squares > weight * (_CONSTANT_ULPS * EPS * mean) ** 2
    if squares.min(initial=np.inf) < _LEAST_SQUARE:  # as that of a constant column is too
        _warn_of_vanished(squares, mean)
    if not scale:
        return np.ones(squares.shape), live
    deviations = np.sqrt(np.maximum(squares, 0.0) / sample_divisor(weight))
    return np.where(live, deviations, 1.0), live


def sample_divisor(weight: Any) -> Any:
    """What sums of squares are divided by for variances, of one weight or of an array of them.

    Weights count as repetitions, and the mean takes one row. Weights that sum to less than two rows can
    only be relative: minus one, next to nothing would be left to divide by.
    """
    return weight - (weight >= 2.0)


def _warn_of_vanished(squares: Array, mean: Array) -> None:
    """Tell of columns whose squares underflow, so that they seem to be constant."""
    # With a larger mean such deviations are roundings of it.
    near = np.abs(mean) < np.sqrt(_LEAST_SQUARE) / EPS
    if ((squares < _LEAST_SQUARE) & (mean != 0) & near).any():
        warnings.warn(
            "columns of X or y are so small, by themselves or beside others of 1e150 and more, that their "
            "squares underflow in float64: they count as constant or lose digits. Rescale the columns.",
            UserWarning,
            stacklevel=3,
        )


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Return ``s, e`` with ``s = fl(a + b)`` and ``s + e == a + b`` exactly."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def orthonormal_basis(A: Array) -> tuple[Array, Array]:
    """Thin QR decomposition of a tall matrix, by Cholesky factors of A'A where these have the digits."""
    probes = np.random.default_rng(0).normal(size=(A.shape[1], _ORTHONORMAL_PROBES))
    Q, R = A, np.eye(A.shape[1])
    for _ in range(2):  # the second time of columns that are nearly orthonormal
        try:
            factor = np.linalg.cholesky(Q.T @ Q).T
        except np.linalg.LinAlgError:
            break
        Q = blas.dtrmm(1.0, lapack.dtrtri(factor)[0], Q, side=1)
        R = factor @ R
        # Products with few vectors show how far from orthonormal the columns are.
        if np.abs(Q.T @ (Q @ probes) - probes).max(initial=0.0) < _ORTHONORMAL:
            return Q, R
    return np.linalg.qr(A)


def inverse_factor(A: Array) -> Array:
    """``W`` with ``W' A W = I``, upper triangular, of a positive definite matrix; LinAlgError otherwise."""
    inverse, info = lapack.dtrtri(np.linalg.cholesky(A).T)  # the other half is zero, and stays so
    if info:
        raise np.linalg.LinAlgError("the matrix is singular")
    return np.asarray(inverse, dtype=np.float64)


def leading_eigenvector(A: Array) -> tuple[Array, Array]:
    """Largest eigenvalue and its unit eigenvector of each symmetric matrix in a stack (..., m, m)."""
    m = A.shape[-1]
    if m == 1:
        return A[..., 0, 0], np.ones(A.shape[:-1])
    stack = A.reshape(-1, m, m)
    if len(stack) > 1 and m <= _STACKED_ORDER:
        values, vectors = np.linalg.eigh(A)
        return values[..., -1], vectors[..., :, -1]
    values = np.empty(len(stack))
    vectors = np.empty((len(stack), m))
    for i, a in enumerate(stack):
        # By bisection: half the time of all eigenvectors, and a quarter for 60 and more.
        value, vector, *_, info = lapack.dsyevr(a, range="I", il=m, iu=m)
        if info:
            value, vector = (found[..., -1:] for found in np.linalg.eigh(a))
        values[i] = value[0]
        vectors[i] = vector[:, 0]
    return values.reshape(A.shape[:-2]), vectors.reshape(A.shape[:-1])


def inverse_root(gram: Array) -> Array:
    """Inverse of the lower Cholesky factor of a Gram matrix whose columns may differ widely or all but
    depend.
    """
    norms = np.sqrt(np.maximum(gram.diagonal(), _SMALLEST_FLOAT))
    correlations = gram / norms[:, None] / norms
    L, info = lapack.dpotrf(correlations, lower=1)
    if info:  # dependent to rounding: all shares of theirs are alike
        L = np.linalg.cholesky(correlations + len(gram) * 1e-12 * np.eye(len(gram)))
    return np.asarray(lapack.dtrtri(L * norms[:, None], lower=1)[0], dtype=np.float64)


def column_signs(scores: Array, means: Array | float = 0.0) -> Array:
    """+1 or -1 a column: its entry of largest absolute value becomes positive; of a tie, the first.

    ``means`` are to be subtracted from the columns, which costs less than a pass over all scores.
    """
    if scores.shape[0] == 0:
        return np.ones(scores.shape[1])
    high = scores.max(axis=0) - means
    low = means - scores.min(axis=0)
    signs = np.copysign(1.0, high - low)
    is_tied = np.abs(high - low) <= TIE * np.maximum(high, low)
    if is_tied.any():
        tied = np.flatnonzero(is_tied)
        centred = (scores - means)[:, tied]
        sizes = np.abs(centred)
        first = (sizes >= (1 - TIE) * sizes.max(axis=0)).argmax(axis=0)
        signs[tied] = np.where(centred[first, np.arange(tied.size)] < 0, -1.0, 1.0)
    return signs


def spreads(Y: NDArray, weights: Array | None = None) -> Array:
    """Standard deviation of each column, one where it does not vary: the unit that errors are counted in.

    Of the observed entries, where some are NaN.
    """
    seen = ~np.isnan(Y)
    if not seen.all():
        return np.array([spreads(y[s, None])[0] if s.any() else 1.0 for y, s in zip(Y.T, seen.T)])
    unit = np.array([power_of_two(y) for y in Y.T])
    Z = Y / unit
    mean = np.average(Z, axis=0, weights=weights)
    deviation = np.sqrt(np.average((Z - mean) ** 2, axis=0, weights=weights))
    return np.where(deviation > _CONSTANT_ULPS * EPS * np.abs(mean), deviation, 1.0 / unit) * unit


def weighted_median(values: Array, weight: Array | None = None) -> float:
    """Return the median of ``values`` in which each counts ``weight`` times."""
    if weight is None:
        return float(np.median(values))
    order = np.argsort(values)
    values = values[order]
    mass = np.cumsum(weight[order])
    half = mass[-1] / 2
    # Sums have rounding errors, which a common factor of all weights must not turn into a choice.
    lower = np.searchsorted(mass, half * (1 - ROUNDING), side="left")
    upper = np.searchsorted(mass, half * (1 + ROUNDING), side="right")
    # Half the mass may end exactly between two values: then, as ever, the middle of them.
    return float(values[lower] / 2 + values[upper] / 2)


def out_of_range(squares: Array, each: bool = False) -> bool:
    """Whether sums of squares overflowed, underflowed or came near to it; ``each``: any of them."""
    if squares.size == 0:
        return False
    largest = squares.max()
    smallest = squares.min() if each else largest
    return not (1 / LARGEST_SQUARE < smallest and largest < LARGEST_SQUARE)


def power_of_two(A: NDArray) -> float:
    """A power of two by which data too large or too small to be squared safely are divided.

    1.0 for ordinary data; otherwise near the largest absolute value, so that products neither
    overflow nor underflow and the division itself is exact.
    """
    largest = float(max(A.max(), -A.min())) if A.size else 0.0
    if largest == 0.0 or 1e-100 < largest < 1e100:
        return 1.0
    return float(2.0 ** np.clip(np.frexp(largest)[1], -1021, 1023))


def require_squares(name: str, A: NDArray) -> None:
    """Refuse data whose squares leave the range of float64, where a method has numbers in such units."""
    unit = power_of_two(A)
    if unit != 1.0:
        exponent = round(float(np.log10(unit)))
        raise ValueError(
            f"{name} has entries of about 1e{exponent}, whose squares are out of the range of float64; "
            f"expected 1e-100 to 1e100: multiply {name} by 1e{-exponent}."
        )


def weight_unit(weights: NDArray | None) -> float:
    """A power of four by which weights too large or too small for sums of squares are divided.

    1.0 for ordinary weights; otherwise near the largest, so that the division and the root of the unit
    are exact.
    """
    largest = 0.0 if weights is None else float(weights.max(initial=0.0))
    if largest == 0.0 or 2.0**-60 < largest < 2.0**60:
        return 1.0
    return float(4.0 ** np.clip(np.frexp(largest)[1] // 2, -510, 511))
