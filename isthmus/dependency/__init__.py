"""Kernel dependency estimation: Gamma . T . phi as one estimator.

===========================  ===============================================================
:class:`DependencyRegressor` any two spaces that have kernels
:class:`CandidateRegressor`  the best of the outputs that a generator proposes
===========================  ===============================================================
"""

from isthmus.dependency.candidates import CandidateRegressor
from isthmus.dependency.regressor import DependencyRegressor

__all__ = ["CandidateRegressor", "DependencyRegressor"]
