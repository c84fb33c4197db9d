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

from isthmus._doors import open_door

__getattr__, __dir__, __all__ = open_door(
    __name__,
    {},
    neighbours={
        "encoding": "Alphabet Ints as_sequences plain",
        "labels": "label_matrix",
        "ngrams": "NgramKernel ngram_levels",
        "vectors": "are_vectors",
    },
)
