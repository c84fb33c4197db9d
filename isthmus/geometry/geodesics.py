"""Geodesics on the Stiefel manifold, with small exponentials and without drift."""

from __future__ import annotations

import numpy as np
from scipy.linalg import expm, logm, qr

from isthmus.geometry.base import Array, skew


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
    Q = _complement(point, tangent)
    B = Q.T @ tangent
    turned = _turn(rotation * A, B)
    moved = point @ turned[: len(A)] + Q @ turned[len(A) :]
    if rotation != 1:
        moved = moved @ expm((1 - rotation) * A)
    return orthonormalise(moved)


def stiefel_log(point: Array, other: Array, *, tol: float = 1e-13, max_iter: int = 200) -> Array:
    """Return the canonical velocity that leads from ``point`` to ``other`` in time 1.

    The iteration of [Z2017]_ on matrices of size 2r: complete the coordinates of ``other`` to a
    rotation, and turn the free columns until the lower right block of its logarithm vanishes. It
    converges linearly, the faster the nearer the points are, and not at all for distant ones.
    """
    r = point.shape[1]
    Q = _complement(point, other)
    rotation = _complete(np.vstack([point.T @ other, Q.T @ other]))
    for _ in range(max_iter):
        velocity = _real_log(rotation)
        free = velocity[r:, r:]
        if np.linalg.norm(free) <= tol * max(1.0, float(np.linalg.norm(velocity))):
            return point @ velocity[:r, :r] + Q @ velocity[r:, :r]
        rotation[:, r:] = rotation[:, r:] @ expm(-free)
    raise ValueError("the points are too far apart: the logarithm has not converged")


def _complement(point: Array, tangent: Array) -> Array:
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


def _complete(columns: Array) -> Array:
    """Return a rotation that begins with ``columns``."""
    n, r = columns.shape
    rotation = np.hstack([columns, qr(columns)[0][:, r:]])
    if np.linalg.det(rotation) < 0:
        if n == r:
            raise ValueError("the points lie on different sheets: no geodesic joins them")
        rotation[:, -1] *= -1
    return rotation


def _real_log(rotation: Array) -> Array:
    logarithm = logm(rotation)
    if np.linalg.norm(np.imag(logarithm)) > 1e-8:
        raise ValueError("the points are too far apart: no unique geodesic joins them")
    return skew(np.real(logarithm))
