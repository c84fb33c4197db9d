"""A solver of the following problem that needs quadratic programmes: sequential, in a trust region."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isthmus.applications.imitation.execution import FollowProblem
from isthmus.applications.imitation.extras import need

Array = NDArray[np.float64]

_SLACK = 20.0  # price of a metre of slack, in l1
# Keeps the Hessian positive definite, which the solver of the quadratic programme needs.
_EPS = 1e-8
_EQUAL = 5  # a constraint that holds with equality, for daqp
_TOLERANCES = {"primal_tol": 1e-12, "dual_tol": 1e-12}


class TrustQP:
    """Sequential quadratic programming in a box, with slack on the tip and an l1 merit.

    Hessian of Gauss and Newton, one call of daqp an iteration.
    """

    def __init__(self, problem: FollowProblem, max_iter: int = 100):
        self.daqp = need("daqp")
        self.problem, self.max_iter = problem, max_iter

    def __call__(self, start: Array) -> Array:
        f, q, box = self.problem, start, 0.5
        merit = self._merit(q)
        for _ in range(self.max_iter):
            step, promised = self._step(q, box)
            if np.abs(step).max() < 1e-10 or promised < 1e-15:
                break
            trial = f.arm.clip(q + step)
            new = self._merit(trial)
            ratio = (merit - new) / promised
            if ratio > 1e-4:
                q, merit = trial, new
                if ratio > 0.75:
                    box = min(2 * box, 1.0)
            else:
                box = 0.25 * float(np.abs(step).max())
                if box < 1e-9:
                    break
        return self._polished(q)

    def _programme(self, H: Array, g: Array, A: Array, b: Array, bounds: Array) -> Array:
        """Minimise x'Hx/2 + g'x with A x = b within bounds; near an undefined normal H is made heavier."""
        size = float(np.trace(H))
        low, high = (np.concatenate([side, b]) for side in bounds)
        kinds = np.repeat(np.array([0, _EQUAL], dtype=np.intc), [len(H), len(b)])
        for share in (0.0, 1e-12, 1e-9, 1e-6):
            heavier = H + share * size * np.eye(len(H))
            x, _, status, _ = self.daqp.solve(heavier, g, A, high, low, kinds, **_TOLERANCES)
            if status == 1:
                return x
        return np.zeros(len(H))

    def _polished(self, q: Array) -> Array:
        """Last micrometres of the tip by shortest steps: the merit stalls where the tip's path is bent."""
        f = self.problem
        for _ in range(5):
            miss = f.miss(q)
            if not 1e-9 < np.linalg.norm(miss) < 1e-3:
                break
            trial = f.arm.clip(q + np.linalg.pinv(f.J, rcond=1e-6) @ miss)
            if np.linalg.norm(f.miss(trial)) > 0.5 * np.linalg.norm(miss):
                break
            q = trial
        return q

    def _merit(self, q: Array) -> float:
        return self.problem.value(q) + _SLACK * float(np.abs(self.problem.miss(q)).sum())

    def _step(self, q: Array, box: float) -> tuple[Array, float]:
        f, n = self.problem, len(q)
        f.evaluate(q)
        g, miss = f.gradient(q), f.miss(q)
        H = 2 * f.Jn.T @ f.Jn + 2 * (f.alpha + _EPS) * np.eye(n)
        G = np.zeros((n + 6, n + 6))
        G[:n, :n] = H
        G[n:, n:] = _EPS * np.eye(6)
        low = np.maximum(f.arm.limits[:, 0] - q, -box)
        high = np.minimum(f.arm.limits[:, 1] - q, box)
        bounds = np.array([[*low, *np.zeros(6)], [*high, *np.full(6, np.inf)]])
        A = np.hstack([f.J, np.eye(3), -np.eye(3)])
        x = self._programme(G, np.concatenate([g, np.full(6, _SLACK)]), A, miss, bounds)
        step = np.clip(x[:n], low, high)
        left = float(np.abs(miss - f.J @ step).sum())
        before = _SLACK * float(np.abs(miss).sum())
        promised = -(g @ step + 0.5 * step @ H @ step) + before - _SLACK * left
        return step, float(promised)
