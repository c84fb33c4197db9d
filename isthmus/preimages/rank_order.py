"""An order of samples that depends on what they are, not on the place of their rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import Array, spreads

_NO_DIFFERENCE = 1e-8  # of the largest: differences below it do not decide on the order
_ENTRY_DIGITS = 4  # of entries in units of their spread: fewer than float32 has
_COMPARED_ROWS = 8  # rows that columns are compared in


def ranks(scores: Array, *more: Any) -> NDArray[np.intp]:
    """Place of every sample in the order of its distance from the mean; ties by those of ``more``."""
    found = [a for a in (scores, *more) if isinstance(a, np.ndarray) and a.ndim == 2]
    places = np.empty(len(scores), dtype=np.intp)
    places[np.lexsort([_distances(a) for a in found[::-1]])] = np.arange(len(scores))
    return places


def column_ranks(X: Array, places: NDArray[np.intp]) -> NDArray[np.intp]:
    """Place of every column in the order of its first entries, in units of its spread.

    ``places`` are the ranks of the rows; the first few of them tell columns apart.
    """
    first = (X - X.mean(axis=0))[np.argsort(places)[:_COMPARED_ROWS]] / spreads(X)
    found = np.empty(X.shape[1], dtype=np.intp)
    found[np.lexsort(np.round(first, _ENTRY_DIGITS)[::-1])] = np.arange(X.shape[1])
    return found


def _distances(A: NDArray) -> Array:
    A = A - A.mean(axis=0)
    values: Array = np.einsum("ij,ij->i", A, A, dtype=np.float64)
    unit = _NO_DIFFERENCE * float(values.max(initial=0.0))
    return np.round(values / unit) if unit > 0 else values
