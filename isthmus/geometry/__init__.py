"""Geometries: the curved sets on which factors of a map live.

====================== ============================================= =================
class                  the set                                       file
====================== ============================================= =================
Stiefel                ``V'V = I``, canonical or embedded metric     ``stiefel.py``
Grassmann              subspaces                                     ``grassmann.py``
GeneralisedStiefel     ``W'BW = I``                                  ``generalised.py``
GeneralisedGrassmann   subspaces in the inner product of B           ``generalised.py``
Oblique                columns of length one                         ``oblique.py``
Euclidean              flat space                                    ``euclidean.py``
Product                several of them side by side                  ``product.py``
====================== ============================================= =================

:class:`Geometry` is the contract they keep. ``principal_angles`` and ``grassmann_distance`` compare
two subspaces; ``image_set_subspaces``, ``grassmann_distances`` and ``image_set_error`` classify
sets of images by their subspaces (``image_sets.py``).

Random points (``sampling.py``): ``uniform_stiefel``, ``tangent_gaussian`` and ``geodesic_proposal``
near a point, ``von_mises_fisher`` on the sphere and ``matrix_langevin`` on the Stiefel manifold.
``StiefelFlow`` and ``EuclideanFlow`` (``flows.py``) are what ``isthmus.solvers.hmc_step`` moves along.
"""

from isthmus.geometry.base import Geometry
from isthmus.geometry.euclidean import Euclidean
from isthmus.geometry.flows import EuclideanFlow, StiefelFlow
from isthmus.geometry.generalised import GeneralisedGrassmann, GeneralisedStiefel
from isthmus.geometry.grassmann import Grassmann, grassmann_distance, principal_angles
from isthmus.geometry.image_sets import grassmann_distances, image_set_error, image_set_subspaces
from isthmus.geometry.oblique import Oblique
from isthmus.geometry.product import Product
from isthmus.geometry.sampling import (
    geodesic_proposal,
    matrix_langevin,
    tangent_gaussian,
    uniform_stiefel,
    von_mises_fisher,
)
from isthmus.geometry.stiefel import Stiefel

__all__ = [
    "Euclidean",
    "EuclideanFlow",
    "GeneralisedGrassmann",
    "GeneralisedStiefel",
    "Geometry",
    "Grassmann",
    "Oblique",
    "Product",
    "Stiefel",
    "StiefelFlow",
    "geodesic_proposal",
    "grassmann_distance",
    "grassmann_distances",
    "image_set_error",
    "image_set_subspaces",
    "matrix_langevin",
    "principal_angles",
    "tangent_gaussian",
    "uniform_stiefel",
    "von_mises_fisher",
]
