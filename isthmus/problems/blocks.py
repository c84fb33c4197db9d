"""Moments of blocks of rows, of which a fold can be taken away."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import Array
from isthmus.problems.sums import Moments

Blocks = Iterable[tuple[slice, Array, Array]]
"""Which rows a block holds, and its inputs and outputs."""


class BlockMoments:
    """One walk over blocks of checked rows: the moments of each fold, and of all.

    ``folds`` gives the fold of each row; of the rows of ``sample``, in rising order, the inputs
    themselves are kept. ``weights`` are those of all rows, None for ones.
    """

    def __init__(
        self, blocks: Blocks, folds: NDArray, sample: NDArray, weights: Array | None = None
    ) -> None:
        self.parts: dict[int, Moments] = {}
        kept = []
        for rows, X, Y in blocks:
            labels = folds[rows]
            for fold in np.unique(labels).tolist():
                own = slice(None) if (labels == fold).all() else labels == fold
                counts = None if weights is None else weights[rows][own]
                part = Moments.squares_of(X[own], Y[own], counts, full_yy=True)
                self.parts[fold] = self.parts[fold].merge(part) if fold in self.parts else part
            inside = sample[(sample >= rows.start) & (sample < rows.stop)]
            kept.append(X[inside - rows.start])
        self.sample = np.concatenate(kept)
        self.whole = reduce(Moments.merge, self.parts.values())

    def without(self, fold: int) -> Moments:
        """The moments of all rows but those of a fold."""
        return self.whole.subtract(self.parts[fold])
