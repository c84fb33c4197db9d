"""Gaps in the rows of a normal law of few latent dimensions: what the rest of a row tells of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isthmus._linalg import EPS, Array, row_blocks

# Matrices up to this order are inverted by sweeps, if there are this many times as many of them.
_SWEPT_ORDER, _SWEPT_MANY = 16, 8
_INVERTED_ENTRIES = 2**20  # entries of matrices inverted at a time
_GATHERED_ENTRIES = 2**16  # entries that are gathered at a time, to be found in cache
# Rows that are filled together at least: calls for fewer cost more than padding them to as many gaps.
_TOGETHER = 128


class Normal:
    r"""A normal law with the covariance W W' + s2 I, and what is known of some columns given the others.

    With the orthonormal columns of [W; s I] = [Q; .] T its inverse is (I - Q Q') / s2. The inverse of
    W'W + s2 I, which has half the digits where the noise is small, is never formed.
    """

    def __init__(self, W: Array, noise: float) -> None:
        d, c = W.shape
        self.W, self.noise = W, noise
        Q, T = np.linalg.qr(np.vstack([W, np.sqrt(noise) * np.eye(c)]))
        self.Q, self.latent_Q = Q[:d], Q[d:]
        self.log_det = 2 * float(np.log(np.abs(T.diagonal())).sum()) + (d - c) * np.log(noise)

    @cached_property
    def precision(self) -> Array:
        """The inverse of the covariance, with zeros for a column that is none, (d + 1, d + 1)."""
        d = len(self.W)
        precision = np.zeros((d + 1, d + 1))
        np.matmul(self.Q, self.Q.T / -self.noise, out=precision[:d, :d])
        precision.ravel()[: d * (d + 2) : d + 2] += 1.0 / self.noise
        return precision

    def given_others(self, columns: NDArray, pairs: NDArray) -> tuple[Array, Array]:
        """Covariances of sets of columns given all others, (u, u, m), and minus their log-determinants.

        They are the inverses of blocks of the precision, at the places of ``pairs`` of columns. Column d is
        none: independent of all, with variance one.
        """
        blocks = np.take(self.precision, pairs)
        padding = columns == len(self.W)
        if padding.any():
            own = np.arange(len(columns))
            blocks[own, own] += padding
        return _inverses(blocks)

    def latent_given_others(self, columns: NDArray) -> tuple[Array, Array, Array]:
        """The same covariances as s2 (I + A B A'), from matrices of the order of the latent variables.

        Returns A, (m, u, c), B, (m, c, c), and minus the log-determinants.
        """
        A = np.vstack([self.Q, np.zeros(self.Q.shape[1])])[columns.T]
        rest = np.eye(self.Q.shape[1]) - A.transpose(0, 2, 1) @ A
        B, log_det = _inverses(rest.transpose(1, 2, 0))
        n_gaps = np.count_nonzero(columns < len(self.Q), axis=0)
        return A, np.ascontiguousarray(B.transpose(2, 0, 1)), log_det - n_gaps * np.log(self.noise)

    def along(self, Z: Array, mean: Array) -> Array:
        """Rows less their mean along Q, over the noise."""
        Q = self.Q / self.noise
        T = Z @ Q
        T -= mean @ Q
        return T

    def squares(self, R: Array, may_cancel: bool) -> Array:
        """Squares of rows in units of the covariance.

        They are the least of |r - W e|^2 / s2 + |e|^2 over the latent variables e, sums of squares that do
        not cancel, or a difference that costs half as much and the digits of s2.
        """
        T = R @ self.Q
        if may_cancel:
            off_Q = np.einsum("ij,ij->i", R, R) - np.einsum("ij,ij->i", T, T)
            return np.asarray(off_Q / self.noise)
        off = T @ self.Q.T
        off -= R
        T = T @ self.latent_Q.T
        squares = np.einsum("ij,ij->i", off, off) + np.einsum("ij,ij->i", T, T)
        return np.asarray(squares / self.noise)


class Gaps:
    """Rows by their number of gaps; those of one pattern share a factorisation."""

    def __init__(self, missing: NDArray) -> None:
        n, d = missing.shape
        self.places = np.flatnonzero(missing)
        gap_row, gap_column = np.divmod(self.places, max(d, 1))
        self.columns = gap_column
        self.counts = counts = np.bincount(gap_row, minlength=n)  # gaps of each row
        bits = np.packbits(missing, axis=1)
        packed = np.zeros((n, -(-bits.shape[1] // 8)), dtype=np.uint64)
        packed.view(np.uint8)[:, : bits.shape[1]] = bits
        order = np.lexsort((*packed.T, counts))
        order = order[np.searchsorted(counts[order], 1) :]  # complete rows come first
        start = (np.cumsum(counts) - counts)[order]  # of the gaps of a row
        counts, packed = counts[order], packed[order]
        is_new = np.ones(len(order), dtype=bool)
        is_new[1:] = (packed[1:] != packed[:-1]).any(axis=1)
        # Rows, the places of their gaps (u, n), the pattern of each row, the gaps of each pattern (u, m).
        # Rows with fewer gaps than others of their block have the column d, which is none, before theirs.
        self.blocks: list[tuple[NDArray, NDArray, NDArray | None, NDArray]] = []
        self._kept_pairs: dict[int, NDArray] = {}
        self._kept_sums: list[csr_array] = []
        first = 0
        while first < len(order):
            # All rows with as many gaps, and with more until they are enough.
            u = counts[min(first + _TOGETHER, len(order)) - 1]
            last = int(np.searchsorted(counts, u, side="right"))
            for part in row_blocks(last - first, max(_INVERTED_ENTRIES // int(u) ** 2, 1)):
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
        self, Z: Array, mean: Array, normal: Normal, weights: Array | None = None
    ) -> tuple[GapCovariance, float]:
        """Put conditional means into the gaps of rows of a mean, in place.

        Returns the covariances of the gaps, summed over the rows, and what the log-determinants of the
        observed parts' covariances sum to beyond those of whole rows.
        """
        d, c = normal.W.shape
        w = np.ones(len(Z)) if weights is None else weights
        self.put_means(Z, mean)
        # The rows less their mean, over the noise, less these along Q are the precision times the rows.
        along = normal.along(Z, mean)
        padded_mean = np.append(mean, 0.0)
        everywhere: Array | None = None  # the same in all columns, for rows of few gaps
        covariance = GapCovariance(d, self._kept_sums)
        log_det = 0.0
        for i, (rows, places, pattern, columns) in enumerate(self.blocks):
            weight = w[rows] if pattern is None else np.bincount(pattern, w[rows])
            if len(columns) <= c:
                given, log_dets = normal.given_others(columns, self._pairs(i, d))
                of_rows = given if pattern is None else given[:, :, pattern]
                if everywhere is None:
                    everywhere = along @ normal.Q.T
                filled = np.einsum("ijm,jm->im", of_rows, np.take(everywhere, places))
                covariance.parts.append((columns, given * weight))
            else:
                A, B, log_dets = normal.latent_given_others(columns)
                of_rows = A if pattern is None else A[pattern]
                inner = B if pattern is None else B[pattern]
                off = of_rows @ along[rows][:, :, None]
                off = off + of_rows @ (inner @ (of_rows.transpose(0, 2, 1) @ off))
                filled = normal.noise * off[:, :, 0].T
                variance = (normal.noise * weight)[:, None, None]
                covariance.parts.append((columns, (A, B, variance)))
            log_det += float(weight @ log_dets)
            filled += padded_mean[columns if pattern is None else columns[:, pattern]]
            np.put(Z, places, filled)
        return covariance, log_det

    def put_means(self, Z: Array, mean: Array) -> None:
        """Put the mean into the gaps, so that nothing is there of the rows less their mean."""
        np.put(Z, self.places, mean[self.columns])

    def _pairs(self, i: int, d: int) -> NDArray:
        """Where the pairs of gaps of a block are in a matrix of order d + 1, (u, u, m)."""
        pairs = self._kept_pairs.get(i)
        if pairs is None:
            columns = self.blocks[i][-1]
            pairs = columns[:, None] * (d + 1) + columns
            if len(columns) ** 2 <= d:  # kept if that takes no more memory than the rows
                self._kept_pairs[i] = pairs
        return pairs


@dataclass
class MissingModel:
    r"""Probabilistic PCA of the stacked columns :math:`z = [x, y]` [TB1999]_.

    .. math::
        z = D (m + W e + \epsilon) + c, \qquad e \sim N(0, I), \quad \epsilon \sim N(0, s^2 I)

    with the observed means ``offset`` (c) and deviations ``scale`` (D). ``filled`` puts the conditional
    mean, given what is observed of a row, where entries are missing.
    """

    offset: Array
    scale: Array
    live: NDArray  # columns that vary; the others are filled with their constant
    mean: Array
    loadings: Array  # W, (d, c)
    noise_variance: float
    log_likelihood: list[float] = field(default_factory=list)
    n_iter: int = 0
    converged: bool = False

    def multiply_units(self, units: Array) -> None:
        """Be the model of columns that were divided by these units."""
        self.offset, self.scale = self.offset * units, self.scale * units

    def filled(self, X: NDArray) -> NDArray:
        """``X`` (leading columns of the stack) with its NaN replaced, in the dtype of ``X``."""
        missing = np.isnan(X)
        rows = np.flatnonzero(missing.any(axis=1))
        if not len(rows):
            return X
        p = X.shape[1]
        offset, scale, mean = self.offset[:p], self.scale[:p], self.mean[:p]
        gaps = missing[rows]
        Z = X[rows] - offset
        Z /= scale
        # Columns that do not vary have no loadings: they tell nothing, and nothing tells them.
        Gaps(gaps).fill(Z, mean, Normal(self.loadings[:p], self.noise_variance))
        Z *= scale
        Z += offset
        filled = X.copy()
        filled[missing] = Z[gaps]
        return filled


class GapCovariance:
    """Covariances of the gaps of rows, added up: a matrix of order d of which the parts are known.

    A part holds sets of columns, (u, m), of which column d is none, with their covariances, (u, u, m), or
    with A, (m, u, c), B and v where these are v (I + A B A').
    """

    def __init__(self, d: int, kept: list[csr_array] | None = None) -> None:
        self.d = d
        self.parts: list[tuple[NDArray, Any]] = []
        self._kept_sums = [] if kept is None else kept  # of the same gaps with other covariances

    def diagonal(self) -> Array:
        sums = np.zeros(self.d + 1)
        for columns, part in self.parts:
            if isinstance(part, tuple):
                A, B, v = part
                variances = (v[:, 0] * (1.0 + np.einsum("muc,muc->mu", A @ B, A))).T
            else:
                variances = np.einsum("uum->um", part)
            sums += np.bincount(columns.ravel(), variances.ravel(), self.d + 1)
        return sums[: self.d]

    def dense(self) -> Array:
        order = self.d + 1
        sums = np.zeros(order * order)
        for columns, part in self.parts:
            covariance, pairs = part, columns[:, None] * order + columns
            if isinstance(part, tuple):
                A, B, v = part
                covariance = A @ (B * v) @ A.transpose(0, 2, 1)
                pairs = pairs.transpose(2, 0, 1)
                own = np.arange(len(columns))
                covariance[:, own, own] += v[:, 0]
            sums += np.bincount(pairs.ravel(), covariance.ravel(), order * order)
        return sums.reshape(order, order)[: self.d, : self.d]

    def times(self, V: Array) -> Array:
        """The product with V, (d, k), without the matrix."""
        k = V.shape[1]
        if not self.parts:
            return np.zeros_like(V)
        padded = np.vstack([V, np.zeros(k)])
        products = np.empty((sum(columns.size for columns, _ in self.parts), k))
        end = 0
        for columns, part in self.parts:
            u, m = columns.shape
            begin, end = end, end + columns.size
            product = products[begin:end].reshape(m, u, k)
            some = np.take(padded, columns.T, axis=0)
            if isinstance(part, tuple):
                A, B, v = part
                np.matmul(A, B @ (A.transpose(0, 2, 1) @ some), out=product)
                product += some
                product *= v
            else:
                np.matmul(part.transpose(2, 0, 1), some, out=product)
        return np.asarray((self._sums() @ products)[: self.d])

    def within(self, V: Array) -> Array:
        """V' times the matrix times V, for more columns than ``times`` is quick for."""
        k = V.shape[1]
        padded = np.vstack([V, np.zeros(k)])
        inner = np.zeros((k, k))
        variances = np.zeros(self.d + 1)
        for columns, part in self.parts:
            if isinstance(part, tuple):
                A, B, v = part
                A = A @ np.linalg.cholesky(B * v)
                roots = np.empty((len(A), A.shape[2], k))
                for some in row_blocks(len(A), max(_GATHERED_ENTRIES // (A.shape[1] * k), 1)):
                    gathered = np.take(padded, columns.T[some], axis=0)
                    np.matmul(A[some].transpose(0, 2, 1), gathered, out=roots[some])
                roots = roots.reshape(-1, k)
                v = np.broadcast_to(v[:, 0, 0], columns.shape)
                variances += np.bincount(columns.ravel(), v.ravel(), self.d + 1)
                inner += roots.T @ roots  # a square, which costs half of a product
            else:
                gathered = padded[columns.T]
                more = part.transpose(2, 0, 1) @ gathered
                inner += gathered.reshape(-1, k).T @ more.reshape(-1, k)
        own = np.sqrt(variances[: self.d, None]) * V
        inner += own.T @ own
        return (inner + inner.T) / 2

    def _sums(self) -> csr_array:
        """The matrix that adds up what belongs to the same column."""
        if not self._kept_sums:
            columns = np.concatenate([columns.T.ravel() for columns, _ in self.parts])
            order = np.argsort(columns, kind="stable")
            ends = np.append(0, np.cumsum(np.bincount(columns, minlength=self.d + 1)))
            shape = self.d + 1, columns.size
            self._kept_sums.append(csr_array((np.ones(columns.size), order, ends), shape))
        return self._kept_sums[0]


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
    pivots = np.empty((u, m))
    product = np.empty_like(A)
    for k in range(u):  # each turns one row and column of A into those of minus its inverse
        pivot = np.maximum(A[k, k], least[k], out=pivots[k])
        row = A[k] / pivot
        np.multiply(row[:, None], A[k], out=product)
        A -= product
        A[k] = A[:, k] = row
        A[k, k] = -1.0 / pivot
    return np.negative(A, out=A), np.log(pivots).sum(axis=0)
