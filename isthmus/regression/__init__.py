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

from isthmus._doors import open_door

__getattr__, __dir__, __all__ = open_door(
    __name__,
    {
        "bayesian.estimator": "BayesianStiefelRegression",
        "block_ridge": "BlockRidge",
        "blocks": "join_blocks",
        "indicator": "IndicatorClassifier",
        "manifold_pls": "ManifoldPLS",
        "multiblock": "MultiblockPLS SequentialPLS",
        "opls": "OPLS",
        "pcr": "PCR",
        "pls": "PLS",
        "recalibration": "SlopeBias spike",
        "reduced_rank": "ReducedRankRegression",
        "sparse_factors": "SparseFactors",
        "stiefel": "StiefelRegression",
    },
    neighbours={
        "base": "LatentRegression",
        "blocks": "resolve_blocks",
        "crossval": "PathScores best_index default_alphas default_ranks default_score "
        "least_cost_index moment_norm path_scores relative_alphas simplest split_weights",
        "kernel_ridge": "DualRidge dual_ridge",
        "linear": "LinearRegressor",
        "pls": "primal_pls",
        "rank_descent": "Penalty RankProblem singular_form",
        "streamed": "check_folds check_source check_targets score_moments train_moments",
    },
)
