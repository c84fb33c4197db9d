"""Names of columns that are places on an axis: wavelengths, wave numbers, times."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from isthmus._linalg import Array

# A word, a number and a unit: "1100", "1100.5 nm", "X1100", "wl_1100".
_NAME = re.compile(r"([^\d+\-.]*)([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(.*)", re.DOTALL)


def places_of(names: Sequence[Any] | None) -> tuple[Array, str] | None:
    """Return the numbers in the names and their unit; None if the names are not places on one axis.

    All names have the same words around numbers that differ. A word before the number makes a name of a
    place only if the numbers do not begin at 0 or 1: x0, x1, x2 count columns.
    """
    if names is None or len(names) < 2:
        return None
    found = [_NAME.fullmatch(str(name).strip()) for name in names]
    if None in found:
        return None
    parts = [match.groups() for match in found if match is not None]
    before, unit = parts[0][0], parts[0][2]
    if any(part[0] != before or part[2] != unit for part in parts):
        return None
    places = np.array([float(part[1]) for part in parts])
    if before.strip() and places.min() < 2:
        return None
    # Columns that are all called 1 are not a scale.
    if not np.isfinite(places).all() or len(np.unique(places)) < len(places):
        return None
    return places, unit.strip(" ()[]_")
