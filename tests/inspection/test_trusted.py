"""Oracles: refits by hand in scikit-learn's folds, the domain made by hand, planted foreign rows, and the
law that 95 % intervals hold 95 % of new outputs."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, TimeSeriesSplit, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from isthmus import (
    PCR,
    PLS,
    ComponentSearchCV,
    DependencyRegressor,
    IndicatorClassifier,
    ReducedRankRegression,
    Rows,
    StiefelRegression,
    load,
    save,
)
from isthmus.datasets import make_spectra
from isthmus.features import NormalVariate, SavitzkyGolay
from isthmus.inspection import Domain, OutsideDomainWarning, Trusted
from isthmus.inspection.intervals import half_widths
from isthmus.model_selection.splits import ContentKFold
from isthmus.regression import OPLS, BlockRidge, MultiblockPLS

HALVES = [slice(0, 15), slice(15, 30)]
ESTIMATORS = {
    "PLS": PLS(3),
    "PCR": PCR(3),
    "reduced rank": ReducedRankRegression(2),
    "Stiefel": StiefelRegression(2),
    "OPLS": OPLS(3),
    "search": ComponentSearchCV(PLS(), n_components=6),
    "search of a pipeline": ComponentSearchCV(
        make_pipeline(NormalVariate(), PLS()), n_components=5
    ),
    "pipeline": make_pipeline(SavitzkyGolay(5, 2, 1), PLS(3)),
    "dependency": DependencyRegressor(),
    "blocks": BlockRidge(HALVES),
    "multiblock": MultiblockPLS(HALVES),
    "of scikit-learn": Ridge(),
}


def curves(rng, n, p=30):
    """Smooth rows of four bands, off-centre, and two outputs."""
    at = np.linspace(0, 1, p)
    bands = np.exp(-(((at - np.array([[0.15], [0.4], [0.6], [0.85]])) / 0.1) ** 2))
    amounts = rng.uniform(0.5, 1.5, size=(n, 4))
    X = 2 + amounts @ bands + 0.01 * rng.standard_normal((n, p))
    return X, amounts[:, :2] + 0.02 * rng.standard_normal((n, 2)) + 7


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_any_estimator_predicts_as_before_and_tells_foreign_rows(rng, name, tmp_path):
    X, Y = curves(rng, 50)
    new, _ = curves(rng, 12)
    model = Trusted(ESTIMATORS[name], cv=3).fit(X, Y)
    plain = clone(ESTIMATORS[name]).fit(X, Y)
    foreign = new + 0.5 * np.exp(-(((np.linspace(0, 1, 30) - 0.5) / 0.04) ** 2))
    with pytest.warns(OutsideDomainWarning, match=r"12 of 12 rows") as told:
        found = model.predict(foreign)
    assert told[0].filename == __file__
    with warnings.catch_warnings():  # plain regressions may tell such rows too
        warnings.simplefilter("ignore", OutsideDomainWarning)
        assert_array_equal(found, plain.predict(foreign))
    trust = model.check(new)
    assert_array_equal(trust.prediction, plain.predict(new))
    assert trust.outside.mean() <= 0.5 and np.isfinite(trust.lower).all()
    save(model, tmp_path / "m.isthmus")
    back = load(tmp_path / "m.isthmus")
    for one, other in ((back.check(foreign), model.check(foreign)), (back.check(new), trust)):
        for part in ("prediction", "lower", "upper", "distance", "outside"):
            assert_array_equal(getattr(one, part), getattr(other, part))
        assert one.reasons == other.reasons


def test_errors_and_limits_are_those_of_rows_left_out(rng):
    """By scikit-learn's own predictions of rows left out, in the same folds."""
    X, Y = curves(rng, 60)
    search = ComponentSearchCV(PLS(), n_components=6)
    model = Trusted(search, cv=4).fit(X, Y)
    folds = ContentKFold(4, shuffle=True, random_state=0)
    guess = cross_val_predict(search, X, Y, cv=folds)
    assert_allclose(model.residual_quantiles_, np.sort(np.abs(Y - guess), axis=0), rtol=1e-12)
    left = ((Y - guess) ** 2).mean(axis=0) / Y.var(axis=0)
    assert_allclose(model.best_score_, 1 - left.mean())
    domain = Domain.of(
        search.fit(X, Y), X, Y, folds=list(folds.split(X)), curve=True, left_out=guess
    )
    new = 1.1 * curves(rng, 20)[0]
    trust = model.check(new, 0.9)
    with pytest.warns(OutsideDomainWarning, match="not like those of the fit"):
        guess_new = search.predict(new)
    assert_array_equal(trust.distance, domain.check(new, guess_new).distance)
    assert "output" in domain.limits
    lower, upper = model.predict_interval(new, 0.9)
    assert_array_equal(lower, trust.lower)
    assert_array_equal(upper, trust.upper)
    found = model.check(X, 0.9)
    inside = ~found.outside
    assert inside.mean() > 0.8
    half = half_widths(domain.scaled_errors, 60, 0.9) * found.error_scale[:, None]
    assert_allclose(((found.upper - found.lower) / 2)[inside], half[inside], rtol=1e-9)


def test_groups_are_left_out_whole_inside_and_outside(rng):
    """The outer folds and those of the search inside: a search that sees batches would choose otherwise."""
    X, Y = curves(rng, 60)
    batch = np.repeat(np.arange(12), 5)
    X = X + 0.2 * np.repeat(rng.standard_normal((12, 30)), 5, axis=0)
    model = Trusted(ComponentSearchCV(PLS(), n_components=8, cv=3), cv=4).fit(X, Y, groups=batch)
    guess = np.empty_like(Y)
    for train, test in GroupKFold(4).split(X, Y, batch):
        own = ComponentSearchCV(PLS(), n_components=8, cv=GroupKFold(3))
        guess[test] = own.fit(X[train], Y[train], groups=batch[train]).predict(X[test])
    assert_allclose(model.residual_quantiles_, np.sort(np.abs(Y - guess), axis=0), rtol=1e-10)
    blind = Trusted(ComponentSearchCV(PLS(), n_components=8, cv=3), cv=4).fit(X, Y)
    assert model.best_score_ < blind.best_score_


def test_time_leaves_out_later_rows(rng):
    X, Y = curves(rng, 48)
    model = Trusted(Ridge(), cv="time").fit(X, Y[:, 0])
    errors = []
    for train, test in TimeSeriesSplit(5).split(X):
        errors.append(np.abs(Y[test, 0] - Ridge().fit(X[train], Y[train, 0]).predict(X[test])))
    assert model.n_samples_ == 40
    assert_allclose(model.residual_quantiles_[:, 0], np.sort(np.concatenate(errors)), rtol=1e-12)
    assert model.predict(X).shape == model.check(X).lower.shape == (48,)


def test_weights_reach_the_estimator_and_rows_of_weight_zero_do_not_count(rng):
    X, Y = curves(rng, 60)
    weights = rng.uniform(0.1, 3, size=60)
    weights[::6] = 0
    kept = weights > 0
    for estimator in (PLS(3), make_pipeline(NormalVariate(), PLS(3))):
        model = Trusted(estimator, cv=3).fit(X, Y, sample_weight=weights)
        other = Trusted(estimator, cv=3).fit(X[kept], Y[kept], sample_weight=weights[kept])
        assert_array_equal(model.check(X).distance, other.check(X).distance)
        assert_array_equal(model.residual_quantiles_, other.residual_quantiles_)
    want = PLS(3).fit(X, Y, sample_weight=weights).predict(X)
    assert_allclose(Trusted(PLS(3), cv=3).fit(X, Y, weights).predict_rows(X), want, rtol=1e-12)
    with pytest.raises(TypeError, match="MultiblockPLS takes no sample_weight"):
        Trusted(MultiblockPLS(HALVES)).fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize("n", [40, 150])
def test_intervals_hold_their_share(n):
    """0.93 to 0.99 in the mean of 10 tables of 200 new rows; it varies by 0.006, the seeds are fixed."""
    held = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, Y = curves(rng, n)
        model = Trusted(PLS(4)).fit(X, Y)
        new, known = curves(rng, 200)
        found = model.check(new)
        inside = ~found.outside
        held.append(((found.lower <= known) & (known <= found.upper))[inside].mean())
    assert 0.93 < np.mean(held) < 0.99


def test_a_classifier_has_a_domain_and_no_interval(rng, tmp_path):
    X, Y = curves(rng, 60)
    labels = np.where(Y[:, 0] > Y[:, 0].mean(), "high", "low")
    model = Trusted(IndicatorClassifier(PLS(3)), cv=3).fit(X, labels)
    assert is_classifier(model) and not is_regressor(model) and is_regressor(Trusted(PLS()))
    assert_array_equal(model.classes_, ["high", "low"])
    new, _ = curves(rng, 30)
    trust = model.check(new)
    assert set(trust.prediction) == {"high", "low"}
    assert trust.lower is None and trust.outside.mean() < 0.4
    with pytest.warns(OutsideDomainWarning, match="30 of 30"):
        model.predict(new[:, ::-1] + 1)
    assert model.score(X, labels) == (model.estimator_.predict(X) == labels).mean()
    with pytest.raises(ValueError, match="has no errors of left-out rows"):
        model.predict_interval(new)
    save(model, tmp_path / "m.isthmus")
    assert_array_equal(load(tmp_path / "m.isthmus").check(new).distance, trust.distance)


def test_names_come_from_frames(rng):
    X, Y = curves(rng, 50)
    X = pd.DataFrame(X, columns=[f"{1000 + 10 * j}" for j in range(30)])
    model = Trusted(PLS(3)).fit(X, pd.DataFrame(Y, columns=["fat", "water"]))
    assert model.target_names_ == ["fat", "water"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trust = model.check(X + 0.5 * (np.arange(30) == 12))
    assert "inputs 11" in trust.reasons[0] or "inputs 12" in trust.reasons[0]
    assert Trusted(PLS(3)).fit(X, pd.Series(Y[:, 0], name="fat")).target_names_ == ["fat"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X[X.columns[::-1]])


def test_rows_in_blocks(rng):
    """The errors of a sample, larger by what the search says of rows left out; the domain of the sample."""
    X, Y = curves(rng, 400)
    model = Trusted(ComponentSearchCV(PLS(), n_components=[3])).fit(Rows.from_arrays(X, Y))
    plain = ComponentSearchCV(PLS(), n_components=[3]).fit(Rows.from_arrays(X, Y))
    assert_allclose(model.predict_rows(X), plain.predict(X), rtol=1e-12)
    errors = np.abs(Y - plain.predict(X))
    left = np.mean((errors**2).mean(axis=0) / Y.var(axis=0))
    larger = np.sqrt((1 - plain.best_score_) / left)
    assert 1 < larger < 1.1
    assert_allclose(model.residual_quantiles_, larger * np.sort(errors, axis=0), rtol=1e-6)
    assert model.check(curves(rng, 200)[0]).outside.mean() < 0.12
    with pytest.raises(ValueError, match="groups"):
        Trusted(PLS(2)).fit(Rows.from_arrays(X, Y), groups=np.arange(400))


def test_another_instrument_is_told():
    """The story of the docs: a calibration is shown spectra of a second instrument."""
    first = make_spectra(80, random_state=3)
    second = make_spectra(40, instrument="secondary", random_state=4)
    model = Trusted(ComponentSearchCV(PLS(scale="y"))).fit(first.data, first.target)
    assert model.check(make_spectra(40, random_state=5).data).outside.mean() < 0.2
    assert model.check(second.data).outside.all()


@parametrize_with_checks([Trusted(Ridge()), Trusted(PLS(1))])
@pytest.mark.filterwarnings("ignore::isthmus.inspection.OutsideDomainWarning")
def test_sklearn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "model",
    [PLS("auto"), ComponentSearchCV(PLS(), cv=ContentKFold(5, shuffle=True, random_state=0))],
)
def test_the_order_of_noisy_rows_changes_no_limit(rng, model):
    """More columns than rows, copies among them."""
    X, Y = rng.normal(size=(50, 60)), rng.normal(size=(50, 2))
    Y += 2 * X[:, :2]
    X[45:], Y[45:48] = X[:5], Y[:3]
    order, new = rng.permutation(50), rng.normal(size=(20, 60))
    one, other = (
        Trusted(model, cv=5).fit(X[rows], Y[rows]).check(new) for rows in (np.arange(50), order)
    )
    for part in ("prediction", "lower", "upper", "distance"):
        assert_allclose(getattr(other, part), getattr(one, part), rtol=1e-8)
