"""The posterior of the two subspaces of a map, with the freedom of their bases taken out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isthmus._linalg import Array


@dataclass(frozen=True)
class SubspacePosterior:
    """Draws of the singular vectors and values of the map, aligned to one basis.

    Attributes
    ----------
    x_basis, y_basis : ndarray of shape (n_features, r), (n_targets, r)
        Orthonormal bases of the mean subspaces: leading eigenvectors of the mean projector, in
        order of the singular values of the mean map.
    x_draws, y_draws : ndarray of shape (n_draws, n_features, r), (n_draws, n_targets, r)
        Bases of the subspaces of each draw, turned as near to the mean basis as possible.
    singular_values : ndarray of shape (n_draws, r)
        Singular values of each draw, decreasing.
    x_angles, y_angles : ndarray of shape (n_draws, r)
        Principal angles between each draw's subspace and the mean one, decreasing, in radians.
    """

    x_basis: Array
    y_basis: Array
    x_draws: Array
    y_draws: Array
    singular_values: Array
    x_angles: Array
    y_angles: Array


def subspace_posterior(left: Array, right: Array, mean: Array) -> SubspacePosterior:
    """From draws of factors (S, p, r), (S, q, r) and the mean map (p, q)."""
    Qa, Ra = np.linalg.qr(left)
    Qd, Rd = np.linalg.qr(right)
    U, s, Vt = np.linalg.svd(Ra @ Rd.transpose(0, 2, 1))
    W, V = Qa @ U, Qd @ Vt.transpose(0, 2, 1)
    x_basis = _mean_basis(W, mean)
    y_basis = _mean_basis(V, mean.T)
    x_draws, x_angles = _align(W, x_basis)
    y_draws, y_angles = _align(V, y_basis)
    return SubspacePosterior(x_basis, y_basis, x_draws, y_draws, s, x_angles, y_angles)


def _mean_basis(bases: Array, mean: Array) -> Array:
    """Top of the mean projector, turned to the singular vectors of the mean map inside it."""
    n, r = bases.shape[1:]
    stacked = bases.transpose(1, 0, 2).reshape(n, -1)
    if n <= stacked.shape[1]:
        top = np.linalg.eigh(stacked @ stacked.T)[1][:, ::-1][:, :r]
    else:
        top = np.linalg.svd(stacked, full_matrices=False)[0][:, :r]
    basis = top @ np.linalg.svd(top.T @ mean, full_matrices=False)[0][:, :r] if r > 1 else top
    largest = np.abs(basis).argmax(axis=0)
    return basis * np.where(basis[largest, np.arange(basis.shape[1])] < 0, -1.0, 1.0)


def _align(bases: Array, target: Array) -> tuple[Array, Array]:
    """Procrustes: each basis times the rotation that brings it nearest, and principal angles."""
    U, cosines, Vt = np.linalg.svd(bases.transpose(0, 2, 1) @ target)
    angles = np.arccos(np.clip(cosines, -1.0, 1.0))[:, ::-1]
    return bases @ (U @ Vt), angles
