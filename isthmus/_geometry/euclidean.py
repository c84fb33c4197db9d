"""Flat space."""

from __future__ import annotations

import math

import numpy as np

from isthmus._geometry.base import Array, Geometry


class Euclidean(Geometry):
    """Arrays without a constraint: singular values, intercepts, plain factors.

    Parameters
    ----------
    *shape : int
        Shape of the arrays.
    """

    def __init__(self, *shape: int) -> None:
        self.shape = shape
        self.dimension = math.prod(shape)

    def project(self, point: Array, ambient: Array) -> Array:
        return ambient

    def gradient(self, point: Array, euclidean: Array) -> Array:
        return euclidean

    def retract(self, point: Array, tangent: Array) -> Array:
        return point + tangent

    exp = retract

    def random_point(self, rng: np.random.Generator) -> Array:
        return rng.standard_normal(self.shape)
