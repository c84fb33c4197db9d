"""Oracles: a posterior on a grid, conjugate answers, calibration by simulation, known invariances."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.special import k0
from scipy.stats import chi2
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from isthmus import BayesianStiefelRegression, ReducedRankRegression, StiefelRegression
from isthmus.datasets import make_low_rank_regression
from isthmus.losses import Huber, Quantile
from isthmus.regression.bayesian.chains import ChainReport
from isthmus.regression.bayesian.draws import Start
from isthmus.regression.bayesian.gibbs import gibbs_gaussian, gibbs_mixture
from isthmus.regression.bayesian.likelihoods import evaluation, get_likelihood
from isthmus.regression.bayesian.manifold import FactorPosterior, ManifoldPosterior, thesis_chain
from isthmus.regression.bayesian.problem import Prior, Problem
from isthmus.solvers.chains import mean_ess

X_C = np.array([[1, 0], [0.5, 0.4], [-1, 0.2], [0.3, -0.5], [-0.8, -0.1], [0.2, 0.6]])
Y_C = np.array([[1.1, -0.2], [0.3, 0.1], [-0.9, 0.6], [0.8, 0.1], [-0.4, 0.5], [-0.1, -0.4]])
RAW = {"units": "none", "fit_intercept": False, "random_state": 0}
SHORT = {"n_chains": 2, "n_warmup": 100, "n_draws": 200, "random_state": 0}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@parametrize_with_checks([BayesianStiefelRegression(2, n_chains=2, n_warmup=30, n_draws=60)])
def test_scikit_learn_contract(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


def errors_of(model):
    """Posterior mean of the map, flat (p q,), and its Monte Carlo standard errors."""
    draws = model.coef_draws_.transpose(0, 1, 3, 2).reshape(model.n_chains, model.n_draws, -1)
    flat = draws.reshape(-1, draws.shape[2])
    return flat.mean(axis=0), flat.std(axis=0) / np.sqrt(mean_ess(draws))


# -- a posterior on a grid, 2 x 2 and rank one ------------------------------------------------


def grid_mean(log_likelihood, log_prior, jacobian=True):
    """Posterior mean of C = s w v' over angles, log s and log tau: shares nothing with a sampler."""
    angles = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    half = np.linspace(0, np.pi, 24, endpoint=False)  # (w, v) and (-w, -v) are the same map
    log_s, log_tau = np.linspace(-6, 1.6, 70), np.linspace(-3.2, 0.9, 50)
    w = np.stack([np.cos(half), np.sin(half)])
    v = np.stack([np.cos(angles), np.sin(angles)])
    C = np.exp(log_s)[:, None, None, None, None] * np.einsum("ai,bj->ijab", w, v)
    flat = C.reshape(-1, 2, 2)
    logs = log_likelihood(flat, log_tau)  # (m, taus)
    logs = logs + np.repeat(log_prior(np.exp(log_s)) + jacobian * log_s, 24 * 48)[:, None]
    weights = np.exp(logs - logs.max()).sum(axis=1)
    return (weights[:, None, None] * flat).sum(axis=0) / weights.sum()


def gaussian_logs(flat, log_tau, X=X_C, Y=Y_C):
    rss = ((Y - X @ flat) ** 2).sum(axis=(1, 2))[:, None]
    return -Y.size * log_tau - rss / 2 * np.exp(-2 * log_tau)


def laplace_logs(flat, log_tau):
    size = np.abs(Y_C - X_C @ flat).sum(axis=(1, 2))[:, None]
    return -Y_C.size * log_tau - size * np.exp(-log_tau)


def normal_factors(s):  # the singular value of a product of two Gaussian vectors of length two
    return np.log(s * k0(s))


def half_normal(s):
    return -(s**2) / 8


GRID = {
    ("normal", "gaussian"): (normal_factors, gaussian_logs),
    ("normal", "laplace"): (normal_factors, laplace_logs),
    ("half_normal", "gaussian"): (half_normal, gaussian_logs),
}
PUBLISHED = {  # the specification's own grid
    ("normal", "gaussian"): [0.84754, -0.32363, -0.42227, 0.14679],
    ("normal", "laplace"): [0.83279, -0.31330, -0.43009, 0.14346],
    ("half_normal", "gaussian"): [0.85140, -0.32443, -0.42988, 0.14915],
}


@pytest.mark.parametrize("case", GRID, ids=" ".join)
def test_the_grid_is_right(case):
    prior, logs = GRID[case]
    assert_allclose(grid_mean(logs, prior).ravel(), PUBLISHED[case], atol=4e-3)


@pytest.mark.parametrize(
    ("case", "sampler", "n_draws"),
    [
        (("normal", "gaussian"), "gibbs", 2500),
        (("normal", "laplace"), "gibbs", 1500),
        (("normal", "gaussian"), "hmc", 500),
        (("normal", "laplace"), "hmc", 400),
        (("half_normal", "gaussian"), "hmc", 500),
        (("half_normal", "gaussian"), "thesis", 2500),
    ],
    ids=str,
)
def test_samplers_agree_with_the_grid(case, sampler, n_draws):
    prior, likelihood = case
    variance = 4.0 if prior == "half_normal" else 1.0
    model = BayesianStiefelRegression(
        1,
        prior=prior,
        prior_variance=variance,
        likelihood=likelihood,
        sampler=sampler,
        n_draws=n_draws,
        n_chains=2,
        **RAW,
    ).fit(X_C, Y_C)
    mean, error = errors_of(model)
    assert (np.abs(mean - PUBLISHED[case]) < 4 * error).all()
    assert (error < 0.03).all() and model.sampler_ == sampler


# -- negative control: the thesis' walk without its Hastings term -----------------------------


def thesis_on_example(hastings, n_draws=6000, seed=0):
    likelihood = get_likelihood("gaussian", 4.0)
    problem = problem_of(X_C[:4], Y_C[:4])
    prior = Prior("half_normal", 4.0, 2.0, 0.2)
    posterior = ManifoldPosterior(problem, likelihood, prior, hastings=hastings)
    start = Start(
        problem.basis.T @ np.array([[0.9], [-0.4]]), np.array([[1.0], [-0.3]]), np.zeros(2), 0.3
    )
    chain = thesis_chain(posterior, start, 500, n_draws, np.random.default_rng(seed))
    return np.linalg.norm(chain.left[:, :, 0], axis=1) * np.linalg.norm(
        chain.right[:, :, 0], axis=1
    )


def problem_of(X, Y):
    """The problem of raw data without intercept, written out a second time."""
    squares, basis = np.linalg.eigh(X.T @ X)
    cross = basis.T @ (X.T @ Y)
    rest = (Y**2).sum() - (cross**2 / squares[:, None]).sum()
    p, q = X.shape[1], Y.shape[1]
    return Problem(
        squares, cross, basis, rest, len(X), False, np.ones(p), np.ones(q), X @ basis, Y, None
    )


def test_without_the_hastings_term_the_singular_value_is_wrong():
    """Without it the prior sampled is p(s)/s: too small, and not even proper."""
    right, wrong = thesis_on_example(True), thesis_on_example(False)
    grid = grid_singular_value()
    error = right.std() / np.sqrt(mean_ess(right[None]))
    assert abs(right.mean() - grid) < 4 * error
    error = wrong.std() / np.sqrt(mean_ess(wrong[None]))
    assert wrong.mean() < grid - 4 * error  # fails the test that the right one passes


def grid_singular_value():
    """Mean of s on a grid of log s, log tau and two angles."""
    log_s, log_tau = np.linspace(-10, 3, 110), np.linspace(-3.5, 1.5, 60)
    w = np.linspace(0, np.pi, 24, endpoint=False)
    v = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    maps = np.einsum("ia,jb->ijab", np.c_[np.cos(w), np.sin(w)], np.c_[np.cos(v), np.sin(v)])
    flat = (np.exp(log_s)[:, None, None, None, None] * maps).reshape(-1, 2, 2)
    noise = -2 * 2.0 * log_tau - 0.2 * np.exp(-2 * log_tau)
    logs = gaussian_logs(flat, log_tau, X_C[:4], Y_C[:4]) + noise
    s = np.repeat(np.exp(log_s), 24 * 48)
    logs = logs + (half_normal(s) + np.log(s))[:, None]
    weights = np.exp(logs - logs.max()).sum(axis=1)
    return (weights * s).sum() / weights.sum()


# -- calibration by simulation ----------------------------------------------------------------

N_SIMULATIONS, N_RANKS, N_BINS = 150, 39, 8


def uniformity(ranks):
    """P value of the chi-square test that ranks 0..N_RANKS are uniform."""
    counts = np.bincount(np.asarray(ranks) * N_BINS // (N_RANKS + 1), minlength=N_BINS)
    expected = len(ranks) / N_BINS
    return float(chi2.sf(((counts - expected) ** 2 / expected).sum(), N_BINS - 1))


def calibrate(kind, likelihood, simulate, thin, n_warmup, n_simulations=N_SIMULATIONS):
    """Ranks of true quantities among draws of their posterior."""
    ranks = []
    for seed in range(n_simulations):
        rng = np.random.default_rng(seed)
        n, p, q = 8, 3, 2
        X = rng.normal(size=(n, p))
        A, D, noise = simulate(rng, p, q)
        residual = rng.laplace(size=(n, q)) if likelihood == "laplace" else rng.normal(size=(n, q))
        Y = X @ A @ D.T + noise * residual
        problem = problem_of(X, Y)
        start = Start(problem.basis.T @ A, D, np.zeros(q), noise)
        chain = kind(problem, get_likelihood(likelihood, 4.0), start, n_warmup, N_RANKS * thin, rng)
        kept = slice(thin - 1, None, thin)
        C = chain.left[kept] @ chain.right[kept].transpose(0, 2, 1)
        drawn = np.column_stack([C[:, 0, 0], C[:, 2, 1], chain.noise[kept], np.abs(C).sum((1, 2))])
        true = np.array([(A @ D.T)[0, 0], (A @ D.T)[2, 1], noise, np.abs(A @ D.T).sum()])
        ranks.append((drawn < true).sum(axis=0))
    return np.array(ranks)


NOISE = (3.0, 1.0)  # proper, so that data can be simulated from the prior


def from_normal_prior(power):
    def simulate(rng, p, q):
        noise = (NOISE[1] / rng.gamma(NOISE[0])) ** (1 / power)
        return rng.normal(size=(p, 1)), rng.normal(size=(q, 1)), noise

    return simulate


def from_half_normal_prior(rng, p, q):
    w, v = rng.normal(size=(p, 1)), rng.normal(size=(q, 1))
    s, noise = abs(rng.normal()), np.sqrt(NOISE[1] / rng.gamma(NOISE[0]))
    return s * w / np.linalg.norm(w), v / np.linalg.norm(v), noise


def run_gibbs(problem, likelihood, start, n_warmup, n_draws, rng):
    prior = Prior("normal", 1.0, *NOISE)
    if likelihood.name == "gaussian":
        return gibbs_gaussian(problem, prior, start, n_warmup, n_draws, rng)
    return gibbs_mixture(problem, likelihood, prior, start, n_warmup, n_draws, rng)


@pytest.mark.parametrize(("likelihood", "power", "thin"), [("gaussian", 2, 5), ("laplace", 1, 10)])
def test_ranks_of_the_truth_are_uniform(likelihood, power, thin):
    ranks = calibrate(run_gibbs, likelihood, from_normal_prior(power), thin, 60)
    p_values = [uniformity(column) for column in ranks.T]
    assert min(p_values) > 0.002, p_values


@pytest.mark.parametrize("hastings", [True, False])
def test_the_thesis_walk_is_calibrated_only_with_its_hastings_term(hastings):
    def run(problem, likelihood, start, n_warmup, n_draws, rng):
        posterior = ManifoldPosterior(problem, likelihood, prior, hastings=hastings)
        return thesis_chain(posterior, start, n_warmup, n_draws, rng)

    prior = Prior("half_normal", 1.0, *NOISE)
    n_simulations = 60 if hastings else 30  # the failure is gross
    ranks = calibrate(run, "gaussian", from_half_normal_prior, 10, 60, n_simulations)
    p_size = uniformity(ranks[:, 3])
    assert p_size > 0.002 if hastings else p_size < 1e-4


# -- gradients --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "likelihood", ["gaussian", "laplace", "student", "huber", "log_cosh", "poisson"]
)
@pytest.mark.parametrize("kind", ["normal", "half_normal", "matrix_normal"])
def test_gradients_are_finite_differences(likelihood, kind):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(9, 4)), rng.poisson(2.0, size=(9, 3)).astype(float)
    problem = problem_of(X, Y)
    law, prior = get_likelihood(likelihood, 4.0), Prior(kind, 0.7, 2.0, 0.5)
    build = FactorPosterior if kind == "normal" else ManifoldPosterior
    posterior = build(problem, law, prior)
    start = Start(rng.normal(size=(4, 2)), rng.normal(size=(3, 2)), np.zeros(3), 0.8)
    parts = posterior.pack(start)
    value, gradient = posterior(parts)
    assert_allclose(
        posterior.evaluation.value(*_arguments(posterior, parts)),
        evaluation(posterior.problem, law).value_and_gradient(*_arguments(posterior, parts))[0],
    )
    for j, part in enumerate(parts):
        direction = rng.normal(size=part.shape)
        moved = [
            [p + h * direction if i == j else p for i, p in enumerate(parts)] for h in (1e-6, -1e-6)
        ]
        slope = (posterior(moved[0])[0] - posterior(moved[1])[0]) / 2e-6
        assert_allclose((gradient[j] * direction).sum(), slope, rtol=1e-5, atol=1e-5)
    assert np.isfinite(value)


def _arguments(posterior, parts):
    left, right, noise, b = posterior.unpack(parts)
    return left, right, b, np.log(noise)


# -- conjugate answers and invariances --------------------------------------------------------


@pytest.mark.parametrize(
    ("sampler", "shape"), [("hmc", (3, 2)), ("thesis", (3, 2)), ("hmc", (2, 2))], ids=str
)
def test_full_rank_is_the_matrix_normal_posterior(sampler, shape):
    """Density exp(-||C||^2 / 2v) on all maps: given the noise, C is Gaussian about the ridge fit."""
    p, q = shape
    rng = np.random.default_rng(1)
    X = rng.normal(size=(12, p))
    Y = X @ rng.normal(size=(p, q)) + rng.normal(size=(12, q))
    model = BayesianStiefelRegression(
        None,
        prior="matrix_normal",
        prior_variance=1.5,
        noise_prior=(3e6, 3e6),  # the noise is known to be 1
        sampler=sampler,
        n_chains=2,
        n_warmup=200 if sampler == "hmc" else 500,
        n_draws=300 if sampler == "hmc" else 2500,
        **RAW,
    ).fit(X, Y)
    precision = X.T @ X + np.eye(p) / 1.5
    mean, error = errors_of(model)
    assert (np.abs(mean - np.linalg.solve(precision, X.T @ Y).ravel()) < 4.5 * error).all()
    draws = model.coef_draws_.transpose(0, 1, 3, 2).reshape(-1, p, q)
    spread = draws.std(axis=0)
    expected = np.sqrt(np.diag(np.linalg.inv(precision)))[:, None]
    assert_allclose(spread, np.broadcast_to(expected, (p, q)), rtol=0.25)


def least_squares(X, Y):
    Xc = X - X.mean(axis=0)
    return Xc, np.linalg.lstsq(Xc, Y - Y.mean(axis=0))[0]


def test_much_data_give_the_least_squares_answer():
    """Full rank: mean and spread of the textbook, those of predictions included."""
    n = 40_000
    X, Y, _ = make_low_rank_regression(n, 4, 3, rank=3, noise=1.0, bias=2.0, random_state=0)
    options = {**SHORT, "n_draws": 1500}
    model = BayesianStiefelRegression(None, prior_variance=1e4, **options).fit(X, Y)
    Xc, C = least_squares(X, Y)
    mean, error = errors_of(model)
    assert (np.abs(mean - C.ravel()) < 4.5 * error).all() and error.max() < 2e-4
    rss = ((Y - Y.mean(axis=0) - Xc @ C) ** 2).sum()
    assert_allclose(model.noise_scale_[0], np.sqrt(rss / (3 * (n - 5))), rtol=0.002)
    spread = model.coef_draws_.reshape(-1, 3, 4).std(axis=0)
    expected = model.noise_scale_[0] * np.sqrt(np.diag(np.linalg.inv(Xc.T @ Xc)))
    assert_allclose(spread, np.broadcast_to(expected, (3, 4)), rtol=0.1)
    far = 100 * X[:5]  # where the map is the larger part of what is not known
    away = far - X.mean(axis=0)
    leverage = np.einsum("ij,ij->i", away @ np.linalg.inv(Xc.T @ Xc), away)
    _, std = model.predict(far, return_std=True)
    expected = model.noise_scale_[0] * np.sqrt(1 + 1 / n + leverage)
    assert leverage.max() > 1
    assert_allclose(std, np.broadcast_to(expected[:, None], (5, 3)), rtol=0.05)


def test_wide_normal_factors_are_not_a_flat_prior():
    """Gaussian factors of any variance have a density near |C'C|^(-(p - q)/2), a pull towards 0."""
    X, Y, _ = make_low_rank_regression(400, 4, 3, rank=3, noise=1.0, bias=2.0, random_state=0)
    options = {**SHORT, "n_draws": 6000}
    model = BayesianStiefelRegression(None, prior_variance=1e4, **options).fit(X, Y)
    Xc, C = least_squares(X, Y)
    pull = -(model.noise_scale_[0] ** 2) * np.linalg.solve(Xc.T @ Xc, C @ np.linalg.inv(C.T @ C))
    mean, error = errors_of(model)
    shift = mean - C.ravel()
    assert np.abs(shift).max() > 10 * error.max()  # it is seen, and it is that one
    # Factors of logarithms of the variance are left out of that density.
    assert (np.abs(shift - pull.ravel()) < 4.5 * error + 0.5 * np.abs(pull.ravel())).all()


@pytest.mark.parametrize("likelihood", ["gaussian", "laplace"])
def test_rotations_of_inputs_do_not_matter(likelihood):
    X, Y, _ = make_low_rank_regression(60, 5, 3, rank=2, noise=0.7, random_state=1)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 5)))[0]
    options = {"likelihood": likelihood, **SHORT, "n_draws": 800, "thin": 2}
    plain = BayesianStiefelRegression(2, **options).fit(X, Y)
    turned = BayesianStiefelRegression(2, **options).fit(X @ turn, Y)
    mean, error = errors_of(plain)
    back, more = errors_of(turned)
    C = turn @ back.reshape(5, 3)
    more = np.sqrt((turn**2) @ more.reshape(5, 3) ** 2)
    assert (np.abs(mean - C.ravel()) < 4.5 * np.hypot(error, more.ravel())).all()
    assert_allclose(plain.coef_mode_, (turn @ turned.coef_mode_.T).T, atol=2e-3)


def test_rotations_of_outputs_do_not_matter():
    X, Y, _ = make_low_rank_regression(60, 5, 3, rank=2, noise=0.7, random_state=1)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    options = {**SHORT, "n_draws": 1000}
    plain = BayesianStiefelRegression(2, **options).fit(X, Y)
    turned = BayesianStiefelRegression(2, **options).fit(X, Y @ turn)
    mean, error = errors_of(plain)
    back, more = errors_of(turned)
    more = np.sqrt((more.reshape(5, 3) ** 2) @ (turn.T**2)).ravel()
    C = back.reshape(5, 3) @ turn.T
    assert (np.abs(mean - C.ravel()) < 4.5 * np.hypot(error, more)).all()
    assert_allclose(plain.coef_mode_, turn @ turned.coef_mode_, atol=1e-8)


def test_units_do_not_matter():
    X, Y, _ = make_low_rank_regression(40, 4, 3, rank=2, noise=0.5, bias=3.0, random_state=0)
    plain = BayesianStiefelRegression(2, **SHORT).fit(X, Y)
    scaled = BayesianStiefelRegression(2, **SHORT).fit(X * 1e6, Y * 1e-4)
    assert_allclose(scaled.predict(X * 1e6), plain.predict(X) * 1e-4, rtol=1e-6)
    columns = np.array([1e-3, 1.0, 50.0, 7.0])
    own = BayesianStiefelRegression(2, units="columns", **SHORT).fit(X, Y)
    again = BayesianStiefelRegression(2, units="columns", **SHORT).fit(X * columns, Y)
    assert_allclose(again.predict(X * columns), own.predict(X), rtol=1e-6)


# -- the mode ---------------------------------------------------------------------------------


def test_the_gaussian_mode_is_reduced_rank_ridge():
    X, Y, _ = make_low_rank_regression(50, 5, 4, rank=2, noise=0.5, bias=1.0, random_state=0)
    model = BayesianStiefelRegression(2, units="none", prior_variance=0.5, **SHORT).fit(X, Y)
    E = Y - X @ model.coef_mode_.T - model.intercept_mode_
    tau2 = (E**2).sum() / (49 * 4)
    peer = ReducedRankRegression(2, alpha=tau2 / 0.5).fit(X, Y)
    assert_allclose(model.coef_mode_, peer.coef_, rtol=1e-5)
    assert_allclose(model.intercept_mode_, peer.intercept_, rtol=1e-5)


def test_the_laplacian_mode_is_the_absolute_loss():
    X, Y, _ = make_low_rank_regression(60, 4, 3, rank=1, noise=0.5, bias=1.0, random_state=0)
    Y[3, 1] += 100.0
    model = BayesianStiefelRegression(
        1, likelihood="laplace", units="none", prior_variance=2.0, thin=1, **SHORT
    ).fit(X, Y)
    E = Y - X @ model.coef_mode_.T - model.intercept_mode_
    peer = StiefelRegression(1, loss="absolute", alpha=np.abs(E).mean() / 2.0).fit(X, Y)
    alpha = np.abs(E).mean() / 2.0
    ours = np.abs(E).sum() + alpha / 2 * (model.coef_mode_**2).sum()
    assert ours < peer.objective_ * (1 + 1e-5)


# -- intervals --------------------------------------------------------------------------------

DESIGNS = {
    "gaussian": ({"likelihood": "gaussian"}, {"rank": 2, "noise": 0.5}),
    "collinear": ({"likelihood": "gaussian"}, {"rank": 3, "noise": 1.0, "collinearity": 0.3}),
    "laplacian": ({"likelihood": "laplace"}, {"rank": 2, "noise": 0.0}),
}


@pytest.mark.parametrize("design", DESIGNS)
def test_intervals_cover_new_rows(design):
    options, data = DESIGNS[design]
    X, Y, _ = make_low_rank_regression(1100, 8, 5, bias=4.0, random_state=3, **data)
    if design == "laplacian":
        Y = Y + np.random.default_rng(0).laplace(scale=0.5, size=Y.shape)
    X, Y, X_new, Y_new = X[:100], Y[:100], X[100:], Y[100:]
    options = {**options, **SHORT, "n_draws": 500, "thin": 1}
    model = BayesianStiefelRegression(data["rank"], **options).fit(X, Y)
    mean, bounds = model.predict(X_new, interval=0.9)
    inside = (bounds[..., 0] < Y_new) & (Y_new < bounds[..., 1])
    assert bounds.shape == (1000, 5, 2) and 0.87 < inside.mean() < 0.93
    assert ((bounds[..., 0] < mean) & (mean < bounds[..., 1])).all()


def test_predictions_of_all_kinds():
    X, Y, _ = make_low_rank_regression(60, 4, 3, rank=2, noise=0.5, bias=1.0, random_state=0)
    model = BayesianStiefelRegression(2, **SHORT).fit(X, Y)
    mean, std, bounds = model.predict(X, return_std=True, interval=0.5)
    assert_allclose(mean, model.predict(X))
    assert_allclose(mean, X @ model.coef_.T + model.intercept_)
    part = model.predict(X[7:9], return_std=True, interval=0.5)
    assert_allclose(part[1], std[7:9])
    assert_allclose(part[2], bounds[7:9])
    new = model.sample_y(X, n_samples=400, random_state=1)
    assert new.shape == (60, 3, 400)
    assert_allclose(new.mean(axis=2), mean, atol=6 * std.max() / 20)
    assert_allclose(new.std(axis=2), std, rtol=0.25)
    assert_allclose(np.quantile(new, [0.25, 0.75], axis=2).transpose(1, 2, 0), bounds, atol=0.35)
    assert_allclose(model.sample_y(X, 2, random_state=3), model.sample_y(X, 2, random_state=3))
    flat = BayesianStiefelRegression(2, **SHORT).fit(X, Y[:, 0])
    mean, std, bounds = flat.predict(X, return_std=True, interval=0.9)
    assert mean.shape == std.shape == (60,) and bounds.shape == (60, 2)
    assert flat.sample_y(X, 5).shape == (60, 5) and flat.coef_.shape == (4,)


@pytest.mark.parametrize("loss", ["huber", Huber(2.0), Quantile(0.3), "log_cosh"])
def test_any_loss_is_a_likelihood(loss):
    rng = np.random.default_rng(0)
    law = get_likelihood(loss, 4.0)
    grid = np.linspace(-40, 40, 200001)[:, None]
    density = np.exp(law.log_density(grid, np.zeros((1, 1)), np.ones((1, 1))))
    assert_allclose(np.trapezoid(density[:, 0], grid[:, 0]), 1.0, atol=1e-3)
    X, Y, coef = make_low_rank_regression(80, 3, 2, rank=1, noise=0.3, random_state=0)
    model = BayesianStiefelRegression(
        1, likelihood=loss, n_chains=1, n_warmup=100, n_draws=100, random_state=0
    ).fit(X, Y)
    assert np.abs(model.coef_ - coef).max() < 0.2
    assert_allclose(
        np.median(law.quantile(rng.random(4001))), law.quantile(np.array(0.5)), atol=0.1
    )


@pytest.mark.parametrize("loss", ["poisson", "logistic"])
def test_counts_and_labels(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    linear = X @ np.outer([1.0, -0.5, 0.0], [0.8, 0.5]) + 0.5
    Y = (
        rng.poisson(np.exp(linear))
        if loss == "poisson"
        else rng.random((200, 2)) < 1 / (1 + np.exp(-linear))
    )
    model = BayesianStiefelRegression(
        1, likelihood=loss, n_chains=1, n_warmup=150, n_draws=150, random_state=0
    ).fit(X, Y.astype(float))
    rates = np.exp(linear) if loss == "poisson" else 1 / (1 + np.exp(-linear))
    mean, std, bounds = model.predict(X, return_std=True, interval=0.9)
    assert np.abs(mean - rates).mean() < 0.25 * rates.std() + 0.05
    assert (std > 0).all() and set(np.unique(model.sample_y(X))) >= {0.0, 1.0}
    assert bounds.min() >= 0


# -- weights, blocks, seeds, shapes -----------------------------------------------------------


def test_weights_are_repeated_rows():
    X, Y, _ = make_low_rank_regression(30, 4, 3, rank=2, noise=0.5, random_state=0)
    counts = np.arange(30) % 3
    weighted = BayesianStiefelRegression(2, **SHORT).fit(X, Y, sample_weight=counts)
    repeated = BayesianStiefelRegression(2, **SHORT).fit(
        np.repeat(X, counts, 0), np.repeat(Y, counts, 0)
    )
    assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-6)


@pytest.mark.parametrize("likelihood", ["laplace", "student"])
def test_weights_of_heavy_tails_are_powers_of_the_likelihood(likelihood):
    X, Y, _ = make_low_rank_regression(40, 3, 2, rank=1, noise=0.5, random_state=0)
    options = {"likelihood": likelihood, **SHORT, "n_draws": 600}
    twice = BayesianStiefelRegression(1, **options).fit(X, Y, sample_weight=np.full(40, 2.0))
    doubled = BayesianStiefelRegression(1, **options).fit(np.r_[X, X], np.r_[Y, Y])
    mean, error = errors_of(twice)
    other, more = errors_of(doubled)
    assert (np.abs(mean - other) < 4.5 * np.hypot(error, more)).all()
    assert_allclose(twice.noise_scale_, doubled.noise_scale_, rtol=0.05)


def test_blocks_and_sparse_rows_are_one_fit():
    X, Y, _ = make_low_rank_regression(60, 4, 3, rank=2, noise=0.5, random_state=0)
    whole = BayesianStiefelRegression(2, **SHORT).fit(X, Y)
    blocks = BayesianStiefelRegression(2, **SHORT)
    for rows in np.split(np.arange(60), [20, 41]):
        blocks.partial_fit(X[rows], Y[rows])
    assert_allclose(blocks.coef_, whole.coef_, rtol=1e-6)
    thin = BayesianStiefelRegression(2, **SHORT).fit(sparse.csr_array(X), Y)
    assert_allclose(thin.coef_, whole.coef_, rtol=1e-6)
    assert not hasattr(BayesianStiefelRegression(likelihood="laplace"), "partial_fit")
    with pytest.raises(TypeError, match="sparse"):
        BayesianStiefelRegression(1, likelihood="laplace", **SHORT).fit(sparse.csr_array(X), Y)


@pytest.mark.parametrize(
    "options", [{}, {"likelihood": "laplace"}, {"prior": "half_normal"}], ids=str
)
def test_the_draws_depend_on_the_seed_alone(options):
    X, Y, _ = make_low_rank_regression(30, 3, 2, rank=1, noise=0.5, random_state=0)
    settings = {"n_chains": 2, "n_warmup": 30, "n_draws": 30, "random_state": 5, **options}
    one = BayesianStiefelRegression(1, **settings).fit(X, Y)
    two = BayesianStiefelRegression(1, n_jobs=2, **settings).fit(X, Y)
    assert_allclose(one.coef_draws_, two.coef_draws_, rtol=0, atol=0)
    other = BayesianStiefelRegression(1, **{**settings, "random_state": 6}).fit(X, Y)
    assert np.abs(one.coef_draws_ - other.coef_draws_).max() > 1e-3


def test_pickle_clone_and_float32():
    X, Y, _ = make_low_rank_regression(30, 3, 2, rank=1, noise=0.5, random_state=0)
    model = BayesianStiefelRegression(1, likelihood="student", **SHORT).fit(X, Y)
    copy = pickle.loads(pickle.dumps(model))
    assert_allclose(copy.predict(X, interval=0.8)[1], model.predict(X, interval=0.8)[1])
    assert clone(model).get_params() == model.get_params()
    single = BayesianStiefelRegression(1, **SHORT).fit(X.astype(np.float32), Y.astype(np.float32))
    mean, bounds = single.predict(X.astype(np.float32), interval=0.9)
    assert mean.dtype == bounds.dtype == np.float32


def test_more_features_than_rows():
    """Directions that no row has are as uncertain as the prior, and their mean is exactly 0."""
    rng = np.random.default_rng(0)
    X = np.c_[rng.normal(size=(15, 40)), np.zeros(15)]
    Y = X[:, :3] @ rng.normal(size=(3, 2)) + 0.1 * rng.normal(size=(15, 2))
    model = BayesianStiefelRegression(1, **SHORT).fit(X, Y)
    assert np.abs(model.coef_[:, -1]).max() < 1e-12
    spread = model.coef_draws_[..., -1].std()
    unit = np.sqrt(Y.var(axis=0).mean() / X.var(axis=0).mean())
    inner = np.sqrt((model.right_draws_**2).mean()) / np.sqrt(Y.var(axis=0).mean())
    assert_allclose(spread, unit * inner, rtol=0.3)
    far = np.zeros((1, 41))
    far[0, -1] = 100.0
    assert model.predict(far, return_std=True)[1].min() > 5 * model.noise_scale_.max()


@pytest.mark.parametrize("likelihood", ["gaussian", "laplace"])
def test_constant_targets(likelihood):
    X = np.random.default_rng(0).normal(size=(20, 3))
    Y = np.c_[np.full(20, 5.0), X[:, 0]]
    model = BayesianStiefelRegression(1, likelihood=likelihood, **SHORT).fit(X, Y)
    assert np.abs(model.predict(X)[:, 0] - 5.0).max() < 0.3
    flat = BayesianStiefelRegression(1, likelihood=likelihood, **SHORT).fit(X, np.full(20, 5.0))
    assert np.isfinite(flat.predict(X)).all() and np.abs(flat.predict(X) - 5).max() < 0.5


# -- subspaces, rank, diagnostics, export -----------------------------------------------------


def test_subspaces_are_aligned():
    X, Y, coef = make_low_rank_regression(200, 6, 4, rank=2, noise=0.3, random_state=0)
    model = BayesianStiefelRegression(2, **SHORT).fit(X, Y)
    found = model.subspaces()
    S = 400
    assert found.x_draws.shape == (S, 6, 2) and found.y_draws.shape == (S, 4, 2)
    assert_allclose(
        found.x_draws.transpose(0, 2, 1) @ found.x_draws, np.tile(np.eye(2), (S, 1, 1)), atol=1e-10
    )
    U, s, Vt = np.linalg.svd(coef)
    assert np.linalg.norm(found.x_basis @ found.x_basis.T - Vt[:2].T @ Vt[:2], 2) < 0.15
    assert np.linalg.norm(found.y_basis @ found.y_basis.T - U[:, :2] @ U[:, :2].T, 2) < 0.15
    # Aligned: the mean of the draws is nearly orthonormal; draws as they come cancel out.
    assert np.linalg.norm(found.x_draws.mean(axis=0) - found.x_basis) < 0.1
    assert found.x_angles.max() < 0.4 and (np.diff(found.x_angles, axis=1) <= 0).all()
    assert_allclose(found.singular_values.mean(axis=0), s[:2], rtol=0.1)
    C = model.coef_draws_.reshape(S, 4, 6)
    assert_allclose(np.linalg.svd(C, compute_uv=False)[:, :2], found.singular_values, rtol=1e-8)


def test_the_rank_is_chosen_by_prediction():
    X, Y, _ = make_low_rank_regression(120, 6, 5, rank=2, noise=0.5, random_state=0)
    model = BayesianStiefelRegression("auto", **SHORT).fit(X, Y)
    assert model.n_components_ == 2
    assert model.loo_[2].elpd > model.loo_[1].elpd + 5 * model.loo_[2].standard_error / 10
    assert (model.loo_[2].pareto_k < 0.7).mean() > 0.95


def test_warnings_say_what_is_wrong():
    X, Y, _ = make_low_rank_regression(30, 4, 3, rank=2, noise=0.5, random_state=0)
    with pytest.warns(
        ConvergenceWarning, match=r"effective draws in the bulk, should be above 400"
    ):
        model = BayesianStiefelRegression(
            2, n_chains=2, n_warmup=5, n_draws=20, random_state=0
        ).fit(X, Y)
    assert model.diagnostics_.complaints
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        good = BayesianStiefelRegression(2, random_state=0).fit(X, Y).diagnostics_
    assert good.rhat < 1.01 and good.ess_bulk > 400 and good.ess_tail > 400
    report = ChainReport(1.5, 10.0, 500.0, {}, 3)
    assert len(report.complaints) == 3 and "3 divergent" in report.complaints[2]


def test_arviz_reads_the_draws():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("arviz", reason="the extra bayes is not installed")
    X, Y, _ = make_low_rank_regression(30, 3, 2, rank=1, noise=0.5, random_state=0)
    model = BayesianStiefelRegression(1, **SHORT).fit(X, Y)
    data = model.to_inference_data(X, Y)
    assert data.posterior["coef"].shape == (2, 200, 2, 3)
    assert_allclose(data.posterior["coef"].values, model.coef_draws_)
    assert data.posterior["noise_scale"].shape == (2, 200, 2)
    assert data.log_likelihood["y"].shape == (2, 200, 30)
    assert data.posterior_predictive["y"].shape == (2, 200, 30, 2)
    assert_allclose(data.observed_data["y"].values, Y)
    assert "posterior" in model.to_inference_data().groups()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior": "jeffreys"}, "no proper posterior"),
        ({"prior": "flat"}, "prior == 'flat'"),
        ({"likelihood": "cauchy"}, "likelihood == 'cauchy'"),
        ({"sampler": "gibbs", "likelihood": "huber"}, "sampler == 'gibbs'"),
        ({"sampler": "thesis"}, "half_normal"),
        ({"n_chains": 0}, "n_chains == 0"),
        ({"n_draws": 2.5}, "n_draws == 2.5"),
        ({"thin": 0}, "thin == 0"),
        ({"prior_variance": -1.0}, "prior_variance == -1.0"),
        ({"nu": 0}, "nu == 0"),
        ({"noise_prior": (1, -1)}, "noise_prior"),
        ({"units": "metres"}, "units == 'metres'"),
        ({"n_components": 0}, "n_components == 0"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        BayesianStiefelRegression(**{"n_components": 1, **options}).fit(X_C, Y_C)


def test_bad_calls_are_refused():
    model = BayesianStiefelRegression(1, **SHORT).fit(X_C, Y_C)
    with pytest.raises(ValueError, match=r"interval == 1\.5"):
        model.predict(X_C, interval=1.5)
    with pytest.raises(ValueError, match="n_samples=1"):
        BayesianStiefelRegression(1).fit(X_C[:1], Y_C[:1])
    assert not hasattr(model, "predict_path")
    with pytest.raises(AttributeError, match="posterior of its own"):
        _ = model.coef_path_
