"""Kernel dependency estimation: Gamma . T . phi as one estimator.

:class:`DependencyRegressor` predicts between any two spaces that have kernels: by a search for the
pre-image, or among candidates that a generator of :mod:`isthmus.preimages` proposes.
"""

from isthmus.dependency.regressor import DependencyRegressor

__all__ = ["DependencyRegressor"]
