"""Kernels of sequences: strings, lists of tokens, integer arrays, arrays of vectors.

========================  ====================  ==============================================
name                      file                  what two sequences have in common
========================  ====================  ==============================================
``SequenceKernel``        ``marginalised.py``   all substrings, long ones for less
``SpectrumKernel``        ``spectrum.py``       words of one length
``MismatchKernel``        ``mismatch.py``       words of one length, up to a few wrong symbols
``SubsequenceKernel``     ``subsequence.py``    words with gaps
``PositionKernel``        ``positions.py``      short words at about the same place
``VectorSequenceKernel``  ``vectors.py``        vectors or pictures at the same place
========================  ====================  ==============================================
"""

from isthmus.kernels.sequences.marginalised import SequenceKernel
from isthmus.kernels.sequences.mismatch import MismatchKernel
from isthmus.kernels.sequences.positions import PositionKernel
from isthmus.kernels.sequences.spectrum import SpectrumKernel
from isthmus.kernels.sequences.subsequence import SubsequenceKernel
from isthmus.kernels.sequences.vectors import VectorSequenceKernel

__all__ = [
    "MismatchKernel",
    "PositionKernel",
    "SequenceKernel",
    "SpectrumKernel",
    "SubsequenceKernel",
    "VectorSequenceKernel",
]
