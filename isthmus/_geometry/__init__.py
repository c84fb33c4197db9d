"""Geometries: the curved sets on which factors of a map live.

============== ========================================== ==================
class          the set                                    file
============== ========================================== ==================
Stiefel        ``V'V = I``, canonical or embedded metric  ``stiefel.py``
Grassmann      subspaces                                  ``grassmann.py``
Euclidean      flat space                                 ``euclidean.py``
Product        several of them side by side               ``product.py``
============== ========================================== ==================

:class:`Geometry` is the contract they keep. ``principal_angles`` and ``grassmann_distance`` compare two
subspaces. ``uniform_stiefel`` and ``geodesic_proposal`` draw random points (``sampling.py``).
``StiefelFlow`` and ``EuclideanFlow`` (``flows.py``) are what ``isthmus._solvers.hmc_step`` moves along.
"""

from isthmus._geometry.base import Geometry
from isthmus._geometry.euclidean import Euclidean
from isthmus._geometry.flows import EuclideanFlow, StiefelFlow
from isthmus._geometry.grassmann import Grassmann, grassmann_distance, principal_angles
from isthmus._geometry.product import Product
from isthmus._geometry.sampling import geodesic_proposal, uniform_stiefel
from isthmus._geometry.stiefel import Stiefel

__all__ = [
    "Euclidean",
    "EuclideanFlow",
    "Geometry",
    "Grassmann",
    "Product",
    "Stiefel",
    "StiefelFlow",
    "geodesic_proposal",
    "grassmann_distance",
    "principal_angles",
    "uniform_stiefel",
]
