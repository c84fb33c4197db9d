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

from isthmus._doors import open_door

__getattr__, __dir__, __all__ = open_door(
    __name__,
    {
        "candidate_search": "CandidateSearch",
        "distance": "Distance",
        "fixed_point": "FixedPoint",
        "generators.classifier": "AlignedClassifier",
        "generators.generator": "Generator",
        "generators.joint": "JointNgrams",
        "generators.molecules": "MoleculeLibrary",
        "generators.neighbours": "Dictionary NeighbourAnswers",
        "generators.pool": "LogPool",
        "gradient": "Gradient",
        "graphs": "GraphSearch",
        "learned": "Learned",
        "nearest": "Nearest",
        "sequences": "SequenceSearch",
    },
    neighbours={
        "base": "Preimage",
        "exact": "Exact",
        "graph_moves": "random_code",
        "make": "make_preimage",
        "object_losses": "ObjectLosses",
        "paths": "PathSearch",
        "rank_order": "ranks",
    },
)
