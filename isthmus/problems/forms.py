"""The centred, scaled and weighted least squares problem, held in the form that is cheapest to solve.

``MomentForm`` holds X'X and X'Y (p <= n), ``GramForm`` K = XX' and Y (n < p), ``RowForm`` the rows
themselves. All carry the ``Frame`` that leads back to the user's units. A map found from a
``GramForm`` is in the coordinates of the samples: a direction is X'a, and a stands in its place.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.linalg import Array, power_of_two, weight_unit
from isthmus.problems.sums import Moments, varies

# A mean this many deviations away is centred twice.
_FAR = 1e3
# A mean at most this many deviations away costs half a digit where only products are centred.
_NEAR = 4.0
# Rows of this many entries and fewer are copied: that costs nothing, and keeps the last digit.
_WORTH_NO_COPY = 2**20
_LARGEST_RIDGE = 1e300


# Sums of squares below this have lost digits to underflow.
_SMALLEST_SQUARE = 1e-303


@dataclass(frozen=True)
class Units:
    """Powers of two that data and weights were divided by before they were summed."""

    x: float = 1.0
    y: float = 1.0
    weight: float = 1.0


NO_UNITS = Units()


class InaccurateGram(Exception):
    """A Gram matrix has lost the digits this problem needs; solve it from its rows instead."""


@dataclass
class Frame:
    """Means and scales that take the user's data to the standardised problem, and its weight.

    Weights are divided by ``weight_unit``, a power of two that keeps huge and tiny ones in range.
    """

    x_mean: Array
    x_scale: Array
    y_mean: Array
    y_scale: Array
    weight: float
    n_samples: int
    x_rest: Array  # what rounding took from x_mean; matters where that is large
    weight_unit: float = 1.0

    def ridge_unit(self, scale: bool | str) -> float:
        """The unit of inputs whose square a ridge weight is divided by in this frame.

        A ridge on scaled columns applies to population deviations, which neither a common factor of the
        weights nor repeated rows change, although ``x_scale`` are sample deviations.
        """
        if scales_x(scale):
            unit = math.sqrt(self.weight / variance_divisor(self.weight))
        else:
            # Without scaling the frame has one scale, a power of two that keeps huge data in range.
            unit = float(self.x_scale[0])
        return unit * math.sqrt(self.weight_unit)

    def x(self, X: NDArray) -> Array:
        """Rows of X in the standardised frame, unweighted."""
        Z = X - self.x_mean
        Z -= self.x_rest
        Z /= self.x_scale
        return Z


@dataclass
class MomentForm:
    """X'X and X'Y of the standardised problem; ``y_squares`` is the diagonal of Y'Y."""

    frame: Frame
    xx: Array
    xy: Array
    y_squares: Array

    @property
    def x_squares(self) -> Array:
        return self.xx.diagonal()

    @classmethod
    def from_moments(
        cls, moments: Moments, scale: bool | str, units: Units = NO_UNITS
    ) -> MomentForm:
        """Standardise; ``units`` are the powers of two that the data were divided by before."""
        frame, x_factor, y_factor, y_squares = _frame(moments, scale, units)
        # Without columns that do not vary, unscaled moments serve as they are.
        unchanged = (x_factor == 1.0).all()
        xx = moments.xx if unchanged else moments.xx * x_factor[:, None] * x_factor
        return cls(frame, xx, moments.xy * x_factor[:, None] * y_factor, y_squares)

    @classmethod
    def from_rows(cls, X, Y: NDArray, weights: Array | None, scale: bool | str) -> MomentForm:
        def squares(X, Y, weights):
            return Moments(X.shape[1], Y.shape[1], full_yy=False)._sum(X, Y, weights)

        return cls.from_moments(*_in_range(squares, X, Y, weights, scale))


@dataclass
class RowForm:
    """The standardised rows, each times the root of its weight.

    Where the means are small beside the deviations, the user's rows serve as they are and only the
    products with them are centred and scaled; ``X`` makes the copy when somebody asks for it.
    """

    frame: Frame
    Y: Array
    x_squares: Array
    y_squares: Array
    held: Array  # X, or the rows of the user
    factor: Array | None = None  # what a column of the user's centred rows is multiplied by

    @classmethod
    def from_moments(cls, moments: Moments, scale: bool | str, units: Units = NO_UNITS) -> RowForm:
        """The problem of the few rows that stand for all: its solution is that of all rows."""
        frame, x_factor, y_factor, y_squares = _frame(moments, scale, units)
        X, Y = moments.few_rows()
        x_squares = moments.xx.diagonal() * x_factor**2
        return cls(frame, Y * y_factor, x_squares, y_squares, X * x_factor)

    @classmethod
    def from_blocks(cls, X: Any, Y: NDArray, weights: Array | None, scale: bool | str) -> RowForm:
        """The same from all rows, of which few at a time are made dense."""

        def factored(X, Y, weights):
            return Moments(X.shape[1], Y.shape[1], full_yy=False)._take(X, Y, weights)

        return cls.from_moments(*_in_range(factored, X, Y, weights, scale))

    @classmethod
    def from_rows(cls, X: NDArray, Y: NDArray, weights: Array | None, scale: bool | str) -> RowForm:
        unit = weight_unit(weights)
        weights = weights if weights is None or unit == 1.0 else weights / unit
        Ys, y_mean, _, y_scale, y_squares = standardised(Y, weights, bool(scale))
        described = None if weights is not None else _describe(X, scales_x(scale))
        if described is None:
            held, x_mean, x_rest, x_scale, x_squares = standardised(X, weights, scales_x(scale))
            factor = None
        else:
            held, x_rest = X, np.zeros(X.shape[1])
            x_mean, x_scale, x_squares, factor = described
        weight = float(len(X)) if weights is None else float(weights.sum())
        frame = Frame(x_mean, x_scale, y_mean, y_scale, weight, len(X), x_rest, unit)
        return cls(frame, Ys, x_squares, y_squares, held, factor)

    @property
    def X(self) -> Array:
        """The standardised rows themselves, (n, p)."""
        if self.factor is not None:
            self.held = self.held - self.frame.x_mean
            self.held *= self.factor
            self.factor = None
        return self.held

    def times(self, r: Array) -> Array:
        """X r, (n,)."""
        if self.factor is None:
            return self.held @ r
        r = r * self.factor
        return self.held @ r - self.frame.x_mean @ r

    def along(self, T: Array) -> Array:
        """T'X for T of shape (n,) or (n, k): long rows, which memory likes."""
        if self.factor is None:
            return T.T @ self.held
        H = T.T @ self.held
        H -= np.multiply.outer(T.sum(axis=0), self.frame.x_mean)
        H *= self.factor
        return H

    @property
    def gram_form(self) -> GramForm:
        return GramForm(self.frame, self.X @ self.X.T, self.Y, self.y_squares)

    @cached_property
    def xy(self) -> Array:
        return self.along(self.Y).T


@dataclass
class GramForm:
    """K = XX' and Y of the standardised problem, rows times the root of their weights."""

    frame: Frame
    gram: Array
    Y: Array
    y_squares: Array

    @property
    def xy(self) -> Array:
        """X'Y in the coordinates of the samples: Y itself."""
        return self.Y


Form = MomentForm | GramForm | RowForm


def scales_x(scale: bool | str) -> bool:
    """Whether inputs are divided by their deviations; ``"y"`` divides the outputs alone."""
    return not isinstance(scale, str) and bool(scale)


def ridge_in_units(alpha: float, unit: float) -> float:
    """A ridge weight for inputs divided by a unit whose square may be out of range."""
    return min(alpha / unit / unit, _LARGEST_RIDGE)


def _frame(moments: Moments, scale: bool | str, units: Units) -> tuple[Frame, Array, Array, Array]:
    """The frame of moments, the factors of their columns in it, and the squares of y."""
    yy = moments.yy if moments.yy.ndim == 1 else moments.yy.diagonal()
    largest = moments.xx.diagonal().max(initial=0.0)
    if not (np.isfinite(moments.xx).all() and np.isfinite(yy).all()):
        raise ValueError(
            "X or y, or sample_weight, is too large for sums of squares in float64: rescale first."
        )
    if 0.0 < largest < _SMALLEST_SQUARE or 0.0 < yy.max(initial=0.0) < _SMALLEST_SQUARE:
        raise ValueError(
            "X or y, or sample_weight, is too small for sums of squares in float64: rescale first."
        )
    unit = weight_unit(np.array([moments.weight]))
    weight = moments.weight / unit
    x_scale, x_live = column_scales(
        moments.xx.diagonal() / unit, moments.x_mean, weight, scales_x(scale)
    )
    y_scale, y_live = column_scales(yy / unit, moments.y_mean, weight, bool(scale))
    frame = Frame(
        moments.x_mean * units.x,
        x_scale * units.x,
        moments.y_mean * units.y,
        y_scale * units.y,
        weight,
        moments.n_samples,
        moments.x_rest * units.x,
        unit * units.weight,
    )
    # Columns that do not vary have exact zeros, not rounding errors to be blown up.
    x_factor, y_factor = (
        live / scales / math.sqrt(unit) for live, scales in ((x_live, x_scale), (y_live, y_scale))
    )
    return frame, x_factor, y_factor, yy * y_factor**2


def _in_range(
    moments_of: Callable[[Any, NDArray, Array | None], Moments],
    X: Any,
    Y: NDArray,
    weights: Array | None,
    scale: bool | str,
) -> tuple[Moments, bool | str, Units]:
    """Moments of rows, in units in which they can be squared, with what a form makes of them."""
    units = Units(weight=weight_unit(weights))
    if weights is not None and units.weight != 1.0:
        weights = weights / units.weight
    with np.errstate(over="ignore", invalid="ignore"):
        moments = moments_of(X, Y, weights)
    if _out_of_range(moments.xx.diagonal()) or _out_of_range(moments.yy):
        units = replace(units, x=power_of_two(X), y=power_of_two(Y))
        moments = moments_of(X / units.x, Y / units.y, weights)
    return moments, scale, units


def _out_of_range(squares: Array) -> bool:
    """Whether sums of squares overflowed, underflowed or came near to it."""
    return squares.size > 0 and not 1e-200 < squares.max() < 1e200


def _describe(A: NDArray, scale: bool) -> tuple[Array, Array, Array, Array] | None:
    """Means, scales, squares and factors of the columns, where it is enough to centre products."""
    if A.dtype != np.float64 or A.size <= _WORTH_NO_COPY:
        return None
    n = float(len(A))
    with np.errstate(over="ignore", invalid="ignore"):
        mean = (np.ones(len(A)) @ A) / n
        squares = np.einsum("ij,ij->j", A, A) - n * mean**2
    if _out_of_range(squares) or not (n * mean**2 <= _NEAR**2 * squares).all():
        return None
    scales, live = column_scales(squares, mean, n, scale)
    return mean, scales, live * squares / scales**2, live / scales


def standardised(
    A: NDArray, weights: Array | None, scale: bool, in_range: bool = False
) -> tuple[Array, Array, Array, Array, Array]:
    """Standardised weighted columns, their means (rounded, and the rest), scales and squares.

    ``in_range`` says that nothing is too large or too small to be squared.
    """
    root = None if weights is None else np.sqrt(weights)[:, None]
    w = np.ones(len(A)) if weights is None else weights
    weight, rest = float(w.sum()), np.zeros(A.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        mean = (w @ A) / weight
        Z = A - mean
        if root is not None:
            Z *= root
        squares = np.einsum("ij,ij->j", Z, Z)
    if not in_range and _out_of_range(squares) and power_of_two(A) != 1.0:
        unit = power_of_two(A)
        Z, mean, rest, scales, squares = standardised(A / unit, weights, scale, in_range=True)
        return Z, mean * unit, rest * unit, scales * unit, squares
    if (mean**2 * weight > _FAR**2 * squares).any():  # the mean has few digits left for the spread
        rest = (np.sqrt(w) @ Z) / weight
        Z -= rest if root is None else root * rest
        squares = np.einsum("ij,ij->j", Z, Z)
    scales, live = column_scales(squares, mean, weight, scale)
    if scale:
        Z *= 1.0 / scales
    if not live.all():
        Z[:, ~live] = 0.0
    return Z, mean, rest, scales, live * squares / scales**2


def column_scales(squares: Array, mean: Array, weight: Any, scale: bool) -> tuple[Array, NDArray]:
    """Scale of each column, and whether it varies by more than rounding of its mean."""
    live = varies(squares, mean, weight)
    if not scale:
        return np.ones(squares.shape), live
    deviation = np.sqrt(np.maximum(squares, 0.0) / variance_divisor(weight))
    return np.where(live, deviation, 1.0), live


def variance_divisor(weight: Any) -> Any:
    """What sums of squares are divided by: weights count as repetitions, and one row for the mean.

    Weights that sum to less than two rows can only be relative: one less would be next to nothing.
    """
    return np.where(weight >= 2.0, weight - 1.0, weight)
