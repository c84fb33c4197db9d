"""A walk over the blocks of a source: how far it has come, and what it has summed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import Array
from isthmus.problems.sums import Moments


class BlockError(ValueError):
    """A block of a source that could not be read or used.

    Attributes
    ----------
    block : int
        Number of the block, from 0.
    walk : Walk or None
        What was summed before it; ``rows.resume(error)`` continues from there.
    """

    def __init__(self, message: str, block: int, walk: Walk | None = None) -> None:
        super().__init__(message)
        self.block = block
        self.walk = walk

    def __reduce__(self) -> tuple:  # errors of other processes arrive as pickles
        return type(self), (str(self), self.block, self.walk)


@dataclass
class Walk:
    """How far a walk over a source has come: rows seen, and the moments of each fold of them."""

    n_rows: int = 0
    parts: list[Moments] = field(default_factory=list)


def own_rows(begin: int, n: int, n_folds: int, labels: NDArray | None) -> Iterator[tuple[int, Any]]:
    """Yield the folds of a block that begins with row ``begin``, each with its rows of the block."""
    if labels is not None:
        own = labels[begin : begin + n]
        if len(own) < n:
            raise ValueError(f"folds names {len(labels)} rows, but the source has more.")
        yield from (
            (fold, np.flatnonzero(own == fold)) for fold in np.unique(own[own >= 0]).tolist()
        )
    elif n_folds == 1:
        yield 0, slice(None)
    else:
        for fold in range(n_folds):
            rows = slice((fold - begin) % n_folds, None, n_folds)
            if rows.start < n:
                yield fold, rows


def empty_moments(X: Any, Y: NDArray, full_yy: bool) -> Moments:
    """Return the moments of no rows of these shapes."""
    return Moments(X.shape[1], Y.shape[1], full_yy=full_yy)


def take_rows(moments: Moments, X: Any, Y: NDArray, w: Array | None) -> None:
    """Add rows; those of weight zero are no rows."""
    if w is not None and not w.all():
        kept = w > 0
        X, Y, w = X[kept], Y[kept], w[kept]
    if len(Y):
        moments._take(X, Y, w)


def check_finite_sums(parts: list[Moments]) -> None:
    """Refuse sums that have overflowed."""
    for part in parts:
        if not all(np.isfinite(sums).all() for sums in (part.xx, part.xy, part.yy)):
            raise ValueError(
                "the squares of the values overflow: divide the columns by a common large number."
            )
