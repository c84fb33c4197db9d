"""Geodesics on the Stiefel manifold, with small exponentials and without drift."""

from __future__ import annotations

import numpy as np
from scipy.linalg import expm

from isthmus._geometry.base import Array, skew


def stiefel_exp(point: Array, tangent: Array, rotation: float) -> Array:
    r"""Return the end of a geodesic of :math:`\operatorname{St}(n, r)`.

    .. math::
        V(1) = [V, Q] \exp \begin{pmatrix} \kappa A & -B' \\ B & 0 \end{pmatrix}
               \begin{pmatrix} I \\ 0 \end{pmatrix} \exp((1 - \kappa) A),
        \qquad A = V'D, \; B = Q'D

    where the columns of Q are orthonormal, orthogonal to V and span the rest of D. ``rotation``
    :math:`\kappa` is 1 for the canonical and 2 for the embedded metric ([ZH2022]_;
    [EAS1998]_ (2.42) is the same curve with exponentials that are not orthogonal). The exponential
    is of size 2r, or n where that is less.
    """
    A = skew(point.T @ tangent)
    Q = complement_basis(point, tangent)
    B = Q.T @ tangent
    turned = _turn(rotation * A, B)
    moved = point @ turned[: len(A)] + Q @ turned[len(A) :]
    if rotation != 1:
        moved = moved @ expm((1 - rotation) * A)
    return orthonormalise(moved)


def complement_basis(point: Array, tangent: Array) -> Array:
    """Return orthonormal columns, orthogonal to ``point``, that hold the rest of ``tangent``.

    Not the QR decomposition of (I - VV')D: where that is rank deficient, and for n < 2r it always
    is, Q has columns that are not orthogonal to V, and the error grows exponentially with the
    number of steps. Reflections of [V, D] are orthogonal whatever its rank.
    """
    r = point.shape[1]
    return np.linalg.qr(np.hstack([point, tangent]))[0][:, r:]  # min(n - r, r) columns


def _turn(A: Array, B: Array) -> Array:
    """Return the first columns of the exponential of [[A, -B'], [B, 0]]."""
    k = len(B)
    return expm(np.block([[A, -B.T], [B, np.zeros((k, k))]]))[:, : len(A)]


def orthonormalise(point: Array) -> Array:
    """Return a nearly orthonormal matrix after one step of Newton and Schulz: no drift."""
    return point @ (1.5 * np.eye(point.shape[1]) - 0.5 * point.T @ point)
