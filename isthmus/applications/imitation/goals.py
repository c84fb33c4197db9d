"""From a person's markers to what the arm is asked for, in its base frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from isthmus.applications.imitation.clip_transfer import Markers
from isthmus.applications.imitation.clips import MOUNTING, ArmClip
from isthmus.applications.imitation.limb_task import Goal
from isthmus.applications.imitation.mapping import PlaneMap, posture_normals

if TYPE_CHECKING:
    from isthmus.applications.imitation.retarget import Retargeter

Array = NDArray[np.float64]

FORWARD = "forward"
SIDEWAYS = "side"
_TILT = np.radians(
    30
)  # of the axis below level: hanging, forwards and across are within 94 degrees


def _side_mounting() -> Array:
    """The base's z to the right and down, where no upper arm points; its x forwards and down."""
    z = np.array([-np.cos(_TILT), 0.0, -np.sin(_TILT)])
    x = np.array([0.0, -1.0, -1.0])
    x -= (x @ z) * z
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


# Base axes in the frame of a trunk that faces -Y with z up, as columns.
MOUNTINGS = {
    SIDEWAYS: _side_mounting(),
    FORWARD: MOUNTING,
    "up": np.array([[0.0, 1, 0], [-1, 0, 0], [0, 0, 1]]),
}
SHORTEST = 0.01  # of the arm; a limb of less is no limb
HUMAN = (0.15, 1.5)  # metres from shoulder to wrist


def find_mounting(mounting: Any, side: str) -> Array:
    """Return the base axes by name or as given; the mounting at the side is mirrored for a left arm."""
    if not isinstance(mounting, str):
        M = np.asarray(mounting, dtype=np.float64)
        if M.shape != (3, 3) or not np.allclose(M.T @ M, np.eye(3), atol=1e-6):
            raise ValueError(f"mounting has shape {M.shape}, must be a (3, 3) rotation.")
        return M
    if mounting not in MOUNTINGS:
        known = ", ".join(map(repr, MOUNTINGS))
        raise ValueError(f"mounting == {mounting!r}, must be {known} or a rotation.")
    M = MOUNTINGS[mounting]
    if mounting == SIDEWAYS and side == "left":
        x, _, z = (M * [[-1], [1], [1]]).T
        return np.stack([x, np.cross(z, x), z], axis=1)
    return M


def read_goal(retargeter: Retargeter, markers: Any, mapping: PlaneMap | None) -> Goal:
    """Return the goal of markers (whole or of one sample) or of a clip of directions."""
    M = retargeter.mounting
    if isinstance(markers, ArmClip):
        return _with_tip(retargeter, markers.upper @ M, markers.fore @ M, None, None)
    if isinstance(markers, Goal):
        return markers
    if isinstance(markers, Mapping):
        markers = Markers.single(markers, side=retargeter.side)
    elif markers.side != retargeter.side:
        raise ValueError(
            f"the markers are of the {markers.side} arm, the retargeter is for the {retargeter.side}."
        )
    return goal_of_markers(retargeter, markers, mapping)


def goal_of_markers(retargeter: Retargeter, markers: Markers, mapping: PlaneMap | None) -> Goal:
    """Directions, and where asked for tip and normal, of markers."""
    wrist = markers.finger if markers.wrist is None else markers.wrist
    shoulder = markers.shoulder
    limbs = {"upper arm": markers.elbow - shoulder, "forearm": wrist - markers.elbow}
    units = check_limbs(limbs)
    turn = (
        _turn_of(markers, mapping) if mapping is not None else _trunk_to_base(retargeter, markers)
    )
    upper, fore = (np.einsum("nij,nj->ni", turn, units[name]) for name in limbs)
    hand, palm = _hand(markers, turn, retargeter.palm is not None)
    if mapping is None and retargeter.objective != "normal":
        return _with_tip(retargeter, upper, fore, hand, palm)
    return _map(retargeter, markers, mapping, upper, fore, hand, palm)


def check_limbs(limbs: Mapping[str, Array]) -> dict[str, Array]:
    """Return unit vectors, or name the limb and sample that has no length, or the unit that is wrong."""
    lengths = {name: np.sqrt((vector**2).sum(axis=-1)) for name, vector in limbs.items()}
    whole = float(np.median(sum(lengths.values())))
    for name, length in lengths.items():
        if not (length > SHORTEST * whole).all():
            sample = int(np.argmin(length))
            raise ValueError(
                f"the {name} has length {length[sample]:.3g} at sample {sample}: its two markers "
                "coincide. Check the names of the joints, or leave the sample out."
            )
    if not HUMAN[0] <= whole <= HUMAN[1]:
        raise ValueError(
            f"the arm is {whole:.3g} m from shoulder to wrist, which no person's is: markers must be in "
            "metres (millimetres times 0.001, which is --unit 0.001, centimetres times 0.01)."
        )
    return {name: vector / lengths[name][..., None] for name, vector in limbs.items()}


def _trunk_to_base(retargeter: Retargeter, markers: Markers) -> Array:
    """Rotations from the world (z up) to the base, by the heading of the shoulders, (n, 3, 3)."""
    left = markers.left_shoulder - markers.right_shoulder
    across = np.hypot(left[:, 0], left[:, 1])
    if not (across > 1e-6).all():
        sample = int(across.argmin())
        raise ValueError(
            f"left and right shoulder are above each other at sample {sample}: they show no direction."
        )
    c, s = left[:, 0] / across, left[:, 1] / across
    heading = np.zeros((len(left), 3, 3))
    heading[:, 0, 0], heading[:, 0, 1] = c, s
    heading[:, 1, 0], heading[:, 1, 1] = -s, c
    heading[:, 2, 2] = 1.0
    return retargeter.mounting.T @ heading


def _turn_of(markers: Markers, mapping: PlaneMap) -> Array:
    return np.broadcast_to(mapping.rotation, (len(markers.elbow), 3, 3))


def _hand(markers: Markers, turn: Array, roll: bool) -> tuple[Array | None, Array | None]:
    """Direction of the hand, and the palm's normal where a thumb is seen."""
    if markers.wrist is None:
        return None, None
    along = markers.finger - markers.wrist
    length = np.linalg.norm(along, axis=1)
    if not (length > 1e-3).all():  # a file without a finger gives the wrist twice
        return None, None
    hand = np.einsum("nij,nj->ni", turn, along / length[:, None])
    if markers.thumb is None or not roll:
        return hand, None
    across = np.cross(along, markers.thumb - markers.wrist)
    if markers.side == "left":
        across = -across
    size = np.linalg.norm(across, axis=1)
    if not (size > 1e-6).all():
        raise ValueError(
            f"wrist, finger and thumb are in line at sample {int(size.argmin())}: no palm is defined."
        )
    return hand, np.einsum("nij,nj->ni", turn, across / size[:, None])


def _with_tip(
    retargeter: Retargeter, upper: Array, fore: Array, hand: Array | None, palm: Array | None
) -> Goal:
    """Put the tip where the directions with the arm's own lengths put it: each limb has its scale."""
    tip = None
    if retargeter.weights.get("tip"):
        a, b, c = retargeter.lengths
        last = fore if hand is None else hand
        tip = retargeter.shoulder_place + a * upper + b * fore + c * last
    return Goal(upper=upper, fore=fore, hand=hand, palm=palm, tip=tip)


def _map(
    retargeter: Retargeter,
    markers: Markers,
    mapping: PlaneMap | None,
    upper: Array,
    fore: Array,
    hand: Array | None,
    palm: Array | None,
) -> Goal:
    """The tip by a similarity, and the posture normals of [B2006]_ Sec. 5.3."""
    from isthmus.applications.imitation.clip_transfer import natural_map

    mapping = natural_map(retargeter.arm, markers) if mapping is None else mapping
    left = mapping(markers.left_shoulder)
    reference = mapping.target
    normals = None
    if retargeter.weights.get("normal"):
        normals = posture_normals(left, mapping(markers.elbow), reference)
    return Goal(
        upper=upper,
        fore=fore,
        hand=hand,
        palm=palm,
        tip=mapping(markers.finger) if retargeter.weights.get("tip") else None,
        normal=normals,
        left=left.mean(axis=0),
        reference=reference,
    )
