"""Kernel dependency estimation: Gamma . T . phi as one estimator.

:class:`DependencyRegressor` predicts between any two spaces that have kernels: by a search for the
pre-image, or among candidates that a generator of :mod:`isthmus.preimages` proposes.
"""

from isthmus._doors import open_door

__getattr__, __dir__, __all__ = open_door(
    __name__,
    {
        "regressor": "DependencyRegressor",
    },
)
