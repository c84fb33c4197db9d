"""Gaps in the rows of a normal law of few latent dimensions: what the rest of a row tells of them."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import EPS, Array, row_blocks

# Matrices up to this order are inverted by sweeps, if there are this many times as many of them.
_SWEPT_ORDER, _SWEPT_MANY = 16, 8
_BLOCK = 2**20  # entries of matrices inverted at a time
# Rows that are filled together at least: calls for fewer cost more than padding them to as many gaps.
_TOGETHER = 64


class Normal:
    """A normal law with the covariance W W' + s2 I, and what is known of some columns given the others."""

    def __init__(self, W: Array, noise: float) -> None:
        d, c = W.shape
        self.W, self.noise = W, noise
        self.inner = W.T @ W + noise * np.eye(c)
        self.inner_log_det = float(np.linalg.slogdet(self.inner)[1])
        self.log_det = self.inner_log_det + (d - c) * np.log(noise)
        self.regression = np.linalg.solve(self.inner, W.T)  # of the latent variables on the columns

    @cached_property
    def precision(self) -> Array:
        """The inverse of the covariance, with zeros for a column that is none, (d + 1, d + 1)."""
        precision = np.pad((self.W @ self.regression) / -self.noise, (0, 1))
        own = np.arange(len(self.W))
        precision[own, own] += 1.0 / self.noise
        return precision

    def given_others(self, columns: NDArray) -> tuple[Array, Array]:
        """Covariances of sets of columns given all others, (u, u, m), and minus their log-determinants.

        They are the inverses of blocks of the precision, or follow from what the others tell of the latent
        variables, whichever are fewer. The column d is none: independent of all, with variance one.
        """
        (d, c), u = self.W.shape, len(columns)
        own = np.arange(u)
        is_none = columns == d
        if u <= c:
            blocks = self.precision[columns[:, None], columns]
            blocks[own, own] += is_none
            return _inverses(blocks)
        W = np.pad(self.W, ((0, 1), (0, 0)))[columns.T]
        inner = self.inner - W.transpose(0, 2, 1) @ W
        posterior, log_det = _inverses(inner.transpose(1, 2, 0))
        covariance = self.noise * (W @ posterior.transpose(2, 0, 1) @ W.transpose(0, 2, 1))
        covariance = covariance.transpose(1, 2, 0)
        covariance[own, own] += np.where(is_none, 1.0, self.noise)
        n_gaps = u - is_none.sum(axis=0)
        return covariance, log_det - self.inner_log_det - n_gaps * np.log(self.noise)


class Gaps:
    """Rows by their number of gaps; those of one pattern share a factorisation."""

    def __init__(self, missing: NDArray) -> None:
        counts = missing.sum(axis=1)
        packed = np.packbits(missing, axis=1)
        packed = np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))
        packed = np.ascontiguousarray(packed).view(np.uint64)
        order = np.lexsort((*packed.T, counts))
        order = order[np.searchsorted(counts[order], 1) :]  # complete rows come first
        counts, packed = counts[order], packed[order]
        is_new = np.ones(len(order), dtype=bool)
        is_new[1:] = (packed[1:] != packed[:-1]).any(axis=1)
        gap_row, gap_column = np.nonzero(missing)
        start = np.searchsorted(gap_row, order)
        # Rows, the places of their gaps (u, n), the pattern of each row, the gaps of each pattern (u, m).
        # Rows with fewer gaps than others of their block have the column d, which is none, before theirs.
        self.blocks: list[tuple[NDArray, NDArray, NDArray | None, NDArray]] = []
        d, first = missing.shape[1], 0
        while first < len(order):
            # All rows with as many gaps, and with more until they are enough.
            u = counts[min(first + _TOGETHER, len(order)) - 1]
            last = int(np.searchsorted(counts, u, side="right"))
            for part in row_blocks(last - first, max(_BLOCK // int(u) ** 2, 1)):
                rows = slice(first + part.start, first + part.stop)
                new = is_new[rows].copy()
                new[0] = True
                lack = np.arange(u)[:, None] - (u - counts[rows])  # below 0: padding
                columns = gap_column[start[rows] + np.maximum(lack, 0)]
                # Padding is written to the place of the first gap, and that after it.
                places = order[rows] * d + columns
                columns = np.where(lack < 0, d, columns)
                pattern = None if new.all() else np.cumsum(new) - 1
                self.blocks.append((order[rows], places, pattern, columns[:, new]))
            first = last

    def fill(
        self, R: Array, normal: Normal, weights: Array | None = None
    ) -> tuple[Array, float, float]:
        """Put conditional means into centred rows that are zero in their gaps.

        Returns the covariances of the gaps, summed over the rows, what the log-determinants of the observed
        parts' covariances sum to beyond those of whole rows, and the squares of what is observed in units
        of these covariances.
        """
        d = R.shape[1]
        w = np.ones(len(R)) if weights is None else weights
        # The rows over the noise less this are the precision times the rows.
        along = (R @ (normal.regression.T / normal.noise)) @ normal.W.T
        squares = np.einsum("ij,ij->i", R, R) / normal.noise
        correction, log_det = np.zeros((d + 1) * (d + 1)), 0.0
        for rows, places, pattern, columns in self.blocks:
            covariance, log_dets = normal.given_others(columns)
            weight = w[rows] if pattern is None else np.bincount(pattern, w[rows])
            log_det += float(weight @ log_dets)
            where = columns[:, None] * (d + 1) + columns
            np.add.at(correction, where.ravel(), (covariance * weight).ravel())
            of_rows = covariance if pattern is None else covariance[:, :, pattern]
            np.put(R, places, np.einsum("ijm,jm->im", of_rows, np.take(along, places)))
        # Along the gaps the precision times the filled rows is zero: their squares are a product with
        # the rows as they were.
        squares -= np.einsum("ij,ij->i", R, along)
        return correction.reshape(d + 1, d + 1)[:d, :d], log_det, float(w @ squares)


def _inverses(A: Array) -> tuple[Array, Array]:
    """Inverses of a stack of covariances, (u, u, m), and the logarithms of their determinants."""
    u, _, m = A.shape
    if u > _SWEPT_ORDER or m < _SWEPT_MANY * u:
        A = A.transpose(2, 0, 1)
        inverse = np.linalg.inv(A)
        return ((inverse + inverse.transpose(0, 2, 1)) / 2).transpose(1, 2, 0), np.linalg.slogdet(
            A
        )[1]
    A = np.array(A, order="C")
    least = EPS * np.einsum("iim->im", A)  # rounding may leave a matrix indefinite by a little
    log_det = np.zeros(m)
    for k in range(u):
        pivot = np.maximum(A[k, k], least[k])
        log_det += np.log(pivot)
        row, column = A[k] / pivot, A[:, k].copy()
        A -= column[:, None] * row
        A[k] = row
        A[:, k] = column / -pivot
        A[k, k] = 1.0 / pivot
    return A, log_det
