"""A search over Rows. Oracle: the search in memory with the same folds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import KFold, PredefinedSplit, ShuffleSplit

from isthmus import (
    PCR,
    PLS,
    ComponentSearchCV,
    ManifoldPLS,
    ReducedRankRegression,
    Rows,
    StiefelRegression,
)
from isthmus.problems.streams.sources import BlockError
from isthmus.regression.crossval import default_alphas

TINY = 0.05


@pytest.fixture(params=[0.0, 1e4], ids=["centred", "far"])
def data(request):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(403, 8)) @ np.diag(np.geomspace(1, 0.05, 8)) + request.param
    Y = (
        (X - request.param) @ rng.normal(size=(8, 3))
        + 0.3 * rng.normal(size=(403, 3))
        + [1, -2, 50]
    )
    return X, Y, rng.integers(0, 3, 403).astype(float)


def assert_same_search(found, want, rtol=1e-10):
    assert found.best_params_ == want.best_params_
    for key, values in want.cv_results_.items():
        if "_test_" in key and "rank" not in key:
            assert_allclose(found.cv_results_[key], values, rtol=rtol, atol=1e-10, err_msg=key)
    assert_allclose(found.best_estimator_.coef_, want.best_estimator_.coef_, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(
    "model",
    [PLS(), PLS(scale=False), PCR(), ReducedRankRegression(), ReducedRankRegression(scale=True),
     ManifoldPLS(), StiefelRegression()],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("weighted", [False, True])
def test_search_equals_that_in_memory(data, model, weighted):
    X, Y, w = data
    w = w if weighted else None
    cv = PredefinedSplit(np.arange(len(X)) % 4)
    scoring = {"r2": "r2", "mse": "neg_mean_squared_error"}
    options = {"scoring": scoring, "refit": "r2", "rule": "best"}
    found = ComponentSearchCV(model, cv=4, **options).fit(Rows.from_arrays(X, Y, w, memory=TINY))
    want = ComponentSearchCV(model, cv=cv, **options)
    if hasattr(model, "alpha"):  # the grid in memory has few digits where means are large
        alphas = np.unique(found.cv_results_["param_alpha"].astype(float))
        in_memory = np.unique(default_alphas(X, w, model.scale))
        assert_allclose(alphas, in_memory, rtol=1e-12 if X.mean() < 1 else 1e-4)
        want.set_params(alpha=alphas)
    want.fit(X, Y, w)
    assert_same_search(found, want)
    assert found.n_splits_ == 4


def test_ridges_and_ranks_may_be_given(data):
    X, Y, _ = data
    options = {"n_components": [1, 3], "alpha": [0.0, 0.1, 10.0], "rule": "one_se"}
    cv = PredefinedSplit(np.arange(len(X)) % 10)
    want = ComponentSearchCV(ReducedRankRegression(), cv=cv, **options).fit(X, Y)
    search = ComponentSearchCV(ReducedRankRegression(), cv=10, **options)
    assert_same_search(search.fit(Rows.from_arrays(X, Y, memory=TINY)), want)


def test_a_splitter_is_kept_where_the_rows_are_counted(data):
    X, Y, _ = data
    for cv in (KFold(5), KFold(3, shuffle=True, random_state=0)):
        want = ComponentSearchCV(PLS(), cv=cv, n_components=4).fit(X, Y)
        found = ComponentSearchCV(PLS(), cv=cv, n_components=4)
        assert_same_search(found.fit(Rows.from_arrays(X, Y, memory=TINY)), want)


def test_a_search_reads_the_rows_once_and_resumes(data):
    X, Y, _ = data
    walks = []

    def blocks(fails=False):
        walks.append(0)
        for i in range(0, len(X), 50):
            if fails and i == 250:
                raise OSError("gone")
            yield X[i : i + 50], Y[i : i + 50]

    search = ComponentSearchCV(PLS(), cv=5)
    want = search.fit(Rows(blocks)).cv_results_["mean_test_score"]
    assert len(walks) == 1
    with pytest.raises(BlockError, match="block 5") as caught:
        search.fit(Rows(lambda: blocks(fails=True)))
    found = search.fit(Rows(blocks).resume(caught.value)).cv_results_["mean_test_score"]
    assert_array_equal(found, want)


def test_errors(data):
    X, Y, _ = data
    rows = Rows.from_arrays(X, Y)
    with pytest.raises(ValueError, match="not a partition"):
        ComponentSearchCV(PLS(), cv=ShuffleSplit(3)).fit(rows)
    with pytest.raises(ValueError, match="needs the number of rows"):
        ComponentSearchCV(PLS(), cv=KFold(3)).fit(Rows(lambda: [(X, Y)]))
    with pytest.raises(ValueError, match="needs the rows themselves"):
        ComponentSearchCV(PLS(), scoring="neg_median_absolute_error").fit(rows)
    with pytest.raises(ValueError, match="at least 2 are needed"):
        ComponentSearchCV(PLS(), cv=300).fit(rows)
    with pytest.raises(MemoryError, match="bound"):
        ComponentSearchCV(PLS(), cv=KFold(3)).fit(Rows.from_arrays(X, Y, memory=0.001))
