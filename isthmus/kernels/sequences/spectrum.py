"""Spectrum kernel: the words of one length."""

from __future__ import annotations

import numpy as np

from isthmus._linalg import Array
from isthmus._validation import check_count
from isthmus.kernels.sequences.ngrams import NgramKernel


class SpectrumKernel(NgramKernel):
    r"""Inner product of the counts of words of length n, [LEN2002]_ Sec. 2.

    .. math::
        k(x, y) = \sum_{|h| = n} c_h(x) c_h(y)

    Parameters
    ----------
    length : int, default=3
        Length n of the words.
    cumulative : bool, default=False
        Whether shorter words count too ("blended").
    normalise : bool, default=False
        Whether to normalise every sequence to unit length. A sequence shorter than n has no word and stays
        at zero.
    """

    def __init__(
        self, length: int = 3, *, cumulative: bool = False, normalise: bool = False
    ) -> None:
        self.length = length
        self.cumulative = cumulative
        self.normalise = normalise

    def _check(self) -> None:
        check_count("length", self.length)

    def _amplitudes(self, longest: int) -> Array:
        f = np.zeros(int(self.length))
        f[0 if self.cumulative else -1 :] = 1.0
        return f[:longest]
