"""Descent on a geometry: the loop that all directions share."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from isthmus._solvers.line_search import Step, contradicts
from isthmus._solvers.problem import GeometryLike, Iterate, Problem
from isthmus._solvers.progress import Progress
from isthmus._solvers.result import CONVERGED, Array, Reason, SolverResult

_OFF = 1e-6  # of its largest entry, by which a start may miss the geometry
DECREASE_WINDOW = 10  # steps over which fast solvers measure their decrease

LineSearch = Callable[[Problem, Iterate, Array, float, float], Step | None]


class Direction(ABC):
    """A rule for the next direction."""

    @abstractmethod
    def choose(self, geometry: GeometryLike, current: Iterate) -> Array:
        """Return a tangent at the current point."""

    @abstractmethod
    def first_length(self, current: Iterate, slope: float) -> float:
        """Return the first step length to try along the direction just chosen."""

    def learn(
        self, geometry: GeometryLike, start: Iterate, step: Step, direction: Array, slope: float
    ) -> None:
        """Take note of a step that was made."""
        return None

    def forget(self) -> None:
        """Drop what was learned: the direction was not one of descent."""
        return None


@dataclass(frozen=True)
class StopRule:
    """When to stop: a "share" is relative to the first gradient or the value, a "size" absolute.

    The decrease is that of the last ``window`` steps together: a single small step means little
    about a quasi-Newton method.
    """

    max_iter: int
    gradient_share: float = 0.0
    gradient_size: float = 0.0
    decrease_share: float = 0.0
    decrease_size: float = 0.0
    window: int = 1

    def small_gradient(self, norm: float, first_norm: float) -> bool:
        return norm <= max(self.gradient_share * first_norm, self.gradient_size)

    def small_decrease(self, values: Sequence[float]) -> bool:
        if len(values) <= self.window:
            return False
        before, after = values[-1 - self.window], values[-1]
        bound = max(self.decrease_share * max(abs(before), abs(after)), self.decrease_size)
        return before - after <= bound


def descend(
    problem: Problem,
    start: Array,
    direction: Direction,
    search: LineSearch,
    stop: StopRule,
    progress: Progress,
) -> SolverResult:
    """Follow a rule for directions downhill until a stopping rule holds.

    An interrupt from the keyboard ends the loop like a stopping rule: the last complete step is
    returned, with :attr:`Reason.INTERRUPTED`, for the caller to keep before raising it again.
    """
    _check_on(problem.geometry, start)
    current = problem.evaluate(start)
    if not math.isfinite(current.value) or not math.isfinite(current.norm):
        raise ValueError(f"the objective is not finite at the start: value {current.value}")
    first_norm, values = current.norm, [current.value]
    reason = _verdict(stop, current, first_norm, values)
    try:
        while reason is Reason.RUNNING:
            step, reason = _one_step(problem, current, direction, search)
            if step is None:
                break
            current = step.end
            values.append(current.value)
            reason = _verdict(stop, current, first_norm, values)
            if progress.step(_result(current, len(values) - 1, Reason.RUNNING)):
                reason = Reason.CALLBACK
    except KeyboardInterrupt:
        reason = Reason.INTERRUPTED
    return progress.end(_result(current, len(values) - 1, reason))


def _check_on(geometry: GeometryLike, start: Array) -> None:
    """Refuse a start off the geometry: its value could be below any that is feasible.

    A retraction by nothing leaves the points of a geometry where they are, and no others.
    """
    shape = getattr(geometry, "shape", np.shape(start))
    if np.shape(start) != tuple(shape):
        raise ValueError(f"start has shape {np.shape(start)}, points of {geometry!r} have {shape}")
    size = float(np.abs(start).max(initial=0.0))
    if not math.isfinite(size):
        raise ValueError("start has NaN or infinite entries")
    off = float(np.abs(geometry.retract(start, np.zeros_like(start)) - start).max(initial=0.0))
    if not off <= _OFF * size:
        raise ValueError(
            f"start is off {geometry!r} by {off:.1e}: give a point of it, such as "
            "geometry.retract(start, 0 * start) or geometry.random_point(rng)"
        )


def _verdict(
    stop: StopRule, current: Iterate, first_norm: float, values: Sequence[float]
) -> Reason:
    if stop.small_gradient(current.norm, first_norm):
        return Reason.GRADIENT
    if stop.small_decrease(values):
        return Reason.DECREASE
    return Reason.MAX_ITER if len(values) > stop.max_iter else Reason.RUNNING


def _one_step(
    problem: Problem, current: Iterate, direction: Direction, search: LineSearch
) -> tuple[Step | None, Reason]:
    """Return a step; where there is none, even along the gradient itself, return why."""
    for _ in range(2):
        tangent = direction.choose(problem.geometry, current)
        slope = problem.geometry.inner(current.point, current.gradient, tangent)
        if slope < 0:
            first = direction.first_length(current, slope)
            step = search(problem, current, tangent, slope, first)
            if step is not None:
                direction.learn(problem.geometry, current, step, tangent, slope)
                return step, Reason.RUNNING
        direction.forget()
    if slope < 0 and not contradicts(problem, current, tangent, slope):
        return None, Reason.DECREASE  # there is nothing left to gain in this precision
    return None, Reason.LINE_SEARCH


def _result(current: Iterate, n_iter: int, reason: Reason) -> SolverResult:
    return SolverResult(
        current.point, current.value, current.norm, n_iter, reason in CONVERGED, reason
    )
