"""The marginalised kernel of sequences."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from isthmus._linalg import Array
from isthmus._validation import check_count
from isthmus.kernels.sequences.dynamic import many_against_many
from isthmus.kernels.sequences.encoding import Alphabet, encode
from isthmus.kernels.sequences.labels import label_matrix
from isthmus.kernels.sequences.ngrams import NgramKernel, ngram_levels
from isthmus.kernels.structured import StoppedKernel


class SequenceKernel(NgramKernel, StoppedKernel):
    r"""Marginalised kernel: all common substrings, discounted by their length.

    A walk begins at any place of the sequence, goes on to the next with probability
    :math:`1 - \lambda` and stops with :math:`\lambda`. The kernel is the probability that two walks
    spell the same word, [KTI2003]_; for sequences of lengths a and b

    .. math::
        k(x, y) = \lambda^2 \sum_l (1 - \lambda)^{2l - 2} \sum_{|h| = l} c_h(x) c_h(y) / (ab),

    :math:`c_h` the number of times that the word h occurs, [B2006]_ Sec. 3.4.3 and 3.4.4.

    Parameters
    ----------
    stop : float, default=0.1
        Stopping probability :math:`\lambda`, 0 < stop <= 1. With 1 only the shares of symbols count.
    termination : {"constant", "proper"}, default="constant"
        Stopping at the last place: "constant" with the same probability as elsewhere (the formula
        above), "proper" with probability one (the weights of all walks sum to one).
    max_length : int, default=None
        Length of the longest words that count; None: all.
    label_kernel : callable, default=None
        Similarity of two tokens, symmetric, between 0 and 1 and positive semi-definite; None: equal
        or not.
    normalise : bool, default=False
        Whether to normalise every sequence to unit length.
    stop_bounds : pair of float or "fixed", default=(1e-3, 0.999)
        Bounds of ``stop`` for a Gaussian process that tunes it.

    Examples
    --------
    >>> from isthmus.kernels import SequenceKernel
    >>> SequenceKernel(stop=0.1)(["aba"], ["ab", "bb"]).round(6)
    array([[0.00635 , 0.003333]])
    """

    def __init__(
        self,
        stop: float = 0.1,
        *,
        termination: str = "constant",
        max_length: int | None = None,
        label_kernel: Any = None,
        normalise: bool = False,
        stop_bounds: Any = (1e-3, 0.999),
    ) -> None:
        self.stop = stop
        self.termination = termination
        self.max_length = max_length
        self.label_kernel = label_kernel
        self.normalise = normalise
        self.stop_bounds = stop_bounds

    def _check(self) -> None:
        super()._check()
        if self.max_length is None:
            return
        check_count("max_length", self.max_length, allowed="None")
        if self.label_kernel is not None:
            raise ValueError("max_length and label_kernel do not go together: give one of them.")

    def _amplitudes(self, longest: int) -> Array:
        cut = longest if self.max_length is None else min(longest, self.max_length)
        return float(self.stop) * np.power(1.0 - float(self.stop), np.arange(cut, dtype=np.float64))

    def _last(self) -> float:
        return 1.0 / self.stop if self.termination == "proper" else 1.0

    def _divides(self) -> bool:
        return True

    # -- soft labels ---------------------------------------------------------------------------

    def _matrix(self, X: list[Any], Y: list[Any] | None) -> Array:
        if self.label_kernel is None:
            return super()._matrix(X, Y)
        alphabet = Alphabet(X if Y is None else [*X, *Y])
        labels = label_matrix(self.label_kernel, alphabet.tokens, "label_kernel")
        rows = alphabet.encode(X)
        columns = rows if Y is None else alphabet.encode(Y)
        return many_against_many(rows, columns, labels, self.stop, self.termination == "proper")

    def _diagonal(self, X: list[Any]) -> Array:
        if self.label_kernel is None:
            return super()._diagonal(X)
        return np.array([self._matrix([x], None)[0, 0] for x in X])

    # -- the derivative ------------------------------------------------------------------------

    def _matrix_and_slopes(self, X: list[Any]) -> tuple[Array, Array]:
        if self.label_kernel is not None:
            raise NotImplementedError(
                "The derivative with respect to stop is not known for a label_kernel: set "
                "stop_bounds='fixed'."
            )
        (corpus,) = encode(X)
        lengths = corpus.lengths
        sequence = corpus.sequence
        remaining = corpus.remaining
        f = self._amplitudes(int(lengths.max()))
        K = np.zeros((len(corpus), len(corpus)))
        slope = np.zeros_like(K)
        for length, places, names in ngram_levels(corpus, keep_all=True):
            if length > len(f):
                break
            rows = sequence[places]
            sure = (remaining[places] == length) & (self.termination == "proper")
            values = f[length - 1] * np.where(sure, self._last(), 1.0) / lengths[rows]
            # The logarithm of a feature is that of ``stop (1 - stop)^(length - 1)``, and without the first
            # factor where the walk stops for sure.
            going_on = -(length - 1) * self.stop / (1.0 - self.stop) if length > 1 else 0.0
            growth = np.where(sure, going_on, 1.0 + going_on)
            cells = (rows, names)
            shape = (len(corpus), int(names.max()) + 1)
            F = sparse.csr_matrix((values, cells), shape=shape)
            K += (F @ F.T).toarray()
            half = sparse.csr_matrix((values * growth, cells), shape=shape) @ F.T
            slope += (half + half.T).toarray()
        return K, slope[:, :, None]
