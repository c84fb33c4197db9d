"""Motion files in ASF/AMC format, a skeleton and its movement in two files, read as a :class:`Motion`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from isthmus.applications.imitation.bvh import Motion, Skeleton

Array = NDArray[np.float64]

INCH = 0.0254
FPS = 120.0  # of the CMU data base; the files do not tell
_TURNS = ("Zrotation", "Yrotation", "Xrotation")
_PLACE = ("Xposition", "Yposition", "Zposition")
_FREEDOMS = ("tx", "ty", "tz", "rx", "ry", "rz")


@dataclass
class Bone:
    """A bone of an ASF file: where it points, the axes it turns about, and its degrees of freedom."""

    name: str
    direction: Array = field(default_factory=lambda: np.zeros(3))
    length: float = 0.0
    axis: Rotation = field(default_factory=Rotation.identity)
    freedoms: tuple[str, ...] = ()

    @property
    def end(self) -> Array:
        """The far end, in units of the file."""
        return self.length * self.direction


@dataclass
class Asf:
    """The skeleton of an ASF file, parents before children; the root is bone 0."""

    bones: list[Bone]
    parents: list[int]
    unit: float  # metres
    degrees: bool


def read_amc(
    path: str | Path,
    skeleton: str | Path | None = None,
    *,
    unit: float | None = None,
    fps: float = FPS,
) -> Motion:
    r"""Read an AMC file with its ASF file.

    The bone :math:`j` turns by :math:`C_j M_j C_j^\top` in its parent's frame, with :math:`C_j` from
    the line ``axis`` and :math:`M_j` from the angles of the frame, both about fixed axes one after the
    other. A joint is the near end of a bone; bones without children have a further joint ``_end``.

    Parameters
    ----------
    path : str or Path
        The AMC file.
    skeleton : str or Path, default=None
        The ASF file; None looks beside the AMC file for the same name, for the part of it before the
        first underscore (``79.asf`` of ``79_43.amc``), and for the only ASF file there is.
    unit : float, default=None
        Metres a unit of the files; None takes an inch divided by the ``length`` under ``:units``.
    fps : float, default=120
        Frames a second, which the files do not tell.
    """
    path = Path(path)
    if not fps > 0:
        raise ValueError(f"fps == {fps}, must be > 0.")
    found = find_skeleton(path) if skeleton is None else Path(skeleton)
    asf = parse_asf(found.read_text("utf-8").splitlines())
    frames = parse_amc(path.read_text("utf-8").splitlines(), asf)
    return _motion(asf, frames, asf.unit if unit is None else unit, fps)


def find_skeleton(path: Path) -> Path:
    """The ASF file that belongs to an AMC file."""
    for name in (path.stem, path.stem.split("_")[0]):
        if path.with_name(f"{name}.asf").is_file():
            return path.with_name(f"{name}.asf")
    others = sorted(path.parent.glob("*.asf"))
    if len(others) == 1:
        return others[0]
    raise FileNotFoundError(
        f"{path.name} needs its skeleton: neither {path.stem}.asf nor {path.stem.split('_')[0]}.asf "
        f"is in the same folder, and there are {len(others)} other .asf files."
    )


# -- the skeleton -----------------------------------------------------------------------------


def parse_asf(lines: list[str]) -> Asf:
    """Parse the lines of an ASF file."""
    root = Bone("root", freedoms=_FREEDOMS)
    bones = {"root": root}
    above: dict[str, str] = {}
    scale = 1.0
    degrees = True
    order = "XYZ"
    turned = np.zeros(3)
    bone: Bone | None = None
    for number, section, words in _sections(lines):
        key, rest = words[0], words[1:]
        if section == "units" and key == "length":
            scale = _numbers(rest, 1, number)[0]
        elif section == "units" and key == "angle":
            degrees = rest[:1] == ["deg"]
        elif section == "root" and key == "order":
            root.freedoms = _freedoms(rest, number)
        elif section == "root" and key == "axis":
            order = rest[0]
        elif section == "root" and key == "orientation":
            turned = _numbers(rest, 3, number)
        elif section == "bonedata":
            bone = _bone_line(bone, bones, key, rest, number, degrees)
        elif section == "hierarchy" and key not in ("begin", "end"):
            for child in rest:
                above[child] = key
            _known([key, *rest], bones, number)
    root.axis = _turn(order, turned, degrees)
    return _order(bones, above, INCH / scale, degrees)


def _sections(lines: list[str]) -> Iterator[tuple[int, str, list[str]]]:
    section = ""
    for number, line in enumerate(lines, start=1):
        words = line.split("#")[0].split()
        if not words:
            continue
        if words[0].startswith(":"):
            section = words[0][1:]
        else:
            yield number, section, words


def _bone_line(
    bone: Bone | None, bones: dict[str, Bone], key: str, rest: list[str], number: int, degrees: bool
) -> Bone | None:
    """One line between ``begin`` and ``end`` of a bone."""
    if key == "begin":
        return Bone("")
    if bone is None:
        raise ValueError(f"line {number}: {key!r} outside of begin and end.")
    if key == "name":
        bone.name = rest[0]
        bones[bone.name] = bone
    elif key == "direction":
        bone.direction = _numbers(rest, 3, number)
    elif key == "length":
        bone.length = float(_numbers(rest, 1, number)[0])
    elif key == "axis":
        order = rest[3] if len(rest) > 3 else "XYZ"
        bone.axis = _turn(order, _numbers(rest[:3], 3, number), degrees)
    elif key == "dof":
        bone.freedoms = _freedoms(rest, number)
    return None if key == "end" else bone


def _freedoms(words: list[str], number: int) -> tuple[str, ...]:
    found = tuple(word.lower() for word in words)
    for word in found:
        if word not in _FREEDOMS:
            raise ValueError(
                f"line {number}: unknown channel {word!r}, must be one of {', '.join(_FREEDOMS)}."
            )
    return found


def _known(names: list[str], bones: dict[str, Bone], number: int) -> None:
    for name in names:
        if name not in bones:
            raise ValueError(f"line {number}: bone {name!r} is not in the skeleton.")


def _order(bones: dict[str, Bone], above: dict[str, str], unit: float, degrees: bool) -> Asf:
    names = ["root"]
    for name in names:  # grows while it is walked through: breadth first
        names += [child for child, parent in above.items() if parent == name]
    lost = [name for name in bones if name not in names]
    if lost:
        raise ValueError(f"bone {lost[0]!r} is not in the hierarchy below the root.")
    parents = [-1] + [names.index(above[name]) for name in names[1:]]
    return Asf([bones[name] for name in names], parents, unit, degrees)


def _numbers(words: list[str], n: int, number: int) -> Array:
    if len(words) != n:
        raise ValueError(f"line {number}: {len(words)} numbers, must be {n}.")
    try:
        return np.array([float(word) for word in words])
    except ValueError:
        raise ValueError(f"line {number}: {' '.join(words)!r} are not numbers.") from None


def _turn(order: str, angles: Array, degrees: bool) -> Rotation:
    """Turns about fixed axes, one after the other."""
    places = ["XYZ".index(axis) for axis in order.upper()]
    return Rotation.from_euler(order.lower(), angles[places], degrees=degrees)


# -- the movement -----------------------------------------------------------------------------


def parse_amc(lines: list[str], asf: Asf) -> list[Array]:
    """The values of each bone over time, (n_frames, n_freedoms), angles as in the file."""
    index = {bone.name: j for j, bone in enumerate(asf.bones)}
    rows: list[list[Array]] = [[] for _ in asf.bones]
    n_frames = 0
    for number, line in enumerate(lines, start=1):
        words = line.split("#")[0].split()
        if not words or words[0].startswith(":"):
            asf.degrees = {":DEGREES": True, ":RADIANS": False}.get(
                words[0].upper() if words else "", asf.degrees
            )
        elif len(words) == 1 and words[0].isdigit():
            _whole(asf, rows, n_frames, number)
            n_frames += 1
        else:
            if words[0] not in index:
                raise ValueError(f"line {number}: bone {words[0]!r} is not in the skeleton.")
            if n_frames == 0:
                raise ValueError(f"line {number}: {words[0]!r} comes before the first frame.")
            j = index[words[0]]
            rows[j].append(_numbers(words[1:], len(asf.bones[j].freedoms), number))
    _whole(asf, rows, n_frames, len(lines))
    if n_frames == 0:
        raise ValueError("the file has no frames.")
    return [
        np.array(values).reshape(n_frames, len(bone.freedoms))
        for bone, values in zip(asf.bones, rows)
    ]


def _whole(asf: Asf, rows: list[list[Array]], n_frames: int, number: int) -> None:
    """Every bone that can turn must have had its line in the frame that ends here."""
    for bone, values in zip(asf.bones, rows):
        if bone.freedoms and len(values) != n_frames:
            raise ValueError(
                f"line {number}: bone {bone.name!r} has {len(values)} values in {n_frames} frames."
            )


def _motion(asf: Asf, frames: list[Array], unit: float, fps: float) -> Motion:
    names, parents, offsets, columns = [], [], [], []
    channels: list[tuple[str, ...]] = []
    for bone, parent, values in zip(asf.bones, asf.parents, frames):
        names.append(bone.name)
        parents.append(parent)
        offsets.append(np.zeros(3) if parent < 0 else asf.bones[parent].end)
        channels.append(_PLACE + _TURNS if parent < 0 else _TURNS)
        if parent < 0:
            columns.append(_shifts(bone, values))
        columns.append(_angles(bone, values, asf.degrees))
    for j, bone in enumerate(asf.bones):
        if j not in asf.parents:
            names.append(f"{bone.name}_end")
            parents.append(j)
            offsets.append(bone.end)
            channels.append(())
    tree = Skeleton(tuple(names), tuple(parents), unit * np.array(offsets), tuple(channels))
    return Motion(tree, np.hstack(columns), 1.0 / fps, unit)


def _shifts(bone: Bone, values: Array) -> Array:
    """Columns tx, ty, tz; those that the file lacks are zero."""
    out = np.zeros((len(values), 3))
    for column, freedom in enumerate(bone.freedoms):
        if freedom[0] == "t":
            out[:, "xyz".index(freedom[1])] = values[:, column]
    return out


def _angles(bone: Bone, values: Array, degrees: bool) -> Array:
    """Angles in degrees about z, y, x of the turn in the parent's frame."""
    turn = Rotation.from_matrix(np.tile(np.eye(3), (len(values), 1, 1)))
    for column, freedom in enumerate(bone.freedoms):
        if freedom[0] == "r":
            turn = Rotation.from_euler(freedom[1], values[:, [column]], degrees=degrees) * turn
    local = bone.axis * turn * bone.axis.inv()
    with warnings.catch_warnings():  # at a gimbal lock any of the angles that give the turn will do
        warnings.simplefilter("ignore", UserWarning)
        return np.asarray(local.as_euler("ZYX", degrees=True))
