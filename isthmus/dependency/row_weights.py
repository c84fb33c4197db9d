"""Weights of the training outputs in a prediction by kernel ridge regression with an intercept."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from isthmus._linalg import Array

System = tuple[Array, Array]
"""The Cholesky factor of ``K + alpha I``, and the solution of that system for a column of ones."""


def factorise(K: Array, alpha: float) -> System:
    """Factorise the system of all predictions. ``K`` (n, n), symmetric, is overwritten.

    The weights of all training rows would be an inverse and the identity that it is solved for; the factor
    alone is one matrix, and a prediction costs as much.
    """
    K = np.asarray(K, dtype=np.float64)
    K.flat[:: len(K) + 1] += alpha
    factor, failed = lapack.dpotrf(
        K.T if K.flags.c_contiguous else K, lower=1, overwrite_a=1, clean=0
    )
    if failed:
        raise ValueError(
            f"The kernel matrix of the inputs with alpha == {alpha:g} on its diagonal is not positive "
            "definite: use a larger alpha, or a kernel that is positive semi-definite."
        )
    return factor, lapack.dpotrs(factor, np.ones(len(K)), lower=1)[0]


def row_weights(system: System, K_new: Array) -> Array:
    """Return the weights of the training rows, (m, n), for kernel values (m, n) of m new inputs."""
    factor, u = system
    V = lapack.dpotrs(factor, K_new.T, lower=1)[0].T
    return np.asarray(V + np.outer(1.0 - K_new @ u, u / u.sum()))
