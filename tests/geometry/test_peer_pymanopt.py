"""Pymanopt as a peer: same projections, products and geodesics."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus import _geometry as ours
from isthmus.papers.riemannian_pls import Grassmann, Oblique

pymanopt = pytest.importorskip("pymanopt", reason="pymanopt is a peer, not a dependency")
manifolds = pymanopt.manifolds

PAIRS = {
    "stiefel": (ours.Stiefel(7, 3, metric="embedded"), manifolds.Stiefel(7, 3)),
    "grassmann": (Grassmann(7, 3), manifolds.Grassmann(7, 3)),
    "oblique": (Oblique(7, 3), manifolds.Oblique(7, 3)),
    "euclidean": (ours.Euclidean(7, 3), manifolds.Euclidean(7, 3)),
}


@pytest.fixture(params=range(3))
def rng(request):
    return np.random.default_rng(request.param)


@pytest.mark.parametrize("name", PAIRS)
def test_agrees_with_the_peer(name, rng):
    mine, peer = PAIRS[name]
    point = mine.random_point(rng)
    first, second = (mine.random_tangent(point, rng) for _ in range(2))
    ambient = rng.normal(size=(7, 3))
    assert mine.dimension == peer.dim
    assert_allclose(mine.project(point, ambient), peer.projection(point, ambient), atol=1e-13)
    assert_allclose(mine.inner(point, first, second), peer.inner_product(point, first, second))
    assert_allclose(mine.norm(point, first), peer.norm(point, first))
    assert_allclose(mine.exp(point, first), peer.exp(point, first), atol=1e-10)
    assert_allclose(mine.retract(point, first), peer.retraction(point, first), atol=1e-12)
    end = mine.retract(point, first)
    assert_allclose(
        mine.transport(point, end, second), peer.transport(point, end, second), atol=1e-12
    )
    assert_allclose(
        mine.gradient(point, ambient),
        peer.euclidean_to_riemannian_gradient(point, ambient),
        atol=1e-12,
    )
