"""Kernels that are not inner products: points are chosen by the outputs instead."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from isthmus.compression.select import Problem
from isthmus.kernels import (
    CHEAP_ORDER,
    PSD_TOL,
    Pursuit,
    extreme_eigenvalues,
    greedy_pursuit,
    is_psd,
)


def check_definite(problem: Problem, method: str, chunk_size: int | None) -> None:
    """Set ``problem.indefinite``, with a warning, where the kernel matrix has negative eigenvalues.

    Of very many points some are looked at: eigenvalues of all would cost more than the rest.
    Without an inner product no function is nearest. The outputs can still be fitted, and greedy
    pursuit can choose points by them; other methods are refused.
    """
    if problem.matrix is None and is_psd(problem.kernel):
        return
    index = np.unique(
        np.linspace(0, len(problem) - 1, min(len(problem), CHEAP_ORDER)).astype(np.intp)
    )
    single = getattr(problem.points, "dtype", None) == np.float32
    dtype = "float32" if single else "float64"
    smallest, largest = extreme_eigenvalues(problem.square(index), dtype)
    tol = PSD_TOL[dtype]
    negative = smallest < -tol * max(largest, 0.0)
    if not negative and problem.squared_norm >= 0:
        return
    figures = f"its smallest eigenvalue is {smallest:.3g}, its largest {largest:.3g}"
    if not negative:
        figures = f"the functions have the squared norm {problem.squared_norm:.3g}"
    what = f"kernel == {problem.kernel} is not positive semi-definite at the points: {figures}"
    if method != "greedy" or chunk_size is not None:
        raise ValueError(
            f"{what}. method == {method!r}, chunk_size == {chunk_size} need a kernel that is: use "
            "method='greedy' without chunks, which chooses points by the outputs, or fit another kernel."
        )
    warnings.warn(
        f"{what}. Distances between functions are then undefined: points are chosen by the outputs at the "
        "points, and the errors are those of the outputs.",
        UserWarning,
        stacklevel=3,
    )
    problem.indefinite = True


def by_outputs(problem: Problem, n_points: int, tol: float) -> tuple[NDArray[np.intp], Pursuit]:
    r"""Greedy pursuit of the outputs at the points, :math:`\min |K_{XZ} B - C|^2`.

    The columns of K stand for the points: their inner products, ``K'K``, are positive semi-definite
    whatever K is. The factor in the answer is that of ``K'K``, in which basis the refit is done.
    """
    K = problem.full()
    pursuit = greedy_pursuit(
        lambda i: K.T @ K[:, i],
        np.einsum("ij,ij->j", K, K),
        K.T @ problem.values,
        float((problem.values**2).sum()),
        n_points,
        tol=tol,
    )
    order = pursuit.order
    zero = order[problem.diagonal()[order] == 0]
    if len(zero):
        raise ValueError(
            f"k(x, x) == 0 at point {int(zero[0])}, which was chosen, and k(x, y) is not: kernel == "
            f"{problem.kernel} is not an inner product. Fit with one that is, or with k(x, y) + a constant."
        )
    others = np.ones(len(K), dtype=bool)
    others[order] = False
    pursuit.L[:, others] = 0.0  # they are no kernel values in the basis of the chosen images
    return order, pursuit
