"""The whole movement at once: Gauss-Newton over all samples with limits of position, speed, acceleration.

.. math::
    \\min_q \\sum_i |r_i(q_i)|^2 + \\tau^4 \\sum_i |\\ddot q_i|^2 \\quad\\text{s.t.}\\quad
    l \\le q_i \\le h,\\; |\\dot q_i| \\le v,\\; |\\ddot q_i| \\le a

Each sample is tied to the next two alone, so that every linear system has a band of twice the number of
joints. The limits enter each quadratic programme by a primal-dual interior point method (Mehrotra 1992),
whose systems have the same band.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve_banded, cholesky_banded

Array = NDArray[np.float64]

GAIN = 1e-3  # relative decrease of the cost at which iterations end
MARGIN = 1e-9  # share by which limits are kept from being met exactly, against rounding


@dataclass(frozen=True)
class PathLimits:
    """Bounds on a path: rows of positions, of first and of second differences, (n_joints,) each."""

    low: Array
    high: Array
    step: Array  # |q[i+1] - q[i]|
    bend: Array  # |q[i+2] - 2 q[i+1] + q[i]|

    def inside(self, q: Array) -> bool:
        """Whether a path keeps all bounds."""
        return bool(
            (q >= self.low).all()
            and (q <= self.high).all()
            and (np.abs(np.diff(q, axis=0)) <= self.step).all()
            and (np.abs(np.diff(q, n=2, axis=0)) <= self.bend).all()
        )


@dataclass(frozen=True)
class PathResult:
    """A path, its cost, whether the steps had become small, and their number."""

    q: Array
    value: float
    converged: bool
    n_iter: int


Rows = Callable[
    [Array], tuple[Array, Array, Array]
]  # cost (n,), gradient (n, m), Hessian (n, m, m)


def solve_path(
    rows: Rows,
    q: Array,
    bend_weight: float,
    limits: PathLimits,
    *,
    max_iter: int = 20,
    tol: float = 1e-3,
) -> PathResult:
    """Minimise the sum of the rows' costs and of the squared second differences inside the limits.

    Parameters
    ----------
    rows : callable
        Returns costs, halves of their gradients and halves of their Gauss-Newton Hessians.
    q : ndarray of shape (n, n_joints)
        Where to begin; need not keep the limits.
    bend_weight : float
        Weight of the squared second differences.
    limits : PathLimits
        The limits.
    max_iter, tol : int, float
        Most iterations, and the step in radians below which they end; a relative decrease of the cost
        below 1e-3 ends them too.
    """
    inside = limits.inside(q)
    damping = 1e-3
    cost, g, H = rows(q)
    value = float(cost.sum()) + bend_weight * _bends(q)
    converged = False
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        gradient = g + bend_weight * _second_transposed(np.diff(q, n=2, axis=0))
        trial = _newton_trial(q, gradient, H, bend_weight, damping, limits, inside)
        size = float(np.abs(trial - q).max())
        cost_new, g_new, H_new = rows(trial)
        new = float(cost_new.sum()) + bend_weight * _bends(trial)
        # The first path inside the limits is taken whatever it costs: all later ones are compared to it.
        if new <= value or not inside:
            gain = value - new
            q, value, g, H = trial, new, g_new, H_new
            damping = max(damping / 5, 1e-9)
            if inside and (size < tol or 0 <= gain < GAIN * value):
                converged = True
                break
            inside = True
        elif size < tol or damping > 1e6:
            converged = size < tol
            break
        else:
            damping *= 10
    return PathResult(q, value, converged, n_iter)


def _newton_trial(
    q: Array,
    gradient: Array,
    H: Array,
    bend_weight: float,
    damping: float,
    limits: PathLimits,
    inside: bool,
) -> Array:
    """The minimiser of the quadratic model: without limits if it keeps them, else with them."""
    n, m = q.shape
    damped = H + damping * np.eye(m)
    w1, w2 = np.zeros((n - 1, m)), np.full((max(n - 2, 0), m), bend_weight)
    factor = cholesky_banded(assemble(damped, w1, w2), lower=True, check_finite=False)
    step = -_solve(factor, gradient)
    if limits.inside(q + step):
        return q + step
    return _interior_point(q, gradient, damped, bend_weight, limits, q + step)


def assemble(H: Array, w1: Array, w2: Array) -> Array:
    """Return the lower band of ``blockdiag(H) + D1' diag(w1) D1 + D2' diag(w2) D2``."""
    n, m = H.shape[:2]
    band = np.zeros((2 * m + 1, n, m))
    band[0] = H[:, range(m), range(m)]
    for d in range(1, m):
        band[d, :, : m - d] = np.diagonal(H, offset=-d, axis1=1, axis2=2)
    band[0, :-1] += w1
    band[0, 1:] += w1
    band[m, :-1] -= w1
    if n > 2:
        band[0, :-2] += w2
        band[0, 1:-1] += 4 * w2
        band[0, 2:] += w2
        band[m, :-2] -= 2 * w2
        band[m, 1:-1] -= 2 * w2
        band[2 * m, :-2] += w2
    return band.reshape(2 * m + 1, n * m)


def _solve(factor: Array, right: Array) -> Array:
    flat = cho_solve_banded((factor, True), right.ravel(), check_finite=False)
    return flat.reshape(right.shape)


def _bends(q: Array) -> float:
    return float((np.diff(q, n=2, axis=0) ** 2).sum())


def _first_transposed(x: Array) -> Array:
    out = np.zeros((len(x) + 1, *x.shape[1:]))
    out[:-1] -= x
    out[1:] += x
    return out


def _second_transposed(x: Array) -> Array:
    out = np.zeros((len(x) + 2, *x.shape[1:]))
    out[:-2] += x
    out[1:-1] -= 2 * x
    out[2:] += x
    return out


def _interior_point(
    q: Array,
    gradient: Array,
    H: Array,
    bend_weight: float,
    limits: PathLimits,
    wish: Array,
    max_iter: int = 40,
) -> Array:
    """Minimise the quadratic model about ``q`` inside the limits; every iterate keeps them strictly."""
    n, m = q.shape
    operators: list[tuple[Any, Any, Array, Array]] = [
        (lambda x: x, lambda x: x, limits.low, limits.high),
        (lambda x: np.diff(x, axis=0), _first_transposed, -limits.step, limits.step),
        (lambda x: np.diff(x, n=2, axis=0), _second_transposed, -limits.bend, limits.bend),
    ]
    operators = [op for op in operators if np.isfinite(op[3]).any() and len(op[0](q)) > 0]
    y = _strictly_inside(wish, operators, limits)
    slack = [(A(y) - low, high - A(y)) for A, _, low, high in operators]
    scale = max(float(np.abs(gradient).max()), 1e-8)
    mu = 0.1 * scale * min(float(min(a.min(), b.min())) for a, b in slack) + 1e-6 * scale
    dual = [(mu / a, mu / b) for a, b in slack]
    number = sum(a.size + b.size for a, b in slack)
    for _ in range(max_iter):
        d = y - q
        residual = gradient + np.einsum("nij,nj->ni", H, d)
        residual += bend_weight * _second_transposed(np.diff(d, n=2, axis=0))
        for (_, At, _, _), (za, zb) in zip(operators, dual):
            residual -= At(za - zb)
        mu = sum(float((a * za).sum() + (b * zb).sum()) for (a, b), (za, zb) in zip(slack, dual))
        mu /= number
        if mu < 1e-6 * scale and np.abs(residual).max() < 1e-3 * scale:
            break
        weights = [za / a + zb / b for (a, b), (za, zb) in zip(slack, dual)]
        try:
            factor = _factor(H, weights, operators, bend_weight, n, m)
        except np.linalg.LinAlgError:  # rounding; the last iterate keeps the limits
            break
        targets = [(np.zeros_like(a), np.zeros_like(b)) for a, b in slack]
        move, change = _direction(factor, residual, operators, slack, dual, targets)
        reach = _longest(slack, dual, operators, move, change, 1.0)
        ahead = sum(
            float(((a + reach[0] * s) * (za + reach[1] * ca)).sum())
            + float(((b - reach[0] * s) * (zb + reach[1] * cb)).sum())
            for (a, b), (za, zb), (ca, cb), s in zip(
                slack, dual, change, [A(move) for A, *_ in operators]
            )
        )
        sigma = min(1.0, (max(ahead, 0.0) / number / mu) ** 3)
        targets = []
        for (A, *_), (ca, cb) in zip(operators, change):
            s = A(move)
            targets.append((sigma * mu - s * ca, sigma * mu + s * cb))
        move, change = _direction(factor, residual, operators, slack, dual, targets)
        primal, own = _longest(slack, dual, operators, move, change, 0.99)
        y = y + primal * move
        slack = [(A(y) - low, high - A(y)) for A, _, low, high in operators]
        dual = [(za + own * ca, zb + own * cb) for (za, zb), (ca, cb) in zip(dual, change)]
    return y


def _factor(
    H: Array, weights: list[Array], operators: list, bend_weight: float, n: int, m: int
) -> Array:
    w1, w2 = np.zeros((n - 1, m)), np.full((max(n - 2, 0), m), bend_weight)
    whole = H.copy()
    for (_, _, _, _), weight in zip(operators, weights):
        if len(weight) == n:
            whole[:, range(m), range(m)] += weight
        elif len(weight) == n - 1:
            w1 = w1 + weight
        else:
            w2 = w2 + weight
    return cholesky_banded(assemble(whole, w1, w2), lower=True, check_finite=False)


def _direction(
    factor: Array, residual: Array, operators: list, slack: list, dual: list, targets: list
) -> tuple[Array, list[tuple[Array, Array]]]:
    """One Newton step for complementarity products equal to the targets."""
    right = -residual
    for (_, At, _, _), (a, b), (za, zb), (ta, tb) in zip(operators, slack, dual, targets):
        right = right + At((ta / a - za) - (tb / b - zb))
    move = _solve(factor, right)
    change = []
    for (A, _, _, _), (a, b), (za, zb), (ta, tb) in zip(operators, slack, dual, targets):
        s = A(move)
        change.append((ta / a - za - za / a * s, tb / b - zb + zb / b * s))
    return move, change


def _longest(
    slack: list, dual: list, operators: list, move: Array, change: list, share: float
) -> tuple[float, float]:
    """The longest steps, at most one, that keep slacks and multipliers positive."""
    primal, own = 1.0, 1.0
    for (A, *_), (a, b), (za, zb), (ca, cb) in zip(operators, slack, dual, change):
        s = A(move)
        primal = min(primal, share * _ratio(a, s), share * _ratio(b, -s))
        own = min(own, share * _ratio(za, ca), share * _ratio(zb, cb))
    return primal, own


def _ratio(value: Array, change: Array) -> float:
    worst = float((-change / value).max())
    return 1.0 / worst if worst > 1e-300 else np.inf


def _strictly_inside(wish: Array, operators: list, limits: PathLimits) -> Array:
    """A path towards the wish, drawn to one that rests until every bound has room."""
    middle = (limits.low + limits.high) / 2
    still = middle + 0.9 * (np.clip(wish.mean(axis=0), limits.low, limits.high) - middle)
    share = 1.0
    for A, _, low, high in operators:
        a, x = A(np.broadcast_to(still, wish.shape)), A(wish)
        up, down = high - a, a - low
        share = min(share, float(np.min(up / np.maximum(x - a, 1e-300))))
        share = min(share, float(np.min(down / np.maximum(a - x, 1e-300))))
    return still + 0.9 * share * (wish - still)
