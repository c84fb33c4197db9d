"""First and second moments: all that a linear map needs to know of the data under squared loss.

``Moments`` is summed over arrays or blocks, merged, and can have a part taken away; all in float64.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isthmus._linalg import (
    ROWS_PER_COLUMN,
    Array,
    Rows,
    column_scales,
    digits_of,
    downdated,
    few_rows_of,
    row_blocks,
    rows_of_moments,
    stacked,
    triangular_rows,
    trusted_factor,
    trusted_rows,
)
from isthmus._saved import saved
from isthmus._validation import check_memory
from isthmus.problems.splits import dense_rows
from isthmus.problems.summing import (
    check_rows,
    difference,
    means_of,
    shifted,
    sum_rows,
    warn_of_digits,
)


@saved(xx="a a", xy="a b", yy="b b|b")
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

    Sums of squares hold half of the digits of the rows. Where that matters, because the columns of x are
    nearly dependent, the triangular factor of the centred rows is kept as well,

    .. math::
        \sqrt{w_i}\,(x_i - \bar x)^\top_{i=1..n} = Q R, \qquad R^\top R = S_{xx}, \qquad
        R^\top T = S_{xy} \quad\text{with } T = Q^\top Y

    R and T are at most p rows that stand for all rows, with all their digits. Two sets of rows merge by
    the QR decomposition of :math:`R_a`, :math:`R_b` and the row
    :math:`\sqrt{w_a w_b / (w_a + w_b)}\,\delta^\top` below each other, in any order: the tall-skinny QR
    of [DGHL2012]_. Well-conditioned moments are summed as squares, at no extra cost; ``factor`` is then
    their Cholesky factor. ``subtract`` removes rows from the factor.

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
        Centred second moments; with ``full_yy=False``, ``yy`` is its diagonal, (n_targets,).
    factor : ndarray of shape (k, n_features + n_targets)
        R and T side by side, k <= n_features.

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
    >>> R, T = np.split(whole.factor, [2], axis=1)
    >>> bool(np.allclose(R.T @ R, whole.xx) and np.allclose(R.T @ T, whole.xy))
    True
    """

    # Either rows that stand for all are kept, or xx is well conditioned and was so when the variances
    # were those proved: rows follow from it. Neither, where somebody has the rows anyway.
    _rows: Rows | None = None
    _proved: Array | None = None
    _source: Callable[[], Iterable[Rows]] | None = None  # gives rows when they are asked for

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
        """Sum the rows of ``X`` (n, p), array or sparse, and ``y`` (n,) or (n, q)."""
        rows, Y, weights = check_rows(X, y, sample_weight)
        return cls(rows.shape[1], Y.shape[1])._take(rows, Y, weights)

    @classmethod
    def from_blocks(cls, blocks: Iterable[tuple]) -> Moments:
        """Sum all rows of an iterable of ``(X,)``, ``(X, y)`` or ``(X, y, sample_weight)``."""
        moments: Moments | None = None
        for block in blocks:
            part = cls.from_data(*block)
            moments = part if moments is None else moments.merge(part)
        if moments is None:
            raise ValueError("blocks is empty: at least one block of rows is needed.")
        return moments

    @classmethod
    def squares_of(
        cls, X: Any, Y: NDArray, weights: Array | None, full_yy: bool = False, *about: Any
    ) -> Moments:
        """Moments of checked rows as squares alone; ``about`` a point as in ``sum_rows``."""
        moments = cls(X.shape[1], Y.shape[1], full_yy=full_yy)
        moments.n_samples = X.shape[0]
        moments.weight = float(X.shape[0]) if weights is None else float(weights.sum())
        if moments.weight > 0.0:
            sums = sum_rows(X, Y, weights, moments.weight, full_yy, *about)
            moments._x_mean, moments._y_mean, moments.xx, moments.xy, moments.yy = sums
        return moments

    @classmethod
    def of_checked(cls, X: Any, Y: NDArray, weights: Array | None) -> Moments:
        """Moments of checked rows with all their digits, and the diagonal of ``yy`` alone."""
        return cls(X.shape[1], Y.shape[1], full_yy=False)._take(X, Y, weights)

    @property
    def x_mean(self) -> Array:
        return self._x_mean[0] + self._x_mean[1]

    @property
    def y_mean(self) -> Array:
        return self._y_mean[0] + self._y_mean[1]

    @property
    def y_squares(self) -> Array:
        """The diagonal of ``yy``."""
        return self.yy if self.yy.ndim == 1 else self.yy.diagonal()

    @property
    def x_rest(self) -> Array:
        """What rounding takes from ``x_mean``."""
        return (self._x_mean[0] - self.x_mean) + self._x_mean[1]

    def centred(self, X: NDArray, Y: NDArray) -> tuple[Array, Array]:
        """Return rows minus the means, to full accuracy."""
        (x, x_rest), (y, y_rest) = self._x_mean, self._y_mean
        return (X - x) - x_rest, (Y - y) - y_rest

    def mean_difference(self, other: Moments) -> tuple[Array, Array]:
        """Return the means of x and y minus those of ``other``, to full accuracy."""
        return difference(self._x_mean, other._x_mean), difference(self._y_mean, other._y_mean)

    def copy(self) -> Moments:
        """Return an independent copy."""
        return copy.deepcopy(self)

    # -- few rows that stand for all ---------------------------------------------------------------

    @property
    def factor(self) -> Array:
        return np.hstack(triangular_rows(*self.few_rows()))

    @classmethod
    def from_squares(
        cls,
        second: Array,
        mean: Array,
        n_features: int,
        n_samples: int,
        weight: float,
        rows: Callable[[], Iterable[Rows]],
    ) -> Moments:
        """Moments with given means and second moments of x and y together.

        ``rows`` gives rows that have these second moments, which are asked for where digits need them.
        """
        p = n_features
        moments = cls(p, len(mean) - p)
        moments.n_samples = n_samples
        moments.weight = weight
        moments._x_mean = mean[:p], np.zeros(p)
        moments._y_mean = mean[p:], np.zeros(len(mean) - p)
        moments.xx, moments.xy, moments.yy = second[:p, :p], second[:p, p:], second[p:, p:]
        moments._source = rows
        return moments

    def form(self, kind: Any, scale: bool | str, units: Any) -> Any:
        """The problem in a form; what may stand for moments gives its own."""
        return kind.from_moments(self, scale, units)

    def few_rows(self) -> Rows:
        """Return at most ``2 * n_features`` rows of x and y that have the moments ``xx`` and ``xy``."""
        if self._source is not None:
            source, self._source = self._source, None
            if (rows := trusted_rows(self.xx, self.xy, self._live())) is not None:
                self._proved = self.xx.diagonal().copy()
                return rows
            self._rows = few_rows_of(source(), *self.xy.shape)
        if self._rows is not None:
            return self._rows
        rows, digits = rows_of_moments(self.xx, self.xy, self._live())
        if self._proved is None:
            warn_of_digits(
                "The factor of these second moments", digits, "sum the rows by from_data"
            )
        return rows

    def _live(self) -> NDArray:
        return column_scales(self.xx.diagonal(), self.x_mean, self.weight, False)[1]

    def _centred_blocks(self, X: Any, Y: NDArray, weights: Array | None) -> Iterator[Rows]:
        """The rows that were summed, centred, times the root of their weights."""
        if X.shape[0] == 1:
            return  # nothing is left of a single row
        size = max(256, ROWS_PER_COLUMN * X.shape[1])
        for rows in row_blocks(X.shape[0], size):
            A, B = self.centred(dense_rows(X[rows]), Y[rows])
            if weights is not None:
                A *= np.sqrt(weights[rows])[:, None]
                B *= np.sqrt(weights[rows])[:, None]
            yield A, B

    def _mean_row(self, other: Moments, weight: float) -> Rows:
        """The row by which two means differ; ``weight`` is that of the rows together."""
        root = np.sqrt(self.weight) * np.sqrt(other.weight / weight)
        dx, dy = self.mean_difference(other)
        return root * dx[None], root * dy[None]

    def _settle(self, rows: Callable[[], Iterable[Rows]], n_rows: int) -> None:
        """Trust ``xx``, if it is well conditioned, or keep few rows that stand for those given."""
        if n_rows > 2 * len(self.xx) and self._is_trusted(self.xx.diagonal()):
            self._proved = self.xx.diagonal().copy()
        else:
            self._rows = few_rows_of(rows(), *self.xy.shape)

    def _is_trusted(self, variances: Array) -> bool:
        live = self._live()
        return trusted_factor(self.xx[np.ix_(live, live)], variances[live]) is not None

    # -- rows in, rows out -------------------------------------------------------------------------

    def update(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Moments:
        """Take in a block of rows, in place."""
        return self._take(*check_rows(X, y, sample_weight))

    def _take(self, X: Any, Y: NDArray, weights: Array | None) -> Moments:
        """Take in checked rows."""
        with np.errstate(over="ignore", invalid="ignore"):
            means = means_of(X, Y, weights)  # costs a pass, and keeps the last digit
            part = Moments.squares_of(X, Y, weights, self.yy.ndim == 2, means, True)
        if not (np.isfinite(part.xx).all() and np.isfinite(part.yy).all()):
            raise ValueError(
                "X or y, or sample_weight, is too large for sums of squares in float64: rescale first."
            )
        total = self._join(part, lambda: part._centred_blocks(X, Y, weights), X.shape[0])
        self.__dict__ = total.__dict__
        return self

    def discount(self, factor: float) -> Moments:
        """Let all rows seen so far count ``factor`` times, in place."""
        self.weight *= factor
        self.xx, self.xy, self.yy = self.xx * factor, self.xy * factor, self.yy * factor
        if self._rows is not None:
            self._rows = self._rows[0] * np.sqrt(factor), self._rows[1] * np.sqrt(factor)
        if self._proved is not None:
            self._proved = self._proved * factor
        return self

    def merge(self, other: Moments) -> Moments:
        """Return the moments of the rows of both; neither is changed."""
        self._check_same_shape(other)
        rows = None if other._has_no_rows() else lambda: [other.few_rows()]
        return self._join(other, rows, other._n_few_rows())

    def _join(
        self, other: Moments, other_rows: Callable[[], Iterable[Rows]] | None, n_other: int
    ) -> Moments:
        """The moments of both; ``other_rows`` gives the ``n_other`` rows of the other, if need be."""
        if self.weight == 0.0 or other.weight == 0.0:
            total = (other if self.weight == 0.0 else self).copy()
            total.n_samples = self.n_samples + other.n_samples
            if self.weight == 0.0 and total._has_no_rows() and other_rows is not None:
                total._settle(other_rows, n_other)
            return total
        total = self._combine(other, 1.0)
        if self._has_no_rows() or other_rows is None:
            return total  # nor has the sum
        for part in (self, other):
            # What is added to well-conditioned moments leaves them so, up to the scale of the variances.
            if part._proved is not None and (total.xx.diagonal() <= 2.0 * part._proved).all():
                total._proved = part._proved
                return total
        mean_row = self._mean_row(other, total.weight)
        total._settle(
            lambda: chain([self.few_rows(), mean_row], other_rows()),
            self._n_few_rows() + 1 + n_other,
        )
        return total

    def _has_no_rows(self) -> bool:
        return self.weight > 0 and self._rows is None and self._proved is None

    def _n_few_rows(self) -> int:
        return len(self.xx) if self._rows is None else len(self._rows[0])

    def subtract(self, part: Moments) -> Moments:
        """Return the moments of the rows that are left when those of ``part`` are taken away.

        Digits are lost where ``part`` held nearly all of what varies along some direction, with a warning
        that says how many are left: compute the rest from its rows instead.
        """
        self._check_same_shape(part)
        if part.n_samples > self.n_samples or part.weight > self.weight * (1 + 1e-12):
            raise ValueError(
                f"part has n_samples={part.n_samples} and weight={part.weight}, more than the "
                f"{self.n_samples} and {self.weight} of the moments it is subtracted from."
            )
        if part.weight == 0.0:
            rest = self.copy()
            rest.n_samples -= part.n_samples
            return rest
        if part.n_samples == self.n_samples:
            return Moments(*self.xy.shape, full_yy=self.yy.ndim == 2)
        rest = self._combine(part, -1.0)
        if not self._has_no_rows() and not part._has_no_rows():
            rest._settle_rest(self, part)
        return rest

    def _settle_rest(self, whole: Moments, part: Moments) -> None:
        """As ``_settle``, for what is left of a whole; warn where digits are lost."""
        variances = whole.xx.diagonal()  # rounding errors are those of the whole
        varies = whole.y_squares > 0
        share = (self.y_squares[varies] / whole.y_squares[varies]).min(initial=1.0)
        digits = digits_of(float(share))
        if self._is_trusted(variances):
            self._proved = variances.copy()
        else:
            removed = stacked([part.few_rows(), part._mean_row(whole, self.weight)])
            self._rows, x_digits = downdated(whole.few_rows(), removed)
            digits = min(digits, x_digits)
        warn_of_digits("What is left after subtract", digits, "compute it from its own rows")

    def _combine(self, other: Moments, sign: float) -> Moments:
        result = Moments.__new__(Moments)
        result.n_samples = self.n_samples + int(sign) * other.n_samples
        result.weight = self.weight + sign * other.weight
        dx, dy = other.mean_difference(self)
        share = sign * other.weight / result.weight
        factor = self.weight * share
        result._x_mean = shifted(self._x_mean, dx * share)
        result._y_mean = shifted(self._y_mean, dy * share)
        result.xx = np.outer(factor * dx, dx)
        result.xy = np.outer(factor * dx, dy)
        result.yy = np.outer(factor * dy, dy) if self.yy.ndim == 2 else factor * dy**2
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
