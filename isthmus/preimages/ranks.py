"""An order of samples that depends on what they are, not on the place of their rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import Array

_SAME = 1e-8  # of the largest: differences below it do not decide on the order


def ranks(scores: Array, *more: Any) -> NDArray[np.intp]:
    """Place of every sample in the order of its distance from the mean; ties by those of ``more``."""
    found = [a for a in (scores, *more) if isinstance(a, np.ndarray) and a.ndim == 2]
    places = np.empty(len(scores), dtype=np.intp)
    places[np.lexsort([_distances(a) for a in found[::-1]])] = np.arange(len(scores))
    return places


def _distances(A: NDArray) -> Array:
    A = A - A.mean(axis=0)
    values: Array = np.einsum("ij,ij->i", A, A, dtype=np.float64)
    unit = _SAME * float(values.max(initial=0.0))
    return np.round(values / unit) if unit > 0 else values
