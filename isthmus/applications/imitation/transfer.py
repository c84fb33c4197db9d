"""Motion capture to an arm by optimisation: map, begin, follow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isthmus.applications.imitation.checks import check_trajectory
from isthmus.applications.imitation.execution import Execution, follow
from isthmus.applications.imitation.mapping import (
    PlaneMap,
    default_scale,
    posture_normals,
)
from isthmus.applications.imitation.shoulder_elbow import ShoulderElbowArm

Array = NDArray[np.float64]

START_ALPHA = 1e-3


@dataclass(frozen=True)
class Markers:
    """Places of four points of a person, each (n, 3) in metres, in a frame with z up."""

    left_shoulder: Array
    right_shoulder: Array
    elbow: Array
    finger: Array

    def __post_init__(self) -> None:
        shapes = {
            name: check_trajectory(getattr(self, name), name, columns=3).shape
            for name in self.__dataclass_fields__
        }
        if len(set(shapes.values())) > 1:
            raise ValueError(f"markers have different lengths: {shapes}.")

    def __getitem__(self, rows: slice) -> Markers:
        return Markers(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))

    @property
    def arm_length(self) -> float:
        """Median length of the stretched right arm."""
        upper = np.linalg.norm(self.elbow - self.right_shoulder, axis=1)
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
    arm: ShoulderElbowArm,
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
    arm : ShoulderElbowArm
        The arm, such as :func:`~isthmus.applications.imitation.arm.pa10`.
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


def natural_map(arm: ShoulderElbowArm, markers: Markers, *, scale: float | None = None) -> PlaneMap:
    """Put the arm in the place of the person's right arm.

    The person's right, up and forward at the first sample become the base's x, -y and z (the default
    mounting), and the right shoulder goes to the base. ``scale`` None gives a stretched human arm 93 % of
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
    target = scale * rotation @ (markers.finger[0] - markers.right_shoulder[0])
    target[2] += arm.base_offset
    return PlaneMap(rotation, float(scale), markers.finger[0], target)


def at_rest(markers: Markers) -> Markers:
    """Markers relative to a right shoulder that stays where it was at the first sample."""
    drift = markers.right_shoulder - markers.right_shoulder[0]
    return Markers(*(getattr(markers, name) - drift for name in markers.__dataclass_fields__))


def initial_posture(
    arm: ShoulderElbowArm,
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
    upper = mapping.directions(markers.elbow[0] - markers.right_shoulder[0])
    fore = mapping.directions(markers.finger[0] - markers.elbow[0])
    guess = arm.posture_from_directions(upper, fore)
    twice = np.repeat(targets[:1], 2, axis=0)  # a trajectory has two samples
    done = follow(
        arm, twice, np.repeat(normals[:1], 2, axis=0), left, reference, guess, alpha=START_ALPHA
    )
    return done.q[0]
