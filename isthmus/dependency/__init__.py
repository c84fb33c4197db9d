"""Kernel dependency estimation: Gamma . T . phi as one estimator."""

from isthmus.dependency.regressor import DependencyRegressor

__all__ = ["DependencyRegressor"]
