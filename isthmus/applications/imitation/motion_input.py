"""Markers of one arm from any motion file: BVH, AMC, C3D, SMPL joints, MediaPipe landmarks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isthmus.applications.imitation.amc import read_amc
from isthmus.applications.imitation.bvh import CMU_UNIT, read_bvh
from isthmus.applications.imitation.clip_transfer import Markers
from isthmus.applications.imitation.clips import y_up_to_z_up
from isthmus.applications.imitation.extras import need
from isthmus.applications.imitation.joint_names import joint_positions

Array = NDArray[np.float64]

ARM_LENGTH = 0.55  # metres from shoulder to wrist, by which the unit of a motion file is guessed
UNITS = (1.0, 0.01, 0.001, 0.0254, CMU_UNIT)
FORMATS = (".bvh", ".amc", ".c3d", ".npz", ".npy")

# Numbers of the joints by side: shoulder, elbow, wrist, and finger and thumb where there are any.
_SMPL = {"left": (16, 18, 20, 22, None), "right": (17, 19, 21, 23, None)}
_MEDIAPIPE = {"left": (11, 13, 15, 19, 21), "right": (12, 14, 16, 20, 22)}


@dataclass(frozen=True)
class Recording:
    """Markers over time: ``markers``, ``fps`` and the ``name`` of the file."""

    markers: Markers
    fps: float
    name: str = "recording"

    def __len__(self) -> int:
        return len(self.markers)

    def every(self, fps: float) -> Recording:
        """Take every k-th sample, so that about so many are left per second."""
        step = max(1, round(self.fps / fps))
        return Recording(self.markers[::step], self.fps / step, self.name)


def read_markers(
    path: str | Path,
    *,
    side: str = "right",
    joints: Mapping[str, str] | None = None,
    unit: float | None = None,
    fps: float | None = None,
) -> Recording:
    """Read the markers of one arm from a motion file.

    Parameters
    ----------
    path : str or Path
        ``.bvh``; ``.amc`` with its ``.asf`` beside it; ``.c3d`` (needs ezc3d); ``.npz`` with ``joints``
        (n, 22 or more, 3) of SMPL or ``landmarks`` (n, 33, 3 or 4) of MediaPipe, and ``fps``; ``.npy`` with
        either.
    side : {"right", "left"}, default="right"
        The arm.
    joints : dict of str to str, default=None
        Names of joints that are not found by themselves; see :func:`joint_indices`.
    unit : float, default=None
        Metres per unit of the file; None takes what the file says or what makes the arm a person's.
    fps : float, default=None
        Samples per second where the file does not say; replaces what it says.
    """
    path = Path(path)
    kind = path.suffix.lower()
    if side not in ("right", "left"):
        raise ValueError(f"side == {side!r}, must be 'right' or 'left'.")
    if kind not in FORMATS:
        raise ValueError(
            f"{path.name}: motion files are {', '.join(FORMATS)}, not {kind or 'this'}."
        )
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not a file: name a motion file.")
    if kind in (".npz", ".npy"):
        return _read_arrays(path, side, unit, fps)
    if kind == ".c3d":
        return _read_c3d(path, side, joints, unit, fps)
    try:
        motion = read_amc(path, unit=unit) if kind == ".amc" else read_bvh(path, unit=unit or 1.0)
    except UnicodeDecodeError:
        raise ValueError(f"{path.name} is not a text file: {kind[1:].upper()} files are.") from None
    names = motion.skeleton.names
    rate = motion.fps if fps is None else fps
    places = joint_positions(names, motion.positions(), side, joints)
    skip = 0
    if kind == ".bvh" and unit is None:
        scale = guess_unit(places, side)
        places = {key: scale * values for key, values in places.items()}
        # The CMU conversions begin with a T pose that was added.
        skip = 1 if scale == CMU_UNIT and len(motion.values) > 2 else 0
    rows = {key: y_up_to_z_up(values)[skip:] for key, values in places.items()}
    return Recording(Markers(**rows, side=side), rate, path.stem)


def guess_unit(places: Mapping[str, Array], side: str = "right") -> float:
    """Return the unit, in metres, by which shoulder to wrist is most like a person's."""
    first = {key: values[0] for key, values in places.items()}
    length = float(
        np.linalg.norm(first["elbow"] - first[f"{side}_shoulder"])
        + np.linalg.norm(first["wrist"] - first["elbow"])
    )
    if not 0 < length < np.inf:
        raise ValueError(
            f"shoulder, elbow and wrist span {length} units at the first sample: the arm has no length."
        )
    return min(UNITS, key=lambda u: abs(np.log(u * length / ARM_LENGTH)))


def markers_from_smpl(joints: ArrayLike, side: str = "right") -> Markers:
    """Take the markers from SMPL's joints, (n, 22 or more, 3), y up."""
    places = np.asarray(joints, dtype=np.float64)
    if places.ndim != 3 or places.shape[1] < 22 or places.shape[2] != 3:
        raise ValueError(f"joints has shape {places.shape}, must be (n, 22 or more, 3).")
    return _pick(y_up_to_z_up(places), _SMPL, side)


def markers_from_mediapipe(landmarks: ArrayLike, side: str = "right") -> Markers:
    """Take the markers from MediaPipe's world landmarks, (n, 33, 3 or 4): metres, y down, z away."""
    places = np.asarray(landmarks, dtype=np.float64)
    if places.ndim != 3 or places.shape[1] != 33 or places.shape[2] not in (3, 4):
        raise ValueError(f"landmarks has shape {places.shape}, must be (n, 33, 3) or (n, 33, 4).")
    x, y, z = np.moveaxis(places[..., :3], -1, 0)
    return _pick(np.stack([x, z, -y], axis=-1), _MEDIAPIPE, side)


def _pick(places: Array, table: Mapping[str, Sequence[int | None]], side: str) -> Markers:
    if side not in table:
        raise ValueError(f"side == {side!r}, must be 'right' or 'left'.")
    numbers = table[side]
    rows: dict[str, Array] = {
        f"{name}_shoulder": places[:, table[name][0]] for name in ("left", "right")
    }
    for key, number in zip(("elbow", "wrist", "finger", "thumb"), numbers[1:]):
        if number is not None and number < places.shape[1]:
            rows[key] = places[:, number]
    rows.setdefault("finger", rows["wrist"])
    return Markers(**rows, side=side)


def _read_arrays(path: Path, side: str, unit: float | None, fps: float | None) -> Recording:
    try:
        with path.open("rb") as file:  # NumPy leaves it open where it cannot read it
            stored = np.load(file, allow_pickle=False)
            if isinstance(stored, np.ndarray):
                arrays = {"landmarks" if stored.shape[1:2] == (33,) else "joints": stored}
            else:
                arrays = {key: stored[key] for key in stored.files}
    except (ValueError, OSError, EOFError, BadZipFile) as error:
        raise ValueError(f"{path.name} cannot be read as an array of NumPy: {error}.") from None
    rate = fps if fps is not None else arrays.get("fps", arrays.get("mocap_framerate"))
    if rate is None:
        raise ValueError(f"{path.name} has no fps: give samples per second (fps=, --fps).")
    for key, reader in (("landmarks", markers_from_mediapipe), ("joints", markers_from_smpl)):
        if key in arrays:
            scaled = np.array(arrays[key], dtype=np.float64)
            scaled[..., :3] *= 1.0 if unit is None else unit
            return Recording(reader(scaled, side), float(rate), path.stem)
    raise ValueError(
        f"{path.name} holds {', '.join(arrays)}: one array must be called joints (SMPL) or landmarks "
        "(MediaPipe)."
    )


def _read_c3d(
    path: Path,
    side: str,
    joints: Mapping[str, str] | None,
    unit: float | None,
    fps: float | None,
) -> Recording:
    try:
        c3d = need("ezc3d").c3d(str(path))
    except (OSError, RuntimeError, ValueError) as error:
        raise ValueError(f"{path.name} cannot be read as C3D: {error}.") from None
    points = c3d["parameters"]["POINT"]
    # A subject's name stands before a colon: "anna:RELB".
    labels = [str(label) for label in points["LABELS"]["value"]]
    says = str((points.get("UNITS", {}).get("value") or ["mm"])[0])
    scale = {"mm": 0.001, "cm": 0.01, "m": 1.0}.get(says, 0.001) if unit is None else unit
    places = scale * np.moveaxis(np.asarray(c3d["data"]["points"])[:3], 0, -1).swapaxes(0, 1)
    rate = float(points["RATE"]["value"][0]) if fps is None else fps
    return Recording(
        Markers(**joint_positions(labels, places, side, joints), side=side), rate, path.stem
    )
