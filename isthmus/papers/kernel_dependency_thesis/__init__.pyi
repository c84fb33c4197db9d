from isthmus.papers.kernel_dependency_thesis.langevin import matrix_langevin as matrix_langevin
from isthmus.papers.kernel_dependency_thesis.langevin import von_mises_fisher as von_mises_fisher
from isthmus.papers.kernel_dependency_thesis.reduced_sets import reduce_by_matching_pursuit as reduce_by_matching_pursuit
from isthmus.papers.kernel_dependency_thesis.reduced_sets import reduce_l0 as reduce_l0
from isthmus.papers.kernel_dependency_thesis.reduced_sets import reduce_l1 as reduce_l1
from isthmus.papers.kernel_dependency_thesis.sampler import MetropolisedGibbsRegression as MetropolisedGibbsRegression

__all__ = [
    "MetropolisedGibbsRegression",
    "matrix_langevin",
    "reduce_by_matching_pursuit",
    "reduce_l0",
    "reduce_l1",
    "von_mises_fisher",
]
