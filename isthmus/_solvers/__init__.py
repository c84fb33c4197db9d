"""Solvers: descent on a geometry that is handed to them, and sampling.

===================== ================================================== =========================
function              what it does                                       file
===================== ================================================== =========================
minimise_smoothed     L-BFGS through ever sharper losses                 ``smoothed.py``
minimise_kinked       sums of absolute values, to the last digit         ``interior_point.py``
cross_entropy         search by sampling, for codes of any objects       ``cross_entropy.py``
lasso_path            the lasso at all penalties                         ``lasso.py``
best_paths            the k best paths through a chain of labels         ``paths.py``
===================== ================================================== =========================

The descents take a function that returns value and partial derivatives, a geometry and a start, and
return a :class:`SolverResult`. They draw no random numbers: the same start gives the same result.

Sampling: ``hmc_step`` is one step of geodesic Hamiltonian Monte Carlo (``mcmc.py``), for the flows of
``isthmus._geometry``. ``split_rhat``, ``bulk_ess``, ``tail_ess`` and ``mean_ess`` judge chains
(``chains.py``); ``psis_loo`` gives leave-one-out scores of their draws (``psis.py``).
"""

from isthmus._solvers.chains import bulk_ess, mean_ess, split_rhat, tail_ess
from isthmus._solvers.mcmc import hmc_step
from isthmus._solvers.psis import psis_loo
from isthmus._solvers.result import Reason, SolverResult

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
