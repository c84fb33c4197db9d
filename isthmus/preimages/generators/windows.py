"""Features of a place of a sequence: symbols around it and words through it, or vectors side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from isthmus.kernels.sequences import Alphabet, Ints


def are_symbols(sequences: Any) -> bool:
    """Return whether all are sequences of symbols: strings, lists of tokens, vectors of integers."""
    return all(
        isinstance(s, (str, list, tuple))
        or (isinstance(s, np.ndarray) and s.ndim == 1 and s.dtype.kind in "iuUS")
        for s in sequences
    )


class SymbolWindows:
    """Indicators of the symbols around a place and of the words through it.

    Words are all substrings of the window that contain the place, up to ``max_length`` symbols, each at its
    own offset. Those that occur once in training are left out: no other place can profit from them.
    """

    def __init__(self, reach: int, max_length: int) -> None:
        self.reach = reach
        self.max_length = max_length

    def fit(self, X: Sequence[Any]) -> SymbolWindows:
        self.alphabet = Alphabet(X)
        self.tables = []
        for keys in self._keys(X):
            found, count = np.unique(keys, return_counts=True)
            self.tables.append(found[count > 1])
        return self

    def transform(self, X: Sequence[Any]) -> sparse.csr_matrix:
        """One row per place of all sequences, one after another."""
        rows, columns, first, n = [], [], 0, 0
        for keys, table in zip(self._keys(X), self.tables):
            n = len(keys)
            if len(table):
                place = np.minimum(np.searchsorted(table, keys), len(table) - 1)
                known = np.flatnonzero(table[place] == keys)
                rows.append(known)
                columns.append(place[known] + first)
            first += len(table)
        cells = (
            np.concatenate([*rows, []]).astype(int),
            np.concatenate([*columns, []]).astype(int),
        )
        return sparse.csr_matrix((np.ones(len(cells[0])), cells), shape=(n, max(first, 1)))

    @property
    def n_groups(self) -> int:
        """Number of kinds of places: the symbols that were fitted."""
        return len(self.alphabet)

    def groups(self, X: Sequence[Any]) -> Ints:
        """The symbol of every place; one that was not fitted has the number ``n_groups``."""
        return np.minimum(self.alphabet.encode(X).symbols, self.n_groups)

    def _keys(self, X: Sequence[Any]) -> Any:
        """Yield the names of the words at every place, one array per offset and length."""
        windows = self._windows(X)
        r, base = self.reach, len(self.alphabet) + 2  # unknown symbols, and the space outside
        for offset in range(2 * r + 1):
            yield windows[:, offset]
        for length in range(2, self.max_length + 1):
            if base**length > 2**62:  # a huge alphabet: its long words cannot be counted in 64 bits
                return
            powers = base ** np.arange(length)
            for offset in range(max(0, r - length + 1), min(r, 2 * r + 1 - length) + 1):
                yield windows[:, offset : offset + length] @ powers

    def _windows(self, X: Sequence[Any]) -> Ints:
        corpus = self.alphabet.encode(X)
        r = self.reach
        unknown = len(self.alphabet)
        outside = len(self.alphabet) + 1
        lengths = corpus.lengths
        # Every sequence with ``r`` places of nothing in front, and as many behind the last.
        line = np.full(len(corpus.symbols) + r * (len(corpus) + 1), outside, dtype=np.int64)
        at = np.arange(len(corpus.symbols)) + r * (np.repeat(np.arange(len(corpus)), lengths) + 1)
        line[at] = np.minimum(corpus.symbols, unknown)
        return line[at[:, None] + np.arange(-r, r + 1)]


class VectorWindows:
    """Vectors of the places around a place, side by side; zeros beyond the ends."""

    n_groups = 1

    def __init__(self, reach: int) -> None:
        self.reach = reach

    def groups(self, X: Sequence[Any]) -> Ints:
        """Zeros: all places are of one kind."""
        return np.zeros(sum(map(len, X)), dtype=np.int64)

    def fit(self, X: Sequence[Any]) -> VectorWindows:
        rows = np.concatenate([np.reshape(x, (len(x), -1)) for x in X]).astype(np.float64)
        self.mean = rows.mean(axis=0)
        # One scale for all: the ridge of the classifier then does not depend on the unit.
        self.scale = float(np.sqrt(((rows - self.mean) ** 2).sum(axis=1).mean())) or 1.0
        return self

    def transform(self, X: Sequence[Any]) -> np.ndarray:
        found = []
        for x in X:
            rows = (np.reshape(x, (len(x), len(self.mean))) - self.mean) / self.scale
            padded = np.pad(rows, ((self.reach, self.reach), (0, 0)))
            found.append(
                np.concatenate(
                    [padded[k : k + len(rows)] for k in range(2 * self.reach + 1)], axis=1
                )
            )
        return np.concatenate(found)
