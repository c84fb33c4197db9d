from isthmus.regression.bayesian.chains import ChainReport as ChainReport
from isthmus.regression.bayesian.chains import Settings as Settings
from isthmus.regression.bayesian.draws import ChainDraws as ChainDraws
from isthmus.regression.bayesian.draws import Recorder as Recorder
from isthmus.regression.bayesian.draws import Start as Start
from isthmus.regression.bayesian.estimator import BayesianStiefelRegression as BayesianStiefelRegression
from isthmus.regression.bayesian.likelihoods import Likelihood as Likelihood
from isthmus.regression.bayesian.mode import scatter_start as scatter_start
from isthmus.regression.bayesian.posteriors import Posterior as Posterior
from isthmus.regression.bayesian.posteriors import singular_parts as singular_parts
from isthmus.regression.bayesian.problem import Prior as Prior
from isthmus.regression.bayesian.problem import Problem as Problem
from isthmus.regression.bayesian.subspaces import SubspacePosterior as SubspacePosterior

__all__ = [
    "BayesianStiefelRegression",
    "ChainReport",
    "SubspacePosterior",
]
