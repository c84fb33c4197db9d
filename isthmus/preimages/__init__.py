"""Gamma: from points of a feature space back to objects.

==========================  ================================================================
:class:`Learned`            regression from coordinates to objects; the default for vectors
``"exact"``                 kernels of the inner product, targets that are images
:class:`FixedPoint`         fixed-point iteration until the gradient vanishes
:class:`Gradient`           descent within a box and linear constraints
:class:`Distance`           the point at the right distances from neighbours
:class:`Nearest`            the best fitted object, of any kind
:class:`CandidateSearch`    the best of given objects
:class:`SequenceSearch`     new sequences, by n-grams, beam and local search
``"paths"``                 new sequences of words at places, exactly
:class:`GraphSearch`        new graphs, by local search and cross-entropy
==========================  ================================================================

Each has a name for ``preimage=`` as well, such as "learned"; "exact" and "paths" have no options.
All work on many targets at once: ``method.fit(objects, coordinates, embedding)``, then
``method.inverse(Z)``, with ``return_loss=True`` to see how near each answer is.

Candidates for an answer may come from generators, which see inputs and outputs together: ``fit(X, y)``,
then ``candidates(X, n_best)`` returns, for each input, outputs and their log-probabilities.
``DependencyRegressor(candidates=...)`` ranks them.

==========================  ================================================================
:class:`AlignedClassifier`  a classifier of aligned places; the most probable outputs, exactly
:class:`JointNgrams`        an n-gram model of aligned pairs; the most probable outputs, by beam
:class:`LogPool`            what several generators together find most probable
:class:`NeighbourAnswers`   the outputs of similar inputs, and their edits
:class:`Dictionary`         a list of objects, the same for all inputs
:class:`MoleculeLibrary`    the molecules of a library that have the formula or mass of an input
:class:`Generator`          the protocol
==========================  ================================================================
"""

from isthmus.preimages.base import Preimage as Preimage
from isthmus.preimages.candidate_search import CandidateSearch
from isthmus.preimages.distance import Distance
from isthmus.preimages.exact import Exact as Exact
from isthmus.preimages.fixed_point import FixedPoint
from isthmus.preimages.generators import (
    AlignedClassifier,
    Dictionary,
    Generator,
    JointNgrams,
    LogPool,
    MoleculeLibrary,
    NeighbourAnswers,
)
from isthmus.preimages.gradient import Gradient
from isthmus.preimages.graphs import GraphSearch
from isthmus.preimages.learned import Learned
from isthmus.preimages.make import make_preimage as make_preimage
from isthmus.preimages.nearest import Nearest
from isthmus.preimages.paths import PathSearch as PathSearch
from isthmus.preimages.sequences import SequenceSearch

__all__ = [
    "AlignedClassifier",
    "CandidateSearch",
    "Dictionary",
    "Distance",
    "FixedPoint",
    "Generator",
    "Gradient",
    "GraphSearch",
    "JointNgrams",
    "Learned",
    "LogPool",
    "MoleculeLibrary",
    "Nearest",
    "NeighbourAnswers",
    "SequenceSearch",
]
