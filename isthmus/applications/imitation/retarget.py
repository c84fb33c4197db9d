"""Movements of a person's arm to any serial arm: whole clips at once, or sample by sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isthmus.applications.imitation.arm import SerialArm
from isthmus.applications.imitation.branches import first_path, starting_postures
from isthmus.applications.imitation.checks import check_non_negative, check_rates
from isthmus.applications.imitation.clip_solver import MARGIN, PathLimits, PathResult, solve_path
from isthmus.applications.imitation.clock import interval_times, read_clock, sampled
from isthmus.applications.imitation.goals import SIDEWAYS, find_mounting, read_goal
from isthmus.applications.imitation.limb_task import Goal, LimbTask, limb_places, solve_rows
from isthmus.applications.imitation.mapping import PlaneMap
from isthmus.applications.imitation.retargeted import REACHED_TIP, Retargeted, is_within
from isthmus.applications.imitation.streaming import Step, Stepper

Array = NDArray[np.float64]

# Weights of a radian of direction or a metre of the tip. A tip that is asked for is met exactly, by
# multipliers; its weight only sets how fast.
OBJECTIVES: dict[str, dict[str, float]] = {
    "directions": {"directions": 1.0, "hand": 0.3},
    "tip": {"tip": 10.0},
    "normal": {"tip": 10.0, "normal": 1.0},
    "weighted": {"tip": 10.0, "directions": 0.3, "hand": 0.1},
}
SMOOTHING = 0.03  # seconds
MISSED_SHARE = 0.005  # of the samples: a tip that is missed more often is given more time
_MOST_TIMES_SLOWER = 3  # times that it is
_STUCK = 1e-6  # radians: a round that moves no joint further begins again, away from the limits
_MOST_MULTIPLIERS = 20  # rounds of multipliers for the tip
_UNBOUNDED = 1e4  # radians a sample: stands for no limit where another joint has one


class Retargeter:
    """Let any serial arm move like a person's arm.

    The person's arm is described by directions (upper arm, forearm, and the hand where markers show it) in
    the frame of the trunk, which may turn and walk; each limb has its own scale, so that arms of other
    proportions keep the directions. :meth:`retarget` solves a whole clip at once, :meth:`step` a sample of
    a live stream. Both keep the limits of position, speed and acceleration.

    Parameters
    ----------
    arm : SerialArm
        The arm, such as ``read_arm("arm.urdf")``.
    shoulder, elbow, wrist, tip : str or int, default=None
        Points of the arm: links of its model file, named points, or numbers of frames. None takes the
        pivots of the second, fourth and sixth of seven hinges (or the ends of the two longest limbs of an
        arm with another number), and the arm's tip.
    objective : {"directions", "tip", "normal", "weighted"}, default="directions"
        Directions of the limbs; the tip alone; tip and posture normal, [B2006]_ Sec. 5.3; tip and
        directions. A tip that is asked for has priority over all else but the limits.
    weights : dict of str to float, default=None
        Replaces weights of the objective: ``directions``, ``hand``, ``tip``, ``normal``.
    side : {"right", "left"}, default="right"
        The person's arm, for markers that hold both.
    mounting : {"side", "forward", "up"} or array-like of shape (3, 3), default="side"
        Base axes in the frame of a trunk that faces -Y with z up, as columns. "side": the base's z points
        to the arm's side and 30 degrees down, as on the shoulder of a torso, so that a person's upper arm
        is inside the second joint's range and away from the first one's axis; "forward": where the
        person faces, the mounting of :class:`ArmClip`; "up": on a table.
    palm : array-like of shape (3,), default=None
        The palm's normal in the tip's frame. With it, and markers of a thumb, the hand's roll is followed;
        None leaves the roll free.
    velocity, acceleration : float or array-like of shape (n_joints,), default=None
        Limits in rad/s and rad/s^2; None takes those of the arm.
    smoothing : float, default=0.03
        Seconds; accelerations are weighted by its fourth power, so that tremor faster than about
        ``1 / (2 pi smoothing)`` Hz is damped.
    lag : float, default=0.01
        Seconds by which :meth:`step` may trail for the sake of smoothness.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.applications.imitation import Retargeter, make_clip, pa10
    >>> clip = make_clip(60, random_state=0)
    >>> done = Retargeter(pa10()).retarget(clip)
    >>> bool(done.converged), bool(np.degrees(done.errors["fore"]).mean() < 3)
    (True, True)
    """

    def __init__(
        self,
        arm: SerialArm,
        *,
        shoulder: str | int | None = None,
        elbow: str | int | None = None,
        wrist: str | int | None = None,
        tip: str | int | None = None,
        objective: str = "directions",
        weights: Mapping[str, float] | None = None,
        side: str = "right",
        mounting: str | ArrayLike = SIDEWAYS,
        palm: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        smoothing: float = SMOOTHING,
        lag: float = 0.01,
    ):
        if objective not in OBJECTIVES:
            known = ", ".join(map(repr, OBJECTIVES))
            raise ValueError(f"objective == {objective!r}, must be one of {known}.")
        if side not in ("right", "left"):
            raise ValueError(f"side == {side!r}, must be 'right' or 'left'.")
        self.arm, self.objective, self.side = arm, objective, side
        self.places = limb_places(arm, shoulder, elbow, wrist, tip)
        self.weights = OBJECTIVES[objective] | _check_weights(weights)
        self.mounting = find_mounting(mounting, side)
        m = arm.n_joints
        self.velocity = arm.velocity if velocity is None else check_rates(velocity, m, "velocity")
        self.acceleration = (
            arm.acceleration
            if acceleration is None
            else check_rates(acceleration, m, "acceleration")
        )
        self.smoothing = check_non_negative(smoothing, "smoothing")
        self.lag = check_non_negative(lag, "lag")
        self.palm = None if palm is None else np.asarray(palm, dtype=np.float64)
        axis = np.array([0.0, 1.0, 0.0]) if self.palm is None else self.palm
        self.task = LimbTask(arm, self.places, self.weights, axis / np.linalg.norm(axis))
        points = arm.limb(self.task.middle[None], self.places)[0][0]
        self.shoulder_place = points[0]
        self.lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
        if self.lengths[:2].min() < 1e-6:
            raise ValueError(
                "shoulder, elbow and wrist must be three places of the arm; "
                f"upper arm and forearm have lengths {self.lengths[:2].tolist()}."
            )
        self._stepper: Stepper | None = None

    # -- whole clips --------------------------------------------------------------------------

    def goal(self, markers: Any, mapping: PlaneMap | None = None) -> Goal:
        """Return what markers or an :class:`ArmClip` ask of the arm, in its base frame."""
        return read_goal(self, markers, mapping)

    def retarget(
        self,
        markers: Any,
        fps: float | None = None,
        *,
        mapping: PlaneMap | None = None,
        slowdown: float | str = 1.0,
        start: ArrayLike | None = None,
    ) -> Retargeted:
        """Solve a whole clip.

        Parameters
        ----------
        markers : Markers or ArmClip
            The person.
        fps : float, default=None
            Samples per second of markers; a clip knows its own.
        mapping : PlaneMap, default=None
            Where the tip goes, such as :func:`plane_map` for writing on a plane; None puts it where the
            person's directions with the arm's own lengths put it.
        slowdown : float or "auto", default=1.0
            Times as slow as the person; persons are faster than most arms. "auto" keeps the person's pace
            and samples per second but where limits of speed or acceleration bind: there, and only there,
            it takes the time that the joints need, so that there are more samples than the clip has.
            ``clock`` of the result says which moment of the clip each shows. If a tip that is asked for is
            missed in spite of that, the whole clip is played slower, at its own samples.
        start : array-like of shape (n, n_joints), default=None
            A path to begin from instead of the one that is found.
        """
        rate = getattr(markers, "fps", None) if fps is None else fps
        if rate is None or not 0 < rate < np.inf:
            raise ValueError(f"fps == {rate}, must be a positive number: samples per second.")
        goal = self.goal(markers, mapping)
        dt = 1.0 / float(rate)
        if len(goal) < 2:
            raise ValueError(f"the clip has {len(goal)} sample, must have at least 2: use step().")
        if slowdown == "auto":
            return self._at_its_pace(goal, dt, start)
        if isinstance(slowdown, str) or not 0 < slowdown < np.inf:
            raise ValueError(f"slowdown == {slowdown!r}, must be a positive number or 'auto'.")
        clock: Array = np.arange(len(goal), dtype=np.float64) * dt
        dt *= slowdown
        path = self._first_path(goal, dt, self.velocity, start)
        return self._outcome(self._solve(path, goal, dt), goal, dt, clock)

    def _at_its_pace(self, goal: Goal, dt: float, start: ArrayLike | None) -> Retargeted:
        """A path as if there were no limits of speed, then the clip again by the clock that it needs."""
        low, high = self.arm.limits.T
        free = np.full(len(low), np.inf)
        path = self._first_path(goal, dt, free, start)
        path = self._solve(path, goal, dt, PathLimits(low, high, free, free)).q
        times = interval_times(path, dt, self.velocity, self.acceleration)
        places = read_clock(times, dt)
        now = goal.between(places)
        done = self._outcome(self._solve(sampled(path, places), now, dt), now, dt, dt * places)
        pace = float(times.max())
        for _ in range(_MOST_TIMES_SLOWER):  # the way of a tip between samples may be too long
            if not self._wants_tip(goal) or _late(done) <= MISSED_SHARE:
                break
            path = self._first_path(goal, pace, self.velocity, start)
            clock = np.arange(len(goal), dtype=np.float64) * dt
            slower = self._outcome(self._solve(path, goal, pace), goal, pace, clock)
            done = min(done, slower, key=_late)
            pace *= 2
        return done

    def _first_path(self, goal: Goal, dt: float, speed: Array, start: ArrayLike | None) -> Array:
        if start is None:
            return first_path(self.task, goal, dt, speed)
        return np.array(start, dtype=np.float64)

    def _wants_tip(self, goal: Goal) -> bool:
        return goal.tip is not None and bool(self.weights.get("tip"))

    def _solve(
        self, path: Array, goal: Goal, dt: float, limits: PathLimits | None = None
    ) -> PathResult:
        limits = self._path_limits(dt) if limits is None else limits
        bend = (self.smoothing / dt) ** 4
        found = solve_path(self._rows(goal), path, bend, limits)
        if goal.tip is None or not self._wants_tip(goal):
            return found
        shift = np.zeros_like(goal.tip)  # multipliers of the tip, divided by its weight
        n_iter = found.n_iter
        for _ in range(_MOST_MULTIPLIERS):
            miss = self.arm.limb(found.q, self.places)[0][:, 3] - goal.tip
            distance = np.linalg.norm(miss, axis=1)
            small = distance < 0.05  # further away it is out of reach
            if not (distance[small] > REACHED_TIP / 10).any():
                break
            shift = np.where(small[:, None], shift - miss, 0.0)
            task = self._rows(goal.moved(shift))
            before = found.q
            found = solve_path(task, found, bend, limits, max_iter=10)
            n_iter += found.n_iter
            if np.abs(found.q - before).max() < _STUCK:  # against a limit that it has met too soon
                found = solve_path(task, found.q, bend, limits)
                n_iter += found.n_iter
        return replace(found, n_iter=n_iter)

    def _rows(self, goal: Goal) -> Any:
        task, m = self.task, self.arm.n_joints

        def rows(q: Array) -> tuple[Array, Array, Array]:
            r, J = task.rows(q, goal)
            rest, slope, curve = task.comfort(q)
            H = J.transpose(0, 2, 1) @ J
            H[:, range(m), range(m)] += curve
            return (r * r).sum(axis=1) + rest, np.einsum("nri,nr->ni", J, r) + slope, H

        return rows

    def _path_limits(self, dt: float) -> PathLimits:
        low, high = self.arm.limits.T
        room = MARGIN * (high - low)
        step = (1 - 1e-6) * self.velocity * dt
        bend = (1 - 1e-6) * self.acceleration * dt**2
        return PathLimits(low + room, high - room, _bound(step), _bound(bend))

    def _outcome(self, found: PathResult, goal: Goal, dt: float, clock: Array) -> Retargeted:
        errors = self.task.errors(found.q, goal)
        asked = self._asked(goal)
        reached = is_within(errors, asked)
        reachable = reached.copy()
        rows = np.flatnonzero(~reached)
        if len(rows):  # could any posture do it? From where the arm is, and from other postures
            single = goal[rows]
            alone, _ = solve_rows(self.task, single, found.q[rows], max_iter=30)
            reachable[rows] = is_within(self.task.errors(alone, single), asked)
            rows = rows[~reachable[rows]]
        if len(rows):
            starts = starting_postures(self.task, 6)
            single = goal[rows].repeat(len(starts))
            alone, _ = solve_rows(self.task, single, np.tile(starts, (len(rows), 1)), max_iter=30)
            good = is_within(self.task.errors(alone, single), asked)
            reachable[rows] = good.reshape(len(rows), -1).any(axis=1)
        return Retargeted(
            found.q, dt, errors, reached, reachable, found.converged, found.n_iter, clock
        )

    def _asked(self, goal: Goal) -> list[str]:
        """The parts of the goal that count for having reached it."""
        if self._wants_tip(goal):
            return ["tip"]
        given = {"upper": goal.upper, "fore": goal.fore, "normal": goal.normal}
        names = ("upper", "fore") if self.weights.get("directions") else ("normal",)
        return [name for name in names if given[name] is not None]

    def has_reached(self, errors: Mapping[str, float], goal: Goal) -> bool:
        """Whether one sample is within 2 degrees and 1 mm of what was asked for."""
        return bool(is_within(errors, self._asked(goal)))

    # -- sample by sample ---------------------------------------------------------------------

    def step(self, markers: Any, dt: float) -> Step:
        """Return the next posture of a live stream.

        The first call finds a posture from many starts; later ones move from the posture before within
        the limits. :meth:`reset` begins again.

        Parameters
        ----------
        markers : dict of str to array-like of shape (3,)
            ``left_shoulder``, ``right_shoulder``, ``elbow``, ``wrist``; ``finger`` and ``thumb`` if seen.
        dt : float
            Seconds since the last sample.
        """
        if self._stepper is None:
            self._stepper = Stepper(self)
        return self._stepper.step(self.goal(markers), dt)

    def reset(self, q: ArrayLike | None = None) -> None:
        """Forget the stream; ``q`` is the posture in which the arm rests now, None if any will do."""
        self._stepper = Stepper(self)
        if q is not None:
            self._stepper.rest_at(np.asarray(q, dtype=np.float64))


def _check_weights(weights: Mapping[str, float] | None) -> dict[str, float]:
    known = ("directions", "hand", "tip", "normal")
    for name in weights or {}:
        if name not in known:
            raise ValueError(f"weights has {name!r}, the parts are {', '.join(known)}.")
    return {
        name: check_non_negative(w, f"weights[{name!r}]") for name, w in (weights or {}).items()
    }


def _late(done: Retargeted) -> float:
    """The share of samples that the arm could take and does not."""
    return float(np.mean(done.reachable & ~done.reached))


def _bound(limits: Array) -> Array:
    if np.isfinite(limits).any():
        return np.minimum(limits, _UNBOUNDED)
    return limits
