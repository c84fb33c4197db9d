"""A person to look at: MJCF from a skeleton, posed by motion, filmed off screen by MuJoCo."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from isthmus.applications.imitation.bvh import Motion, Skeleton
from isthmus.applications.imitation.clips import ArmClip
from isthmus.applications.imitation.extras import make_renderer, need

Array = NDArray[np.float64]

# A grown person in metres, y up, facing +z as motion files have it; T pose.
_BODY = (
    ("Hips", -1, (0.0, 0.95, 0.0)),
    ("LeftUpLeg", 0, (0.09, -0.03, 0.0)),
    ("LeftLeg", 1, (0.0, -0.42, 0.0)),
    ("LeftFoot", 2, (0.0, -0.42, 0.0)),
    ("LeftFoot_end", 3, (0.0, -0.05, 0.14)),
    ("RightUpLeg", 0, (-0.09, -0.03, 0.0)),
    ("RightLeg", 5, (0.0, -0.42, 0.0)),
    ("RightFoot", 6, (0.0, -0.42, 0.0)),
    ("RightFoot_end", 7, (0.0, -0.05, 0.14)),
    ("Spine", 0, (0.0, 0.22, 0.0)),
    ("Spine1", 9, (0.0, 0.22, 0.0)),
    ("Neck", 10, (0.0, 0.08, 0.0)),
    ("Head", 11, (0.0, 0.09, 0.01)),
    ("Head_end", 12, (0.0, 0.17, 0.0)),
    ("LeftArm", 10, (0.18, 0.02, 0.0)),
    ("LeftForeArm", 14, (0.28, 0.0, 0.0)),
    ("LeftHand", 15, (0.25, 0.0, 0.0)),
    ("LeftHand_end", 16, (0.14, 0.0, 0.0)),
    ("RightArm", 10, (-0.18, 0.02, 0.0)),
    ("RightForeArm", 18, (-0.28, 0.0, 0.0)),
    ("RightHand", 19, (-0.25, 0.0, 0.0)),
    ("RightHand_end", 20, (-0.14, 0.0, 0.0)),
)
_RADII = {
    "UpLeg": 0.075,
    "Leg": 0.055,
    "Foot": 0.042,
    "ForeArm": 0.036,
    "Hand": 0.038,
    "Arm": 0.046,
    "Neck": 0.05,
}
_ROTATIONS = ("Zrotation", "Yrotation", "Xrotation")


def standing_person() -> Skeleton:
    """The skeleton of a grown person in T pose."""
    channels = tuple(() if name.endswith("_end") else _ROTATIONS for name, _, _ in _BODY)
    root = (("Xposition", "Yposition", "Zposition", *_ROTATIONS),)
    return Skeleton(
        names=tuple(name for name, _, _ in _BODY),
        parents=tuple(parent for _, parent, _ in _BODY),
        offsets=np.array([offset for _, _, offset in _BODY]),
        channels=root + channels[1:],
    )


@dataclass(frozen=True)
class Scene:
    """What the person and the room look like.

    Colours are RGB in [0, 1]. ``light`` is the colour of the lamp and its brightness; ``distance``
    moves the person away from the camera; ``scale`` is the body's size.
    """

    skin: tuple[float, float, float] = (0.86, 0.62, 0.50)
    shirt: tuple[float, float, float] = (0.25, 0.42, 0.62)
    trousers: tuple[float, float, float] = (0.16, 0.17, 0.20)
    wall: tuple[float, float, float] = (0.72, 0.75, 0.70)
    floor: tuple[float, float, float] = (0.80, 0.74, 0.62)
    light: tuple[float, float, float] = (1.0, 1.0, 1.0)
    scale: float = 1.0
    distance: float = 0.0
    noise: float = 3.0
    skeleton: Skeleton = field(default_factory=standing_person)


def actor_mjcf(scene: Scene, *, camera_distance: float = 2.6, extra: Any = None) -> str:
    """The room, the camera and the person as MJCF: a body a joint, ball joints, a free root.

    Motion files have y up; the root's parent is turned a quarter about x, so that z is up. ``extra``
    is called with the world's element and may hang more into it.
    """
    root = ET.Element("mujoco", model="actor")
    ET.SubElement(root, "compiler", angle="radian")
    visual = ET.SubElement(root, "visual")
    # Default quality is about thirty times slower and changes nothing that is learned from.
    ET.SubElement(visual, "quality", shadowsize="0", offsamples="0")
    ET.SubElement(visual, "global", offwidth="1280", offheight="960")
    dim = [0.35 * c for c in scene.light]
    ET.SubElement(visual, "headlight", ambient=_text(dim), diffuse=_text(dim), specular="0 0 0")
    world = ET.SubElement(root, "worldbody")
    lamp = [0.55 * c for c in scene.light]
    ET.SubElement(
        world, "light", pos="-1 -3 3", dir="0.3 1 -0.7", diffuse=_text(lamp), specular="0 0 0"
    )
    ET.SubElement(
        world,
        "camera",
        name="camera",
        pos=_text([0, -camera_distance, 1.15]),
        xyaxes="1 0 0 0 0 1",
        fovy="38",
    )
    plane = {"type": "box", "contype": "0", "conaffinity": "0"}
    ET.SubElement(world, "geom", plane, pos="0 2 1", size="6 0.05 4", rgba=_text([*scene.wall, 1]))
    ET.SubElement(
        world, "geom", plane, pos="0 0 -0.05", size="6 6 0.05", rgba=_text([*scene.floor, 1])
    )
    if extra is not None:
        extra(world)
    # MuJoCo wants free joints at the top level: the turn to z up is in the root's quaternion.
    _add_bodies(world, scene)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode")


def _add_bodies(world: ET.Element, scene: Scene) -> None:
    skeleton = scene.skeleton
    bodies: dict[int, ET.Element] = {}
    for j, name in enumerate(skeleton.names):
        if name.endswith("_end"):
            continue
        parent = skeleton.parents[j]
        place = [0, 0, 0] if parent < 0 else scene.scale * skeleton.offsets[j]
        body = ET.SubElement(
            world if parent < 0 else bodies[parent], "body", name=name, pos=_text(place)
        )
        if parent < 0:
            ET.SubElement(body, "freejoint", name="root")
        else:
            ET.SubElement(body, "joint", name=name, type="ball")
        bodies[j] = body
    for j in bodies:
        children = [c for c, parent in enumerate(skeleton.parents) if parent == j]
        _add_shapes(bodies[j], scene, j, children)


def _add_shapes(body: ET.Element, scene: Scene, j: int, children: list[int]) -> None:
    skeleton, s = scene.skeleton, scene.scale
    name = skeleton.names[j]
    skin, shirt, trousers = scene.skin, scene.shirt, scene.trousers
    if name in ("Hips", "Spine", "Spine1"):
        sizes = {
            "Hips": (0.15, 0.13, 0.10),
            "Spine": (0.145, 0.17, 0.10),
            "Spine1": (0.175, 0.14, 0.11),
        }
        colour = trousers if name == "Hips" else shirt
        _ellipsoid(body, (0, 0.06 if name == "Spine" else 0, 0), sizes[name], colour, s)
        if name == "Spine1":  # shoulders under the shirt
            for side in (-0.13, 0.13):
                _ellipsoid(body, (side, 0.01, 0), (0.085, 0.07, 0.075), shirt, s)
        return
    if name == "Head":
        _ellipsoid(body, (0, 0.08, 0.015), (0.078, 0.115, 0.095), skin, s)
        _ellipsoid(body, (0, 0.12, -0.012), (0.083, 0.09, 0.096), (0.18, 0.13, 0.10), s)
        return
    kind = next((key for key in _RADII if name.endswith(key)), None)
    if kind is None:
        ET.SubElement(body, "geom", type="sphere", size=_text([0.01]), contype="0", conaffinity="0")
        return
    radius = s * _RADII[kind]
    ends = [s * skeleton.offsets[c] for c in children] or [np.array([0.0, 0.05 * s, 0.0])]
    for end in ends[:1]:
        colour = trousers if kind in ("UpLeg", "Leg", "Foot") else skin
        _capsule(body, np.zeros(3), end, radius, colour)
        if kind == "Arm":  # a short sleeve
            _capsule(body, np.zeros(3), 0.45 * end, 1.25 * radius, shirt)


def _ellipsoid(body: ET.Element, at: Any, size: Any, colour: Any, s: float) -> None:
    ET.SubElement(
        body,
        "geom",
        type="ellipsoid",
        pos=_text([s * x for x in at]),
        size=_text([s * x for x in size]),
        rgba=_text([*colour, 1]),
        contype="0",
        conaffinity="0",
    )


def _capsule(body: ET.Element, begin: Array, end: Array, radius: float, colour: Any) -> None:
    if np.linalg.norm(end - begin) < 1e-3:
        end = begin + np.array([0, 1e-3, 0])
    ET.SubElement(
        body,
        "geom",
        type="capsule",
        fromto=_text([*begin, *end]),
        size=_text([radius]),
        rgba=_text([*colour, 1]),
        contype="0",
        conaffinity="0",
    )


def _text(values: Any) -> str:
    return " ".join(f"{float(value) + 0.0:.9g}" for value in values)


class Film:
    """A camera on a posed person. Close it, or use it as a context, when all is filmed.

    Parameters
    ----------
    scene : Scene
        Looks of person and room.
    size : int, default=160
        Height and width of the pictures.
    random_state : int or Generator, default=None
        Of the camera's noise.
    """

    def __init__(self, scene: Scene | None = None, *, size: int = 160, random_state: Any = None):
        self.scene = Scene() if scene is None else scene
        self.size = size
        self.rng = np.random.default_rng(random_state)
        self.mujoco = need("mujoco")
        self.model = self.mujoco.MjModel.from_xml_string(actor_mjcf(self.scene))
        self.data = self.mujoco.MjData(self.model)
        self._renderer = make_renderer(self.model, size, size)
        flags = self._renderer.scene.flags
        flags[self.mujoco.mjtRndFlag.mjRND_SHADOW] = False
        flags[self.mujoco.mjtRndFlag.mjRND_REFLECTION] = False

    def __enter__(self) -> Film:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Free the off-screen buffer; left to the end of the program it prints a traceback."""
        self._renderer.close()

    def background(self) -> NDArray[np.uint8]:
        """Render the room without the person."""
        self.data.qpos[:] = 0
        self.data.qpos[2] = -50.0  # under the floor
        self.data.qpos[3::4] = 1.0
        return self._picture()

    def arm_frame(self, upper: ArrayLike, fore: ArrayLike) -> NDArray[np.uint8]:
        """The person standing upright with the right arm in these directions."""
        self.data.qpos[:] = standing_qpos(self.scene, np.asarray(upper), np.asarray(fore))
        return self._picture()

    def clip_frames(self, clip: ArmClip) -> NDArray[np.uint8]:
        """All frames of a clip, (n, size, size, 3)."""
        return np.stack([self.arm_frame(u, v) for u, v in zip(clip.upper, clip.fore)])

    def motion_frame(self, motion: Motion, frame: int) -> NDArray[np.uint8]:
        """The person in the whole-body posture of a motion with this scene's skeleton."""
        self.data.qpos[:] = motion_qpos(self.scene, motion, frame)
        return self._picture()

    def _picture(self) -> NDArray[np.uint8]:
        self.mujoco.mj_kinematics(self.model, self.data)
        self.mujoco.mj_comPos(self.model, self.data)
        self.mujoco.mj_camlight(self.model, self.data)
        self._renderer.update_scene(self.data, camera="camera")
        image = self._renderer.render()
        if self.scene.noise:
            noisy = image + self.rng.normal(scale=self.scene.noise, size=image.shape)
            image = np.clip(np.round(noisy), 0, 255).astype(np.uint8)
        return image


def _joints(scene: Scene) -> list[str]:
    return [name for name in scene.skeleton.names if not name.endswith("_end")]


def standing_qpos(scene: Scene, upper: Array, fore: Array) -> Array:
    """State of the model for an upright trunk and a right arm in world directions."""
    skeleton = scene.skeleton
    turns = {name: Rotation.identity() for name in _joints(scene)}
    to_file = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])  # z up to y up
    down = np.array([0.08, -1.0, 0.02])
    turns["LeftArm"] = turning(_bone(skeleton, "LeftForeArm"), down)
    first = turning(_bone(skeleton, "RightForeArm"), to_file @ upper)
    second = turning(_bone(skeleton, "RightHand"), first.inv().apply(to_file @ fore))
    turns["RightArm"], turns["RightForeArm"] = first, second
    height = scene.scale * skeleton.offsets[0, 1]
    place = np.array([0.0, scene.distance, height])
    return _qpos(scene, place, turns)


def motion_qpos(scene: Scene, motion: Motion, frame: int) -> Array:
    """State of the model for one frame of a motion."""
    local = motion.local_rotations()[frame]
    names = motion.skeleton.names
    turns = {
        name: Rotation.from_matrix(local[names.index(name)])
        for name in _joints(scene)
        if name in names
    }
    x, y, z = motion.local_shifts()[frame, 0]
    return _qpos(scene, np.array([x, -z + scene.distance, y]), turns)


def _qpos(scene: Scene, place: Array, turns: dict[str, Rotation]) -> Array:
    names = _joints(scene)
    z_up = Rotation.from_euler("x", 90, degrees=True)
    parts = [place]
    for j, name in enumerate(names):
        turn = turns.get(name, Rotation.identity())
        turn = z_up * turn if j == 0 else turn
        parts.append(np.roll(turn.as_quat(), 1))
    return np.concatenate(parts)


def _bone(skeleton: Skeleton, child: str) -> Array:
    return skeleton.offsets[skeleton.index(child)]


def turning(start: ArrayLike, end: ArrayLike) -> Rotation:
    """The shortest turn that takes one direction to another."""
    a = np.asarray(start, dtype=np.float64)
    b = np.asarray(end, dtype=np.float64)
    a = a / np.linalg.norm(a)
    b = b / np.linalg.norm(b)
    w = 1 + a @ b
    if w < 1e-12:  # opposite: half a turn about anything perpendicular
        axis = np.cross(a, np.eye(3)[np.abs(a).argmin()])
        return Rotation.from_rotvec(np.pi * axis / np.linalg.norm(axis))
    return Rotation.from_quat([*np.cross(a, b), w])


def pick_skin(film: Film, upper: ArrayLike, fore: ArrayLike, *, n: int = 60) -> NDArray[np.uint8]:
    """Pixels of skin in one picture, (n, 3), as a person would click on them.

    The scene is filmed a second time with green skin; what changes is skin.
    """
    image = film.arm_frame(upper, fore)
    scene = replace(film.scene, skin=(0.0, 1.0, 0.0), noise=0.0)
    with Film(scene, size=film.size) as other:
        green = other.arm_frame(upper, fore).astype(int)
    is_skin = (green[..., 1] > 1.5 * green[..., 0]) & (green[..., 1] > 1.5 * green[..., 2])
    pixels = image[is_skin]
    chosen = film.rng.choice(len(pixels), size=min(n, len(pixels)), replace=False)
    return pixels[chosen]
