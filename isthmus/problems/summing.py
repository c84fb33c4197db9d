"""Sums of centred squares of rows, dense or sparse, in float64 and block by block."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_consistent_length

from isthmus._linalg import EPS, Array, row_blocks, two_sum
from isthmus._validation import check_array, check_weights, warn
from isthmus.problems.splits import dense_rows

# Rows in float64 that stay in the cache between being shifted and being multiplied.
_BUFFER_BYTES = 2**20
# With fewer rows for each column than this, adding up the products costs more than making them.
_ROWS_TO_ADD_UP = 2
# Sparser than this a sparse product beats a dense one; denser rows are worked on as dense blocks.
_SPARSE_DENSITY = 0.05
# A point is near a mean if the square of their distance is below so many variances: four bits are lost.
_NEAR_POINT = 16.0
_FIRST_ROWS = 256  # whose mean is near that of all, before any is known
# Up to this share of targets the products of targets cost less than a matrix product of their own.
_TARGET_SHARE = 0.5
# Fewer digits than this are worth a warning.
_FEW_DIGITS = 8.0

Mean = tuple[Array, Array]
"""A mean as an unevaluated sum of two floats."""
Sums = tuple[Mean, Mean, Array, Array, Array]
"""Means of x and y, and the centred xx, xy and yy."""


def sum_rows(
    X: Any,
    Y: NDArray,
    weights: Array | None,
    weight: float,
    full_yy: bool,
    point: Array | None = None,
    is_mean: bool = False,
) -> Sums:
    """Sum rows of a total weight that is not zero; without ``full_yy``, yy is its diagonal.

    Rows are seen from a point (of x and y together) near their mean, which saves a pass to find that; None:
    the mean of the first rows. Where the mean turns out to be far from the point, the rows are summed again
    about the mean itself; ``is_mean`` says that it is.
    """
    if sparse.issparse(X) and X.nnz < _SPARSE_DENSITY * X.shape[0] * X.shape[1]:
        w = np.ones(X.shape[0]) if weights is None else weights
        return _sum_sparse(sparse.csr_array(X, dtype=np.float64), Y, w, weight, full_yy)
    p, width = X.shape[1], X.shape[1] + Y.shape[1]
    if point is None:
        first = np.hstack([dense_rows(X[:_FIRST_ROWS]), Y[:_FIRST_ROWS]], dtype=np.float64)
        point = np.ascontiguousarray(first).mean(axis=0)  # however the rows lie in memory
        del first  # not held while rows are summed, so that memory stays within its bound
    n_rows = min(max(_ROWS_TO_ADD_UP * width, _BUFFER_BYTES // (8 * width)), len(Y))
    xx, yx, yy, sums = _sum_about(X, Y, weights, point, full_yy, n_rows)
    rest = sums / weight  # the mean, seen from the point
    xx -= np.outer(sums[:p], rest[:p])
    yx -= np.outer(sums[p:], rest[:p])
    yy -= np.outer(sums[p:], rest[p:]) if full_yy else sums[p:] * rest[p:]
    squares = np.concatenate([xx.diagonal(), yy.diagonal() if full_yy else yy])
    is_far = weight * rest**2 > np.maximum(_NEAR_POINT * squares, weight * (8.0 * EPS * point) ** 2)
    if not is_mean and is_far.any():
        return sum_rows(X, Y, weights, weight, full_yy, means_of(X, Y, weights), True)
    x_mean = two_sum(point[:p], rest[:p])
    y_mean = two_sum(point[p:], rest[p:])
    return x_mean, y_mean, xx, np.ascontiguousarray(yx.T), yy


def means_of(X: Any, Y: NDArray, weights: Array | None) -> Array:
    """Means of x and y together: rows that are seen from there lose no digit."""
    w = np.ones(len(Y)) if weights is None else weights
    return np.asarray(np.concatenate([X.T @ w, w @ Y]) / w.sum(), dtype=np.float64)


def _sum_about(
    X: Any, Y: NDArray, weights: Array | None, point: Array, full_yy: bool, n_rows: int
) -> tuple[Array, Array, Array, Array]:
    """``X'X``, ``Y'X``, ``Y'Y`` and the sums of both, of rows less a point, times the roots of weights."""
    p, width = X.shape[1], len(point)
    # With many outputs, whose products are not wanted, only the inputs are multiplied with all columns;
    # otherwise one product is faster than two.
    is_joint = full_yy or width - p <= _TARGET_SHARE * p
    buffer = np.empty((n_rows, width))
    ones = np.ones(n_rows)
    products = np.zeros((width, width if is_joint else p))
    own_products = np.empty_like(products)
    sums = np.zeros(width)
    squares = np.zeros(width - p)
    for rows in row_blocks(len(Y), n_rows):
        Z = buffer[: rows.stop - rows.start]
        Z[:, :p] = dense_rows(X[rows])
        Z[:, p:] = Y[rows]
        Z -= point  # of whole rows: NumPy needs a buffer for columns of some
        root = ones[: len(Z)]
        if weights is not None:
            root = np.sqrt(weights[rows])
            Z *= root[:, None]
        sums += root @ Z
        if is_joint:
            np.matmul(Z.T, Z, out=own_products)
        else:
            A, B = Z[:, :p], Z[:, p:]
            np.matmul(A.T, A, out=own_products[:p])
            np.matmul(B.T, A, out=own_products[p:])
            squares += np.einsum("ij,ij->j", B, B)
        products += own_products
    if is_joint:
        squares = products[p:, p:].copy() if full_yy else products[p:, p:].diagonal().copy()
    return products[:p, :p].copy(), products[p:, :p].copy(), squares, sums


def _sum_sparse(X: Any, Y: NDArray, w: Array, weight: float, full_yy: bool) -> Sums:
    x_mean, y_mean = (X.T @ w) / weight, (w @ Y) / weight
    B = Y - y_mean
    y_rest = (w @ B) / weight
    B -= y_rest
    weighted = X if (w == 1.0).all() else X.multiply(w[:, None]).tocsr()
    xx = (X.T @ weighted).toarray()
    xy = np.asarray(weighted.T @ B)
    xx -= np.outer(weight * x_mean, x_mean)  # B sums to zero, so that xy is centred already
    yy = B.T @ (B * w[:, None]) if full_yy else w @ (B * B)
    x_rest = np.zeros_like(x_mean)
    far = np.flatnonzero(weight * x_mean**2 > _NEAR_POINT * xx.diagonal())
    if len(far):
        # Columns whose means dwarf their spreads have hardly a zero, so that there are few of them:
        # they are summed again, centred first.
        A = X[:, far].toarray() - x_mean[far]
        x_rest[far] = (w @ A) / weight
        A -= x_rest[far]
        A_weighted = A * w[:, None]
        xx[:, far] = X.T @ A_weighted
        xx[far] = xx[:, far].T
        xx[np.ix_(far, far)] = A.T @ A_weighted
        xy[far] = A_weighted.T @ B
    return (x_mean, x_rest), two_sum(y_mean, y_rest), xx, xy, yy


def difference(a: Mean, b: Mean) -> Array:
    """Return a - b to full accuracy."""
    return (a[0] - b[0]) + (a[1] - b[1])


def shifted(mean: Mean, shift: Array) -> Mean:
    """Return a mean moved by a shift."""
    high, low = two_sum(mean[0], shift)
    return two_sum(high, low + mean[1])


def check_rows(X: Any, y: Any, sample_weight: Any) -> tuple[Any, NDArray, Array | None]:
    """Checked rows of x, of y and their weights."""
    floats = (np.float64, np.float32)
    X = check_array(X, accept_sparse="csr", dtype=floats, ensure_min_samples=0)
    if y is None:
        Y = np.empty((X.shape[0], 0))
    else:
        Y = check_array(y, dtype=floats, ensure_2d=False, ensure_min_samples=0)
        Y = Y.reshape(len(Y), -1)
    check_consistent_length(X, Y)
    return X, Y, check_weights(sample_weight, X)


def warn_of_digits(what: str, digits: float, remedy: str) -> None:
    """Warn if something has few correct digits left."""
    if digits < _FEW_DIGITS:
        warn(
            f"{what}: about {int(digits)} of 16 digits are left; {remedy}.",
        )
