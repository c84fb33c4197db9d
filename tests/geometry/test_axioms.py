"""One list of axioms over all geometries: a new one is tested by joining the list.

Oracles: finite differences, measured orders, the constraint written a second time, and the rank of
the projection as a matrix.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus._geometry import Euclidean, Stiefel
from isthmus.papers.riemannian_pls import (
    GeneralisedGrassmann,
    GeneralisedStiefel,
    Grassmann,
    Oblique,
    Product,
)

_rng = np.random.default_rng(42)
X_TALL = _rng.normal(size=(20, 6)) * np.logspace(0, -2, 6)
X_WIDE = _rng.normal(size=(5, 9))  # X'X is singular
B = X_TALL.T @ X_TALL


def orthonormal(V):
    return V.T @ V - np.eye(V.shape[1])


def orthonormal_in(X):
    return lambda W: orthonormal(X @ W)


def unit_columns(U):
    return (U**2).sum(axis=0) - 1


def nothing(x):
    return np.zeros(1)


# Each geometry with what is zero on it, and whether it is a set of subspaces.
GEOMETRIES = {
    "stiefel (7,4)": (Stiefel(7, 4), orthonormal, False),
    "stiefel (3,2)": (Stiefel(3, 2), orthonormal, False),
    "stiefel (2,2)": (Stiefel(2, 2), orthonormal, False),
    "stiefel (40,5)": (Stiefel(40, 5), orthonormal, False),
    "stiefel (5,1)": (Stiefel(5, 1), orthonormal, False),
    "embedded stiefel (7,4)": (Stiefel(7, 4, metric="embedded"), orthonormal, False),
    "embedded stiefel (3,2)": (Stiefel(3, 2, metric="embedded"), orthonormal, False),
    "embedded stiefel (40,5)": (Stiefel(40, 5, metric="embedded"), orthonormal, False),
    "grassmann (7,4)": (Grassmann(7, 4), orthonormal, True),
    "grassmann (9,2)": (Grassmann(9, 2), orthonormal, True),
    "generalised stiefel": (GeneralisedStiefel(B, 2), orthonormal_in(X_TALL), False),
    "generalised grassmann": (GeneralisedGrassmann(B, 2), orthonormal_in(X_TALL), True),
    "stiefel of data": (GeneralisedStiefel.from_data(X_WIDE, 2), orthonormal_in(X_WIDE), False),
    "grassmann of data": (GeneralisedGrassmann.from_data(X_WIDE, 2), orthonormal_in(X_WIDE), True),
    "oblique": (Oblique(5, 3), unit_columns, False),
    "euclidean": (Euclidean(4, 3), nothing, False),
    "product": (Product(Stiefel(5, 2), Euclidean(2), Oblique(4, 2)), None, False),
}
_product = GEOMETRIES["product"][0]
GEOMETRIES["product"] = (
    _product,
    lambda x: np.append(
        orthonormal(_product.unpack(x)[0]).ravel(), unit_columns(_product.unpack(x)[2])
    ),
    False,
)
every_geometry = pytest.mark.parametrize("name", GEOMETRIES)


@pytest.fixture(params=range(2))
def rng(request):
    return np.random.default_rng(request.param)


def at_random(name, rng):
    geometry = GEOMETRIES[name][0]
    point = geometry.random_point(rng)
    return geometry, point, geometry.random_tangent(point, rng)


def slope_of(errors, steps):
    return np.polyfit(np.log(steps), np.log(errors), 1)[0]


@every_geometry
@pytest.mark.parametrize("move", ["retract", "exp"])
def test_stays_feasible_for_a_thousand_steps(name, move, rng):
    geometry, constraint, _ = GEOMETRIES[name]
    point = geometry.random_point(rng)
    worst = abs(constraint(point)).max()
    for _ in range(500):  # two seeds: a thousand
        tangent = geometry.random_tangent(point, rng)
        point = getattr(geometry, move)(point, 0.7 * tangent)
        worst = max(worst, abs(constraint(point)).max())
    assert worst < 1e-12


@pytest.mark.parametrize("shape", [(2, 2), (3, 2), (7, 4), (40, 5)])
def test_geodesics_do_not_drift_in_five_thousand_steps(shape):
    # QR of the part of D orthogonal to V, the textbook's way, is off by 0.3 after 1000 steps here.
    geometry, rng = Stiefel(*shape), np.random.default_rng(0)
    point = geometry.random_point(rng)
    for _ in range(5000):
        point = geometry.exp(point, geometry.random_tangent(point, rng))
    assert abs(orthonormal(point)).max() < 1e-12


@every_geometry
def test_huge_and_vanishing_steps_stay_feasible(name, rng):
    geometry, point, tangent = at_random(name, rng)
    constraint = GEOMETRIES[name][1]
    for size in (1e-300, 1e-12, 1e3, 1e8):
        assert abs(constraint(geometry.retract(point, size * tangent))).max() < 1e-12
    for size in (0.0, 1e-300, 1e-12, 30.0):
        assert abs(constraint(geometry.exp(point, size * tangent))).max() < 1e-12


@every_geometry
@pytest.mark.parametrize("move", ["retract", "exp"])
def test_a_small_violation_is_mended_not_carried_on(name, move, rng):
    geometry, point, tangent = at_random(name, rng)
    off = point * (1 + 1e-8)
    assert abs(GEOMETRIES[name][1](getattr(geometry, move)(off, 0.3 * tangent))).max() < 1e-12


@every_geometry
def test_dimension_is_the_rank_of_the_projection(name, rng):
    geometry, point, _ = at_random(name, rng)
    size = int(np.prod(geometry.shape))
    columns = [geometry.project(point, e.reshape(geometry.shape)).ravel() for e in np.eye(size)]
    assert np.linalg.matrix_rank(np.array(columns), tol=1e-8) == geometry.dimension


@every_geometry
def test_projection_is_idempotent_and_orthogonal_and_tangent(name, rng):
    geometry, point, tangent = at_random(name, rng)
    ambient = rng.normal(size=geometry.shape)
    projected = geometry.project(point, ambient)
    assert_allclose(geometry.project(point, projected), projected, atol=1e-12)
    assert_allclose(geometry.project(point, tangent), tangent, atol=1e-12)
    scale = geometry.norm(point, tangent) * geometry.norm(point, ambient)
    assert abs(geometry.inner(point, ambient - projected, tangent)) < 1e-12 * scale
    # Tangent: a small step along it violates the constraint in second order only.
    constraint = GEOMETRIES[name][1]
    assert abs(constraint(point + 1e-6 * projected)).max() < 1e-9


@every_geometry
def test_inner_is_bilinear_symmetric_and_positive(name, rng):
    geometry, point, first = at_random(name, rng)
    second = geometry.random_tangent(point, rng)
    assert_allclose(
        geometry.inner(point, first, second), geometry.inner(point, second, first), rtol=1e-10
    )
    assert_allclose(
        geometry.inner(point, 2 * first + second, second),
        2 * geometry.inner(point, first, second) + geometry.inner(point, second, second),
        rtol=1e-10,
    )
    assert_allclose(geometry.norm(point, first) ** 2, geometry.inner(point, first, first))
    assert geometry.norm(point, first) > 0


@every_geometry
@pytest.mark.parametrize("move", ["retract", "exp"])
def test_moves_are_the_identity_at_zero_and_of_first_order(name, move, rng):
    geometry, point, tangent = at_random(name, rng)
    move = getattr(geometry, move)
    assert_allclose(move(point, 0 * tangent), point, atol=1e-13)
    steps = np.array([1e-2, 1e-3, 1e-4])
    errors = [np.linalg.norm(move(point, t * tangent) - point - t * tangent) for t in steps]
    if max(errors) > 1e-12:  # flat space is exact
        assert slope_of(errors, steps) > 1.95


@every_geometry
def test_geodesics_have_constant_speed_and_continue_themselves(name, rng):
    geometry, point, tangent = at_random(name, rng)
    step = 1e-5

    def velocity(t):
        ends = (geometry.exp(point, (t + s) * tangent) for s in (step, -step))
        return np.subtract(*ends) / (2 * step)

    speed = geometry.norm(point, tangent)
    halfway = geometry.exp(point, 0.5 * tangent)
    for t in (0.0, 0.5, 1.0):
        here = geometry.exp(point, t * tangent)
        assert_allclose(geometry.norm(here, velocity(t)), speed, rtol=1e-7)
    onwards = geometry.exp(halfway, 0.5 * geometry.project(halfway, velocity(0.5)))
    assert_allclose(onwards, geometry.exp(point, tangent), atol=1e-7)


@every_geometry
def test_transport_stays_tangent_is_linear_and_near_the_identity(name, rng):
    geometry, point, first = at_random(name, rng)
    second = geometry.random_tangent(point, rng)
    assert_allclose(geometry.transport(point, point, first), first, atol=1e-12)
    end = geometry.retract(point, 0.5 * first)
    carried = geometry.transport(point, end, second)
    assert_allclose(geometry.project(end, carried), carried, atol=1e-12)
    both = geometry.transport(point, end, 2 * first + second)
    assert_allclose(both, 2 * geometry.transport(point, end, first) + carried, atol=1e-11)
    near = geometry.retract(point, 1e-6 * first)
    assert_allclose(geometry.transport(point, near, second), second, atol=1e-3)


class Bowl:
    """A function with known derivatives; of the subspace alone where ``invariant``."""

    def __init__(self, shape, invariant, rng):
        n = shape[0]
        matrices = rng.normal(size=(2, n, n))
        self.M, self.N = matrices + matrices.transpose(0, 2, 1)
        self.linear = 0.0 if invariant else rng.normal(size=shape)
        self.cubic = 0.0 if invariant else 1.0

    def value(self, W):
        inside = W.T @ self.M @ W
        whole = np.sum(inside * inside) / 2 + np.sum(W * (self.N @ W))
        return whole + np.sum(self.linear * W) + self.cubic * np.sum(W**3) / 3

    def gradient(self, W):
        whole = 2 * self.M @ W @ (W.T @ self.M @ W) + 2 * self.N @ W
        return whole + self.linear + self.cubic * W**2

    def product(self, W, D):
        MW, MD = self.M @ W, self.M @ D
        bent = 2 * MD @ (W.T @ MW) + 2 * MW @ (D.T @ MW + W.T @ MD)
        return bent + 2 * self.N @ D + self.cubic * 2 * W * D


def bowl_on(name, rng):
    geometry, _, invariant = GEOMETRIES[name]
    shape = geometry.shape if len(geometry.shape) == 2 else (geometry.shape[0], 1)
    bowl = Bowl(shape, invariant, rng)
    if len(geometry.shape) == 2:
        return bowl.value, bowl.gradient, bowl.product

    def tall(function):
        return lambda *flat: np.squeeze(function(*(a[:, None] for a in flat)))

    return tall(bowl.value), tall(bowl.gradient), tall(bowl.product)


@every_geometry
@pytest.mark.parametrize("move", ["retract", "exp"])
def test_gradient_by_finite_differences(name, move, rng):
    geometry, point, tangent = at_random(name, rng)
    value, euclidean, _ = bowl_on(name, rng)
    gradient = geometry.gradient(point, euclidean(point))
    assert_allclose(geometry.project(point, gradient), gradient, rtol=1e-9, atol=1e-9)
    move, step = getattr(geometry, move), 1e-5
    difference = value(move(point, step * tangent)) - value(move(point, -step * tangent))
    assert_allclose(
        geometry.inner(point, gradient, tangent), difference / (2 * step), rtol=1e-5, atol=1e-6
    )


@every_geometry
def test_random_tangents_are_standard_gaussian_in_the_metric(name):
    geometry, point, direction = at_random(name, np.random.default_rng(1))
    rng, n = np.random.default_rng(2), 1500
    draws = [geometry.random_tangent(point, rng) for _ in range(n)]
    squares = [geometry.inner(point, d, d) for d in draws]
    assert_allclose(np.mean(squares), geometry.dimension, rtol=5 * np.sqrt(2 / n))
    shares = [geometry.inner(point, d, direction) for d in draws]
    spread = geometry.norm(point, direction)
    assert_allclose(np.mean(np.square(shares)), spread**2, rtol=5 * np.sqrt(2 / n))


@every_geometry
def test_same_seed_same_draw(name):
    geometry = GEOMETRIES[name][0]
    first, second = (at_random(name, np.random.default_rng(3)) for _ in range(2))
    assert np.array_equal(first[1], second[1]) and np.array_equal(first[2], second[2])
    assert first[1].shape == geometry.shape == first[2].shape
    assert repr(geometry)
