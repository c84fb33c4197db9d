"""Several geometries side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from isthmus._geometry import Geometry
from isthmus._linalg import Array


class Product(Geometry):
    r"""Points of several geometries side by side, with the sum of their inner products.

    A point is one flat vector, so that solvers add and scale tangents of every geometry alike.
    ``unpack`` gives views of the parts, without a copy, and ``pack`` the vector:

    >>> import numpy as np
    >>> from isthmus._geometry import Euclidean, Stiefel
    >>> from isthmus.papers.riemannian_pls import Product
    >>> geometry = Product(Stiefel(5, 2), Euclidean(2), Stiefel(4, 2))
    >>> point = geometry.random_point(np.random.default_rng(0))
    >>> W, s, V = geometry.unpack(point)
    >>> W.shape, s.shape, V.shape
    ((5, 2), (2,), (4, 2))

    Parameters
    ----------
    *factors : Geometry
        The geometries of the parts.
    """

    def __init__(self, *factors: Geometry) -> None:
        if not factors:
            raise ValueError("a product needs at least one factor")
        self.factors = factors
        sizes = [int(np.prod(factor.shape)) for factor in factors]
        self._ends = np.cumsum(sizes)[:-1]
        self.shape = (sum(sizes),)
        self.dimension = sum(factor.dimension for factor in factors)

    def pack(self, parts: Sequence[Array]) -> Array:
        """Return the flat vector of the parts."""
        return np.concatenate([np.ravel(part) for part in parts])

    def unpack(self, point: Array) -> list[Array]:
        """Return the parts of a point or a tangent as views of it."""
        pieces = np.split(point, self._ends)
        return [piece.reshape(factor.shape) for piece, factor in zip(pieces, self.factors)]

    def _each(self, method: str, *points: Array, **kwargs: Any) -> list[Any]:
        """Call a method of every factor with its parts of the points."""
        parts = zip(*map(self.unpack, points)) if points else [()] * len(self.factors)
        return [
            getattr(factor, method)(*part, **kwargs) for factor, part in zip(self.factors, parts)
        ]

    def project(self, point: Array, ambient: Array) -> Array:
        return self.pack(self._each("project", point, ambient))

    def inner(self, point: Array, first: Array, second: Array) -> float:
        return sum(self._each("inner", point, first, second))

    def gradient(self, point: Array, euclidean: Array) -> Array:
        return self.pack(self._each("gradient", point, euclidean))

    def retract(self, point: Array, tangent: Array) -> Array:
        return self.pack(self._each("retract", point, tangent))

    def exp(self, point: Array, tangent: Array) -> Array:
        return self.pack(self._each("exp", point, tangent))

    def transport(self, start: Array, end: Array, tangent: Array) -> Array:
        return self.pack(self._each("transport", start, end, tangent))

    def random_point(self, rng: np.random.Generator) -> Array:
        return self.pack(self._each("random_point", rng=rng))

    def random_tangent(self, point: Array, rng: np.random.Generator) -> Array:
        return self.pack(self._each("random_tangent", point, rng=rng))

    def __repr__(self) -> str:
        return f"Product({', '.join(map(repr, self.factors))})"
