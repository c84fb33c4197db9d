"""Subspaces, each represented by an orthonormal basis."""

from __future__ import annotations

import numpy as np
from scipy.linalg import svd

from isthmus._geometry import Geometry, check_shape, orthonormalise
from isthmus._linalg import ROUNDING, Array

_ORTHONORMAL = 1e-10  # by which products of columns may be off without a change of the basis


class Grassmann(Geometry):
    r"""Subspaces of dimension r, represented by orthonormal bases.

    .. math:: \operatorname{Gr}(n, r) = \operatorname{St}(n, r) / O(r),
              \qquad \langle D, E \rangle = \operatorname{tr} D'E

    Tangents are horizontal, :math:`V'D = 0`: they move the subspace and do not turn its basis.
    The functions that are minimised here must not depend on the basis ([EAS1998]_ Sec. 2.5,
    [BZA2024]_).

    Parameters
    ----------
    n_rows, n_columns : int
        Dimension of the space and of the subspaces.
    """

    def __init__(self, n_rows: int, n_columns: int) -> None:
        check_shape(n_rows, n_columns)
        self.shape = (n_rows, n_columns)
        self.dimension = n_columns * (n_rows - n_columns)

    def project(self, point: Array, ambient: Array) -> Array:
        return ambient - point @ (point.T @ ambient)

    def gradient(self, point: Array, euclidean: Array) -> Array:
        return self.project(point, euclidean)

    def retract(self, point: Array, tangent: Array) -> Array:
        # The polar factor: of all bases of the new subspace the nearest to the old one.
        U, _, Vt = svd(point + tangent, full_matrices=False)
        return U @ Vt

    def exp(self, point: Array, tangent: Array) -> Array:
        U, angles, Vt = svd(tangent, full_matrices=False)
        # Where an angle is 0 the column of U is arbitrary, and its sine makes it harmless.
        moved = (point @ Vt.T) * np.cos(angles) + U * np.sin(angles)
        return orthonormalise(moved @ Vt)

    def random_point(self, rng: np.random.Generator) -> Array:
        return np.linalg.qr(rng.standard_normal(self.shape))[0]


def principal_angles(first: Array, second: Array) -> Array:
    """Return the angles between two subspaces, largest first, from bases of them.

    Both their sines and their cosines are computed, because small angles are accurate from the
    ones and large angles from the others ([BG1973]_). A basis (n_rows, n_columns) that is not
    orthonormal is made so; one with dependent columns is refused.
    """
    first = orthonormal_basis(first)
    second = orthonormal_basis(second)
    if len(first) != len(second):
        raise ValueError(
            f"the bases have {len(first)} and {len(second)} rows: both must be of subspaces of one space"
        )
    if first.shape[1] < second.shape[1]:
        first, second = second, first
    inside = first.T @ second
    cosines = svd(inside, compute_uv=False)
    sines = svd(second - first @ inside, compute_uv=False)
    return np.arctan2(sines, cosines[::-1])


def grassmann_distance(first: Array, second: Array) -> float:
    """Return the norm of the principal angles between two subspaces ([CSGHY]_ Sec. 4.2).

    They are given by bases (n_rows, n_columns), orthonormal or not.
    """
    return float(np.linalg.norm(principal_angles(first, second)))


def orthonormal_basis(basis: Array) -> Array:
    """Return the columns of a basis as they are where they are orthonormal, else made so."""
    basis = np.asarray(basis, dtype=float)
    if basis.ndim != 2:
        raise ValueError(f"a basis has shape {basis.shape}, must be (n_rows, n_columns)")
    products = basis.T @ basis
    if np.abs(products - np.eye(len(products))).max(initial=0.0) <= _ORTHONORMAL:
        return basis
    Q, R = np.linalg.qr(basis)
    sizes = np.abs(np.diag(R))
    if basis.shape[1] > len(basis) or not sizes.min() > ROUNDING * sizes.max():
        raise ValueError(f"a basis of shape {basis.shape} has dependent or infinite columns")
    return Q
