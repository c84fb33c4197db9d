"""Which points stay: one function a method."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from sklearn import get_config
from sklearn.utils import check_random_state

from isthmus._linalg import ROUNDING, Array, row_blocks
from isthmus._validation import check_memory
from isthmus.expansion import Expansion
from isthmus.kernels import (
    Precomputed,
    Pursuit,
    gram,
    gram_diagonal,
    greedy_pursuit,
    kernel_columns,
    landmark_factor,
    pivoted_cholesky,
    resolve_kernel,
    select_landmarks,
    take,
)

_PROGRESS = 0.9  # of the points are left by a round of blocks at most, or the rounds end


@dataclass
class Problem:
    """Functions to be approximated, at their points: coefficients, values, kernel values."""

    points: Any
    kernel: Any
    coef: Array  # (N, p)
    values: Array  # (N, p), without intercept
    matrix: Array | None  # the kernel matrix of the points, where it is precomputed
    squared_norm: float
    indefinite: bool = False  # no inner product: points are chosen by the outputs

    def __len__(self) -> int:
        return len(self.coef)

    def take(self, index: NDArray) -> Any:
        """Some of the points."""
        return take(self.points, index)

    def kernel_and_samples(self) -> tuple[Any, Any]:
        """A kernel and samples whose kernel matrix is that of the points."""
        if self.matrix is not None:
            return Precomputed(), self.matrix
        return self.kernel, self.points

    def diagonal(self) -> Array:
        """``k(x_i, x_i)``."""
        return np.asarray(gram_diagonal(*self.kernel_and_samples()), dtype=np.float64)

    def column(self, i: int) -> Array:
        """``k(x_i, .)`` at all points."""
        return kernel_columns(*self.kernel_and_samples(), [i])[:, 0]

    def full(self) -> Array:
        """The whole kernel matrix."""
        if self.matrix is not None:
            return self.matrix
        check_memory(
            16.0 * len(self) ** 2, "This method", "use method='greedy', which needs no matrix."
        )
        return np.asarray(gram(self.kernel, self.points), dtype=np.float64)

    def square(self, index: NDArray) -> Array:
        """The kernel matrix of some of the points."""
        if self.matrix is not None:
            return self.matrix[np.ix_(index, index)]
        return np.asarray(gram(self.kernel, self.take(index)), dtype=np.float64)

    def restrict(self, index: NDArray, *, own_part: bool = False) -> Problem:
        """The problem with fewer candidates; with ``own_part`` the functions are cut to them too."""
        K = self.square(index)
        values, squared = self.values[index], self.squared_norm
        if own_part:
            values = K @ self.coef[index]
            squared = float(np.einsum("ij,ij->", self.coef[index], values))
        points = self.take(index)
        return Problem(points, self.kernel, self.coef[index], values, K, squared)


def make_problem(expansion: Expansion, matrix: Array | None) -> Problem:
    """Values and norms of an expansion at its own points."""
    coef = expansion.coef.reshape(expansion.n_points, -1)
    kernel = expansion.kernel
    if not expansion.is_precomputed:
        kernel = resolve_kernel(kernel, expansion.points)
    if expansion.values is not None:
        values = expansion.values.reshape(coef.shape)
    elif matrix is not None:
        values = matrix @ coef
    else:
        plain = Expansion(expansion.points, coef, kernel)
        values = plain.without_intercept(expansion.points)
    squared = float(np.einsum("ij,ij->", coef, values))
    if squared >= -1e-8 * float(np.abs(coef * values).sum()):  # else the kernel is no inner product
        squared = max(squared, 0.0)
    return Problem(expansion.points, kernel, coef, values, matrix, squared)


def pursue(problem: Problem, n_points: int, tol: float) -> Pursuit:
    """The pursuit of ``pursuit.py`` over all points of a problem."""
    return greedy_pursuit(
        problem.column,
        problem.diagonal(),
        problem.values,
        problem.squared_norm,
        n_points,
        tol=tol,
    )


def pursue_by_chunks(
    problem: Problem, n_points: int, tol: float, chunk_size: int
) -> tuple[NDArray, Pursuit]:
    """Greedy on each block's own part of the functions, then on the union against all of them.

    A union that is too large for memory is pursued by blocks as well.
    """
    union = _by_blocks(problem, np.arange(len(problem)), n_points, tol, chunk_size, own_part=True)
    size = max(chunk_size, _square_in_memory())
    while len(union) > size:
        fewer = _by_blocks(problem, union, n_points, tol, size, own_part=False)
        if len(fewer) > _PROGRESS * len(union):
            what = f"Greedy pursuit among {len(union)} points"
            check_memory(16.0 * len(union) ** 2, what, "a smaller n_points takes less.")
            break
        union = fewer
    pursuit = pursue(problem.restrict(union), n_points, tol)
    return union[pursuit.order], pursuit


def _by_blocks(
    problem: Problem, index: NDArray, n_points: int, tol: float, size: int, *, own_part: bool
) -> NDArray:
    """Return the points that greedy pursuit chooses in each block of some of the points."""
    chosen = []
    for rows in row_blocks(len(index), size):
        part = problem.restrict(index[rows], own_part=own_part)
        chosen.append(index[rows][pursue(part, n_points, tol).order])
    return np.sort(np.concatenate(chosen))


def chunk_in_memory(problem: Problem, n_points: int) -> int | None:
    """Return the size of blocks, if the factor of a pursuit over all points is larger than the bound."""
    if problem.matrix is not None or 8.0 * len(problem) * n_points <= memory_bound():
        return None
    return _square_in_memory()


def _square_in_memory() -> int:
    """Points of a block: their kernel matrix, the factor, and room for as much again."""
    return max(2, math.isqrt(int(memory_bound() / 32.0)))


def memory_bound() -> float:
    """Return scikit-learn's ``working_memory`` in bytes."""
    return float(get_config()["working_memory"]) * 2**20


def order_points(problem: Problem, index: NDArray) -> tuple[NDArray, Pursuit]:
    """Given points in the order of greedy pursuit, so that every smaller size is known too."""
    pursuit = pursue(problem.restrict(index), len(index), 0.0)
    return index[pursuit.order], pursuit


def by_rank(problem: Problem, n_points: int, tol: float) -> tuple[NDArray, Pursuit]:
    """Pivoted Cholesky: the point that the others span worst, until all are spanned."""
    tol = max(tol, ROUNDING)
    L, pivots = pivoted_cholesky(*problem.kernel_and_samples(), n_points, tol)
    return pivots, _in_order(problem, pivots, L.T)


def by_landmarks(
    problem: Problem, n_points: int, selection: str, random_state: Any
) -> tuple[Any, NDArray | None, Pursuit]:
    """Points that stand for all, whatever the functions; centres of k-means are new points."""
    rng = check_random_state(random_state)
    chosen = select_landmarks(*problem.kernel_and_samples(), n_points, selection, rng)
    if selection != "cholesky":  # in no order of their own: smaller sizes are draws of these
        chosen = rng.permutation(chosen)
    if chosen.ndim == 2:
        points, pursuit = span_new_points(problem, chosen)
        return points, None, pursuit
    triangle, kept = landmark_factor(problem.square(chosen))
    chosen = chosen[kept]
    L = np.zeros((len(chosen), len(problem)))
    L[:, chosen] = triangle.T
    return problem.take(chosen), chosen, _in_order(problem, chosen, L)


def span_new_points(problem: Problem, points: Array) -> tuple[Array, Pursuit]:
    """Those of new points that do not depend on the ones before, and their errors."""
    points = np.asarray(points)
    triangle, kept = landmark_factor(gram(problem.kernel, points))
    points = points[kept]
    functions = Expansion(problem.points, problem.coef, problem.kernel)
    T = solve_triangular(triangle, functions.without_intercept(points), lower=True)
    order = np.arange(len(kept))
    return points, Pursuit(order, _errors(problem, T), triangle.T, T)


def _in_order(problem: Problem, index: NDArray, L: Array) -> Pursuit:
    """Errors of the first 1, 2, .. of given points."""
    triangle = np.tril(L[:, index].T)
    T = problem.values[:0]
    if len(index):
        T = solve_triangular(triangle, problem.values[index], lower=True)
    return Pursuit(index, _errors(problem, T), L, T)


def _errors(problem: Problem, T: Array) -> Array:
    """Relative errors of the first 0, 1, .. points, from the functions in their basis."""
    left = problem.squared_norm - np.concatenate([[0.0], np.cumsum((T**2).sum(axis=1))])
    total = problem.squared_norm if problem.squared_norm > 0 else 1.0
    return np.maximum(left, 0.0) / total
