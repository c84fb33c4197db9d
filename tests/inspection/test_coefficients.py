"""Oracles: an explicit loop, closed forms of leave-one-out and of robust least squares errors."""

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.base import clone

from isthmus import PCR, PLS, ReducedRankRegression
from isthmus.inspection import coefficient_intervals


def jackknife_by_hand(estimator, X, y, weights):
    """Standard errors by the textbook sum over fits without one row."""
    coefs = []
    for i in range(len(X)):
        rows = [j for j in range(len(X)) if j != i]
        coefs.append(clone(estimator).fit(X[rows], y[rows], sample_weight=weights[rows]).coef_)
    mean = sum(coefs) / len(coefs)
    return np.sqrt((len(X) - 1) / len(X) * sum((b - mean) ** 2 for b in coefs))


@pytest.mark.parametrize("estimator", [PCR(3), PLS(2), ReducedRankRegression(1, alpha=2.0)])
@pytest.mark.parametrize("weighted", [False, True])
def test_jackknife_is_the_explicit_loop(estimator, weighted, fitted, rng):
    model, X, y = fitted(estimator)
    weights = rng.uniform(0.2, 3, size=len(X)) if weighted else np.ones(len(X))
    model.fit(X, y, sample_weight=weights)
    found = coefficient_intervals(model, X, y, sample_weight=weights if weighted else None)
    error = jackknife_by_hand(estimator, X, y, weights)
    reach = stats.t.ppf(0.975, len(X) - 1) * error
    assert_allclose(found.standard_error, error, rtol=1e-8)
    assert_array_equal(found.coef, model.coef_)
    assert_allclose(found.lower, model.coef_ - reach, rtol=1e-8)
    assert_allclose(found.upper, model.coef_ + reach, rtol=1e-8)


@pytest.mark.parametrize("estimator", [PCR(), PLS(6), ReducedRankRegression(alpha=0.0)])
def test_jackknife_of_least_squares_has_a_closed_form(estimator, data):
    X, Y = data
    found = coefficient_intervals(estimator.fit(X, Y[:, 0]), X, Y[:, 0])
    A = np.column_stack([np.ones(len(X)), X])
    pinv = np.linalg.pinv(A)
    residuals = Y[:, 0] - A @ pinv @ Y[:, 0]
    changes = pinv * residuals / (1 - np.diag(A @ pinv))  # b - b without row i, one column each
    spread = (changes - changes.mean(axis=1, keepdims=True)) ** 2
    error = np.sqrt(39 / 40 * spread.sum(axis=1))[1:]
    assert_allclose(found.standard_error, error, rtol=1e-6)


def test_bootstrap_is_near_the_sandwich_of_least_squares(rng):
    # Unequal variances: the classical standard errors are wrong by a factor here.
    X = rng.normal(size=(300, 3)) @ np.diag([1, 3, 0.5]) + 4
    y = X @ [1, -2, 0.5] + rng.normal(size=300) * (0.2 + np.abs(X[:, 1] - 4))
    model = PLS(3).fit(X, y)
    found = coefficient_intervals(
        model, X, y, method="bootstrap", n_resamples=600, level=0.9, random_state=0
    )
    A = np.column_stack([np.ones(300), X])
    inverse, e = np.linalg.inv(A.T @ A), y - model.predict(X)
    sandwich = inverse @ (A.T * e**2) @ A @ inverse
    error = np.sqrt(np.diag(sandwich))[1:]
    classical = np.sqrt((e @ e) / 296 * np.diag(inverse))[1:]
    assert np.abs(error / classical - 1).max() > 0.3
    assert_allclose(found.standard_error, error, rtol=0.12)
    assert_allclose(found.upper - found.lower, 2 * stats.norm.ppf(0.95) * error, rtol=0.15)
    assert (np.abs(found.upper + found.lower - 2 * model.coef_) < 0.6 * error).all()


def test_bootstrap_depends_on_the_seed_alone(data):
    X, Y = data
    model = PLS(2).fit(X, Y)

    def ask(seed, n_jobs):
        with parallel_config(backend="threading"):  # processes would take seconds to start
            return coefficient_intervals(
                model, X, Y, method="bootstrap", n_resamples=20, random_state=seed, n_jobs=n_jobs
            ).lower

    assert_array_equal(ask(0, None), ask(0, 2))
    assert not np.allclose(ask(0, None), ask(1, None))


def test_rows_without_weight_are_not_counted(data):
    X, Y = data
    weights = np.r_[np.zeros(5), np.ones(35)]
    model = PLS(2).fit(X[5:], Y[5:])
    with_zeros = coefficient_intervals(model, X, Y, sample_weight=weights)
    without = coefficient_intervals(model, X[5:], Y[5:])
    assert_allclose(with_zeros.upper, without.upper)


@pytest.mark.parametrize("method", ["jackknife", "bootstrap"])
def test_constant_input_and_no_components(method, data):
    X, Y = data
    X = X.copy()
    X[:, 2] = 7.1
    asked = {"method": method, "n_resamples": 10, "random_state": 0}
    found = coefficient_intervals(PLS(2).fit(X, Y), X, Y, **asked)
    for array in (found.coef, found.standard_error, found.lower, found.upper):
        assert_array_equal(array[:, 2], 0)
    nothing = coefficient_intervals(ReducedRankRegression(0).fit(X, Y), X, Y, **asked)
    assert_array_equal(nothing.upper, np.zeros((3, 6)))


def test_more_columns_than_rows(rng):
    X = rng.normal(size=(12, 40))
    y = X[:, 0] + 0.1 * rng.normal(size=12)
    found = coefficient_intervals(PLS(3).fit(X, y), X, y)
    assert found.lower.shape == (40,)
    assert (found.lower < found.upper).all()


def test_the_chosen_number_of_components_is_held(data):
    X, Y = data
    chosen = PLS("auto").fit(X, Y)
    fixed = PLS(chosen.n_components_).fit(X, Y)
    assert_allclose(
        coefficient_intervals(chosen, X, Y).standard_error,
        coefficient_intervals(fixed, X, Y).standard_error,
    )


@pytest.mark.parametrize("unit", [1e200, 1e-200])
@pytest.mark.parametrize("method", ["jackknife", "bootstrap"])
def test_coefficients_in_any_unit_have_their_errors(method, unit):
    """Inputs of 1e200 have coefficients of 1e-200, whose squares are zero."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    Y = X @ rng.normal(size=(3, 2)) + rng.normal(size=(30, 2))
    options = {"method": method, "random_state": 0, "n_resamples": 20}
    plain, other = (coefficient_intervals(PLS(2).fit(A, Y), A, Y, **options) for A in (X, unit * X))
    for part in ("standard_error", "lower", "upper"):
        assert_allclose(getattr(other, part) * unit, getattr(plain, part), rtol=1e-9)
