"""Movements of a right arm as directions of upper arm and forearm over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import gaussian_filter1d

from isthmus.applications.imitation.bvh import Motion
from isthmus.applications.imitation.clip_transfer import Markers
from isthmus.applications.imitation.joint_names import joint_positions
from isthmus.applications.imitation.shoulder_elbow import ShoulderElbowArm

Array = NDArray[np.float64]

# Frames per second of the films and of the shipped clips.
FPS = 30.0
# The arm's base axes in the world, as columns: x right (-X), y down (-Z), z forward (-Y).
MOUNTING = np.array([[-1.0, 0, 0], [0, 0, -1], [0, -1, 0]])
_QUANTUM = 32000.0  # of the directions in the shipped file


@dataclass(frozen=True)
class ArmClip:
    """A right arm over time, in the frame of a trunk that faces -Y with z up.

    Attributes
    ----------
    name : str
        Where it comes from.
    upper, fore : ndarray of shape (n, 3)
        Unit vectors shoulder to elbow and elbow to wrist.
    fps : float
        Frames a second.
    """

    name: str
    upper: Array
    fore: Array
    fps: float = FPS

    def __len__(self) -> int:
        return len(self.upper)

    def __getitem__(self, rows: slice | NDArray) -> ArmClip:
        return ArmClip(self.name, self.upper[rows], self.fore[rows], self.fps)

    def postures(self, arm: ShoulderElbowArm, mounting: ArrayLike = MOUNTING) -> Array:
        """The arm's postures with the same directions, (n, 7)."""
        M = np.asarray(mounting, dtype=np.float64)
        return arm.posture_from_directions(self.upper @ M, self.fore @ M)

    def with_error(self, degrees: float, random_state: Any = None) -> ArmClip:
        """Turn both directions of each frame by random angles of this standard deviation."""
        rng = np.random.default_rng(random_state)
        return ArmClip(
            self.name,
            _shake(self.upper, np.radians(degrees), rng),
            _shake(self.fore, np.radians(degrees), rng),
            self.fps,
        )

    def raised(self, share: float = 0.6) -> NDArray[np.bool_]:
        """Frames in which the hand is not hanging: less than this share of the arm below the shoulder."""
        return (self.upper + self.fore)[:, 2] / 2 > -share


def _shake(vectors: Array, sd: float, rng: np.random.Generator) -> Array:
    noise = rng.normal(scale=sd, size=vectors.shape)
    noise -= (noise * vectors).sum(axis=1, keepdims=True) * vectors
    out = vectors + noise
    return out / np.linalg.norm(out, axis=1, keepdims=True)


def markers_from_positions(positions: Mapping[str, ArrayLike], side: str = "right") -> Markers:
    """Take markers from places (n, 3) with y up, turned to z up by a quarter about x."""
    return Markers(**{key: y_up_to_z_up(values) for key, values in positions.items()}, side=side)


def y_up_to_z_up(points: ArrayLike) -> Array:
    """(x, y, z) -> (x, -z, y)."""
    p = np.asarray(points, dtype=np.float64)
    return np.stack([p[..., 0], -p[..., 2], p[..., 1]], axis=-1)


def clip_from_positions(
    name: str, names: Sequence[str], positions: ArrayLike, fps: float, target_fps: float = FPS
) -> ArmClip:
    """Directions of the right arm in the frame of the trunk, which may turn, at 30 frames a second."""
    step = max(1, round(fps / target_fps))
    places = joint_positions(names, np.asarray(positions)[::step])
    points = {key: y_up_to_z_up(value) for key, value in places.items()}
    left = points["left_shoulder"] - points["right_shoulder"]
    angle = np.arctan2(left[:, 1], left[:, 0])  # heading: the left must be +X
    c, s = np.cos(angle), np.sin(angle)

    def in_trunk(vectors: Array) -> Array:
        x, y, z = vectors.T
        turned = np.stack([c * x + s * y, c * y - s * x, z], axis=1)
        return turned / np.linalg.norm(turned, axis=1, keepdims=True)

    return ArmClip(
        name,
        in_trunk(points["elbow"] - points["right_shoulder"]),
        in_trunk(points["wrist"] - points["elbow"]),
        fps / step,
    )


def clip_from_motion(motion: Motion, name: str = "clip") -> ArmClip:
    """The right arm of a BVH motion."""
    return clip_from_positions(name, motion.skeleton.names, motion.positions(), motion.fps)


def load_clips() -> dict[str, ArmClip]:
    """Load the shipped clips: the right arms of six CMU motions at 30 frames a second.

    Subject 79 writes on a chalkboard (79_31, 79_32), paints (79_43) and washes a window (79_44);
    subject 13 directs traffic (13_26, 13_27). The data were obtained from mocap.cs.cmu.edu; the
    database was created with funding from NSF EIA-0196217.
    """
    path = files("isthmus.applications.imitation") / "assets" / "clips.npz"
    with path.open("rb") as file, np.load(file) as arrays:
        clips = {}
        for key in arrays.files:
            rows = arrays[key].astype(np.float64) / _QUANTUM
            upper, fore = rows[:, :3], rows[:, 3:]
            clips[key] = ArmClip(key, _unit(upper), _unit(fore))
    return clips


def make_clip(n_frames: int = 300, *, random_state: Any = None, name: str = "generated") -> ArmClip:
    """Generate a smooth movement of a right arm inside a person's range.

    The upper arm swings between hanging, forwards and sideways, the elbow bends up to 120 degrees;
    angles are smoothed noise, so that the movement has no sudden jumps.
    """
    rng = np.random.default_rng(random_state)
    noise = gaussian_filter1d(rng.standard_normal((n_frames + 200, 4)), 14, axis=0)[100:-100]
    noise /= noise.std(axis=0)
    wave = (1 + np.tanh(0.9 * noise)) / 2
    lift = np.radians(15 + 90 * wave[:, 0])  # from hanging
    side = np.radians(-20 + 110 * wave[:, 1])  # 0 forwards, 90 to the right
    bend = np.radians(5 + 110 * wave[:, 2])
    roll = np.radians(-70 + 120 * wave[:, 3])
    out = np.stack([-np.sin(side), -np.cos(side), np.zeros(n_frames)], axis=1)
    upper = np.sin(lift)[:, None] * out - np.cos(lift)[:, None] * np.array([0, 0, 1.0])
    across = np.cross([0, 0, 1.0], out)  # level and perpendicular to the arm, however high it is
    lifted = np.cross(upper, across)  # perpendicular to the arm, in its vertical plane
    bent = np.cos(roll)[:, None] * lifted + np.sin(roll)[:, None] * across
    fore = np.cos(bend)[:, None] * upper + np.sin(bend)[:, None] * bent
    return ArmClip(name, _unit(upper), _unit(fore))


def _unit(vectors: Array) -> Array:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
