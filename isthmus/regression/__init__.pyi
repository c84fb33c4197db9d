from isthmus.regression.base import LatentRegression as LatentRegression
from isthmus.regression.bayesian.estimator import BayesianStiefelRegression as BayesianStiefelRegression
from isthmus.regression.block_ridge import BlockRidge as BlockRidge
from isthmus.regression.blocks import join_blocks as join_blocks
from isthmus.regression.blocks import resolve_blocks as resolve_blocks
from isthmus.regression.crossval import PathScores as PathScores
from isthmus.regression.crossval import best_index as best_index
from isthmus.regression.crossval import default_alphas as default_alphas
from isthmus.regression.crossval import default_ranks as default_ranks
from isthmus.regression.crossval import default_score as default_score
from isthmus.regression.crossval import least_cost_index as least_cost_index
from isthmus.regression.crossval import moment_norm as moment_norm
from isthmus.regression.crossval import path_scores as path_scores
from isthmus.regression.crossval import relative_alphas as relative_alphas
from isthmus.regression.crossval import simplest as simplest
from isthmus.regression.crossval import split_weights as split_weights
from isthmus.regression.indicator import IndicatorClassifier as IndicatorClassifier
from isthmus.regression.kernel_ridge import DualRidge as DualRidge
from isthmus.regression.kernel_ridge import dual_ridge as dual_ridge
from isthmus.regression.linear import LinearRegressor as LinearRegressor
from isthmus.regression.manifold_pls import ManifoldPLS as ManifoldPLS
from isthmus.regression.multiblock import MultiblockPLS as MultiblockPLS
from isthmus.regression.multiblock import SequentialPLS as SequentialPLS
from isthmus.regression.opls import OPLS as OPLS
from isthmus.regression.pcr import PCR as PCR
from isthmus.regression.pls import PLS as PLS
from isthmus.regression.pls import primal_pls as primal_pls
from isthmus.regression.rank_descent import Penalty as Penalty
from isthmus.regression.rank_descent import RankProblem as RankProblem
from isthmus.regression.rank_descent import singular_form as singular_form
from isthmus.regression.recalibration import SlopeBias as SlopeBias
from isthmus.regression.recalibration import spike as spike
from isthmus.regression.reduced_rank import ReducedRankRegression as ReducedRankRegression
from isthmus.regression.sparse_factors import SparseFactors as SparseFactors
from isthmus.regression.stiefel import StiefelRegression as StiefelRegression
from isthmus.regression.streamed import check_folds as check_folds
from isthmus.regression.streamed import check_source as check_source
from isthmus.regression.streamed import check_targets as check_targets
from isthmus.regression.streamed import score_moments as score_moments
from isthmus.regression.streamed import train_moments as train_moments

__all__ = [
    "BayesianStiefelRegression",
    "BlockRidge",
    "IndicatorClassifier",
    "ManifoldPLS",
    "MultiblockPLS",
    "OPLS",
    "PCR",
    "PLS",
    "ReducedRankRegression",
    "SequentialPLS",
    "SlopeBias",
    "SparseFactors",
    "StiefelRegression",
    "join_blocks",
    "spike",
]
