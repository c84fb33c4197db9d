"""Sums of absolute values, minimised exactly: a primal-dual interior-point method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import lapack

from isthmus._linalg import Array

_BOUNDARY = 0.9995  # share of the way to the boundary of the feasible set that a step may go
_SHARE_OF_START = 1e-6  # the value that counts where residuals vanish, as a share of the first
_SINGULAR_JITTER = 1e-14  # of the diagonal of the normal equations, where they are singular


class Design(Protocol):
    """A matrix J of N rows, known by its products."""

    def times(self, x: Array) -> Array:
        """J x, (N,)."""

    def transpose_times(self, v: Array) -> Array:
        """J'v, (m,)."""

    def normal(self, w: Array) -> Array:
        """J' diag(w) J, (m, m)."""


class Kinked(NamedTuple):
    """What was found: the point, its value, how far that is above the optimum at most, and steps."""

    point: Array
    value: float
    gap: float
    n_iter: int
    converged: bool


def minimise_kinked(
    design: Design,
    target: Array,
    heights: Array,
    linear: Array,
    quadratic: Array,
    *,
    tol: float = 1e-10,
    max_iter: int = 60,
) -> Kinked:
    r"""Minimise a sum of absolute values with a quadratic by Mehrotra's predictor and corrector.

    .. math:: \min_x \sum_{k i} h_{ki} |t_{ki} - (Jx)_i| + l^\top x + \tfrac12 x^\top P x

    The duals :math:`-h \le v \le h` of the residuals e are kept strictly inside, with
    :math:`e = a - b`, :math:`a (h - v) = b (h + v) = \mu`, and :math:`\mu` goes to 0
    ([M1992]_, [PK1997]_). A step costs one normal matrix :math:`J^\top W J` and its Cholesky factor.

    Parameters
    ----------
    design : Design
        J, (N, m).
    target, heights : ndarray of shape (K, N)
        t and h > 0; several absolute values of one row of J, as those of a tube, share its products.
    linear, quadratic : ndarray of shape (m,) and (m, m)
        l and P, positive semidefinite.
    tol : float, default=1e-10
        Ends when the gap between value and lower bound is no more than this share of the sum of
        absolute values.
    max_iter : int, default=60
        Largest number of steps.
    """
    # At the end multipliers vanish: what overflows then ends the loop, with the best point so far.
    with np.errstate(over="ignore", divide="ignore", invalid="ignore", under="ignore"):
        return _follow_centre(design, target, heights, linear, quadratic, tol, max_iter)


def _follow_centre(
    design: Design,
    target: Array,
    heights: Array,
    linear: Array,
    quadratic: Array,
    tol: float,
    max_iter: int,
) -> Kinked:
    x = np.zeros(len(linear))
    spread = float(np.abs(target).mean()) or 1.0
    up = np.maximum(target, 0.0) + spread
    down = np.maximum(-target, 0.0) + spread
    v, first = np.zeros_like(target), 0.0
    best = Kinked(x, np.inf, np.inf, 0, False)
    for step in range(max_iter + 1):
        fitted = design.times(x)
        residual = target - fitted
        pull = quadratic @ x
        value = float((heights * np.abs(residual)).sum() + linear @ x + 0.5 * x @ pull)
        dual = linear + pull - design.transpose_times(v.sum(axis=0))
        # With dual = 0 the first sum is the gap; what is left of dual counts by the way still to go.
        gap = float((heights * np.abs(residual) - v * residual).sum() + np.abs(dual * x).sum())
        if not np.isfinite(gap):
            break
        size = float((heights * np.abs(residual)).sum())
        first = size if step == 0 else first
        if value <= best.value:
            best = Kinked(x, value, gap, step, gap <= tol * (size + _SHARE_OF_START * first))
        if best.converged or step == max_iter:
            break
        above, below = heights - v, heights + v
        curved = up / above + down / below
        try:
            solve = _solver(design.normal((1.0 / curved).sum(axis=0)) + quadratic)
        except (np.linalg.LinAlgError, ValueError):  # not definite, or not finite
            break

        at = _Step(design, solve, residual, dual, up, down, above, below, curved)
        dx, dv, d_up, d_down = at.towards(0.0, 0.0)
        length = _longest((up, d_up), (down, d_down), (above, -dv), (below, dv))
        mu = float((up * above).sum() + (down * below).sum()) / (2 * target.size)
        after = ((up + length * d_up) * (above - length * dv)).sum()
        after += ((down + length * d_down) * (below + length * dv)).sum()
        centre = mu * (float(after) / (2 * target.size) / mu) ** 3
        dx, dv, d_up, d_down = at.towards(centre + d_up * dv, centre - d_down * dv)
        length = _longest((up, d_up), (down, d_down), (above, -dv), (below, dv))
        length = min(1.0, _BOUNDARY * length)
        x = x + length * dx
        v = v + length * dv
        up, down = up + length * d_up, down + length * d_down
    return best


@dataclass
class _Step:
    """One linearisation of the conditions of optimality."""

    design: Design
    solve: Callable[[Array], Array]
    residual: Array
    dual: Array
    up: Array
    down: Array
    above: Array
    below: Array
    curved: Array

    def towards(
        self, up_goal: Array | float, down_goal: Array | float
    ) -> tuple[Array, Array, Array, Array]:
        """Changes of x, v, a and b after which the products a (h - v) and b (h + v) are the goals."""
        shift_up = up_goal / self.above - self.up
        shift_down = down_goal / self.below - self.down
        rest = self.residual - self.up + self.down - shift_up + shift_down
        dx = self.solve(self.design.transpose_times((rest / self.curved).sum(axis=0)) - self.dual)
        dv = (rest - self.design.times(dx)) / self.curved
        d_up = shift_up + self.up * dv / self.above
        return dx, dv, d_up, shift_down - self.down * dv / self.below


def _solver(matrix: Array) -> Callable[[Array], Array]:
    factor, info = lapack.dpotrf(matrix, lower=1)
    if info:
        diagonal = matrix.diagonal()
        # Near the optimum the weights spread over many decades, and the factorisation can fail.
        matrix = matrix + np.diag(_SINGULAR_JITTER * diagonal.max() + 1e-8 * diagonal)
        factor, info = lapack.dpotrf(matrix, lower=1)
        if info:
            raise np.linalg.LinAlgError("the normal equations are not definite")
    return lambda rhs: lapack.dpotrs(factor, rhs, lower=1)[0]


def _longest(*pairs: tuple[Array, Array]) -> float:
    """The longest step, at most 1 / _BOUNDARY, that leaves all first members positive."""
    length = 1.0 / _BOUNDARY
    for positive, change in pairs:
        worst = float((-change / positive).max())
        if worst > 0:
            length = min(length, 1.0 / worst)
    return length
