"""Geometries: the curved sets on which factors of a map live.

============== ========================================== ==================
class          the set                                    file
============== ========================================== ==================
Stiefel        ``V'V = I``, canonical or embedded metric  ``stiefel.py``
Euclidean      flat space                                 ``euclidean.py``
============== ========================================== ==================

:class:`Geometry` is the contract they keep. ``StiefelFlow`` and ``EuclideanFlow`` (``flows.py``) are what
``isthmus._solvers.hmc_step`` moves along. Subspaces and products are in ``isthmus.papers.riemannian_pls``,
which alone needs them.
"""

from isthmus._geometry.base import Geometry
from isthmus._geometry.euclidean import Euclidean
from isthmus._geometry.flows import EuclideanFlow, StiefelFlow
from isthmus._geometry.stiefel import Stiefel

__all__ = [
    "Euclidean",
    "EuclideanFlow",
    "Geometry",
    "Stiefel",
    "StiefelFlow",
]
