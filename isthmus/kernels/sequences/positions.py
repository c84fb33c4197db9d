"""Words of one or two symbols, compared with their places."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from isthmus._linalg import Array
from isthmus._validation import check_number
from isthmus.kernels.sequences.encoding import Corpus, as_sequences, encode
from isthmus.kernels.structured import StructuredKernel


class PositionKernel(StructuredKernel):
    r"""Inner product of words at places, places compared by a Gaussian.

    .. math::
        k(x, y) = \sum_{l \le L} \; \sum_{i, j} [x_{i:i+l} = y_{j:j+l}] \, \exp(-(i - j)^2 / 2 w^2)

    Symbols and pairs of neighbours (L = 2) that occur at about the same place. For outputs that are aligned
    with their inputs; the best sequence for a predicted point is found exactly by
    ``preimage="paths"``.

    Parameters
    ----------
    max_length : {1, 2}, default=2
        Length L of the longest words.
    width : float, default=0.5
        Width w of the Gaussian, in places; 0: words at the same place only.
    normalise : bool, default=False
        Whether to normalise every sequence to unit length.

    Examples
    --------
    >>> from isthmus.kernels import PositionKernel
    >>> PositionKernel(width=0.0)(["aba"], ["abb", "bab"])
    array([[3., 0.]])
    """

    def __init__(self, max_length: int = 2, *, width: float = 0.5, normalise: bool = False) -> None:
        self.max_length = max_length
        self.width = width
        self.normalise = normalise

    def _check(self) -> None:
        if self.max_length not in (1, 2):
            raise ValueError(f"max_length == {self.max_length!r}, must be 1 or 2.")
        check_number("width", self.width, ">= 0")

    def _convert(self, X: object, name: str) -> list:
        return as_sequences(X, name)

    def place_weights(self, n: int, m: int) -> Array:
        """Return how much the places 0 .. n - 1 count at the places 0 .. m - 1, (n, m)."""
        apart = np.subtract.outer(np.arange(n), np.arange(m)).astype(np.float64)
        if self.width == 0:
            return (apart == 0).astype(np.float64)
        return np.exp(-0.5 * (apart / self.width) ** 2)

    def words_at_places(self, corpus: Corpus, n_places: int) -> list[sparse.csr_matrix]:
        """Return, for each length, indicators of words at places, (n, words * n_places).

        Symbols are numbered by their codes, pairs by ``first * n_symbols + second``.
        """
        place = np.arange(len(corpus.symbols)) - np.repeat(corpus.offsets[:-1], corpus.lengths)
        symbols, V = corpus.symbols, corpus.n_symbols
        names, n_words = symbols, V
        found = []
        for length in range(1, int(self.max_length) + 1):
            rows = np.flatnonzero(corpus.remaining >= length)
            if length == 2:
                n_words = V * V
                names = np.zeros_like(symbols)
                names[rows] = symbols[rows] * V + symbols[rows + 1]
            cells = (corpus.sequence[rows], names[rows] * n_places + place[rows])
            shape = (len(corpus), n_words * n_places)
            found.append(sparse.csr_matrix((np.ones(len(rows)), cells), shape=shape))
        return found

    def _spread(self, F: sparse.csr_matrix, weights: Array) -> sparse.csr_matrix:
        """Every word at all places, as far as it counts there."""
        n_places = len(weights)
        F = F.tocoo()
        word, place = F.col // n_places, F.col % n_places
        # Products of smaller weights would underflow to zero and only fill memory.
        rows, shift = np.nonzero(weights[place] > 1e-300)
        data = (
            weights[place[rows], shift] * F.data[rows],
            (F.row[rows], word[rows] * n_places + shift),
        )
        return sparse.csr_matrix(data, shape=F.shape)

    def _matrix(self, X: list, Y: list | None) -> Array:
        n = len(X)
        (corpus,) = encode(X if Y is None else [*X, *Y])
        longest = int(corpus.lengths.max())
        weights = self.place_weights(longest, longest)
        K = np.zeros((n, n if Y is None else len(Y)))
        for F in self.words_at_places(corpus, longest):
            columns = F if Y is None else F[n:]
            K += (self._spread(F[:n], weights) @ columns.T).toarray()
        return 0.5 * (K + K.T) if Y is None else K

    def _diagonal(self, X: list) -> NDArray:
        (corpus,) = encode(X)
        longest = int(corpus.lengths.max())
        weights = self.place_weights(longest, longest)
        own = np.zeros(len(X))
        for F in self.words_at_places(corpus, longest):
            own += np.asarray(self._spread(F, weights).multiply(F).sum(axis=1)).ravel()
        return own
