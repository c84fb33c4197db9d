"""A walk over the blocks of a source: how far it has come, and what it has summed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import Array
from isthmus.problems.splits import dense_rows
from isthmus.problems.streams.near_sums import add_block, check_sums, near_moments
from isthmus.problems.sums import Moments

TOO_LARGE = "the squares of the values overflow: divide the columns by a common large number."


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


def unusable(block: int, first: int, n_rows: int, error: Exception) -> BlockError:
    """Return the error of a part of a block, which names its rows."""
    return BlockError(f"block {block} (rows {first} to {first + n_rows - 1}): {error}", block)


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


def add_rows(moments: Moments, X: Any, Y: NDArray, w: Array | None, squares: bool) -> Moments:
    """Return moments with more rows, those of weight zero are no rows.

    Rows that are not finite, or too large to be summed, are a ``FloatingPointError``.
    """
    if w is not None and not w.all():
        kept = w > 0
        X, Y, w = X[kept], Y[kept], w[kept]
    if not len(Y):
        return moments
    if squares:
        with np.errstate(over="ignore", invalid="ignore"):
            return moments.merge(check_sums(near_moments(X, Y, w, moments)))
    return add_block(moments, X, Y, w)


class Sample:
    """The rows with the smallest random keys of all rows seen so far."""

    def __init__(self, n_rows: int, n_bytes: int, rng: np.random.RandomState) -> None:
        self.n_rows, self.n_bytes, self.rng = n_rows, n_bytes, rng
        self.n_seen = 0
        self.bound = np.inf  # keys from here on are too large
        self.parts: list[tuple[NDArray, NDArray, Any, NDArray]] = []

    def add(self, X: Any, Y: NDArray, w: Array | None) -> None:
        """Take in a block."""
        if not self.parts:
            self.n_rows = min(self.n_rows, max(1, self.n_bytes // (8 * (X.shape[1] + Y.shape[1]))))
        keys = self.rng.random_sample(len(Y))
        if w is not None:
            keys[w == 0] = np.inf
        new = np.flatnonzero(keys < self.bound)
        self.parts.append((keys[new], new + self.n_seen, dense_rows(X[new]), Y[new]))
        self.n_seen += len(Y)
        if sum(len(part[0]) for part in self.parts) > 2 * self.n_rows:
            self._shrink()

    def _shrink(self) -> None:
        keys = np.concatenate([part[0] for part in self.parts])
        if len(keys) > self.n_rows:
            self.bound = np.partition(keys, self.n_rows - 1)[self.n_rows - 1]
            # Part by part, so that rows that are dropped are not copied first.
            masks = [part[0] <= self.bound for part in self.parts]
            own = zip(self.parts, masks, strict=True)
            self.parts = [(k[m], places[m], X[m], Y[m]) for (k, places, X, Y), m in own]
        joined = [np.concatenate(part) for part in zip(*self.parts, strict=True)]
        self.parts = [(joined[0], joined[1], joined[2], joined[3])]

    def rows(self) -> tuple[Any, NDArray, NDArray]:
        """Return inputs, outputs and places, in the order of the source."""
        if not self.parts:
            raise ValueError("the source has no rows.")
        self._shrink()
        _, places, X, Y = self.parts[0]
        return X, Y, places


def check_finite_sums(parts: list[Moments]) -> None:
    """Refuse sums that have overflowed."""
    for part in parts:
        if not all(np.isfinite(sums).all() for sums in (part.xx, part.xy, part.yy)):
            raise ValueError(TOO_LARGE)
