"""Oracles: ridge refitted without each row, the search over the same grid and folds, planted ranks."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import PredefinedSplit

from isthmus import (
    PCR,
    PLS,
    ComponentSearchCV,
    IndicatorClassifier,
    ManifoldPLS,
    ReducedRankRegression,
    StiefelRegression,
)
from isthmus.kernels.distinct import deal_by_content
from isthmus.problems.ridge import RidgeSpectrum
from isthmus.regression.chosen import LeaveOneOut

SHAPES = [(40, 6, 3), (25, 60, 3), (30, 29, 1)]
MAPS = [ReducedRankRegression, StiefelRegression, ManifoldPLS]


def make(n=40, p=6, q=3, seed=0, noise=3.0):
    """Noisy, off centre, outputs of unlike units, inputs of unlike sizes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(2, 1, size=(n, p)) * np.geomspace(1, 3, p)
    Y = X[:, :4] @ rng.normal(size=(4, 2)) @ rng.normal(size=(2, q)) + noise * rng.normal(
        size=(n, q)
    )
    return X, Y * np.geomspace(1, 50, q) - 3


def left_out_error(X, Y, weights, scale, alpha):
    """The criterion by a refit for every row, outputs in units of their weighted deviations."""
    w = np.ones(len(X)) if weights is None else weights
    error = 0.0
    x_mean = np.average(X, axis=0, weights=w)
    X = X / np.sqrt(np.average((X - x_mean) ** 2, axis=0, weights=w)) if scale else X
    mean = np.average(Y, axis=0, weights=w)
    Y = Y / np.sqrt(np.average((Y - mean) ** 2, axis=0, weights=w))
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        model = Ridge(alpha, solver="svd").fit(X[rest], Y[rest], sample_weight=w[rest])
        error += w[i] * ((Y[i] - model.predict(X[[i]]).reshape(-1)) ** 2).sum()
    return error


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_weight_of_full_rank_is_the_best_of_leave_one_out(shape, weighted, scale):
    """No neighbour on the grid of half decades is better by refits."""
    X, Y = make(*shape, noise=0.5)
    weights = np.random.default_rng(1).uniform(0.2, 3, len(X)) if weighted else None
    alpha = ReducedRankRegression(scale=scale).fit(X, Y, weights).alpha_
    assert alpha > 0
    error = left_out_error(X, Y, weights, scale, alpha)
    for factor in (10**-0.5, 10**0.5):
        assert error <= left_out_error(X, Y, weights, scale, alpha * factor) * (1 + 1e-9)


def test_leave_one_out_has_its_limit_without_a_ridge_where_rows_are_few():
    """n - 1 directions: both residual and leverage go to zero, and their ratio has all digits."""
    X, Y = make(12, 40, 2)
    spectrum = RidgeSpectrum.of_rows(X)
    for alpha in (0.0, 1e-14, 1e-8):
        found = spectrum.left_out_singly(Y, np.full(2, alpha * spectrum.values[-1]))
        for i in range(12):
            rest = np.arange(12) != i
            Xc, Yc = X[rest] - X[rest].mean(axis=0), Y[rest] - Y[rest].mean(axis=0)
            coef = np.linalg.pinv(Xc) @ Yc
            truth = (X[i] - X[rest].mean(axis=0)) @ coef + Y[rest].mean(axis=0)
            assert_allclose(found[i], truth, rtol=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_table_given_twice_is_its_rows_with_weight_two(shape):
    """Singly left out, each copy would tell what the other is, and no ridge would be best."""
    X, Y = make(*shape)
    once = ReducedRankRegression().fit(X, Y)
    for model in (
        ReducedRankRegression().fit(np.vstack([X, X]), np.vstack([Y, Y])),
        ReducedRankRegression().fit(X, Y, np.full(len(X), 2)),
    ):
        assert_allclose(model.alpha_, 2 * once.alpha_, rtol=1e-9)
        assert_allclose(model.predict(X), once.predict(X), rtol=1e-7)


def test_a_wild_row_without_weight_is_not_there():
    """The deviations of the outputs, in which errors count, are weighted too."""
    X, Y = make(seed=5)
    Y[:, 2] += (
        20 * np.random.default_rng(0).normal(size=40) * Y[:, 2].std()
    )  # noise, which needs a ridge
    wild = np.vstack([Y, Y[0] + np.array([0.0, 0.0, 1e9])])
    found = ReducedRankRegression().fit(np.vstack([X, X[:1] + 1]), wild, np.r_[np.ones(40), 1e-25])
    assert_allclose(found.alpha_, ReducedRankRegression().fit(X, Y).alpha_, rtol=1e-6)


def test_replicates_of_a_sample_are_left_out_together():
    """Copies of X with noise of their own in y: singly left out, the smallest weight would win."""
    X, Y = make(20, 40, 2)
    rng = np.random.default_rng(0)
    twice = np.vstack([Y, Y + 0.01 * rng.normal(size=Y.shape)])
    found = ReducedRankRegression().fit(np.vstack([X, X]), twice)
    assert_allclose(found.alpha_, 2 * ReducedRankRegression().fit(X, Y).alpha_, rtol=1e-9)


def test_few_kinds_of_inputs_are_told_apart():
    """A design of two kinds: were each one row, either would be predicted by the other."""
    rng = np.random.default_rng(0)
    x = np.repeat([0.0, 1.0], 30)[:, None]
    y = 3 * x[:, 0] + 0.1 * rng.normal(size=60)
    assert abs(ReducedRankRegression().fit(x, y).coef_[0] - 3) < 0.1
    assert abs(ReducedRankRegression().fit(x, 3 * x[:, 0]).coef_[0] - 3) < 0.1


@pytest.mark.parametrize("kind", MAPS)
@pytest.mark.parametrize("rank", ["auto", 2])
@pytest.mark.parametrize("shape", SHAPES[:2])
@pytest.mark.parametrize("seed", [3, 10])  # a tenth is chosen in the one, a hundredth in the other
def test_auto_is_the_search_over_its_grid_and_folds(kind, rank, shape, seed):
    X, Y = make(*shape, seed=seed)
    most = LeaveOneOut(X, Y, None, False).best(Y / Y.std(axis=0))[0]
    search = ComponentSearchCV(
        kind(),
        n_components=None if rank == "auto" else [rank],
        alpha=[most, most / 10, most / 100],
        cv=PredefinedSplit(deal_by_content(X, 5, Y=Y)),
    ).fit(X, Y)
    found = kind(rank).fit(X, Y)
    assert found.n_components_ == search.best_params_["n_components"]
    assert_allclose(found.alpha_, search.best_params_["alpha"], rtol=1e-10)
    assert_allclose(found.predict(X), search.predict(X), rtol=1e-10)


@pytest.mark.parametrize("kind", [ReducedRankRegression, ManifoldPLS, StiefelRegression, PLS, PCR])
@pytest.mark.parametrize("rank", ["auto", 2])
@pytest.mark.parametrize("n", [25, 60])
def test_doors_and_laws_of_a_choice(kind, rank, n):
    """Sparse rows, "em" without gaps, another order, weights as copies, on noisy tables."""
    X, Y = make(n, 40, 3, seed=n)
    whole = kind(rank).fit(X, Y)
    order = np.random.default_rng(0).permutation(n)
    others = [kind(rank).fit(sparse.csr_array(X), Y), kind(rank).fit(X[order], Y[order])]
    if kind is not ManifoldPLS and kind is not StiefelRegression:
        others.append(kind(rank, missing="em").fit(X, Y))
    for other in others:
        assert other.n_components_ == whole.n_components_
        assert_allclose(other.predict(X), whole.predict(X), rtol=1e-6)
    weights = np.random.default_rng(1).integers(1, 4, n)
    rows = np.repeat(np.arange(n), weights)
    copied, weighted = kind(rank).fit(X[rows], Y[rows]), kind(rank).fit(X, Y, weights)
    assert copied.n_components_ == weighted.n_components_
    assert_allclose(copied.predict(X), weighted.predict(X), rtol=1e-6)


@pytest.mark.parametrize("loss", ["huber", "absolute", "quantile", "log_cosh"])
def test_other_losses_choose_their_rank_and_their_ridge(loss):
    """Wild cells leave rank and error as they are; with a fixed seed there are no false alarms."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    coef = rng.normal(size=(5, 2)) @ rng.normal(size=(2, 8))
    Y = X @ coef.T + 0.5 * rng.normal(size=(300, 5))
    spoilt = np.where(rng.random(Y.shape) < 0.2, Y + rng.choice([-1, 1], Y.shape) * 50, Y)
    model = StiefelRegression("auto", loss=loss).fit(X, spoilt)
    assert model.n_components_ == 2
    best = StiefelRegression(2, loss=loss, alpha=0.0).fit(X, spoilt)
    assert ((model.coef_ - coef) ** 2).sum() < 1.2 * ((best.coef_ - coef) ** 2).sum()
    with_unit = StiefelRegression("auto", loss=loss).fit(X, spoilt * [1, 1e3, 1, 1, 1])
    assert with_unit.n_components_ == 2
    assert_allclose(with_unit.alpha_, model.alpha_, rtol=1e-6)


@pytest.mark.parametrize("loss", ["logistic", "poisson"])
def test_losses_with_a_link_choose_too(loss):
    X, Y = make(80, 5, 3)
    counts = (Y > Y.mean(axis=0)) * (1.0 if loss == "logistic" else 2.0)
    model = StiefelRegression("auto", loss=loss).fit(X, counts)
    assert model.alpha_ > 0 and 1 <= model.n_components_ <= 3


def test_alike_outputs_are_not_taken_for_outliers():
    """One row in ten is another class: pulled in, its indicator would be no more than noise."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % 10 == 0
    X = rng.normal(size=(200, 5)) + 3 * y[:, None]
    Y = np.c_[y, ~y].astype(float)
    assert_allclose(LeaveOneOut(X, Y, None, False).pulled_in(Y, Y), Y)
    model = StiefelRegression("auto", loss="huber").fit(X, Y)
    assert ((model.predict(X)[:, 0] > 0.5) == y).mean() > 0.98


@pytest.mark.parametrize("kind", MAPS)
def test_a_number_is_that_number(kind):
    X, Y = make(12, 30, 3)
    Xc, Yc = X - X.mean(axis=0), Y - Y.mean(axis=0)
    assert_allclose(kind(3, alpha=0).fit(X, Y).coef_.T, np.linalg.pinv(Xc) @ Yc, rtol=1e-6)
    assert kind(alpha=2.5).fit(X, Y).alpha_ == 2.5


@pytest.mark.parametrize("kind", MAPS)
def test_blocks_take_numbers(kind):
    assert not hasattr(kind(2), "partial_fit")
    assert not hasattr(kind("auto", alpha=1.0), "partial_fit")
    assert hasattr(kind(2, alpha=0.0), "partial_fit")
    with pytest.raises(AttributeError) as told:
        kind(2).partial_fit(np.ones((3, 2)), np.ones((3, 2)))
    assert "needs numbers" in str(told.value.__cause__)


def test_inputs_or_outputs_that_do_not_vary():
    X, Y = make()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in (ReducedRankRegression(), ReducedRankRegression("auto"), ManifoldPLS("auto")):
            constant = clone(model).fit(np.ones((40, 3)), Y)
            assert_allclose(constant.predict(np.ones((1, 3)))[0], Y.mean(axis=0))
            one = Y.copy()
            one[:, 1] = 7.0
            assert_allclose(clone(model).fit(X, one).predict(X)[:, 1], 7.0)
            assert clone(model).fit(X[:2], Y[:2]).predict(X).shape == Y.shape


@pytest.mark.parametrize("kind", [*MAPS, PLS, PCR])
def test_a_number_that_nobody_gave_is_not_missed(kind):
    """Where no component exists, "auto" is the mean and says nothing of one that was wanted."""
    X, Y = make(n=20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for inputs, outputs in ((0 * X, Y), (X, 0 * Y + 4)):
            model = kind("auto").fit(inputs, outputs)
            assert_allclose(model.predict(inputs)[0], outputs.mean(axis=0))


@pytest.mark.parametrize("kind", [*MAPS, PLS, PCR])
def test_a_word_that_is_unknown_is_told_all_that_is_taken(kind):
    with pytest.raises(
        ValueError, match=r"'cv', must be an integer >= [01] or one of: 'auto', None"
    ):
        kind("cv").fit(*make())


# -- classes ----------------------------------------------------------------------------------


def classes(n_classes=10, per_class=8, p=30, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_classes), per_class)
    return rng.normal(size=(n_classes, p))[y] + 1.0 * rng.normal(size=(len(y), p)), y


def test_the_default_classifier_is_ridge_by_leave_one_out():
    X, y = classes()
    model = IndicatorClassifier().fit(X, y)
    twin = ReducedRankRegression().fit(X, np.eye(10)[y])
    assert_allclose(model.decision_function(X), twin.predict(X))


@pytest.mark.parametrize("kind", [PLS, PCR, ManifoldPLS])
@pytest.mark.parametrize("seed", range(3))
def test_a_rank_is_chosen_by_the_classes_of_rows_left_out(kind, seed):
    """By refits of every number of components in every fold; ties are left to squared errors."""
    X, y = classes(seed=seed)
    Y = np.eye(10)[y]
    model = IndicatorClassifier(kind("auto")).fit(X, y)
    extra = {"alpha": model.estimator_.alpha_} if kind is ManifoldPLS else {}
    wrong = []
    ranks = range(1, 10 if kind is ManifoldPLS else 30)
    for k in ranks:
        predicted = np.empty_like(Y)
        for train, test in PredefinedSplit(deal_by_content(X, 5, Y=Y)).split():
            refit = kind(k, **extra).fit(X[train], Y[train])
            predicted[test] = refit.predict(X[test])
        wrong.append((predicted.argmax(axis=1) != y).sum())
    assert wrong[model.estimator_.n_components_ - 1] == min(wrong)


@pytest.mark.parametrize("kind", [*MAPS, PLS, PCR])
@pytest.mark.parametrize("unit", [1e-90, 1e90])
def test_units_do_not_move_a_classifier(kind, unit):
    X, y = classes(n_classes=4, per_class=5)
    model, moved = (IndicatorClassifier(kind("auto")).fit(Z, y) for Z in (X, X * unit))
    assert moved.estimator_.n_components_ == model.estimator_.n_components_
    assert_allclose(moved.decision_function(X * unit), model.decision_function(X), atol=1e-7)
    assert_allclose(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_forty_classes_are_not_left_with_one_component():
    """Of forty outputs each component explains a fortieth: a charge of its own took one of 39."""
    X, y = classes(40, 3, 60)
    assert IndicatorClassifier(PLS("auto")).fit(X, y).score(X, y) > 0.8
    assert PLS("auto").fit(X, np.eye(40)[y]).n_components_ > 10
