"""Sparse coefficients, [B2006]_ Ch. 4: l1 by coordinate descent, l0 by reweighted least squares."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lasso_path

from isthmus._linalg import Array

# Bounds the time of a descent that does not settle.
_MAX_SWEEPS = 1000


def _shrink(v: Array, t: float) -> Array:
    """Proximal map of ``t max_j |v_j|``: v minus its projection on the l1 ball of radius t."""
    size = np.abs(v)
    if size.sum() <= t:
        return np.zeros_like(v)
    ordered = np.sort(size)[::-1]
    means = (np.cumsum(ordered) - t) / np.arange(1, len(v) + 1)
    level = means[np.flatnonzero(ordered > means)[-1]]
    return v - np.sign(v) * np.maximum(size - level, 0.0)


def l1_coefficients(
    K: Array, C: Array, g: float, start: Array | None = None, *, tol: float = 1e-7
) -> Array:
    r"""Minimise :math:`\sum_j |w_j - \sum_i b_{ij}\phi(x_i)|^2 + g \sum_i \max_j |b_{ij}|`.

    [B2006]_ Sec. 4.2.

    Parameters
    ----------
    K : array of shape (N, N)
        Kernel matrix.
    C : array of shape (N, p)
        ``<w_j, phi(x_i)>``.
    g : float
        Weight of the penalty.
    start : array of shape (N, p), default=None
        Coefficients to start from.
    tol : float, default=1e-7
        Largest change of a coefficient in the last sweep, relative to the largest coefficient.

    Returns
    -------
    b : array of shape (N, p)
        The coefficients; most rows are zero.
    """
    N = len(K)
    diagonal = np.maximum(K.diagonal(), np.finfo(float).tiny)
    b = np.zeros_like(C) if start is None else start.copy()
    left = C - K @ b
    active = np.flatnonzero(np.abs(b).any(axis=1))
    for _ in range(_MAX_SWEEPS):
        for _ in range(_MAX_SWEEPS):  # the active ones until they settle
            moved = 0.0
            for i in active:
                new = _shrink(b[i] + left[i] / diagonal[i], 0.5 * g / diagonal[i])
                step = new - b[i]
                size = float(np.abs(step).max())
                if size:
                    left -= np.outer(K[:, i], step)
                    b[i] = new
                    moved = max(moved, size)
            if moved <= tol * max(float(np.abs(b).max()), np.finfo(float).tiny):
                break
        # A row may stay zero as long as the sum of its |correlations| is at most g / 2.
        zero = np.ones(N, dtype=bool)
        zero[active] = False
        wanted = np.abs(left).sum(axis=1) > 0.5 * g * (1 + 1e-9)
        new_ones = np.flatnonzero(zero & wanted)
        if not len(new_ones):
            break
        active = np.union1d(np.flatnonzero(np.abs(b).any(axis=1)), new_ones)
    return b


def l1_path(K: Array, C: Array, n_points: int, *, ratio: float = 0.8) -> Array:
    """Coefficients of the first penalty, on a falling path, that leaves ``n_points`` rows or more."""
    if C.shape[1] == 1:
        return _lasso_path(K, C, n_points, ratio)
    g = 2.0 * float(np.abs(C).sum(axis=1).max())
    b = np.zeros_like(C)
    smallest = 1e-4 * g
    while g > smallest:
        g *= ratio
        b = l1_coefficients(K, C, g, b, tol=1e-3)
        if np.count_nonzero(np.abs(b).any(axis=1)) >= n_points:
            break
    return b


def _lasso_path(K: Array, C: Array, n_points: int, ratio: float) -> Array:
    """One output: scikit-learn's coordinate descent on the Gram matrix, warm from penalty to penalty."""
    values, vectors = np.linalg.eigh(K)
    root = np.sqrt(np.maximum(values, 0.0))
    good = root > 1e-6 * root[-1]
    images = (vectors[:, good] * root[good]).T  # columns with the inner products K
    target = (vectors[:, good].T @ C[:, 0]) / root[good]
    n = len(images)
    g = 2.0 * float(np.abs(C).max())
    weights = (
        g * ratio ** np.arange(1, 60) / (2 * n)
    )  # its criterion has 1 / (2 n) before the squares
    b = np.zeros_like(C)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for begin in range(0, len(weights), 10):
            part = weights[begin : begin + 10]
            coefs = lasso_path(
                images,
                target,
                alphas=part,
                precompute=True,
                coef_init=b[:, 0],
                tol=1e-4,
                max_iter=300,
            )[1]
            enough = np.flatnonzero(np.count_nonzero(coefs, axis=0) >= n_points)
            if len(enough):
                return coefs[:, enough[:1]]
            b = coefs[:, -1:]
    return b


def l0_coefficients(
    K: Array, C: Array, a: Array, g: float, *, max_iter: int = 200, tol: float = 1e-6
) -> Array:
    """Reweighted least squares, ``(V K V + g I) b' = V K a``, ``b = V b'``, [B2006]_ Sec. 4.3.3 corrected.

    ``v_i`` is the size of row i of the last ``b``; rows below ``1e-6`` of the largest are dropped.
    With ``g = 0`` the solution of least norm is taken, which loses nothing and keeps rank(K) points.

    Parameters
    ----------
    K, C : arrays of shape (N, N), (N, p)
        Kernel matrix and ``K a``.
    a : array of shape (N, p)
        Coefficients to start from.
    g : float
        Weight of the penalty.
    max_iter : int, default=200
        Most steps.
    tol : float, default=1e-6
        Stop when no weight changes by more than this part of the largest.

    Returns
    -------
    b : array of shape (N, p)
        The coefficients; zero rows are dropped points.
    """
    kept = np.arange(len(K))
    v = np.abs(a).sum(axis=1)
    b = a.copy()
    for _ in range(max_iter):
        largest = float(v.max(initial=0.0))
        if not largest:
            break
        stay = v >= 1e-6 * largest
        kept = kept[stay]
        v = v[stay]
        b = b[stay]
        M = v[:, None] * K[np.ix_(kept, kept)] * v
        rhs = v[:, None] * C[kept]
        new = v[:, None] * _solve(M, rhs, g)
        change = np.abs(np.abs(new).sum(axis=1) - v).max()
        b, v = new, np.abs(new).sum(axis=1)
        if change <= tol * largest:
            break
    full = np.zeros_like(a)
    if (
        not len(kept)
        or not np.abs(b).any()
        or float(np.abs(b).max()) < 1e-12 * float(np.abs(a).max())
    ):
        warnings.warn(f"g == {g} is too large: no point is left. Lower it.", stacklevel=2)
        return full
    full[kept] = b
    return full


def _solve(M: Array, rhs: Array, g: float) -> Array:
    if g > 0:
        M = M.copy()
        M[np.diag_indices_from(M)] += g
        return cho_solve(cho_factor(M, overwrite_a=True), rhs)
    values, vectors = np.linalg.eigh(M)
    good = values > 1e-12 * values[-1]
    return vectors[:, good] @ ((vectors[:, good].T @ rhs) / values[good][:, None])


def l0_path(K: Array, C: Array, a: Array, n_points: int, *, n_trials: int = 12) -> Array:
    """Coefficients of the smallest penalty tried that leaves at most ``n_points`` rows."""
    squared = float(np.einsum("ij,ij->", a, C))
    low, high = 1e-12 * squared, 10.0 * squared
    best: Array | None = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(n_trials):
            g = float(np.sqrt(low * high))
            b = l0_coefficients(K, C, a, g, max_iter=50, tol=1e-3)
            size = np.count_nonzero(np.abs(b).any(axis=1))
            if size > n_points:
                low = g
            else:
                high = g
                if size and (best is None or size >= np.count_nonzero(np.abs(best).any(axis=1))):
                    best = b
            if size == n_points:
                break
    return a if best is None else best
