"""Model files of arms: URDF written and read, MJCF written. All numbers have 17 digits."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from isthmus.applications.imitation.arm import SerialArm, translation

Array = NDArray[np.float64]

LINK_RADIUS = 0.05  # metres; of the capsules that stand for links in MJCF files
_TURNING = ("revolute", "continuous")


def to_urdf(arm: SerialArm) -> str:
    """Return the arm as URDF text: one hinge about z a joint, fixed joints where frames are off it."""
    robot = ET.Element("robot", name=arm.name)
    ET.SubElement(robot, "link", name="base")
    parent = "base"
    for j, pose in enumerate(_origins(arm)):
        child = f"link{j + 1}"
        joint = _joint(robot, arm.names[j], "revolute", parent, child, pose)
        ET.SubElement(joint, "axis", xyz="0 0 1")
        low, high = arm.limits[j]
        ET.SubElement(
            joint, "limit", lower=_text(low), upper=_text(high), effort="100", velocity="3.14"
        )
        parent = child
        if not np.array_equal(arm.after[j], np.eye(4)):
            parent = f"{child}_end"
            _joint(robot, f"{arm.names[j]}_end", "fixed", child, parent, arm.after[j])
    return _pretty(robot)


def _joint(robot: ET.Element, name: str, kind: str, parent: str, child: str, pose: Array) -> Any:
    ET.SubElement(robot, "link", name=child)
    joint = ET.SubElement(robot, "joint", name=name, type=kind)
    ET.SubElement(joint, "parent", link=parent)
    ET.SubElement(joint, "child", link=child)
    ET.SubElement(joint, "origin", xyz=_text(*pose[:3, 3]), rpy=_text(*_roll_pitch_yaw(pose)))
    return joint


def read_urdf(source: str | Path, *, tip: str | None = None) -> SerialArm:
    """Read a serial arm from URDF text or a file.

    Revolute and continuous joints are hinges (a continuous one gets limits of half a turn to each
    side); fixed joints are merged into the hinge before them. The point of a hinge is the origin
    of the last link that it carries.

    Parameters
    ----------
    source : str or Path
        URDF text, or the path of a file.
    tip : str, default=None
        The last link; needed where the model branches.
    """
    text = str(source)
    root = ET.fromstring(text if "<robot" in text else Path(source).read_text("utf-8"))
    chain = list(_chain(root, tip))
    before: list[Array] = []
    after: list[Array] = []
    limits: list[tuple[float, float]] = []
    names: list[str] = []
    waiting = np.eye(4)
    for joint in chain:
        kind, pose = joint.get("type"), _origin(joint)
        if kind == "fixed":
            if after:
                after[-1] = after[-1] @ pose
            else:
                waiting = waiting @ pose
        elif kind in _TURNING:
            turn = _z_to(_numbers(joint, "axis", "xyz", "1 0 0"))
            before.append(waiting @ pose @ turn)
            after.append(turn.T.copy())
            waiting = np.eye(4)
            limits.append(_limit(joint))
            names.append(str(joint.get("name")))
        else:
            raise ValueError(
                f"joint {joint.get('name')!r} has type {kind!r}: only revolute, continuous and fixed "
                "joints make a serial arm of hinges."
            )
    if not before:
        raise ValueError("the URDF model has no revolute or continuous joint.")
    return SerialArm(before, after, limits=limits, names=names, name=str(root.get("name", "arm")))


def to_mjcf(arm: SerialArm, *, radius: float = LINK_RADIUS) -> str:
    """Return the arm as MJCF text for MuJoCo, a body a joint and capsules of density 1000 for links.

    The capsules stand in for links whose masses are not public; what depends on masses (kinetic
    energy) is meant for comparisons alone.
    """
    root = ET.Element("mujoco", model=arm.name)
    ET.SubElement(root, "compiler", angle="radian", autolimits="true")
    world = ET.SubElement(root, "worldbody")
    add_arm_bodies(world, arm, radius=radius)
    return _pretty(root)


def add_arm_bodies(world: ET.Element, arm: SerialArm, *, radius: float = LINK_RADIUS) -> ET.Element:
    """Hang the bodies of an arm below an element of an MJCF tree and return the first of them."""
    parent, first = world, None
    ends = [*_origins(arm)[1:], None]
    pose_before = np.eye(4)
    for j, pose in enumerate(_origins(arm)):
        pose = pose_before @ pose
        body = ET.SubElement(
            parent,
            "body",
            name=f"link{j + 1}",
            pos=_text(*pose[:3, 3]),
            quat=_text(*_quaternion(pose[:3, :3])),
        )
        first = body if first is None else first
        ET.SubElement(
            body,
            "joint",
            name=arm.names[j],
            type="hinge",
            axis="0 0 1",
            range=_text(*arm.limits[j]),
        )
        site = arm.after[j][:3, 3]
        ET.SubElement(body, "site", name=f"point{j + 1}", pos=_text(*site), size="0.01")
        pose_before = arm.after[j]
        following = ends[j]
        end = site if following is None else (pose_before @ following)[:3, 3]
        _link_geom(body, end, radius, j)
        parent = body
    assert first is not None
    return first


def _link_geom(body: ET.Element, end: Array, radius: float, j: int) -> None:
    common = {"name": f"geom{j + 1}", "contype": "0", "conaffinity": "0"}
    if np.linalg.norm(end) > 1e-9:
        shape = {"type": "capsule", "fromto": _text(0, 0, 0, *end), "size": _text(radius)}
    else:
        shape = {"type": "sphere", "size": _text(1.2 * radius)}
    ET.SubElement(body, "geom", common | shape)


# -- numbers ----------------------------------------------------------------------------------


def _origins(arm: SerialArm) -> list[Array]:
    lifted = translation(0, 0, arm.base_offset) @ arm.before[0]
    return [lifted, *arm.before[1:]]


def _text(*values: float) -> str:
    return " ".join(f"{float(value) + 0.0:.17g}" for value in values)


def _pretty(root: ET.Element) -> str:
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n"


def _roll_pitch_yaw(pose: Array) -> tuple[float, float, float]:
    R = pose[:3, :3]
    pitch = np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))
    if np.hypot(R[0, 0], R[1, 0]) < 1e-12:  # pitch of a quarter turn: only one angle is left
        return float(np.arctan2(-R[1, 2], R[1, 1])), float(pitch), 0.0
    return float(np.arctan2(R[2, 1], R[2, 2])), float(pitch), float(np.arctan2(R[1, 0], R[0, 0]))


def _rotation(roll: float, pitch: float, yaw: float) -> Array:
    (cr, cp, cy), (sr, sp, sy) = np.cos([roll, pitch, yaw]), np.sin([roll, pitch, yaw])
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def _quaternion(R: Array) -> Array:
    """Unit quaternion (w, x, y, z) of a rotation."""
    return np.roll(Rotation.from_matrix(R).as_quat(), 1)


def _numbers(element: ET.Element, child: str, name: str, default: str) -> Array:
    found = element.find(child)
    text = default if found is None else found.get(name, default)
    return np.array([float(part) for part in text.split()])


def _origin(joint: ET.Element) -> Array:
    pose = np.eye(4)
    pose[:3, 3] = _numbers(joint, "origin", "xyz", "0 0 0")
    pose[:3, :3] = _rotation(*_numbers(joint, "origin", "rpy", "0 0 0"))
    return pose


def _limit(joint: ET.Element) -> tuple[float, float]:
    limit = joint.find("limit")
    if joint.get("type") == "continuous" or limit is None:
        return -np.pi, np.pi
    return float(limit.get("lower", -np.pi)), float(limit.get("upper", np.pi))


def _z_to(axis: Array) -> Array:
    """A turn that takes z to an axis, as a pose; the identity for z itself."""
    axis = axis / np.linalg.norm(axis)
    pose = np.eye(4)
    if np.allclose(axis, (0, 0, 1), atol=1e-15):
        return pose
    helper = np.eye(3)[np.abs(axis).argmin()]
    x = np.cross(helper, axis)
    x /= np.linalg.norm(x)
    pose[:3, :3] = np.stack([x, np.cross(axis, x), axis], axis=1)
    return pose


def _chain(root: ET.Element, tip: str | None) -> Iterator[ET.Element]:
    """The joints from the root to the tip."""
    joints = root.findall("joint")
    above = {_link(joint, "child"): joint for joint in joints}
    parents = {_link(joint, "parent") for joint in joints}
    leaves = sorted(set(above) - parents)
    if tip is None:
        if len(leaves) != 1:
            raise ValueError(f"the URDF model ends in {', '.join(leaves)}: name one as tip.")
        tip = leaves[0]
    if tip not in above:
        raise ValueError(f"tip == {tip!r} is no link of the model; its ends are {leaves}.")
    found = []
    while tip in above:
        found.append(above[tip])
        tip = _link(above[tip], "parent")
    return reversed(found)


def _link(joint: ET.Element, end: str) -> str:
    element = joint.find(end)
    if element is None:
        raise ValueError(f"joint {joint.get('name')!r} has no <{end}>.")
    return str(element.get("link"))
