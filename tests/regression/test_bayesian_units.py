"""Oracles: the same data in other units, turned, shifted and reordered; intervals on new rows.

Bounds of chance are ``BOUND`` standard errors: a normal variable is beyond them once in 5e8 times, so that
a right program fails about once in 1e6 runs of this file.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus import BayesianStiefelRegression
from isthmus._solvers.chains import mean_ess
from isthmus.datasets import make_low_rank_regression
from isthmus.papers.kernel_dependency_thesis import MetropolisedGibbsRegression

BOUND = 6.0
SHORT = {"n_chains": 2, "n_warmup": 60, "n_draws": 100, "random_state": 0}
SHORT_CHAINS = pytest.mark.filterwarnings(
    "ignore:The chains have not converged:sklearn.exceptions.ConvergenceWarning"
)  # the arithmetic is the same however long they are, and standard errors say how short they are


def errors_of(model):
    """Posterior mean of the map, flat (p q,), and its Monte Carlo standard errors."""
    draws = model.coef_draws_.transpose(0, 1, 3, 2).reshape(model.n_chains, model.n_draws, -1)
    flat = draws.reshape(-1, draws.shape[2])
    return flat.mean(axis=0), flat.std(axis=0) / np.sqrt(mean_ess(draws))


def data(n=40):
    X, Y, _ = make_low_rank_regression(n, 4, 3, rank=2, noise=0.5, bias=3.0, random_state=0)
    return X, Y * np.array([0.1, 1.0, 1.0])


# -- units -------------------------------------------------------------------------------------

MODELS = {
    "gibbs": {},
    "common": {"noise": "common"},
    "full": {"noise": "full"},
    "laplace": {"likelihood": "laplace"},
    "student": {"likelihood": "student"},
    "huber": {"likelihood": "huber", "n_warmup": 20, "n_draws": 20},
    "half_normal": {"prior": "half_normal", "n_warmup": 20, "n_draws": 20},
    "thesis": {"kind": MetropolisedGibbsRegression},
    "matrix_normal": {"prior": "matrix_normal", "n_warmup": 20, "n_draws": 20},
    "matrix_normal, full rank": {"prior": "matrix_normal", "n_components": None},
    "columns": {"units": "columns"},
}


def fit(options, X, Y):
    options = {"n_components": 2, **SHORT, **options}
    kind = options.pop("kind", BayesianStiefelRegression)
    return kind(**options).fit(X, Y)


@SHORT_CHAINS
@pytest.mark.parametrize("name", MODELS)
def test_units_of_outputs_and_inputs_do_not_matter(name):
    """Powers of two near 1e-6 and 1e6, which cost no digits: the draws are the same draws."""
    X, Y = data()
    scales = 2.0 ** np.array([-20, 0, 20])
    options = MODELS[name]
    plain = fit(options, X, Y)
    scaled = fit(options, X * 2.0**20, Y * scales)
    mean, std, bounds = plain.predict(X, return_std=True, interval=0.9)
    again, std_again, bounds_again = scaled.predict(X * 2.0**20, return_std=True, interval=0.9)
    assert_allclose(again / scales, mean, rtol=1e-9, atol=1e-9)
    assert_allclose(std_again / scales, std, rtol=1e-9)
    assert_allclose(bounds_again / scales[:, None], bounds, rtol=1e-9, atol=1e-9)
    assert_allclose(scaled.noise_draws_ / scales, plain.noise_draws_, rtol=1e-9)
    mode = scaled.coef_mode_.T / scales * 2.0**20
    assert_allclose(mode, plain.coef_mode_.T, rtol=1e-7, atol=1e-9)
    new = plain.sample_y(X, 3, random_state=1)
    new_again = scaled.sample_y(X * 2.0**20, 3, random_state=1)
    assert_allclose(new_again / scales[:, None], new, rtol=1e-9, atol=1e-9)
    if options.get("noise") == "full":
        found = scaled.noise_covariance_ / np.outer(scales, scales)
        assert_allclose(found, plain.noise_covariance_, rtol=1e-9)
    logs = plain.log_likelihood(X, Y) - np.log(scales).sum()
    assert_allclose(scaled.log_likelihood(X * 2.0**20, Y * scales), logs, rtol=1e-9, atol=1e-7)


@SHORT_CHAINS
@pytest.mark.parametrize("noise", ["per_output", "common", "full"])
def test_decimal_units_shifts_and_the_order_of_rows_are_rounding_errors(noise):
    X, Y = data()
    scales = np.array([1e-6, 1.0, 1e6])
    plain = fit({"noise": noise}, X, Y)
    scaled = fit({"noise": noise}, X * 1e6, Y * scales)
    assert_allclose(scaled.predict(X * 1e6), plain.predict(X) * scales, rtol=1e-6)
    assert_allclose(scaled.noise_draws_, plain.noise_draws_ * scales, rtol=1e-6)
    shifted = fit({"noise": noise}, X + 100.0, Y - 1e4)
    assert_allclose(shifted.predict(X + 100.0) + 1e4, plain.predict(X), atol=1e-6)
    order = np.random.default_rng(0).permutation(len(X))
    reordered = fit({"noise": noise}, X[order], Y[order])
    assert_allclose(reordered.predict(X), plain.predict(X), rtol=1e-6)
    bounds = plain.predict(X, interval=0.9)[1]
    assert_allclose(reordered.predict(X, interval=0.9)[1], bounds, rtol=1e-5, atol=1e-7)


@SHORT_CHAINS
def test_columns_of_inputs_have_their_own_units_on_request():
    X, Y = data()
    columns = np.array([1e-3, 1.0, 50.0, 7.0])
    own = fit({"units": "columns"}, X, Y)
    again = fit({"units": "columns"}, X * columns, Y)
    assert_allclose(again.predict(X * columns), own.predict(X), rtol=1e-6)


@SHORT_CHAINS
@pytest.mark.parametrize("constant", [5.0, 0.1, 1e8])
def test_a_constant_output_does_not_disturb_the_others(constant):
    """Its unit is its own size, and its intervals are narrow beside it."""
    X, Y = data()
    plain = fit({}, X, Y)
    more = fit({}, X, np.c_[Y, np.full(len(X), constant)])
    _, bounds = more.predict(X, interval=0.9)
    assert (np.abs(bounds[:, 3] / constant - 1) < 0.1).all()
    errors = np.abs(more.predict(X)[:, :3] - plain.predict(X)) / plain.noise_scale_
    assert errors.max() < 1.0  # other random numbers, the same law: 6 standard errors


@SHORT_CHAINS
@pytest.mark.parametrize(
    "options",
    [{}, {"noise": "full"}, {"likelihood": "laplace"}],
    ids=["diagonal", "full", "laplace"],
)
def test_the_order_of_outputs_does_not_matter(options):
    """In law: the random numbers are others."""
    X, Y = data()
    order = np.array([2, 0, 1])
    options = {**options, "n_draws": 500, "thin": 1}
    mean, error = errors_of(fit(options, X, Y))
    other, more = errors_of(fit(options, X, Y[:, order]))
    shape = (4, 3)
    gap = mean.reshape(shape)[:, order] - other.reshape(shape)
    assert (
        np.abs(gap) < BOUND * np.hypot(error.reshape(shape)[:, order], more.reshape(shape))
    ).all()


# -- rotations ---------------------------------------------------------------------------------


@SHORT_CHAINS
@pytest.mark.parametrize("likelihood", ["gaussian", "laplace"])
def test_rotations_of_inputs_do_not_matter(likelihood):
    X, Y, _ = make_low_rank_regression(60, 5, 3, rank=2, noise=0.7, random_state=1)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 5)))[0]
    options = {"likelihood": likelihood, "n_draws": 500, "thin": 1}
    plain, turned = fit(options, X, Y), fit(options, X @ turn, Y)
    mean, error = errors_of(plain)
    back, more = errors_of(turned)
    C = turn @ back.reshape(5, 3)
    more = np.sqrt((turn**2) @ more.reshape(5, 3) ** 2)
    assert (np.abs(mean - C.ravel()) < BOUND * np.hypot(error, more.ravel())).all()
    assert_allclose(plain.coef_mode_, (turn @ turned.coef_mode_.T).T, atol=2e-3)


@SHORT_CHAINS
@pytest.mark.parametrize("noise", ["common", "full"])
def test_rotations_of_outputs_do_not_matter_where_they_share_units(noise):
    X, Y, _ = make_low_rank_regression(60, 5, 3, rank=2, noise=0.7, random_state=1)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    options = {"units": "common", "noise": noise, "n_draws": 1000}
    plain, turned = fit(options, X, Y), fit(options, X, Y @ turn)
    mean, error = errors_of(plain)
    back, more = errors_of(turned)
    more = np.sqrt((more.reshape(5, 3) ** 2) @ (turn.T**2)).ravel()
    C = back.reshape(5, 3) @ turn.T
    assert (np.abs(mean - C.ravel()) < BOUND * np.hypot(error, more)).all()
    assert_allclose(plain.coef_mode_, turn @ turned.coef_mode_, atol=1e-6)


# -- intervals ---------------------------------------------------------------------------------

LEVELS = np.array([0.05, 2.0])


def coverage(options, likelihood, n_sets=40, n_train=60, n_test=50):
    """Share of new values inside 90 % intervals, of each training set and output."""
    shares = []
    for seed in range(n_sets):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n_train + n_test, 3))
        draw = rng.laplace if likelihood == "laplace" else rng.normal
        Y = X @ np.outer([1.0, -0.5, 0.3], [1.0, 0.8]) + LEVELS * draw(size=(len(X), 2))
        model = BayesianStiefelRegression(
            1,
            likelihood=likelihood,
            n_chains=1,
            n_warmup=60,
            n_draws=300,
            thin=1,
            random_state=seed,
        ).set_params(**options)
        bounds = model.fit(X[:n_train], Y[:n_train]).predict(X[n_train:], interval=0.9)[1]
        inside = (bounds[..., 0] < Y[n_train:]) & (Y[n_train:] < bounds[..., 1])
        shares.append(inside.mean(axis=0))
    shares = np.array(shares)
    return shares.mean(axis=0), shares.std(axis=0, ddof=1) / np.sqrt(n_sets)


@SHORT_CHAINS
@pytest.mark.parametrize(
    ("options", "likelihood", "n_sets"),
    [({}, "gaussian", 40), ({"noise": "full"}, "gaussian", 40), ({}, "laplace", 12)],
    ids=["per_output", "full", "laplace"],
)
def test_intervals_cover_each_output(options, likelihood, n_sets):
    """Noise of 0.05 and 2: 0.90 for each output, within the error over the training sets."""
    share, error = coverage(options, likelihood, n_sets)
    # Of few sets the error itself is known to a fifth: 12 of Student's law beyond 9 are 2e-6.
    bound = BOUND if n_sets > 30 else 9.0
    assert (np.abs(share - 0.9) < bound * error).all(), (share, error)


@SHORT_CHAINS
def test_one_level_for_all_outputs_does_not_cover():
    """The negative control: what is asked for with ``noise="common"`` in one unit."""
    share, error = coverage({"noise": "common", "units": "common"}, "gaussian", n_sets=15)
    assert share[0] > 0.99 and share[1] < 0.9 - BOUND * error[1], (share, error)


@SHORT_CHAINS
def test_a_covariance_is_found_and_drawn_from():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    L = np.array([[1.0, 0.0], [27.0, 12.0]])
    Y = X @ np.outer([1.0, -0.5, 0.3], [1.0, 40.0]) + rng.normal(size=(400, 2)) @ L.T
    model = fit({"n_components": 1, "noise": "full"}, X, Y)
    found = model.noise_covariance_
    correlation = found[0, 1] / np.sqrt(found[0, 0] * found[1, 1])
    true = 27 / np.sqrt(27**2 + 12**2)
    assert abs(np.arctanh(correlation) - np.arctanh(true)) < BOUND / np.sqrt(400 - 3)
    new = model.sample_y(np.zeros((1, 3)), 200, random_state=1)[0]
    assert abs(np.arctanh(np.corrcoef(new)[0, 1]) - np.arctanh(true)) < BOUND * 0.09
    plain = fit({"n_components": 1}, X, Y)
    gain = model.log_likelihood(X, Y).mean(axis=0) - plain.log_likelihood(X, Y).mean(axis=0)
    assert gain.mean() > 0.5  # minus log(1 - true^2) / 2 is 0.9
    blocks = BayesianStiefelRegression(1, noise="full", **SHORT)
    for part in np.split(np.arange(400), [150, 270]):
        blocks.partial_fit(X[part], Y[part])
    assert_allclose(blocks.noise_covariance_, model.noise_covariance_, rtol=1e-6)
    auto = fit({"n_components": "auto", "noise": "full"}, X, Y)
    assert auto.n_components_ == 1 or auto.loo_[2].elpd > auto.loo_[1].elpd
