"""Follow a trajectory exactly with the tip and softly with the posture of the arm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize

from isthmus.applications.imitation.arm import SerialArm
from isthmus.applications.imitation.checks import (
    check_joints,
    check_non_negative,
    check_trajectory,
)
from isthmus.applications.imitation.mapping import normal_jacobian, posture_normals

Array = NDArray[np.float64]

# Metres: far below what an arm can repeat, so that all solvers reach the same place.
TOL_TIP = 1e-6
SOLVERS = ("slsqp", "trust_qp", "gauss_newton")
CONTROLLER = "pseudo-inverse with null-space centring (stands in for the manufacturer's controller)"


@dataclass(frozen=True)
class Execution:
    """A movement of the arm and how well it follows.

    Attributes
    ----------
    q : ndarray of shape (n, n_joints)
        Postures, always inside the limits.
    converged : ndarray of bool, shape (n,)
        Whether the tip is within the tolerance of its target.
    reachable : ndarray of bool, shape (n,)
        Whether the target passed the check of distance before solving.
    tip_error : ndarray of shape (n,)
        Distance of the tip from its target in metres.
    normal_error : ndarray of shape (n,)
        Distance of the arm's posture normal from the person's.
    """

    q: Array
    converged: NDArray[np.bool_]
    reachable: NDArray[np.bool_]
    tip_error: Array
    normal_error: Array


class FollowProblem:
    r"""One sample of the problem.

    .. math::
        \min_q |e_d - e_r(q)|^2 + \alpha |q - q_0|^2
        \quad\text{s.t.}\quad p_{tip}(q) = \zeta^*,\; l \le q \le h

    [B2006]_ Sec. 5.3.3, with the limits it leaves out.
    """

    def __init__(self, arm: SerialArm, left: Array, reference: Array, alpha: float):
        self.arm, self.left, self.reference, self.alpha = arm, left, reference, alpha
        self.elbow = arm.point_index("elbow" if "elbow" in arm.named_points else arm.n_joints // 2)
        self.tip = arm.point_index("tip")
        self._at: Array | None = None

    def set_sample(self, target: Array, normal: Array, previous: Array) -> None:
        """Choose target, normal and the posture to stay near."""
        self.target, self.normal, self.previous = target, normal, previous

    def evaluate(self, q: Array) -> None:
        """Compute tip, normal and both Jacobians; a repeated posture costs nothing."""
        if self._at is not None and np.array_equal(q, self._at):
            return
        points = self.arm.points(q)
        jacobians = self.arm.jacobians(q)
        self.p, self.J = points[self.tip], jacobians[self.tip]
        self.n, self.Jn = normal_jacobian(
            self.left, points[self.elbow], self.reference, jacobians[self.elbow]
        )
        self._at = q.copy()

    def value(self, q: Array) -> float:
        """The objective."""
        self.evaluate(q)
        return float(
            ((self.normal - self.n) ** 2).sum() + self.alpha * ((q - self.previous) ** 2).sum()
        )

    def gradient(self, q: Array) -> Array:
        """Its gradient."""
        self.evaluate(q)
        return -2 * self.Jn.T @ (self.normal - self.n) + 2 * self.alpha * (q - self.previous)

    def miss(self, q: Array) -> Array:
        """Target minus tip."""
        self.evaluate(q)
        return self.target - self.p


def follow(
    arm: SerialArm,
    targets: ArrayLike,
    normals: ArrayLike,
    left: ArrayLike,
    reference: ArrayLike,
    start: ArrayLike,
    *,
    alpha: float = 0.1,
    solver: str = "slsqp",
    tol: float = TOL_TIP,
    progress: Callable[[int], None] | None = None,
) -> Execution:
    """Follow targets sample by sample, each from the posture before it.

    Targets that are too far or too near are flagged before solving, are approached as near as the
    arm's reach allows and come back with ``converged`` False; so does every sample whose tip misses
    by more than ``tol``.

    Parameters
    ----------
    arm : SerialArm
        The arm.
    targets : array-like of shape (n, 3)
        Where the tip has to be, in the base frame.
    normals : array-like of shape (n, 3)
        The person's posture normals, unit vectors (:func:`posture_normals`).
    left, reference : array-like of shape (3,)
        Virtual left shoulder and reference point of the arm's normals.
    start : array-like of shape (n_joints,)
        Posture before the first sample, inside the limits.
    alpha : float, default=0.1
        Weight of staying near the last posture.
    solver : {"slsqp", "trust_qp", "gauss_newton"}, default="slsqp"
        SLSQP needs SciPy alone; ``trust_qp`` (daqp) finds the same minima; ``gauss_newton`` is for
        smooth and easy tasks. For streams see :meth:`Retargeter.step`.
    tol : float, default=1e-6
        Greatest distance of the tip from its target, in metres.
    progress : callable, default=None
        Called with the number of samples done.
    """
    targets = check_trajectory(targets, "targets", columns=3)
    normals = _unit_normals(normals, len(targets))
    alpha = check_non_negative(alpha, "alpha")
    if solver not in SOLVERS:
        raise ValueError(f"solver == {solver!r}, must be one of {', '.join(map(repr, SOLVERS))}.")
    start = _inside(arm, start)
    reachable = reachable_targets(arm, targets)
    if not reachable[0]:
        raise ValueError(_out_of_reach(arm, targets[0]))
    problem = FollowProblem(arm, np.asarray(left, float), np.asarray(reference, float), alpha)
    step = _solver(solver, problem)
    q = np.empty((len(targets), arm.n_joints))
    previous = start
    for i, target in enumerate(_within_reach(arm, targets)):
        problem.set_sample(target, normals[i], previous)
        q[i] = previous = arm.clip(step(previous))
        if progress is not None:
            progress(i + 1)
    return _outcome(arm, problem, q, targets, normals, reachable, tol)


def _outcome(
    arm: SerialArm,
    problem: FollowProblem,
    q: Array,
    targets: Array,
    normals: Array,
    reachable: NDArray[np.bool_],
    tol: float,
) -> Execution:
    points = arm.points(q)
    miss = np.linalg.norm(points[:, problem.tip] - targets, axis=1)
    if not miss[0] <= tol and np.any(miss > tol) and miss[0] > 1e-2:
        raise ValueError(
            f"targets[0] == {targets[0]} is not reachable within the limits: the tip misses by "
            f"{miss[0]:.3g} m; move the begin of the trajectory or change the scale."
        )
    own = posture_normals(problem.left, points[:, problem.elbow], problem.reference)
    return Execution(
        q=q,
        converged=(miss <= tol) & reachable,
        reachable=reachable,
        tip_error=miss,
        normal_error=np.linalg.norm(own - normals, axis=1),
    )


def reachable_targets(arm: SerialArm, targets: ArrayLike) -> NDArray[np.bool_]:
    """Whether the distance of each target from the base lies within the arm's reach."""
    distance = _distance(arm, np.atleast_2d(np.asarray(targets, dtype=np.float64)))
    low, high = arm.reach
    return (distance >= low - 1e-12) & (distance <= high + 1e-12)


def _distance(arm: SerialArm, targets: Array) -> Array:
    return np.linalg.norm(targets - [0, 0, arm.base_offset], axis=1)


def _within_reach(arm: SerialArm, targets: Array) -> Array:
    """Targets out of reach, pulled to the nearest distance that can be reached."""
    base = np.array([0, 0, arm.base_offset])
    distance = np.maximum(_distance(arm, targets), 1e-12)
    low, high = arm.reach
    return base + (targets - base) * (np.clip(distance, low, high) / distance)[:, None]


def _out_of_reach(arm: SerialArm, target: Array) -> str:
    low, high = arm.reach
    return (
        f"targets[0] == {target} is {_distance(arm, target[None])[0]:.3f} m from the base, the tip "
        f"reaches {low:.3f} to {high:.3f} m: move the begin of the trajectory or change the scale."
    )


def _unit_normals(normals: ArrayLike, n: int) -> Array:
    normals = np.asarray(normals, dtype=np.float64)
    if normals.shape != (n, 3) or not np.allclose(np.linalg.norm(normals, axis=-1), 1, atol=1e-6):
        raise ValueError(f"normals has shape {normals.shape}, must be ({n}, 3) unit vectors.")
    return normals


def _inside(arm: SerialArm, q: ArrayLike) -> Array:
    row = check_joints(q, arm.n_joints, "start")[0][0]
    if not arm.inside_limits(row, tol=1e-9):
        worst = int(np.argmax(np.abs(row - arm.clip(row))))
        raise ValueError(
            f"start[{worst}] == {row[worst]} is outside the limits {arm.limits[worst]} of joint "
            f"{arm.names[worst]}: clip it first."
        )
    return arm.clip(row)


def _solver(name: str, problem: FollowProblem) -> Callable[[Array], Array]:
    if name == "slsqp":
        return _Restarted(problem, _Slsqp(problem))
    if name == "gauss_newton":
        return _GaussNewton(problem)
    from isthmus.applications.imitation import quadratic  # needs the extra `imitation`

    return _Restarted(problem, quadratic.TrustQP(problem))


class _Restarted:
    """A solver that begins again nearby where it misses the target."""

    def __init__(self, problem: FollowProblem, solve: Callable[[Array], Array], restarts: int = 3):
        self.problem, self.solve, self.restarts = problem, solve, restarts

    def __call__(self, start: Array) -> Array:
        best = self.solve(start)
        rng = np.random.default_rng(0)  # the same task gives the same movement
        for _ in range(self.restarts):
            if self._missed_by(best) <= TOL_TIP:
                break
            near = self.problem.arm.clip(start + 0.3 * rng.standard_normal(len(start)))
            best = min(best, self.solve(near), key=self._missed_by)
        return best

    def _missed_by(self, q: Array) -> float:
        return float(np.linalg.norm(self.problem.miss(q)))


class _Slsqp:
    """Sequential least squares programming with analytic gradients."""

    scale = 10.0  # of the constraint: its residual then counts like that of the objective

    def __init__(self, problem: FollowProblem):
        self.problem = problem
        self.bounds = list(map(tuple, problem.arm.limits))
        self.constraint = {
            "type": "eq",
            "fun": lambda q: -self.scale * problem.miss(q),
            "jac": self._slope,
        }

    def _slope(self, q: Array) -> Array:
        self.problem.evaluate(q)
        return self.scale * self.problem.J

    def __call__(self, start: Array) -> Array:
        found = minimize(
            self.problem.value,
            start,
            jac=self.problem.gradient,
            bounds=self.bounds,
            constraints=[self.constraint],
            method="SLSQP",
            options={"ftol": 1e-12, "maxiter": 200},
        )
        return self.problem.arm.clip(found.x)


class _GaussNewton:
    """Pseudo-inverse for the tip, least squares in its null space for the rest; no line search.

    Steps that do not at least halve are made shorter each time: without that the normal, whose
    Jacobian has rank one, makes the posture swing to and fro for ever.
    """

    first_step = 0.5  # radians of the joint that turns most

    def __init__(self, problem: FollowProblem, max_iter: int = 50):
        self.problem, self.max_iter = problem, max_iter

    def __call__(self, start: Array) -> Array:
        f, q = self.problem, start
        root = np.sqrt(f.alpha + 1e-8)
        longest = self.first_step
        last = np.inf
        low, high = f.arm.limits.T
        for _ in range(self.max_iter):
            f.evaluate(q)
            free = np.ones(len(q), dtype=bool)
            for _ in range(len(q)):  # joints that would leave their limits stay where they are
                move, rest = self._step(q, free, root)
                # Only the part that leaves the tip alone is made shorter, or the tip would not arrive.
                step = _cap(move, self.first_step) + _cap(rest, longest)
                out = free & (((q >= high) & (step > 0)) | ((q <= low) & (step < 0)))
                if not out.any() or free.sum() - out.sum() < len(f.J):
                    break
                free &= ~out
            size = float(np.abs(step).max())
            q = f.arm.clip(q + step)
            if size < 1e-10:
                break
            if size > 0.5 * last:
                longest = 0.7 * min(longest, size)
            last = size
        return q

    def _step(self, q: Array, free: NDArray[np.bool_], root: float) -> tuple[Array, Array]:
        """The shortest move of the tip to its target, and the best of what leaves the tip there."""
        f, J = self.problem, self.problem.J[:, free]
        _, sigma, Vt = np.linalg.svd(J)
        rank = int((sigma > 1e-9).sum())
        move = np.linalg.pinv(J, rcond=1e-9) @ f.miss(q)
        null = Vt[rank:].T
        rows = np.concatenate([f.Jn, root * np.eye(len(q))])[:, free]
        rest = np.concatenate([f.normal - f.n, root * (f.previous - q)]) - rows @ move
        both = np.zeros((2, len(q)))
        both[:, free] = move, null @ np.linalg.lstsq(rows @ null, rest, rcond=None)[0]
        return both[0], both[1]


def _cap(step: Array, longest: float) -> Array:
    """A step of which no joint turns by more."""
    return step * min(1.0, longest / max(float(np.abs(step).max()), 1e-300))


# -- the controller to compare with -----------------------------------------------------------


def track(
    arm: SerialArm,
    targets: ArrayLike,
    start: ArrayLike,
    *,
    gain: float = 0.05,
    max_iter: int = 100,
    tol: float = TOL_TIP,
) -> Execution:
    """Follow targets by the pseudo-inverse, the null space drawn to the middle of the limits.

    Stands in for the manufacturer's controller, which is not available; name it so in pictures.
    ``normal_error`` is NaN: this controller knows no posture.
    """
    targets = check_trajectory(targets, "targets", columns=3)
    q = _inside(arm, start)
    middle = arm.limits.mean(axis=1)
    out = np.empty((len(targets), arm.n_joints))
    for i, target in enumerate(_within_reach(arm, targets)):
        for k in range(max_iter):
            points, J = arm.points_and_jacobian(q)
            miss = target - points[-1]
            inverse = np.linalg.pinv(J, rcond=1e-6)
            step = inverse @ miss
            if k == 0:  # one pull a sample: the gain is a share of the way to the middle
                pull = gain * (middle - q)
                step = step + pull - inverse @ (J @ pull)
            q = arm.clip(q + step * min(1.0, 0.5 / max(np.abs(step).max(), 1e-300)))
            if np.linalg.norm(miss) < 0.1 * tol and k > 0:
                break
        out[i] = q
    miss = np.linalg.norm(arm.points(out)[:, -1] - targets, axis=1)
    reachable = reachable_targets(arm, targets)
    return Execution(out, (miss <= tol) & reachable, reachable, miss, np.full(len(out), np.nan))
