"""Means, scales and weights that take the user's data to the standardised problem and back."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import (
    EPS,
    Array,
    column_scales,
    column_units,
    graded_units,
    out_of_range,
    power_of_two,
    weight_unit,
)

if TYPE_CHECKING:
    from isthmus.problems.sums import Moments

# Sums of squares below this have lost digits to underflow.
_SMALLEST_SQUARE = 1e-303
# An infinite ridge weight would make NaN of zero products; this one shrinks any map to zero as well.
_LARGEST_RIDGE = 1e300


@dataclass(frozen=True)
class Units:
    """Powers of two that data and weights were divided by before they were summed."""

    x: float | Array = 1.0  # of all columns, or one for each
    y: float | Array = 1.0
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
            # The sample deviation of a column whose population deviation is one.
            squares = np.array([self.weight])
            unit = float(column_scales(squares, np.zeros(1), self.weight, True)[0][0])
        else:
            # Without scaling the frame has one scale, a power of two that keeps huge data in range.
            unit = float(self.x_scale[0])
        return unit * math.sqrt(self.weight_unit)

    def x(self, X: NDArray) -> Array:
        """Rows of X in the standardised frame, unweighted."""
        Z = X - self.x_mean
        if (np.abs(self.x_rest) > EPS * self.x_scale).any():  # less is lost in rounding anyway
            Z -= self.x_rest
        Z /= self.x_scale  # tiny scales have no reciprocal
        return Z


def scales_x(scale: bool | str) -> bool:
    """Whether inputs are divided by their deviations; ``"y"`` divides the outputs alone."""
    return not isinstance(scale, str) and bool(scale)


def ridge_in_units(alpha: float, unit: float) -> float:
    """A ridge weight for inputs divided by a unit whose square may be out of range."""
    return min(alpha / unit / unit, _LARGEST_RIDGE)


def frame_of(
    moments: Any, scale: bool | str, units: Units, squares: tuple[Array, Array] | None = None
) -> tuple[Frame, Array, Array, Array]:
    """The frame of moments, the factors of their columns in it, and the squares of y.

    ``squares`` of the columns of x and y stand for second moments that are not held.
    """
    # Products of two columns are in range where the squares of both are.
    xx, yy = (moments.xx.diagonal(), moments.y_squares) if squares is None else squares
    x_largest = xx.max(initial=0.0)  # NaN if there is one
    y_largest = yy.max(initial=0.0)
    if not (np.isfinite(x_largest) and np.isfinite(y_largest)):
        raise ValueError(
            "X or y, or sample_weight, is too large for sums of squares in float64: rescale first."
        )
    if 0.0 < x_largest < _SMALLEST_SQUARE or 0.0 < y_largest < _SMALLEST_SQUARE:
        raise ValueError(
            "X or y, or sample_weight, is too small for sums of squares in float64: rescale first."
        )
    unit = weight_unit(np.array([moments.weight]))
    weight = moments.weight / unit
    x_scale, x_live = column_scales(xx / unit, moments.x_mean, weight, scales_x(scale))
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
    root = math.sqrt(unit)
    y_factor = y_live / y_scale / root
    return frame, x_live / x_scale / root, y_factor, yy * y_factor**2


def output_units(Y: NDArray, scale: bool | str) -> Array:
    """Powers of two by which outputs are divided before they are squared; ones for ordinary outputs."""
    return column_units(Y) if scale else graded_units(Y)


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
    if out_of_range(moments.xx.diagonal()) or out_of_range(moments.yy, each=True):
        units = replace(units, x=power_of_two(X), y=output_units(Y, scale))
        moments = moments_of(X / units.x, Y / units.y, weights)
    return moments, scale, units
