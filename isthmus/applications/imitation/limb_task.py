"""What a posture is asked for: residuals of directions, hand, tip and posture normal, with Jacobians."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.applications.imitation.arm import Place, SerialArm
from isthmus.applications.imitation.clock import sampled

Array = NDArray[np.float64]

NEAR = 0.8  # share of half a joint's range beyond which it counts as near its limit
NEAR_WEIGHT = 0.05  # of being near a limit, against 1 for a radian of direction
_PER_SAMPLE = ("upper", "fore", "hand", "palm", "tip", "normal")
REST_WEIGHT = 0.01  # of being away from the middle of the range


@dataclass(frozen=True)
class Goal:
    """What is wanted of each sample, in the arm's base frame; None is not asked for.

    Attributes
    ----------
    upper, fore, hand, palm : ndarray of shape (n, 3) or None
        Unit vectors shoulder to elbow, elbow to wrist, wrist to tip, and the palm's normal.
    tip : ndarray of shape (n, 3) or None
        Places of the tip.
    normal : ndarray of shape (n, 3) or None
        Normals of the plane of ``left``, elbow and ``reference``.
    left, reference : ndarray of shape (3,) or None
        The two fixed points of the normals.
    """

    upper: Array | None = None
    fore: Array | None = None
    hand: Array | None = None
    palm: Array | None = None
    tip: Array | None = None
    normal: Array | None = None
    left: Array | None = None
    reference: Array | None = None

    def __len__(self) -> int:
        rows = [x for name in _PER_SAMPLE if (x := getattr(self, name)) is not None]
        return max(map(len, rows), default=0)

    def __getitem__(self, rows: Any) -> Goal:
        taken = {
            name: None if (x := getattr(self, name)) is None else x[rows] for name in _PER_SAMPLE
        }
        return Goal(**taken, left=self.left, reference=self.reference)

    def repeat(self, times: int) -> Goal:
        """Every sample several times."""
        return self[np.repeat(np.arange(len(self)), times)]

    def between(self, places: Array) -> Goal:
        """The goal between its samples, at places counted in samples: unit vectors stay so."""
        taken: dict[str, Array | None] = {}
        for name in _PER_SAMPLE:
            values = getattr(self, name)
            if values is not None:
                values = sampled(values, places)
                if name != "tip":
                    values = values / np.linalg.norm(values, axis=1, keepdims=True)
            taken[name] = values
        return Goal(**taken, left=self.left, reference=self.reference)

    def moved(self, shift: Array) -> Goal:
        """The same goal with the tip elsewhere."""
        return self if self.tip is None else replace(self, tip=self.tip + shift)


class LimbTask:
    """Residuals of postures against a goal, weighted: a radian of direction and a metre count alike.

    Parameters
    ----------
    arm : SerialArm
        The arm.
    places : sequence of (int, ndarray)
        Shoulder, elbow, wrist and tip (:meth:`SerialArm.place`).
    weights : dict of str to float
        Of ``directions``, ``hand``, ``tip`` and ``normal``.
    palm : ndarray of shape (3,)
        The palm's normal in the tip's frame.
    """

    def __init__(
        self, arm: SerialArm, places: Sequence[Place], weights: dict[str, float], palm: Array
    ):
        self.arm, self.places, self.palm = arm, list(places), palm
        self.weights = weights
        low, high = arm.limits.T
        self.middle, self.half = (low + high) / 2, (high - low) / 2

    def rows(self, q: Array, goal: Goal) -> tuple[Array, Array]:
        """Return residuals (n, n_rows) and Jacobians (n, n_rows, n_joints)."""
        points, J, R, turning = self.arm.limb(q, self.places)
        return self.rows_at(points, J, R, turning, goal)

    def rows_at(
        self, points: Array, J: Array, R: Array, turning: Array, goal: Goal
    ) -> tuple[Array, Array]:
        """Return residuals and Jacobians of postures whose kinematics are known."""
        parts: list[Array] = []
        slopes: list[Array] = []
        for name, a, b, kind in (
            ("upper", 0, 1, "directions"),
            ("fore", 1, 2, "directions"),
            ("hand", 2, 3, "hand"),
        ):
            wanted = getattr(goal, name)
            weight = self.weights.get(kind, 0.0)
            if wanted is not None and weight:
                unit, slope = _unit_and_slope(points[:, b] - points[:, a], J[:, b] - J[:, a])
                parts.append(weight * (unit - wanted))
                slopes.append(weight * slope)
        if goal.palm is not None and self.weights.get("hand"):
            weight = self.weights["hand"]
            axis = R @ self.palm
            parts.append(weight * (axis - goal.palm))
            slopes.append(weight * _cross(turning, axis))
        if goal.tip is not None and self.weights.get("tip"):
            parts.append(self.weights["tip"] * (points[:, 3] - goal.tip))
            slopes.append(self.weights["tip"] * J[:, 3])
        if goal.normal is not None and self.weights.get("normal"):
            assert goal.left is not None and goal.reference is not None
            line = goal.left - goal.reference
            m = np.cross(line, points[:, 1] - goal.reference)
            slope = np.cross(line, J[:, 1], axisa=0, axisb=1, axisc=1)
            unit, slope = _unit_and_slope(m, slope)
            parts.append(self.weights["normal"] * (unit - goal.normal))
            slopes.append(self.weights["normal"] * slope)
        return np.concatenate(parts, axis=1), np.concatenate(slopes, axis=1)

    def comfort(self, q: Array) -> tuple[Array, Array, Array]:
        """Return the cost of limits and rest per row, its gradient and its diagonal Hessian (halves)."""
        z = (q - self.middle) / self.half
        over = np.maximum(np.abs(z) - NEAR, 0.0) / (1 - NEAR)
        cost = REST_WEIGHT**2 * z**2 + NEAR_WEIGHT**2 * over**2
        inner = REST_WEIGHT**2 * z + NEAR_WEIGHT**2 * over * np.sign(z) / (1 - NEAR)
        curve = REST_WEIGHT**2 + (NEAR_WEIGHT / (1 - NEAR)) ** 2 * (over > 0)
        return cost.sum(axis=-1), inner / self.half, curve / self.half**2

    def errors(self, q: Array, goal: Goal) -> dict[str, Array]:
        """Return the angle (radians) or distance (metres) by which each part of the goal is missed."""
        return self.errors_at(self.arm.limb(q, self.places), goal)

    def errors_at(
        self, kinematics: tuple[Array, Array, Array, Array], goal: Goal
    ) -> dict[str, Array]:
        """Return the same of postures whose kinematics are known."""
        points, _, R, _ = kinematics
        out = {}
        for name, a, b in (("upper", 0, 1), ("fore", 1, 2), ("hand", 2, 3)):
            if getattr(goal, name) is not None:
                out[name] = angle_between(points[:, b] - points[:, a], getattr(goal, name))
        if goal.palm is not None:
            out["palm"] = angle_between(R @ self.palm, goal.palm)
        if goal.tip is not None:
            out["tip"] = np.linalg.norm(points[:, 3] - goal.tip, axis=1)
        if goal.normal is not None:
            assert goal.left is not None and goal.reference is not None
            m = np.cross(goal.left - goal.reference, points[:, 1] - goal.reference)
            out["normal"] = angle_between(m, goal.normal)
        return out


def _unit_and_slope(d: Array, J: Array) -> tuple[Array, Array]:
    """A vector made a unit one, and the derivative of that."""
    length = np.maximum(np.sqrt((d * d).sum(axis=1)), 1e-9)[:, None]
    u = d / length
    along = (u[:, :, None] * J).sum(axis=1)
    return u, (J - u[:, :, None] * along[:, None, :]) / length[:, :, None]


def _cross(turning: Array, axis: Array) -> Array:
    """``w_j x axis`` of each joint's angular velocity."""
    return np.cross(turning, axis[:, :, None], axis=1)


def angle_between(a: Array, b: Array) -> Array:
    """Return the angles between rows, exact for small ones too: the half angle is that of a rhombus."""
    u = a / np.sqrt((a * a).sum(axis=-1, keepdims=True))
    v = b / np.sqrt((b * b).sum(axis=-1, keepdims=True))
    less, more = u - v, u + v
    return 2 * np.arctan2(np.sqrt((less * less).sum(axis=-1)), np.sqrt((more * more).sum(axis=-1)))


def solve_rows(
    task: LimbTask, goal: Goal, q: Array, *, max_iter: int = 20, tol: float = 1e-5
) -> tuple[Array, Array]:
    """Solve each sample for itself inside the position limits, all at once, and return its cost too.

    Damped Gauss-Newton steps; joints at a limit that would leave it stay there. Samples that have
    converged drop out.
    """
    q = task.arm.clip(q).copy()
    low, high = task.arm.limits.T
    n, m = q.shape
    damping = np.full(n, 1e-3)
    value = np.full(n, np.inf)
    active = np.arange(n)
    r, J = task.rows(q, goal)
    rest, slope, curve = task.comfort(q)
    value = (r * r).sum(axis=1) + rest
    for _ in range(max_iter):
        g = np.einsum("nri,nr->ni", J, r) + slope
        free = ~(((q[active] <= low) & (g > 0)) | ((q[active] >= high) & (g < 0)))
        H = J.transpose(0, 2, 1) @ J
        H[:, range(m), range(m)] += curve + damping[active][:, None]
        H *= free[:, :, None] & free[:, None, :]
        H[:, range(m), range(m)] += ~free
        step = -np.linalg.solve(H, (g * free)[:, :, None])[:, :, 0]
        trial = np.clip(q[active] + np.clip(step, -0.7, 0.7), low, high)
        chosen = goal[active]
        r_new, J_new = task.rows(trial, chosen)
        rest, slope_new, curve_new = task.comfort(trial)
        new = (r_new * r_new).sum(axis=1) + rest
        better = new <= value[active]
        moved = np.abs(trial - q[active]).max(axis=1)
        q[active[better]] = trial[better]
        r = np.where(better[:, None], r_new, r)
        J = np.where(better[:, None, None], J_new, J)
        slope = np.where(better[:, None], slope_new, slope)
        curve = np.where(better[:, None], curve_new, curve)
        value[active] = np.where(better, new, value[active])
        damping[active] = np.where(better, damping[active] / 8, 10 * damping[active])
        keep = ~(better & (moved < tol)) & (damping[active] < 1e4)
        if not keep.any():
            break
        active = active[keep]
        r = r[keep]
        J = J[keep]
        slope = slope[keep]
        curve = curve[keep]
    return q, value


def limb_places(
    arm: SerialArm,
    shoulder: str | int | None,
    elbow: str | int | None,
    wrist: str | int | None,
    tip: str | int | None,
) -> list[Place]:
    """Return the places of shoulder, elbow, wrist and tip.

    Those that are not named are pivots of hinges: the second, fourth and sixth of seven, otherwise both
    ends of the two longest limbs.
    """
    places = []
    pivots = _limb_joints(arm)
    for k, (name, given) in enumerate(
        (("shoulder", shoulder), ("elbow", elbow), ("wrist", wrist), ("tip", tip))
    ):
        if given is not None:
            places.append(arm.place(given))
        elif name in arm.named_points:
            places.append(arm.place(name))
        elif pivots:
            places.append((pivots[k], np.linalg.inv(arm.after[pivots[k]])[:3, 3]))
        else:
            known = ", ".join(map(repr, [*arm.named_points, *arm.links]))
            raise ValueError(
                f"{name} must be named for an arm of {arm.n_links} joints; its points are {known}."
            )
    return places


def _limb_joints(arm: SerialArm) -> list[int]:
    """Hinges at shoulder, elbow and wrist, or none for an arm that is too short for two limbs."""
    hinges = [j for j in range(arm.n_links) if j not in arm.slides]
    if len(hinges) == 7:
        return hinges[1:6:2]
    if len(hinges) < 4:
        return []
    # A turn about a pivot keeps the next one at its distance: limbs have lengths whatever the posture.
    lengths = [
        float(np.linalg.norm((arm.after[i] @ arm.before[j])[:3, 3])) if j == i + 1 else 0.0
        for i, j in pairwise(hinges)
    ]
    first, second = sorted(np.argsort(lengths)[-2:].tolist())
    return [hinges[first], hinges[second], hinges[second + 1]]
