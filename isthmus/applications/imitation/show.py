"""What people look at: the person and the robot side by side, as a film and as a page."""

from __future__ import annotations

import base64
import contextlib
import html
import io
import itertools
import json
import os
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from isthmus.applications.imitation.arm import SerialArm
from isthmus.applications.imitation.clips import MOUNTING
from isthmus.applications.imitation.dexterity_measures import dexterity
from isthmus.applications.imitation.extras import make_renderer, need
from isthmus.applications.imitation.model_files import add_arm_bodies
from isthmus.persistence import Output, content_policy, write_atomically

Array = NDArray[np.float64]

SHOULDER = (-0.15, 0.0, 1.30)  # where the robot's shoulder is in its room, metres
_ALLOWED = "style-src 'unsafe-inline'; img-src data: blob:; media-src data:"
_ORANGE, _GREY = "0.93 0.49 0.16 1", "0.35 0.37 0.40 1"


@dataclass
class Story:
    """A movement of the arm and all that is shown with it.

    Attributes
    ----------
    title : str
        Headline of the page.
    arm : SerialArm
        The arm.
    q : ndarray of shape (n, n_joints)
        Postures.
    fps : float
        Frames a second.
    person : ndarray of shape (n, H, W, 3), default=None
        Pictures of the person, or of what else ``shown`` says.
    shown : str, default="person"
        Caption of these.
    wanted : ndarray of shape (n, n_points, 3), default=None
        Points where the arm should be, drawn as a shadow; base frame.
    errors : dict of str to ndarray of shape (n,)
        Curves of the error panel, in millimetres.
    held : ndarray of bool, shape (n,), default=None
        Frames in which the last posture was held.
    facts : dict of str to str
        Lines under the headline.
    compare : dict of str to ndarray of shape (n, n_joints)
        Other movements whose dexterity is drawn beside, by name.
    mounting : ndarray of shape (3, 3)
        Base axes of the arm in the room, as columns.
    angles : dict of str to ndarray of shape (n,)
        Curves of a panel of angles in degrees, such as directions against the person's.
    extra : dict of str to dict of str to ndarray of shape (n,)
        Further panels: curves by name, by title.
    clock : ndarray of shape (n,), default=None
        Seconds of the person that each frame shows, where they are not those of the arm.
    """

    title: str
    arm: SerialArm
    q: Array
    fps: float
    person: NDArray[np.uint8] | None = None
    wanted: Array | None = None
    errors: dict[str, Array] = field(default_factory=dict)
    held: NDArray[np.bool_] | None = None
    facts: dict[str, str] = field(default_factory=dict)
    compare: dict[str, Array] = field(default_factory=dict)
    mounting: Array = field(default_factory=lambda: MOUNTING)
    angles: dict[str, Array] = field(default_factory=dict)
    extra: dict[str, dict[str, Array]] = field(default_factory=dict)
    shown: str = "person"
    clock: Array | None = None


class RobotFilm:
    """Pictures of the arm, mounted like a person's right arm. Close it when all is filmed."""

    def __init__(self, arm: SerialArm, *, size: int = 320, mounting: ArrayLike = MOUNTING):
        self.mujoco = need("mujoco")
        text = robot_mjcf(arm, np.asarray(mounting, dtype=np.float64))
        self.model = self.mujoco.MjModel.from_xml_string(text)
        self.data = self.mujoco.MjData(self.model)
        self._renderer = make_renderer(self.model, size, size)

    def __enter__(self) -> RobotFilm:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Free the off-screen buffer."""
        self._renderer.close()

    def frame(self, q: ArrayLike) -> NDArray[np.uint8]:
        """A picture of one posture."""
        self.data.qpos[:] = q
        self.mujoco.mj_kinematics(self.model, self.data)
        self.mujoco.mj_comPos(self.model, self.data)
        self.mujoco.mj_camlight(self.model, self.data)
        self._renderer.update_scene(self.data, camera="camera")
        return self._renderer.render()


def robot_mjcf(arm: SerialArm, mounting: Array) -> str:
    """The arm on a column in a room, seen from where the person is seen."""
    root = ET.Element("mujoco", model="robot")
    ET.SubElement(root, "compiler", angle="radian", autolimits="true")
    visual = ET.SubElement(root, "visual")
    ET.SubElement(visual, "quality", shadowsize="0", offsamples="4")
    ET.SubElement(visual, "global", offwidth="1280", offheight="960")
    ET.SubElement(visual, "headlight", ambient=".4 .4 .4", diffuse=".4 .4 .4", specular="0 0 0")
    world = ET.SubElement(root, "worldbody")
    ET.SubElement(world, "light", pos="-1 -3 3", dir="0.3 1 -0.7", diffuse=".5 .5 .5")
    camera = {"name": "camera", "pos": "-0.15 -3.1 1.15", "xyaxes": "1 0 0 0 0 1", "fovy": "38"}
    ET.SubElement(world, "camera", camera)
    for pos, size, colour in (
        ("0 2 1", "6 0.05 4", "0.80 0.83 0.86 1"),
        ("0 0 -0.05", "6 6 0.05", "0.62 0.62 0.60 1"),
        ("-0.15 0.18 0.65", "0.11 0.06 0.75", _GREY),
    ):
        ET.SubElement(world, "geom", type="box", pos=pos, size=size, rgba=colour)
    w, x, y, z = np.roll(Rotation.from_matrix(mounting).as_quat(), 1)
    place = " ".join(map(str, SHOULDER))
    base = ET.SubElement(world, "body", name="base", pos=place, quat=f"{w} {x} {y} {z}")
    ET.SubElement(base, "geom", type="sphere", size="0.085", rgba=_GREY)
    add_arm_bodies(base, arm)
    for i, geom in enumerate(base.iter("geom")):
        geom.set("rgba", _GREY if geom.get("type") == "sphere" or i > 6 else _ORANGE)
    return ET.tostring(root, encoding="unicode")


# -- the film ---------------------------------------------------------------------------------


def film_frames(
    story: Story, *, size: int = 320, progress: Callable[[int], None] | None = None
) -> Iterable[NDArray[np.uint8]]:
    """Yield pictures of person and robot side by side, (size, 2 size, 3)."""
    cv2 = need("cv2")
    with RobotFilm(story.arm, size=size, mounting=story.mounting) as film:
        for i, q in enumerate(story.q):
            robot = film.frame(q).copy()
            held = story.held is not None and bool(story.held[i])
            _caption(cv2, robot, story.arm.name + (" (holds the last posture)" if held else ""))
            if story.person is None:
                left = np.full_like(robot, 255)
            else:
                left = cv2.resize(story.person[i], (size, size), interpolation=cv2.INTER_CUBIC)
            _caption(cv2, left, story.shown)
            yield np.hstack([left, robot])
            if progress is not None:
                progress(i + 1)


def _caption(cv2: Any, image: NDArray[np.uint8], text: str) -> None:
    cv2.putText(image, text, (8, 18), cv2.FONT_HERSHEY_SIMPLEX, 0.45, (30, 30, 30), 1, cv2.LINE_AA)


def write_film_to(
    output: Output,
    story: Story,
    *,
    size: int = 320,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Write the film as one of several outputs."""
    ffmpeg = need("imageio_ffmpeg").get_ffmpeg_exe()
    frames = iter(film_frames(story, size=size, progress=progress))
    first = next(frames)
    height, width = first.shape[:2]
    whole = [16 * -(-side // 16) for side in (width, height)]  # players want whole blocks
    command = [ffmpeg, "-y", "-v", "error", "-f", "rawvideo", "-pix_fmt", "rgb24"]
    command += ["-s", f"{width}x{height}", "-r", f"{story.fps:g}", "-i", "-", "-an"]
    command += ["-vf", f"scale={whole[0]}:{whole[1]}", "-c:v", "libx264", "-crf", "25"]
    command += ["-pix_fmt", "yuv420p", "-f", "mp4", str(output.part)]
    # A session of its own: Ctrl-C is for us to hear, and then for it to end.
    apart = os.name == "posix"
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stderr=pipe, start_new_session=apart) as encoder:
        assert encoder.stdin is not None and encoder.stderr is not None
        try:
            with contextlib.suppress(BrokenPipeError):  # it says below why it ended
                for frame in itertools.chain([first], frames):
                    encoder.stdin.write(frame.tobytes())
                encoder.stdin.close()
            said = encoder.stderr.read().decode(errors="replace").split("\n")[0]
            if encoder.wait() != 0:
                raise OSError(f"{output}: the film cannot be written, ffmpeg reports: {said}.")
        except BaseException:
            encoder.kill()
            raise
        finally:
            with contextlib.suppress(OSError):  # what is left to be written to one who has gone
                encoder.stdin.close()


# -- the page ---------------------------------------------------------------------------------


def write_page(story: Story, path: str | Path | Output, *, film: str | Path | None = None) -> None:
    """Write one HTML file with everything in it: scripts, numbers and the film."""
    write_atomically(path, page(story, film=film))


def page(story: Story, *, film: str | Path | None = None) -> str:
    """The page as text; it asks for nothing from any network."""
    assets = files("isthmus.applications.imitation") / "assets"
    video = ""
    if film is not None:
        coded = base64.b64encode(Path(film).read_bytes()).decode("ascii")
        video = f'<video id="film" muted playsinline src="data:video/mp4;base64,{coded}"></video>'
    # "<" cannot end a script element early if it is written as an escape.
    data = json.dumps(page_data(story), allow_nan=False, separators=(",", ":")).replace(
        "<", "\\u003c"
    )
    scripts = [(assets / name).read_text("utf-8") for name in ("three.min.js", "viewer.js")]
    parts = {
        "POLICY": content_policy(scripts, _ALLOWED),
        "TITLE": _escape(story.title),
        "FACTS": "".join(
            f"<div><dt>{_escape(name)}</dt><dd>{_escape(text)}</dd></div>"
            for name, text in story.facts.items()
        ),
        "VIDEO": video,
        "THREE": scripts[0],
        "LICENCE": (assets / "three.LICENSE").read_text("utf-8"),
        "DATA": data,
        "VIEWER": scripts[1],
    }
    out = io.StringIO()
    rest = (assets / "page.html").read_text("utf-8")
    for name in (
        "POLICY",
        "TITLE",
        "TITLE",
        "FACTS",
        "VIDEO",
        "LICENCE",
        "THREE",
        "DATA",
        "VIEWER",
    ):
        before, _, rest = rest.partition(f"@@{name}@@")
        out.write(before)
        out.write(parts[name])
    out.write(rest)
    return out.getvalue()


def page_data(story: Story) -> dict[str, Any]:
    """The numbers of the page, rounded to what can be seen."""
    arm, q = story.arm, story.q
    d = dexterity(arm, q, dt=1 / story.fps)
    panels = [
        _panel("joint angles", "degrees", dict(zip(arm.names, np.degrees(q).T))),
        _panel("angle to the person's limbs", "degrees", story.angles),
        _panel("distance from where it should be", "mm", story.errors),
    ]
    others = {
        name: dexterity(arm, other, dt=1 / story.fps) for name, other in story.compare.items()
    }
    for title, unit, name in (
        ("closeness to limits", "0 middle of all ranges", "closeness_to_limits"),
        ("smallest singular value", "m/rad", "sigma_min"),
        ("joint speed", "rad/s", "speed"),
    ):
        curves = {"imitation": getattr(d, name)}
        curves |= {other: getattr(measures, name) for other, measures in others.items()}
        panels.append(_panel(title, unit, curves))
    panels += [_panel(title, "", curves) for title, curves in story.extra.items()]
    zero = np.zeros((len(q), 1, 3))
    # Base frame to the page's: x to the viewer's left as in the film, y up, z towards the viewer.
    points = np.concatenate([zero, arm.points(q)[:, _distinct(arm)]], axis=1) @ story.mounting.T
    data: dict[str, Any] = {
        "fps": story.fps,
        "n": len(q),
        "points": _to_page(points),
        "panels": [panel for panel in panels if panel["curves"]],
        "held": [] if story.held is None else np.flatnonzero(story.held).tolist(),
    }
    if story.wanted is not None:
        wanted = np.concatenate([zero, story.wanted[:, _distinct(arm)]], axis=1) @ story.mounting.T
        data["wanted"] = _to_page(wanted)
    return data


def _distinct(arm: SerialArm) -> list[int]:
    points = arm.points(np.full(arm.n_joints, 0.3))
    return [
        k
        for k in range(arm.n_links)
        if np.linalg.norm(points[k] - (points[k - 1] if k else 0)) > 1e-9
    ]


def _to_page(points: Array) -> list[Any]:
    turned = np.stack([points[..., 0], points[..., 2], -points[..., 1]], axis=-1)
    return np.round(turned, 4).tolist()


def _panel(title: str, unit: str, curves: dict[str, Array]) -> dict[str, Any]:
    rounded = {
        name: [float(f"{value:.4g}") if np.isfinite(value) else None for value in curve]
        for name, curve in curves.items()
    }
    return {"title": title, "unit": unit, "curves": rounded}


def _escape(text: str) -> str:
    return html.escape(text)
