"""Oracles: predictions of rows left out by refits, drawn signs, planted numbers of components."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.model_selection import KFold, PredefinedSplit, RepeatedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isthmus import PLS, ComponentSearchCV, ReducedRankRegression
from isthmus.inspection import rmse
from isthmus.kernels.distinct import deal_by_content
from isthmus.model_selection.pooled import PooledErrors, choose_pooled, sign_test
from isthmus.problems import Split
from isthmus.regression.crossval import default_score, least_cost_index


def make(n=40, p=8, q=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(2, 1, size=(n, p))
    return X, X[:, :3] @ rng.normal(size=(3, q)) * [1.0, 50.0][:q] + rng.normal(size=(n, q)) - 3


@pytest.mark.parametrize(
    ("estimator", "prefix"),
    [(PLS(), ""), (make_pipeline(StandardScaler(), PLS(scale=False)), "pls__")],
    ids=["plain", "pipeline"],
)
@pytest.mark.parametrize("n", [40, 43])  # folds of one size, and of two
def test_rmsecv_is_that_of_predictions_left_out(estimator, prefix, n):
    X, Y = make(n)
    cv = KFold(4, shuffle=True, random_state=0)
    search = ComponentSearchCV(estimator, n_components=5, cv=cv, rule="pooled").fit(X, Y)
    for k in range(5):
        refit = estimator.set_params(**{f"{prefix}n_components": k + 1})
        left_out = cross_val_predict(refit, X, Y, cv=cv)
        assert_allclose(search.rmsecv_[k], rmse(Y, left_out), rtol=1e-8)
    relative = (search.rmsecv_**2 / Y.var(axis=0)).mean(axis=1)
    assert search.best_index_ == relative.argmin()


def test_one_output_and_ridge_weights():
    X, Y = make()
    search = ComponentSearchCV(
        ReducedRankRegression(), n_components=[1], alpha=[0.0, 1.0, 30.0], rule="pooled"
    ).fit(X, Y[:, 0])
    assert search.rmsecv_.shape == (3,)
    assert search.best_index_ == search.rmsecv_.argmin()
    assert not hasattr(search.set_params(rule="best").fit(X, Y), "rmsecv_")


def test_rows_count_once_however_often_they_are_left_out():
    X, Y = make()
    cv = RepeatedKFold(n_splits=4, n_repeats=3, random_state=1)
    search = ComponentSearchCV(PLS(), n_components=2, cv=cv, rule="pooled").fit(X, Y)
    squares = np.zeros_like(Y)
    for train, test in cv.split(X):
        squares[test] += (PLS(2).fit(X[train], Y[train]).predict(X[test]) - Y[test]) ** 2 / 3
    assert_allclose(search.rmsecv_[1], np.sqrt(squares.mean(axis=0)), rtol=1e-8)


def test_the_sign_test_is_the_randomization_test():
    differences = np.random.default_rng(0).gamma(2.0, size=(3, 14)) - 1.2
    signs = np.array(list(product([-1, 1], repeat=14)))  # all of them
    for row, found in zip(differences, sign_test(differences), strict=True):
        exact = (signs @ row >= row.sum() - 1e-12).mean()
        assert abs(found - exact) < 0.02  # a normal limit of 14 rows
    assert sign_test(np.zeros((1, 5)))[0] == 0.5


def test_the_rules_by_hand():
    """From residuals of refits and drawn signs, as R's pls has them."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 20)) * np.geomspace(6, 0.5, 20)
    y = X @ rng.normal(size=20) + 2 * rng.normal(size=80)
    cv = KFold(5)
    left_out = [cross_val_predict(PLS(k, scale=False), X, y, cv=cv) for k in range(1, 13)]
    squares = (np.array(left_out) - y) ** 2
    best = squares.mean(axis=1).argmin()
    error = squares[best].std(ddof=1) / np.sqrt(80)
    within = np.flatnonzero(squares.mean(axis=1) <= squares[best].mean() + error)[0]
    signs = rng.choice([-1, 1], size=(20_000, 80))
    steps = squares - squares[best]
    chances = np.array([(signs @ step >= step.sum()).mean() for step in steps])
    alike = np.flatnonzero(chances > 0.01)[0]
    assert 0 < min(within, alike) and max(within, alike) < best
    for rule, expected in {"pooled": best, "pooled_one_se": within, "randomization": alike}.items():
        search = ComponentSearchCV(PLS(scale=False), n_components=12, cv=cv, rule=rule).fit(X, y)
        assert search.best_index_ == expected


@pytest.mark.parametrize(("n", "chosen"), [(5, 0), (6, 1)])
def test_one_per_cent_of_the_randomization_test(n, chosen):
    """Equal differences in n rows: signs reach their sum with probability 0.0127 for 5, 0.0072 for 6."""
    relative = np.array([np.full(n, 1.1), np.ones(n)])
    pooled = PooledErrors(relative, np.full(n, 1 / n), np.ones((2, 1)))
    assert choose_pooled(pooled, [1, 2], [None], "randomization") == chosen


@pytest.mark.parametrize(("mean", "chosen"), [(1.57, 0), (1.585, 1)])
def test_one_standard_error_of_the_pooled_error(mean, chosen):
    """0, 2, 0, 2 have the mean 1 and, with n - 1, the standard error 0.577."""
    relative = np.array([np.full(4, mean), [0.0, 2.0, 0.0, 2.0]])
    pooled = PooledErrors(relative, np.full(4, 0.25), np.ones((2, 1)))
    assert choose_pooled(pooled, [1, 2], [None], "pooled_one_se") == chosen


@pytest.mark.parametrize("rule", ["pooled_one_se", "randomization"])
def test_rules_take_fewer_components_than_the_minimum(rule):
    """Planted: three directions of large variance carry y, and the rest is noise."""
    chosen = {rule: [], "pooled": []}
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 30)) * np.r_[[8.0, 6.0, 4.0], np.ones(27)]
        y = X[:, :3].sum(axis=1) + 3 * rng.normal(size=60)
        for name, found in chosen.items():
            search = ComponentSearchCV(PLS(scale=False), n_components=15, rule=name).fit(X, y)
            found.append(search.best_params_["n_components"])
    assert all(few <= many for few, many in zip(chosen[rule], chosen["pooled"], strict=True))
    assert np.mean(chosen[rule]) < 3.5


@pytest.mark.parametrize("rule", ["pooled", "pooled_one_se", "randomization"])
def test_the_choice_has_no_units(rule):
    X, Y = make(60, 12)
    weights = np.random.default_rng(1).uniform(1, 2, size=60)
    order = np.random.default_rng(2).permutation(60)
    folds = np.arange(60) % 5
    splits = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(5)]
    where = np.argsort(order)
    moved = [(where[train], where[test]) for train, test in splits]
    first = ComponentSearchCV(PLS(), cv=splits, rule=rule).fit(X, Y, weights)
    second = ComponentSearchCV(PLS(), cv=moved, rule=rule)
    second.fit(X[order], 1e5 * Y[order] + 3, 7 * weights[order])
    assert first.best_params_ == second.best_params_
    assert_allclose(second.rmsecv_, 1e5 * first.rmsecv_, rtol=1e-7)


def test_missing_targets_have_no_error():
    X, Y = make()
    Y[::7, 0] = np.nan
    search = ComponentSearchCV(PLS(missing="em"), n_components=2, rule="pooled_one_se").fit(X, Y)
    assert np.isfinite(search.rmsecv_).all()


def test_where_candidates_are_refitted_the_rule_is_refused():
    X, Y = make()

    def own(estimator, X, y):
        return -rmse(y, estimator.predict(X)).mean()

    search = ComponentSearchCV(make_pipeline(StandardScaler(), PLS()), scoring=own, rule="pooled")
    with pytest.raises(ValueError, match="rule == 'pooled' is not available"):
        search.fit(X, Y)


def by_gain(rmsecv, ranks, gain):
    """Take components one after the other while some further number of them pays for itself."""
    k = 0
    while True:
        better = [j for j in range(k + 1, len(ranks))
                  if rmsecv[j] < rmsecv[k] * np.exp(-gain * (ranks[j] - ranks[k]))]  # fmt: skip
        if not better:
            return k
        k = better[0]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("q", [1, 2])
def test_the_default_takes_components_that_gain_half_a_percent_of_an_output(seed, q):
    X, Y = make(60, 12, q, seed)
    Y = Y[:, 0] if q == 1 else Y
    pooled = ComponentSearchCV(PLS(), n_components=12, rule="pooled").fit(X, Y)
    squares = pooled.rmsecv_.reshape(12, -1) ** 2
    relative = np.sqrt((squares / Y.reshape(60, -1).var(axis=0)).mean(axis=1))
    expected = 1 + by_gain(relative, range(1, 13), 0.005 / q)
    assert ComponentSearchCV(PLS(), n_components=12).fit(X, Y).best_params_ == {
        "n_components": expected
    }
    folds = PredefinedSplit(deal_by_content(X, 5))
    search = ComponentSearchCV(PLS(), n_components=12, cv=folds).fit(X, Y)
    assert PLS("auto").fit(X, Y).n_components_ == search.best_params_["n_components"]


def test_the_gain_is_half_a_percent_of_an_output():
    """Changing the rule changes what every default fit returns: docs/spectra.md has the figures."""
    ranks, alphas, shares = [1, 2, 3, 4], [None], np.array([1.0, 3.0])
    falls = np.array([1.0, 0.9, 0.9 * 0.9952, 0.9 * 0.9952**2])  # RMSECV
    errors = np.column_stack([falls**2, falls**2])
    assert least_cost_index(errors, shares, ranks, alphas, 1) == 1
    assert (
        least_cost_index(errors, shares, ranks, alphas, 2) == 3
    )  # two outputs: a quarter of a percent
    errors[3] *= 0.9990**2  # 0.9942: the last pays for the one before it
    assert least_cost_index(errors, shares, ranks, alphas, 1) == 3
    uneven = np.array([[1.0, 1.0], [4.0, 0.5]])  # pooled 1 and 1.375: folds count by their rows
    assert least_cost_index(uneven, shares, [1, 2], alphas, 1) == 0
    assert least_cost_index(uneven, np.array([1.0, 30.0]), [1, 2], alphas, 1) == 1
    rounding = np.array([[1.0], [1e-20], [1e-30]])
    assert least_cost_index(rounding, np.ones(1), [1, 2, 3], alphas, 1) == 1
    # Ridge weights whose errors differ by rounding are tied, and the largest is taken.
    tied = np.array([[1.0], [1.0 + 1e-14], [1.0 + 1e-9]])
    assert least_cost_index(tied, np.ones(1), [1], [0.1, 1.0, 10.0], 1) == 1


def test_a_score_of_ones_own_is_followed_to_its_best():
    X, Y = make(60, 12, 2, 1)
    ours = ComponentSearchCV(PLS(), n_components=12, scoring="neg_mean_absolute_error").fit(X, Y)
    assert ours.best_index_ == ours.cv_results_["mean_test_score"].argmax()
    assert "split0_test_pooled errors" not in ComponentSearchCV(PLS()).fit(X, Y).cv_results_


def test_the_default_is_free_of_units_and_counts_weights_as_rows():
    X, Y = make(40, 8, 2, 3)
    weights = 1 + np.arange(40) % 3
    rows = np.repeat(np.arange(40), weights)
    folds = np.arange(40) % 4
    splits = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(4)]
    copies = [
        (np.flatnonzero(folds[rows] != k), np.flatnonzero(folds[rows] == k)) for k in range(4)
    ]
    weighted = ComponentSearchCV(PLS(), cv=splits).fit(X, Y, sample_weight=weights)
    copied = ComponentSearchCV(PLS(), cv=copies, n_components=8).fit(X[rows], Y[rows])
    moved = ComponentSearchCV(PLS(), cv=splits).fit(3e4 * X, 1e-5 * Y, sample_weight=weights)
    assert weighted.best_params_ == copied.best_params_ == moved.best_params_


@pytest.mark.parametrize(("n_test", "score"), [(1, "q2"), (2, "r2"), (3, "r2")])
@pytest.mark.parametrize("n_gaps", [0, 1])
def test_two_observed_rows_of_a_fold_have_a_variance(n_test, score, n_gaps):
    """One test row has no variance of its own: it is scored by that of all rows."""
    n = 12
    test = np.arange(n_test + n_gaps)
    Y = np.arange(2.0 * n).reshape(n, 2)
    Y[test[:n_gaps]] = np.nan
    others = np.arange(n_test + n_gaps, n)
    splits = [Split(np.setdiff1d(np.arange(n), part), part, n) for part in (test, others)]
    assert default_score(Y, splits) == score
