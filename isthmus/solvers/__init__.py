"""Solvers: descent on a geometry that is handed to them, and sampling.

===================== ================================================== =========================
function              what it does                                       file
===================== ================================================== =========================
lbfgs                 quasi-Newton: the one to use                       ``lbfgs.py``
conjugate_gradient    the iteration of Riemannian partial least squares  ``conjugate_gradient.py``
steepest_descent      the geodesic gradient of Stiefel regression        ``steepest_descent.py``
minimise_smoothed     L-BFGS through ever sharper losses                 ``smoothed.py``
minimise_kinked       sums of absolute values, to the last digit         ``interior_point.py``
cross_entropy         search by sampling, for codes of any objects       ``cross_entropy.py``
===================== ================================================== =========================

Each takes a function that returns value and partial derivatives, a geometry and a start, and
returns a :class:`SolverResult`. None draws random numbers: the same start gives the same result.

Sampling: ``hmc_step`` is one step of geodesic Hamiltonian Monte Carlo for any :class:`Flow` (those of
the Stiefel manifold and of flat space are in ``isthmus.geometry``), ``DualAveraging`` and
``AcceptanceTuner`` find step lengths, ``warmup_windows`` says when to look at variances (``mcmc.py``).
``split_rhat``, ``bulk_ess``, ``tail_ess`` and ``mean_ess`` judge chains (``chains.py``); ``psis_loo``
gives leave-one-out scores of their draws (``psis.py``).
"""

from isthmus.solvers.chains import bulk_ess, mean_ess, split_rhat, tail_ess
from isthmus.solvers.conjugate_gradient import conjugate_gradient
from isthmus.solvers.cross_entropy import (
    Bernoulli,
    Categorical,
    CrossEntropyResult,
    Gaussian,
    InversionCodes,
    cross_entropy,
    decode_inversions,
    inversion_table,
)
from isthmus.solvers.lbfgs import lbfgs
from isthmus.solvers.mcmc import (
    AcceptanceTuner,
    DualAveraging,
    Flow,
    Transition,
    hmc_step,
    metropolis_accepts,
    warmup_windows,
)
from isthmus.solvers.psis import LeaveOneOut, psis_loo
from isthmus.solvers.result import Reason, SolverResult
from isthmus.solvers.smoothed import minimise_smoothed
from isthmus.solvers.steepest_descent import steepest_descent

__all__ = [
    "AcceptanceTuner",
    "Bernoulli",
    "Categorical",
    "CrossEntropyResult",
    "DualAveraging",
    "Flow",
    "Gaussian",
    "InversionCodes",
    "LeaveOneOut",
    "Reason",
    "SolverResult",
    "Transition",
    "bulk_ess",
    "conjugate_gradient",
    "cross_entropy",
    "decode_inversions",
    "hmc_step",
    "inversion_table",
    "lbfgs",
    "mean_ess",
    "metropolis_accepts",
    "minimise_smoothed",
    "psis_loo",
    "split_rhat",
    "steepest_descent",
    "tail_ess",
    "warmup_windows",
]
