"""Read serial arms from model files: URDF and MJCF.

Both readers turn a file into a chain of :class:`Joint`, and :func:`build_arm` turns a chain into an arm.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from isthmus.applications.imitation.arm import SerialArm
from isthmus.applications.imitation.poses import rotation_from_rpy, turn_z_to

Array = NDArray[np.float64]

_URDF_KINDS = {"revolute": "hinge", "continuous": "hinge", "prismatic": "slide", "fixed": "fixed"}


@dataclass
class Joint:
    """One joint of a chain: where it is in its parent, how it moves, and the link that it carries."""

    name: str
    kind: str  # "hinge", "slide" or "fixed"
    pose: Array
    link: str
    axis: Array
    limits: tuple[float, float] | None = None
    velocity: float = np.inf
    mimic: tuple[str, float, float] | None = None  # joint, multiplier, offset


def read_urdf(
    source: str | Path,
    *,
    tip: str | None = None,
    base: str | None = None,
    fixed: Mapping[str, float] | None = None,
    slides: Sequence[str] = (),
    limits: Mapping[str, tuple[float, float]] | None = None,
) -> SerialArm:
    """Read a serial arm from URDF text or a file.

    Revolute and continuous joints are hinges; fixed joints are merged into the joint before them; a mimic
    joint follows its master, which must be in the chain or fixed. The point of a joint is the origin of
    the last link that it carries, and every link's origin can be named as a point.

    Parameters
    ----------
    source : str or Path
        URDF text, or the path of a file.
    tip, base : str, default=None
        Last and first link; a tip is needed if the model branches. None takes the only end and the root.
    fixed : dict of str to float, default=None
        Joints to hold at a value, such as a torso.
    slides : sequence of str, default=()
        Prismatic joints that may move. Any other prismatic joint in the chain must be fixed.
    limits : dict of str to (float, float), default=None
        Limits that replace those of the file, or supply missing ones.
    """
    root = _parse(source, "robot", "URDF")
    chain = _urdf_chain(root, tip, base)
    return build_arm(chain, str(root.get("name", "arm")), fixed, slides, limits)


def read_mjcf(
    source: str | Path,
    *,
    tip: str | None = None,
    base: str | None = None,
    fixed: Mapping[str, float] | None = None,
    slides: Sequence[str] = (),
    limits: Mapping[str, tuple[float, float]] | None = None,
) -> SerialArm:
    """Read a serial arm from MJCF text or a file (MuJoCo), without MuJoCo.

    Bodies are links. Understands ``pos``, ``quat``, ``euler`` and ``axisangle``, ``compiler angle``, joint
    defaults by class, and several joints in one body. Meshes are not opened.

    Parameters
    ----------
    source : str or Path
        MJCF text, or the path of a file.
    tip, base : str, default=None
        Last and first body.
    fixed, slides, limits
        See :func:`read_urdf`.
    """
    from isthmus.applications.imitation.mjcf import mjcf_chain

    root = _parse(source, "mujoco", "MJCF")
    return build_arm(
        mjcf_chain(root, tip, base), str(root.get("model", "arm")), fixed, slides, limits
    )


def read_arm(path: str | Path, **options: object) -> SerialArm:
    """Read an arm from a URDF or MJCF file, by its root element; see :func:`read_urdf`."""
    try:
        text = Path(path).read_text("utf-8")
    except UnicodeDecodeError:
        raise ValueError(
            f"{Path(path).name} is not a text file: URDF and MJCF are XML files."
        ) from None
    reader = read_mjcf if "<mujoco" in text else read_urdf
    return reader(text if "<robot" in text or "<mujoco" in text else path, **options)  # type: ignore[arg-type]


def _parse(source: str | Path, tag: str, what: str) -> ET.Element:
    text = str(source)
    where = "the text"
    if f"<{tag}" not in text:
        where = Path(text).name if len(text) < 500 else "the text"
        if len(text) > 500 or "\n" in text or not Path(text).is_file():
            raise ValueError(f"{where} is neither {what} text (no <{tag}>) nor a file.")
        text = Path(text).read_text("utf-8")
    macro = f"{where} is a xacro macro file: expand it first with `xacro file.xacro > arm.urdf`."
    try:
        root = ET.fromstring(text)
    except ET.ParseError as error:
        if "unbound prefix" in str(error) and "<xacro:" in text:
            raise ValueError(macro) from None
        raise ValueError(f"{where} is not well-formed XML: {error}.") from None
    # Expanded files often still declare the namespace, or mention it in a comment.
    if any(
        "xacro" in str(element.tag) or any("${" in value for value in element.attrib.values())
        for element in root.iter()
    ):
        raise ValueError(macro)
    if root.tag != tag:
        raise ValueError(f"{where} has the root element <{root.tag}>, {what} has <{tag}>.")
    return root


# -- any chain --------------------------------------------------------------------------------


def build_arm(
    chain: Sequence[Joint],
    name: str,
    fixed: Mapping[str, float] | None,
    slides: Sequence[str],
    limits: Mapping[str, tuple[float, float]] | None,
) -> SerialArm:
    """Merge fixed joints, resolve mimic joints, check axes and limits, and make the arm."""
    held = dict(fixed or {})
    replaced = dict(limits or {})
    known = {joint.name for joint in chain}
    for group, names in (("fixed", held), ("slides", slides), ("limits", replaced)):
        for key in names:
            if key not in known:
                raise ValueError(
                    f"{group} names {key!r}; the chain has {', '.join(sorted(known))}."
                )
    before: list[Array] = []
    after: list[Array] = []
    moving: list[Joint] = []
    links: dict[str, tuple[int, Array]] = {}
    waiting = np.eye(4)
    for joint in chain:
        pose = joint.pose
        if joint.kind != "fixed":
            _check_axis(joint)
        if joint.name in held:
            pose = pose @ _motion(joint, held[joint.name])
        elif joint.kind != "fixed":
            if joint.kind == "slide" and joint.name not in slides:
                raise ValueError(
                    f"joint {joint.name!r} has type 'prismatic': hold it with "
                    f"fixed={{{joint.name!r}: 0.0}} (--fixed {joint.name}=0) or let it move with "
                    f"slides=({joint.name!r},)."
                )
            turn = turn_z_to(joint.axis)
            before.append(waiting @ pose @ turn)
            after.append(turn.T.copy())
            moving.append(joint)
            waiting = np.eye(4)
            links[joint.link] = (len(moving) - 1, np.zeros(3))
            continue
        if not after:
            waiting = waiting @ pose
            links[joint.link] = (-1, waiting[:3, 3].copy())
            continue
        after[-1] = after[-1] @ pose
        links[joint.link] = (len(moving) - 1, np.zeros(3))
        _shift_back(links, len(moving) - 1, pose)
    if not moving:
        raise ValueError("the model has no joint that moves between base and tip.")
    own = [joint for joint in moving if joint.mimic is None or joint.mimic[0] in held]
    drive, offset = _drive(moving, own, held)
    return SerialArm(
        before,
        after,
        limits=[_limits(joint, replaced) for joint in own],
        velocity=[joint.velocity for joint in own],
        names=[joint.name for joint in own],
        links=links,
        slides=[j for j, joint in enumerate(moving) if joint.kind == "slide"],
        drive=drive,
        drive_offset=offset,
        name=name,
    )


def _shift_back(links: dict[str, tuple[int, Array]], k: int, pose: Array) -> None:
    """Express the links that joint k carries in its end frame, which has just moved by a pose."""
    R, x = pose[:3, :3], pose[:3, 3]
    newest = list(links)[-1]
    for name, (number, place) in links.items():
        if number == k and name != newest:
            links[name] = (k, R.T @ (place - x))


def _check_axis(joint: Joint) -> None:
    if not np.isfinite(joint.axis).all() or np.linalg.norm(joint.axis) < 1e-9:
        raise ValueError(f"joint {joint.name!r} has the axis {joint.axis}: it has no direction.")


def _motion(joint: Joint, value: float) -> Array:
    pose = np.eye(4)
    axis = joint.axis / max(float(np.linalg.norm(joint.axis)), 1e-300)
    if joint.kind == "slide":
        pose[:3, 3] = value * axis
    elif joint.kind == "hinge":
        pose[:3, :3] = Rotation.from_rotvec(value * axis).as_matrix()
    return pose


def _drive(
    moving: Sequence[Joint], own: Sequence[Joint], held: Mapping[str, float]
) -> tuple[Array | None, ArrayLike]:
    if len(own) == len(moving):
        return None, 0.0
    drive = np.zeros((len(moving), len(own)))
    offset = np.zeros(len(moving))
    column = {joint.name: j for j, joint in enumerate(own)}
    for i, joint in enumerate(moving):
        if joint.name in column:
            drive[i, column[joint.name]] = 1.0
            continue
        assert joint.mimic is not None
        master, factor, shift = joint.mimic
        if master not in column:
            raise ValueError(
                f"joint {joint.name!r} mimics {master!r}, which does not move between base and tip: "
                f"hold {joint.name!r} with fixed={{{joint.name!r}: 0.0}}."
            )
        drive[i, column[master]], offset[i] = factor, shift
    return drive, offset


def _limits(joint: Joint, replaced: Mapping[str, tuple[float, float]]) -> tuple[float, float]:
    limits = replaced.get(joint.name, joint.limits)
    if limits is None:
        raise ValueError(
            f"joint {joint.name!r} has no limits: write <limit lower=... upper=...> in the file, or pass "
            f"limits={{{joint.name!r}: (low, high)}}."
        )
    low, high = map(float, limits)
    if not low < high:
        raise ValueError(f"joint {joint.name!r} has limits {low} to {high}, must be low < high.")
    return low, high


# -- URDF -------------------------------------------------------------------------------------


def _only_tip(leaves: list[str], above: Mapping[str, ET.Element]) -> str:
    """The end of the longest chain of joints; ends of the same chain are one, tool0 before others."""
    chains: dict[str, list[str]] = {}
    for leaf in leaves:
        at, chain = leaf, []
        while at in above:
            if above[at].get("type") != "fixed":
                chain.append(str(above[at].get("name")))
            at = _link(above[at], "parent")
        chains[leaf] = chain
    longest = max(map(len, chains.values()), default=0)
    ends = [leaf for leaf in leaves if 2 * len(chains[leaf]) >= longest]
    if not longest:
        raise ValueError("the URDF model has no joint that moves: it is not an arm.")
    if len({tuple(chains[leaf]) for leaf in ends}) != 1:
        raise ValueError(f"the URDF model ends in {', '.join(ends or leaves)}: name one as tip.")
    return "tool0" if "tool0" in ends else ends[0]


def _urdf_chain(root: ET.Element, tip: str | None, base: str | None) -> list[Joint]:
    """The joints from the base to the tip."""
    joints = root.findall("joint")
    above = {_link(joint, "child"): joint for joint in joints}
    leaves = sorted(set(above) - {_link(joint, "parent") for joint in joints})
    if tip is None:
        tip = _only_tip(leaves, above)
    if tip not in above:
        raise ValueError(f"tip == {tip!r} is not a link of the model; its ends are {leaves}.")
    found: list[Joint] = []
    at = tip
    while at in above and at != base:
        found.append(_urdf_joint(above[at], at))
        at = _link(above[at], "parent")
        if len(found) > len(joints):
            raise ValueError(f"link {at!r} is its own ancestor: the model is not a tree.")
    if base is not None and at != base:
        way = [joint.link for joint in found]
        raise ValueError(f"base == {base!r} is not above {tip!r}; the chain is {way[::-1]}.")
    return found[::-1]


def _urdf_joint(element: ET.Element, link: str) -> Joint:
    name = str(element.get("name"))
    kind = str(element.get("type"))
    if kind not in _URDF_KINDS:
        raise ValueError(
            f"joint {name!r} has type {kind!r}: only revolute, continuous, prismatic and fixed joints "
            "make a serial arm."
        )
    pose = np.eye(4)
    pose[:3, 3] = _numbers(element, "origin", "xyz", "0 0 0")
    pose[:3, :3] = rotation_from_rpy(*_numbers(element, "origin", "rpy", "0 0 0"))
    axis = _numbers(element, "axis", "xyz", "1 0 0") if kind != "fixed" else np.array([0, 0, 1.0])
    limit = element.find("limit")
    mimic = element.find("mimic")
    limits: tuple[float, float] | None = None
    velocity = np.inf
    if limit is not None:
        velocity = float(limit.get("velocity", "inf"))
        if limit.get("lower") is not None and limit.get("upper") is not None:
            limits = (float(str(limit.get("lower"))), float(str(limit.get("upper"))))
    if kind == "continuous":
        limits = (-np.pi, np.pi)
    return Joint(
        name,
        _URDF_KINDS[kind],
        pose,
        link,
        axis,
        limits,
        velocity if velocity > 0 else np.inf,  # zero is how files leave it open
        None
        if mimic is None
        else (
            str(mimic.get("joint")),
            float(mimic.get("multiplier", "1")),
            float(mimic.get("offset", "0")),
        ),
    )


def _numbers(element: ET.Element, child: str, name: str, default: str) -> Array:
    found = element.find(child)
    text = default if found is None else found.get(name, default)
    try:
        values = np.array([float(part) for part in text.split()])
    except ValueError:
        values = np.empty(0)
    if values.shape != (3,):
        raise ValueError(
            f"joint {element.get('name')!r}: <{child} {name}={text!r}>, must be three numbers."
        )
    return values


def _link(joint: ET.Element, end: str) -> str:
    element = joint.find(end)
    if element is None:
        raise ValueError(f"joint {joint.get('name')!r} has no <{end}>.")
    return str(element.get("link"))
