"""A function on a geometry, as solvers see it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from isthmus._solvers.result import Array

# point -> (value, partial derivatives)
Objective = Callable[[Array], tuple[float, Array]]


class GeometryLike(Protocol):
    """What solvers ask of a geometry; ``isthmus._geometry.Geometry`` has it."""

    def project(self, point: Any, ambient: Any) -> Any: ...

    def gradient(self, point: Any, euclidean: Any) -> Any: ...

    def retract(self, point: Any, tangent: Any) -> Any: ...

    def exp(self, point: Any, tangent: Any) -> Any: ...

    def transport(self, start: Any, end: Any, tangent: Any) -> Any: ...

    def inner(self, point: Any, first: Any, second: Any) -> float: ...

    def norm(self, point: Any, tangent: Any) -> float: ...


@dataclass(frozen=True)
class Iterate:
    """A point with what is known of the objective there."""

    point: Array
    value: float
    gradient: Array
    norm: float


@dataclass(frozen=True)
class Problem:
    """An objective on a geometry, and the way steps are taken."""

    objective: Objective
    geometry: GeometryLike
    geodesic: bool = False

    def evaluate(self, point: Array) -> Iterate:
        """Return the point with value, Riemannian gradient and its norm."""
        value, euclidean = self.objective(point)
        gradient = self.geometry.gradient(point, euclidean)
        return Iterate(point, float(value), gradient, self.geometry.norm(point, gradient))

    def move(self, start: Iterate, tangent: Array) -> Iterate:
        """Return the iterate a step along ``tangent`` away."""
        step = self.geometry.exp if self.geodesic else self.geometry.retract
        return self.evaluate(step(start.point, tangent))

    def slope(self, start: Iterate, end: Iterate, direction: Array) -> float:
        """Return the derivative at ``end`` along a direction that comes from ``start``."""
        carried = self.geometry.transport(start.point, end.point, direction)
        return self.geometry.inner(end.point, end.gradient, carried)
