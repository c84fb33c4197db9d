"""The chain of joints in an MJCF model."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from isthmus.applications.imitation.poses import translation
from isthmus.applications.imitation.read_models import Joint

Array = NDArray[np.float64]


def mjcf_chain(root: ET.Element, tip: str | None, base: str | None) -> list[Joint]:
    """Return the joints from a base body to a tip body; a body without joints is fixed to its parent."""
    world = root.find("worldbody")
    if world is None:
        raise ValueError("the MJCF model has no <worldbody>.")
    reader = _Reader(root)
    parents = {child: body for body in world.iter() for child in body.findall("body")}
    bodies = {str(body.get("name")): body for body in parents}
    leaves = sorted(name for name, body in bodies.items() if body.find("body") is None)
    if tip is None:
        if len(leaves) != 1:
            raise ValueError(f"the MJCF model ends in {', '.join(leaves)}: name one as tip.")
        tip = leaves[0]
    for option, name in (("tip", tip), ("base", base)):
        if name is not None and name not in bodies:
            raise ValueError(f"{option} == {name!r} is not a body of the model: {sorted(bodies)}.")
    way = [bodies[tip]]
    while parents[way[-1]] is not world and way[-1].get("name") != base:
        way.append(parents[way[-1]])
    if base is not None and way[-1].get("name") != base:
        raise ValueError(f"base == {base!r} is not above tip == {tip!r}.")
    if base is not None:
        way.pop()  # the base itself stays where it is
    return [joint for body in reversed(way) for joint in reader.joints(body, parents)]


class _Reader:
    """Reads poses and joints with the compiler's settings and the default classes of a model."""

    def __init__(self, root: ET.Element):
        compiler = root.find("compiler")
        settings = {} if compiler is None else compiler.attrib
        self.degrees = settings.get("angle", "degree") == "degree"
        self.order = settings.get("eulerseq", "xyz")
        self.defaults: dict[str, dict[str, str]] = {}
        for element in root.findall("default"):
            self._read_defaults(element, {})

    def _read_defaults(self, element: ET.Element, inherited: dict[str, str]) -> None:
        joint = element.find("joint")
        own = inherited | ({} if joint is None else dict(joint.attrib))
        self.defaults[element.get("class", "main")] = own
        for child in element.findall("default"):
            self._read_defaults(child, own)

    def joints(self, body: ET.Element, parents: dict[ET.Element, ET.Element]) -> list[Joint]:
        """The joints of a body; the first carries its pose, all but the last carry nameless links."""
        name = str(body.get("name"))
        pose = self._pose(body)
        elements = body.findall("joint")
        if body.find("freejoint") is not None or not elements:
            return [Joint(f"{name}_fixed", "fixed", pose, name, np.array([0, 0, 1.0]))]
        found = []
        for i, element in enumerate(elements):
            values = self._values(element, body, parents)
            kind = values.get("type", "hinge")
            joint = values.get("name", f"{name}_joint{i + 1}")
            if kind not in ("hinge", "slide"):
                raise ValueError(
                    f"joint {joint!r} has type {kind!r}: only hinge and slide joints make a serial arm."
                )
            pivot = translation(*_vector(values.get("pos", "0 0 0"), joint, "pos"))
            own = (pose if i == 0 else np.eye(4)) @ pivot
            axis = _vector(values.get("axis", "0 0 1"), joint, "axis")
            back = Joint(f"{joint}_back", "fixed", translation(*(-pivot[:3, 3])), name, axis)
            limits = self._limits(values, joint, kind)
            found += [Joint(joint, kind, own, f"{name}.{joint}", axis, limits), back]
        return found

    def _values(
        self, element: ET.Element, body: ET.Element, parents: dict[ET.Element, ET.Element]
    ) -> dict[str, str]:
        """Attributes of a joint over those of its default class, or of the nearest ``childclass``."""
        named = element.get("class")
        at: ET.Element | None = body
        while named is None and at is not None:
            named = at.get("childclass")
            at = parents.get(at)
        return self.defaults.get(named or "main", {}) | dict(element.attrib)

    def _limits(self, values: dict[str, str], joint: str, kind: str) -> tuple[float, float] | None:
        if "range" not in values or values.get("limited") == "false":
            return None
        low, high = (float(part) for part in values["range"].split())
        if self.degrees and kind == "hinge":
            low, high = np.radians([low, high])
        return float(low), float(high)

    def _pose(self, body: ET.Element) -> Array:
        name = str(body.get("name"))
        pose = translation(*_vector(body.get("pos", "0 0 0"), name, "pos"))
        if body.get("quat") is not None:
            w, x, y, z = (float(part) for part in str(body.get("quat")).split())
            pose[:3, :3] = Rotation.from_quat([x, y, z, w]).as_matrix()
        elif body.get("euler") is not None:
            angles = _vector(str(body.get("euler")), name, "euler")
            turn = Rotation.from_euler(_scipy_order(self.order), angles, degrees=self.degrees)
            pose[:3, :3] = turn.as_matrix()
        elif body.get("axisangle") is not None:
            x, y, z, angle = (float(part) for part in str(body.get("axisangle")).split())
            axis = np.array([x, y, z]) / np.linalg.norm([x, y, z])
            turned = np.radians(angle) if self.degrees else angle
            pose[:3, :3] = Rotation.from_rotvec(turned * axis).as_matrix()
        return pose


def _scipy_order(order: str) -> str:
    """MuJoCo's lower-case axes turn with the body, which SciPy writes in upper case."""
    return order.swapcase()


def _vector(text: str, name: str, what: str) -> Array:
    try:
        values = np.array([float(part) for part in text.split()])
    except ValueError:
        values = np.empty(0)
    if values.shape != (3,):
        raise ValueError(f"{name!r}: {what}={text!r}, must be three numbers.")
    return values
