"""Motion files in BVH format: read, write, and places of the joints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

CMU_UNIT = 0.0254 / 0.45  # metres a unit in the CMU conversions
_CHANNELS = tuple(f"{axis}{kind}" for kind in ("position", "rotation") for axis in "XYZ")


@dataclass(frozen=True)
class Skeleton:
    """A tree of joints. Ends of chains (``End Site``) are joints without channels.

    Attributes
    ----------
    names : tuple of str
        Names of the joints, parents before children; an end is named ``<parent>_end``.
    parents : tuple of int
        Number of the parent, -1 at the root.
    offsets : ndarray of shape (n_joints, 3)
        Place in the parent's frame, in metres, y up.
    channels : tuple of tuple of str
        Channels of each joint in the order of the file.
    """

    names: tuple[str, ...]
    parents: tuple[int, ...]
    offsets: Array
    channels: tuple[tuple[str, ...], ...]

    @property
    def n_channels(self) -> int:
        return sum(map(len, self.channels))

    def index(self, name: str) -> int:
        """The number of a joint."""
        if name not in self.names:
            raise ValueError(f"joint {name!r} is not in the skeleton: {', '.join(self.names)}.")
        return self.names.index(name)


@dataclass(frozen=True)
class Motion:
    """A skeleton and its channels over time, (n_frames, n_channels); angles in degrees."""

    skeleton: Skeleton
    values: Array
    frame_time: float
    unit: float = 1.0  # metres a unit of the position channels

    @property
    def fps(self) -> float:
        return 1.0 / self.frame_time

    def local_rotations(self) -> Array:
        """Turns of the joints in their parents' frames, (n_frames, n_joints, 3, 3)."""
        out = np.empty((len(self.values), len(self.skeleton.names), 3, 3))
        for j, channels, columns in self._columns():
            R = np.broadcast_to(np.eye(3), (len(self.values), 3, 3))
            for channel, column in zip(channels, columns.T):
                if channel.endswith("rotation"):  # intrinsic, in the order of the channels
                    R = R @ axis_rotations(channel[0], np.radians(column))
            out[:, j] = R
        return out

    def local_shifts(self) -> Array:
        """Places of the joints in their parents' frames, (n_frames, n_joints, 3)."""
        out = np.repeat(self.skeleton.offsets[None], len(self.values), axis=0)
        for j, channels, columns in self._columns():
            for channel, column in zip(channels, columns.T):
                if channel.endswith("position"):
                    out[:, j, "XYZ".index(channel[0])] += self.unit * column
        return out

    def positions(self) -> Array:
        """Places of the joints in metres, (n_frames, n_joints, 3), y up."""
        turns = self.local_rotations()
        shifts = self.local_shifts()
        R = np.empty_like(turns)
        p = np.empty_like(shifts)
        for j, parent in enumerate(self.skeleton.parents):
            if parent < 0:
                R[:, j], p[:, j] = turns[:, j], shifts[:, j]
            else:
                R[:, j] = R[:, parent] @ turns[:, j]
                p[:, j] = p[:, parent] + np.einsum("nij,nj->ni", R[:, parent], shifts[:, j])
        return p

    def _columns(self) -> Iterator[tuple[int, tuple[str, ...], Array]]:
        begin = 0
        for j, channels in enumerate(self.skeleton.channels):
            yield j, channels, self.values[:, begin : begin + len(channels)]
            begin += len(channels)


def axis_rotations(axis: str, angles: Array) -> Array:
    """Turns about one axis, (n, 3, 3)."""
    c, s = np.cos(angles), np.sin(angles)
    i, j = {"X": (1, 2), "Y": (2, 0), "Z": (0, 1)}[axis]
    R = np.zeros((len(angles), 3, 3))
    R[:, range(3), range(3)] = 1.0
    R[:, i, i], R[:, j, j] = c, c
    R[:, i, j], R[:, j, i] = -s, s
    return R


def read_bvh(path: str | Path, *, unit: float = 1.0, skip: int = 0) -> Motion:
    """Read a BVH file.

    Parameters
    ----------
    path : str or Path
        The file.
    unit : float, default=1.0
        Metres a unit of the file; ``CMU_UNIT`` for the conversions of the CMU data base.
    skip : int, default=0
        Frames to leave out at the begin: the CMU conversions have an added T pose, 1.
    """
    lines = Path(path).read_text("utf-8").splitlines()
    return parse_bvh(lines, unit=unit, skip=skip)


def parse_bvh(lines: list[str], *, unit: float = 1.0, skip: int = 0) -> Motion:
    """Parse the lines of a BVH file."""
    skeleton, at = _hierarchy(lines, unit)
    n_frames, frame_time, at = _motion_head(lines, at)
    rows = []
    for number in range(at, len(lines)):
        parts = lines[number].split()
        if not parts:
            continue
        if len(parts) != skeleton.n_channels:
            last = " The file ends here: it may be truncated." if number == len(lines) - 1 else ""
            raise ValueError(
                f"line {number + 1}: {len(parts)} columns, the skeleton has {skeleton.n_channels} "
                f"channels.{last}"
            )
        rows.append([_number(part, number) for part in parts])
    if len(rows) != n_frames:
        raise ValueError(
            f"the file declares {n_frames} frames and has {len(rows)}: it is truncated, or its line "
            "'Frames:' is wrong."
        )
    if not 0 < frame_time < np.inf:
        raise ValueError(
            f"Frame Time: {frame_time} is not a time between frames: write the seconds per frame there, "
            "such as 0.0083333 for 120 frames per second."
        )
    values = np.array(rows, dtype=np.float64).reshape(len(rows), skeleton.n_channels)[skip:]
    return Motion(skeleton, values, frame_time, unit)


def _hierarchy(lines: list[str], unit: float) -> tuple[Skeleton, int]:
    names: list[str] = []
    parents: list[int] = []
    offsets: list[list[float]] = []
    channels: list[tuple[str, ...]] = []
    stack: list[int] = []
    for number, line in enumerate(lines):
        parts = line.split()
        if not parts or parts[0] in ("HIERARCHY", "{"):
            continue
        if parts[0] == "MOTION":
            return _skeleton(names, parents, offsets, channels, unit), number
        if parts[0] in ("ROOT", "JOINT", "End"):
            parent = stack[-1] if stack else -1
            names.append(f"{names[parent]}_end" if parts[0] == "End" else parts[1])
            parents.append(parent)
            offsets.append([0.0, 0.0, 0.0])
            channels.append(())
            stack.append(len(names) - 1)
        elif parts[0] == "OFFSET" and stack:
            if len(parts) != 4:
                raise ValueError(f"line {number + 1}: OFFSET has {len(parts) - 1} numbers, not 3.")
            offsets[stack[-1]] = [_number(part, number) for part in parts[1:]]
        elif parts[0] == "CHANNELS" and stack:
            channels[stack[-1]] = _channels(parts, number)
        elif parts[0] == "}" and stack:
            stack.pop()
        else:
            raise ValueError(f"line {number + 1}: {line.strip()!r} is not understood.")
    raise ValueError("the file has no line MOTION.")


def _skeleton(
    names: list[str],
    parents: list[int],
    offsets: list[list[float]],
    channels: list[tuple[str, ...]],
    unit: float,
) -> Skeleton:
    if not names:
        raise ValueError("the file has no ROOT.")
    return Skeleton(tuple(names), tuple(parents), unit * np.array(offsets), tuple(channels))


def _channels(parts: list[str], number: int) -> tuple[str, ...]:
    found = tuple(parts[2:])
    for channel in found:
        if channel not in _CHANNELS:
            raise ValueError(
                f"line {number + 1}: unknown channel {channel!r}, must be one of "
                f"{', '.join(_CHANNELS)}."
            )
    if parts[1] != str(len(found)):
        raise ValueError(f"line {number + 1}: {parts[1]} channels declared, {len(found)} named.")
    return found


def _motion_head(lines: list[str], at: int) -> tuple[int, float, int]:
    frames: int | None = None
    for number in range(at + 1, len(lines)):
        text = lines[number].strip()
        if text.startswith("Frames:"):
            frames = int(_number(text.split(":")[1], number))
        elif text.startswith("Frame Time:"):
            if frames is None:
                break
            return frames, _number(text.split(":")[1], number), number + 1
        elif text:
            raise ValueError(f"line {number + 1}: {text!r}, expected Frames: or Frame Time:.")
    raise ValueError("the file has no 'Frames:' and 'Frame Time:' after MOTION.")


def _number(text: str, line: int) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"line {line + 1}: {text.strip()!r} is not a number.") from None


def write_bvh(motion: Motion, path: str | Path) -> None:
    """Write a motion as a BVH file, in units of ``motion.unit`` metres."""
    skeleton = motion.skeleton
    lines = ["HIERARCHY"]
    children: dict[int, list[int]] = {j: [] for j in range(-1, len(skeleton.names))}
    for j, parent in enumerate(skeleton.parents):
        children[parent].append(j)

    def visit(j: int, depth: int) -> None:
        pad = "  " * depth
        kind = "ROOT" if depth == 0 else "JOINT" if skeleton.channels[j] else "End"
        lines.append(f"{pad}{kind} {'Site' if kind == 'End' else skeleton.names[j]}")
        lines.append(f"{pad}{{")
        offset = " ".join(f"{value / motion.unit:.9g}" for value in skeleton.offsets[j])
        lines.append(f"{pad}  OFFSET {offset}")
        names = skeleton.channels[j]
        if names:
            lines.append(f"{pad}  CHANNELS {len(names)} {' '.join(names)}")
        for child in children[j]:
            visit(child, depth + 1)
        lines.append(f"{pad}}}")

    visit(0, 0)
    lines += ["MOTION", f"Frames: {len(motion.values)}", f"Frame Time: {motion.frame_time:.9g}"]
    lines += [" ".join(f"{value:.9g}" for value in row) for row in motion.values]
    Path(path).write_text("\n".join(lines) + "\n", "utf-8")
