"""Gappy subsequence kernel: words with holes, the wider the less."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.signal import lfilter

from isthmus._linalg import Array
from isthmus._validation import check_count, check_number
from isthmus.kernels.sequences.encoding import Ints, as_sequences, encode
from isthmus.kernels.structured import StructuredKernel


class SubsequenceKernel(StructuredKernel):
    r"""All subsequences of length n, an occurrence that spans s places counting :math:`g^s`,
    [LSSCW2002]_ Sec. 3.

    .. math::
        k(x, y) = \sum_{|u| = n} \; \sum_{i: x_i = u} \; \sum_{j: y_j = u} g^{s(i) + s(j)}

    Computed by the recursion of the paper, O(n a b) per pair, vectorised over all other sequences.

    Parameters
    ----------
    length : int, default=3
        Length n of the subsequences.
    gap : float, default=0.5
        Decay g per spanned place, 0 < gap <= 1.
    cumulative : bool, default=False
        Whether shorter subsequences count too.
    normalise : bool, default=True
        Whether to normalise every sequence to unit length. Without it long sequences are similar to all.
    """

    def __init__(
        self,
        length: int = 3,
        gap: float = 0.5,
        *,
        cumulative: bool = False,
        normalise: bool = True,
    ) -> None:
        self.length = length
        self.gap = gap
        self.cumulative = cumulative
        self.normalise = normalise

    def _check(self) -> None:
        check_count("length", self.length)
        check_number("gap", self.gap, "> 0 and <= 1", high=1.0, strict=True)

    def _convert(self, X: Any, name: str) -> list[Any]:
        return as_sequences(X, name)

    def _matrix(self, X: list[Any], Y: list[Any] | None) -> Array:
        corpora = encode(X) if Y is None else encode(X, Y)
        rows = corpora[0]
        padded = corpora[-1].padded()
        K = np.empty((len(rows), len(padded)))
        for i, (a, b) in enumerate(zip(rows.offsets[:-1], rows.offsets[1:])):
            first = i if Y is None else 0
            K[i, first:] = self._one(rows.symbols[a:b], padded[first:])
            if Y is None:
                K[i:, i] = K[i, i:]
        return K

    def _diagonal(self, X: list[Any]) -> Array:
        (corpus,) = encode(X)
        pieces = np.split(corpus.symbols, corpus.offsets[1:-1])
        return np.array([self._one(piece, piece[None])[0] for piece in pieces])

    def _one(self, x: Ints, Y: Ints) -> Array:
        """The sequence x against the rows of a padded matrix, (n_Y,)."""
        g, n = self.gap, int(self.length)
        # B[l]: sum over subsequences of length l inside the prefixes, gaps counted to their ends.
        B = np.zeros((n, len(Y), Y.shape[1] + 1))
        B[0] = 1.0
        sums = np.zeros((n, len(Y)))
        for symbol in x:
            match = (Y == symbol).astype(np.float64)
            ended = g * g * match * B[:, :, :-1]  # both subsequences end here, one symbol longer
            sums += ended.sum(axis=2)
            for length in range(n - 1, 0, -1):
                # Sums that decay along the rows: out_j = g out_{j-1} + ended_j.
                sums_here = lfilter([1.0], [1.0, -g], ended[length - 1], axis=1)
                B[length, :, 1:] = g * B[length, :, 1:] + sums_here
        return sums.sum(axis=0) if self.cumulative else sums[-1]
