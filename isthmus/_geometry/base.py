"""The contract of every geometry."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from isthmus._linalg import Array


class Geometry(ABC):
    r"""A smooth set of matrices with an inner product on each of its tangent spaces.

    Points and tangents are arrays of the same ``shape``; a step of length :math:`t` along a tangent
    is ``retract(point, t * tangent)``. Solvers see nothing but these methods, so that any geometry
    works with any solver, and any that keeps the promises below joins the tests by being added to
    their list.

    * ``project`` is the orthogonal projection on the tangent space, and leaves tangents alone.
    * ``retract`` and ``exp`` stay on the set, are ``point`` at 0 and have velocity ``tangent``
      there; ``exp`` follows the geodesic, ``retract`` whatever is cheap.
    * ``transport`` carries a tangent to another point and leaves it tangent.
    * ``gradient`` is the tangent with :math:`\langle g, d \rangle = \operatorname{tr} G'd` for all
      tangents :math:`d`, where :math:`G` holds the partial derivatives of a function.
    * ``random_point`` is uniform where the set is compact, ``random_tangent`` a standard Gaussian
      in any orthonormal basis of the tangent space.

    Background: [EAS1998]_, [AMS2008]_.
    """

    shape: tuple[int, ...]
    dimension: int

    @abstractmethod
    def project(self, point: Array, ambient: Array) -> Array:
        """Return the tangent at ``point`` that is nearest to ``ambient``."""

    @abstractmethod
    def gradient(self, point: Array, euclidean: Array) -> Array:
        """Return the Riemannian gradient from the matrix of partial derivatives."""

    @abstractmethod
    def retract(self, point: Array, tangent: Array) -> Array:
        """Return a point near the end of the geodesic that leaves along ``tangent``."""

    @abstractmethod
    def exp(self, point: Array, tangent: Array) -> Array:
        """Return the end of the geodesic that leaves ``point`` with velocity ``tangent``."""

    @abstractmethod
    def random_point(self, rng: np.random.Generator) -> Array:
        """Return a random point."""

    def inner(self, point: Array, first: Array, second: Array) -> float:
        """Return the inner product of two tangents at ``point``: the trace product here."""
        return float(np.vdot(first, second))

    def norm(self, point: Array, tangent: Array) -> float:
        """Return the length of a tangent."""
        return float(np.sqrt(max(0.0, self.inner(point, tangent, tangent))))

    def transport(self, start: Array, end: Array, tangent: Array) -> Array:
        """Return the tangent at ``end`` that ``tangent`` at ``start`` becomes."""
        return self.project(end, tangent)

    def random_tangent(self, point: Array, rng: np.random.Generator) -> Array:
        """Return a random tangent at ``point``."""
        return self.project(point, rng.standard_normal(self.shape))

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self.shape}"


def sym(matrix: Array) -> Array:
    """Return the symmetric part."""
    return (matrix + matrix.T) / 2


def skew(matrix: Array) -> Array:
    """Return the skew-symmetric part."""
    return (matrix - matrix.T) / 2


def check_shape(n_rows: int, n_columns: int) -> None:
    """Raise ValueError unless that many orthonormal columns fit into that many rows."""
    if not 1 <= n_columns <= n_rows:
        raise ValueError(f"n_columns == {n_columns}, must be >= 1 and <= n_rows == {n_rows}")
