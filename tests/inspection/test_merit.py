"""Oracles: numpy and scikit-learn's metrics, closed forms of planted errors, laws of units."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import linregress
from sklearn.metrics import r2_score, root_mean_squared_error

from isthmus.inspection import figures_of_merit, rmse


@pytest.fixture
def pair(rng):
    Y = rng.normal(5, [1.0, 30.0], size=(40, 2))
    return Y, 0.9 * Y + rng.normal(0.3, 0.2, size=Y.shape)


def test_figures_are_those_of_other_libraries(pair):
    Y, P = pair
    found = figures_of_merit(Y, P)
    assert_allclose(found.rmse, root_mean_squared_error(Y, P, multioutput="raw_values"))
    assert_allclose(found.r2, r2_score(Y, P, multioutput="raw_values"))
    assert_allclose(found.bias, (P - Y).mean(axis=0))
    assert_allclose(found.sep, (P - Y).std(axis=0, ddof=1))
    assert_allclose(found.rpd, Y.std(axis=0, ddof=1) / (P - Y).std(axis=0, ddof=1))
    assert_allclose(found.rpiq, np.subtract(*np.percentile(Y, [75, 25], axis=0)) / found.rmse)
    lines = [linregress(P[:, j], Y[:, j]) for j in range(2)]
    assert_allclose(found.slope, [line.slope for line in lines])
    assert_allclose(found.intercept, [line.intercept for line in lines])
    assert_allclose(found.rmse**2, found.bias**2 + found.sep**2 * 39 / 40)


def test_units_of_an_output_are_units_of_its_errors(pair):
    Y, P = pair
    plain, scaled = figures_of_merit(Y, P), figures_of_merit(1e3 * Y + 7, 1e3 * P + 7)
    for name in ("rmse", "bias", "sep"):
        assert_allclose(getattr(scaled, name), 1e3 * getattr(plain, name))
    for name in ("slope", "r2", "rpd", "rpiq"):
        assert_allclose(getattr(scaled, name), getattr(plain, name))


def test_one_output_is_a_float_and_unknown_references_are_left_out(pair):
    Y, P = pair
    y, p = Y[:, 0].copy(), P[:, 0]
    y[::3] = np.nan
    found = figures_of_merit(y, p)
    kept = ~np.isnan(y)
    assert isinstance(found.rmse, float) and found.n == kept.sum()
    assert found == figures_of_merit(y[kept], p[kept])
    assert rmse(y, p) == found.rmse


def test_the_table_has_the_names_of_the_outputs(pair):
    table = figures_of_merit(*pair).table(["fat", "water"])
    assert list(table) == ["fat", "water"]
    assert table["fat"]["rmse"] == figures_of_merit(*pair).rmse[0]
    assert list(figures_of_merit(*pair).table()) == ["y0", "y1"]
    with pytest.raises(ValueError, match="names has 1 entries"):
        figures_of_merit(*pair).table(["fat"])


def test_what_is_not_determined_is_nan():
    exact = figures_of_merit([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    assert exact.rmse == 0 and exact.rpd == np.inf and exact.r2 == 1
    constant = figures_of_merit([2.0, 2.0], [2.0, 2.0])
    assert np.isnan([constant.r2, constant.slope, constant.rpd]).all()
    missed = figures_of_merit([0.1] * 7, np.arange(7.0))  # their mean is not 0.1 to the last digit
    for figure in ("r2", "slope", "intercept", "rpd", "rpiq"):
        assert np.isnan(getattr(missed, figure)), figure
    assert missed.bias == pytest.approx(2.9) and missed.sep == pytest.approx(
        np.std(range(7), ddof=1)
    )
    alone = figures_of_merit([2.0], [3.0])
    assert alone.rmse == 1 and np.isnan(alone.sep)
    assert figures_of_merit([np.nan], [3.0]).n == 0
    with pytest.raises(ValueError, match="y has 1 outputs and prediction 2"):
        figures_of_merit([1.0, 2.0], np.zeros((2, 2)))
