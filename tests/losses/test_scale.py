"""Oracles: the closed formula, repetition, and the efficiency the constants are known for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.stats import norm

from isthmus._linalg import weighted_median
from isthmus.losses import EpsilonInsensitive, Huber, HuberRows, LogCosh, Squared
from isthmus.losses.registry import get_loss
from isthmus.losses.scale import robust_scale


@pytest.fixture(params=range(3))
def residual(request):
    return np.random.default_rng(request.param).normal(3.0, 2.0, size=(60, 5))


def mad(e):
    return 1.4826 * np.median(abs(e - np.median(e)))


def test_scale_is_the_median_deviation_of_all_entries(residual):
    assert_allclose(robust_scale(residual), mad(residual), rtol=1e-14)


def test_scale_ignores_outliers_and_follows_units(residual):
    spoilt = residual.copy()
    spoilt[:9, 1] = 1e12
    assert_allclose(robust_scale(spoilt), robust_scale(residual), rtol=0.1)
    for unit in (1e-200, 1e200):
        assert_allclose(robust_scale(unit * residual), unit * robust_scale(residual), rtol=1e-12)


@pytest.mark.parametrize("last", [0, 1, 2])  # odd and even numbers of entries
def test_weights_are_repetition(residual, last):
    weight = np.random.default_rng(0).integers(0, 4, size=60)
    weight[-1] = last
    repeated = np.repeat(residual, weight, axis=0)
    assert_allclose(robust_scale(residual, weight), robust_scale(repeated), rtol=1e-14)
    for name in ("huber", "huber_rows", "epsilon_insensitive", "log_cosh"):
        by_weight = get_loss(name).resolve(residual, weight)
        by_rows = get_loss(name).resolve(repeated)
        assert_allclose(vars(by_weight).popitem()[1], vars(by_rows).popitem()[1], rtol=1e-14)


def test_fallbacks_where_most_residuals_are_equal():
    mostly = np.zeros((10, 1))
    mostly[0] = 5.0
    assert_allclose(robust_scale(mostly), mostly.std())
    assert_allclose(robust_scale(1e200 * mostly), 1e200 * mostly.std())
    assert robust_scale(np.full((4, 2), 7.0)) == 1.0


def test_parameters_left_at_none_come_from_the_scale(residual):
    assert_allclose(Huber().resolve(residual).delta, 1.345 * mad(residual))
    assert_allclose(LogCosh().resolve(residual).delta, 1.205 * mad(residual))
    assert_allclose(EpsilonInsensitive().resolve(residual).epsilon, 0.1 * mad(residual))
    lengths = np.linalg.norm(residual, axis=1)
    assert_allclose(HuberRows().resolve(residual).delta, 1.2 * np.median(lengths))
    rounded = EpsilonInsensitive().smooth(0.1).resolve(residual)
    assert_allclose(rounded.original.epsilon, 0.1 * mad(residual))


def test_parameters_that_were_given_stay(residual):
    for loss in (Huber(3.0), HuberRows(3.0), LogCosh(3.0), EpsilonInsensitive(3.0), Squared()):
        assert loss.resolve(residual) == loss


@pytest.mark.parametrize("loss", [Huber(), HuberRows(), LogCosh(), EpsilonInsensitive()])
def test_unresolved_loss_says_what_to_do(loss):
    with pytest.raises(ValueError, match=r"is None: give a number, or .*resolve\(residual\)"):
        loss.value([[1.0]], [[0.0]])


@pytest.mark.parametrize("loss", [Huber(1.345), LogCosh(1.205)])
def test_constants_are_95_percent_efficient_for_gaussian_errors(loss):
    def psi(e):
        return loss.rho_and_psi(np.array([e]))[1][0]

    slope = quad(lambda e: (psi(e + 1e-5) - psi(e - 1e-5)) / 2e-5 * norm.pdf(e), -9, 9, limit=200)
    spread = quad(lambda e: psi(e) ** 2 * norm.pdf(e), -9, 9, limit=200)
    assert_allclose(slope[0] ** 2 / spread[0], 0.95, atol=1e-3)


def test_row_weights_are_those_of_reweighted_least_squares(residual):
    loss = HuberRows(4.0)
    gradient = loss.gradient(residual, np.zeros_like(residual))
    assert_allclose(gradient, -loss.row_weights(residual)[:, None] * residual, rtol=1e-14)
    assert loss.row_weights(np.zeros((1, 3))) == 1


@pytest.mark.parametrize(
    "values",
    [
        np.random.default_rng(0).normal(size=(500, 201)),
        np.sort(np.random.default_rng(1).standard_cauchy(size=2**17)),
        np.random.default_rng(2).integers(0, 5, size=100_000).astype(float),
        np.tile([1.0, 2.0, 3.0, 4.0], 2**15),
        np.repeat([0.0, 1.0], [2**17, 3]),
        np.where(np.arange(2**17) % 32, 1.0, -1.0),  # every row that a sample sees is an exception
        np.append(np.zeros(2**17), np.nan),
    ],
    ids=["odd", "sorted", "ties", "periodic", "alike", "deceiving", "nan"],
)
def test_median_of_very_many(values):
    """By a sample first, and still the same number."""
    assert_array_equal(weighted_median(values.ravel()), np.median(values))
