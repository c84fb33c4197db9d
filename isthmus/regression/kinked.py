"""Maps under losses with kinks, to the last kink: an interior-point method where rounding would be slow.

Without a binding rank the outputs come apart, and each is a convex problem that is solved exactly. With
one, a map is improved by solving its linearisation in the factors exactly, near enough to hold
([B1985]_).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus._linalg import Array
from isthmus._solvers import Reason, SolverResult, minimise_kinked
from isthmus.losses import PiecewiseLinear
from isthmus.regression.rank_descent import RankProblem, balance

_MOST_INPUTS = 1000  # coordinates up to which normal equations are cheaper than very many gradients
_MOST_PRODUCTS, _MOST_NUMBERS = 1e8, 600  # of a linearisation: n q (k + r + 1)^2, and its unknowns
# Relative decrease that ends; decrease over the promised one that is too little, and that is good.
_ENOUGH, _POOR, _GOOD = 1e-7, 0.1, 0.7
_DAMPING = 0.03  # of the first step, in units of the root of the number of residuals
_LINEARISATIONS = 40  # most of them: near the end the steps converge quadratically
_INTERIOR_STEPS = 60  # about thirty are taken as a rule; a method that needs more has stalled
_VANISHED = 1e-8  # of the value of the median: a fit that interpolates


def outputs_come_apart(problem: RankProblem, rank: int) -> bool:
    """Whether the rank does not bind and the loss is one whose outputs are solved one by one."""
    k, q = problem.rows.shape[1], problem.Y.shape[1]
    kinked = isinstance(problem.loss, PiecewiseLinear) and problem.penalty.pull is None
    return kinked and 0 < k <= _MOST_INPUTS and rank >= min(k, q)


def fit_outputs(
    problem: RankProblem, max_iter: int = _INTERIOR_STEPS
) -> tuple[tuple[Array, Array, Array], SolverResult]:
    """The optimum without a rank constraint, output by output, in at most ``max_iter`` steps each."""
    n, k = problem.rows.shape
    q = problem.Y.shape[1]
    kinks, heights, slope, _ = problem.loss.pieces()  # type: ignore[attr-defined]
    design = _Rows(np.column_stack([problem.rows, np.ones(n)]))
    w = np.ones(n) if problem.weights is None else problem.weights
    v = np.ones(q) if problem.output_weight is None else problem.output_weight
    shifts = np.array(kinks)[:, None]
    h = np.multiply.outer(heights, w)
    linear = -slope * design.transpose_times(w)
    ridge = problem.penalty.alpha * np.append(problem.g**2, 0.0)
    M = np.zeros((k + 1, q))
    n_iter = 0
    gap = 0.0
    converged = True
    for j in np.flatnonzero(v > 0):
        # Near the middle of the output, so that the start of the method is not far off.
        middle = float(np.median(problem.Y[:, j]))
        found = minimise_kinked(
            design, problem.Y[:, j] - middle - shifts, h, linear, np.diag(ridge / v[j]),
            max_iter=min(max_iter, _INTERIOR_STEPS),
        )  # fmt: skip
        M[:, j] = found.point
        M[-1, j] += middle
        n_iter = max(n_iter, found.n_iter)
        gap = gap + v[j] * found.gap
        # Loss and ridge are no less than 0: a value that has gone there leaves no gap.
        size = problem.loss.value(problem.Y[:, j], np.full(n, middle), problem.weights)
        value = problem.loss.value(problem.Y[:, j], design.times(M[:, j]), problem.weights)
        value += 0.5 * float(ridge @ M[:, j] ** 2) / v[j]
        converged &= found.converged or value <= _VANISHED * size
    U, s, Vt = np.linalg.svd(M[:-1], full_matrices=False)
    reason = Reason.DECREASE if converged else Reason.MAX_ITER
    point = (U * s, Vt.T, M[-1])
    value = problem.objective(*point)
    return point, SolverResult(M.ravel(), value, gap, n_iter, converged, reason)


class _Rows:
    """A matrix that is held as it is."""

    def __init__(self, rows: Array) -> None:
        self.rows = rows

    def times(self, x: Array) -> Array:
        return self.rows @ x

    def transpose_times(self, v: Array) -> Array:
        return v @ self.rows

    def normal(self, w: Array) -> Array:
        return (self.rows * w[:, None]).T @ self.rows


def can_sharpen(problem: RankProblem, rank: int) -> bool:
    n, k = problem.rows.shape
    q = problem.Y.shape[1]
    unknowns = (k + q) * rank + q
    products = n * q * (k + rank + 1) ** 2
    kinked = isinstance(problem.loss, PiecewiseLinear) and problem.penalty.pull is None
    counts = problem.output_weight is None or bool((problem.output_weight > 0).all())
    return kinked and counts and k > 0 and unknowns <= _MOST_NUMBERS and products <= _MOST_PRODUCTS


def sharpen(
    problem: RankProblem, start: tuple[Array, Array, Array], max_iter: int
) -> tuple[tuple[Array, Array, Array], SolverResult]:
    r"""From a map near a minimum to the minimum itself, where many entries are fitted exactly.

    .. math::
        \min_{\delta} \sum_{ij} \rho\big(e_{ij} - (Z \delta_A D^\top + Z A \delta_D^\top
        + \delta_b)_{ij}\big) + \text{ridge} + \tfrac\lambda2 \|\delta\|^2

    A polyhedral function of a smooth map has sharp minima as a rule, to which these steps converge
    quadratically. :math:`\lambda` shrinks while steps keep what the linearisation promises.
    """
    A, D = balance(*start[:2])
    b = start[2]
    value = problem.objective(A, D, start[2])
    kinks, heights, slope, _ = problem.loss.pieces()  # type: ignore[attr-defined]
    w = np.ones(len(problem.Y)) if problem.weights is None else problem.weights
    v = np.ones(len(D)) if problem.output_weight is None else problem.output_weight
    mass = np.multiply.outer(w, v).ravel()
    h = np.multiply.outer(heights, mass)
    shifts = np.array(kinks)[:, None]
    damping = _DAMPING * float(np.sqrt(problem.Y.size))
    promise, steps, converged = np.inf, 0, False
    most = min(max_iter, _LINEARISATIONS)
    while steps < most and not converged:
        design = _Linearisation(problem.rows, A, D)
        target = (problem.Y - (problem.rows @ A) @ D.T - b).ravel() - shifts
        _, by_A, by_D = problem._penalise(A, D)
        linear = -slope * design.transpose_times(mass)
        linear[: A.size] += np.ravel(by_A)
        linear[A.size : A.size + D.size] += np.ravel(by_D)
        ridge = design.ridge(problem.penalty.alpha, problem.g)
        while steps < most:
            steps += 1
            model = minimise_kinked(
                design, target, h, linear, ridge + damping * np.eye(len(ridge)),
                tol=1e-2 * min(0.1, max(promise / value if value else 0.0, _ENOUGH)),
            )  # fmt: skip
            promise = float((h * np.abs(target)).sum()) - model.value
            converged = promise <= _ENOUGH * abs(value)
            dA, dD, db = design.split(model.point)
            moved = problem.objective(A + dA, D + dD, b + db)
            kept = (value - moved) / promise if promise > 0 else 0.0
            damping *= 0.1 if kept > _GOOD else 10.0 if kept < _POOR else 1.0
            # What the linearisation promised and the step did not keep is about what is left.
            converged |= kept > _GOOD and abs(kept - 1) * promise <= _ENOUGH * abs(value)
            if kept > _POOR or (converged and moved < value):
                (A, D), b, value = balance(A + dA, D + dD), b + db, moved
                break
            if converged:
                break
    reason = Reason.DECREASE if converged else Reason.MAX_ITER
    point = np.concatenate([A.ravel(), D.ravel(), b])
    return (A, D, b), SolverResult(point, value, max(promise, 0.0), steps, converged, reason)


class _Linearisation:
    """The derivative of Z A D' + b by its factors, (n q, (k + q) r + q), by blocks."""

    def __init__(self, rows: Array, A: Array, D: Array) -> None:
        self.rows, self.A, self.D, self.T = rows, A, D, rows @ A
        self.all = np.hstack([rows, self.T, np.ones((len(rows), 1))])
        self.ends = A.size, A.size + D.size
        # The unknowns of each output: its row of D, and its entry of b.
        q, last = len(D), self.ends[1]
        own = np.arange(self.ends[0], last).reshape(D.shape)
        self.own = np.column_stack([own, np.arange(last, last + q)])

    def split(self, x: Array) -> tuple[Array, Array, Array]:
        first, last = self.ends
        return x[:first].reshape(self.A.shape), x[first:last].reshape(self.D.shape), x[last:]

    def times(self, x: Array) -> Array:
        dA, dD, db = self.split(x)
        return np.asarray((self.rows @ dA) @ self.D.T + self.T @ dD.T + db).ravel()

    def transpose_times(self, v: Array) -> Array:
        V = v.reshape(len(self.rows), -1)
        by_A, by_D = self.rows.T @ (V @ self.D), V.T @ self.T
        return np.concatenate([by_A.ravel(), by_D.ravel(), V.sum(axis=0)])

    def normal(self, w: Array) -> Array:
        W = w.reshape(len(self.rows), -1)
        return self._assemble((self.all.T * W.T[:, None]) @ self.all)

    def ridge(self, alpha: float, g: Array) -> Array:
        """The same for the ridge, which is the squared loss of rows root(alpha) g of zeros."""
        root = np.sqrt(alpha) * g
        extra = np.hstack([np.diag(root), root[:, None] * self.A, np.zeros((len(g), 1))])
        products: Any = extra.T @ extra
        return self._assemble(np.broadcast_to(products, (len(self.D), *products.shape)))

    def _assemble(self, products: Array) -> Array:
        """From the weighted products of [Z, ZA, 1] for each output to those of all unknowns."""
        (k, r), q, D = self.A.shape, len(self.D), self.D
        ZZ = products[:, :k, :k]
        ZT = products[:, :k, k:-1]
        Z1 = products[:, :k, -1]
        DD = (D[:, :, None] * D[:, None]).reshape(q, r * r)
        AA = (DD.T @ ZZ.reshape(q, k * k)).reshape(r, r, k, k).transpose(2, 0, 3, 1)
        AD = np.einsum("jr,jas->arjs", D, ZT).reshape(k * r, q * r)
        Ab = np.einsum("jr,ja->arj", D, Z1).reshape(k * r, q)
        out = np.zeros((k * r + q * r + q, k * r + q * r + q))
        first, last = self.ends
        out[:first, :first] = AA.reshape(k * r, k * r)
        out[:first, first:last], out[:first, last:] = AD, Ab
        out[first:last, :first], out[last:, :first] = AD.T, Ab.T
        out[self.own[:, :, None], self.own[:, None]] = products[:, k:, k:]
        return out
