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

from isthmus._doors import open_door

__getattr__, __dir__, __all__ = open_door(
    __name__,
    {
        "conjugate_gradients": "conjugate_gradient",
        "generalised": "GeneralisedGrassmann GeneralisedStiefel",
        "grassmann": "Grassmann grassmann_distance principal_angles",
        "image_sets": "grassmann_distances image_set_error image_set_subspaces",
        "models": "RiemannianPLS",
        "oblique": "Oblique",
        "product": "Product",
    },
)
