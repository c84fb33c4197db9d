"""Oracles: Mahalanobis distances, hat matrices, reconstructions, and false alarms by simulation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from isthmus import PCR, PLS, ReducedRankRegression
from isthmus.inspection import hotelling_t2, leverage, q_residuals
from isthmus.inspection.outliers import _quadratic_form_quantile

FULL_RANK = [PCR(), PCR(scale=True), PLS(6), PLS(6, scale=False)]


def squared_mahalanobis(A, training):
    precision = np.linalg.inv(np.cov(training.T))
    return cdist(A, training.mean(axis=0)[None], "mahalanobis", VI=precision)[:, 0] ** 2


@pytest.mark.parametrize("estimator", FULL_RANK, ids=repr)
def test_t2_of_all_components_is_the_mahalanobis_distance(estimator, data, rng):
    X, Y = data
    new = rng.normal(size=(5, 6)) + X.mean(axis=0)
    found = hotelling_t2(estimator.fit(X, Y), new)
    assert_allclose(found.values, squared_mahalanobis(new, X), rtol=1e-8)


def test_t2_is_the_mahalanobis_distance_of_the_scores(model, data):
    X, _ = data
    T = model.transform(X)
    assert_allclose(hotelling_t2(model, X).values, squared_mahalanobis(T, T), rtol=1e-8)


def within(rates, expected, bias=0.0):
    """Five standard errors, beyond which a right program is with a probability of 6e-7."""
    error = np.std(rates, ddof=1) / np.sqrt(len(rates))
    assert abs(np.mean(rates) - expected) < bias + 5 * error


@pytest.mark.parametrize("training", [False, True])
def test_t2_false_alarms(training):
    # So few rows that a chi-square limit would be passed by 30 % and not 5 % of new rows.
    rng = np.random.default_rng(0)
    rates = []
    for _ in range(1000):
        X = rng.normal(size=(7, 3)) * [1, 2, 3] + 10
        model = PCR().fit(X, X[:, 0])
        rows = X if training else rng.normal(size=(100, 3)) * [1, 2, 3] + 10
        rates.append(hotelling_t2(model, rows, training=training).outlying.mean())
    within(rates, 0.05)


def test_q_is_the_distance_from_the_reconstruction(model, data, rng):
    X, _ = data
    new = X[:7] + rng.normal(size=(7, 6))
    missed = (new - model.inverse_transform(model.transform(new))) / model.x_scale_
    assert_allclose(q_residuals(model, new, X).values, (missed**2).sum(axis=1))


@pytest.mark.parametrize("estimator", [PCR(3), PLS(3), ReducedRankRegression(2, alpha=1.0)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_q_false_alarms(estimator, level):
    rng = np.random.default_rng(0)
    loadings, coef = rng.normal(size=(3, 30)), rng.normal(size=(3, 2))

    def draw(n):
        T = rng.normal(size=(n, 3))
        return T @ loadings + 0.4 * rng.normal(size=(n, 30)) - 5, T @ coef + rng.normal(size=(n, 2))

    rates = []
    for _ in range(30):
        X, Y = draw(100)
        rates.append(q_residuals(estimator.fit(X, Y), draw(500)[0], X, level=level).outlying.mean())
    within(rates, 1 - level, bias=0.15 * (1 - level))  # the limit is an approximation


@pytest.mark.parametrize(
    "eigenvalues",
    [np.ones(1), np.ones(20), 0.8 ** np.arange(15), np.r_[1, np.full(40, 0.03)]],
    ids=["one", "equal", "decaying", "one and many small"],  # the last beyond any power
)
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_q_limit_is_the_quantile_of_the_sum_of_chi_squares(eigenvalues, level):
    rng = np.random.default_rng(0)
    draws = rng.chisquare(1, size=(200_000, len(eigenvalues))) @ eigenvalues
    assert_allclose(
        (draws > _quadratic_form_quantile(eigenvalues, level)).mean(), 1 - level, rtol=0.15
    )


def test_q_limit_comes_from_the_training_rows_alone(data):
    X, Y = data
    model = PLS(2).fit(X, Y)
    far = X + 100 * np.eye(6)[0]
    assert q_residuals(model, far, X).limit == q_residuals(model, X).limit
    assert q_residuals(model, far, X).outlying.all()


@pytest.mark.parametrize("estimator", FULL_RANK, ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_leverage_of_all_components_is_the_hat_matrix(estimator, weighted, data, rng):
    X, Y = data
    weights = rng.uniform(0.5, 3, size=len(X)) if weighted else np.ones(len(X))
    model = estimator.fit(X, Y, sample_weight=weights)
    A = np.sqrt(weights)[:, None] * np.column_stack([np.ones(len(X)), X])
    hat = A @ np.linalg.pinv(A)
    assert_allclose(leverage(model, X, sample_weight=weights), np.diag(hat), rtol=1e-8)


def test_leverage_sums_to_the_components_and_the_mean(model, data):
    assert_allclose(leverage(model, data[0]).sum(), model.n_components_ + 1)


def test_weights_are_repeated_rows(data, rng):
    X, Y = data
    times = rng.integers(0, 4, size=len(X))
    X_all, Y_all = np.repeat(X, times, axis=0), np.repeat(Y, times, axis=0)
    weighted, repeated = PLS(2).fit(X, Y, sample_weight=times), PLS(2).fit(X_all, Y_all)
    for ask in (hotelling_t2, lambda m, A: hotelling_t2(m, A, training=True)):
        assert_allclose(ask(weighted, X).values, ask(repeated, X).values, rtol=1e-8)
        assert_allclose(ask(weighted, X).limit, ask(repeated, X).limit)
    assert_allclose(leverage(weighted, X), leverage(repeated, X), rtol=1e-8)
    assert_allclose(
        q_residuals(weighted, X, sample_weight=times).limit,
        q_residuals(repeated, X, X_all).limit,
        rtol=1e-8,
    )


def test_no_components(data):
    X, Y = data
    model = ReducedRankRegression(0).fit(X, Y)
    t2 = hotelling_t2(model, X)
    assert_array_equal(t2.values, np.zeros(40))
    assert t2.limit == 0 and not t2.outlying.any()
    assert_allclose(leverage(model, X), 1 / 40)
    assert_allclose(q_residuals(model, X).values, ((X - X.mean(axis=0)) ** 2).sum(axis=1))


def test_a_planted_outlier_stands_out(rng):
    T = rng.normal(size=(60, 2))
    plane = np.linalg.qr(rng.normal(size=(8, 2)))[0].T
    X = T @ plane + 0.05 * rng.normal(size=(60, 8))
    model = PCR(2).fit(X, T[:, 0])
    within = 6 * plane[0]
    outside = rng.normal(size=8)
    outside -= plane.T @ (plane @ outside)
    rows = np.array([within, outside, X.mean(axis=0)])
    assert_array_equal(hotelling_t2(model, rows).outlying, [True, False, False])
    assert_array_equal(q_residuals(model, rows, X).outlying, [False, True, False])


def test_limits_need_degrees_of_freedom(rng):
    X = rng.normal(size=(6, 10))
    model = PCR().fit(X, X[:, 0])  # five components
    assert np.isfinite(hotelling_t2(model, X).limit)
    with pytest.raises(ValueError, match="total weight 6, must be > 6"):
        hotelling_t2(model, X, training=True)
    with pytest.raises(ValueError, match="leave 0 degrees of freedom after 5 components"):
        q_residuals(model, X)
