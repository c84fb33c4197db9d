"""Oracles: T2 and Q of ``isthmus.inspection`` over their means at the fit, tables whose test rows are like
the training rows, and spectra of another instrument."""

import re
import warnings

import numpy as np
import pytest
from sklearn.model_selection import KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline

from isthmus import (
    PCR,
    PLS,
    ComponentSearchCV,
    IndicatorClassifier,
    ManifoldPLS,
    ReducedRankRegression,
    StiefelRegression,
)
from isthmus.datasets import make_spectra
from isthmus.features import SavitzkyGolay
from isthmus.inspection import OutsideDomainWarning, Trusted, hotelling_t2, q_residuals
from isthmus.regression import OPLS
from isthmus.regression.far_rows import _FAR_MEDIAN, _products, _row_sums


def _ratios(model, rows):
    return _row_sums(*_products(model, rows))


ESTIMATORS = [
    PLS(3),
    PCR(3),
    ReducedRankRegression(2),
    StiefelRegression(2),
    StiefelRegression(2, loss="huber"),
    ManifoldPLS(2),
    OPLS(3),
    PLS(2, scale=False),
]


def table(n=60, p=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)) @ rng.normal(size=(5, p)) + 0.3 * rng.normal(size=(n, p)) + 4
    return X, X[:, :3] @ rng.normal(size=(3, 3)) + rng.normal(size=(n, 3))


@pytest.mark.parametrize("n", [250, 300, 450])
@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
def test_as_many_columns_as_rows_are_no_reason(model, n):
    """Directions that use all of 240 inputs fit the training rows: new rows of the same law are 20 times as
    far out in their scores, which says nothing about the rows."""
    rng = np.random.default_rng(n)
    X, Y = rng.normal(size=(n + 60, 240)), rng.normal(size=(n + 60, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error", OutsideDomainWarning)
        model.fit(X[:n], Y[:n] + X[:n, :3]).predict(X[n:])


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("weighted", [False, True])
def test_statistics_are_those_of_inspection_over_their_means(model, weighted):
    X, Y = table()
    X[:, 4] = 7.0  # never varies, so that it says nothing
    weights = np.random.default_rng(1).uniform(0.5, 2, len(X)) if weighted else None
    model = model.fit(X, Y, sample_weight=weights)
    new = table(20, seed=1)[0]
    new[:, 4] = 7.0
    ours = _ratios(model, new)
    freedom = (60 - 1 - model.n_components_) / 60
    rules = (
        lambda rows: hotelling_t2(model, rows).values,
        lambda rows: q_residuals(model, rows, X, sample_weight=weights).values,
    )
    for found, statistic in zip(ours, rules, strict=True):
        mean = np.average(statistic(X), weights=weights)
        np.testing.assert_allclose(found, freedom * statistic(new) / mean, rtol=1e-6)
    new[:, 4] = 9.0
    np.testing.assert_allclose(_ratios(model, new)[1], ours[1], rtol=1e-6)


def test_the_warning_begins_where_half_of_the_rows_are_four_times_as_far():
    X, Y = table()
    model = PLS(3).fit(X, Y)
    new = np.tile(X.mean(axis=0), (9, 1))
    new[:, 2] += np.linspace(0.9, 1.1, 9)  # the fifth is in the middle
    middle = _ratios(model, new[4:5]).max()
    for factor, far in ((0.99, False), (1.01, True)):
        rows = X.mean(axis=0) + np.sqrt(factor * _FAR_MEDIAN / middle) * (new - X.mean(axis=0))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            model.predict(rows)
        assert [w.category for w in told] == [OutsideDomainWarning] * far
        if far:
            assert told[0].filename == __file__
            assert "at least 16.2 times the mean of the Q residual" in str(told[0].message)


@pytest.mark.parametrize(
    "model",
    [
        PLS(8),
        PCR(8),
        PLS("auto"),
        ComponentSearchCV(PLS(), n_components=10),
        make_pipeline(SavitzkyGolay(9, 2, 1), PLS(8, scale=False)),
        IndicatorClassifier(PLS(8)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_spectra_of_another_instrument_are_told(model):
    own = make_spectra(80, random_state=0)
    other = make_spectra(40, instrument="secondary", random_state=1)
    Y = own.target
    if isinstance(model, IndicatorClassifier):
        Y = np.where(Y[:, 0] > np.median(Y[:, 0]), "high", "low")
    model.fit(own.data[:60], Y[:60])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(own.data[60:])
        model.predict(other.data[:7])  # too few for a statement about a table
    with pytest.warns(OutsideDomainWarning, match="the rows are not like those of the fit"):
        model.predict(other.data)


@pytest.mark.parametrize(
    "model", [PLS(3), PCR(5), ReducedRankRegression(2), PLS(5, scale=False)], ids=str
)
def test_the_column_that_jumps_is_named(model):
    """A column that jumps by 500 of its deviations; the number is exact where columns are scaled."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 5)) + 3
    X[:, 2] *= 1e-2 if getattr(model, "scale", False) else 1.0
    Y = X @ rng.standard_normal((5, 2)) + 0.1 * rng.standard_normal((90, 2))
    deviation = X[:60, 2].std()
    X[60:, 2] = X[:60, 2].mean() + 500 * deviation
    table = pd.DataFrame(X, columns=list("abcde"))
    with pytest.warns(OutsideDomainWarning) as told:
        model.fit(table[:60], Y[:60]).predict(table[60:])
    message = str(told[0].message)
    number = float(re.search(r"column 'c' is up to (\S+) standard deviations", message)[1])
    assert number == pytest.approx(500, rel=0.02 if getattr(model, "scale", False) else 0.3)
    with pytest.warns(OutsideDomainWarning, match="column 2 is up to"):
        model.fit(X[:60], Y[:60]).predict(X[60:])


def test_a_model_with_a_domain_tells_it_once():
    own = make_spectra(60, random_state=0)
    other = make_spectra(20, instrument="secondary", random_state=1)
    model = Trusted(PLS(8)).fit(own.data, own.target)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.predict(other.data)
    assert len(told) == 1 and "outside the domain" in str(told[0].message)


def heavy(rng, n, p):
    """Columns with tails of Cauchy's law, rare categories, counts and a constant."""
    X = rng.standard_cauchy(size=(n, p))
    X[:, ::4] = rng.random(size=(n, len(range(0, p, 4)))) < 0.02
    X[:, 1::4] = rng.poisson(0.3, size=(n, len(range(1, p, 4))))
    X[:, -1] = 3.0
    return X


def normal(rng, n, p):
    return rng.normal(size=(n, p))


@pytest.mark.parametrize(
    "model", [PLS(3), PCR(3), ReducedRankRegression(2), PLS(2, scale=False)], ids=repr
)
@pytest.mark.parametrize(("n", "p"), [(24, 60), (40, 12), (200, 8)])
@pytest.mark.parametrize("kind", [heavy, normal])
def test_rows_of_the_same_kind_are_silent(model, n, p, kind):
    """25 folds of each kind and shape, some of 8 rows only; the draws are fixed."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", OutsideDomainWarning)
        for seed in range(5):
            rng = np.random.default_rng(seed)
            X = kind(rng, n, p)
            Y = rng.normal(size=(n, 3)) + X[:, :3] / (1 + np.abs(X[:, :3]))
            cross_val_predict(model, X, Y, cv=KFold(5, shuffle=True, random_state=seed))


def test_scores_are_silent():
    """Folds that are foreign to each other: their scores tell it."""
    X, Y = table(40)
    X[20:] += 100
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cross_val_score(PLS(2), X, Y, cv=2).max() < 0
        PLS(2).fit(X[:20], Y[:20]).score(X[20:], Y[20:])
    with pytest.warns(OutsideDomainWarning):
        cross_val_predict(PLS(2), X, Y, cv=2)
