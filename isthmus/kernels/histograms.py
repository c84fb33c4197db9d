"""The histogram intersection kernel, by distances, by unary codes, and by tables for expansions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from isthmus._linalg import row_blocks
from isthmus.kernels.base import TILE, VectorKernel, as_vectors

# A matrix product does about this many columns in the time in which a distance does one.
_UNARY_PER_COLUMN = 8


class HistogramIntersection(VectorKernel):
    r"""Total variation kernel of histograms, :math:`k(x, y) = \sum_j \min(x_j, y_j)`, entries >= 0.

    Its squared distance is :math:`\|x - y\|_1`, hence the fast form
    :math:`k = (\sum x + \sum y - \|x - y\|_1) / 2`. Small whole counts are written in unary instead,
    where one matrix product counts the common ones. :class:`HistogramTables` evaluates expansions.
    """

    def _operands(self, X: NDArray, Y: NDArray | None) -> tuple[NDArray, NDArray]:
        A, B = super()._operands(X, Y)
        _check_histograms(A)
        if Y is not None:
            _check_histograms(B)
        width = _unary_width(A, B)
        if width is None:
            return A, B
        code = _unary(A, width)
        return code, code if Y is None else _unary(B, width)

    def _fill(self, A: NDArray, B: NDArray, out: NDArray) -> None:
        if A.dtype == np.int8:  # unary codes; sums of ones below 2^24 are exact in float32
            out[...] = A.astype(np.float32) @ B.astype(np.float32).T
            return
        np.multiply(cdist(A, B, "cityblock"), -0.5, out=out)
        out += 0.5 * A.sum(axis=1)[:, None]
        out += 0.5 * B.sum(axis=1)

    def diag(self, X: Any) -> NDArray:
        return as_vectors(X).sum(axis=1)


class HistogramTables:
    """An expansion ``sum_i coef_i k(x_i, .)`` of the histogram intersection kernel as tables.

    In each bin the expansion is piecewise linear in the entry, with a corner at each sorted
    ``x_ij``; sums of ``coef x`` below and of ``coef`` above a corner give it exactly. An evaluation
    costs ``O(d log n)`` per row, whatever the number n of points.
    """

    def __init__(self, points: Any, coef: Any):
        points, coef = as_vectors(points), np.asarray(coef, dtype=np.float64)
        _check_histograms(points)
        order = points.argsort(axis=0)
        self.corners = np.take_along_axis(points, order, axis=0)
        columns = coef.reshape(len(points), -1)[order]  # (n, d, q)
        below = np.cumsum(columns * self.corners[:, :, None], axis=0)
        above = columns.sum(axis=0) - np.cumsum(columns, axis=0)
        self.below = np.concatenate([np.zeros_like(below[:1]), below])
        self.above = np.concatenate([columns.sum(axis=0)[None], above])
        self.is_1d = coef.ndim == 1

    def __call__(self, X: Any) -> NDArray:
        X = as_vectors(X)
        values = np.zeros((len(X), self.below.shape[2]))
        for j, corners in enumerate(self.corners.T):
            place = np.searchsorted(corners, X[:, j], side="right")
            values += self.below[place, j] + X[:, j, None] * self.above[place, j]
        return values[:, 0] if self.is_1d else values


def _check_histograms(X: NDArray) -> None:
    if X.size and X.min() < 0:
        row, column = np.unravel_index(int(X.argmin()), X.shape)
        raise ValueError(
            f"X[{row}, {column}] == {X[row, column]}, must be >= 0 for the histogram intersection."
        )


def _unary_width(A: NDArray, B: NDArray) -> NDArray | None:
    """Length of the unary code of each column, or None where distances are faster."""
    if not A.size or not B.size:
        return None
    width = np.maximum(A.max(axis=0), B.max(axis=0))
    if not np.isfinite(width).all() or width.sum() > _UNARY_PER_COLUMN * A.shape[1]:
        return None
    whole = all(
        (X[rows] == np.floor(X[rows])).all() for X in (A, B) for rows in row_blocks(len(X), TILE)
    )
    return width.astype(int) if whole else None


def _unary(X: NDArray, width: NDArray) -> NDArray:
    columns = np.repeat(np.arange(len(width)), width)
    digits = np.concatenate([np.arange(w) for w in width]) if width.sum() else np.empty(0)
    return (X[:, columns] > digits).astype(np.int8)
