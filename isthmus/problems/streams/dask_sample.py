"""A uniform sample of the rows of Dask collections: few rows of each chunk travel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import row_blocks
from isthmus.problems.splits import dense_rows
from isthmus.problems.streams.sources import Rows
from isthmus.problems.streams.walks import Sample

_KEYS_AT_ONCE = 2**20  # that are drawn at a time


@dataclass
class Drawn:
    """Rows that were drawn from neighbouring chunks."""

    n_seen: int
    keys: NDArray
    places: NDArray
    X: NDArray
    Y: NDArray

    def merge(self, other: Drawn, n_rows: int) -> Drawn:
        """Keep the rows with the smallest keys of both, in the order of the source."""
        keys = np.concatenate([self.keys, other.keys])
        kept = np.arange(len(keys))
        if len(keys) > n_rows:
            kept = np.sort(np.argpartition(keys, n_rows - 1)[:n_rows])
        return Drawn(
            self.n_seen + other.n_seen,
            keys[kept],
            np.concatenate([self.places, other.places + self.n_seen])[kept],
            np.concatenate([self.X, other.X])[kept],
            np.concatenate([self.Y, other.Y])[kept],
        )


def drawn_places(n_samples: int, n_rows: int, rng: np.random.RandomState) -> NDArray:
    """Return the places of the rows that ``Rows.sample`` draws from so many rows without weights."""
    sample = Sample(n_rows, 16 * n_rows, rng)
    for rows in row_blocks(n_samples, _KEYS_AT_ONCE):
        size = rows.stop - rows.start
        sample.add(np.empty((size, 0)), np.empty((size, 1)), None)
    return sample.rows()[2]


def pick_rows(rows: Rows, own: NDArray) -> Drawn:
    """Return the rows of a chunk at given places in it, rising."""
    X_parts, Y_parts, begin = [], [], 0
    for X, Y, _ in rows.blocks():
        here = own[(own >= begin) & (own < begin + len(Y))] - begin
        X_parts.append(dense_rows(X[here]))
        Y_parts.append(Y[here])
        begin += len(Y)
    return Drawn(begin, np.zeros(len(own)), own, np.concatenate(X_parts), np.concatenate(Y_parts))


def draw_rows(rows: Rows, n_rows: int, seed: list[int]) -> Drawn:
    """Draw rows of a chunk by random keys of its own."""
    sample = Sample(n_rows, rows.memory, np.random.RandomState(seed))
    for X, Y, w in rows.blocks():
        sample.add(X, Y, w)
    sample.rows()
    return Drawn(sample.n_seen, *sample.parts[0])
