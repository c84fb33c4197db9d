"""Maps from sequences to sequences that propose candidates.

==========================  ================================================================
:class:`AlignedClassifier`  a classifier of aligned places; the most probable outputs, exactly
:class:`JointNgrams`        an n-gram model of aligned pairs; the most probable outputs, by beam
:class:`Dictionary`         a list of objects, the same for all inputs
:class:`MoleculeLibrary`    the molecules of a library that have the formula or mass of an input
==========================  ================================================================

A generator sees inputs and outputs together, which neither a kernel nor a pre-image does:
``fit(X, y)``, then ``candidates(X, n_best)`` returns, for each input, outputs and their log-probabilities.
Any object with these two methods is a generator. :class:`isthmus.dependency.CandidateRegressor` ranks the
candidates by kernels; ``generator="auto"`` also tries several generators together and the outputs of
similar inputs.
"""

from isthmus.sequences.alignment import Alignment as Alignment
from isthmus.sequences.alignment import align as align
from isthmus.sequences.classifier import AlignedClassifier
from isthmus.sequences.generator import Generator as Generator
from isthmus.sequences.joint import JointNgrams
from isthmus.sequences.molecules import MoleculeLibrary
from isthmus.sequences.molecules import formula as formula
from isthmus.sequences.molecules import mass as mass
from isthmus.sequences.neighbours import Dictionary
from isthmus.sequences.neighbours import NeighbourAnswers as NeighbourAnswers
from isthmus.sequences.pool import LogPool as LogPool

__all__ = [
    "AlignedClassifier",
    "Dictionary",
    "JointNgrams",
    "MoleculeLibrary",
]
