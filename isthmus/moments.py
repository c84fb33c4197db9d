"""First and second moments: all that a linear map needs to know of the data under squared loss.

``Moments`` is built from arrays, sparse matrices or blocks of rows, updated, merged with another
and can have a part taken away. Everything is float64 whatever comes in.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_array, check_consistent_length

from isthmus.linalg import Array, row_blocks, two_sum
from isthmus.validation import check_memory, check_weights

_BLOCK_BYTES = 2**23
# Sparser than this a sparse product beats a dense one; denser rows are worked on as dense blocks.
_SPARSE_DENSITY = 0.05
# A mean whose square is below this many variances is no reason to centre a copy of the rows.
_NEAR = 16.0
_SAMPLE = 64
# Up to this many bytes of rows a copy is too cheap to look for a way around it.
_SMALL_COPY = 2**19


class Moments:
    r"""Weight, means and centred second moments of paired rows ``x`` and ``y``.

    .. math::
        w = \sum_i w_i, \quad \bar x = \tfrac1w \sum_i w_i x_i, \quad
        S_{xx} = \sum_i w_i (x_i - \bar x)(x_i - \bar x)^\top

    and likewise :math:`\bar y, S_{xy}, S_{yy}`. Two sets of rows with weights :math:`w_a, w_b` and
    mean difference :math:`\delta` merge by
    :math:`S = S_a + S_b + \tfrac{w_a w_b}{w_a + w_b}\,\delta\delta^\top` [CGL1983]_. The means are kept
    as unevaluated sums of two floats, so that this is exact to rounding also where a mean is
    :math:`10^8` times its spread.

    Parameters
    ----------
    n_features, n_targets : int
        Number of columns of ``x`` and of ``y`` (0 where there is no ``y``).
    full_yy : bool, default=True
        Whether ``yy`` holds the whole matrix or, for very many targets, its diagonal alone.

    Attributes
    ----------
    n_samples : int
        Rows seen.
    weight : float
        Sum of the sample weights.
    x_mean, y_mean : ndarray of shape (n_features,), (n_targets,)
        Weighted means.
    xx, xy, yy : ndarray
        Centred second moments of shape (n_features, n_features), (n_features, n_targets),
        (n_targets, n_targets); with ``full_yy=False``, ``yy`` is its diagonal, (n_targets,).

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus import Moments
    >>> X, Y = np.arange(12.0).reshape(6, 2), np.arange(6.0)
    >>> whole = Moments.from_data(X, Y)
    >>> head, tail = Moments.from_data(X[:4], Y[:4]), Moments.from_data(X[4:], Y[4:])
    >>> bool(np.allclose(head.merge(tail).xx, whole.xx))
    True
    >>> bool(np.allclose(whole.subtract(tail).xy, head.xy))
    True
    """

    def __init__(self, n_features: int, n_targets: int = 0, *, full_yy: bool = True) -> None:
        check_memory(
            8.0 * (n_features * (n_features + n_targets) + full_yy * n_targets**2),
            f"The matrix of second moments of {n_features} + {n_targets} columns",
            "keep the rows in memory and call fit, which uses the smaller of the two Gram matrices.",
        )
        self.n_samples = 0
        self.weight = 0.0
        self._x_mean = (np.zeros(n_features), np.zeros(n_features))
        self._y_mean = (np.zeros(n_targets), np.zeros(n_targets))
        self.xx = np.zeros((n_features, n_features))
        self.xy = np.zeros((n_features, n_targets))
        self.yy = np.zeros((n_targets, n_targets) if full_yy else n_targets)

    @classmethod
    def from_data(
        cls, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Moments:
        """Moments of the rows of ``X`` (n, p), array or sparse, and ``y`` (n,) or (n, q)."""
        rows, Y, weights = _check_rows(X, y, sample_weight)
        return cls(rows.shape[1], Y.shape[1])._sum(rows, Y, weights)

    @classmethod
    def from_blocks(cls, blocks: Iterable[tuple]) -> Moments:
        """Moments of all rows of an iterable of ``(X,)``, ``(X, y)`` or ``(X, y, sample_weight)``."""
        moments: Moments | None = None
        for block in blocks:
            part = cls.from_data(*block)
            moments = part if moments is None else moments.merge(part)
        if moments is None:
            raise ValueError("blocks is empty: at least one block of rows is needed.")
        return moments

    def _sum(self, X: Any, Y: NDArray, weights: Array | None) -> Moments:
        """Fill empty moments from checked rows."""
        self.n_samples = X.shape[0]
        self.weight = float(X.shape[0]) if weights is None else float(weights.sum())
        if self.weight == 0.0:
            return self
        if sparse.issparse(X) and X.nnz < _SPARSE_DENSITY * X.shape[0] * X.shape[1]:
            self._sum_sparse(X, Y, weights)
        else:
            self._sum_dense(X, Y, weights)
        return self

    def _sum_dense(self, X: Any, Y: NDArray, weights: Array | None) -> None:
        p, q = self.xy.shape
        w = np.ones(X.shape[0]) if weights is None else weights
        x_mean, y_mean = (w @ X) / self.weight, (w @ Y) / self.weight
        if weights is None and self._sum_near_zero(X, Y, x_mean, y_mean):
            return
        root = np.sqrt(w)
        x_rest, y_rest = np.zeros(p), np.zeros(q)
        n_rows = max(256, _BLOCK_BYTES // (8 * (p + q)))
        x_buffer, y_buffer = (np.empty((min(n_rows, len(w)), m)) for m in (p, q))
        for rows in row_blocks(len(w), n_rows):
            size = rows.stop - rows.start
            A = np.subtract(_dense(X[rows]), x_mean, out=x_buffer[:size])
            B = np.subtract(Y[rows], y_mean, out=y_buffer[:size])
            if weights is not None:
                A *= root[rows, None]
                B *= root[rows, None]
            self.xx += A.T @ A
            self.xy += A.T @ B
            self.yy += B.T @ B if self.yy.ndim == 2 else np.einsum("ij,ij->j", B, B)
            x_rest += root[rows] @ A
            y_rest += root[rows] @ B
        # The rounded means leave a rest of a few ulps; without it a large mean spoils the merge.
        self._recentre(x_rest / self.weight, y_rest / self.weight)
        self._x_mean = two_sum(x_mean, x_rest / self.weight)
        self._y_mean = two_sum(y_mean, y_rest / self.weight)

    def _sum_near_zero(self, X: Any, Y: NDArray, x_mean: Array, y_mean: Array) -> bool:
        """Sum rows as they are, where their means are at most a few times their spreads.

        Taking the means away afterwards then costs about a digit, and spares a copy of X.
        """
        if not isinstance(X, np.ndarray) or X.dtype != np.float64 or X.nbytes < _SMALL_COPY:
            return False
        if len(X) < _SAMPLE:
            return False
        sample = X[:: len(X) // _SAMPLE] - x_mean
        if (len(sample) * x_mean**2 > _NEAR * np.einsum("ij,ij->j", sample, sample)).any():
            return False
        xx = X.T @ X
        xx -= np.outer(self.weight * x_mean, x_mean)
        if (self.weight * x_mean**2 > 2 * _NEAR * xx.diagonal()).any():
            return False  # the sample was not like the rest
        B = Y - y_mean
        y_rest = B.mean(axis=0)
        B -= y_rest
        self.xx, self.xy = xx, X.T @ B
        self.yy = B.T @ B if self.yy.ndim == 2 else np.einsum("ij,ij->j", B, B)
        self._x_mean = (x_mean, np.zeros_like(x_mean))
        self._y_mean = two_sum(y_mean, y_rest)
        return True

    def _sum_sparse(self, X: Any, Y: NDArray, weights: Array | None) -> None:
        X = sparse.csr_array(X, dtype=np.float64)
        w = np.ones(X.shape[0]) if weights is None else weights
        x_mean, y_mean = (X.T @ w) / self.weight, (w @ Y) / self.weight
        B = Y - y_mean
        y_rest = (w @ B) / self.weight
        B -= y_rest
        weighted = X if weights is None else X.multiply(weights[:, None]).tocsr()
        self.xx += (X.T @ weighted).toarray()
        self.xy += weighted.T @ B
        self.yy += B.T @ (B * w[:, None]) if self.yy.ndim == 2 else w @ (B * B)
        self._recentre(x_mean, np.zeros(len(y_mean)))
        self._x_mean = (x_mean, np.zeros_like(x_mean))
        self._y_mean = two_sum(y_mean, y_rest)
        far = np.flatnonzero(self.weight * x_mean**2 > _NEAR * self.xx.diagonal())
        if len(far):
            self._sum_far(X, B, w, far)

    def _sum_far(self, X: Any, B: Array, w: Array, far: NDArray) -> None:
        """Sum again, centred first, columns of sparse rows whose means dwarf their spreads.

        They have hardly a zero, so that there are few of them.
        """
        A = X[:, far].toarray() - self._x_mean[0][far]
        rest = (w @ A) / self.weight
        A -= rest
        weighted = A * w[:, None]
        self.xx[:, far] = X.T @ weighted
        self.xx[far] = self.xx[:, far].T
        self.xx[np.ix_(far, far)] = A.T @ weighted
        self.xy[far] = weighted.T @ B
        self._x_mean[1][far] = rest

    def _recentre(self, x_shift: Array, y_shift: Array) -> None:
        """Turn moments about a point into moments about the mean, ``shift`` away from it."""
        self.xx -= np.outer(self.weight * x_shift, x_shift)
        self.xy -= np.outer(self.weight * x_shift, y_shift)
        self.yy -= self._yy_of(self.weight, y_shift)

    def _yy_of(self, factor: float, shift: Array) -> Array:
        return np.outer(factor * shift, shift) if self.yy.ndim == 2 else factor * shift**2

    @property
    def x_mean(self) -> Array:
        return self._x_mean[0] + self._x_mean[1]

    @property
    def y_mean(self) -> Array:
        return self._y_mean[0] + self._y_mean[1]

    @property
    def x_rest(self) -> Array:
        """What rounding takes from ``x_mean``."""
        return (self._x_mean[0] - self.x_mean) + self._x_mean[1]

    def centred(self, X: NDArray, Y: NDArray) -> tuple[Array, Array]:
        """Rows less the means, to full accuracy."""
        return (
            (X - self._x_mean[0]) - self._x_mean[1],
            (Y - self._y_mean[0]) - self._y_mean[1],
        )

    def mean_difference(self, other: Moments) -> tuple[Array, Array]:
        """Means of x and y less those of ``other``, to full accuracy."""
        return _difference(self._x_mean, other._x_mean), _difference(self._y_mean, other._y_mean)

    def copy(self) -> Moments:
        """An independent copy."""
        return copy.deepcopy(self)

    def update(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Moments:
        """Take in a block of rows, in place."""
        return self._take(*_check_rows(X, y, sample_weight))

    def _take(self, X: Any, Y: NDArray, weights: Array | None) -> Moments:
        """Take in checked rows."""
        part = Moments(X.shape[1], Y.shape[1], full_yy=self.yy.ndim == 2)._sum(X, Y, weights)
        self.__dict__.update(self.merge(part).__dict__)
        return self

    def discount(self, factor: float) -> Moments:
        """Let all rows seen so far count ``factor`` times, in place."""
        self.weight *= factor
        self.xx, self.xy, self.yy = self.xx * factor, self.xy * factor, self.yy * factor
        return self

    def merge(self, other: Moments) -> Moments:
        """The moments of the rows of both; neither is changed."""
        self._check_same_shape(other)
        if self.weight == 0.0 or other.weight == 0.0:
            merged = (other if self.weight == 0.0 else self).copy()
            merged.n_samples = self.n_samples + other.n_samples
            return merged
        return self._combine(other, 1.0)

    def subtract(self, part: Moments) -> Moments:
        """The moments of the rows that are left when those of ``part`` are taken away.

        What is left keeps the absolute, not the relative, accuracy of the whole: where ``part`` held
        nearly all of the variance, compute the rest from its rows instead.
        """
        self._check_same_shape(part)
        if part.n_samples > self.n_samples or part.weight > self.weight * (1 + 1e-12):
            raise ValueError(
                f"part has n_samples={part.n_samples} and weight={part.weight}, more than the "
                f"{self.n_samples} and {self.weight} it is to be taken from."
            )
        if part.weight == 0.0:
            rest = self.copy()
            rest.n_samples -= part.n_samples
            return rest
        if part.n_samples == self.n_samples:
            return Moments(*self.xy.shape, full_yy=self.yy.ndim == 2)
        return self._combine(part, -1.0)

    def _combine(self, other: Moments, sign: float) -> Moments:
        result = Moments.__new__(Moments)
        result.n_samples = self.n_samples + int(sign) * other.n_samples
        result.weight = self.weight + sign * other.weight
        dx = _difference(other._x_mean, self._x_mean)
        dy = _difference(other._y_mean, self._y_mean)
        share = sign * other.weight / result.weight
        factor = self.weight * share
        result._x_mean = _shifted(self._x_mean, dx * share)
        result._y_mean = _shifted(self._y_mean, dy * share)
        result.xx = np.outer(factor * dx, dx)
        result.xy = np.outer(factor * dx, dy)
        result.yy = self._yy_of(factor, dy)
        add = np.add if sign > 0 else np.subtract
        for name in ("xx", "xy", "yy"):
            total = getattr(result, name)
            total += add(getattr(self, name), getattr(other, name))
        return result

    def _check_same_shape(self, other: Moments) -> None:
        if self.xy.shape != other.xy.shape or self.yy.ndim != other.yy.ndim:
            raise ValueError(
                f"moments of {other.xy.shape[0]} features and {other.xy.shape[1]} targets do not go "
                f"with those of {self.xy.shape[0]} and {self.xy.shape[1]}."
            )

    def __repr__(self) -> str:
        p, q = self.xy.shape
        return (
            f"Moments(n_features={p}, n_targets={q}, n_samples={self.n_samples}, "
            f"weight={self.weight:g})"
        )


def _check_rows(X: Any, y: Any, sample_weight: Any) -> tuple[Any, NDArray, Array | None]:
    floats = (np.float64, np.float32)
    X = check_array(X, accept_sparse="csr", dtype=floats, ensure_min_samples=0)
    if y is None:
        Y = np.empty((X.shape[0], 0))
    else:
        Y = check_array(y, dtype=floats, ensure_2d=False, ensure_min_samples=0)
        Y = Y.reshape(len(Y), -1)
    check_consistent_length(X, Y)
    return X, Y, check_weights(sample_weight, X)


def _dense(rows: Any) -> NDArray:
    return rows.toarray() if sparse.issparse(rows) else rows


def _difference(a: tuple[Array, Array], b: tuple[Array, Array]) -> Array:
    return (a[0] - b[0]) + (a[1] - b[1])


def _shifted(mean: tuple[Array, Array], shift: Array) -> tuple[Array, Array]:
    high, low = two_sum(mean[0], shift)
    return two_sum(high, low + mean[1])
