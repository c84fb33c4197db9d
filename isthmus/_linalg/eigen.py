"""Leading eigenpairs of symmetric matrices: one, a few, many of a large matrix, or all."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, lapack
from scipy.sparse.linalg import ArpackError, eigsh

from isthmus._linalg.basics import Array

# Up to this order a tridiagonal matrix costs less than a Krylov space that finds the largest eigenvalue.
_TRIDIAGONAL_ORDER = 150
# Residual of the vector of a largest eigenvalue: the value itself is known to its square over the gap.
_NORM_TOL = 1e-5
# Vectors of its Krylov space before it restarts: ARPACK's own 20 take up to twice as long where the
# spectrum is smooth, and where it is crowded.
_NORM_VECTORS = 12
# Below this order all eigenpairs cost no more than some, and so they do if one in so many is asked for.
_ALL_PAIRS_ORDER = 500
_FEW_PAIRS = 8
# Eigenvectors are found until their residual is below so many roundings of the largest eigenvalue.
_RESIDUAL_ULPS = 400.0
# Vectors of the Krylov spaces that look for negative and for overlooked eigenvalues.
_KRYLOV_VECTORS = 8


def descending_eigh(A: Array) -> tuple[Array, Array]:
    """Eigenvalues (clipped at zero) and eigenvectors of a Gram matrix, largest first."""
    values, vectors = np.linalg.eigh(A)
    return np.maximum(values[::-1], 0.0), vectors[:, ::-1]


def largest_eigenvalue(A: Array, tol: float = _NORM_TOL) -> float:
    """Return the largest eigenvalue of a symmetric matrix; by default to seven digits or more."""
    n = len(A)
    if n > _TRIDIAGONAL_ORDER and A.any():
        try:
            # A start that moves with the order of the columns, so that the answer does not depend on it.
            start = A.sum(axis=1) + A.diagonal()
            found = eigsh(
                A, k=1, which="LA", v0=start, tol=tol, ncv=_NORM_VECTORS, return_eigenvectors=False
            )
            return float(found[0])
        except ArpackError:  # no convergence
            pass
    # One eigenvalue by bisection: all of them cost 1.6 times as much.
    values, *_, info = lapack.dsyevr(A, compute_v=0, range="I", il=n, iu=n, lower=1)
    return float(values[0] if info == 0 else np.linalg.eigvalsh(A)[-1])


def leading_pairs(A: Array, r: int | None = None) -> tuple[Array, Array]:
    """The r largest eigenpairs of a symmetric matrix, largest first; all of them for None."""
    n = len(A)
    few = r is not None and r < n // 4
    values, vectors = eigh(A, subset_by_index=[n - r, n - 1] if few else None)  # type: ignore[operator]
    values, vectors = values[::-1], vectors[:, ::-1]
    return (values, vectors) if r is None else (values[:r], vectors[:, :r])


def leading_or_all_pairs(K: Array, r: int | None = None) -> tuple[Array, Array]:
    """Eigenvalues, largest first, and eigenvectors of a symmetric matrix: the first ``r``, or all.

    All come back too where they cost no more than ``r`` of them; the smallest then tells how far
    ``K`` is from being positive semi-definite. The start of the iterations is fixed, so that the same
    matrix gives the same pairs.
    """
    n = len(K)
    if r is not None and n >= _ALL_PAIRS_ORDER and r * _FEW_PAIRS <= n:
        start = np.random.default_rng(0).standard_normal(n).astype(K.dtype)
        eps = float(np.finfo(K.dtype).eps)
        try:
            values, vectors = eigsh(K, k=r, which="LA", v0=start, tol=_RESIDUAL_ULPS * eps)
            # A Krylov space of one vector may miss copies of an eigenvalue: they are what is left then.
            left = _ritz_values(K, 2, vectors)[-1]
            if left <= values[0] + _RESIDUAL_ULPS * eps * abs(values[-1]):
                return values[::-1], vectors[:, ::-1]
        except ArpackError:  # crowded eigenvalues
            pass
    values, vectors = np.linalg.eigh(K)
    return values[::-1], vectors[:, ::-1]


def smallest_ritz_value(K: Array) -> float:
    """Return an upper bound of the smallest eigenvalue, close to it where that is well below zero."""
    return float(_ritz_values(K, 5, np.zeros((len(K), 0)))[0])


def _ritz_values(K: Array, n_blocks: int, outside: Array) -> Array:
    """Return eigenvalues of ``K`` on a Krylov space of random vectors orthogonal to given ones."""
    Q = outside
    V = np.random.default_rng(0).standard_normal((len(K), min(_KRYLOV_VECTORS, len(K) // 8)))
    for _ in range(n_blocks):
        for _ in range(2):  # once leaves rounding errors of the size of what is left
            V = np.linalg.qr(V - Q @ (Q.T @ V))[0]
        Q = np.hstack([Q, V])
        V = (V.T.astype(K.dtype, copy=False) @ K).T  # K is symmetric, and rows are read faster
    Q = Q[:, outside.shape[1] :]
    return np.asarray(np.linalg.eigvalsh(Q.T @ (K @ Q)), dtype=np.float64)
