"""Greedy pursuit by partial Cholesky: the points that matter, in the order in which they matter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from isthmus._linalg import Array

DEPENDENT = 1e-10
"""A point whose image the chosen ones span to this part of its squared length is not chosen."""


@dataclass
class Pursuit:
    """Chosen points in order, relative errors of every size, and the factors of the kernel matrix."""

    order: NDArray[np.intp]  # (r,)
    errors: Array  # (r + 1,): E / E_0 with 0, 1, .., r points
    L: Array  # (r, N): K[:, order] = L' L[:, order]
    T: Array  # (r, p): the targets in the orthonormal basis of the chosen images

    @property
    def triangle(self) -> Array:
        """Lower Cholesky factor of the kernel matrix of the chosen points."""
        return np.tril(self.L[:, self.order].T)

    def coefficients(self, size: int | None = None) -> Array:
        """RKHS coefficients of the first ``size`` points: the nearest functions to the targets."""
        size = len(self.order) if size is None else size
        return back_to_points(self.triangle[:size, :size], self.T[:size])


def back_to_points(triangle: Array, T: Array) -> Array:
    """Coefficients on the kernel from those on the orthonormal basis, ``L_Z^-T T``."""
    if not len(triangle):
        return np.zeros_like(T)
    return solve_triangular(triangle, T, lower=True, trans=1)


def greedy_pursuit(
    column: Callable[[int], Array],
    diagonal: Array,
    correlations: Array,
    squared_norm: float,
    n_points: int,
    *,
    tol: float = 0.0,
    rule: str = "ols",
    first: NDArray | None = None,
) -> Pursuit:
    r"""Choose points so that their images span the targets ``w_j`` best, [B2006]_ Sec. 4.3.1, 4.3.2.

    At every step the point is taken that lowers :math:`E = \sum_j |w_j - \hat w_j|^2` most after refitting
    all coefficients (rule ``"ols"``), or the one whose image is most parallel to what is left
    (``"omp"``). ``2 N r (r + p)`` flops and ``N r`` kernel values; every smaller size comes with it.

    Parameters
    ----------
    column : callable
        ``column(i)`` gives ``k(x_i, .)`` at all N candidates.
    diagonal : array of shape (N,)
        ``k(x_i, x_i)``.
    correlations : array of shape (N, p)
        ``<w_j, phi(x_i)>``, the values of the functions at the candidates.
    squared_norm : float
        ``sum_j |w_j|^2``.
    n_points : int
        Most points.
    tol : float, default=0.0
        Stop when ``E <= tol E_0``.
    rule : {"ols", "omp"}, default="ols"
        What is maximised: ``|C_i|^2 / d_i``, d what is left of the squared lengths, or
        ``|C_i|^2 / k(x_i, x_i)``.
    first : array of shape (q,), default=None
        Points that are chosen already, none of which depends on the others; None: none.

    Returns
    -------
    pursuit : Pursuit
        Points, errors and factors.
    """
    N, p = correlations.shape
    n_points = min(n_points, N)
    C = correlations.copy()
    d = np.array(diagonal, dtype=np.float64)
    L = np.zeros((n_points, N))
    T = np.zeros((n_points, p))
    order: list[int] = [] if first is None else [int(i) for i in first]
    q = len(order)
    if q:
        rows = np.stack([column(i) for i in order])
        triangle = cholesky(rows[:, order], lower=True)
        L[:q] = solve_triangular(triangle, rows, lower=True)
        T[:q] = solve_triangular(triangle, correlations[order], lower=True)
        C -= L[:q].T @ T[:q]
        d -= np.einsum("ji,ji->i", L[:q], L[:q])
        d[order] = 0.0
    squared = np.einsum("ij,ij->i", C, C)
    lefts = float(squared_norm) - np.cumsum([0.0, *(T[:q] ** 2).sum(axis=1)])
    left = float(lefts[-1])
    errors = [max(float(x), 0.0) for x in lefts]
    floor = DEPENDENT * np.maximum(diagonal, 0.0)
    for j in range(q, n_points):
        usable = d > floor
        scale = np.where(usable, d if rule == "ols" else diagonal, 1.0)
        gain = np.where(usable, squared / scale, -1.0)
        i = int(gain.argmax())
        if gain[i] <= 0 or left <= tol * squared_norm:
            break
        root = np.sqrt(d[i])
        row = (column(i) - L[:j].T @ L[:j, i]) / root
        t = C[i] / root
        L[j], T[j] = row, t
        # |C - l t'|^2 by rows, without forming it a second time.
        squared += row * (row * float(t @ t) - 2.0 * (C @ t))
        C -= np.outer(row, t)
        np.maximum(squared, 0.0, out=squared)
        d -= row**2
        d[i] = 0.0
        left -= float(t @ t)
        errors.append(max(left, 0.0))
        order.append(i)
    r = len(order)
    total = squared_norm if squared_norm > 0 else 1.0
    return Pursuit(np.array(order, dtype=np.intp), np.array(errors) / total, L[:r], T[:r])
