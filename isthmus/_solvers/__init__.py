"""Solvers: descent on a geometry that is handed to them, and sampling.

===================== ================================================== =========================
function              what it does                                       file
===================== ================================================== =========================
minimise_smoothed     L-BFGS through ever sharper losses                 ``smoothed.py``
minimise_kinked       sums of absolute values, to the last digit         ``interior_point.py``
cross_entropy         search by sampling, for codes of any objects       ``cross_entropy_search.py``
lasso_path            the lasso at all penalties                         ``lasso.py``
best_paths            the k best paths through a chain of labels         ``paths.py``
===================== ================================================== =========================

The descents take a function that returns value and partial derivatives, a geometry and a start, and
return a :class:`SolverResult`. They draw no random numbers: the same start gives the same result.

Sampling: ``hmc_step`` is one step of geodesic Hamiltonian Monte Carlo (``mcmc.py``), for the flows of
``isthmus._geometry``. ``split_rhat``, ``bulk_ess``, ``tail_ess`` and ``mean_ess`` judge chains
(``chains.py``); ``psis_loo`` gives leave-one-out scores of their draws (``psis.py``).
"""

from isthmus._doors import open_door

__getattr__, __dir__, __all__ = open_door(
    __name__,
    {
        "chains": "bulk_ess mean_ess split_rhat tail_ess",
        "mcmc": "hmc_step",
        "psis": "psis_loo",
        "result": "Reason SolverResult",
    },
    neighbours={
        "cross_entropy_search": "Bernoulli Categorical CrossEntropyResult Family InversionCodes "
        "cross_entropy decode_inversions",
        "descent": "DECREASE_WINDOW Direction StopRule descend",
        "interior_point": "minimise_kinked",
        "lasso": "lasso_path",
        "line_search": "MAX_TRIALS Step falls wolfe",
        "mcmc": "DualAveraging Flow Parts metropolis_accepts warmup_windows",
        "paths": "best_paths",
        "problem": "GeometryLike Iterate Objective Problem",
        "progress": "Progress",
        "psis": "LeaveOneOut",
        "result": "Callback",
        "smoothed": "minimise_smoothed",
    },
)
