"""Oracles: the formula in scores, correlations with the prediction, planted irrelevant inputs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isthmus import PCR, PLS, ReducedRankRegression
from isthmus.inspection import selectivity_ratio, vip


def test_vip_squares_sum_to_the_number_of_inputs(model):
    assert_allclose((vip(model) ** 2).sum(), 6)


@pytest.mark.parametrize("estimator", [PLS(3), PLS(2, scale=False)])
def test_vip_of_pls_is_the_formula_in_scores(estimator, fitted):
    model, X, _ = fitted(estimator)
    T, W, Q = model.transform(X), model.x_weights_, model.y_loadings_
    by_component = [(T[:, a] ** 2).sum() * (Q[:, a] ** 2).sum() for a in range(T.shape[1])]
    numerator = sum(s * W[:, a] ** 2 for a, s in enumerate(by_component))
    assert_allclose(vip(model), np.sqrt(6 * numerator / sum(by_component)))


def test_vip_of_one_component_is_its_weight(fitted):
    model, _, _ = fitted(PLS(1))
    assert_allclose(vip(model), np.sqrt(6) * np.abs(model.x_weights_[:, 0]))


def test_vip_finds_the_inputs_that_matter(rng):
    X = rng.normal(size=(300, 10))
    importance = vip(PLS(2).fit(X, X[:, 2] - X[:, 7] + 0.1 * rng.normal(size=300)))
    assert set(np.argsort(importance)[-2:]) == {2, 7}
    assert importance[[2, 7]].min() > 1 > np.delete(importance, [2, 7]).max()


def test_constant_input_and_nothing_explained(data):
    X, Y = data
    X = X.copy()
    X[:, 1] = 3.7
    model = PLS(2).fit(X, Y)
    assert vip(model)[1] == 0
    assert_array_equal(selectivity_ratio(model, X)[:, 1], 0)
    nothing = ReducedRankRegression(0).fit(X, Y)
    assert_array_equal(vip(nothing), np.zeros(6))
    assert_array_equal(selectivity_ratio(nothing, X), np.zeros((3, 6)))


def test_selectivity_of_a_constant_input_is_not_that_of_its_rounding(data, rng):
    X, Y = data
    X, missed = X.copy(), 0
    for constant in rng.normal(size=10) * 1e6:
        X[:, 1] = constant
        weights = rng.uniform(0.1, 3, size=len(X))
        model = PLS(2).fit(X, Y[:, 0], sample_weight=weights)
        missed += model.x_mean_[1] != constant  # by a unit in the last place
        assert selectivity_ratio(model, X, sample_weight=weights)[1] == 0
    assert missed


@pytest.mark.parametrize("estimator", [PCR(3), PLS(2), ReducedRankRegression(1, alpha=2.0)])
def test_selectivity_is_the_correlation_with_the_prediction(estimator, fitted):
    model, X, _ = fitted(estimator)
    found = selectivity_ratio(model, X)
    assert found.shape == model.coef_.shape
    predictions = model.predict(X).reshape(len(X), -1)
    r = np.corrcoef(X.T, predictions.T)[:6, 6:].T
    assert_allclose(np.atleast_2d(found), r**2 / (1 - r**2), rtol=1e-8)


def test_selectivity_weights_are_repeated_rows(data, rng):
    X, Y = data
    times = rng.integers(0, 4, size=len(X))
    model = PLS(2).fit(X, Y, sample_weight=times)
    repeated = selectivity_ratio(model, np.repeat(X, times, axis=0))
    assert_allclose(selectivity_ratio(model, X, sample_weight=times), repeated)


def test_an_input_that_is_the_prediction_is_infinitely_selective(data):
    X, Y = data
    model = PLS(1).fit(X[:, :1], Y[:, 0])
    assert_array_equal(selectivity_ratio(model, X[:, :1]), [np.inf])


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_ratios_of_huge_and_tiny_outputs(unit):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 5))
    Y = X @ rng.normal(size=(5, 2)) + rng.normal(size=(30, 2))
    plain, other = (selectivity_ratio(PLS(2).fit(X, B), X) for B in (Y, unit * Y))
    assert_allclose(other, plain, rtol=1e-9)
