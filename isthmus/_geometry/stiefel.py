"""Matrices with orthonormal columns."""

from __future__ import annotations

import numpy as np

from isthmus._geometry.base import Array, Geometry, check_shape, skew, sym
from isthmus._geometry.geodesics import stiefel_exp

# How much of the rotation V'D goes into the large exponential of a geodesic.
_ROTATION = {"canonical": 1.0, "embedded": 2.0}


class Stiefel(Geometry):
    r"""Matrices with orthonormal columns.

    .. math:: \operatorname{St}(n, r) = \{V \in \mathbb R^{n \times r} : V'V = I\}

    with one of two metrics ([EAS1998]_ Sec. 2.2 and 2.4):

    ============ ======================================= ==================
    metric       inner product                           gradient
    ============ ======================================= ==================
    canonical    :math:`\operatorname{tr} D'(I-VV'/2)E`  :math:`G - VG'V`
    embedded     :math:`\operatorname{tr} D'E`           projection
    ============ ======================================= ==================

    [BGFS2004]_ and [B2006]_ use the canonical gradient and call it a projection; the orthogonal
    projection, in both metrics, is :math:`Z - V \operatorname{sym}(V'Z)`.

    Parameters
    ----------
    n_rows, n_columns : int
        Shape of the matrices, ``n_columns <= n_rows``.
    metric : {"canonical", "embedded"}, default="canonical"
        Inner product.
    """

    def __init__(self, n_rows: int, n_columns: int, *, metric: str = "canonical") -> None:
        check_shape(n_rows, n_columns)
        if metric not in _ROTATION:
            raise ValueError(f"metric == {metric!r}, must be one of {sorted(_ROTATION)}")
        self.shape = (n_rows, n_columns)
        self.dimension = n_rows * n_columns - n_columns * (n_columns + 1) // 2
        self.metric = metric

    def project(self, point: Array, ambient: Array) -> Array:
        return ambient - point @ sym(point.T @ ambient)

    def inner(self, point: Array, first: Array, second: Array) -> float:
        whole = float(np.vdot(first, second))
        if self.metric == "embedded":
            return whole
        return whole - float(np.vdot(point.T @ first, point.T @ second)) / 2

    def gradient(self, point: Array, euclidean: Array) -> Array:
        if self.metric == "embedded":
            return self.project(point, euclidean)
        return euclidean - point @ (euclidean.T @ point)

    def retract(self, point: Array, tangent: Array) -> Array:
        # Orthonormal by reflections; the signs make it the Q that is continuous in the step.
        return _positive_q(point + tangent)

    def exp(self, point: Array, tangent: Array) -> Array:
        return stiefel_exp(point, tangent, _ROTATION[self.metric])

    def random_point(self, rng: np.random.Generator) -> Array:
        # Without the signs the law would not be uniform, [M2007].
        return _positive_q(rng.standard_normal(self.shape))

    def random_tangent(self, point: Array, rng: np.random.Generator) -> Array:
        ambient = rng.standard_normal(self.shape)
        tangent = self.project(point, ambient)
        if self.metric == "canonical":
            # This metric counts the rotation V'D half, so it has to be larger by sqrt(2).
            tangent += (np.sqrt(2) - 1) * point @ skew(point.T @ ambient)
        return tangent

    def __repr__(self) -> str:
        return f"Stiefel{self.shape} with the {self.metric} metric"


def _positive_q(matrix: Array) -> Array:
    """Return Q of the QR decomposition whose R has a positive diagonal."""
    Q, R = np.linalg.qr(matrix)
    return Q * np.where(np.diag(R) < 0, -1.0, 1.0)
