r"""Kernels whose features are the n-grams of a sequence.

A sequence x of length m has one feature an n-gram h, the sum over the places where h occurs,

.. math::
    \phi_h(x) = \frac{1}{d(m)} \sum_{\text{occurrences}} f_{|h|} \, e,

``f`` the amplitude of the length, ``e`` = 1, or another number where the occurrence ends the sequence,
``d(m)`` = m or 1. Hence positive semi-definite by construction. All n-grams of all sequences are named
length by length: an n-gram of length l is the name of its first l - 1 symbols and its last symbol. One
that occurs in one sequence alone matters to no other, and neither do its extensions: they are dropped
at once, so that the work is with what sequences share.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from isthmus._linalg import Array
from isthmus.kernels.sequences.encoding import Corpus, Ints, as_sequences, encode
from isthmus.kernels.structured import StructuredKernel

_DENSE_SHARE = 0.05  # n-grams in more than this share of the sequences go through a dense product
# Bounds the dense copy: the most frequent n-grams, which gain most, are taken.
_DENSE_COLUMNS = 4096


class NgramKernel(StructuredKernel):
    """Base of the kernels that count n-grams."""

    # -- what a subclass says ------------------------------------------------------------------

    @abstractmethod
    def _amplitudes(self, longest: int) -> Array:
        """``f_1 .. f_longest``, zero where a length does not count."""

    def _last(self) -> float:
        """``e`` of an occurrence that ends its sequence."""
        return 1.0

    def _divides(self) -> bool:
        """Whether features are divided by the length of the sequence."""
        return False

    # -- the protocol --------------------------------------------------------------------------

    def _convert(self, X: Any, name: str) -> list[Any]:
        return as_sequences(X, name)

    def _matrix(self, X: list[Any], Y: list[Any] | None) -> Array:
        if Y is None:
            (corpus,) = encode(X)
            F = self._features(corpus)
            K = _product(F, F)
            np.fill_diagonal(K, self._own(corpus))
            return K
        (corpus,), split = encode([*X, *Y]), len(X)
        F = self._features(corpus, split)
        return _product(F[:split], F[split:])

    def _diagonal(self, X: list[Any]) -> Array:
        return self._own(encode(X)[0])

    def features(self, X: Any) -> sparse.csr_matrix:
        """The features themselves, one column an n-gram that occurs in X, (n_X, n_ngrams)."""
        self._check()
        (corpus,) = encode(self._convert(X, "X"))
        return self._features(corpus, keep_all=True)

    # -- the work ------------------------------------------------------------------------------

    def _features(
        self, corpus: Corpus, split: int | None = None, keep_all: bool = False
    ) -> sparse.csr_matrix:
        """Features of the n-grams that two sequences share, or two sides of ``split``."""
        f = self._amplitudes(int(corpus.lengths.max()))
        sequence, remaining = corpus.sequence, corpus.remaining
        rows, columns, values, n_columns = [], [], [], 0
        for length, places, names in ngram_levels(corpus, split=split, keep_all=keep_all):
            if length > len(f) or not f[length - 1 :].any():
                break
            if f[length - 1] == 0.0 or not len(places):
                continue
            e = np.where(remaining[places] == length, self._last(), 1.0)
            rows.append(sequence[places])
            columns.append(names + n_columns)
            values.append(f[length - 1] * e)
            n_columns += int(names.max()) + 1
        if not rows:
            return sparse.csr_matrix((len(corpus), 1))
        data = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
        F = sparse.csr_matrix(data, shape=(len(corpus), n_columns))
        return sparse.csr_matrix(F.multiply(1.0 / self._lengths(corpus)[:, None]))

    def _own(self, corpus: Corpus) -> Array:
        """``k(x, x)`` of all sequences in one pass."""
        f = self._amplitudes(int(corpus.lengths.max()))
        last = self._last()
        sums = np.concatenate([[0.0], np.cumsum(f**2)])
        sequence, remaining = corpus.sequence, corpus.remaining
        capped = np.minimum(remaining, len(f))
        # What a suffix brings alone: all its prefixes, the whole of it with the other weight.
        total = sums[capped]
        whole = remaining <= len(f)
        total[whole] += (last**2 - 1.0) * f[remaining[whole] - 1] ** 2
        own = np.bincount(sequence, total, minlength=len(corpus))
        # And together with another suffix of the sequence: occurrences squared less occurrences.
        for length, places, names in ngram_levels(corpus, apart=True):
            if length > len(f) or not len(places):
                break
            e = np.where(remaining[places] == length, last, 1.0)
            count = np.bincount(names, e)
            squares = np.bincount(names, e**2)
            holder = np.empty(len(count), dtype=np.int64)
            holder[names] = sequence[places]
            own += f[length - 1] ** 2 * np.bincount(
                holder, count**2 - squares, minlength=len(corpus)
            )
        return own / self._lengths(corpus) ** 2

    def _lengths(self, corpus: Corpus) -> Array:
        if self._divides():
            return corpus.lengths.astype(np.float64)
        return np.ones(len(corpus))


def ngram_levels(
    corpus: Corpus, *, split: int | None = None, apart: bool = False, keep_all: bool = False
) -> Iterator[tuple[int, Ints, Ints]]:
    """Yield ``length, places, names`` of the n-grams of every length that are worth a look.

    ``split``: those that occur on both sides of a split of the sequences; ``apart``: those that occur
    twice in one sequence, named within it; ``keep_all``: all; otherwise those of two sequences.
    """
    sequence = corpus.sequence
    remaining = corpus.remaining
    symbols = corpus.symbols
    places = np.arange(len(symbols))
    names = sequence if apart else np.zeros(len(symbols), dtype=np.int64)
    length = 0
    while len(places):
        length += 1
        long_enough = remaining[places] >= length
        places, names = places[long_enough], names[long_enough]
        if not len(places):
            return
        keys = names * corpus.n_symbols + symbols[places + length - 1]
        _, names = np.unique(keys, return_inverse=True)
        if not keep_all:
            shared = _shared(names, sequence[places], split, apart)[names]
            places, names = places[shared], names[shared]
            if not len(places):
                return
            _, names = np.unique(names, return_inverse=True)
        yield length, places, names


def _shared(names: Ints, sequence: Ints, split: int | None, apart: bool) -> np.ndarray:
    """Which names are worth keeping."""
    count = np.bincount(names)
    if apart:
        return count > 1
    if split is not None:
        left = np.bincount(names, sequence < split, minlength=len(count))
        return (left > 0) & (left < count)
    lowest = np.full(len(count), np.iinfo(np.int64).max)
    highest = np.full(len(count), -1)
    np.minimum.at(lowest, names, sequence)
    np.maximum.at(highest, names, sequence)
    return lowest < highest


def _product(F: sparse.csr_matrix, G: sparse.csr_matrix) -> Array:
    """``F G'`` as an array: common columns by dense, rare ones by sparse products."""
    uses = np.bincount(F.indices, minlength=F.shape[1]) / F.shape[0]
    common = np.flatnonzero(uses > _DENSE_SHARE)
    if len(common) > _DENSE_COLUMNS:
        common = common[np.argsort(uses[common])[-_DENSE_COLUMNS:]]
    rare = np.setdiff1d(np.arange(F.shape[1]), common)
    symmetric = G is F
    F, G = F.tocsc(), G.tocsc()
    dense = F[:, common].toarray()
    # The product of one array with itself is symmetric to the last digit, on every processor.
    K = dense @ (dense if symmetric else G[:, common].toarray()).T
    if len(rare):
        K += (F[:, rare].tocsr() @ G[:, rare].tocsr().T).toarray()
    return np.asarray(K)
