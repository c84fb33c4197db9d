"""Sums of centred squares of rows, dense or sparse, in float64 and block by block."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_consistent_length

from isthmus._linalg import Array, row_blocks, two_sum
from isthmus._validation import check_array, check_weights
from isthmus.problems.splits import dense_rows

# Blocks of centred rows that stay in the cache between being centred and being multiplied.
_BLOCK_BYTES = 2**19
_LEAST_ROWS = 256
# Sparser than this a sparse product beats a dense one; denser rows are worked on as dense blocks.
_SPARSE_DENSITY = 0.05
# A mean whose square is below this many variances is no reason to centre a copy of the rows.
_NEAR = 16.0
# Fewer digits than this are worth a warning.
_FEW_DIGITS = 8.0

Mean = tuple[Array, Array]
"""A mean as an unevaluated sum of two floats."""
Sums = tuple[Mean, Mean, Array, Array, Array]
"""Means of x and y, and the centred xx, xy and yy."""


def sum_rows(X: Any, Y: NDArray, weights: Array | None, weight: float, full_yy: bool) -> Sums:
    """Sum rows of a total weight that is not zero; without ``full_yy``, yy is its diagonal."""
    w = np.ones(X.shape[0]) if weights is None else weights
    if sparse.issparse(X) and X.nnz < _SPARSE_DENSITY * X.shape[0] * X.shape[1]:
        return _sum_sparse(sparse.csr_array(X, dtype=np.float64), Y, w, weight, full_yy)
    p, q = X.shape[1], Y.shape[1]
    x_mean, y_mean = (w @ X) / weight, (w @ Y) / weight
    root = np.sqrt(w)
    xx, yx, yy = np.zeros((p, p)), np.zeros((q, p)), np.zeros((q, q) if full_yy else q)
    x_rest, y_rest = np.zeros(p), np.zeros(q)
    n_rows = min(max(_LEAST_ROWS, _BLOCK_BYTES // (8 * (p + q))), len(w))
    x_buffer, y_buffer = np.empty((n_rows, p)), np.empty((n_rows, q))
    for rows in row_blocks(len(w), n_rows):
        size = rows.stop - rows.start
        A = np.subtract(dense_rows(X[rows]), x_mean, out=x_buffer[:size])
        B = np.subtract(Y[rows], y_mean, out=y_buffer[:size])
        if weights is not None:
            A *= root[rows, None]
            B *= root[rows, None]
        xx += A.T @ A
        yx += B.T @ A  # a third faster than A'B, whose result is tall
        yy += B.T @ B if full_yy else np.einsum("ij,ij->j", B, B)
        x_rest += root[rows] @ A
        y_rest += root[rows] @ B
    # The rounded means leave a rest of a few ulps; without it a large mean spoils the merge.
    x_rest, y_rest = x_rest / weight, y_rest / weight
    xx -= np.outer(weight * x_rest, x_rest)
    yx -= np.outer(weight * y_rest, x_rest)
    yy -= np.outer(weight * y_rest, y_rest) if full_yy else weight * y_rest**2
    return two_sum(x_mean, x_rest), two_sum(y_mean, y_rest), xx, np.ascontiguousarray(yx.T), yy


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
    far = np.flatnonzero(weight * x_mean**2 > _NEAR * xx.diagonal())
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


def warn_of_digits(what: str, digits: float, remedy: str, stacklevel: int = 3) -> None:
    """Warn if something has few correct digits left."""
    if digits < _FEW_DIGITS:
        warnings.warn(
            f"{what}: about {int(digits)} of 16 digits are left; {remedy}.",
            UserWarning,
            stacklevel=stacklevel + 1,
        )
