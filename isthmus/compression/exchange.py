"""Exchange of points: blocks of the chosen ones are dropped, and the pursuit goes on from the rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, cholesky, solve_triangular

from isthmus._linalg import Array
from isthmus.compression.refit import RIDGE
from isthmus.compression.select import Problem
from isthmus.kernels import Pursuit, greedy_pursuit


def exchange_points(problem: Problem, start: Pursuit, *, n_rounds: int) -> Pursuit:
    """Exchange points for as many others with which the outputs are fitted better.

    The first points were chosen when the others were not there. A round drops q of the r points, each
    the one whose loss is least, and pursues q anew; it counts if the least squares error of the outputs at
    the candidates falls. q goes from r / 2 down to 1 in equal ratios: exchanges of one point against one
    stop in worse valleys. Since those that explain least go, a single exchange may still be left that
    would be better. A round takes about ``r N (3 r + 2 q)`` operations, and kernel values of points
    not met before only; backward and forward steps in turns, [M2002]_.

    Parameters
    ----------
    problem : Problem
        The functions, and the candidates.
    start : Pursuit
        The points to begin with, its factor known at all candidates.
    n_rounds : int
        How many rounds.

    Returns
    -------
    pursuit : Pursuit
        As many points; their output error is at most that of the start.
    """
    r = len(start.order)
    best = start
    least = output_error(start, problem.values)
    diagonal = problem.diagonal()
    known = dict(zip(start.order.tolist(), start.L[:, start.order].T @ start.L))

    def cached_column(i: int) -> Array:
        if i not in known:
            known[i] = problem.column(i)
        return known[i]

    for q in _sizes(r, n_rounds):
        kept = drop_points(best.triangle, problem.values[best.order], q)
        trial = greedy_pursuit(
            cached_column,
            diagonal,
            problem.values,
            problem.squared_norm,
            r,
            first=best.order[kept],
        )
        error = output_error(trial, problem.values)
        if len(trial.order) == r and error < least:
            best, least = trial, error
    return best


def _sizes(r: int, n: int) -> list[int]:
    """At most n numbers from r / 2 down to 1, about in equal ratios; a second time would try the same."""
    sizes: list[int] = []
    for wanted in np.geomspace(1, max(r // 2, 1), n).round().astype(int):
        sizes.append(max(int(wanted), sizes[-1] + 1 if sizes else 1))
    return [q for q in sizes[::-1] if q <= max(r // 2, 1)]


def output_error(pursuit: Pursuit, values: Array) -> float:
    """Squared error of the values at all candidates, fitted by the chosen points and a constant."""
    F = pursuit.L - pursuit.L.mean(axis=1)[:, None]
    centred = values - values.mean(axis=0)
    A = F @ F.T
    A[np.diag_indices_from(A)] += RIDGE * float(A.trace()) / len(A) + np.finfo(float).tiny
    fitted = solve_triangular(cholesky(A, lower=True), F @ centred, lower=True)
    return float((centred**2).sum() - (fitted**2).sum())


def drop_points(triangle: Array, c: Array, n_dropped: int) -> NDArray[np.intp]:
    r"""Places of the points left when, one after the other, those that explain least are dropped.

    Without the j-th point the squared error rises by :math:`|b_j|^2 / P_{jj}`, b the coefficients and P
    the inverse of the kernel matrix, whose lower Cholesky factor is ``triangle``.
    """
    r = len(triangle)
    P = cho_solve((triangle, True), np.eye(r))
    b = P @ c
    left = np.ones(r, dtype=bool)
    for _ in range(n_dropped):
        places = np.flatnonzero(left)
        j = places[((b[places] ** 2).sum(axis=1) / P.diagonal()[places]).argmin()]
        p = P[j] / np.sqrt(P[j, j])
        b -= np.outer(p, b[j] / np.sqrt(P[j, j]))
        P -= np.outer(p, p)
        left[j] = False
    return np.flatnonzero(left)
