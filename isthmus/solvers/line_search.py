"""How far to go along a direction."""

from __future__ import annotations

import math
from dataclasses import dataclass

from isthmus.solvers.problem import Iterate, Problem
from isthmus.solvers.result import Array

SUFFICIENT = 1e-4  # share of the decrease that the slope at the start promises
CURVATURE = 0.9  # share of the slope that may be left at the end
ROUNDING = 1e-14  # relative error of a value
MAX_TRIALS = 60


@dataclass(frozen=True)
class Step:
    """A step length and where it leads."""

    length: float
    end: Iterate


def armijo(
    problem: Problem, start: Iterate, direction: Array, slope: float, first: float
) -> Step | None:
    """Halve the step until the value falls by a share of what the slope promises.

    None where that does not happen before the step vanishes.
    """
    length = first
    for _ in range(MAX_TRIALS):
        end = problem.move(start, length * direction)
        if end.value <= start.value + SUFFICIENT * length * slope and math.isfinite(end.norm):
            return Step(length, end)
        length /= 2
    return None


def wolfe(
    problem: Problem, start: Iterate, direction: Array, slope: float, first: float
) -> Step | None:
    """Bracket a step that decreases the value enough and leaves less slope than there was.

    The second condition keeps the curvature that quasi-Newton methods collect positive. Near the
    optimum, where the decrease drowns in the rounding of the value, the slope at the end decides
    instead of the value ([HZ2005]_).
    """
    low, high = _Trial(0.0, start.value, slope), None
    length, best = first, None
    for _ in range(MAX_TRIALS):
        end = problem.move(start, length * direction)
        trial = _Trial(length, end.value, problem.slope(start, end, direction))
        if not _falls(trial, start.value, slope):
            high = trial
        else:
            best = Step(length, end)
            if trial.slope >= CURVATURE * slope:
                return best
            low = trial
        length = _between(low, high) if high else 4 * length
    return best


@dataclass(frozen=True)
class _Trial:
    length: float
    value: float
    slope: float


def _falls(trial: _Trial, value: float, slope: float) -> bool:
    if not (math.isfinite(trial.value) and math.isfinite(trial.slope)):
        return False
    if trial.value <= value + SUFFICIENT * trial.length * slope:
        return True
    nearly = trial.value <= value + ROUNDING * abs(value)
    return nearly and trial.slope <= (2 * SUFFICIENT - 1) * slope


def _between(low: _Trial, high: _Trial) -> float:
    """Return the minimiser of the cubic through both ends, kept away from them."""
    width = high.length - low.length
    share = 0.5
    if math.isfinite(high.value) and math.isfinite(high.slope):
        theta = 3 * (low.value - high.value) / width + low.slope + high.slope
        inside = theta * theta - low.slope * high.slope
        if inside > 0:
            gamma = math.sqrt(inside)
            bottom = high.slope - low.slope + 2 * gamma
            share = (gamma - low.slope + theta) / bottom if bottom else 0.5
    return low.length + width * min(max(share, 0.1), 0.9)
