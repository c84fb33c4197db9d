"""The whole movement at once: Gauss-Newton over all samples with limits of position, speed, acceleration.

.. math::
    \\min_q \\sum_i |r_i(q_i)|^2 + \\tau^4 \\sum_i |\\ddot q_i|^2 \\quad\\text{s.t.}\\quad
    l \\le q_i \\le h,\\; |\\dot q_i| \\le v,\\; |\\ddot q_i| \\le a

Each sample is tied to the next two alone, so that every linear system has a band of twice the number of
joints. Limits that bind enter by a primal-dual interior point method (Wright 1997) whose systems have the
same band: one Gauss-Newton step and one step of the barrier at a time, so that every iterate keeps them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve_banded, cholesky_banded

Array = NDArray[np.float64]

GAIN = 1e-3  # relative decrease of the cost at which iterations end
_BARRIER = 3.0  # share of the cost that the barrier begins with
_NEAR_BARRIER = 0.1  # the same for a path that kept the limits to begin with
_CENTRE = (
    0.1,
    0.8,
)  # share of the barrier that is left after a step that went far, after a short one
_FAR = 0.1  # share of a step that is far
_ROOM = 0.6  # share of a movement that fits the limits to begin with
_TO_BOUNDARY = 0.99  # share of the way to the nearest limit that a step may go
_MOST_REFUSED = 8  # times that a step is tried again with more damping
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
    """A path, its cost, whether the steps had become small, their number, multipliers of binding limits."""

    q: Array
    value: float
    converged: bool
    n_iter: int
    dual: Array | None = None


Rows = Callable[
    [Array], tuple[Array, Array, Array]
]  # cost (n,), gradient (n, m), Hessian (n, m, m)


def solve_path(
    rows: Rows,
    start: Array | PathResult,
    bend_weight: float,
    limits: PathLimits,
    *,
    max_iter: int = 60,
    tol: float = 1e-3,
) -> PathResult:
    """Minimise the sum of the rows' costs and of the squared second differences inside the limits.

    Parameters
    ----------
    rows : callable
        Returns costs, halves of their gradients and halves of their Gauss-Newton Hessians.
    start : ndarray of shape (n, n_joints) or PathResult
        Where to begin, which need not keep the limits; or the solution of a problem like this one.
    bend_weight : float
        Weight of the squared second differences.
    limits : PathLimits
        The limits.
    max_iter, tol : int, float
        Most iterations, and the step in radians below which they end; a relative decrease of the cost
        below 1e-3 ends them too.
    """
    q, dual = (start.q, start.dual) if isinstance(start, PathResult) else (start, None)
    path = _Path(rows, q, bend_weight)
    if dual is not None:
        return _solve_inside(path, dual, limits, 0, max_iter, tol)
    inside = limits.inside(q)
    damping = 1e-3
    refused = 0
    for n_iter in range(1, max_iter + 1):
        step = path.step(damping)
        if not limits.inside(path.q + step):
            barrier = _NEAR_BARRIER if inside else _BARRIER
            near = _strictly_inside(path.q if inside else path.q + step, limits, inside)
            return _solve_inside(path.at(near), barrier, limits, n_iter, max_iter, tol)
        trial = path.at(path.q + step)
        size = float(np.abs(step).max())
        # The first path inside the limits is taken whatever it costs: all later ones are compared to it.
        if trial.value <= path.value or not inside:
            small = size < tol or path.value - trial.value < GAIN * trial.value
            path = trial
            damping = max(damping / 5, 1e-9)
            refused = 0
            if inside and small:
                return PathResult(path.q, path.value, True, n_iter)
            inside = True
        elif size < tol or refused == _MOST_REFUSED:
            return PathResult(path.q, path.value, size < tol, n_iter)
        else:
            damping, refused = 10 * damping, refused + 1
    return PathResult(path.q, path.value, False, max_iter)


class _Path:
    """A path with its cost, half the gradient and the blocks of half the Gauss-Newton Hessian."""

    def __init__(self, rows: Rows, q: Array, bend_weight: float):
        self.rows, self.q, self.bend_weight = rows, q, bend_weight
        cost, g, self.H = rows(q)
        bends = np.diff(q, n=2, axis=0)
        self.value = float(cost.sum()) + bend_weight * float((bends**2).sum())
        self.gradient = g + bend_weight * _second_transposed(bends)

    def at(self, q: Array) -> _Path:
        return _Path(self.rows, q, self.bend_weight)

    def step(self, damping: float) -> Array:
        """The way to the minimum of the quadratic model."""
        n, m = self.q.shape
        w1 = np.zeros((n - 1, m))
        w2 = np.full((max(n - 2, 0), m), self.bend_weight)
        return -_solve(_factor(self.H, damping, w1, w2), self.gradient)


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


def _second_transposed(x: Array) -> Array:
    out = np.zeros((len(x) + 2, *x.shape[1:]))
    out[:-2] += x
    out[1:-1] -= 2 * x
    out[2:] += x
    return out


def _factor(H: Array, diagonal: Array | float, w1: Array, w2: Array) -> Array:
    band = assemble(H, w1, w2)
    band[0] += np.ravel(diagonal)
    return cholesky_banded(band, overwrite_ab=True, lower=True, check_finite=False)


# -- limits that bind ----------------------------------------------------------------------------


class _Bounds:
    """All limits as ``low <= A y <= high``: rows of positions, first and second differences."""

    def __init__(self, limits: PathLimits, n: int):
        self.n = n
        bounds = [(limits.low, limits.high)] * n
        self.speeds = n > 1 and bool(np.isfinite(limits.step).any())
        self.rates = n > 2 and bool(np.isfinite(limits.bend).any())
        if self.speeds:
            bounds += [(-limits.step, limits.step)] * (n - 1)
        if self.rates:
            bounds += [(-limits.bend, limits.bend)] * (n - 2)
        self.low, self.high = np.array(bounds).swapaxes(0, 1)

    def of(self, y: Array) -> Array:
        """Return ``A y``."""
        parts = [y]
        if self.speeds:
            parts.append(y[1:] - y[:-1])
        if self.rates:
            parts.append(np.diff(y, n=2, axis=0))
        return np.concatenate(parts)

    def split(self, z: Array) -> tuple[Array, Array, Array]:
        """Rows of positions, of first and of second differences; zeros for those without limits."""
        n, m = self.n, z.shape[1]
        after = 2 * n - 1 if self.speeds else n
        first = z[n:after] if self.speeds else np.zeros((n - 1, m))
        return z[:n], first, z[after:] if self.rates else np.zeros((max(n - 2, 0), m))

    def transposed(self, z: Array) -> Array:
        """Return ``A' z``."""
        position, first, second = self.split(z)
        out = position.copy()
        out[:-1] -= first
        out[1:] += first
        return out + _second_transposed(second) if self.rates else out

    def slacks(self, y: Array) -> Array:
        """Distances to both bounds, (2, rows, n_joints)."""
        values = self.of(y)
        return np.stack([values - self.low, self.high - values])


def _solve_inside(
    path: _Path, dual: Array | float, limits: PathLimits, n_iter: int, max_iter: int, tol: float
) -> PathResult:
    """Go on from a path strictly inside limits that bind; every iterate is.

    Each iteration is a damped Newton step for the barrier ``-mu log(slack)`` about the Gauss-Newton
    model, with mu less than the multipliers say; a step that does not lower the sum of both is tried again
    with more damping.
    """
    bounds = _Bounds(limits, len(path.q))
    slack = bounds.slacks(path.q)
    if isinstance(dual, float):  # how large a barrier to begin with
        dual = max(dual * path.value, 1e-12) / slack.size / slack
    share = 0.0
    damping, refused, converged = 1e-3, 0, False
    while n_iter < max_iter:
        n_iter += 1
        mu = _CENTRE[share <= _FAR] * float((slack * dual).sum()) / slack.size
        weights = (dual / slack).sum(axis=0)
        position, first, second = bounds.split(weights)
        try:
            factor = _factor(path.H, position + damping, first, second + path.bend_weight)
        except np.linalg.LinAlgError:  # rounding; the last iterate keeps the limits
            break
        push = mu / slack
        move = _solve(factor, bounds.transposed(push[0] - push[1]) - path.gradient)
        ahead = bounds.of(move)
        change = push - dual - dual / slack * np.stack([ahead, -ahead])
        share = min(1.0, _TO_BOUNDARY * _ratio(slack, np.stack([ahead, -ahead])))
        trial = path.at(path.q + share * move)
        left = bounds.slacks(trial.q)
        gain = path.value - trial.value
        if not (left > 0).all() or gain + 2 * mu * _logs(left, slack) < -1e-9 * path.value:
            refused += 1
            if refused > _MOST_REFUSED:
                break
            damping *= 10
            continue
        own = min(1.0, _TO_BOUNDARY * _ratio(dual, change))
        path, slack, dual = trial, left, dual + own * change
        damping, refused = max(damping / 5, 1e-9), 0
        gap = 2 * float((slack * dual).sum())
        size = share * float(np.abs(move).max())
        if gap < GAIN * path.value and (size < tol or abs(gain) < share * GAIN * path.value):
            converged = True
            break
    return PathResult(path.q, path.value, converged, n_iter, dual)


def _logs(new: Array, old: Array) -> float:
    return float(np.log(new / old).sum())


def _ratio(value: Array, change: Array) -> float:
    """How far a positive value can go along a change before it is zero."""
    worst = float((-change / value).max())
    return 1.0 / worst if worst > 1e-300 else np.inf


def _strictly_inside(wish: Array, limits: PathLimits, inside: bool = False) -> Array:
    """A path near the wish that every bound leaves room: slowed, then drawn to one that rests."""
    bounds = _Bounds(limits, len(wish))
    middle = (limits.low + limits.high) / 2
    wish = middle + np.clip(
        wish - middle, 0.999 * (limits.low - middle), 0.999 * (limits.high - middle)
    )
    if bounds.speeds:
        wish = (_follow(wish, limits.step) + _follow(wish[::-1], limits.step)[::-1]) / 2
    still = middle + 0.9 * (wish.mean(axis=0) - middle)
    at_rest = bounds.of(np.broadcast_to(still, wish.shape))
    way = bounds.of(wish) - at_rest
    room = np.where(way > 0, bounds.high - at_rest, at_rest - bounds.low)
    share = float(np.min(room / np.maximum(np.abs(way), 1e-300)))
    return still + min(1.0, 0.999 * share if inside else _ROOM * share) * (wish - still)


def _follow(wish: Array, step: Array) -> Array:
    """Follow a path from its first sample on as near as the speed allows."""
    out = wish.copy()
    for i in range(1, len(wish)):
        out[i] = np.clip(wish[i], out[i - 1] - step, out[i - 1] + step)
    return out
