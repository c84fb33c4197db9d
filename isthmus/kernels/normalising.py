"""Kernel values at unit length, ``k(x, y) / sqrt(k(x, x) k(y, y))``; 0 with an object of length zero."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def inverse_root(d: NDArray) -> NDArray:
    """One over the root; 0 where a number is not positive."""
    d = np.asarray(d)
    return np.divide(1.0, np.sqrt(np.maximum(d, 0)), out=np.zeros_like(d), where=d > 0)


def normalise_square(K: NDArray) -> NDArray:
    """Normalise, in place, the kernel values of objects with themselves."""
    own = K.diagonal().copy()
    K = normalise_matrix(K, own, own)
    # Exactly one, which the product of two rounded roots is not.
    np.fill_diagonal(K, own > 0)
    return K


def normalise_matrix(K: NDArray, rows: NDArray, columns: NDArray) -> NDArray:
    """Normalise, in place, kernel values by those of rows and columns with themselves."""
    # One factor after the other would not leave symmetric values symmetric.
    K *= np.outer(inverse_root(rows), inverse_root(columns))
    return K


def normalise_gradient(K: NDArray, gradient: NDArray) -> tuple[NDArray, NDArray]:
    """Return normalised kernel values of objects with themselves, and their derivatives (n, n, n_theta)."""
    lengths = inverse_root(K.diagonal())
    growth = np.einsum("iik->ik", gradient) * (lengths**2)[:, None]  # of each diagonal, relative
    gradient = gradient * (lengths[:, None] * lengths)[:, :, None]
    K = normalise_square(K.copy())
    gradient -= 0.5 * K[:, :, None] * (growth[:, None, :] + growth[None, :, :])
    return K, gradient
