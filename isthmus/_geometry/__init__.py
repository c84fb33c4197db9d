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

from isthmus._doors import open_door

__getattr__, __dir__, __all__ = open_door(
    __name__,
    {
        "base": "Geometry",
        "euclidean": "Euclidean",
        "flows": "EuclideanFlow StiefelFlow",
        "stiefel": "Stiefel",
    },
    neighbours={
        "base": "check_shape",
        "geodesics": "orthonormalise",
    },
)
