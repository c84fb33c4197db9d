"""Motion capture to an arm, from a file to joint angles and a story that can be shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.applications.imitation.actor import Film, Scene
from isthmus.applications.imitation.arm import SerialArm
from isthmus.applications.imitation.branches import starting_postures
from isthmus.applications.imitation.clip_transfer import Markers
from isthmus.applications.imitation.clips import ArmClip
from isthmus.applications.imitation.execution import CONTROLLER, track
from isthmus.applications.imitation.goals import MOUNTINGS, SIDEWAYS
from isthmus.applications.imitation.limb_task import Goal, solve_rows
from isthmus.applications.imitation.motion_input import Recording, read_markers
from isthmus.applications.imitation.read_models import read_arm
from isthmus.applications.imitation.retarget import Retargeter
from isthmus.applications.imitation.retargeted import Retargeted
from isthmus.applications.imitation.shoulder_elbow import pa10
from isthmus.applications.imitation.show import Story

Progress = Callable[[str, int, int], None]
Array = NDArray[np.float64]

FPS = 30.0  # of films and, unless asked otherwise, of the angles
SMALL = 0.005  # squared radians: about four degrees, or joints near a limit
TRIED = 25  # samples of a clip on which mountings are compared
SHOWN = 320  # pixels of the pictures of the person


@dataclass(frozen=True)
class Copy:
    """A recording, the arm that copies it, and what came out."""

    recording: Recording
    arm: SerialArm
    retargeter: Retargeter
    done: Retargeted
    mounting: str

    @property
    def goal(self) -> Goal:
        """What each sample of the copy was asked for."""
        goal = self.retargeter.goal(self.recording.markers)
        return goal.between(self.done.clock * self.recording.fps)

    def facts(self) -> dict[str, str]:
        """What is worth reading about it."""
        errors, done = self.done.errors, self.done
        speed = np.abs(done.velocity).max(axis=0)
        limits = self.retargeter.velocity
        lines = {
            "mean angle of the upper arm to the person's": _degrees(errors["upper"]),
            "mean angle of the forearm to the person's": _degrees(errors["fore"]),
            "samples reached": f"{int(done.reached.sum())} of {len(done.q)}",
            "samples out of reach": str(int((~done.reachable).sum())),
            "time": self._time(),
            "mounting": self.mounting,
            "solver": "converged"
            if done.converged
            else "stopped early: the angles may be improved",
        }
        if not np.isfinite(limits).any():
            lines["speed limits"] = "none in the model: the person's pace is kept"
        if np.isfinite(limits).all():
            lines["greatest share of a speed limit"] = f"{100 * (speed / limits).max():.0f} %"
        if "tip" in errors:
            lines["largest distance of the tip, samples reached"] = (
                f"{1000 * errors['tip'][done.reached].max(initial=0):.2g} mm"
            )
        return lines

    def _time(self) -> str:
        """How much longer than the person the arm takes, and why."""
        done, names = self.done, self.arm.names
        took = done.dt * (len(done.q) - 1)
        text = f"{took:.1f} s, {done.slowdown:.2f} times the person's"
        if done.pace.max() < 1.01:
            return text
        share = np.abs(done.velocity) / self.retargeter.velocity
        slow = done.pace > 1.01
        if not slow.any() or not np.isfinite(self.retargeter.velocity).any():
            return text
        joint = int(np.bincount(share[slow].argmax(axis=1), minlength=len(names)).argmax())
        return (
            f"{text}; slower in {100 * slow.mean():.0f} % of it, at most {done.pace.max():.1f} times, "
            f"because joints cannot turn as fast (mostly {names[joint]}, "
            f"{self.retargeter.velocity[joint]:.3g} rad/s)"
        )


def _degrees(angles: Array) -> str:
    return f"{np.degrees(angles.mean()):.2f} degrees"


def copy_mocap(
    path: str | Path,
    *,
    arm: str | Path | SerialArm | None = None,
    base: str | None = None,
    tip: str | None = None,
    fixed: Mapping[str, float] | None = None,
    limb: Mapping[str, str] | None = None,
    side: str = "right",
    joints: Mapping[str, str] | None = None,
    objective: str = "directions",
    mounting: str = "auto",
    slowdown: float | str = "auto",
    unit: float | None = None,
    fps: float | None = None,
    n_frames: int | None = None,
) -> Copy:
    """Let an arm copy a motion file.

    Parameters
    ----------
    path : str or Path
        The motion file; see :func:`read_markers`.
    arm : str, Path or SerialArm, default=None
        A URDF or MJCF file, or an arm; None is the PA-10.
    base, tip : str, default=None
        First and last link in that file.
    fixed : dict of str to float, default=None
        Joints of that file that are held, such as a torso's lift.
    limb : dict of str to str, default=None
        Links at ``shoulder``, ``elbow`` and ``wrist``; see :class:`Retargeter`.
    side, joints, unit
        See :func:`read_markers`.
    objective
        See :class:`Retargeter`.
    mounting : {"auto", "side", "forward", "up"}, default="auto"
        See :class:`Retargeter`; "auto" is :func:`best_mounting`.
    slowdown : float or "auto", default="auto"
        See :meth:`Retargeter.retarget`.
    fps : float, default=None
        Samples per second to keep, at most those of the file; None is about 30.
    n_frames : int, default=None
        Keep at most so many.
    """
    recording = read_markers(path, side=side, joints=joints, unit=unit)
    recording = recording.every(FPS if fps is None else fps)
    if n_frames is not None:
        recording = Recording(recording.markers[:n_frames], recording.fps, recording.name)
    if len(recording) < 2:
        raise ValueError(
            f"{Path(path).name} has {len(recording)} sample, a movement has at least 2."
        )
    if arm is None:
        arm = pa10()
    elif not isinstance(arm, SerialArm):
        arm = read_arm(arm, base=base, tip=tip, fixed=fixed)
    options: dict[str, Any] = {**(limb or {}), "objective": objective, "side": side}
    if mounting == "auto":
        mounting = best_mounting(arm, recording.markers, **options)
    retargeter = Retargeter(arm, mounting=mounting, **options)
    done = retargeter.retarget(recording.markers, recording.fps, slowdown=slowdown)
    return Copy(recording, arm, retargeter, done, mounting)


def best_mounting(arm: SerialArm, markers: Markers | ArmClip, **options: Any) -> str:
    """Return the mounting in which the arm can take the person's postures best.

    Some samples of the clip are solved each for itself, from a few starts; the mounting at the side is
    kept unless another has less than four fifths of its cost, with what is small not counted.
    """
    costs = {}
    for name in MOUNTINGS:
        retargeter = Retargeter(arm, mounting=name, **options)
        goal = retargeter.goal(markers)
        some = goal[np.unique(np.linspace(0, len(goal) - 1, TRIED).astype(int))]
        starts = starting_postures(retargeter.task, 8)
        tiled = np.tile(starts, (len(some), 1))
        _, cost = solve_rows(retargeter.task, some.repeat(len(starts)), tiled, max_iter=12)
        costs[name] = float(cost.reshape(len(some), -1).min(axis=1).mean())
    best = min(costs, key=lambda name: costs[name])
    if costs[best] + SMALL < 0.8 * (costs[SIDEWAYS] + SMALL):
        return best
    return SIDEWAYS


def mocap_story(copy: Copy, *, film: bool = True, progress: Progress | None = None) -> Story:
    """Return what is shown of a copy; ``film`` renders the person too."""
    errors, done = copy.done.errors, copy.done
    pictures = _pictures(copy, progress) if film else None
    names = {"upper": "upper arm", "fore": "forearm", "hand": "hand", "normal": "normal"}
    return Story(
        title=f"A robot arm follows {copy.recording.name}, by optimisation",
        arm=copy.arm,
        q=done.q,
        fps=1.0 / done.dt,
        person=pictures,
        angles={text: np.degrees(errors[key]) for key, text in names.items() if key in errors},
        errors={"tip": 1000 * errors["tip"]} if "tip" in errors else {},
        held=~done.reached,
        facts=copy.facts(),
        compare={CONTROLLER: _controller(copy)},
        mounting=copy.retargeter.mounting,
        extra={"times slower than the person": {"pace": np.append(done.pace, done.pace[-1])}}
        if done.pace.max() > 1.01
        else {},
        clock=done.clock,
    )


def _controller(copy: Copy) -> Array:
    """The plain controller along the same path of the tip, for comparison."""
    tips = copy.arm.points(copy.done.q)[:, -1]
    return track(copy.arm, tips, copy.arm.clip(copy.done.q[0])).q


def _pictures(copy: Copy, progress: Progress | None) -> NDArray[np.uint8]:
    """The person with the same directions; a left arm is filmed as its mirror image."""
    goal, M = copy.goal, copy.retargeter.mounting
    assert goal.upper is not None and goal.fore is not None
    mirror = np.array([-1.0 if copy.retargeter.side == "left" else 1.0, 1.0, 1.0])
    clip = ArmClip(copy.recording.name, goal.upper @ M.T * mirror, goal.fore @ M.T * mirror)
    frames = []
    with Film(Scene(noise=0.0), size=SHOWN) as film:
        for i, (u, v) in enumerate(zip(clip.upper, clip.fore)):
            picture = film.arm_frame(u, v)
            frames.append(picture[:, ::-1] if mirror[0] < 0 else picture)
            if progress is not None:
                progress("filming the person", i + 1, len(clip))
    return np.array(frames, dtype=np.uint8)
