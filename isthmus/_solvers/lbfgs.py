"""The limited-memory quasi-Newton method on a geometry."""

from __future__ import annotations

from collections import deque

from isthmus._solvers.descent import WINDOW, Direction, StopRule, descend
from isthmus._solvers.line_search import Step, wolfe
from isthmus._solvers.problem import GeometryLike, Iterate, Objective, Problem
from isthmus._solvers.progress import Progress
from isthmus._solvers.result import Array, Callback, SolverResult

# Pairs of step and change of gradient with less curvature than this are rounding errors.
TINY = 1e-12


def lbfgs(
    objective: Objective,
    geometry: GeometryLike,
    start: Array,
    *,
    memory: int = 20,
    max_iter: int = 1000,
    tol: float = 1e-8,
    decrease_tol: float = 1e-15,
    verbose: int = 0,
    callback: Callback | None = None,
) -> SolverResult:
    r"""Minimise with curvature learned from the last steps ([LN1989]_, [HAG2018]_).

    The direction is :math:`-H \operatorname{grad} f`, where H is never formed: it is the product of
    rank-two updates by the last ``memory`` pairs of steps and changes of the gradient.

    Parameters
    ----------
    objective : callable
        ``objective(point)`` returns the value and the array of partial derivatives.
    geometry : Geometry
        Where the points live.
    start : ndarray
        First point, on the geometry.
    memory : int, default=20
        Number of pairs that are kept.
    max_iter : int, default=1000
        Largest number of steps.
    tol : float, default=1e-8
        Stop when the gradient's norm has fallen to this share of the first.
    decrease_tol : float, default=1e-15
        Stop when ten steps together decrease the value by no more than this share of it.
    verbose : int, default=0
        1 shows every tenth step, 2 every step.
    callback : callable, default=None
        Called with the :class:`SolverResult` so far after every step; it may return True to stop.
    """
    return descend(
        Problem(objective, geometry),
        start,
        QuasiNewton(memory),
        wolfe,
        StopRule(max_iter, gradient_share=tol, decrease_share=decrease_tol, window=WINDOW),
        Progress("L-BFGS", verbose, callback),
    )


class QuasiNewton(Direction):
    """The negative gradient, bent by the curvature of the last steps."""

    def __init__(self, memory: int) -> None:
        self._pairs: deque[tuple[Array, Array, float]] = deque(maxlen=memory)

    def choose(self, geometry: GeometryLike, current: Iterate) -> Array:
        point, direction = current.point, -current.gradient
        shares = []
        for step, change, curvature in reversed(self._pairs):
            share = geometry.inner(point, step, direction) / curvature
            direction = direction - share * change
            shares.append(share)
        if self._pairs:
            _, change, curvature = self._pairs[-1]
            direction *= curvature / geometry.inner(point, change, change)
        for (step, change, curvature), share in zip(self._pairs, reversed(shares)):
            back = geometry.inner(point, change, direction) / curvature
            direction += (share - back) * step
        # Pairs stay in the tangent spaces where they were made, and only the outcome is projected:
        # carrying all of them along took twice the time and saved no steps.
        return geometry.project(point, direction)

    def first_length(self, current: Iterate, slope: float) -> float:
        return 1.0 if self._pairs else 1 / current.norm

    def learn(
        self, geometry: GeometryLike, start: Iterate, step: Step, direction: Array, slope: float
    ) -> None:
        old, new = start.point, step.end.point
        move = geometry.transport(old, new, step.length * direction)
        change = step.end.gradient - geometry.transport(old, new, start.gradient)
        curvature = geometry.inner(new, move, change)
        # A pair without positive curvature would spoil H; the line search makes it rare.
        if curvature > TINY * geometry.norm(new, move) * geometry.norm(new, change):
            self._pairs.append((move, change, curvature))

    def forget(self) -> None:
        self._pairs.clear()
