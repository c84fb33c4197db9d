"""Gradient descent on a geometry."""

from __future__ import annotations

from isthmus._linalg import Array
from isthmus._solvers import (
    MAX_TRIALS,
    Callback,
    Direction,
    GeometryLike,
    Iterate,
    Objective,
    Problem,
    Progress,
    SolverResult,
    Step,
    StopRule,
    descend,
    falls,
)

GROWTH = 4.0  # the first trial is this much longer than the last accepted step


def steepest_descent(
    objective: Objective,
    geometry: GeometryLike,
    start: Array,
    *,
    geodesic: bool = False,
    max_iter: int = 1000,
    tol: float = 1e-8,
    decrease_tol: float = 1e-8,
    verbose: int = 0,
    callback: Callback | None = None,
) -> SolverResult:
    r"""Minimise by steps along the negative gradient, with Armijo's rule ([BGFS2004]_ Sec. 4).

    .. math:: V_{i+1} = R_{V_i}(-t_i \operatorname{grad} f(V_i))

    Simple and slow: it is here for the papers' own iteration. Quasi-Newton directions need a small fraction
    of its steps.

    Parameters
    ----------
    objective : callable
        ``objective(point)`` returns the value and the array of partial derivatives.
    geometry : Geometry
        Where the points live.
    start : ndarray
        First point, on the geometry.
    geodesic : bool, default=False
        Follow geodesics, as the papers do, instead of the cheaper retraction.
    max_iter : int, default=1000
        Largest number of steps.
    tol : float, default=1e-8
        Stop when the gradient's norm has fallen to this share of the first.
    decrease_tol : float, default=1e-8
        Stop when a step decreases the value by no more than this share of it.
    verbose : int, default=0
        1 shows every tenth step, 2 every step.
    callback : callable, default=None
        Called with the :class:`SolverResult` so far after every step; it may return True to stop.
    """
    return descend(
        Problem(objective, geometry, geodesic),
        start,
        _Steepest(),
        armijo,
        StopRule(max_iter, gradient_share=tol, decrease_share=decrease_tol),
        Progress("steepest descent", verbose, callback),
    )


class _Steepest(Direction):
    def __init__(self) -> None:
        self._last_length: float | None = None

    def choose(self, geometry: GeometryLike, current: Iterate) -> Array:
        return -current.gradient

    def first_length(self, current: Iterate, slope: float) -> float:
        if self._last_length is None:
            return 1 / current.norm
        return GROWTH * self._last_length

    def learn(
        self, geometry: GeometryLike, start: Iterate, step: Step, direction: Array, slope: float
    ) -> None:
        self._last_length = step.length

    def forget(self) -> None:
        self._last_length = None


def armijo(
    problem: Problem, start: Iterate, direction: Array, slope: float, first: float
) -> Step | None:
    """Halve the step until the value falls by a share of what the slope promises.

    None where that does not happen before the step vanishes.
    """
    length = first
    for _ in range(MAX_TRIALS):
        end = problem.move(start, length * direction)
        if falls(start, end, length * slope):
            return Step(length, end)
        length /= 2
    return None
