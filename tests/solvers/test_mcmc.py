"""Chain statistics against ArviZ and known chains; step lengths; leave-one-out scores."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus._geometry import EuclideanFlow
from isthmus._solvers.chains import bulk_ess, mean_ess, split_rhat, tail_ess
from isthmus._solvers.mcmc import (
    DualAveraging,
    hmc_step,
    metropolis_accepts,
    warmup_windows,
)
from isthmus._solvers.psis import psis_loo, smooth_weights
from isthmus.papers.kernel_dependency_thesis.sampler import AcceptanceTuner


def autoregressive(rho, n_chains, n_draws, seed=0):
    """Stationary chains whose effective sample size is n (1 - rho) / (1 + rho)."""
    rng = np.random.default_rng(seed)
    x = np.empty((n_chains, n_draws))
    x[:, 0] = rng.normal(size=n_chains)
    noise = np.sqrt(1 - rho**2) * rng.normal(size=(n_chains, n_draws))
    for t in range(1, n_draws):
        x[:, t] = rho * x[:, t - 1] + noise[:, t]
    return x


@pytest.fixture
def arviz():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("arviz", reason="the peer of chain statistics is not installed")


@pytest.mark.parametrize("rho", [-0.5, 0.0, 0.5, 0.9])
@pytest.mark.parametrize("shape", [(4, 1000), (2, 500), (3, 251)])
def test_statistics_are_those_of_arviz(rho, shape, arviz):
    x = autoregressive(rho, *shape)
    assert_allclose(split_rhat(x), arviz.rhat(x), rtol=1e-6)
    assert_allclose(bulk_ess(x), arviz.ess(x, method="bulk"), rtol=0.02)
    assert_allclose(mean_ess(x), arviz.ess(x, method="mean"), rtol=0.02)
    assert_allclose(tail_ess(x), arviz.ess(x, method="tail"), rtol=0.05)


@pytest.mark.parametrize("rho", [-0.5, 0.0, 0.5, 0.9])
def test_effective_sample_size_of_a_known_chain(rho):
    x = autoregressive(rho, 4, 8000)
    # The estimate's own deviation is 2 % to 4 %, of the slowest chain 6 %: six of them.
    assert_allclose(mean_ess(x), 32000 * (1 - rho) / (1 + rho), rtol=0.36 if rho == 0.9 else 0.25)


def test_many_quantities_at_once_and_constant_ones():
    x = np.stack([autoregressive(0.3, 4, 200, seed) for seed in range(3)], axis=2)
    x = np.concatenate([x, np.ones((4, 200, 1))], axis=2)
    assert bulk_ess(x).shape == split_rhat(x).shape == tail_ess(x).shape == (4,)
    assert_allclose(bulk_ess(x)[1], bulk_ess(x[:, :, 1]))
    assert np.isnan(bulk_ess(x)[3])


def test_chains_that_disagree_are_seen():
    x = autoregressive(0.0, 4, 500)
    assert split_rhat(x) < 1.01
    apart = x + np.arange(4)[:, None]
    assert split_rhat(apart) > 1.2 and bulk_ess(apart) < 20
    drifting = x + np.linspace(0, 3, 500)
    assert split_rhat(drifting) > 1.2
    wider = (
        x * np.array([1, 1, 1, 4])[:, None]
    )  # same mean, other spread: only the folded ranks see it
    assert split_rhat(wider) > 1.05


def test_short_or_flat_input_is_refused():
    with pytest.raises(ValueError, match="at least 4"):
        split_rhat(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="shape"):
        bulk_ess(np.zeros(10))


def test_leave_one_out_is_that_of_arviz(arviz):
    rng = np.random.default_rng(0)
    logs = -0.5 * rng.normal(size=(2000, 6)) ** 2 * np.array([0.1, 0.5, 1, 2, 4, 8])
    ours = psis_loo(logs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        weights, shapes = arviz.psislw(-logs.T.copy())
    assert_allclose(ours.pareto_k, shapes, atol=0.02)
    for i in range(6):
        assert_allclose(smooth_weights(-logs[:, i])[0], np.asarray(weights)[i], atol=0.02)


def test_leave_one_out_of_a_conjugate_model():
    """Known variance, flat prior on a mean: the predictive law without a row is in closed form."""
    rng = np.random.default_rng(1)
    y, S = rng.normal(size=30), 20000
    mean = y.mean() + rng.normal(size=S) / np.sqrt(30)
    logs = -0.5 * (y - mean[:, None]) ** 2 - 0.5 * np.log(2 * np.pi)
    without = (y.sum() - y) / 29
    variance = 1 + 1 / 29
    exact = -0.5 * (y - without) ** 2 / variance - 0.5 * np.log(2 * np.pi * variance)
    loo = psis_loo(logs)
    assert_allclose(loo.pointwise, exact, atol=0.01)
    assert (loo.pareto_k < 0.5).all() and abs(loo.elpd - exact.sum()) < 0.05
    assert loo.standard_error > 0


def test_dual_averaging_finds_the_step_of_its_target():
    tuner = DualAveraging(1.0)
    for _ in range(2000):
        tuner.update(float(np.exp(-tuner.step)))  # acceptance 0.8 at step -log 0.8
    assert_allclose(tuner.settle(), -np.log(0.8), rtol=0.05)


def test_the_step_of_a_gaussian_has_its_target_acceptance():
    """Steps found during warm-up, then kept: what is accepted after it is near the target."""
    rng = np.random.default_rng(0)
    variance = np.geomspace(0.1, 1.0, 20)

    def log_density(parts):
        return float(-0.5 * (parts[0] ** 2 / variance).sum()), [-parts[0] / variance]

    flows, point, accepted = [EuclideanFlow(np.ones(20))], [np.zeros(20)], []
    value, gradient = log_density(point)
    tuner = DualAveraging(0.1, gamma=0.1)
    for i in range(1500):
        n_steps = int(np.ceil(rng.uniform(0.5, 1.5) / tuner.step))
        move = hmc_step(
            log_density, flows, point, value, gradient, step=tuner.step, n_steps=n_steps, rng=rng
        )
        point, value, gradient = move.point, move.log_density, move.gradient
        if i < 500:
            tuner.update(move.accept)
        if i == 499:
            tuner.settle()
        if i >= 500:
            accepted.append(move.accept)
    assert abs(np.mean(accepted) - 0.8) < 0.08, np.mean(accepted)


def test_a_random_walk_finds_its_scale():
    tuner = AcceptanceTuner(10.0, 0.35)
    for _ in range(3000):
        tuner.update(float(np.exp(-tuner.step)))
    assert_allclose(tuner.step, -np.log(0.35), rtol=0.05)


def test_metropolis_takes_what_is_better_and_refuses_nan():
    rng = np.random.default_rng(0)
    assert metropolis_accepts(0.1, rng) == (True, 1.0)
    assert metropolis_accepts(float("nan"), rng) == (False, 0.0)
    assert metropolis_accepts(-np.inf, rng) == (False, 0.0)
    shares = [metropolis_accepts(np.log(0.3), rng)[0] for _ in range(4000)]
    assert abs(np.mean(shares) - 0.3) < 6 * np.sqrt(0.21 / 4000)  # one false alarm in 5e8


@pytest.mark.parametrize("n", [0, 10, 40, 500, 3000])
def test_windows_lie_inside_the_warm_up(n):
    ends = warmup_windows(n)
    assert all(0 < a < b for a, b in pairwise(ends)) and all(0 < end < n for end in ends)
    assert bool(ends) == (n >= 40)
