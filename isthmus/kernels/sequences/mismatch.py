"""Mismatch kernel: words of one length, up to a few wrong symbols."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from scipy import sparse

from isthmus._linalg import Array
from isthmus._validation import check_count
from isthmus.kernels.sequences.encoding import Corpus, Ints, as_sequences, encode
from isthmus.kernels.structured import StructuredKernel


class MismatchKernel(StructuredKernel):
    r"""Inner product of counts of words of length n, each occurrence counting for all words within
    m mismatches of it, [LEWN2004]_.

    .. math::
        k(x, y) = \sum_{u \in x} \sum_{v \in y} I(d(u, v)),

    u and v the words of the two sequences, d the number of places at which they differ, and I(d) the
    number of words of the alphabet within m mismatches of both. This form needs no list of all words:
    pairs at each distance are counted by joining on the places that agree.

    Parameters
    ----------
    length : int, default=4
        Length n of the words.
    mismatches : int, default=1
        Number m of symbols that may differ, smaller than n.
    n_symbols : int, default=20
        Size of the alphabet, which is part of the kernel: more symbols, more words near a word. The
        default is that of proteins.
    normalise : bool, default=False
        Whether to normalise every sequence to unit length.
    """

    def __init__(
        self,
        length: int = 4,
        mismatches: int = 1,
        *,
        n_symbols: int = 20,
        normalise: bool = False,
    ) -> None:
        self.length = length
        self.mismatches = mismatches
        self.n_symbols = n_symbols
        self.normalise = normalise

    def _check(self) -> None:
        check_count("length", self.length)
        if check_count("mismatches", self.mismatches, 0) >= self.length:
            raise ValueError(
                f"mismatches == {self.mismatches}, must be >= 0 and < length == {self.length}."
            )
        check_count("n_symbols", self.n_symbols)

    def _convert(self, X: Any, name: str) -> list[Any]:
        return as_sequences(X, name)

    def _matrix(self, X: list[Any], Y: list[Any] | None) -> Array:
        corpora = encode(X) if Y is None else encode(X, Y)
        return self._pairs(corpora[0], corpora[-1], self._alphabet_size(corpora[0].n_symbols))

    def _diagonal(self, X: list[Any]) -> Array:
        (corpus,) = encode(X)
        size = self._alphabet_size(corpus.n_symbols)
        parts = [
            Corpus(corpus.symbols[a:b], np.array([0, b - a]), corpus.n_symbols)
            for a, b in zip(corpus.offsets[:-1], corpus.offsets[1:])
        ]
        return np.array([self._pairs(part, part, size)[0, 0] for part in parts])

    def _alphabet_size(self, found: int) -> int:
        if found > self.n_symbols:
            raise ValueError(
                f"n_symbols == {self.n_symbols}, but {found} distinct symbols occur: raise n_symbols."
            )
        return int(self.n_symbols)

    def _pairs(self, X: Corpus, Y: Corpus, size: int) -> Array:
        weights = common_neighbours(self.length, self.mismatches, size)
        K = np.zeros((len(X), len(Y)))
        for distance, count in enumerate(pairs_at_distance(X, Y, self.length, len(weights) - 1)):
            K += weights[distance] * count
        return K


def common_neighbours(length: int, mismatches: int, size: int) -> Array:
    """Number of words within ``mismatches`` of two words that differ at d places, d = 0 .. 2m."""
    top = min(2 * mismatches, length)
    answer = np.zeros(top + 1)
    for d in range(top + 1):
        # a of the d places follow the first word, b the second, the rest neither; c others change.
        for a in range(d + 1):
            for b in range(d - a + 1):
                neither = d - a - b
                ways = comb(d, a) * comb(d - a, b) * max(size - 2, 0) ** neither
                for c in range(length - d + 1):
                    if d - a + c <= mismatches and d - b + c <= mismatches:
                        answer[d] += ways * comb(length - d, c) * (size - 1) ** c
    return answer


def pairs_at_distance(X: Corpus, Y: Corpus, length: int, top: int) -> list[Array]:
    """Numbers of pairs of words at Hamming distance 0 .. top, each (n_X, n_Y).

    Words that agree on a chosen set of ``length - e`` places are found by joining; summed over the
    sets, a pair at distance d is met ``comb(length - d, length - e)`` times, which is undone from
    the smallest distance up.
    """
    (words_x, rows_x), (words_y, rows_y) = _words(X, length), _words(Y, length)
    words = np.concatenate([words_x, words_y])
    exact: list[Array] = []
    for e in range(top + 1):
        met = np.zeros((len(X), len(Y)))
        for kept in combinations(range(length), length - e):
            names = _name_words(words[:, kept], X.n_symbols)
            F = _count_words(rows_x, names[: len(rows_x)], len(X), len(words))
            G = _count_words(rows_y, names[len(rows_x) :], len(Y), len(words))
            met += (F @ G.T).toarray()
        for d, count in enumerate(exact):
            met -= comb(length - d, length - e) * count
        exact.append(met)
    return exact


def _words(corpus: Corpus, length: int) -> tuple[Any, Any]:
    starts = np.flatnonzero(corpus.remaining >= length)
    return corpus.symbols[starts[:, None] + np.arange(length)], corpus.sequence[starts]


def _name_words(words: Ints, n_symbols: int) -> Ints:
    """A number for each word, equal words the same."""
    names = np.zeros(len(words), dtype=np.int64)
    for column in words.T:  # names of prefixes stay small, so that no product overflows
        _, names = np.unique(names * n_symbols + column, return_inverse=True)
    return names


def _count_words(rows: Ints, names: Ints, n: int, n_words: int) -> sparse.csr_matrix:
    return sparse.csr_matrix((np.ones(len(rows)), (rows, names)), shape=(n, max(n_words, 1)))
