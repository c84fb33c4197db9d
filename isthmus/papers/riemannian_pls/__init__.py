"""Chen, Sun, Gao, Hu and Yin, *Partial Least Squares Regression on Riemannian Manifolds* [CSGHY]_.

==========================================  =====================================================
in the paper                                here
==========================================  =====================================================
Sec. 2, SIMPLS                              ``isthmus.PLS(algorithm="simpls")``
Sec. 3.1, generalised Grassmann manifold    ``GeneralisedGrassmann``
Sec. 3.1, Algorithm 1 (PLSRGGr)             ``RiemannianPLS``; closed form ``isthmus.ManifoldPLS``
Sec. 3.2, product manifold                  ``GeneralisedStiefel``, ``Oblique``
Sec. 3.2, Algorithm 2 (PLSRGStO)            ``RiemannianPLS(manifold="product")``
conjugate gradients of both                 ``conjugate_gradient``, on any geometry
Sec. 4, classification by indicators        ``isthmus.IndicatorClassifier``
Sec. 4.2, sets of images (ETH-80)           ``image_set_subspaces``, ``grassmann_distances``,
                                            ``image_set_error``
Tables 1 and 2, figures 2 and 3             ``tables.py``, on ``classify_pictures.py``
==========================================  =====================================================
"""

from isthmus.papers.riemannian_pls.conjugate_gradient import conjugate_gradient
from isthmus.papers.riemannian_pls.generalised import GeneralisedGrassmann, GeneralisedStiefel
from isthmus.papers.riemannian_pls.grassmann import (
    Grassmann,
    grassmann_distance,
    principal_angles,
)
from isthmus.papers.riemannian_pls.image_sets import (
    grassmann_distances,
    image_set_error,
    image_set_subspaces,
)
from isthmus.papers.riemannian_pls.models import RiemannianPLS
from isthmus.papers.riemannian_pls.oblique import Oblique
from isthmus.papers.riemannian_pls.product import Product

__all__ = [
    "GeneralisedGrassmann",
    "GeneralisedStiefel",
    "Grassmann",
    "Oblique",
    "Product",
    "RiemannianPLS",
    "conjugate_gradient",
    "grassmann_distance",
    "grassmann_distances",
    "image_set_error",
    "image_set_subspaces",
    "principal_angles",
]
