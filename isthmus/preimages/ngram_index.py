"""All n-grams of the points of an expansion in one sorted table, and exact losses from it.

The inner product of ``Psi = sum_i G_i phi(x_i)`` with the image of any sequence is a sum over the
n-grams of that sequence alone: once the weights of the n-grams are summed, its cost does not depend on
the number of points.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from isthmus._linalg import Array
from isthmus._saved import saved
from isthmus.kernels.sequences import Alphabet, Ints, NgramKernel, ngram_levels


@saved(matrix="d n", depths="d", keys="d+-1", lengths="n")
class NgramIndex:
    """A trie of the n-grams of some sequences.

    Node 0 is the empty word. The children of a node are found by their key, node times the size of the
    alphabet plus symbol; keys are sorted, and node ``i + 1`` has key i.
    """

    def __init__(self, kernel: NgramKernel, points: Any) -> None:
        sequences = kernel._convert(points, "points")
        self.kernel = kernel
        self.alphabet = Alphabet(sequences)
        corpus = self.alphabet.encode(sequences)
        self.lengths = corpus.lengths
        self.n_symbols = len(self.alphabet)
        self.amplitudes = kernel._amplitudes(int(self.lengths.max()))
        self.last = kernel._last()
        self.divides = kernel._divides()
        sequence, remaining = corpus.sequence, corpus.remaining
        node = np.zeros(len(corpus.symbols), dtype=np.int64)  # of the word that begins at a place
        keys, rows, columns, values, n_nodes = [], [], [], [], 1
        for length, places, _ in ngram_levels(corpus, keep_all=True):
            if length > len(self.amplitudes):
                break
            found, index = np.unique(
                node[places] * self.n_symbols + corpus.symbols[places + length - 1],
                return_inverse=True,
            )
            node[places] = index + n_nodes
            keys.append(found)
            rows.append(node[places])
            columns.append(sequence[places])
            e = np.where(remaining[places] == length, self.last, 1.0)
            values.append(self.amplitudes[length - 1] * e)
            n_nodes += len(found)
        self.keys = np.concatenate(keys)
        scale = 1.0 / self.lengths if self.divides else np.ones(len(self.lengths))
        if kernel.normalise:
            own = kernel._diagonal(sequences)
            scale = scale / np.where(own > 0, np.sqrt(own), 1.0)
            scale = np.where(own > 0, scale, 0.0)
        cells = np.concatenate(columns)
        self.matrix = sparse.csr_matrix(
            (np.concatenate(values) * scale[cells], (np.concatenate(rows), cells)),
            shape=(n_nodes, len(self.lengths)),
        )
        self.depths = np.concatenate(
            [[0], np.repeat(np.arange(len(keys)) + 1, [len(k) for k in keys])]
        )

    def target(self, coef: Array, squared_norm: float) -> NgramTarget:
        """The weights of all n-grams for one expansion."""
        weights = np.append(self.matrix @ coef, 0.0)  # one more: the node -1 of words never seen
        return NgramTarget(self, weights, squared_norm)

    def children(self, node: Ints, symbol: Ints) -> Ints:
        """Nodes one symbol further; -1 where no point has the word."""
        key = np.where(node >= 0, node * self.n_symbols + symbol, -1)
        index = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
        return np.where(self.keys[index] == key, index + 1, -1)

    def word(self, node: int) -> Ints:
        """The symbols on the way to a node."""
        symbols = []
        while node > 0:
            key = int(self.keys[node - 1])
            symbols.append(key % self.n_symbols)
            node = key // self.n_symbols
        return np.array(symbols[::-1], dtype=np.int64)


@dataclass
class NgramTarget:
    """One point ``Psi``, and the full losses of any sequences against it."""

    index: NgramIndex
    weights: Array
    squared_norm: float

    @property
    def n_symbols(self) -> int:
        return self.index.n_symbols

    def losses(self, Z: Ints, lengths: Ints) -> Array:
        """``|phi(z) - Psi|^2`` of the rows of a padded matrix of codes."""
        return self.combine(self.inner(Z, lengths), self.own(Z, lengths), lengths)

    def combine(self, inner: Array, own: Array, lengths: Any) -> Array:
        """Losses from sums that are not divided by the length yet."""
        return np.maximum(self.squared_norm - self.score(inner, own, lengths), 0.0)

    def score(self, inner: Array, own: Array, lengths: Any) -> Array:
        """``2 <Psi, phi(z)> - k(z, z)``."""
        if self.index.kernel.normalise:
            root = np.sqrt(np.where(own > 0, own, 1.0))
            return np.where(own > 0, 2.0 * inner / root - 1.0, 0.0)
        d = lengths if self.index.divides else 1.0
        return 2.0 * inner / d - own / np.square(d)

    def inner(self, Z: Ints, lengths: Ints) -> Array:
        """``<Psi, phi(z)>`` times the length, (n,)."""
        f, e = self.index.amplitudes, self.index.last
        total = np.zeros(len(Z))
        rows, places = np.nonzero(np.arange(Z.shape[1]) < lengths[:, None])
        node = np.zeros(len(rows), dtype=np.int64)
        for length in range(1, min(Z.shape[1], len(f)) + 1):
            node = self.index.children(node, Z[rows, places + length - 1])
            seen = node >= 0
            at_end = places + length == lengths[rows]
            value = f[length - 1] * self.weights[node] * np.where(at_end, e, 1.0)
            total += np.bincount(rows[seen], value[seen], minlength=len(Z))
            keep = seen & ~at_end
            rows, places, node = rows[keep], places[keep], node[keep]
            if not len(rows):
                break
        return total

    def own(self, Z: Ints, lengths: Ints) -> Array:
        """``k(z, z)`` times the squared length, (n,): runs of agreement at every shift."""
        n, m = Z.shape
        f2 = self.index.kernel._amplitudes(m) ** 2  # candidates may be longer than any point
        sums = np.concatenate([[0.0], np.cumsum(f2)])
        e = self.index.last
        top = len(f2)
        places = np.arange(m)
        remaining = np.maximum(lengths[:, None] - places, 0)
        alone = sums[np.minimum(remaining, top)]
        alone += (e**2 - 1.0) * np.where(
            (remaining > 0) & (remaining <= top), f2[np.minimum(remaining, top) - 1], 0.0
        )
        total = alone.sum(axis=1)
        run = np.zeros((n, m + 1), dtype=np.int64)  # run[:, j]: agreement of z[i:] and z[j:]
        for i in range(m - 1, -1, -1):
            same = (Z[:, i : i + 1] == Z) & (Z >= 0)
            run[:, :-1] = np.where(same, run[:, 1:] + 1, 0)
            run[:, m] = 0
            later = run[:, i + 1 : m]
            pair = sums[np.minimum(later, top)]
            if e != 1.0:  # the later of the two words ends the sequence
                whole = (later == remaining[:, i + 1 : m]) & (later > 0) & (later <= top)
                pair = pair + (e - 1.0) * np.where(whole, f2[np.minimum(later, top) - 1], 0.0)
            total += 2.0 * pair.sum(axis=1)
        return total


def largest_remainder(fractions: Any, size: int) -> NDArray[np.int64]:
    """Whole counts that sum to ``size``, in the proportions of ``fractions``.

    Negative fractions count as zero; ties go to the first.
    """
    if size < 1:
        raise ValueError(f"size == {size}, must be >= 1.")
    f = np.maximum(np.asarray(fractions, dtype=np.float64), 0.0)
    if len(f) == 0:
        raise ValueError("fractions is empty: the alphabet needs at least one symbol.")
    f = f / f.sum() if f.sum() > 0 else np.full(len(f), 1.0 / len(f))
    counts = np.floor(f * size + 1e-9).astype(np.int64)
    # Ties to the last digit must not be decided by rounding: compare to 9 digits.
    order = np.argsort(-np.round(f * size - counts, 9), kind="stable")
    counts[order[: size - counts.sum()]] += 1
    return counts
