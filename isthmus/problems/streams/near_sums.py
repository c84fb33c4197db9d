"""Sums of a block of rows about a point near its mean, in one pass over the block."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import lapack

from isthmus._linalg import EPS, Array, row_blocks, two_sum
from isthmus._linalg.roots import TRUSTED
from isthmus.problems.sums import Moments

# Rows in float64 that stay in the cache between being shifted and being multiplied.
_BUFFER_BYTES = 2**20
# With fewer rows for each column than this, adding up the products costs more than making them.
_ROWS_PER_COLUMN = 2
# A point is near a mean if the square of their distance is below so many variances: four bits are lost.
_NEAR = 16.0
_FIRST_ROWS = 256  # whose mean is near that of all, before any is known
# Zero is taken for the point where the rows before have it this near: later rows may be further away.
_NEAR_ZERO = _NEAR / 2
# Up to this share of targets the products of targets cost less than a matrix product of their own.
_FEW_TARGETS = 0.5


def near_moments(X: Any, Y: NDArray, weights: Array | None, before: Moments) -> Moments:
    """Return the moments of a block as squares; ``before`` are those of the blocks before.

    Rows are seen from the mean of the rows before, which saves a pass over the block to find its own. Where
    that mean is far from the block's, its own is taken.
    """
    full_yy = before.yy.ndim == 2
    if sparse.issparse(X) or Y.shape[1] > _FEW_TARGETS * X.shape[1]:
        return Moments.squares_of(X, Y, weights, full_yy)
    p, q = X.shape[1], Y.shape[1]
    point, spread = _point_of(before) if before.weight > 0 else _point_of_rows(X, Y)
    weight = float(len(Y)) if weights is None else float(weights.sum())
    is_plain = weights is None and X.dtype == np.float64 == Y.dtype
    if is_plain and (point**2 <= _NEAR_ZERO * spread).all():
        point = np.zeros(p + q)
        xx, xy, yy, sums = _sum_as_they_are(X, Y)
    else:
        xx, xy, yy, sums = _sum_about(X, Y, weights, point)
    rest = sums / weight
    xx -= np.outer(sums[:p], rest[:p])
    xy -= np.outer(sums[:p], rest[p:])
    yy -= np.outer(sums[p:], rest[p:])
    squares = np.concatenate([xx.diagonal(), yy.diagonal()])
    is_far = weight * rest**2 > np.maximum(_NEAR * squares, weight * (8.0 * EPS * point) ** 2)
    if is_far.any():
        return Moments.squares_of(X, Y, weights, full_yy)
    moments = Moments(p, q, full_yy=full_yy)
    moments.n_samples, moments.weight = len(Y), weight
    moments._x_mean = two_sum(point[:p], rest[:p])
    moments._y_mean = two_sum(point[p:], rest[p:])
    moments.xx, moments.xy = xx, xy
    moments.yy = yy if full_yy else yy.diagonal().copy()
    return moments


def _point_of(before: Moments) -> tuple[Array, Array]:
    """Means and variances of the rows before."""
    yy = before.yy.diagonal() if before.yy.ndim == 2 else before.yy
    variances = np.concatenate([before.xx.diagonal(), yy]) / before.weight
    return np.concatenate([before.x_mean, before.y_mean]), variances


def _point_of_rows(X: NDArray, Y: NDArray) -> tuple[Array, Array]:
    """Means and variances of the first rows."""
    first = [A[:_FIRST_ROWS].astype(np.float64) for A in (X, Y)]
    return (
        np.concatenate([A.mean(axis=0) for A in first]),
        np.concatenate([A.var(axis=0) for A in first]),
    )


def _buffer_rows(n_rows: int, width: int) -> int:
    return min(max(_ROWS_PER_COLUMN * width, _BUFFER_BYTES // (8 * width)), n_rows)


def _sum_as_they_are(X: NDArray, Y: NDArray) -> tuple[Array, Array, Array, Array]:
    """``X'X``, ``X'Y``, ``Y'Y`` and the sums of both sides together: aligned rows are not copied."""
    p, q = X.shape[1], Y.shape[1]
    n_rows = _buffer_rows(len(Y), p + q)
    xx, xy, yy = np.zeros((p, p)), np.zeros((p, q)), np.zeros((q, q))
    x_sums, y_sums, ones = np.zeros(p), np.zeros(q), np.ones(n_rows)
    # Kept: where freed memory is given back at once, as by Dask's workers, new arrays fault on every page.
    own_xx, own_xy = np.empty((p, p)), np.empty((p, q))
    for rows in row_blocks(len(Y), n_rows):
        # Chunks that come from another process may lie at odd addresses, where products round otherwise.
        A, B = (np.require(side[rows], requirements=["C", "A"]) for side in (X, Y))
        xx += np.matmul(A.T, A, out=own_xx)
        xy += np.matmul(A.T, B, out=own_xy)
        yy += B.T @ B
        x_sums += ones[: len(A)] @ A
        y_sums += ones[: len(A)] @ B
    return xx, xy, yy, np.concatenate([x_sums, y_sums])


def _sum_about(
    X: NDArray, Y: NDArray, weights: Array | None, point: Array
) -> tuple[Array, Array, Array, Array]:
    """The same of rows less a point, times the roots of weights."""
    p, width = X.shape[1], len(point)
    n_rows = _buffer_rows(len(Y), width)
    buffer = np.empty((n_rows, width))
    products, sums = np.zeros((width, width)), np.zeros(width)
    own_products, ones = np.empty((width, width)), np.ones(n_rows)
    for rows in row_blocks(len(Y), n_rows):
        A = buffer[: rows.stop - rows.start]
        np.subtract(X[rows], point[:p], out=A[:, :p])
        np.subtract(Y[rows], point[p:], out=A[:, p:])
        root = ones[: len(A)]
        if weights is not None:
            root = np.sqrt(weights[rows])
            A *= root[:, None]
        products += np.matmul(A.T, A, out=own_products)
        sums += root @ A
    return products[:p, :p].copy(), products[:p, p:].copy(), products[p:, p:].copy(), sums


def check_sums(moments: Moments) -> Moments:
    """Refuse sums of values that are not finite, or too large to be squared."""
    yy = moments.yy if moments.yy.ndim == 1 else moments.yy.diagonal()
    for sums in (moments.x_mean, moments.y_mean, moments.xx.diagonal(), yy):
        if not np.isfinite(sums).all():
            raise FloatingPointError("the values are not finite, or their squares are not.")
    return moments


def add_block(before: Moments, X: Any, Y: NDArray, weights: Array | None) -> Moments:
    """Return the moments of the rows before and of a block, with all digits."""
    with np.errstate(over="ignore", invalid="ignore"):
        part = check_sums(near_moments(X, Y, weights, before))
        n_rows = part.n_samples
        total = before._join(part, lambda: part._centred_blocks(X, Y, weights), n_rows)
    if total._proved is not None and total._proved is not before._proved:
        total._proved = total._proved * _slack(total)
    return total


def _slack(moments: Moments) -> float:
    """Factor by which variances may grow before well-conditioned moments have to be proved so again.

    Rows that are added to moments with the smallest eigenvalue s, in units of the variances, leave at least
    s over the growth of the variances, and the largest is at most the number of columns.
    """
    live = moments._live()
    scales = np.sqrt(moments.xx.diagonal()[live])
    scaled = moments.xx[np.ix_(live, live)] / scales / scales[:, None]
    if not len(scaled):
        return 1.0
    inverse, _ = lapack.dtrtri(np.linalg.cholesky(scaled), lower=1)
    smallest = 1.0 / float(
        (np.tril(inverse) ** 2).sum()
    )  # of an inverse with this trace, or larger
    return max(1.0, smallest / len(scaled) / TRUSTED)
