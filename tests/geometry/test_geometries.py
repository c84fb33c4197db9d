"""What is special to each geometry. Oracles: printed formulas, planted angles, moments."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm, null_space, subspace_angles

from isthmus._geometry import Euclidean, Stiefel
from isthmus.papers.riemannian_pls import (
    GeneralisedGrassmann,
    GeneralisedStiefel,
    Grassmann,
    Oblique,
    Product,
    grassmann_distance,
    grassmann_distances,
    principal_angles,
)


@pytest.fixture(params=range(3))
def rng(request):
    return np.random.default_rng(request.param)


def at_random(geometry, rng):
    point = geometry.random_point(rng)
    return point, geometry.random_tangent(point, rng)


def sym(M):
    return (M + M.T) / 2


SHAPES = [(2, 2), (3, 2), (4, 2), (7, 4), (40, 5), (6, 1)]


@pytest.mark.parametrize("shape", SHAPES)
def test_canonical_geodesic_is_the_rotation_of_the_whole_space(shape, rng):
    V, D = at_random(Stiefel(*shape), rng)
    n, r = shape
    V_perp = null_space(V.T) if n > r else np.empty((n, 0))
    Bp = V_perp.T @ D
    Z = np.block([[V.T @ D, -Bp.T], [Bp, np.zeros((n - r, n - r))]])
    expected = np.hstack([V, V_perp]) @ expm(Z)[:, :r]
    assert_allclose(Stiefel(*shape).exp(V, D), expected, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_embedded_geodesic_is_that_of_edelman_arias_smith(shape, rng):
    V, D = at_random(Stiefel(*shape, metric="embedded"), rng)
    A, r = V.T @ D, shape[1]
    large = expm(np.block([[A, -D.T @ D], [np.eye(r), A]]))
    expected = np.hstack([V, D]) @ large[:, :r] @ expm(-A)  # their (2.42)
    assert_allclose(Stiefel(*shape, metric="embedded").exp(V, D), expected, atol=1e-10)


def test_worked_geodesic():
    V = np.eye(5)[:, :2]
    D = np.array([[0, -1], [1, 0], [1, 0], [0, 2], [0, 0]], dtype=float)
    expected = [
        [0.7699851392, -0.3830775972],
        [0.3830775972, 0.4398249305],
        [0.460355769, -0.1100534029],
        [0.2201068058, 0.8047942803],
        [0, 0],
    ]
    assert_allclose(Stiefel(5, 2).exp(V, 0.5 * D), expected, atol=1e-9)


def test_stiefel_gradients_are_those_of_the_two_metrics(rng):
    V, _ = at_random(Stiefel(7, 3), rng)
    G = rng.normal(size=(7, 3))
    assert_allclose(Stiefel(7, 3).gradient(V, G), G - V @ G.T @ V, atol=1e-13)
    embedded = Stiefel(7, 3, metric="embedded").gradient(V, G)
    assert_allclose(embedded, G - V @ sym(V.T @ G), atol=1e-13)


def test_uniform_draws_have_the_moments_of_the_uniform_law():
    # Without the signs of R in Q the second moment is right and the first is not.
    geometry, rng, n = Stiefel(6, 3), np.random.default_rng(0), 6000
    draws = np.stack([geometry.random_point(rng) for _ in range(n)])
    sigma = 1 / np.sqrt(6 * n)
    assert abs(draws.mean(axis=0)).max() < 5 * sigma
    assert_allclose(
        np.einsum("kij,klj->il", draws, draws) / n, 0.5 * np.eye(6), atol=5 * np.sqrt(3) * sigma
    )


@pytest.mark.parametrize("kind", [GeneralisedStiefel, GeneralisedGrassmann])
def test_generalised_draws_are_uniform_in_whitened_coordinates(kind):
    rng, n = np.random.default_rng(0), 4000
    X = rng.normal(size=(20, 5)) * np.arange(1, 6)
    geometry = kind(X.T @ X, 2)
    scores = np.stack([X @ geometry.random_point(rng) for _ in range(n)])
    U = np.linalg.svd(X, full_matrices=False)[0]
    second = np.einsum("kij,klj->il", scores, scores) / n  # 2/5 of the projection on X
    assert_allclose(U.T @ second @ U, 0.4 * np.eye(5), atol=5 * np.sqrt(2 / (5 * n)))


def test_generalised_formulas_of_the_specification(rng):
    X = rng.normal(size=(30, 6)) * np.logspace(0, -1, 6)
    B = X.T @ X
    G, Z = rng.normal(size=(2, 6, 2))
    stiefel, grassmann = GeneralisedStiefel(B, 2), GeneralisedGrassmann(B, 2)
    W = stiefel.random_point(rng)

    def on_stiefel(Z):
        return Z - W @ sym(W.T @ B @ Z)

    def horizontal(Z):
        return Z - W @ W.T @ B @ Z

    natural = np.linalg.solve(B, G)
    assert_allclose(stiefel.project(W, Z), on_stiefel(Z), atol=1e-11)
    assert_allclose(stiefel.gradient(W, G), on_stiefel(natural), atol=1e-10)
    assert_allclose(grassmann.project(W, Z), horizontal(Z), atol=1e-11)
    assert_allclose(grassmann.gradient(W, G), horizontal(natural), atol=1e-10)
    assert_allclose(stiefel.inner(W, Z, G), np.trace(Z.T @ B @ G), rtol=1e-11)
    moved = grassmann.retract(W, grassmann.project(W, Z))
    far = W + horizontal(Z)  # same span as W (W'BW)^(-1/2)
    assert_allclose(principal_angles(*(np.linalg.qr(a)[0] for a in (moved, far))), 0, atol=1e-10)


@pytest.mark.parametrize("kind", [GeneralisedStiefel, GeneralisedGrassmann])
def test_from_data_is_the_same_geometry_where_the_data_have_full_rank(kind, rng):
    X = rng.normal(size=(30, 6))
    by_matrix, by_data = kind(X.T @ X, 3), kind.from_data(X, 3)
    W = by_matrix.random_point(rng)
    G, Z = rng.normal(size=(2, 6, 3))
    assert by_data.dimension == by_matrix.dimension
    assert_allclose(by_data.project(W, Z), by_matrix.project(W, Z), atol=1e-11)
    assert_allclose(by_data.gradient(W, G), by_matrix.gradient(W, G), atol=1e-11)


@pytest.mark.parametrize("kind", [GeneralisedStiefel, GeneralisedGrassmann])
def test_singular_data_keep_the_null_space_at_zero(kind, rng):
    X = rng.normal(size=(4, 9))
    X[3] = X[0] + X[1]  # rank 3 of 4 rows and 9 columns
    geometry = kind.from_data(X, 2)
    outside = null_space(X)
    W = geometry.random_point(rng)
    for _ in range(50):
        W = geometry.retract(W, geometry.gradient(W, rng.normal(size=(9, 2))))
    assert_allclose(W.T @ X.T @ X @ W, np.eye(2), atol=1e-12)
    assert abs(outside.T @ W).max() < 1e-12 * abs(W).max()
    with pytest.raises(ValueError, match="n_columns == 4, must be >= 1 and <= n_rows == 3"):
        kind.from_data(X, 4)


def test_errors_name_the_parameter():
    with pytest.raises(ValueError, match="n_columns == 3, must be >= 1 and <= n_rows == 2"):
        Stiefel(2, 3)
    with pytest.raises(ValueError, match="n_columns == 0"):
        Grassmann(2, 0)
    with pytest.raises(ValueError, match=r"metric == 'flat', must be one of \['canonical'"):
        Stiefel(3, 2, metric="flat")
    with pytest.raises(ValueError, match=r"not positive definite; .* from_data\(X, n_columns\)"):
        GeneralisedStiefel(np.diag([1.0, 0.0]), 1)
    with pytest.raises(ValueError, match="symmetric"):
        GeneralisedGrassmann(np.array([[1.0, 2.0], [0.0, 1.0]]), 1)
    with pytest.raises(ValueError, match="at least"):
        Oblique(0, 1)
    with pytest.raises(ValueError, match="factor"):
        Product()


def test_product_is_its_factors_side_by_side(rng):
    factors = Stiefel(5, 2), Euclidean(2), Oblique(4, 2)
    geometry = Product(*factors)
    points, tangents = zip(*(at_random(f, rng) for f in factors))
    point, tangent = geometry.pack(points), geometry.pack(tangents)
    for ours, theirs in zip(geometry.unpack(point), points):
        assert np.array_equal(ours, theirs) and np.shares_memory(ours, point)
    inner = sum(f.inner(p, t, t) for f, p, t in zip(factors, points, tangents))
    assert_allclose(geometry.inner(point, tangent, tangent), inner)
    moved = geometry.unpack(geometry.exp(point, tangent))
    for ours, f, p, t in zip(moved, factors, points, tangents):
        assert_allclose(ours, f.exp(p, t), atol=1e-15)
    assert geometry.dimension == sum(f.dimension for f in factors)


@pytest.mark.parametrize("angles", [(0.3, 1.2), (1e-9, 0.5), (0.0, np.pi / 2), (1e-12, 1e-3)])
def test_principal_angles_of_planted_subspaces(angles, rng):
    Q = np.linalg.qr(rng.normal(size=(9, 9)))[0]
    first = Q[:, :2] @ np.linalg.qr(rng.normal(size=(2, 2)))[0]
    second = (Q[:, :2] * np.cos(angles) + Q[:, 2:4] * np.sin(angles)) @ np.linalg.qr(
        rng.normal(size=(2, 2))
    )[0]
    assert_allclose(principal_angles(first, second), sorted(angles)[::-1], atol=2e-15, rtol=1e-7)
    assert_allclose(grassmann_distance(first, second), np.linalg.norm(angles), atol=1e-14)


def test_principal_angles_of_subspaces_of_different_dimension(rng):
    first, second = (np.linalg.qr(rng.normal(size=(8, r)))[0] for r in (2, 4))
    expected = subspace_angles(first, second)
    assert_allclose(principal_angles(first, second), expected, atol=1e-13)
    assert_allclose(principal_angles(second, first), expected, atol=1e-13)


def test_distances_take_any_basis(rng):
    first, second = rng.normal(size=(5, 2)), rng.normal(size=(5, 2))
    expected = np.linalg.norm(subspace_angles(first, second))
    assert_allclose(grassmann_distance(first, second), expected, rtol=1e-12)
    assert_allclose(grassmann_distances(first[None], second[None]), [[expected]], rtol=1e-12)
    for bad in (rng.normal(size=(4, 2)), np.ones((5, 2)), np.full((5, 2), np.nan), np.ones(5)):
        for distance in (grassmann_distance, lambda a, b: grassmann_distances(a[None], b[None])):
            with pytest.raises(ValueError, match=r"rows|dependent|must be"):
                distance(first, bad)
