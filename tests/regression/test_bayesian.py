"""Oracles: least squares, the mode as a maximum, repeated rows; samplers and units have files of their own.

Bounds of chance are ``BOUND`` standard errors, by effective sample sizes: a normal variable is beyond them
once in 5e8 times, so that a right program fails about once in 1e6 runs of this file. Where a bound is a
round number instead, the comment beside it says how many standard errors it is.
"""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.integrate import trapezoid
from scipy.optimize import minimize
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from isthmus import BayesianStiefelRegression, ReducedRankRegression, StiefelRegression
from isthmus._solvers.chains import mean_ess
from isthmus.datasets import make_low_rank_regression
from isthmus.losses import Huber, Quantile
from isthmus.problems import RowForm
from isthmus.regression.bayesian.chains import ChainReport
from isthmus.regression.bayesian.likelihoods import get_likelihood
from isthmus.regression.bayesian.problem import make_prior, make_problem

X_C = np.array([[1, 0], [0.5, 0.4], [-1, 0.2], [0.3, -0.5], [-0.8, -0.1], [0.2, 0.6]])
Y_C = np.array([[1.1, -0.2], [0.3, 0.1], [-0.9, 0.6], [0.8, 0.1], [-0.4, 0.5], [-0.1, -0.4]])
SHORT = {"n_chains": 2, "n_warmup": 100, "n_draws": 200, "random_state": 0}
BOUND = 6.0
# On tests of arithmetic, or with standard errors that say how short the chains are.
SHORT_CHAINS = pytest.mark.filterwarnings(
    "ignore:The chains have not converged:sklearn.exceptions.ConvergenceWarning"
)


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


# -- conjugate answers and invariances --------------------------------------------------------


def least_squares(X, Y):
    Xc = X - X.mean(axis=0)
    return Xc, np.linalg.lstsq(Xc, Y - Y.mean(axis=0))[0]


@SHORT_CHAINS
def test_much_data_give_the_least_squares_answer():
    """Full rank: mean and spread of the textbook, those of predictions included."""
    n = 40_000
    X, Y, _ = make_low_rank_regression(n, 4, 3, rank=3, noise=1.0, bias=2.0, random_state=0)
    options = {**SHORT, "n_draws": 1500}
    model = BayesianStiefelRegression(None, prior_variance=1e4, **options).fit(X, Y)
    Xc, C = least_squares(X, Y)
    mean, error = errors_of(model)
    assert (np.abs(mean - C.ravel()) < BOUND * error).all() and error.max() < 2e-4
    rss = ((Y - Y.mean(axis=0) - Xc @ C) ** 2).sum(axis=0)
    noise = model.noise_scale_
    assert_allclose(noise, np.sqrt(rss / (n - 5)), rtol=0.002)  # 30 standard errors
    spread = model.coef_draws_.reshape(-1, 3, 4).std(axis=0)
    expected = np.outer(noise, np.sqrt(np.diag(np.linalg.inv(Xc.T @ Xc))))
    assert_allclose(spread, expected, rtol=0.15)  # 6 standard errors of 800 effective draws
    far = 100 * X[:5]  # where the map is the larger part of what is not known
    away = far - X.mean(axis=0)
    leverage = np.einsum("ij,ij->i", away @ np.linalg.inv(Xc.T @ Xc), away)
    _, std = model.predict(far, return_std=True)
    assert leverage.max() > 1
    assert_allclose(std, np.outer(np.sqrt(1 + 1 / n + leverage), noise), rtol=0.12)


@SHORT_CHAINS
def test_wide_normal_factors_are_not_a_flat_prior():
    """Gaussian factors of any variance have a density near |C'C|^(-(p - q)/2), a pull towards 0."""
    X, Y, _ = make_low_rank_regression(400, 4, 3, rank=3, noise=1.0, bias=2.0, random_state=0)
    options = {**SHORT, "n_draws": 6000, "prior": "normal"}
    model = BayesianStiefelRegression(None, prior_variance=1e4, **options).fit(X, Y)
    Xc, C = least_squares(X, Y)
    pull = -(model.noise_scale_**2) * np.linalg.solve(Xc.T @ Xc, C @ np.linalg.inv(C.T @ C))
    mean, error = errors_of(model)
    shift = mean - C.ravel()
    assert np.abs(shift).max() > 10 * error.max()  # it is seen, and it is that one
    # Factors of logarithms of the variance are left out of that density.
    assert (np.abs(shift - pull.ravel()) < BOUND * error + 0.5 * np.abs(pull.ravel())).all()


# -- empirical Bayes --------------------------------------------------------------------------


@pytest.mark.parametrize("noise", ["per_output", "common"])
@pytest.mark.parametrize("p", [6, 40])
def test_the_default_variance_makes_the_outputs_most_likely(noise, p):
    """By the normal densities of n - 1 contrasts of the rows, without principal axes."""
    rng = np.random.default_rng(0)
    X = rng.normal(1, 1, size=(25, p))
    Y = 0.3 * X @ rng.normal(size=(p, 2)) + [0.5, 2.0] * rng.normal(size=(25, 2))
    form = RowForm.from_rows(X, Y, None, False)
    problem = make_problem(form, "none", True)
    found = make_prior("auto", "auto", (0.5, 0.1), noise, problem, 2).variance
    contrasts = np.linalg.qr(np.column_stack([np.ones(25), rng.normal(size=(25, 24))]))[0][:, 1:]
    K, Z = contrasts.T @ X @ X.T @ contrasts, contrasts.T @ Y

    def minus_log(x):
        v, tau2 = np.exp(x[0]), np.broadcast_to(np.exp(x[1:]), 2)
        laws = [multivariate_normal(np.zeros(24), v * K + t * np.eye(24)) for t in tau2]
        scales = np.exp(x[1:])  # each with an inverse gamma law of its own, over the logarithm
        return sum(0.5 * np.log(scales) + 0.1 / scales) - sum(
            law.logpdf(z) for law, z in zip(laws, Z.T, strict=True)
        )

    start = np.zeros(2 if noise == "common" else 3)
    best = minimize(minus_log, start, method="BFGS", options={"gtol": 1e-7})
    assert_allclose(found, np.exp(best.x[0]), rtol=1e-3)


@SHORT_CHAINS
def test_the_default_prior_is_conjugate_at_full_rank_alone():
    X, Y, _ = make_low_rank_regression(30, 5, 3, rank=2, noise=1.0, random_state=0)
    options = {**SHORT, "n_draws": 20, "n_warmup": 10}
    low = BayesianStiefelRegression(2, **options).fit(X, Y)
    same = BayesianStiefelRegression(2, prior="normal", prior_variance=1.0, **options).fit(X, Y)
    assert_allclose(low.coef_draws_, same.coef_draws_, rtol=0)
    full = BayesianStiefelRegression(**options).fit(X, Y)
    assert full.n_components_ == 3 and full.sampler_ == "gibbs"
    ridge = Ridge(alpha=1.0).fit(X, Y)  # of any size: the mode lies between it and the mean
    assert ((full.coef_mode_ - ridge.coef_) ** 2).sum() < 0.5 * (ridge.coef_**2).sum()


# -- the mode ---------------------------------------------------------------------------------


@SHORT_CHAINS
def test_the_gaussian_mode_is_reduced_rank_ridge():
    X, Y, _ = make_low_rank_regression(50, 5, 4, rank=2, noise=0.5, bias=1.0, random_state=0)
    model = BayesianStiefelRegression(
        2, noise="common", units="none", prior_variance=0.5, **SHORT
    ).fit(X, Y)
    E = Y - X @ model.coef_mode_.T - model.intercept_mode_
    tau2 = (E**2).sum() / (49 * 4)
    peer = ReducedRankRegression(2, alpha=tau2 / 0.5).fit(X, Y)
    assert_allclose(model.coef_mode_, peer.coef_, rtol=1e-5)
    assert_allclose(model.intercept_mode_, peer.intercept_, rtol=1e-5)


@SHORT_CHAINS
def test_the_laplacian_mode_is_the_absolute_loss():
    X, Y, _ = make_low_rank_regression(60, 4, 3, rank=1, noise=0.5, bias=1.0, random_state=0)
    Y[3, 1] += 100.0
    model = BayesianStiefelRegression(
        1,
        likelihood="laplace",
        noise="common",
        units="none",
        prior_variance=2.0,
        thin=1,
        **SHORT,
    ).fit(X, Y)
    E = Y - X @ model.coef_mode_.T - model.intercept_mode_
    peer = StiefelRegression(1, loss="absolute", alpha=np.abs(E).mean() / 2.0).fit(X, Y)
    alpha = np.abs(E).mean() / 2.0
    ours = np.abs(E).sum() + alpha / 2 * (model.coef_mode_**2).sum()
    assert ours < peer.objective_ * (1 + 1e-5)


@SHORT_CHAINS
@pytest.mark.parametrize("likelihood", ["gaussian", "laplace"])
@pytest.mark.parametrize("noise", ["per_output", "full"])
def test_the_mode_with_noise_of_its_own_for_each_output_is_a_maximum(likelihood, noise):
    """The log posterior written out: no small step, and no random start, is higher."""
    if (likelihood, noise) == ("laplace", "full"):
        pytest.skip("a covariance is for Gaussian noise")
    rng = np.random.default_rng(0)
    n, p, q, r = 40, 4, 3, 2
    X, Y, _ = make_low_rank_regression(n, p, q, rank=r, noise=0.0, bias=1.0, random_state=0)
    scales = np.array([0.02, 0.5, 2.0])
    Y = Y + scales * (rng.laplace if likelihood == "laplace" else rng.normal)(size=Y.shape)
    model = BayesianStiefelRegression(
        r, likelihood=likelihood, noise=noise, units="none", prior_variance=0.5, **SHORT
    ).fit(X, Y)

    def objective(z):
        """Minus the log posterior, the best noise put in; Gaussian intercepts integrated out."""
        A, D, b = np.split(z, [p * r, (p + q) * r])
        C = A.reshape(p, r) @ D.reshape(r, q)
        ridge = (C**2).sum() / (2 * 0.5)
        if likelihood == "laplace":
            return n * np.log(np.abs(Y - X @ C - b).sum(axis=0)).sum() + ridge
        E = (Y - Y.mean(axis=0)) - (X - X.mean(axis=0)) @ C
        if noise == "full":
            return 0.5 * (n - 1 + q - 1) * np.linalg.slogdet(E.T @ E)[1] + ridge
        return 0.5 * (n - 1) * np.log((E**2).sum(axis=0)).sum() + ridge

    U, s, Vt = np.linalg.svd(model.coef_mode_.T, full_matrices=False)
    assert_allclose(s[r:], 0, atol=1e-10)
    ours = np.concatenate([(U[:, :r] * s[:r]).ravel(), Vt[:r].ravel(), model.intercept_mode_])
    best = objective(ours)
    for size in (1e-4, 1e-3, 1e-2):
        steps = size * rng.normal(size=(50, len(ours)))
        assert min(objective(ours + step) for step in steps) > best - 1e-4
    if likelihood == "gaussian":
        starts = ours + 0.3 * rng.normal(size=(3, len(ours)))
        assert min(minimize(objective, z).fun for z in starts) > best - 1e-5


# -- predictions ------------------------------------------------------------------------------


@SHORT_CHAINS
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
    assert_allclose(new.mean(axis=2), mean, atol=BOUND * std.max() / 20)  # 400 draws
    assert_allclose(new.std(axis=2), std, rtol=0.25)  # 7 standard errors
    quartiles = np.quantile(new, [0.25, 0.75], axis=2).transpose(1, 2, 0)
    assert_allclose(quartiles, bounds, atol=0.35)  # 8 standard errors
    assert_allclose(model.sample_y(X, 2, random_state=3), model.sample_y(X, 2, random_state=3))
    flat = BayesianStiefelRegression(2, **SHORT).fit(X, Y[:, 0])
    mean, std, bounds = flat.predict(X, return_std=True, interval=0.9)
    assert mean.shape == std.shape == (60,) and bounds.shape == (60, 2)
    assert flat.sample_y(X, 5).shape == (60, 5) and flat.coef_.shape == (4,)


@SHORT_CHAINS
@pytest.mark.parametrize("loss", ["huber", Huber(2.0), Quantile(0.3), "log_cosh"])
def test_any_loss_is_a_likelihood(loss):
    law = get_likelihood(loss, 4.0)
    grid = np.linspace(-40, 40, 200001)[:, None]
    density = np.exp(law.log_density(grid, np.zeros((1, 1)), np.ones((1, 1))))
    assert_allclose(trapezoid(density[:, 0], grid[:, 0]), 1.0, atol=1e-3)
    X, Y, coef = make_low_rank_regression(80, 3, 2, rank=1, noise=0.3, random_state=0)
    model = BayesianStiefelRegression(
        1, likelihood=loss, n_chains=1, n_warmup=100, n_draws=100, random_state=0
    ).fit(X, Y)
    assert np.abs(model.coef_ - coef).max() < 0.25  # 6 posterior deviations, 0.3 / sqrt(80) each
    strata = (np.arange(4001) + 0.5) / 4001
    assert_allclose(np.median(law.quantile(strata)), law.quantile(np.array(0.5)), atol=1e-3)


@SHORT_CHAINS
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
    # Six coefficients from 200 rows: the mean error is near sqrt(6 / 200) deviations, 0.17.
    assert np.abs(mean - rates).mean() < 0.4 * rates.std() + 0.05
    assert (std > 0).all() and set(np.unique(model.sample_y(X))) >= {0.0, 1.0}
    assert bounds.min() >= 0


# -- weights, blocks, seeds, shapes -----------------------------------------------------------


@SHORT_CHAINS
def test_weights_are_repeated_rows():
    X, Y, _ = make_low_rank_regression(30, 4, 3, rank=2, noise=0.5, random_state=0)
    counts = np.arange(30) % 3
    weighted = BayesianStiefelRegression(2, **SHORT).fit(X, Y, sample_weight=counts)
    repeated = BayesianStiefelRegression(2, **SHORT).fit(
        np.repeat(X, counts, 0), np.repeat(Y, counts, 0)
    )
    assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-6)


@SHORT_CHAINS
@pytest.mark.parametrize("likelihood", ["laplace", "student"])
def test_weights_of_heavy_tails_are_powers_of_the_likelihood(likelihood):
    X, Y, _ = make_low_rank_regression(40, 3, 2, rank=1, noise=0.5, random_state=0)
    options = {"likelihood": likelihood, **SHORT, "n_draws": 600}
    twice = BayesianStiefelRegression(1, **options).fit(X, Y, sample_weight=np.full(40, 2.0))
    doubled = BayesianStiefelRegression(1, **options).fit(np.r_[X, X], np.r_[Y, Y])
    mean, error = errors_of(twice)
    other, more = errors_of(doubled)
    assert (np.abs(mean - other) < BOUND * np.hypot(error, more)).all()
    assert_allclose(twice.noise_scale_, doubled.noise_scale_, rtol=0.05)  # 7 standard errors


@SHORT_CHAINS
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


@SHORT_CHAINS
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


@SHORT_CHAINS
def test_pickle_clone_and_float32():
    X, Y, _ = make_low_rank_regression(30, 3, 2, rank=1, noise=0.5, random_state=0)
    model = BayesianStiefelRegression(1, likelihood="student", **SHORT).fit(X, Y)
    copy = pickle.loads(pickle.dumps(model))
    assert_allclose(copy.predict(X, interval=0.8)[1], model.predict(X, interval=0.8)[1])
    assert clone(model).get_params() == model.get_params()
    single = BayesianStiefelRegression(1, **SHORT).fit(X.astype(np.float32), Y.astype(np.float32))
    mean, bounds = single.predict(X.astype(np.float32), interval=0.9)
    assert mean.dtype == bounds.dtype == np.float32


@SHORT_CHAINS
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
    assert_allclose(spread, unit * inner, rtol=0.3)  # 6 standard errors of 400 draws
    far = np.zeros((1, 41))
    far[0, -1] = 100.0
    assert model.predict(far, return_std=True)[1].min() > 5 * model.noise_scale_.max()


@SHORT_CHAINS
@pytest.mark.parametrize("likelihood", ["gaussian", "laplace"])
def test_constant_targets(likelihood):
    X = np.random.default_rng(0).normal(size=(20, 3))
    Y = np.c_[np.full(20, 5.0), X[:, 0]]
    model = BayesianStiefelRegression(1, likelihood=likelihood, **SHORT).fit(X, Y)
    assert np.abs(model.predict(X)[:, 0] - 5.0).max() < 0.3
    flat = BayesianStiefelRegression(1, likelihood=likelihood, **SHORT).fit(X, np.full(20, 5.0))
    assert np.isfinite(flat.predict(X)).all() and np.abs(flat.predict(X) - 5).max() < 0.5


# -- subspaces, rank, diagnostics, export -----------------------------------------------------


@SHORT_CHAINS
def test_subspaces_are_align():
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


@SHORT_CHAINS
def test_the_rank_is_chosen_by_prediction():
    X, Y, _ = make_low_rank_regression(120, 6, 5, rank=2, noise=0.5, random_state=0)
    model = BayesianStiefelRegression("auto", **SHORT).fit(X, Y)
    assert model.n_components_ == 2
    assert model.loo_[2].elpd > model.loo_[1].elpd + 5 * model.loo_[2].standard_error / 10
    assert (model.loo_[2].pareto_k < 0.7).mean() > 0.95


def test_warnings_say_what_is_wrong():
    X, Y, _ = make_low_rank_regression(30, 4, 3, rank=2, noise=0.5, random_state=0)
    with pytest.warns(
        ConvergenceWarning,
        match=r"The chains have not converged: .* effective draws in the bulk, should be above 400",
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


@SHORT_CHAINS
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
        ({"sampler": "thesis"}, "sampler == 'thesis'"),
        ({"n_chains": 0}, "n_chains == 0"),
        ({"n_draws": 2.5}, "n_draws == 2.5"),
        ({"thin": 0}, "thin == 0"),
        ({"prior_variance": -1.0}, "prior_variance == -1.0"),
        ({"nu": 0}, "nu == 0"),
        ({"noise_prior": (1, -1)}, "noise_prior"),
        ({"units": "metres"}, "units == 'metres'"),
        ({"noise": "diagonal"}, "noise == 'diagonal'"),
        ({"noise": "full", "likelihood": "laplace"}, "noise == 'full' needs likelihood='gaussian'"),
        ({"noise": "full", "likelihood": "huber"}, "noise == 'full' needs likelihood='gaussian'"),
        ({"sampler": "gibbs", "prior": "half_normal"}, "sampler == 'gibbs' needs"),
        ({"sampler": "gibbs", "prior": "matrix_normal"}, "at full rank"),
        ({"n_components": 0}, "n_components == 0"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        BayesianStiefelRegression(**{"n_components": 1, **options}).fit(X_C, Y_C)


@SHORT_CHAINS
def test_bad_calls_are_refused():
    model = BayesianStiefelRegression(1, **SHORT).fit(X_C, Y_C)
    with pytest.raises(ValueError, match=r"interval == 1\.5"):
        model.predict(X_C, interval=1.5)
    with pytest.raises(ValueError, match="1 sample"):
        BayesianStiefelRegression(1).fit(X_C[:1], Y_C[:1])
    assert not hasattr(model, "predict_path")
    with pytest.raises(AttributeError, match="its own posterior"):
        _ = model.coef_path_
