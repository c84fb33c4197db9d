"""Motion capture to an arm by optimisation: map, begin, follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isthmus.applications.imitation.arm import SerialArm
from isthmus.applications.imitation.checks import check_trajectory
from isthmus.applications.imitation.execution import Execution, follow
from isthmus.applications.imitation.mapping import (
    PlaneMap,
    default_scale,
    posture_normals,
)
from isthmus.applications.imitation.shoulder_elbow import ShoulderElbowArm

Array = NDArray[np.float64]

# A faint pull to the reference: only the first frame needs it to choose among its solutions.
START_ALPHA = 1e-3


MARKERS = ("left_shoulder", "right_shoulder", "elbow", "finger", "wrist", "thumb")


@dataclass(frozen=True)
class Markers:
    """Places of points of a person, each (n, 3) in metres, in a frame with z up.

    Attributes
    ----------
    left_shoulder, right_shoulder : ndarray of shape (n, 3)
        Both shoulders: they show where the trunk faces.
    elbow, finger : ndarray of shape (n, 3)
        Of the arm that is followed.
    wrist, thumb : ndarray of shape (n, 3), default=None
        Likewise; without a wrist the forearm ends at the finger, without a thumb the hand has a
        direction and no roll.
    side : {"right", "left"}, default="right"
        Which arm it is.
    """

    left_shoulder: Array
    right_shoulder: Array
    elbow: Array
    finger: Array
    wrist: Array | None = None
    thumb: Array | None = None
    side: str = "right"

    def __post_init__(self) -> None:
        if self.side not in ("right", "left"):
            raise ValueError(f"side == {self.side!r}, must be 'right' or 'left'.")
        shapes = {
            name: check_trajectory(values, name, columns=3, shortest=1).shape
            for name, values in self._given()
        }
        if len(set(shapes.values())) > 1:
            raise ValueError(f"markers have different lengths: {shapes}.")

    @classmethod
    def single(cls, places: Mapping[str, ArrayLike], side: str = "right") -> Markers:
        """One sample from places (3,) by name; ``finger`` may be missing where there is a wrist."""
        for name in places:
            if name not in MARKERS:
                raise ValueError(f"marker {name!r} is unknown, the names are {', '.join(MARKERS)}.")
        rows = {name: np.asarray(x, dtype=np.float64).reshape(1, -1) for name, x in places.items()}
        rows.setdefault("finger", rows.get("wrist", np.empty((1, 0))))
        for name in MARKERS[:4]:
            if name not in rows or rows[name].size == 0:
                raise ValueError(
                    f"marker {name!r} is missing, needed are {', '.join(MARKERS[:4])}."
                )
        return cls(**rows, side=side)

    def _given(self) -> list[tuple[str, Array]]:
        return [(name, x) for name in MARKERS if (x := getattr(self, name)) is not None]

    def __len__(self) -> int:
        return len(self.elbow)

    def __getitem__(self, rows: slice) -> Markers:
        return Markers(**{name: values[rows] for name, values in self._given()}, side=self.side)

    @property
    def shoulder(self) -> Array:
        """The shoulder of the arm that is followed."""
        if self.side == "right":
            return self.right_shoulder
        return self.left_shoulder

    @property
    def arm_length(self) -> float:
        """Median length of the stretched arm."""
        upper = np.linalg.norm(self.elbow - self.shoulder, axis=1)
        fore = np.linalg.norm(self.finger - self.elbow, axis=1)
        return float(np.median(upper + fore))


@dataclass(frozen=True)
class Transfer:
    """What :func:`transfer` returns: the map, the targets and how the arm followed."""

    mapping: PlaneMap
    targets: Array
    normals: Array
    left: Array
    reference: Array
    start: Array
    execution: Execution


def transfer(
    arm: SerialArm,
    markers: Markers,
    mapping: PlaneMap | None = None,
    *,
    alpha: float = 0.1,
    solver: str = "slsqp",
    constant_normal: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Transfer:
    """Let an arm draw what a person drew, in the person's style.

    Parameters
    ----------
    arm : SerialArm
        The arm, such as :func:`pa10` or ``read_arm("arm.urdf")``.
    markers : Markers
        Where the person's points were.
    mapping : PlaneMap, default=None
        From the person's space to the arm's base frame: :func:`plane_map` puts a drawing on a plane,
        None is :func:`natural_map`, the arm in the place of the person's.
    alpha, solver, progress
        See :func:`follow`.
    constant_normal : bool, default=False
        Keep the normal of the first sample instead of that of each sample.
    """
    mapping = natural_map(arm, markers) if mapping is None else mapping
    targets = mapping(markers.finger)
    left = mapping(markers.left_shoulder).mean(axis=0)
    reference = mapping.target
    normals = posture_normals(mapping(markers.left_shoulder), mapping(markers.elbow), reference)
    if constant_normal:
        normals = np.repeat(normals[:1], len(normals), axis=0)
    start = initial_posture(arm, markers, mapping, targets, normals, left, reference)
    execution = follow(
        arm,
        targets,
        normals,
        left,
        reference,
        start,
        alpha=alpha,
        solver=solver,
        progress=progress,
    )
    return Transfer(mapping, targets, normals, left, reference, start, execution)


def natural_map(arm: SerialArm, markers: Markers, *, scale: float | None = None) -> PlaneMap:
    """Put the arm in the place of the person's.

    The person's right, up and forward at the first sample become the base's x, -y and z (the default
    mounting), and its shoulder goes to the base. ``scale`` None gives a stretched human arm 93 % of
    the arm's reach.
    """
    if scale is None:
        scale = default_scale(arm.reach[1], markers.arm_length)
    right = (markers.right_shoulder[0] - markers.left_shoulder[0]) * [1, 1, 0]
    if np.linalg.norm(right) < 1e-9:
        raise ValueError("left and right shoulder are above each other: they show no direction.")
    right = right / np.linalg.norm(right)
    forward = np.cross([0, 0, 1.0], right)
    rotation = np.stack([right, [0, 0, -1.0], forward])
    target = scale * rotation @ (markers.finger[0] - markers.shoulder[0])
    target[2] += arm.base_offset
    return PlaneMap(rotation, float(scale), markers.finger[0], target)


def at_rest(markers: Markers) -> Markers:
    """Markers relative to a shoulder that stays where it was at the first sample."""
    drift = markers.shoulder - markers.shoulder[0]
    moved = {name: values - drift for name, values in markers._given()}
    return Markers(**moved, side=markers.side)


def initial_posture(
    arm: SerialArm,
    markers: Markers,
    mapping: PlaneMap,
    targets: Array,
    normals: Array,
    left: Array,
    reference: Array,
) -> Array:
    """Posture from the first sample's directions, then one step of execution.

    The two-stage minimisation of [B2006]_ Sec. 5.3.2 does not determine it: a normal fixes one
    number.
    """
    upper = mapping.directions(markers.elbow[0] - markers.shoulder[0])
    fore = mapping.directions(markers.finger[0] - markers.elbow[0])
    if isinstance(arm, ShoulderElbowArm):
        guess = arm.posture_from_directions(upper, fore)
    else:
        guess = _posture_like(arm, upper, fore)
    twice = np.repeat(targets[:1], 2, axis=0)  # a trajectory has two samples
    done = follow(
        arm, twice, np.repeat(normals[:1], 2, axis=0), left, reference, guess, alpha=START_ALPHA
    )
    return done.q[0]


def _posture_like(arm: SerialArm, upper: Array, fore: Array) -> Array:
    """A posture of any arm whose limbs point along two directions, by the retargeter's own solver."""
    from isthmus.applications.imitation.limb_task import Goal
    from isthmus.applications.imitation.retarget import Retargeter

    unit = [v / np.linalg.norm(v) for v in (upper, fore)]
    return Retargeter(arm).step(Goal(upper=unit[0][None], fore=unit[1][None]), 1.0).q
