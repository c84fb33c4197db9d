"""Which joint of a motion file is the shoulder, the elbow, the wrist: dialects of skeletons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# Spellings without prefix (``mixamorig:``), case, spaces, dots and underscores; the first that is found
# is taken. {s} is right or left, {c} is r or l. In skeletons with an "Arm" joint the one called "Shoulder"
# is the collar bone; it is the shoulder in those that go on with an "Elbow".
_SPELLINGS = {
    "shoulder": (
        "{s}arm",
        "{s}upperarm",
        "{c}humerus",
        "{c}upperarm",
        "upperarm{c}",
        "{s}uparm",
        "{c}shldr",
        "{c}shoulder",
        "{s}shoulder",
        "{c}sho",
    ),
    "elbow": (
        "{s}forearm",
        "{s}lowerarm",
        "{c}radius",
        "{c}forearm",
        "lowerarm{c}",
        "{s}lowarm",
        "{c}elbow",
        "{s}elbow",
        "{c}elb",
    ),
    "wrist": (
        "{s}hand",
        "{c}wrist",
        "{s}wrist",
        "{c}hand",
        "hand{c}",
        "{c}wra",
        "{c}wri",
    ),
    "finger": (
        "{s}handmiddle1",
        "{s}handindex1",
        "{s}fingerbase",
        "{c}fingers",
        "{c}fin",
        "{s}index",
        "{c}hand",
    ),
    "thumb": ("{s}handthumb1", "{s}thumb", "{c}thumb", "{c}thm"),
}
NEEDED = ("left_shoulder", "right_shoulder", "elbow", "wrist")


def plain_name(name: str) -> str:
    """A name without its prefix, case and separators: ``mixamorig:Right_Arm`` is ``rightarm``."""
    return "".join(c for c in name.rsplit(":", 1)[-1].lower() if c.isalnum())


def joint_indices(
    names: Sequence[str], side: str = "right", joints: Mapping[str, str] | None = None
) -> dict[str, int]:
    """Return the number of each marker's joint in a list of names.

    Parameters
    ----------
    names : sequence of str
        Joints of a skeleton, or labels of markers.
    side : {"right", "left"}, default="right"
        The arm.
    joints : dict of str to str, default=None
        Names that replace the known spellings: ``left_shoulder``, ``right_shoulder``, ``elbow``, ``wrist``,
        ``finger``, ``thumb``.
    """
    plain = [plain_name(name) for name in names]
    given = dict(joints or {})
    wanted = {
        "left_shoulder": ("shoulder", "left"),
        "right_shoulder": ("shoulder", "right"),
        "elbow": ("elbow", side),
        "wrist": ("wrist", side),
        "finger": ("finger", side),
        "thumb": ("thumb", side),
    }
    for key in given:
        if key not in wanted:
            raise ValueError(f"joints names {key!r}, the markers are {', '.join(wanted)}.")
    found: dict[str, int] = {}
    for key, (part, which) in wanted.items():
        if key in given:
            if given[key] not in names:
                raise ValueError(
                    f"joint {given[key]!r} for {key} is not in the file: {', '.join(names)}."
                )
            found[key] = list(names).index(given[key])
            continue
        spellings = [text.format(s=which, c=which[0]) for text in _SPELLINGS[part]]
        hits = [plain.index(text) for text in spellings if text in plain]
        hits = [hit for hit in hits if hit not in found.values()]
        if hits:
            found[key] = hits[0]
        elif key in NEEDED:
            raise ValueError(
                f"no joint for {key!r}: looked for {', '.join(spellings)} among {', '.join(names)}. "
                f"Name it: joints={{{key!r}: ...}}, or --joints {key}=NAME."
            )
    return found


def joint_positions(
    names: Sequence[str],
    positions: ArrayLike,
    side: str = "right",
    joints: Mapping[str, str] | None = None,
) -> dict[str, Array]:
    """Pick the places of the markers out of (n, n_joints, 3); without a finger the wrist is taken."""
    places = np.asarray(positions, dtype=np.float64)
    found = joint_indices(list(names), side, joints)
    found.setdefault("finger", found["wrist"])
    return {key: places[:, index] for key, index in found.items()}
