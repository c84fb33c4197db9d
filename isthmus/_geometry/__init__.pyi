from isthmus._geometry.base import Geometry as Geometry
from isthmus._geometry.base import check_shape as check_shape
from isthmus._geometry.euclidean import Euclidean as Euclidean
from isthmus._geometry.flows import EuclideanFlow as EuclideanFlow
from isthmus._geometry.flows import StiefelFlow as StiefelFlow
from isthmus._geometry.geodesics import orthonormalise as orthonormalise
from isthmus._geometry.stiefel import Stiefel as Stiefel

__all__ = [
    "Euclidean",
    "EuclideanFlow",
    "Geometry",
    "Stiefel",
    "StiefelFlow",
]
