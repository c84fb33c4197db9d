"""Solvers: descent on a geometry that is handed to them.

===================== ================================================== =========================
function              what it does                                       file
===================== ================================================== =========================
lbfgs                 quasi-Newton: the one to use                       ``lbfgs.py``
conjugate_gradient    the iteration of Riemannian partial least squares  ``conjugate_gradient.py``
steepest_descent      the geodesic gradient of Stiefel regression        ``steepest_descent.py``
minimise_smoothed     L-BFGS through ever sharper losses                 ``smoothed.py``
cross_entropy         search by sampling, for codes of any objects       ``cross_entropy.py``
===================== ================================================== =========================

Each takes a function that returns value and partial derivatives, a geometry and a start, and
returns a :class:`SolverResult`. None draws random numbers: the same start gives the same result.
"""

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
from isthmus.solvers.result import Reason, SolverResult
from isthmus.solvers.smoothed import minimise_smoothed
from isthmus.solvers.steepest_descent import steepest_descent

__all__ = [
    "Bernoulli",
    "Categorical",
    "CrossEntropyResult",
    "Gaussian",
    "InversionCodes",
    "Reason",
    "SolverResult",
    "conjugate_gradient",
    "cross_entropy",
    "decode_inversions",
    "inversion_table",
    "lbfgs",
    "minimise_smoothed",
    "steepest_descent",
]
