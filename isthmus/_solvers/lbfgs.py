"""The direction of the limited-memory quasi-Newton method on a geometry."""

from __future__ import annotations

from collections import deque

from isthmus._solvers.descent import Direction
from isthmus._solvers.line_search import Step
from isthmus._solvers.problem import GeometryLike, Iterate
from isthmus._solvers.result import Array

# Pairs of step and change of gradient with less curvature than this are rounding errors.
LEAST_CURVATURE = 1e-12


class QuasiNewton(Direction):
    r"""The negative gradient, bent by the curvature of the last steps ([LN1989]_, [HAG2018]_).

    The direction is :math:`-H \operatorname{grad} f`, where H is never formed: it is the product of
    rank-two updates by the last ``memory`` pairs of steps and changes of the gradient.
    """

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
        if curvature > LEAST_CURVATURE * geometry.norm(new, move) * geometry.norm(new, change):
            self._pairs.append((move, change, curvature))

    def forget(self) -> None:
        self._pairs.clear()
