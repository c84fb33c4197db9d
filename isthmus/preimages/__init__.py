"""Gamma: from points of a feature space back to objects.

=======================  ===================================================================
``base.py``              the protocol, ``Preimage``, and the full loss, ``Targets``
``make.py``              ``make_preimage``: methods by name
``exact.py``             ``Exact``: kernels of the inner product, targets that are images
``fixed_point.py``       ``FixedPoint``: iterate until the gradient vanishes
``gradient.py``          ``Gradient``: descent within a box and linear constraints, with a pull
``distance.py``          ``Distance``: at the right distances from neighbours
``learned.py``           ``Learned``: regression from coordinates to objects; the default
``nearest.py``           ``Nearest``: the best fitted object, whatever it is
``candidate_search.py``  ``CandidateSearch``: the best of given objects
``sequences.py``         ``SequenceSearch``: new sequences, by n-grams, beam and local search
``graphs.py``            ``GraphSearch``: new graphs, by local search and cross-entropy
``forms.py``             kernels as functions of a distance or an inner product
=======================  ===================================================================

All work on many targets at once: ``method.fit(objects, coordinates, embedding)``, then
``method.inverse(Z)``, with ``return_loss=True`` to see how near each answer is.
"""

from isthmus.preimages.base import Preimage, RankingPreimage
from isthmus.preimages.candidate_search import CandidateSearch
from isthmus.preimages.distance import Distance
from isthmus.preimages.exact import Exact
from isthmus.preimages.fixed_point import FixedPoint
from isthmus.preimages.gradient import Gradient
from isthmus.preimages.graphs import GraphSearch
from isthmus.preimages.learned import Learned
from isthmus.preimages.make import make_preimage
from isthmus.preimages.nearest import Nearest
from isthmus.preimages.sequences import SequenceSearch
from isthmus.preimages.targets import Targets

__all__ = [
    "CandidateSearch",
    "Distance",
    "Exact",
    "FixedPoint",
    "Gradient",
    "GraphSearch",
    "Learned",
    "Nearest",
    "Preimage",
    "RankingPreimage",
    "SequenceSearch",
    "Targets",
    "make_preimage",
]
