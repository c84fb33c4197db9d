"""How far to go along a direction."""

from __future__ import annotations

import math
from dataclasses import dataclass

from isthmus._solvers.problem import Iterate, Problem
from isthmus._solvers.result import Array

SUFFICIENT = 1e-4  # share of the decrease that the slope at the start promises
CURVATURE = 0.9  # share of the slope that may be left at the end
VALUE_ROUNDING = 1e-14  # relative error of a value
# Sixty halvings take any step below the rounding of the point.
MAX_TRIALS = 60


@dataclass(frozen=True)
class Step:
    """A step length and where it leads."""

    length: float
    end: Iterate


def wolfe(
    problem: Problem, start: Iterate, direction: Array, slope: float, first: float
) -> Step | None:
    """Bracket a step that decreases the value enough and leaves less slope than there was.

    The second condition keeps the curvature that quasi-Newton methods collect positive. Near the
    optimum, where the decrease drowns in the rounding of the value, the slope at the end decides
    instead of the value ([HZ2005]_).
    """
    low = _Trial(0.0, start.value, slope)
    high = None
    length, best = first, None
    for _ in range(MAX_TRIALS):
        end = problem.move(start, length * direction)
        trial = _Trial(length, end.value, problem.slope(start, end, direction))
        is_lower = falls(start, end, length * slope)
        if is_lower or _falls_in_the_noise(trial, start.value, slope):
            if trial.slope >= CURVATURE * slope:
                return Step(length, end)
            low = trial
            best = Step(length, end) if is_lower else best
        else:
            high = trial
        length = _between(low, high) if high else 4 * length
    return best


@dataclass(frozen=True)
class _Trial:
    length: float
    value: float
    slope: float


def falls(start: Iterate, end: Iterate, promise: float) -> bool:
    """Whether a step decreases the value by a share of the promise, and visibly."""
    enough = end.value <= start.value + SUFFICIENT * promise
    return enough and end.value < start.value and math.isfinite(end.norm)


def _falls_in_the_noise(trial: _Trial, value: float, slope: float) -> bool:
    nearly = trial.value <= value + VALUE_ROUNDING * abs(value)
    return nearly and trial.slope <= (2 * SUFFICIENT - 1) * slope


def _between(low: _Trial, high: _Trial) -> float:
    """Return the minimiser of the cubic through both ends, kept away from them."""
    width = high.length - low.length
    share = _cubic(high.value - low.value, width * low.slope, width * high.slope)
    return low.length + width * min(max(share, 0.1), 0.9)


def _cubic(rise: float, slope: float, end_slope: float) -> float:
    """Return where the cubic on [0, 1] with this rise and these slopes has its minimum."""
    unit = max(abs(rise), abs(slope), abs(end_slope))  # so that squares stay in range
    if not 0 < unit < math.inf:
        return 0.5
    rise = rise / unit
    slope = slope / unit
    end_slope = end_slope / unit
    theta = slope + end_slope - 3 * rise
    inside = theta * theta - slope * end_slope
    if inside <= 0:
        return 0.5
    gamma = math.sqrt(inside)
    bottom = end_slope - slope + 2 * gamma
    return (gamma - slope + theta) / bottom if bottom > 0 else 0.5


def contradicts(problem: Problem, start: Iterate, direction: Array, slope: float) -> bool:
    """Whether the value rises along a direction although the gradient says, there too, it falls.

    A search that fails at the end of all precision has passed the minimum: the slope beyond it is
    positive. Where it is negative the gradient is not that of the value.
    """
    # A step whose promised decrease stands well above the rounding of the value.
    promise = 1e3 * VALUE_ROUNDING * abs(start.value)
    length = min(promise / -slope, 1 / start.norm) if promise else 1e-6 / start.norm
    end = problem.move(start, length * direction)
    rises = end.value - start.value > -0.5 * length * slope
    return rises and problem.slope(start, end, direction) < 0
