"""Oracles: all orders of a few ranks, the false-alarm rate that is stated, planted order and drift."""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge
from sklearn.model_selection import TimeSeriesSplit

from isthmus.auto import MethodSearchCV
from isthmus.auto.blends import blend_weights
from isthmus.auto.trust import _parts_neighbours
from isthmus.inspection import Trusted, order
from isthmus.inspection.order import Order, neighbour_p_value, trend_p_value


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
    assert neighbour_p_value(steps[: order._FEWEST_TO_ORDER - 1]) == 1.0
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
    """Folds that were asked for stay; the warning says what to ask for."""
    X, y = drifting(rng)
    with pytest.warns(UserWarning, match="rows look ordered.*predicted worse"):
        search = MethodSearchCV("pls", cv=5).fit(X, y)
    assert "rows look ordered" in search.notices_[0] and search.cv_ == 5
    assert search.training_summary()["notices"] == list(search.notices_)
    for options in ({"groups": np.arange(150) % 10}, {}):
        cv = "auto" if options else "time"
        assert MethodSearchCV("pls", cv=cv).fit(X, y, **options).notices_ == ()
    mixed = rng.permutation(len(X))
    assert MethodSearchCV("pls").fit(X[mixed], y[mixed]).notices_ == ()


@pytest.mark.filterwarnings("ignore:the rows look ordered")
@pytest.mark.parametrize(("methods", "chosen"), [(["pls"], "pls"), (["ridge", "kernel"], "blend")])
def test_the_answer_is_chosen_in_shuffled_folds_and_judged_in_time(rng, methods, chosen):
    """Oracle: refits to the rows before each fold, blended by what shuffled folds said of those rows."""
    X, y = drifting(rng)
    y += 0.3 * X[:, 1] ** 2
    search = MethodSearchCV(methods).fit(X, y)
    shuffled = MethodSearchCV(methods, cv=5).fit(X, y)
    assert search.cv_ == "time" and search.best_method_ == shuffled.best_method_ == chosen
    assert f"score {search.best_score_:.3f}, {shuffled.best_score_:.3f} in" in search.notices_[0]
    assert f"{search.best_score_:.4f} in later rows" in repr(search)
    assert_array_equal(search.predict(X), shuffled.predict(X))
    for name, scores in shuffled.cv_results_.items():
        if "score" in name:
            assert_array_equal(search.cv_results_[name], scores)

    left_out = [MethodSearchCV(name, cv=5).fit(X, y).cv_predictions_ for name in methods]
    expected = np.full((len(y), 1), np.nan)
    for train, test in TimeSeriesSplit(5).split(X):
        before = [MethodSearchCV(name, cv=5).fit(X[train], y[train]) for name in methods]
        parts = [model.predict(X[test]) for model in before]
        weights = blend_weights(y[train, None], [part[train] for part in left_out])
        expected[test, 0] = sum(w[0] * part for w, part in zip(weights, parts, strict=True))
    assert_allclose(search.cv_predictions_, expected, rtol=1e-9)
    off = np.abs(y[25:, None] - expected[25:])
    assert_allclose(search.residual_quantiles_, np.sort(off, axis=0), atol=1e-9)

    for name, limit in shuffled.domain_.limits.items():
        if name != "output":
            assert_allclose(search.domain_.limits[name], limit)
    wide, narrow = (
        np.median(np.subtract(*model.predict_interval(X)[::-1])) for model in (search, shuffled)
    )
    assert wide > narrow


def test_no_time_for_folds_in_time_leaves_the_warning(rng, monkeypatch):
    X, y = drifting(rng)
    clock = iter(np.arange(0, 1e6, 10.0))
    monkeypatch.setattr("isthmus.auto.search.time.perf_counter", lambda: next(clock))
    with pytest.warns(UserWarning, match="rows look ordered.*Give groups"):
        search = MethodSearchCV("pls", time_limit=15).fit(X, y)
    assert search.cv_ == "auto"


def test_any_estimator_has_errors_of_later_rows(rng):
    X, y = drifting(rng)
    with pytest.warns(UserWarning, match="rows look ordered.*later rows"):
        model = Trusted(Ridge()).fit(X, y)
    in_time, shuffled = (Trusted(Ridge(), cv=cv).fit(X, y) for cv in ("time", 5))
    assert shuffled.notices_ == () and "cv=5" in model.notices_[0]
    assert_array_equal(model.residual_quantiles_, in_time.residual_quantiles_)
    assert model.best_score_ == in_time.best_score_ < shuffled.best_score_
    assert model.domain_.limits == shuffled.domain_.limits
    # Errors in time over the scales of rows left out in shuffled folds: the first sixth has none.
    assert len(model.domain_.scaled_errors) == len(in_time.residual_quantiles_) == 125


def walks(rng, n):
    """A stationary drift of the outputs, which about forty rows carry on."""
    X, steps = rng.standard_normal((n, 4)), rng.standard_normal(n)
    for i in range(1, n):
        steps[i] = 0.95 * steps[i - 1] + np.sqrt(1 - 0.95**2) * steps[i]
    return X, X[:, 0] + 0.7 * steps + 0.3 * rng.standard_normal(n)


@pytest.mark.filterwarnings("ignore:the rows look ordered")
def test_intervals_of_later_rows_hold_more_than_those_of_shuffled_folds():
    """Of 60 drifts the gain is 0.040 with a spread of 0.060: the mean of 30 falls below 0 once in 7000."""
    gains = []
    for seed in range(30):
        X, y = walks(np.random.default_rng(seed), 180)
        held = []
        for cv in ("auto", 5):
            found = Trusted(Ridge(), cv=cv).fit(X[:150], y[:150]).check(X[150:])
            inside = (found.lower <= y[150:]) & (y[150:] <= found.upper)
            held.append(inside[~found.outside].mean())
        gains.append(held[0] - held[1])
    assert np.mean(gains) > 0


def test_a_sorted_table_keeps_shuffled_folds(rng):
    """A prediction lies nearer to the mean than the output: errors of neighbours are alike."""
    X = rng.standard_normal((150, 4))
    y = X[:, 0] + rng.standard_normal(150)
    order = np.argsort(-y)
    search = MethodSearchCV("pls").fit(X[order], y[order])  # a notice, no warning
    assert search.cv_ == "auto" and search.notices_[0].startswith("the rows are sorted by y0")
    assert Trusted(Ridge()).fit(X[order], y[order]).notices_ == search.notices_
    classes = np.repeat([[0.0], [1.0]], 75, axis=0)[rng.permutation(150)]
    errors = np.cumsum(rng.standard_normal((150, 1)), axis=0)
    found = Order.of(classes, classes - errors)
    assert found.is_seen and found.sorted_by is None and not found.asks_for_time


def test_tables_without_an_order_keep_shuffled_folds(rng):
    """Least squares in five folds of 400 tables: 0.4 alarms are expected; seven have a chance of 2e-7."""
    n, alarms = 40, 0
    folds = [np.arange(k, n, 5) for k in range(5)]
    for _ in range(400):
        X, y = rng.standard_normal((n, 4)), rng.standard_exponential((n, 1))
        left_out = np.empty((n, 1))
        for test in folds:
            train = np.setdiff1d(np.arange(n), test)
            left_out[test] = X[test] @ np.linalg.lstsq(X[train], y[train])[0]
        alarms += Order.of(y, left_out).asks_for_time
    assert alarms < 7
