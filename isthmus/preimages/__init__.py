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
"""

from isthmus.preimages.base import Preimage as Preimage
from isthmus.preimages.candidate_search import CandidateSearch
from isthmus.preimages.distance import Distance
from isthmus.preimages.exact import Exact as Exact
from isthmus.preimages.fixed_point import FixedPoint
from isthmus.preimages.gradient import Gradient
from isthmus.preimages.graphs import GraphSearch
from isthmus.preimages.learned import Learned
from isthmus.preimages.make import make_preimage as make_preimage
from isthmus.preimages.nearest import Nearest
from isthmus.preimages.paths import PathSearch as PathSearch
from isthmus.preimages.sequences import SequenceSearch

__all__ = [
    "CandidateSearch",
    "Distance",
    "FixedPoint",
    "Gradient",
    "GraphSearch",
    "Learned",
    "Nearest",
    "SequenceSearch",
]
