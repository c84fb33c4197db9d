"""Free motion with momentum: what Hamiltonian samplers need of a geometry."""

from __future__ import annotations

import numpy as np
from scipy.linalg import expm

from isthmus._geometry.base import Array, skew
from isthmus._geometry.geodesics import complement_basis, orthonormalise
from isthmus._geometry.stiefel import Stiefel


class StiefelFlow:
    r"""Motion along geodesics of :math:`\operatorname{St}(n, r)` in the canonical metric.

    .. math::
        V(t) = [V, Q] E \begin{pmatrix} I \\ 0 \end{pmatrix}, \quad
        \dot V(t) = [V, Q] E \begin{pmatrix} A \\ B \end{pmatrix}, \quad
        E = \exp t \begin{pmatrix} A & -B' \\ B & 0 \end{pmatrix}

    with :math:`A = V'D` and :math:`B = Q'D`, [EAS1998]_ Sec. 2.4. The volume of this metric is the
    uniform measure, so that densities are with respect to it.

    Parameters
    ----------
    n_rows, n_columns : int
        Shape of the matrices.
    scale : float, default=1.0
        Velocities have this size: the square root of an inverse mass.
    """

    def __init__(self, n_rows: int, n_columns: int, scale: float = 1.0) -> None:
        self.geometry = Stiefel(n_rows, n_columns)
        self.scale = scale

    def velocity(self, point: Array, rng: np.random.Generator) -> Array:
        return self.scale * self.geometry.random_tangent(point, rng)

    def energy(self, point: Array, velocity: Array) -> float:
        return self.geometry.inner(point, velocity, velocity) / (2 * self.scale**2)

    def force(self, point: Array, euclidean: Array) -> Array:
        return self.scale**2 * self.geometry.gradient(point, euclidean)

    def move(self, point: Array, velocity: Array, time: float) -> tuple[Array, Array]:
        r = point.shape[1]
        if r == 1:
            return _great_circle(point, velocity, time)
        A = skew(point.T @ velocity)
        Q = complement_basis(point, velocity)
        B = Q.T @ velocity
        k = len(B)
        E = expm(time * np.block([[A, -B.T], [B, np.zeros((k, k))]]))
        frame = np.hstack([point, Q]) @ E
        moved = orthonormalise(frame[:, :r])
        # Rounding leaves a symmetric part in V'D, which would grow.
        return moved, self.geometry.project(moved, frame @ np.vstack([A, B]))


def _great_circle(point: Array, velocity: Array, time: float) -> tuple[Array, Array]:
    """One column: a point of the sphere."""
    speed = float(np.sqrt((velocity * velocity).sum()))
    if speed == 0.0:
        return point, velocity
    c = np.cos(speed * time)
    s = np.sin(speed * time)
    moved = c * point + (s / speed) * velocity
    moved /= np.sqrt((moved * moved).sum())
    turned = c * velocity - (s * speed) * point
    return moved, turned - moved * (moved * turned).sum()


class EuclideanFlow:
    """Straight motion; ``variance``, in the shape of the variables, is the inverse of their masses."""

    def __init__(self, variance: Array) -> None:
        self.variance = variance
        self._deviation = np.sqrt(variance)

    def velocity(self, point: Array, rng: np.random.Generator) -> Array:
        return self._deviation * rng.standard_normal(point.shape)

    def energy(self, point: Array, velocity: Array) -> float:
        return float((velocity * velocity / self.variance).sum()) / 2

    def force(self, point: Array, euclidean: Array) -> Array:
        return self.variance * euclidean

    def move(self, point: Array, velocity: Array, time: float) -> tuple[Array, Array]:
        return point + time * velocity, velocity
