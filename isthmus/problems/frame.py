"""Means, scales and weights that take the user's data to the standardised problem and back."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from isthmus.linalg import EPS, Array, power_of_two, weight_unit

if TYPE_CHECKING:
    from isthmus.problems.sums import Moments

# A mean this many deviations away is centred twice.
_FAR = 1e3
# A mean at most this many deviations away costs half a digit where only products are centred.
_NEAR = 4.0
# Rows of this many entries and fewer are copied: that costs nothing, and keeps the last digit.
_WORTH_NO_COPY = 2**20
# Sums of squares beyond this, or below its inverse, are too near the ends of the range to be multiplied.
_LARGEST_SQUARE = 1e200
# Sums of squares below this have lost digits to underflow.
_SMALLEST_SQUARE = 1e-303
_LARGEST_RIDGE = 1e300
# A column whose deviations are below so many roundings of its mean is constant.
_CONSTANT_ULPS = 8.0


@dataclass(frozen=True)
class Units:
    """Powers of two that data and weights were divided by before they were summed."""

    x: float = 1.0
    y: float = 1.0
    weight: float = 1.0


NO_UNITS = Units()


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


def scales_x(scale: bool | str) -> bool:
    """Whether inputs are divided by their deviations; ``"y"`` divides the outputs alone."""
    return not isinstance(scale, str) and bool(scale)


def ridge_in_units(alpha: float, unit: float) -> float:
    """A ridge weight for inputs divided by a unit whose square may be out of range."""
    return min(alpha / unit / unit, _LARGEST_RIDGE)


def frame_of(
    moments: Moments, scale: bool | str, units: Units
) -> tuple[Frame, Array, Array, Array]:
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


def in_range(
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
    return squares.size > 0 and not 1 / _LARGEST_SQUARE < squares.max() < _LARGEST_SQUARE


def describe(A: NDArray, scale: bool) -> tuple[Array, Array, Array, Array] | None:
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
    A: NDArray, weights: Array | None, scale: bool, is_in_range: bool = False
) -> tuple[Array, Array, Array, Array, Array]:
    """Standardised weighted columns, their means (rounded, and the rest), scales and squares.

    ``is_in_range`` says that nothing is too large or too small to be squared.
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
    if not is_in_range and _out_of_range(squares) and power_of_two(A) != 1.0:
        unit = power_of_two(A)
        Z, mean, rest, scales, squares = standardised(A / unit, weights, scale, is_in_range=True)
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


def varies(squares: Array, mean: Array, weight: Any) -> NDArray:
    """Whether columns with these centred squares vary by more than the rounding of their mean."""
    return squares > weight * (_CONSTANT_ULPS * EPS * mean) ** 2
