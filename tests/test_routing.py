"""Weights go where they are asked for: estimators around others, with metadata routing and without.

Oracles: the inner estimator fitted by hand with the weights, or without; scikit-learn's own errors.
"""

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import StandardScaler

from isthmus import PCR, PLS, ComponentSearchCV, IndicatorClassifier, KernelMap
from isthmus.inspection import Trusted

RNG = np.random.default_rng(0)
X = RNG.normal(2, 1, size=(60, 5))
Y = X @ RNG.normal(size=(5, 2)) + 0.3 * RNG.normal(size=(60, 2))
UP = np.where(Y[:, 0] > np.median(Y[:, 0]), "up", "down")
WEIGHTS = RNG.uniform(0.1, 3, 60)
AROUND = {IndicatorClassifier: UP, Trusted: Y}


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def targets(y):
    return (y[:, None] == np.unique(y)).astype(float) if y.ndim == 1 else y


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("asked", [True, False, None])
@pytest.mark.parametrize("in_pipeline", [False, True])
def test_weights_go_where_they_are_asked_for(around, asked, in_pipeline, routing):
    y = AROUND[around]
    inner = PLS(2)
    if asked is not None:
        inner.set_fit_request(sample_weight=asked)
    if in_pipeline:
        inner = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), inner)
    model = around(clone(inner))
    if asked:
        model.fit(X, y, sample_weight=WEIGHTS)
        expected = clone(inner).fit(X, targets(y), sample_weight=WEIGHTS)
        assert_allclose(model.estimator_.predict(X), expected.predict(X), rtol=1e-12)
        assert np.abs(expected.predict(X) - clone(inner).fit(X, targets(y)).predict(X)).max() > 1e-3
        return
    # Refused: what is not asked for has nowhere to go; what was not decided is told by scikit-learn.
    with pytest.raises(
        UnsetMetadataPassedError if asked is None else TypeError, match="sample_weight"
    ):
        model.fit(X, y, sample_weight=WEIGHTS)
    assert "estimator_" not in vars(model)
    model.fit(X, y)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_folds_of_a_trusted_model_are_weighted_too(n_jobs, routing):
    inner = PLS(2).set_fit_request(sample_weight=True)
    weighted = Trusted(inner, cv=3, n_jobs=n_jobs).fit(X, Y, sample_weight=WEIGHTS)
    with sklearn.config_context(enable_metadata_routing=False):
        same = Trusted(PLS(2), cv=3).fit(X, Y, sample_weight=WEIGHTS)
    assert_allclose(weighted.residual_quantiles_, same.residual_quantiles_)
    assert weighted.best_score_ == pytest.approx(same.best_score_)


def test_groups_of_a_trusted_model_go_to_a_search_that_asks(routing):
    groups = np.arange(60) // 6
    search = ComponentSearchCV(PLS(), n_components=4, cv=GroupKFold(3))
    model = Trusted(search, cv=3).fit(X, Y, groups=groups)  # its own folds, and those of the search
    assert model.estimator_.n_splits_ == 3
    Trusted(PLS(2), cv=3).fit(X, Y, groups=groups)  # its own folds alone


def test_weights_of_scores(routing):
    asks = PLS(2).set_score_request(sample_weight=True)
    model = Trusted(asks, cv=3).fit(X, Y)
    assert model.score(X, Y, WEIGHTS) == pytest.approx(model.estimator_.score(X, Y, WEIGHTS))
    refuses = Trusted(PLS(2).set_score_request(sample_weight=False), cv=3).fit(X, Y)
    with pytest.raises(TypeError, match="sample_weight"):
        refuses.score(X, Y, WEIGHTS)


@pytest.mark.parametrize("around", AROUND)
def test_through_cross_validation(around, routing):
    model = around(PLS(2).set_fit_request(sample_weight=True))
    scorer = get_scorer("accuracy" if around is IndicatorClassifier else "r2")
    found = cross_validate(
        model, X, AROUND[around], params={"sample_weight": WEIGHTS}, cv=3, error_score="raise",
        return_estimator=True, scoring=scorer.set_score_request(sample_weight=False),
    )  # fmt: skip
    train = np.setdiff1d(np.arange(60), np.arange(20))
    if around is Trusted:
        by_hand = PLS(2).fit(X[train], Y[train], WEIGHTS[train])
        assert_allclose(found["estimator"][0].predict_rows(X), by_hand.predict(X))


def test_without_routing_as_before():
    for around, y in AROUND.items():
        model = around(PLS(2)).fit(X, y, sample_weight=WEIGHTS)
        assert_allclose(model.estimator_.coef_, PLS(2).fit(X, targets(y), WEIGHTS).coef_)
        with pytest.raises(TypeError, match="KNeighborsRegressor takes no sample_weight"):
            around(KNeighborsRegressor()).fit(X, y, sample_weight=WEIGHTS)
    model = Trusted(make_pipeline(StandardScaler(), Ridge()), cv=3).fit(X, Y, WEIGHTS)
    scaled = StandardScaler().fit_transform(X)
    assert_allclose(model.estimator_[-1].coef_, Ridge().fit(scaled, Y, WEIGHTS).coef_)
    neighbours = Trusted(KNeighborsRegressor(), cv=3).fit(X, Y)  # takes weights in its score alone
    assert np.isfinite(neighbours.score(X, Y, WEIGHTS))


# -- a search as a transformer --------------------------------------------------------------------


def test_a_search_names_and_frames_its_scores():
    frame = pd.DataFrame(X, columns=list("abcde"))
    search = ComponentSearchCV(PLS(), n_components=4, cv=3).set_output(transform="pandas")
    scores = search.fit(frame, Y).transform(frame)
    names = [f"pls{i}" for i in range(search.best_estimator_.n_components_)]
    assert list(scores.columns) == list(search.get_feature_names_out()) == names
    assert_array_equal(
        scores, clone(search).set_output(transform="default").fit(frame, Y).transform(frame)
    )
    assert isinstance(
        clone(search).fit_transform(frame, Y), pd.DataFrame
    )  # as scikit-learn's clone does
    assert isinstance(search.set_output(transform="default").transform(frame), np.ndarray)
    assert isinstance(search.set_output(transform=None).transform(frame), np.ndarray)
    assert "_sklearn_output_config" not in vars(search.estimator)  # the caller's


def test_a_search_in_a_union_and_of_a_pipeline():
    union = make_union(ComponentSearchCV(PLS(), n_components=3, cv=3), PCR(2))
    table = union.set_output(transform="pandas").fit(X, Y).transform(X)
    assert list(table.columns) == list(union.get_feature_names_out())
    pipe = make_pipeline(KernelMap(6), PLS(scale=False))
    search = ComponentSearchCV(pipe, n_components=3, cv=3).set_output(transform="pandas").fit(X, Y)
    assert list(search.transform(X).columns) == list(search.get_feature_names_out())


def test_a_search_of_what_cannot_transform_has_neither():
    for search in (ComponentSearchCV(PLS(), cv=3, refit=False),):
        assert not any(
            hasattr(search, name) for name in ("transform", "set_output", "get_feature_names_out")
        )
