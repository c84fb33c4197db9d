"""Square roots of second moments: few rows that stand for many.

A matrix of n rows and the triangular R of its QR decomposition have the same second moments,
``R'R = X'X``. R has at most p rows and keeps all digits of X, while X'X keeps half of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from isthmus._linalg.basics import EPS, Array

Rows = tuple[Array, Array]
"""Rows of x (m, p) and of y (m, q)."""

TRUSTED = 1e-7
"""A matrix of second moments is as good as rows if its reciprocal condition number, with all variances
scaled to one, is at least this.

Summing squares perturbs X'X by a few eps, which is as if X were perturbed by a few eps times the root of
the condition number of X'X: at most 3200.
"""

ROWS_PER_COLUMN = 4
"""Rows for each column that one QR decomposition takes in, beside the rows kept so far."""
# So many times fewer targets than features, and they are worth no Q.
_FEWER_TARGETS = 4


def triangular_rows(X: Array, Y: Array) -> Rows:
    """Return R (k, p), upper triangular, and Q'Y (k, q) of X = QR, with k = min(m, p)."""
    k = min(X.shape)
    p, q = X.shape[1], Y.shape[1]
    # NumPy throughout: SciPy has threads of its own, which wait for NumPy's.
    if _FEWER_TARGETS * q <= p:
        both = np.asarray(np.linalg.qr(np.hstack([X, Y]), mode="r"))[:k]
        return both[:, :p], both[:, p:]
    Q, R = np.linalg.qr(X)
    return np.asarray(R), np.asarray(Q.T @ Y)


def stacked(blocks: list[Rows]) -> Rows:
    """Put blocks of rows below each other."""
    return np.vstack([X for X, _ in blocks]), np.vstack([Y for _, Y in blocks])


def few_rows_of(blocks: Iterable[Rows], n_features: int, n_targets: int) -> Rows:
    """At most ``2 * n_features`` rows with the second moments of all blocks."""
    kept: list[Rows] = [(np.zeros((0, n_features)), np.zeros((0, n_targets)))]
    n_kept = 0
    for block in blocks:
        kept.append(block)
        n_kept += len(block[0])
        if n_kept > (1 + ROWS_PER_COLUMN) * n_features:
            kept = [triangular_rows(*stacked(kept))]
            n_kept = len(kept[0][0])
    if n_kept > 2 * n_features:
        return triangular_rows(*stacked(kept))
    return stacked(kept)


def trusted_factor(xx: Array, variances: Array) -> Array | None:
    """Return the lower Cholesky factor of ``xx`` scaled by given variances; None if that lacks digits."""
    if not len(xx):
        return np.zeros((0, 0))
    scales = np.sqrt(variances)
    scaled = xx / scales[:, None]
    scaled /= scales
    try:
        factor = np.linalg.cholesky(scaled)
    except np.linalg.LinAlgError:
        return None
    rcond, _ = lapack.dpocon(factor.T, np.abs(scaled).sum(axis=0).max(), uplo="U")
    return np.asarray(factor) if rcond >= TRUSTED else None


def rows_of_factor(factor: Array, variances: Array, xy: Array) -> Rows:
    """Return rows with second moments ``xx``, of which ``factor`` is the scaled root, and ``xy``."""
    scales = np.sqrt(variances)
    Y = np.linalg.solve(factor, xy / scales[:, None])
    return factor.T * scales, np.asarray(Y)


def trusted_rows(xx: Array, xy: Array, live: NDArray) -> Rows | None:
    """Return rows with second moments ``xx`` and ``xy``; None if those lack digits.

    ``live`` tells which columns vary; the others get zeros.
    """
    variances = xx.diagonal()[live]
    factor = trusted_factor(xx[np.ix_(live, live)], variances)
    if factor is None:
        return None
    X, Y = rows_of_factor(factor, variances, xy[live])
    return _spread(X, live), Y


def rows_of_moments(xx: Array, xy: Array, live: NDArray) -> tuple[Rows, float]:
    """Return rows as ``trusted_rows``, whatever their digits, and how many digits these rows have.

    Directions that are no larger than the rounding errors of ``xx`` are dropped.
    """
    if not live.any():
        return (np.zeros((0, len(live))), np.zeros((0, xy.shape[1]))), digits_of(1.0)
    rows = trusted_rows(xx, xy, live)
    if rows is not None:
        return rows, digits_of(TRUSTED)
    scales = np.sqrt(xx.diagonal()[live])
    values, vectors = np.linalg.eigh(xx[np.ix_(live, live)] / scales[:, None] / scales)
    keep = values > len(values) * EPS * values[-1]
    roots = np.sqrt(values[keep])
    vectors = vectors[:, keep]
    X = roots[:, None] * vectors.T * scales
    Y = (vectors.T @ (xy[live] / scales[:, None])) / roots[:, None]
    return (_spread(X, live), Y), digits_of(float(values[keep][0] / values[-1]))


def _spread(X: Array, live: NDArray) -> Array:
    """Put columns where they belong, with zeros in the others."""
    wide = np.zeros((len(X), len(live)))
    wide[:, live] = X
    return wide


def downdated(rows: Rows, removed: Rows) -> tuple[Rows, float]:
    r"""Return rows with the second moments of ``rows`` less those of ``removed``, and their digits.

    In coordinates in which ``rows`` are white, X = U D V', what is left is

    .. math::
        S = V D (I - W^\top W) D V^\top, \qquad W = Z V D^{-1}

    for the removed rows Z. The subtraction costs digits only along directions of which the removed rows
    hold nearly everything, whatever the condition number of X.
    """
    X, Y = rows
    Z, G = removed
    U, d, Vt = np.linalg.svd(X, full_matrices=False)
    keep = d > max(X.shape) * EPS * d[0] if len(d) else np.zeros(0, dtype=bool)
    U, d, Vt = U[:, keep], d[keep], Vt[keep]
    W = (Z @ Vt.T) / d
    left, vectors = np.linalg.eigh(np.eye(len(d)) - W.T @ W)
    # All of a direction may be gone; what rounding leaves of it then is no direction.
    keep = left > 64 * (len(d) + len(Z)) * EPS
    roots = np.sqrt(left[keep])
    vectors = vectors[:, keep]
    rest_x = roots[:, None] * ((vectors.T * d) @ Vt)
    rest_y = (vectors.T @ (U.T @ Y - W.T @ G)) / roots[:, None]
    digits = digits_of(float(left[keep][0])) if keep.any() else digits_of(1.0)
    return (rest_x, rest_y), digits


def digits_of(share: float) -> float:
    """Return the decimal digits left of a direction that is this share of what was summed or subtracted."""
    return max(math.log10(max(share, EPS) / EPS), 0.0)
