"""One sample of a live stream at a time: kinematics of a single posture, one small programme a step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

from isthmus.applications.imitation.arm import Place, SerialArm
from isthmus.applications.imitation.branches import starting_postures
from isthmus.applications.imitation.checks import check_joints
from isthmus.applications.imitation.limb_task import Goal, solve_rows

if TYPE_CHECKING:
    from isthmus.applications.imitation.retarget import Retargeter

Array = NDArray[np.float64]

MAX_ITER = 2  # Gauss-Newton steps a sample: the next sample goes on from there
SMALL_STEP = 1e-3  # radians


@dataclass(frozen=True)
class Step:
    """The next posture of a stream: ``q``, its ``velocity``, and the cost that is left.

    ``errors`` holds angles (radians) and the tip's distance (metres) as in :class:`Retargeted`; ``reached``
    says whether the arm is within 2 degrees and 1 mm of what was asked for.
    """

    q: Array
    velocity: Array
    errors: dict[str, float]
    reached: bool


class SinglePosture:
    """Points and Jacobians of one posture: what :meth:`SerialArm.limb` returns, with fewer calls."""

    def __init__(self, arm: SerialArm, places: list[Place]):
        self.arm, self.places = arm, places
        n = arm.n_links
        self.fixed = np.array(
            [arm.before[j] if j == 0 else arm.after[j - 1] @ arm.before[j] for j in range(n)]
        )
        self.base = np.eye(4)
        self.base[2, 3] = arm.base_offset
        self.fixed[0] = self.base @ self.fixed[0]
        # A place in the frame right after the joint's own motion.
        self.frames = np.array([max(k, 0) for k, _ in places])
        self.local = np.array(
            [
                [*(arm.after[k] @ [*x, 1.0])[:3], 1.0] if k >= 0 else [0, 0, 0, 1.0]
                for k, x in places
            ]
        )
        self.still = [(i, x + self.base[:3, 3]) for i, (k, x) in enumerate(places) if k < 0]
        last = max(k for k, _ in places)
        # Which joints move which place; joints behind a place do not.
        self.moves = np.array([[float(j <= k) for j in range(n)] for k, _ in places])[:, None, :]
        self.turns = np.array([float(j not in arm.slides and j <= places[-1][0]) for j in range(n)])
        self.last = last
        self.after = arm.after[places[-1][0]][:3, :3]
        self.slides = list(arm.slides)
        self.motion = np.empty((n, 4, 4))
        self.world = np.empty((n, 4, 4))

    def __call__(self, q: Array) -> tuple[Array, Array, Array, Array]:
        """Return points, Jacobians, the tip's rotation and angular velocities, each with a row axis."""
        arm = self.arm
        fixed = self.fixed
        motion = self.motion
        world = self.world
        values = arm._elements(q)
        c = np.cos(values)[:, None]
        s = np.sin(values)[:, None]
        motion[:] = fixed
        motion[:, :, 0] = c * fixed[:, :, 0] + s * fixed[:, :, 1]
        motion[:, :, 1] = c * fixed[:, :, 1] - s * fixed[:, :, 0]
        for j in self.slides:
            motion[j] = fixed[j]
            motion[j, :, 3] += values[j] * fixed[j, :, 2]
        at = motion[0]
        world[0] = at
        for j in range(1, self.last + 1):
            at = at @ motion[j]
            world[j] = at
        points = (world[self.frames] @ self.local[:, :, None])[:, :3, 0]
        for i, x in self.still:
            points[i] = x
        z, pivots = world[:, :3, 2], world[:, :3, 3]
        away = points[:, None, :] - pivots[None]
        J = np.empty((len(points), 3, len(z)))
        J[:, 0] = z[:, 1] * away[:, :, 2] - z[:, 2] * away[:, :, 1]
        J[:, 1] = z[:, 2] * away[:, :, 0] - z[:, 0] * away[:, :, 2]
        J[:, 2] = z[:, 0] * away[:, :, 1] - z[:, 1] * away[:, :, 0]
        for j in self.slides:
            J[:, :, j] = z[j]
        J *= self.moves
        R = world[self.places[-1][0], :3, :3] @ self.after
        turning = z.T * self.turns
        return points[None], arm._driven(J)[None], R[None], arm._driven(turning)[None]


class Stepper:
    """The state of one stream."""

    def __init__(self, retargeter: Retargeter):
        self.retargeter = retargeter
        self.kinematics = SinglePosture(retargeter.arm, retargeter.places)
        self.q: Array | None = None
        self.velocity = np.zeros(retargeter.arm.n_joints)

    def rest_at(self, q: Array) -> None:
        """Begin from a posture at rest."""
        arm = self.retargeter.arm
        row = check_joints(q, arm.n_joints)[0][0]
        if not arm.inside_limits(row, tol=1e-9):
            raise ValueError(f"q == {row} is outside the arm's limits: clip it first.")
        self.q, self.velocity = arm.clip(row), np.zeros(arm.n_joints)

    def step(self, goal: Goal, dt: float) -> Step:
        """Move towards the goal of one sample for dt seconds."""
        if not 0 < dt < np.inf:
            raise ValueError(f"dt == {dt}, must be a positive number of seconds.")
        if self.q is None:
            self.q = self._first(goal)
            self.velocity = np.zeros_like(self.q)
            return self._result(goal)
        q0 = self.q
        low, high = self._box(dt)
        q, stay = q0, self.retargeter.lag / dt
        task, m = self.retargeter.task, len(q0)
        diagonal = np.arange(m)
        for _ in range(MAX_ITER):
            r, J = task.rows_at(*self.kinematics(q), goal)
            _, slope, curve = task.comfort(q)
            H = J[0].T @ J[0]
            pull = stay * 0.1 * float(H.trace()) / m  # in units of the mean sensitivity
            g = J[0].T @ r[0] + slope + pull * (q - q0)
            H[diagonal, diagonal] += curve + (pull + 1e-4)
            move = solve_box(H, g, low - q, high - q)
            q = q + move
            if np.abs(move).max() < SMALL_STEP:
                break
        self.velocity = (q - q0) / dt
        self.q = q
        return self._result(goal)

    def _first(self, goal: Goal) -> Array:
        task = self.retargeter.task
        starts = starting_postures(task)
        found, costs = solve_rows(task, goal.repeat(len(starts)), starts, max_iter=40)
        return found[int(costs.argmin())]

    def _box(self, dt: float) -> tuple[Array, Array]:
        """Bounds on the next posture by position, speed, acceleration, and room to brake in."""
        q, arm = self.q, self.retargeter.arm
        assert q is not None
        low, high = arm.limits.T
        speed, rate = self.retargeter.velocity, self.retargeter.acceleration
        up = np.minimum(high - q, speed * dt)
        down = np.minimum(q - low, speed * dt)
        if np.isfinite(rate).any():
            most = np.minimum(rate, 1e9) * dt * dt
            # d + d^2 / (2 a dt^2) <= room: what is left after this step is enough to stop in.
            up = np.minimum(up, most * (np.sqrt(1 + 2 * np.maximum(high - q, 0) / most) - 1))
            down = np.minimum(down, most * (np.sqrt(1 + 2 * np.maximum(q - low, 0) / most) - 1))
            up = np.minimum(up, self.velocity * dt + most)
            down = np.minimum(down, most - self.velocity * dt)
        mid = (
            up - down
        ) / 2  # where a shorter dt leaves no room between two bounds, meet in between
        return q + np.minimum(-down, mid), q + np.maximum(up, mid)

    def _result(self, goal: Goal) -> Step:
        q = self.q
        assert q is not None
        retargeter = self.retargeter
        errors = {
            name: float(value[0])
            for name, value in retargeter.task.errors_at(self.kinematics(q), goal).items()
        }
        return Step(q, self.velocity, errors, retargeter.has_reached(errors, goal))


def solve_box(H: Array, g: Array, low: Array, high: Array, max_iter: int = 20) -> Array:
    """Minimise ``x'Hx / 2 + g'x`` between two bounds for positive definite H, by projected Newton steps."""
    x = _solve(H, -g)
    if (x >= low).all() and (x <= high).all():
        return x
    x = np.clip(x, low, high)
    small = 1e-12 * (1 + float(np.abs(g).max()))
    for _ in range(max_iter):
        slope = H @ x + g
        free = ~(((x <= low) & (slope > 0)) | ((x >= high) & (slope < 0)))
        if not free.any() or np.abs(slope[free]).max() < small:
            break
        move = np.zeros_like(x)
        move[free] = _solve(H[free][:, free], -slope[free])
        target = x + move
        if (target >= low).all() and (target <= high).all():
            x = target
        else:
            x = _descend(H, g, x, move, low, high)
    return x


def _solve(H: Array, right: Array) -> Array:
    """LAPACK itself: for seven unknowns the checks around it take longer than the work."""
    x: Array
    _, x, info = dposv(H, right)
    if info:
        raise np.linalg.LinAlgError("the Hessian of a step is not positive definite.")
    return x


def _descend(H: Array, g: Array, x: Array, move: Array, low: Array, high: Array) -> Array:
    """The projected step, halved until the objective falls."""
    value = 0.5 * x @ H @ x + g @ x
    share = 1.0
    for _ in range(30):
        trial = np.clip(x + share * move, low, high)
        if 0.5 * trial @ H @ trial + g @ trial < value:
            return trial
        share *= 0.5
    return x
