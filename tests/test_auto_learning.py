"""What models of all rows gain over those of a fold: refits are the oracle, intervals the use."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, LeaveOneOut

from isthmus import MethodSearchCV
from isthmus.auto.learning import learning_factors
from isthmus.auto.methods.kernel_search import KernelSearch
from isthmus.auto.methods.treated import RidgeSearch, TreatedSearch
from isthmus.model_selection.splits import ContentKFold, outer_splits


def table(n, p, noise, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X @ rng.normal(size=(p, 2)) + noise * rng.normal(size=(n, 2))


def test_it_is_the_ratio_of_refits():
    X, Y = table(40, 12, 0.5)
    folds = list(KFold(5, shuffle=True, random_state=0).split(X))
    search = RidgeSearch(scale=False, cv=folds).fit(X, Y)
    for j, alpha in enumerate(search.best_params_["alpha"]):
        errors = []
        for splits in (list(LeaveOneOut().split(X)), folds):
            guess = np.empty(40)
            for train, test in splits:
                guess[test] = Ridge(alpha).fit(X[train], Y[train, j]).predict(X[test])
            errors.append(np.mean((Y[:, j] - guess) ** 2))
        assert_allclose(search.learning_[j], np.sqrt(errors[0] / errors[1]), rtol=1e-8)


def test_widths_that_all_rows_chose_flatter_neither_error():
    """Errors in folds of widths per input are of blind ones: with these the ratio would be too small."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 6))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=120)
    folds = list(KFold(5, shuffle=True, random_state=0).split(X))
    search = KernelSearch(cv=folds).fit(X, y)
    assert np.ptp(search.best_estimator_[0].scale_) > 0.5  # inputs have widths of their own
    errors = []
    for splits in (list(LeaveOneOut().split(X)), folds):
        guess = np.empty(120)
        for train, test in splits:
            Z = search.best_estimator_[0].transform(X) * np.sqrt(search.best_params_["gamma"])
            K = np.exp(-((Z[:, None] - Z) ** 2).sum(axis=2))
            A = np.ones((len(train) + 1, len(train) + 1))
            A[:-1, :-1] = K[np.ix_(train, train)] + search.best_params_["alpha"] * np.eye(
                len(train)
            )
            A[-1, -1] = 0
            solved = np.linalg.solve(A, np.append(y[train], 0))
            guess[test] = K[np.ix_(test, train)] @ solved[:-1] + solved[-1]
        errors.append(np.mean((y - guess) ** 2))
    assert_allclose(search.learning_, np.sqrt(errors[0] / errors[1]), rtol=1e-6)


def plain_errors(search, Y):
    return np.sort(np.abs(Y - search.cv_predictions_), axis=0)


def test_errors_for_intervals_are_those_of_models_of_all_rows():
    """The mean of the ratios of the outer folds, never above one."""
    X, Y = table(60, 30, 0.3)
    search = MethodSearchCV("ridge", cv=5).fit(X, Y)
    ratios = [
        RidgeSearch(cv=ContentKFold(5, shuffle=True, random_state=0))
        .fit(X[train], Y[train])
        .learning_
        for train, _ in outer_splits(5, X, Y, None, 0)
    ]
    factors = np.mean(ratios, axis=0)
    assert (0.5 < factors).all() and (factors < 0.9).all()  # thirty inputs of 48 rows
    assert_allclose(search.residual_quantiles_, factors * plain_errors(search, Y), rtol=1e-9)
    wide = search.domain_.scaled_errors
    search.domain_.enlarge_errors(1 / factors)
    assert_allclose(wide, factors * search.domain_.scaled_errors, rtol=1e-12)


@pytest.mark.parametrize("asked", ["trees", "groups", "many rows"])
def test_where_nothing_is_taken_off(asked):
    """Trees learn otherwise, new groups are not learned row by row, many rows gain next to nothing."""
    X, Y = table(800 if asked == "many rows" else 60, 4, 0.5)
    options = {"groups": np.arange(60) % 6} if asked == "groups" else {}
    search = MethodSearchCV("trees" if asked == "trees" else "ridge", cv=5).fit(X, Y, **options)
    errors = plain_errors(search, Y)
    least = 0.99 if asked == "many rows" else 1.0
    assert (least * errors <= search.residual_quantiles_ + 1e-12).all()
    assert (search.residual_quantiles_ <= errors + 1e-12).all()


def test_a_treated_search_has_the_mean_of_its_parts():
    X, Y = table(40, 12, 0.5)
    folds = list(KFold(5, shuffle=True, random_state=0).split(X))
    search = TreatedSearch(RidgeSearch(scale=False), {"none": None, "again": None}, cv=folds)
    assert_allclose(
        search.fit(X, Y).learning_, RidgeSearch(scale=False, cv=folds).fit(X, Y).learning_
    )


def test_pls_is_taken_to_learn_as_ridge_regression_does():
    X, Y = table(60, 30, 0.3)
    both = MethodSearchCV(["pls", "ridge"], cv=5, prefer="small").fit(X, Y)
    assert both.best_method_ == "pls"
    ridge = MethodSearchCV("ridge", cv=5).fit(X, Y)
    factors = ridge.residual_quantiles_[-1] / plain_errors(ridge, Y)[-1]
    assert_allclose(both.residual_quantiles_, factors * plain_errors(both, Y), rtol=1e-9)


class Known:
    """What the factors ask of a trial: its name, and the ratios of its folds."""

    def __init__(self, name, *learning):
        self.rung = SimpleNamespace(name=name)
        self.learning = [np.array([value]) for value in learning]


def test_factors_are_weighted_and_bounded():
    """Means over folds; others learn as the known ones do in the mean, trees and means not at all."""
    ridge, kernel, steep = Known("ridge", 0.7, 0.9), Known("kernel", 0.6), Known("kernel", 0.1)
    lucky = Known("ridge", 1.3)
    for members, weights, trials, wanted in [
        ([ridge], [1.0], [ridge, kernel], 0.8),
        ([ridge, Known("trees")], [0.5, 0.5], [ridge], 0.9),
        ([ridge, Known("mean"), Known("boosting")], [0.5, 0.25, 0.25], [ridge], 0.9),
        ([Known("pls")], [1.0], [ridge, kernel], 0.7),
        ([steep], [1.0], [steep], 0.5),
        ([lucky], [1.0], [lucky], 1.0),
        ([Known("pls")], [1.0], [Known("pls")], 1.0),
    ]:
        assert_allclose(learning_factors(members, np.array(weights)[:, None], trials), wanted)
