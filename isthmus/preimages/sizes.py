"""Sizes that the answers of a search may have, as a user gives them."""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus._linalg import Array
from isthmus.kernels.sequences import Ints

_LARGEST = 100_000  # symbols or nodes; searches take more than linear time and would seem to hang


def sizes_around(estimate: float, known: Ints, window: int) -> Ints:
    """Return the sizes near an estimate, which is clipped to those that are known."""
    centre = int(np.rint(np.clip(estimate, known.min(), known.max())))
    return np.arange(max(1, centre - window), centre + window + 1)


def mean_size(coef: Array, known: Ints, nearest: list[Any]) -> float:
    """Return the mean size of the points of an expansion, or that of the nearest object if it has none."""
    total = coef.sum()
    if abs(total) < 1e-8:
        return float(nearest[0] if nearest else known.mean())
    return float(coef @ known / total)


def check_sizes(sizes: Any, n_targets: int) -> list[Any]:
    """Return the sizes that the answer of every target may have; None where none are given."""
    if sizes is None:
        return [None] * n_targets
    wrong = (
        f"sizes == {sizes!r}, must be a list with one entry per target: a size, or a list of sizes."
    )
    if isinstance(sizes, (str, dict)):
        raise ValueError(wrong)
    try:
        entries = list(sizes)
    except TypeError:
        raise ValueError(wrong) from None
    if len(entries) != n_targets:
        raise ValueError(
            f"sizes has {len(entries)} entries, must have {n_targets}: one per target."
        )
    return [_check_entry(t, own) for t, own in enumerate(entries)]


def _check_entry(t: int, given: Any) -> Ints:
    try:
        own = np.atleast_1d(np.asarray(given))
    except ValueError:  # lists of different lengths within
        own = np.empty(0)
    whole = own.ndim == 1 and own.dtype.kind in "iuf" and (own == np.rint(own)).all()
    if not (whole and len(own) and own.min() >= 1):
        raise ValueError(f"sizes[{t}] == {given!r}, must be an integer >= 1, or a list of them.")
    if own.max() > _LARGEST:
        raise ValueError(f"sizes[{t}] == {given!r}, must be <= {_LARGEST}.")
    return own.astype(np.int64)
