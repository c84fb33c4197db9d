"""Oracles: all orders of a few ranks, the false-alarm rate that is stated, planted order and drift."""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.auto import MethodSearchCV
from isthmus.auto.trust import _parts_neighbours
from isthmus.inspection import order
from isthmus.inspection.order import neighbour_p_value, trend_p_value


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_moments_are_those_of_all_orders():
    """Mean 2 and the variance of the docstring's law, over all 5040 orders of seven ranks."""
    n = 7
    ranks = np.array(list(permutations(range(n))), dtype=float)
    ratio = (np.diff(ranks, axis=1) ** 2).sum(axis=1) / ((ranks[0] - ranks[0].mean()) ** 2).sum()
    assert_allclose(ratio.mean(), 2, rtol=1e-12)
    variance = 4 * (n - 2) * (5 * n**2 - 2 * n - 9) / (5 * n * (n + 1) * (n - 1) ** 2)
    assert_allclose(ratio.var(), variance, rtol=1e-12)


@pytest.mark.parametrize("n_targets", [1, 4])
@pytest.mark.parametrize("n", [20, 100])
def test_false_alarms_are_as_rare_as_stated(rng, n, n_targets):
    """Heavy tails, correlated outputs: of 2000 tables 20 are expected below 0.01; 45 have 1e-6."""
    tables = rng.standard_t(2, size=(2000, n, n_targets))
    tables[..., -1] += tables[..., 0]
    assert sum(neighbour_p_value(table) < 0.01 for table in tables) < 45


def test_neighbours_alike_are_found_and_units_do_not_matter(rng):
    steps = rng.standard_normal((120, 2))
    for i in range(1, 120):
        steps[i, 1] += 0.6 * steps[i - 1, 1]
    found = neighbour_p_value(steps)
    assert found < 1e-4
    assert found == neighbour_p_value(steps * [1e-9, 1e5] + 3)
    assert neighbour_p_value(steps[: order._FEWEST_ROWS - 1]) == 1.0
    assert neighbour_p_value(np.ones((50, 1))) == 1.0


def test_trend(rng):
    noise = rng.standard_normal(60)
    assert trend_p_value(noise) > 1e-3
    assert trend_p_value(noise + np.linspace(0, 4, 60)) < 1e-6
    assert trend_p_value(np.r_[np.nan, noise]) == trend_p_value(noise)
    assert trend_p_value(np.zeros(9)) == 1.0


def test_folds_of_blocks_keep_neighbours_together():
    shuffled = [(np.arange(0), np.arange(k, 40, 4)) for k in range(4)]
    blocks = [(np.arange(0), np.arange(10 * k, 10 * k + 10)) for k in range(4)]
    assert _parts_neighbours(shuffled, 40)
    assert not _parts_neighbours(blocks, 40)


def drifting(rng, n=150):
    """A slow wave in the outputs that the inputs do not show."""
    X = rng.standard_normal((n, 4))
    return X, X[:, 0] + np.sin(np.arange(n) / 8) + 0.2 * rng.standard_normal(n)


def test_an_ordered_table_is_told(rng):
    X, y = drifting(rng)
    with pytest.warns(UserWarning, match="rows look ordered"):
        search = MethodSearchCV("pls").fit(X, y)
    assert "rows look ordered" in search.notices_[0]
    assert search.training_summary()["notices"] == list(search.notices_)
    for options in ({"groups": np.arange(150) % 10}, {}):
        cv = 5 if options else "time"
        assert MethodSearchCV("pls", cv=cv).fit(X, y, **options).notices_ == ()
    mixed = rng.permutation(len(X))
    assert MethodSearchCV("pls").fit(X[mixed], y[mixed]).notices_ == ()
