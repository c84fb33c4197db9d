"""Oracles of the samplers: the prior, which a right sampler leaves as it is; a posterior on a grid.

Every bound is in standard errors. ``BOUND`` is 6: a normal variable is beyond it once in 5e8 times. With
the few hundred statistics of this file, and standard errors that are themselves known to a few per cent, a
right program fails about once in 1e6 runs of the file.
"""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import k0
from scipy.stats import invwishart

from isthmus import BayesianStiefelRegression
from isthmus._geometry import Stiefel
from isthmus._solvers.chains import mean_ess
from isthmus.papers.kernel_dependency_thesis import MetropolisedGibbsRegression
from isthmus.papers.kernel_dependency_thesis.manifold_posterior import ManifoldPosterior
from isthmus.papers.kernel_dependency_thesis.sampler import metropolised_gibbs
from isthmus.regression.bayesian.chains import posterior_kind
from isthmus.regression.bayesian.draws import Start
from isthmus.regression.bayesian.gibbs import gibbs_chain
from isthmus.regression.bayesian.half_normal import IndependentFactorPosterior
from isthmus.regression.bayesian.hmc import hmc_chain
from isthmus.regression.bayesian.likelihoods import evaluation, get_likelihood
from isthmus.regression.bayesian.noise import Noise
from isthmus.regression.bayesian.posteriors import (
    DensePosterior,
    FactorPosterior,
    FreeFactorPosterior,
)
from isthmus.regression.bayesian.problem import Prior, Problem

BOUND = 6.0
SHORT_CHAINS = pytest.mark.filterwarnings(
    "ignore:The chains have not converged:sklearn.exceptions.ConvergenceWarning"
)  # where the standard errors, from the effective sample size, say how short the chains are


def problem_of(X, Y):
    """The problem of raw data without intercept, written out a second time."""
    squares, basis = np.linalg.eigh(X.T @ X)
    cross = basis.T @ (X.T @ Y)
    scatter = Y.T @ Y - cross.T @ (cross / squares[:, None])
    p, q = X.shape[1], Y.shape[1]
    units = np.ones(p), np.ones(q)
    rows = X @ basis, Y, None
    return Problem(
        squares, cross, basis, scatter.diagonal(), len(X), False, *units, *rows, scatter=scatter
    )


# -- the truth stays where it is ---------------------------------------------------------------
#
# Draw parameters from the prior and data given them: then the parameters are a draw from the posterior
# given these data, and so is every step of a right sampler that starts there. Over many such pairs the mean
# change of any quantity is 0, without warm-up and without any approximation.

# Few rows and much noise, so that the prior matters.
N_ROWS, SHAPE, RATE, VARIANCE = 5, 3.0, 6.0, 0.7


def draw_noise(rng, q, noise, power):
    if noise == "full":
        squares, axes = np.linalg.eigh(
            invwishart(2 * SHAPE + q - 1, 2 * RATE * np.eye(q)).rvs(random_state=rng)
        )
        return Noise(np.sqrt(squares), axes)
    scales = (RATE / rng.gamma(SHAPE, size=1 if noise == "common" else q)) ** (1 / power)
    return Noise(np.broadcast_to(scales, q).copy())


def draw_map(rng, p, q, r, prior):
    if prior == "normal":
        A, D = rng.normal(size=(p, r)), rng.normal(size=(q, r))
        return np.sqrt(VARIANCE) * A, np.sqrt(VARIANCE) * D
    if prior == "matrix_normal" and r == min(p, q):
        C = np.sqrt(VARIANCE) * rng.normal(size=(p, q))
        return (C, np.eye(q)) if q <= p else (np.eye(p), C.T)
    W, V = Stiefel(p, r).random_point(rng), Stiefel(q, r).random_point(rng)
    if prior == "half_normal":
        return W * np.sqrt(VARIANCE) * np.abs(rng.normal(size=r)), V
    # |A'A|^((q - r)/2) exp(-||A||^2 / 2v): A'A is a Wishart matrix of p + q - r degrees of freedom.
    G = rng.normal(size=(p + q - r, r))
    return np.sqrt(VARIANCE) * W @ np.linalg.cholesky(G.T @ G).T, V


def draw_residuals(rng, shape, noise, likelihood):
    if likelihood == "laplace":
        return noise.scales * rng.laplace(size=shape)
    if likelihood == "student":
        return noise.scales * rng.standard_t(4.0, size=shape)
    z = rng.normal(size=shape) * noise.scales
    return z if noise.axes is None else z @ noise.axes.T


def quantities(C, deviations, covariance):
    """Functions of a map and its noise with light tails."""
    found = [np.arctan(C[..., 0, 0]), np.arctan(C[..., 1, 1])]
    found += [np.log((C**2).sum(axis=(-1, -2))), *np.moveaxis(np.log(deviations), -1, 0)]
    if covariance is not None:
        found.append(covariance[..., 0, 1] / (deviations[..., 0] * deviations[..., 1]))
    return np.stack(found, axis=-1)


def run(sampler, problem, law, prior, start, rank, rng, kind=None):
    how = 0, {"gibbs": 4, "hmc": 5, "thesis": 20}[sampler], rng
    is_dense = prior.kind == "matrix_normal" and problem.is_full(rank)
    # Masses and steps may depend on the data, not on the truth.
    C = np.full((problem.n_features, problem.n_targets), 0.5) + np.eye(*problem.cross.shape)
    U, s, Vt = np.linalg.svd(C)
    typical = U[:, :rank] * s[:rank], Vt[:rank].T
    mode = Start(*typical, start.intercept, Noise(np.full(problem.n_targets, 1.5)))
    if sampler == "gibbs":
        return gibbs_chain(problem, law, prior, start, *how)
    if sampler == "thesis":
        return metropolised_gibbs(
            (kind or ManifoldPosterior)(problem, law, prior), mode, start, *how
        )
    kind = kind or posterior_kind(prior, is_dense)
    return hmc_chain(kind(problem, law, prior), mode, start, *how)


def mean_changes(case, n_pairs, shape, wrong=lambda prior: prior, kind=None, enough=np.inf):
    """Mean change of each quantity over the pairs, in standard errors.

    Every fifty pairs the largest is looked at, and no more are drawn once it is ``enough``.
    """
    sampler, prior, likelihood, noise = case
    p, q, r = shape
    law = get_likelihood(likelihood, 4.0)
    changes = []
    for seed in range(n_pairs):
        rng = np.random.default_rng(seed)
        A, D = draw_map(rng, p, q, r, prior)
        true = draw_noise(rng, q, noise, law.power)
        X = rng.normal(size=(N_ROWS, p))
        problem = problem_of(X, X @ A @ D.T + draw_residuals(rng, (N_ROWS, q), true, likelihood))
        start = Start(problem.basis.T @ A, D, np.zeros(q), true)
        own = wrong(Prior(prior, VARIANCE, SHAPE, RATE, noise))
        chain = run(sampler, problem, law, own, start, r, rng, kind)
        C = chain.left @ chain.right.transpose(0, 2, 1)
        drawn = quantities(C, chain.noise, chain.covariance).mean(axis=0)
        covariance = true.covariance if noise == "full" else None
        changes.append(drawn - quantities(A @ D.T, true.deviations, covariance))
        if len(changes) % 50 == 0 and np.abs(in_standard_errors(changes)).max() > enough:
            break
    return in_standard_errors(changes)


def in_standard_errors(changes):
    """Mean over the first axis."""
    changes = np.array(changes)
    return changes.mean(axis=0) / (changes.std(axis=0, ddof=1) / np.sqrt(len(changes)))


KINDS = ("per_output", "common", "full")
STATIONARY = [
    *(("gibbs", "normal", "gaussian", noise) for noise in KINDS),
    *(("gibbs", "matrix_normal", "gaussian", noise) for noise in KINDS),
    *(("gibbs", "normal", law, noise) for law in ("laplace", "student") for noise in KINDS[:2]),
    *(("gibbs", "matrix_normal", "laplace", noise) for noise in KINDS[:2]),
    *(("hmc", "normal", "gaussian", noise) for noise in KINDS),
    *(("hmc", "normal", "laplace", noise) for noise in KINDS[:2]),
    *(
        ("hmc", "half_normal", "gaussian", noise) for noise in KINDS[::2]
    ),  # noise has steps of its own
    ("hmc", "half_normal", "laplace", "per_output"),
    *(("hmc", "matrix_normal", "gaussian", noise) for noise in KINDS),
    *(("thesis", "half_normal", "gaussian", noise) for noise in KINDS),
    ("thesis", "half_normal", "laplace", "per_output"),
    ("thesis", "matrix_normal", "gaussian", "per_output"),
]
N_PAIRS = {"gibbs": 800, "hmc": 450, "thesis": 200}


def pairs_of(case):
    """Fewer of what takes a tenth of a second each; the bound is in standard errors."""
    return 100 if case[:2] == ("hmc", "half_normal") else N_PAIRS[case[0]]


def shape_of(case):
    """Rank one of 3 x 2; full rank for the map itself."""
    return (3, 2, 2) if case[:2] == ("gibbs", "matrix_normal") else (3, 2, 1)


@pytest.mark.parametrize("case", STATIONARY, ids="-".join)
def test_samplers_leave_the_prior_as_it_is(case):
    changes = mean_changes(case, pairs_of(case), shape_of(case))
    assert np.abs(changes).max() < BOUND, changes


@pytest.mark.parametrize(
    ("case", "shape"),
    [
        (("hmc", "matrix_normal", "gaussian", "per_output"), (3, 3, 2)),  # free factors
        (("hmc", "matrix_normal", "student", "per_output"), (2, 3, 2)),  # the map itself
        (("gibbs", "matrix_normal", "student", "per_output"), (2, 3, 2)),
        (("gibbs", "matrix_normal", "gaussian", "full"), (2, 3, 2)),
        (("hmc", "half_normal", "gaussian", "per_output"), (2, 2, 2)),  # the sign of det C
    ],
    ids=str,
)
def test_other_ranks_and_shapes_leave_it_too(case, shape):
    changes = mean_changes(case, pairs_of(case), shape)
    assert np.abs(changes).max() < BOUND, changes


class WithoutHastings(ManifoldPosterior):
    """The thesis' walk as printed: the density of s where that of log s is asked for."""

    def log_prior_of_s(self, log_s):
        value, slope = super().log_prior_of_s(log_s)
        return value - float(log_s.sum()), slope - 1.0


class WithoutJacobian(FreeFactorPosterior):
    """The density of the map alone, without the measure in which its factors are free."""

    def log_prior(self, parts):
        value, (slope, other) = super().log_prior(parts)
        A = parts[0]
        power = len(parts[1]) - A.shape[1]
        value -= 0.5 * power * float(np.linalg.slogdet(A.T @ A)[1])
        return value, [slope - power * A @ np.linalg.inv(A.T @ A), other]


class WithoutPoles(IndependentFactorPosterior):
    """Singular values that repel each other, as under the uniform measure on maps."""

    def log_prior(self, parts):
        value, slopes = super().log_prior(parts)
        U, s, Vt = np.linalg.svd(parts[0] @ parts[1].T)
        gap = s[0] ** 2 - s[1] ** 2
        inner = 2 / gap * (s[0] * np.outer(U[:, 0], Vt[0]) - s[1] * np.outer(U[:, 1], Vt[1]))
        return value + np.log(gap), [slopes[0] + inner @ parts[1], slopes[1] + inner.T @ parts[0]]

    def _log_rest(self, A, D):
        s = np.linalg.svd(A @ D.T, compute_uv=False)
        return super()._log_rest(A, D) + np.log(s[0] ** 2 - s[1] ** 2)


def wrong_power(prior):
    """A power of tau too many, as from one degree of freedom that was forgotten."""
    return replace(prior, noise_shape=prior.noise_shape + 1.0)


def wrong_scale(prior):
    return replace(prior, variance=4 * prior.variance)


FAULTS = {
    "no Hastings term": (
        ("thesis", "half_normal", "gaussian", "per_output"),
        {"kind": WithoutHastings},
    ),
    "no Jacobian": (("hmc", "matrix_normal", "gaussian", "per_output"), {"kind": WithoutJacobian}),
    "no poles": (("hmc", "half_normal", "gaussian", "per_output"), {"kind": WithoutPoles}),
    **{
        f"power of tau, {noise}": (("gibbs", "normal", "gaussian", noise), {"wrong": wrong_power})
        for noise in KINDS
    },
    "scale of the prior": (("gibbs", "normal", "gaussian", "per_output"), {"wrong": wrong_scale}),
    "scale, Laplace": (("gibbs", "normal", "laplace", "per_output"), {"wrong": wrong_power}),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_sampler_is_seen(fault):
    """Negative controls of the test above: the same pairs, one thing wrong, until it is seen."""
    case, options = FAULTS[fault]
    changes = mean_changes(case, N_PAIRS[case[0]], shape_of(case), enough=BOUND, **options)
    assert np.abs(changes).max() > BOUND, changes


# -- a posterior on a grid, 2 x 2 and rank one -------------------------------------------------

X_C = np.array([[1, 0], [0.5, 0.4], [-1, 0.2], [0.3, -0.5], [-0.8, -0.1], [0.2, 0.6]])
Y_C = np.array([[1.1, -0.2], [0.3, 0.1], [-0.9, 0.6], [0.8, 0.1], [-0.4, 0.5], [-0.1, -0.4]])
RAW = {"units": "none", "fit_intercept": False, "random_state": 0}


def errors_of(draws):
    """Mean of draws (n_chains, n_draws, m) and its Monte Carlo standard error."""
    flat = draws.reshape(-1, draws.shape[2])
    return flat.mean(axis=0), flat.std(axis=0) / np.sqrt(mean_ess(draws))


def maps_of(model):
    draws = model.coef_draws_.transpose(0, 1, 3, 2)
    return draws.reshape(*draws.shape[:2], -1)


def marginal(maps, likelihood, noise):
    """Log likelihood of maps (m, 2, 2), the noise integrated out under its scale-free law."""
    E = Y_C - X_C @ maps
    n, q = Y_C.shape
    if noise == "full":
        return -0.5 * (n + q - 1) * np.linalg.slogdet(E.transpose(0, 2, 1) @ E)[1]
    sizes = np.abs(E).sum(axis=1) if likelihood == "laplace" else (E**2).sum(axis=1)
    power = n if likelihood == "laplace" else n / 2
    if noise == "common":
        return -power * q * np.log(sizes.sum(axis=1))
    return -power * np.log(sizes).sum(axis=1)


# Log density of the singular value, up to a constant.
SINGULAR_VALUE = {
    "normal": lambda s: np.log(s * k0(s)),  # of a product of two Gaussian vectors of length two
    "half_normal": lambda s: -(s**2) / 8,
    "matrix_normal": lambda s: 2 * np.log(s) - s**2 / 8,
}


def grid_mean(prior, likelihood, noise):
    """Posterior mean of C = s w v' over angles and log s: shares nothing with a sampler."""
    angles = np.linspace(0, 2 * np.pi, 96, endpoint=False)
    half = np.linspace(0, np.pi, 48, endpoint=False)  # (w, v) and (-w, -v) are the same map
    log_s = np.linspace(-6, 2.5, 100)
    w = np.stack([np.cos(half), np.sin(half)])
    v = np.stack([np.cos(angles), np.sin(angles)])
    maps = (np.exp(log_s)[:, None, None, None, None] * np.einsum("ai,bj->ijab", w, v)).reshape(
        -1, 2, 2
    )
    logs = marginal(maps, likelihood, noise)
    logs += np.repeat(SINGULAR_VALUE[prior](np.exp(log_s)) + log_s, 48 * 96)
    weights = np.exp(logs - logs.max())
    return (weights[:, None, None] * maps).sum(axis=0).ravel() / weights.sum()


@pytest.mark.parametrize(
    ("prior", "likelihood", "published"),
    [
        ("normal", "gaussian", [0.84754, -0.32363, -0.42227, 0.14679]),
        ("normal", "laplace", [0.83279, -0.31330, -0.43009, 0.14346]),
        ("half_normal", "gaussian", [0.85140, -0.32443, -0.42988, 0.14915]),
    ],
)
def test_the_grid_is_right(prior, likelihood, published):
    """The specification's own grid, for one noise level."""
    assert_allclose(grid_mean(prior, likelihood, "common"), published, atol=4e-3)


ON_GRID = [
    *(("normal", "gaussian", noise, "gibbs", 1500) for noise in KINDS),
    *(("normal", "laplace", noise, "gibbs", 600) for noise in KINDS[:2]),
    ("normal", "gaussian", "per_output", "hmc", 300),
    ("normal", "laplace", "per_output", "hmc", 300),
    ("half_normal", "gaussian", "full", "hmc", 300),
    ("half_normal", "gaussian", "per_output", "thesis", 1500),
    ("matrix_normal", "gaussian", "per_output", "hmc", 300),
]


@SHORT_CHAINS
@pytest.mark.parametrize(("prior", "likelihood", "noise", "sampler", "n_draws"), ON_GRID)
def test_samplers_agree_with_the_grid(prior, likelihood, noise, sampler, n_draws):
    kind = MetropolisedGibbsRegression
    if sampler != "thesis":
        kind = partial(BayesianStiefelRegression, sampler=sampler)
    model = kind(
        1,
        prior=prior,
        prior_variance=1.0 if prior == "normal" else 4.0,
        likelihood=likelihood,
        noise=noise,
        n_draws=n_draws,
        n_warmup=200,
        n_chains=2,
        **RAW,
    ).fit(X_C, Y_C)
    mean, error = errors_of(maps_of(model))
    assert (np.abs(mean - grid_mean(prior, likelihood, noise)) < BOUND * error).all()
    assert (error < 0.1).all()
    assert model.sampler_ == {"thesis": "metropolised gibbs"}.get(sampler, sampler)


# -- conjugate answers at full rank ------------------------------------------------------------


def beyond(draws, mean, variance):
    """How far mean and variance of draws (n_chains, n_draws, m) are from those known, in errors."""
    squares = (draws - mean) ** 2
    first, error = errors_of(draws)
    second, other = errors_of(squares)
    return np.concatenate([(first - mean) / error, (second - variance) / other])


@pytest.mark.parametrize("shape", [(3, 2), (2, 2), (2, 3)], ids=str)
@pytest.mark.parametrize(
    ("sampler", "noise"),
    [("gibbs", "per_output"), ("gibbs", "common"), ("gibbs", "full"), ("hmc", "per_output")],
)
def test_full_rank_is_the_matrix_normal_posterior(sampler, noise, shape):
    """Density exp(-||C||^2 / 2v) on all maps: given the noise, C is Gaussian about the ridge fit.

    The noise is known to be 1 in the units of the priors: the deviations of the outputs.
    """
    p, q = shape
    rng = np.random.default_rng(1)
    X = rng.normal(size=(12, p))
    Y = X @ rng.normal(size=(p, q)) + rng.normal(size=(12, q))
    Y *= np.geomspace(0.01, 100, q)
    units = "common" if noise == "common" else "outputs"
    model = BayesianStiefelRegression(
        None,
        prior="matrix_normal",
        prior_variance=1.5,
        noise=noise,
        noise_prior=(3e6, 3e6),
        units=units,
        fit_intercept=False,
        sampler=sampler,
        n_chains=2,
        n_warmup=200,
        n_draws=700 if sampler == "hmc" else 2000,
        random_state=0,
    ).fit(X, Y)
    report = model.diagnostics_
    assert report.rhat < 1.05 and report.ess_bulk > 300 and model.sampler_ == sampler
    unit_x = np.sqrt((X**2).mean())
    unit = np.sqrt((Y**2).mean(axis=0))
    if noise == "common":
        unit = np.full(q, np.sqrt((Y**2).mean()))
    mean, variance = np.empty((p, q)), np.empty((p, q))
    for j in range(q):
        precision = X.T @ X / unit[j] ** 2 + np.eye(p) * unit_x**2 / (1.5 * unit[j] ** 2)
        mean[:, j] = np.linalg.solve(precision, X.T @ Y[:, j] / unit[j] ** 2)
        variance[:, j] = np.diag(np.linalg.inv(precision))
    scores = beyond(maps_of(model), mean.ravel(), variance.ravel())
    assert np.abs(scores).max() < BOUND, scores
    assert_allclose(model.noise_scale_, unit, rtol=2e-3)


@pytest.mark.parametrize("noise", KINDS)
def test_noise_of_a_flat_prior_is_that_of_the_textbook(noise):
    """At full rank without a prior to speak of: inverse gamma scales, an inverse Wishart covariance."""
    rng = np.random.default_rng(2)
    n, p, q = 25, 2, 3
    X = rng.normal(size=(n, p)) + 3
    mixing = np.array([[1.0, 0, 0], [0.8, 0.4, 0], [0, 30, 10]])
    Y = X @ rng.normal(size=(p, q)) + rng.normal(size=(n, q)) @ mixing.T - 7
    model = BayesianStiefelRegression(
        None,
        prior="matrix_normal",
        prior_variance=1e8,
        noise=noise,
        units="columns",
        random_state=0,
    ).fit(X, Y)
    unit = Y.std(axis=0)
    centred = (Y - Y.mean(axis=0)) / unit
    inputs = X - X.mean(axis=0)
    E = centred - inputs @ np.linalg.lstsq(inputs, centred, rcond=None)[0]
    draws = (model.noise_draws_ / unit) ** 2
    if noise == "full":
        draws = (model.noise_covariance_draws_ / np.outer(unit, unit)).reshape(4, 1000, q * q)
        expected = (E.T @ E).ravel() / (n - p - 3)
    elif noise == "per_output":
        expected = (E**2).sum(axis=0) / (n - 1 - p - 2)
    else:
        expected = np.full(q, (E**2).sum() / (q * (n - 1 - p) - 2))
    mean, error = errors_of(draws)
    assert (np.abs(mean - expected) < BOUND * error).all(), (mean, expected)
    if noise == "full":
        assert_allclose(model.noise_covariance_, model.noise_covariance_.T)
        found = np.sqrt(np.diagonal(model.noise_covariance_draws_, axis1=2, axis2=3))
        assert_allclose(found, model.noise_draws_)


# -- gradients ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "likelihood", ["gaussian", "laplace", "student", "huber", "log_cosh", "poisson"]
)
@pytest.mark.parametrize(
    "build",
    [
        FactorPosterior,
        ManifoldPosterior,
        FreeFactorPosterior,
        IndependentFactorPosterior,
        DensePosterior,
    ],
)
@pytest.mark.parametrize("noise", KINDS)
def test_gradients_are_finite_differences(likelihood, build, noise):
    if noise == "full" and likelihood != "gaussian":
        noise = "common"
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(9, 4)), rng.poisson(2.0, size=(9, 3)).astype(float)
    problem = problem_of(X, Y)
    kinds = {
        FactorPosterior: "normal",
        ManifoldPosterior: "half_normal",
        IndependentFactorPosterior: "half_normal",
    }
    prior = Prior(kinds.get(build, "matrix_normal"), 0.7, 2.0, 0.5, noise)
    for kind in {prior.kind, "matrix_normal" if build is ManifoldPosterior else prior.kind}:
        posterior = build(problem, get_likelihood(likelihood, 4.0), replace(prior, kind=kind))
        axes = np.linalg.qr(rng.normal(size=(3, 3)))[0] if noise == "full" else None
        scales = np.full(3, 0.8) if noise == "common" else np.array([0.8, 0.3, 2.0])
        rank = 3 if build is DensePosterior else 2
        factors = rng.normal(size=(4, rank)), rng.normal(size=(3, rank))
        parts = posterior.pack(Start(*factors, np.zeros(3), Noise(scales, axes)))
        value, gradient = posterior(parts)
        assert_allclose(posterior.value(parts), value)
        for j, part in enumerate(parts):
            direction = rng.normal(size=part.shape)
            steps = 1e-6 * direction, -1e-6 * direction
            moved = [[x + h if i == j else x for i, x in enumerate(parts)] for h in steps]
            slope = (posterior(moved[0])[0] - posterior(moved[1])[0]) / 2e-6
            assert_allclose((gradient[j] * direction).sum(), slope, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_what_decides_on_a_redraw_is_the_prior_over_its_gaussian_part(rank):
    """``log_prior`` minus the Gaussian factors of ``redraw_factors``, which it does not compute."""
    rng = np.random.default_rng(rank)
    problem = problem_of(rng.normal(size=(9, 4)), rng.normal(size=(9, 3)))
    posterior = IndependentFactorPosterior(
        problem, get_likelihood("gaussian", 4.0), Prior("half_normal", 0.7, 2.0, 0.5, "common")
    )
    extra = 12  # degrees of freedom of D beside the number of outputs
    A, D = rng.normal(size=(4, rank)), rng.normal(size=(3, rank))
    gaussian = -0.5 * (((A @ D.T) ** 2).sum() / 0.7 + (D**2).sum())
    gaussian += 0.5 * extra * np.linalg.slogdet(D.T @ D)[1]
    expected = posterior.log_prior([A, D])[0] - gaussian
    assert_allclose(posterior._log_rest(A, D), expected, rtol=1e-12)
    A[:, -1] = D[:, -1] = 0.0  # a lost rank has no density
    assert posterior._log_rest(A, D) == -np.inf == posterior.log_prior([A, D])[0]


def test_the_two_evaluations_agree():
    """Moments and rows, up to a constant: the Gaussian density is that of the squared loss."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(9, 4)), rng.normal(size=(9, 3))
    problem = problem_of(X, Y)
    law = get_likelihood("gaussian", 4.0)
    rows = evaluation(problem, get_likelihood("huber", 4.0))
    rows.loss = law.loss
    moments = evaluation(problem, law)
    moments.noise = Noise(np.array([0.5, 1.0, 2.0]))
    log_tau = np.log(moments.noise.scales)
    differences = []
    for _ in range(3):
        left, right = rng.normal(size=(4, 2)), rng.normal(size=(3, 2))
        own, other = (e.value_and_gradient(left, right, None, log_tau) for e in (moments, rows))
        differences.append(own[0] - other[0])
        assert_allclose(own[1], other[1])
        assert_allclose(own[2], other[2])
    assert_allclose(differences, differences[0])
