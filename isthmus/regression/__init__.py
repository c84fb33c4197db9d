"""T: linear maps of low rank from coordinates to coordinates.

==========================  ==================================================================
``pcr.py``                  ``PCR``: least squares on principal components
``pls.py``                  ``PLS``: partial least squares
``opls.py``                 ``OPLS``: its map, turned into predictive and orthogonal components
``reduced_rank.py``         ``ReducedRankRegression``: the best map of given rank, with a ridge
``stiefel.py``              ``StiefelRegression``: low rank under any loss, batch and online
``manifold_pls.py``         ``ManifoldPLS``: PLS with all components found at once
``bayesian/``               ``BayesianStiefelRegression``: the posterior over maps of low rank
``indicator.py``            ``IndicatorClassifier``: any of them as a classifier
``blocks.py``               ``join_blocks``: inputs of several sources side by side
``block_ridge.py``          ``BlockRidge``: a ridge weight for each block of columns
``multiblock.py``           ``MultiblockPLS``, ``SequentialPLS``: blocks together, one after another
``sparse_factors.py``       ``SparseFactors``: reduced rank and PLS that use few inputs
``recalibration.py``        ``SlopeBias`` and ``spike``: an old calibration on a new instrument
``base.py``                 what they share: fit, partial_fit, explain, folds
``fitted.py``               what they share once fitted: predict, transform, paths
``factors.py``              the two factors of a map, as solvers hand them over
``optimum.py``              the one optimum behind reduced rank, Stiefel and manifold PLS
``callbacks.py``            scikit-learn's callbacks around an iterative fit
``rank_descent.py``         descent over the factors of a map under any loss
``online.py``               one block of the sequential Stiefel regression
``kernel_pls.py``           PLS in the coordinates of the samples
``crossval.py``             scores of all folds, ranks and ridge weights, and what to choose
==========================  ==================================================================
"""

from isthmus.regression.bayesian import BayesianStiefelRegression
from isthmus.regression.block_ridge import BlockRidge
from isthmus.regression.blocks import join_blocks
from isthmus.regression.indicator import IndicatorClassifier
from isthmus.regression.manifold_pls import ManifoldPLS
from isthmus.regression.multiblock import MultiblockPLS, SequentialPLS
from isthmus.regression.opls import OPLS
from isthmus.regression.pcr import PCR
from isthmus.regression.pls import PLS
from isthmus.regression.recalibration import SlopeBias, spike
from isthmus.regression.reduced_rank import ReducedRankRegression
from isthmus.regression.sparse_factors import SparseFactors
from isthmus.regression.stiefel import StiefelRegression

__all__ = [
    "OPLS",
    "PCR",
    "PLS",
    "BayesianStiefelRegression",
    "BlockRidge",
    "IndicatorClassifier",
    "ManifoldPLS",
    "MultiblockPLS",
    "ReducedRankRegression",
    "SequentialPLS",
    "SlopeBias",
    "SparseFactors",
    "StiefelRegression",
    "join_blocks",
    "spike",
]
