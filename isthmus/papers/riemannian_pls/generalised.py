"""Matrices that are orthonormal in the inner product of a matrix B, and their subspaces."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError, cholesky, solve_triangular, svd

from isthmus._geometry import Geometry, Stiefel
from isthmus._linalg import Array
from isthmus.papers.riemannian_pls.grassmann import Grassmann


class CholeskyWhitening:
    """Coordinates ``R W`` in which a positive definite ``B = R'R`` is the identity."""

    def __init__(self, B: ArrayLike) -> None:
        B = np.asarray(B, dtype=float)
        if B.ndim != 2 or B.shape[0] != B.shape[1] or not np.allclose(B, B.T):
            raise ValueError(f"B of shape {B.shape} must be a symmetric square matrix")
        try:
            self.root = cholesky(B)
        except LinAlgError:
            raise ValueError(
                "B is not positive definite; for B = X'X with fewer samples than features or "
                "collinear columns use from_data(X, n_columns)"
            ) from None
        self.n_rows = self.rank = len(B)

    def whiten(self, W: Array) -> Array:
        return self.root @ W

    def unwhiten(self, A: Array) -> Array:
        return solve_triangular(self.root, A)

    def whiten_derivatives(self, G: Array) -> Array:
        return solve_triangular(self.root, G, trans="T")


class DataWhitening:
    """Coordinates ``diag(d) V' W`` for ``B = X'X`` of any rank, from ``X = U diag(d) V'``.

    B itself is never formed. What ``W`` has outside the range of ``X'`` is invisible to it, and is
    kept at zero.
    """

    def __init__(self, X: ArrayLike) -> None:
        X = np.asarray(X, dtype=float)
        _, d, Vt = svd(X, full_matrices=False)
        kept = d > max(X.shape) * np.finfo(float).eps * d.max(initial=0.0)
        self.singular_values, self.axes = d[kept, None], Vt[kept]
        self.n_rows, self.rank = X.shape[1], int(kept.sum())

    def whiten(self, W: Array) -> Array:
        return self.singular_values * (self.axes @ W)

    def unwhiten(self, A: Array) -> Array:
        return self.axes.T @ (A / self.singular_values)

    def whiten_derivatives(self, G: Array) -> Array:
        return (self.axes @ G) / self.singular_values


class _Generalised(Geometry):
    """A plain geometry seen through a whitening, which is an isometry.

    With ``A = R W`` the constraint ``W'BW = I`` is ``A'A = I`` and the metric ``tr D'BE`` is the
    trace product of whitened tangents, so that every method is the plain one between two changes of
    coordinates.
    """

    plain: Geometry

    def __init__(self, B: ArrayLike, n_columns: int) -> None:
        self._set_up(CholeskyWhitening(B), n_columns)

    @classmethod
    def from_data(cls, X: ArrayLike, n_columns: int) -> Self:
        """Return the geometry of ``B = X'X``, also where that is singular."""
        geometry = cls.__new__(cls)
        geometry._set_up(DataWhitening(X), n_columns)
        return geometry

    def _set_up(self, whitening: CholeskyWhitening | DataWhitening, n_columns: int) -> None:
        self.whitening = whitening
        self.plain = self._plain(whitening.rank, n_columns)
        self.shape = (whitening.n_rows, n_columns)
        self.dimension = self.plain.dimension

    @staticmethod
    def _plain(n_rows: int, n_columns: int) -> Geometry:
        raise NotImplementedError

    def _both(self, point: Array, ambient: Array) -> tuple[Array, Array]:
        return self.whitening.whiten(point), self.whitening.whiten(ambient)

    def project(self, point: Array, ambient: Array) -> Array:
        return self.whitening.unwhiten(self.plain.project(*self._both(point, ambient)))

    def inner(self, point: Array, first: Array, second: Array) -> float:
        # Both metrics of the plain geometries are the trace product, whatever the point.
        return float(np.vdot(*self._both(first, second)))

    def gradient(self, point: Array, euclidean: Array) -> Array:
        derivatives = self.whitening.whiten_derivatives(euclidean)
        return self.whitening.unwhiten(
            self.plain.gradient(self.whitening.whiten(point), derivatives)
        )

    def retract(self, point: Array, tangent: Array) -> Array:
        return self.whitening.unwhiten(self.plain.retract(*self._both(point, tangent)))

    def exp(self, point: Array, tangent: Array) -> Array:
        return self.whitening.unwhiten(self.plain.exp(*self._both(point, tangent)))

    def random_point(self, rng: np.random.Generator) -> Array:
        return self.whitening.unwhiten(self.plain.random_point(rng))

    def random_tangent(self, point: Array, rng: np.random.Generator) -> Array:
        return self.whitening.unwhiten(self.plain.random_tangent(self.whitening.whiten(point), rng))


class GeneralisedStiefel(_Generalised):
    r"""Matrices with columns orthonormal in the inner product of B ([CSGHY]_ Sec. 3.2).

    .. math:: \operatorname{GSt}(p, c; B) = \{W \in \mathbb R^{p \times c} : W'BW = I\},
              \qquad \langle D, E \rangle = \operatorname{tr} D'BE

    The gradient is :math:`P_W(B^{-1} G)` with :math:`P_W(Z) = Z - W \operatorname{sym}(W'BZ)`;
    the paper's algorithm leaves the :math:`B^{-1}` out and stops short of the optimum.

    Parameters
    ----------
    B : array of shape (n_rows, n_rows)
        Positive definite matrix. For ``B = X'X`` of any rank use ``from_data(X, n_columns)``.
    n_columns : int
        Number of columns.
    """

    @staticmethod
    def _plain(n_rows: int, n_columns: int) -> Geometry:
        return Stiefel(n_rows, n_columns, metric="embedded")


class GeneralisedGrassmann(_Generalised):
    r"""Subspaces with bases orthonormal in the inner product of B ([CSGHY]_ Sec. 3.1).

    .. math:: \operatorname{GGr}(p, c; B) = \operatorname{GSt}(p, c; B) / O(c),
              \qquad \langle D, E \rangle = \operatorname{tr} D'BE

    Tangents are horizontal, :math:`W'BD = 0` (not :math:`W'D = 0`, as the paper prints).

    Parameters
    ----------
    B : array of shape (n_rows, n_rows)
        Positive definite matrix. For ``B = X'X`` of any rank use ``from_data(X, n_columns)``.
    n_columns : int
        Dimension of the subspaces.
    """

    @staticmethod
    def _plain(n_rows: int, n_columns: int) -> Geometry:
        return Grassmann(n_rows, n_columns)
