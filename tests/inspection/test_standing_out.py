"""Oracles: the fit in which the spoiled rows are absent, planted faults; order, units and copies."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from isthmus import PLS, DependencyRegressor
from isthmus.datasets import make_spectra
from isthmus.features import NormalVariate
from isthmus.inspection import Domain, Trusted
from isthmus.inspection.standing_out import stand_out


def _saturate(X, rng):
    return np.minimum(X, np.quantile(X, 0.7, axis=1)[:, None])


def _spike(X, rng):
    X = X.copy()
    X[np.arange(len(X)), rng.integers(X.shape[1], size=len(X))] += 20 * X.std()
    return X


DAMAGE = {
    "times 5": lambda X, rng: 5 * X,
    "times 1e6": lambda X, rng: 1e6 * X,
    "offset": lambda X, rng: X + 10 * X.std(),
    "zero": lambda X, rng: 0 * X,
    "noise": lambda X, rng: X + X.std() * rng.standard_normal(X.shape),
    "reversed": lambda X, rng: X[:, ::-1],
    "saturated": _saturate,
    "spike": _spike,
}


def instruments(seed, n=48):
    """Rows of one instrument, new ones of it, and rows of another."""
    first, new, second = (
        make_spectra(m, instrument=name, random_state=3 * seed + k)
        for k, (m, name) in enumerate([(n, "primary"), (60, "primary"), (60, "secondary")])
    )
    return first.data, first.target, new.data, second.data


@pytest.mark.parametrize("n_spoiled", [1, 3, 5])
@pytest.mark.parametrize("kind", DAMAGE)
def test_spoiled_rows_do_not_switch_the_alarm_off(kind, n_spoiled):
    """The share of another instrument that is flagged, beside the fit in which these rows are absent."""
    found, absent, false = [], [], []
    for seed in range(2):
        X, Y, new, second = instruments(seed)
        X[:n_spoiled] = DAMAGE[kind](X[:n_spoiled], np.random.default_rng(seed))
        domain = Domain.of(PLS(6).fit(X, Y), X)
        rest = X[n_spoiled:], Y[n_spoiled:]
        found.append(domain.check(second).outside.mean())
        absent.append(Domain.of(PLS(6).fit(*rest), rest[0]).check(second).outside.mean())
        false.append(domain.check(new).outside.mean())
    assert np.mean(absent) > 0.9  # or the test would say nothing
    assert np.mean(found) >= 0.9 * np.mean(absent)
    assert np.mean(false) <= 0.12  # two tables of 60 rows: 0.05 and 0.02 to either side


def test_a_step_of_the_model_hides_no_row_from_the_ranges():
    """Standard normal variates take a factor away, which still rules the ranges of what is measured."""
    X, Y, _, _ = instruments(0)
    X[0] *= 1e6
    domain = Domain.of(make_pipeline(NormalVariate(), PLS(6)).fit(X, Y), X)
    assert 0 in {each["row"] for each in domain.unusual}
    assert domain.parts["ranges"].upper.max() < 1e3


def test_a_row_that_only_the_model_sees_far_out_is_found():
    """A small value among large ones is ordinary as it is measured, and far out as its reciprocal."""
    rng = np.random.default_rng(0)
    X = rng.uniform(20, 100, size=(60, 4))
    X[7, 2] = 0.05
    assert not stand_out(X)[0].any()
    model = make_pipeline(FunctionTransformer(np.reciprocal), PLS(2)).fit(X, X[:, :2])
    assert Domain.of(model, X).rows_aside == [7]


def test_who_stands_out_depends_on_no_order_no_units_and_no_copies():
    X, _, _, _ = instruments(1)
    X[:3] = _spike(X[:3], np.random.default_rng(0))
    order = np.random.default_rng(1).permutation(len(X))
    aside, times, _ = stand_out(X)
    assert_array_equal(np.flatnonzero(aside), [0, 1, 2])
    again, moved, _ = stand_out(X[order])
    assert_array_equal(again, aside[order])
    np.testing.assert_allclose(moved, times[order], rtol=1e-6)
    for unit in (1e-200, 1e200):
        assert_array_equal(stand_out(X * unit)[0], aside)
    assert_array_equal(stand_out(np.repeat(X, 2, axis=0))[0], np.repeat(aside, 2))


def test_a_tenth_of_the_rows_times_a_million_under_a_kernel():
    """A mean that far rows pull away cost the others their digits: the kernel was not positive."""
    X, Y, _, second = instruments(0)
    X[:5] *= 1e6
    model = Trusted(DependencyRegressor()).fit(X, Y)
    assert model.check(second).outside.mean() > 0.9
    assert np.isfinite(DependencyRegressor().fit(X, Y).predict(X)).all()


@pytest.mark.parametrize("n", [3, 6, 7, 12, 40])
def test_tables_without_rows_that_stand_out(n):
    rng = np.random.default_rng(0)
    for X in (
        np.ones((n, 4)),
        rng.integers(2, size=(n, 30)).astype(float),
        np.vander(np.arange(n, dtype=float), 3),
    ):
        assert not stand_out(X)[0].any()


def test_at_most_fifteen_rows_of_a_hundred_stand_out():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 5))
    X[:30] *= 1e3
    assert stand_out(X)[0].sum() <= 15


@pytest.mark.parametrize("n", [40, 150])
def test_sparse_binary_columns_are_not_flagged_too_often(n):
    """499 columns with three and a half ones a row, of frequencies as unlike as those of words.

    The share of one table varies by 0.04, the mean of ten by 0.013.
    """
    rates = np.minimum(0.4 / np.arange(1.0, 500) ** 0.7, 1)
    rates *= 3.5 / rates.sum()
    shares = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = (rng.random((n + 200, 499)) < rates).astype(float)
        Y = X @ np.random.default_rng(1).standard_normal((499, 2))
        domain = Domain.of(PLS(2).fit(X[:n], Y[:n]), X[:n])
        shares.append(domain.check(X[n:]).outside.mean())
    assert np.mean(shares) <= 0.09, shares
