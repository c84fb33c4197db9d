from isthmus._solvers.chains import bulk_ess as bulk_ess
from isthmus._solvers.chains import mean_ess as mean_ess
from isthmus._solvers.chains import split_rhat as split_rhat
from isthmus._solvers.chains import tail_ess as tail_ess
from isthmus._solvers.cross_entropy_search import Bernoulli as Bernoulli
from isthmus._solvers.cross_entropy_search import Categorical as Categorical
from isthmus._solvers.cross_entropy_search import CrossEntropyResult as CrossEntropyResult
from isthmus._solvers.cross_entropy_search import Family as Family
from isthmus._solvers.cross_entropy_search import InversionCodes as InversionCodes
from isthmus._solvers.cross_entropy_search import cross_entropy as cross_entropy
from isthmus._solvers.cross_entropy_search import decode_inversions as decode_inversions
from isthmus._solvers.descent import DECREASE_WINDOW as DECREASE_WINDOW
from isthmus._solvers.descent import Direction as Direction
from isthmus._solvers.descent import StopRule as StopRule
from isthmus._solvers.descent import descend as descend
from isthmus._solvers.interior_point import minimise_kinked as minimise_kinked
from isthmus._solvers.lasso import lasso_path as lasso_path
from isthmus._solvers.line_search import MAX_TRIALS as MAX_TRIALS
from isthmus._solvers.line_search import Step as Step
from isthmus._solvers.line_search import falls as falls
from isthmus._solvers.line_search import wolfe as wolfe
from isthmus._solvers.mcmc import DualAveraging as DualAveraging
from isthmus._solvers.mcmc import Flow as Flow
from isthmus._solvers.mcmc import Parts as Parts
from isthmus._solvers.mcmc import hmc_step as hmc_step
from isthmus._solvers.mcmc import metropolis_accepts as metropolis_accepts
from isthmus._solvers.mcmc import warmup_windows as warmup_windows
from isthmus._solvers.paths import best_paths as best_paths
from isthmus._solvers.problem import GeometryLike as GeometryLike
from isthmus._solvers.problem import Iterate as Iterate
from isthmus._solvers.problem import Objective as Objective
from isthmus._solvers.problem import Problem as Problem
from isthmus._solvers.progress import Progress as Progress
from isthmus._solvers.psis import LeaveOneOut as LeaveOneOut
from isthmus._solvers.psis import psis_loo as psis_loo
from isthmus._solvers.result import Callback as Callback
from isthmus._solvers.result import Reason as Reason
from isthmus._solvers.result import SolverResult as SolverResult
from isthmus._solvers.smoothed import minimise_smoothed as minimise_smoothed

__all__ = [
    "Reason",
    "SolverResult",
    "bulk_ess",
    "hmc_step",
    "mean_ess",
    "psis_loo",
    "split_rhat",
    "tail_ess",
]
