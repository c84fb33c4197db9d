"""Random points of the Stiefel manifold against known moments."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import iv

from isthmus._geometry import Stiefel
from isthmus._geometry.flows import EuclideanFlow, StiefelFlow
from isthmus._solvers.mcmc import hmc_step
from isthmus.papers.kernel_dependency_thesis import matrix_langevin, von_mises_fisher
from isthmus.papers.kernel_dependency_thesis.sampler import geodesic_proposal

SHAPES = [(3, 1), (2, 2), (4, 2), (5, 5), (7, 4)]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def within(draws, expected, errors=6.0):
    """The mean of independent draws is within so many standard errors of what it should be.

    Six are passed with a probability of 2e-9, by one of 500 entries with 1e-6.
    """
    draws = np.asarray(draws)
    error = draws.std(axis=0) / np.sqrt(len(draws))
    assert (np.abs(draws.mean(axis=0) - expected) <= errors * error + 1e-12).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_uniform_points_have_the_moments_of_the_invariant_law(shape, rng):
    n, r = shape
    draws = np.array([Stiefel(n, r).random_point(rng) for _ in range(4000)])
    within(draws, 0.0)
    within(draws @ draws.transpose(0, 2, 1), r / n * np.eye(n))
    # the fourth moment of an entry tells a uniform law from others with the same variance
    within(draws[:, 0, 0] ** 4, 3 / (n * (n + 2)))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_tangent_is_isotropic_in_the_canonical_metric(shape, rng):
    n, r = shape
    V, scale = Stiefel(n, r).random_point(rng), 0.3
    drawn = np.array([scale * Stiefel(n, r).random_tangent(V, rng) for _ in range(4000)])
    assert np.abs(V.T @ drawn + drawn.transpose(0, 2, 1) @ V).max() < 1e-12
    geometry = Stiefel(n, r)
    squares = [geometry.inner(V, D, D) for D in drawn]
    within(squares, scale**2 * geometry.dimension)
    complement = np.linalg.qr(V, mode="complete")[0][:, r:]
    inner, outer = V.T @ drawn, complement.T @ drawn
    i, j = np.triu_indices(r, 1)
    coordinates = np.hstack([inner[:, i, j], outer.reshape(len(drawn), -1)])
    within(coordinates, 0.0)
    products = coordinates[:, :, None] * coordinates[:, None, :]
    within(products.reshape(len(drawn), -1), scale**2 * np.eye(coordinates.shape[1]).ravel())


@pytest.mark.parametrize("shape", [(3, 1), (4, 2), (3, 2)])
def test_the_geodesic_walk_keeps_the_uniform_law(shape, rng):
    """A flat target accepts all proposals: the walk itself must leave the uniform law alone."""
    n, r = shape
    ends = []
    for _ in range(1500):
        V = Stiefel(n, r).random_point(rng)
        for _ in range(2):
            V = geodesic_proposal(V, 0.8, rng)
        ends.append(V)
    ends = np.array(ends)
    within(ends @ ends.transpose(0, 2, 1), r / n * np.eye(n))
    within(ends[:, 0, 0] ** 4, 3 / (n * (n + 2)))


@pytest.mark.parametrize("d", [1, 2, 3, 6])
@pytest.mark.parametrize("kappa", [0.0, 0.5, 2.0])
def test_von_mises_fisher_mean_is_a_ratio_of_bessel_functions(d, kappa, rng):
    f = np.zeros(d)
    f[-1] = kappa
    draws = np.array([von_mises_fisher(f, rng) for _ in range(3000)])
    assert_allclose(np.linalg.norm(draws, axis=1), 1.0)
    expected = np.zeros(d)
    expected[-1] = iv(d / 2, kappa) / iv(d / 2 - 1, kappa) if kappa else 0.0
    within(draws, expected)


@pytest.mark.parametrize("shape", [(4, 2), (3, 2), (3, 3)])
def test_matrix_langevin_is_weighted_uniform(shape, rng):
    n, r = shape
    F = rng.normal(size=(n, r))
    draws = np.array([matrix_langevin(F, rng) for _ in range(2500)])
    assert np.abs(draws.transpose(0, 2, 1) @ draws - np.eye(r)).max() < 1e-12
    # importance weights on uniform points: slow, and shares no line with the sampler
    flat = np.array([Stiefel(n, r).random_point(rng) for _ in range(20000)])
    weights = np.exp((F * flat).sum(axis=(1, 2)))
    weights /= weights.sum()
    expected = (weights[:, None, None] * flat).sum(axis=0)
    error = np.sqrt(
        (weights[:, None, None] ** 2 * (flat - expected) ** 2).sum(axis=0)
        + draws.var(axis=0) / len(draws)
    )
    assert (np.abs(draws.mean(axis=0) - expected) < 4.5 * error).all()


def test_matrix_langevin_says_when_it_is_hopeless(rng):
    with pytest.raises(RuntimeError, match="too large for rejection"):
        matrix_langevin(1e4 * np.eye(6), rng, max_tries=3)
    with pytest.raises(ValueError, match="n_columns == 3"):
        matrix_langevin(np.ones((2, 3)), rng)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_flow_is_the_geodesic_and_turns_back(shape, rng):
    n, r = shape
    flow, geometry = StiefelFlow(n, r), Stiefel(n, r)
    V = Stiefel(n, r).random_point(rng)
    D = geometry.random_tangent(V, rng)
    end, velocity = flow.move(V, D, 0.7)
    assert_allclose(end, geometry.exp(V, 0.7 * D), atol=1e-12)
    assert_allclose(flow.energy(end, velocity), flow.energy(V, D), rtol=1e-12)
    assert_allclose(velocity, (flow.move(V, D, 0.7 + 1e-6)[0] - end) / 1e-6, atol=1e-4)
    back, reverse = flow.move(end, -velocity, 0.7)
    assert_allclose(back, V, atol=1e-12)
    assert_allclose(reverse, -D, atol=1e-12)


@pytest.mark.parametrize("shape", [(3, 1), (4, 2)])
def test_geodesic_hmc_samples_matrix_langevin(shape, rng):
    n, r = shape
    F = rng.normal(size=(n, r)) * 1.5
    flow = StiefelFlow(n, r, scale=0.8)

    def log_density(parts):
        return float((F * parts[0]).sum()), [F]

    exact = np.array([matrix_langevin(F, rng) for _ in range(1500)])
    chains = []
    for start in exact[:30]:  # started in the target: no warm-up is needed
        point, draws = [start], []
        value, gradient = log_density(point)
        for _ in range(60):
            move = hmc_step(
                log_density, [flow], point, value, gradient, step=0.4, n_steps=5, rng=rng
            )
            point, value, gradient = move.point, move.log_density, move.gradient
            draws.append(point[0])
        chains.append(np.mean(draws, axis=0))
    chains = np.array(chains)
    assert 0.5 < move.accept <= 1
    assert np.abs(point[0].T @ point[0] - np.eye(r)).max() < 1e-12
    error = np.sqrt(chains.var(axis=0) / len(chains) + exact.var(axis=0) / len(exact))
    assert (np.abs(chains.mean(axis=0) - exact.mean(axis=0)) < 4.5 * error).all()


def test_hmc_in_flat_space_samples_a_gaussian(rng):
    variances = np.array([0.01, 1.0, 25.0])

    def log_density(parts):
        return float(-(parts[0] ** 2 / variances).sum() / 2), [-parts[0] / variances]

    flow, point = EuclideanFlow(variances), [np.zeros(3)]
    value, gradient = log_density(point)
    draws = []
    for _ in range(6000):
        length = int(rng.integers(2, 8))
        move = hmc_step(
            log_density, [flow], point, value, gradient, step=0.4, n_steps=length, rng=rng
        )
        point, value, gradient = move.point, move.log_density, move.gradient
        draws.append(point[0])
    assert_allclose(np.var(draws, axis=0), variances, rtol=0.1)


def test_a_lost_trajectory_is_told(rng):
    def log_density(parts):
        return float(-1e8 * (parts[0] ** 2).sum() / 2), [-1e8 * parts[0]]

    point = [np.full(1, 1e-4)]
    move = hmc_step(
        log_density,
        [EuclideanFlow(np.ones(1))],
        point,
        *log_density(point),
        step=0.5,
        n_steps=3,
        rng=rng,
    )
    assert move.divergent and move.point[0] is point[0]
