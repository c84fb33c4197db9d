"""Reduced sets by penalties, [B2006]_ Ch. 4: fewer points of a kernel expansion by l1 or l0."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import Array
from isthmus.compression import Problem, make_problem, order_points
from isthmus.expansion import Expansion
from isthmus.kernels import Pursuit, greedy_pursuit
from isthmus.papers.kernel_dependency_thesis.sparse import l0_path, l1_path


def reduce_l1(expansion: Expansion, n_points: int) -> tuple[Expansion, Pursuit]:
    r"""Reduce an expansion to the points with the largest coefficients of an l1 solution.

    .. math::
        \min_b \sum_j |w_j - \sum_i b_{ij} \phi(x_i)|^2 + g \sum_i \max_j |b_{ij}|

    [B2006]_ Sec. 4.2, with the first penalty g of a falling path that leaves enough points; the nearest
    functions on these points are then returned. :func:`isthmus.compress` leaves a smaller error with as
    many points, in a small fraction of the time.

    Parameters
    ----------
    expansion : Expansion
        The functions :math:`w_j`.
    n_points : int
        How many points to keep.

    Returns
    -------
    small : Expansion
        The nearest functions on the points that were kept.
    pursuit : Pursuit
        Its points in the order of greedy pursuit, with the errors of every smaller size.
    """
    problem = make_problem(expansion, None)
    return _reduce(expansion, l1_path(problem.full(), problem.values, n_points), n_points)


def reduce_l0(expansion: Expansion, n_points: int) -> tuple[Expansion, Pursuit]:
    """Reduce an expansion to the points that reweighted least squares leaves.

    [B2006]_ Sec. 4.3.3, corrected: an l0 penalty by a sequence of weighted ridges. Parameters and what is
    returned are those of :func:`reduce_l1`.
    """
    problem = make_problem(expansion, None)
    b = l0_path(problem.full(), problem.values, problem.coef, n_points)
    return _reduce(expansion, b, n_points)


def reduce_by_matching_pursuit(expansion: Expansion, n_points: int) -> tuple[Expansion, Pursuit]:
    """Reduce an expansion to the points of orthogonal matching pursuit, [B2006]_ Sec. 4.3.2.

    Each point is the one whose image is most parallel to what is left of the functions.
    :func:`isthmus.compress` takes the one that lowers the error most. Parameters and what is returned are
    those of :func:`reduce_l1`.
    """
    problem = make_problem(expansion, None)
    pursuit = greedy_pursuit(
        problem.column,
        problem.diagonal(),
        problem.values,
        problem.squared_norm,
        n_points,
        rule="omp",
    )
    return _expansion(expansion, problem, pursuit.order, pursuit), pursuit


def _reduce(expansion: Expansion, b: Array, n_points: int) -> tuple[Expansion, Pursuit]:
    """Keep the rows of b that are largest."""
    problem = make_problem(expansion, None)
    size = np.abs(b).max(axis=1)
    n_kept = min(n_points, np.count_nonzero(size))
    index: NDArray[np.intp] = np.sort(np.argsort(-size, kind="stable")[:n_kept])
    order, pursuit = order_points(problem, index)
    return _expansion(expansion, problem, order, pursuit), pursuit


def _expansion(
    expansion: Expansion, problem: Problem, order: NDArray[np.intp], pursuit: Pursuit
) -> Expansion:
    """Return the nearest functions on chosen points."""
    coef = pursuit.coefficients()
    if expansion.coef.ndim == 1:
        coef = coef[:, 0]
    return Expansion(problem.take(order), coef, problem.kernel, expansion.intercept)
