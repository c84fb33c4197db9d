"""Write model files of arms: URDF and MJCF, all numbers with 17 digits."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from isthmus.applications.imitation.arm import SerialArm
from isthmus.applications.imitation.poses import rpy_from_pose, translation

Array = NDArray[np.float64]

LINK_RADIUS = 0.05  # metres; of the capsules that stand for links in MJCF files
DEFAULT_SPEED = 3.14  # rad/s; URDF must state one where the arm has none


def to_urdf(arm: SerialArm) -> str:
    """Return the arm as URDF text: one joint about z per element, fixed joints where frames are off it."""
    robot = ET.Element("robot", name=arm.name)
    ET.SubElement(robot, "link", name="base")
    parent = "base"
    for j, pose in enumerate(_origins(arm)):
        child = f"link{j + 1}"
        own, factor, offset = _driver(arm, j)
        name = arm.names[own] if factor == 1 and offset == 0 else f"{arm.names[own]}_mimic{j + 1}"
        kind = "prismatic" if j in arm.slides else "revolute"
        joint = _joint(robot, name, kind, parent, child, pose)
        ET.SubElement(joint, "axis", xyz="0 0 1")
        low, high = sorted(factor * arm.limits[own] + offset)
        speed = arm.velocity[own] if np.isfinite(arm.velocity[own]) else DEFAULT_SPEED
        ET.SubElement(
            joint, "limit", lower=_text(low), upper=_text(high), effort="100", velocity=_text(speed)
        )
        if name != arm.names[own]:
            mimic = {"joint": arm.names[own], "multiplier": _text(factor), "offset": _text(offset)}
            ET.SubElement(joint, "mimic", mimic)
        parent = child
        if not np.array_equal(arm.after[j], np.eye(4)):
            parent = f"{child}_end"
            _joint(robot, f"{name}_end", "fixed", child, parent, arm.after[j])
    return _pretty(robot)


def _driver(arm: SerialArm, j: int) -> tuple[int, float, float]:
    """The joint that moves an element of the chain, with its factor and offset."""
    if arm.drive is None:
        return j, 1.0, 0.0
    own = int(np.abs(arm.drive[j]).argmax())
    return own, float(arm.drive[j, own]), float(arm.drive_offset[j])


def _joint(robot: ET.Element, name: str, kind: str, parent: str, child: str, pose: Array) -> Any:
    ET.SubElement(robot, "link", name=child)
    joint = ET.SubElement(robot, "joint", name=name, type=kind)
    ET.SubElement(joint, "parent", link=parent)
    ET.SubElement(joint, "child", link=child)
    ET.SubElement(joint, "origin", xyz=_text(*pose[:3, 3]), rpy=_text(*rpy_from_pose(pose)))
    return joint


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
    if arm.drive is not None:
        raise ValueError("MJCF is written for arms without mimic joints only.")
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
            type="slide" if j in arm.slides else "hinge",
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


def _quaternion(R: Array) -> Array:
    """Unit quaternion (w, x, y, z) of a rotation."""
    return np.roll(Rotation.from_matrix(R).as_quat(), 1)
