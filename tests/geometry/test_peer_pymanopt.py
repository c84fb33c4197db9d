"""Pymanopt as a peer: same projections, products, geodesics and distances."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus import geometry as ours

pymanopt = pytest.importorskip("pymanopt", reason="pymanopt is a peer, not a dependency")
manifolds = pymanopt.manifolds

PAIRS = {
    "stiefel": (ours.Stiefel(7, 3, metric="embedded"), manifolds.Stiefel(7, 3)),
    "grassmann": (ours.Grassmann(7, 3), manifolds.Grassmann(7, 3)),
    "oblique": (ours.Oblique(7, 3), manifolds.Oblique(7, 3)),
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
    ambient, product = rng.normal(size=(2, 7, 3))
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
    assert_allclose(
        mine.hessian(point, ambient, product, first),
        peer.euclidean_to_riemannian_hessian(point, ambient, product, first),
        atol=1e-12,
    )


@pytest.mark.parametrize("name", ["grassmann", "oblique", "euclidean"])
def test_distance_and_log_agree_with_the_peer(name, rng):
    mine, peer = PAIRS[name]
    point = mine.random_point(rng)
    other = mine.exp(point, 0.3 * mine.random_tangent(point, rng))
    assert_allclose(mine.distance(point, other), peer.dist(point, other), rtol=1e-6)
    assert_allclose(mine.log(point, other), peer.log(point, other), atol=1e-6)
