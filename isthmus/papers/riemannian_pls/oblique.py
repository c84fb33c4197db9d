"""Matrices with columns of length one."""

from __future__ import annotations

import numpy as np

from isthmus._geometry import Geometry
from isthmus._linalg import Array


class Oblique(Geometry):
    r"""Matrices whose columns have length one, a product of spheres ([AG2006]_).

    .. math:: \{U \in \mathbb R^{n \times c} : \operatorname{diag}(U'U) = 1\},
              \qquad \langle D, E \rangle = \operatorname{tr} D'E

    Parameters
    ----------
    n_rows, n_columns : int
        Shape of the matrices.
    """

    def __init__(self, n_rows: int, n_columns: int) -> None:
        if n_rows < 1 or n_columns < 1:
            raise ValueError(f"shape == {(n_rows, n_columns)}, must be at least (1, 1)")
        self.shape = (n_rows, n_columns)
        self.dimension = (n_rows - 1) * n_columns

    def project(self, point: Array, ambient: Array) -> Array:
        return ambient - point * _column_dots(point, ambient)

    def gradient(self, point: Array, euclidean: Array) -> Array:
        return self.project(point, euclidean)

    def retract(self, point: Array, tangent: Array) -> Array:
        return _unit_columns(point + tangent)

    def exp(self, point: Array, tangent: Array) -> Array:
        angles = np.linalg.norm(tangent, axis=0)
        # sinc is sin(pi x)/(pi x): the great circle without a division by an angle of 0.
        moved = point * np.cos(angles) + tangent * np.sinc(angles / np.pi)
        return _unit_columns(moved)

    def random_point(self, rng: np.random.Generator) -> Array:
        return _unit_columns(rng.standard_normal(self.shape))


def _column_dots(first: Array, second: Array) -> Array:
    return np.einsum("ij,ij->j", first, second)


def _unit_columns(matrix: Array) -> Array:
    return matrix / np.linalg.norm(matrix, axis=0)
