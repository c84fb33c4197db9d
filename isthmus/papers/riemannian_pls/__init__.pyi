from isthmus.papers.riemannian_pls.conjugate_gradients import conjugate_gradient as conjugate_gradient
from isthmus.papers.riemannian_pls.generalised import GeneralisedGrassmann as GeneralisedGrassmann
from isthmus.papers.riemannian_pls.generalised import GeneralisedStiefel as GeneralisedStiefel
from isthmus.papers.riemannian_pls.grassmann import Grassmann as Grassmann
from isthmus.papers.riemannian_pls.grassmann import grassmann_distance as grassmann_distance
from isthmus.papers.riemannian_pls.grassmann import principal_angles as principal_angles
from isthmus.papers.riemannian_pls.image_sets import grassmann_distances as grassmann_distances
from isthmus.papers.riemannian_pls.image_sets import image_set_error as image_set_error
from isthmus.papers.riemannian_pls.image_sets import image_set_subspaces as image_set_subspaces
from isthmus.papers.riemannian_pls.models import RiemannianPLS as RiemannianPLS
from isthmus.papers.riemannian_pls.oblique import Oblique as Oblique
from isthmus.papers.riemannian_pls.product import Product as Product

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
