"""Oracles of closed forms, blends, trees and the three answers: refitting, a solver, scikit-learn."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime, minimize, minimize_scalar
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GroupKFold, KFold
from sklearn.preprocessing import FunctionTransformer

from isthmus import IndicatorClassifier, MethodSearchCV, compress, fit_auto, load, save
from isthmus.auto import ladder as ladder_module
from isthmus.auto.answers import Answers
from isthmus.auto.blend_trial import BlendTrial
from isthmus.auto.blends import best_shares, blend_weights
from isthmus.auto.ladder import LADDER
from isthmus.auto.methods import trees
from isthmus.auto.methods.input_widths import negative_evidence, scale_inputs
from isthmus.auto.methods.kernel_search import KernelSearch
from isthmus.auto.methods.treated import PathSearch, RidgeSearch, TreatedSearch
from isthmus.auto.methods.trees import TreeSearch
from isthmus.auto.problem import Rung
from isthmus.auto.splits import inner_folds, outer_splits
from isthmus.auto.trials import Trial
from isthmus.features.treatments import NormalVariate, SavitzkyGolay
from isthmus.persistence.errors import CorruptedFileError
from isthmus.persistence.laws import check_state

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4)) + 2
Y = np.column_stack([np.sin(X[:, 0]) * X[:, 1], X[:, 2] ** 2]) + 0.1 * rng.normal(size=(60, 2)) - 3
WEIGHTS = rng.uniform(0.5, 2, 60)
FOLDS = list(KFold(5, shuffle=True, random_state=0).split(X))


def test_the_evidence_of_widths_and_its_gradient():
    """The density of the outputs at the best signal variance of each, by scipy; finite differences."""
    theta = np.array([0.1, -0.3, 0.2, 0.0, -2.0])
    centred = Y - Y.mean(axis=0)
    value, gradient = negative_evidence(theta, X, centred)
    K = rbf_kernel(X * np.exp(theta[:-1]), gamma=0.5) + np.exp(theta[-1]) * np.eye(60)
    total = 0.0
    for y in centred.T:
        best = minimize_scalar(lambda v, y=y: -multivariate_normal.logpdf(y, cov=np.exp(v) * K))
        total += best.fun
    constant = 0.5 * (1 + np.log(2 * np.pi / 60))  # n/2 log(2 pi e / n), per cell
    assert_allclose(value + constant, total / Y.size, rtol=1e-8)
    expected = approx_fprime(theta, lambda t: negative_evidence(t, X, centred)[0], 1e-6)
    assert_allclose(gradient, expected, rtol=1e-4, atol=1e-5)


def test_widths_find_the_inputs_that_count():
    """Two inputs whose product is the output, among 24: none tells anything alone.

    The smaller of their factors was 13 to 246 times the largest of the others in forty draws.
    """
    for seed in range(3):
        draw = np.random.default_rng(seed)
        Z = draw.normal(size=(150, 24))
        y = Z[:, :1] * Z[:, 1:2] + 0.1 * draw.normal(size=(150, 1))
        factors = scale_inputs(Z, y, gamma=1 / 48)
        assert factors[:2].min() > 2 * factors[2:].max()
    assert_allclose(scale_inputs(Z, np.zeros((150, 1)), 0.5), 1.0)  # a constant tells nothing


def test_each_target_has_its_own_ridge_weight():
    """A target of noise beside one without it: one weight cannot serve both."""
    A = rng.normal(size=(80, 20))
    B = np.column_stack([A @ rng.normal(size=20), rng.normal(size=80)])
    search = RidgeSearch(cv=5).fit(A, B)
    assert search.best_params_["alpha"][0] < 1e-3 * search.best_params_["alpha"][1]
    for j in range(2):
        alone = RidgeSearch(cv=5).fit(A, B[:, j])
        assert_allclose(search.predict(A)[:, j], alone.predict(A), rtol=1e-8)


def test_blend_weights_minimise_on_the_simplex(monkeypatch):
    monkeypatch.setattr("isthmus.auto.blends._LEAST_BLENDED", 0.0)
    errors = rng.normal(size=(4, 50, 2)) * np.array([1.0, 0.5, 2.0, 5.0])[:, None, None]
    errors[1] += errors[0]  # the second predicts much as the first does
    target = rng.normal(size=(50, 2))
    found = blend_weights(target, list(target - errors))
    assert_allclose(found.sum(axis=0), 1)
    assert (found >= 0).all() and (found[3] < 0.1).all()
    products = np.einsum("anq,bnq->qab", errors, errors)
    least = np.einsum("qaa->qa", products).min(axis=1)
    products /= least[:, None, None]
    products = 0.5 * products + 0.5 * products.mean(axis=0)
    squares = 50 * errors**2 / least
    squares = 0.5 * squares + 0.5 * squares.mean(axis=2, keepdims=True)
    for j, S in enumerate(products):
        off = squares[:, :, j] - squares[squares[:, :, j].mean(axis=1).argmin(), :, j]
        t = off.mean(axis=1) / np.maximum(off.std(axis=1) / np.sqrt(50), 1e-300)
        aim = np.exp(-(t**2) / 2)
        for a in range(4):
            apart = [S[a, a] + S[b, b] - 2 * S[a, b] for b in range(4)]
            alike = [np.exp(-apart[b] / (0.2 * min(S[a, a], S[b, b]))) for b in range(4)]
            aim[a] /= sum(alike)
        aim /= aim.sum()
        assert aim[3] < 1e-3 < aim[0]  # weights are pulled towards the methods that may be the best

        def loss(w, S=S, aim=aim):
            return w @ S @ w + 100 / 50 * ((w - aim) ** 2).sum()

        best = minimize(
            loss, np.full(4, 0.25), bounds=[(0, 1)] * 4, method="SLSQP",
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1}, options={"ftol": 1e-12},
        )  # fmt: skip
        assert loss(found[:, j]) <= best.fun * (1 + 1e-6)


def test_copies_of_a_method_share_its_vote(monkeypatch):
    monkeypatch.setattr("isthmus.auto.blends._PULL", 1e9)  # nothing but votes decides
    one, other = (Y + draw for draw in rng.normal(size=(2, *Y.shape)))
    alone = blend_weights(Y, [one, other])
    copied = blend_weights(Y, [one, one, one, other])
    assert_allclose(copied[:3].sum(axis=0), alone[0], rtol=1e-3)
    assert_allclose(copied[0], copied[2], rtol=1e-6)
    apart = blend_weights(Y, [one, one, one, other], share_votes=False)
    alone = blend_weights(Y, [one, other], share_votes=False)
    assert_allclose(apart[0] / apart[3], alone[0] / alone[1], rtol=1e-3)


def test_methods_without_error_are_blended_too():
    weights = blend_weights(Y, [Y, Y, Y + 1])
    assert_allclose(weights, [[0.5] * 2, [0.5] * 2, [0.0] * 2], atol=1e-6)


def test_blend_weights_know_no_units():
    parts = [Y + rng.normal(size=Y.shape) for _ in range(3)]
    scaled = [1e6 * part for part in parts]
    assert_allclose(blend_weights(1e6 * Y, scaled), blend_weights(Y, parts), rtol=1e-6)


# -- kernels -------------------------------------------------------------------------------------


@pytest.mark.parametrize("flat", [True, False])
def test_kernels_predict_no_farther_outside_than_outputs_are_wide(flat):
    """A cubic through the training rows, by an RBF kernel that is wide beside them."""
    A = np.linspace(-1, 1, 30)[:, None]
    b = A[:, 0] ** 3 if flat else np.column_stack([A[:, 0] ** 3, -2 * A[:, 0] ** 3])
    search = KernelSearch(cv=5, widths=[1e-3]).fit(A, b)
    model = search.best_estimator_
    assert_allclose(model.predict(A), b, atol=1e-3)
    outside = np.linspace(-10, 10, 41)[:, None]
    far = model.predict(outside)
    bound = 3.0 if flat else np.array([3.0, 6.0])  # the outputs are 2 or 4 wide, around zero
    assert (np.abs(far) <= bound * (1 + 1e-12)).all()
    assert np.abs(model[-1].expansion_(model[0].transform(outside))).max() > 100  # without a bound
    assert_allclose(compress(model[-1], tol=1e-6).highest_, model[-1].highest_)


# -- trees ---------------------------------------------------------------------------------------


def test_blend_weights_of_rows_that_count_more_or_not_at_all():
    """A weight multiplies squared errors; a row that a method has not predicted is none."""
    rng = np.random.default_rng(2)
    Y = rng.normal(size=(40, 2))
    parts = [Y + rng.normal(size=Y.shape) * sigma for sigma in (0.5, 0.7)]
    weights = rng.uniform(0.1, 5, size=40)
    roots = np.sqrt(weights)[:, None]
    scaled = blend_weights(Y * roots, [part * roots for part in parts])
    assert_allclose(blend_weights(Y, parts, weights), scaled, rtol=1e-8)
    rest = blend_weights(Y[5:], [part[5:] for part in parts], weights[5:])
    parts[1][:5] = np.nan
    assert_allclose(blend_weights(Y, parts, weights), rest, rtol=1e-8)


def test_weights_of_a_fold_know_nothing_of_it_nor_of_what_comes_later():
    """Weights by hand; in time no row before the first fold was predicted: the first method is taken."""
    Y = np.random.default_rng(4).normal(size=(40, 2))
    for cv in (4, "time"):
        splits = outer_splits(cv, Y, Y, None, 0)
        parts = [Trial(LADDER[0], Y, Y, splits, None) for _ in range(2)]
        tested = np.concatenate([test for _, test in splits])
        for part, sigma in zip(parts, (0.5, 0.4), strict=True):
            noise = np.random.default_rng(int(10 * sigma)).normal(size=Y.shape)
            part.predictions[tested] = Y[tested] + sigma * noise[tested]
        blend = BlendTrial(LADDER[0], Y, Y, splits, None)
        blend.blend(parts)
        for i, (train, test) in enumerate(splits):
            rows = np.intersect1d(train, tested)
            weights = np.array([[1.0, 1.0], [0.0, 0.0]])
            if len(rows):
                weights = blend_weights(Y[rows], [part.predictions[rows] for part in parts])
            else:
                assert (cv, i) == ("time", 0)
            expected = sum(
                w * part.predictions[test] for w, part in zip(weights, parts, strict=True)
            )
            assert_allclose(blend.predictions[test], expected, rtol=1e-12)


def test_columns_that_are_no_numbers_are_named():
    table = pd.DataFrame({"a": X[:, 0], "colour": ["red", "green"] * 30})
    with pytest.raises(ValueError, match="column 'colour' holds text such as 'red', expected numb"):
        fit_auto(table, Y)
    table["colour"] = pd.date_range("2020-01-01", periods=60)
    with pytest.raises(ValueError, match="column 'colour' holds dates such as '2020-01-01"):
        fit_auto(table, Y)


def test_rows_that_no_fold_leaves_out_have_no_error():
    rng = np.random.default_rng(3)
    Y = rng.normal(size=(30, 2))
    predictions = Y + np.array([0.1, 0.2])
    predictions[:6] = np.nan  # as with folds in time
    trial = Trial(LADDER[0], Y, Y, [], None)
    trial.predictions = predictions
    expected = np.mean(np.array([0.01, 0.04]) / Y.var(axis=0))
    assert np.isnan(trial.losses[:6]).all()
    assert_allclose(trial.losses[6:], expected, rtol=1e-10)
    trial.Y[7, 0] = np.nan  # an output that was not measured
    assert_allclose(trial.losses[7], 0.04 / np.var(Y[:, 1]), rtol=1e-10)
    trial.weights = np.linspace(0.5, 1.5, 30)
    trial.Y = np.zeros((30, 2)) + [0, 1] * np.arange(30)[:, None]  # a constant output has no say
    trial.predictions = trial.Y + 3.0
    centred = np.arange(30) - np.average(np.arange(30), weights=trial.weights)
    unit = np.average(centred**2, weights=trial.weights)
    assert_allclose(trial.losses, 9 / unit * trial.weights, rtol=1e-10)


@pytest.mark.parametrize(
    ("kind", "n", "ranked", "shares"),
    [
        ("boosting", 60, [True], [1.0]),
        ("extra", 99, [False, False, True], [0.5, 0.25, 0.25]),  # as they are beforehand
        # The second, 0.25 * 0.1 of all, is left out; the others share its trees.
        ("extra", 100, [False, True], [0.5 * 0.5 / 0.35, 0.25 * 0.4 / 0.35]),
    ],
)
def test_tables_predict_as_the_trees_do(kind, n, ranked, shares, monkeypatch):
    A, B = np.vstack([X, X + 0.1])[:n], np.vstack([Y, -Y])[:n]
    grown = []
    tables = trees._tables
    monkeypatch.setattr(trees, "_tables", lambda models: grown.append(models) or tables(models))
    monkeypatch.setattr(trees, "best_shares", lambda losses: np.array([[0.5], [0.1], [0.4]]))
    search = TreeSearch(kind, cv=3).fit(A, B)
    places_of_outputs = np.argsort(
        np.argsort((((B - B.mean(axis=0)) / B.std(axis=0)) ** 3).sum(axis=0))
    )
    peer = 0.0
    for models, share, is_ranked in zip(grown, shares, ranked, strict=True):
        places = trees._places(A[:, trees._order_of_columns(A)], is_ranked)[0]
        peer = (
            peer
            + share
            * np.column_stack([np.reshape(m.predict(places), (n, -1)) for m in models])[
                :, places_of_outputs
            ]
        )
    assert_allclose(search.predict(A), peer * B.std(axis=0) + B.mean(axis=0), rtol=1e-6)
    assert_allclose(search.best_params_["share"], max(shares), rtol=1e-10)


def test_boosting_knows_no_units_of_the_inputs():
    bent = np.exp(X)
    assert_allclose(
        TreeSearch("boosting", cv=3).fit(bent, Y).predict(bent),
        TreeSearch("boosting", cv=3).fit(X, Y).predict(X),
        rtol=1e-10,
    )


@pytest.mark.parametrize("ranked", [False, True])
def test_trees_see_values_or_ranks(ranked):
    """Large values that are rare decide the output, or most values near the end of a long tail.

    In eight draws values had most of the trees every time, and ranks in seven.
    """
    draw = np.random.default_rng(5)
    A = np.exp(draw.normal(size=(120, 6)) * (4.0 if ranked else 1.0))
    b = np.log(A[:, 0]) if ranked else A[:, 0]
    assert TreeSearch(cv=3).fit(A, b).best_params_["ranked"] == ranked


def test_leaves_are_larger_where_that_is_better():
    """Steps without noise want leaves of one row; noise that drowns them wants larger ones.

    With noise larger leaves have most of the trees in two of three draws, so that fewer than three of ten
    are a false alarm in three of a thousand; without noise in none of fifty.
    """

    def n_larger(noise):
        found = 0
        for seed in range(10):
            draw = np.random.default_rng(seed)
            A = draw.uniform(size=(150, 5))
            b = np.floor(4 * A[:, 0]) + np.floor(3 * A[:, 1]) + noise * draw.normal(size=150)
            found += TreeSearch(cv=3).fit(A, b).best_params_["min_samples_leaf"] == 4
        return found

    assert n_larger(noise=0.0) == 0
    assert n_larger(noise=3.0) >= 3


def test_rows_are_drawn_where_thresholds_are_not():
    """Columns of two values have one threshold: trees of the same rows are all the same tree.

    In eight draws squared errors were 0.52 to 0.61 of those of scikit-learn's trees, and 0.67 to 0.87
    where no rows were drawn.
    """
    ratios = []
    for seed in range(3):
        draw = np.random.default_rng(seed)
        A = draw.integers(0, 2, size=(300, 30)).astype(float)
        b = A[:, 0] + A[:, 1] * A[:, 2] + 0.5 * draw.normal(size=300)
        search = TreeSearch(cv=3).fit(A[:150], b[:150])
        peer = ExtraTreesRegressor(100, random_state=0).fit(A[:150], b[:150])
        own, other = (np.mean((m.predict(A[150:]) - b[150:]) ** 2) for m in (search, peer))
        ratios.append(own / other)
    assert np.mean(ratios) < 0.63


@pytest.mark.parametrize("kind", ["extra", "boosting"])
def test_trees_know_no_order_of_columns(kind):
    one = TreeSearch(kind, cv=3).fit(X, Y)
    other = TreeSearch(kind, cv=3).fit(X[:, ::-1], Y[:, ::-1])
    assert_allclose(other.predict(X[:, ::-1]), one.predict(X)[:, ::-1], rtol=1e-12)


def test_settings_share_the_trees_by_how_sure_the_rows_are():
    """Losses that are 0, 1 and 3 standard errors larger than the least, in the same rows."""
    first = np.tile([1.0, 1.2, 0.7], 40)
    wave = np.tile([1.0, -1.0], 60)
    losses = [first + wave + t / np.sqrt(120) for t in (0, 1, 3)]
    losses = np.stack([first, losses[1], losses[2]])[:, :, None]
    expected = np.exp([0, -0.5, -4.5])
    assert_allclose(best_shares(losses)[:, 0], expected / expected.sum(), rtol=1e-10)


def test_outputs_have_a_say_in_the_splits_by_what_is_predicted_of_them():
    """Left-out errors of 0.1, 0.55 and more than all of the variance, over the best."""
    errors = np.tile([0.1, 0.55, 1.3], (20, 1))
    assert_allclose(trees._output_weights(errors), [1.0, 0.5, 0.02])


def test_outputs_of_noise_do_not_choose_the_splits():
    """One output that is predicted beside seven that are not, against trees that weigh all alike.

    In twenty draws the squared error was 0.17 to 0.69 of theirs; without the rule, in eight, 1.02 to 1.45.
    """
    draw = np.random.default_rng(11)
    A = draw.uniform(size=(400, 8))
    signal = 4 * A[:, 0] * A[:, 1]
    B = np.column_stack([signal, draw.normal(size=(400, 7))])
    own = TreeSearch(cv=3).fit(A[:200], B[:200]).predict(A[200:])[:, 0]
    scale = B[:200].std(axis=0)
    peer = ExtraTreesRegressor(100, random_state=0).fit(A[:200], B[:200] / scale)
    equal = peer.predict(A[200:])[:, 0] * scale[0]
    truth = signal[200:]
    assert np.mean((own - truth) ** 2) < 0.9 * np.mean((equal - truth) ** 2)


@pytest.mark.parametrize(
    ("part", "value"), [("left_", 0), ("right_", 10**6), ("feature_", 4), ("roots_", -1)]
)
def test_tables_that_lead_nowhere_are_refused(part, value):
    forest = TreeSearch(cv=2).fit(X, Y).best_estimator_
    state = dict(vars(forest))
    check_state(type(forest), state, "forest")
    state[part] = state[part].copy()
    place = int(np.flatnonzero(state["left_"] >= 0)[1]) if part != "roots_" else 0
    state[part][place] = value
    with pytest.raises(CorruptedFileError):
        check_state(type(forest), state, "forest")


# -- the search ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole():
    names = ["pls", "ridge", "kernel", "rough_kernel", "trees"]
    return MethodSearchCV(names, cv=3).fit(X, Y, target_names=["u", "v"])


def test_three_answers_side_by_side(whole, tmp_path):
    assert whole.best_method_ == "blend" and list(whole.answers_) == ["accurate", "simple", "small"]
    for told in whole.answers_.values():
        assert told["numbers"] > 0 and told["rows_per_second"] > 0 and np.isfinite(told["score"])
    results = whole.cv_results_
    place = results["rank_test_score"].argmin()
    assert results["mean_test_score"][place] == np.nanmax(results["mean_test_score"])
    assert results["params"][place]["method"] == results["method"][place]
    whole.report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "Three answers to the same question" in page and "gain over simple" in page
    said = repr(whole)
    assert "answer: blend, score" in said and "runner-up: " in said


def test_blends_and_trees_are_saved(whole, tmp_path):
    save(whole, tmp_path / "m.isthmus")
    again = load(tmp_path / "m.isthmus")
    assert_array_equal(again.predict(X), whole.predict(X))
    assert_array_equal(again.predict_interval(X)[0], whole.predict_interval(X)[0])
    forest = MethodSearchCV("trees", cv=2).fit(X, Y)
    save(forest, tmp_path / "f.isthmus")
    assert_array_equal(load(tmp_path / "f.isthmus").predict(X), forest.predict(X))


def test_frames_keep_the_names_of_the_targets(whole):
    frame = pd.DataFrame(X, index=[f"r{i}" for i in range(60)])
    found = whole.set_output(transform="pandas").predict(frame)
    assert list(found.columns) == ["u", "v"] and found.index[3] == "r3"
    assert_array_equal(whole.set_output(transform="default").predict(X), found.to_numpy())


def test_pure_noise_shows_no_optimism():
    """Scores of blends of noise, the mean over 12 draws of 40 rows.

    Without optimism the score is at most that of the mean, about -1/40. The score of a draw has a
    standard deviation of about 0.05, so that a mean over 12 of them exceeds 0.05, five standard errors
    away, with odds below 1e-6; choosing the best of all settings on the same rows gives about 0.1.
    """
    scores = []
    for seed in range(12):
        draw = np.random.default_rng(seed)
        A, b = draw.normal(size=(40, 6)), draw.normal(size=40)
        names = ["pls", "ridge", "kernel", "rough_kernel"]
        scores.append(MethodSearchCV(names, cv=5).fit(A, b).best_score_)
    assert np.mean(scores) < 0.05


def test_groups_are_never_parted():
    groups = np.repeat(np.arange(12), 5)
    splits = outer_splits(4, X, Y, groups, 0)
    inner = inner_folds(4, groups)
    for train, test in splits:
        assert not set(groups[train]) & set(groups[test])
        own = groups[train]
        for part, rest in inner(train):
            assert not set(own[part]) & set(own[rest])
    found = MethodSearchCV(["pls", "ridge"], cv=4).fit(X, Y, groups=groups)
    peer = MethodSearchCV(["pls", "ridge"], cv=GroupKFold(4)).fit(X, Y, groups=groups)
    assert_array_equal(found.cv_predictions_, peer.cv_predictions_)


def test_time_trains_on_what_came_before():
    """Later rows are spoilt: nothing that was predicted before them moves."""
    spoilt = Y.copy()
    spoilt[50:] = 1e3
    a, b = (MethodSearchCV("ridge", cv="time").fit(X, target) for target in (Y, spoilt))
    assert np.isnan(a.cv_predictions_[:10]).all() and np.isfinite(a.cv_predictions_[10:]).all()
    assert_allclose(a.cv_predictions_[10:50], b.cv_predictions_[10:50])
    assert np.isfinite(a.predict_interval(X, 0.5)[0]).all()


def test_weights_of_rows():
    """Rows of weight zero are none, and a common factor is nothing."""
    names = ["ridge", "kernel", "rough_kernel"]
    weights = np.where(np.arange(60) < 50, WEIGHTS, 0.0)
    one = MethodSearchCV(names, cv=3).fit(X, Y, sample_weight=weights)
    other = MethodSearchCV(names, cv=3).fit(X[:50], Y[:50], sample_weight=7 * weights[:50])
    assert_allclose(one.predict(X), other.predict(X), rtol=1e-6)
    even = MethodSearchCV(names, cv=3).fit(X[:50], Y[:50])
    assert np.abs(one.predict(X) - even.predict(X)).max() > 1e-3
    with pytest.raises(ValueError, match="sample_weight"):
        MethodSearchCV("ridge").fit(X, Y, sample_weight=-np.ones(60))


def test_an_interrupt_keeps_the_best_so_far(monkeypatch):
    def interrupt(problem):
        raise KeyboardInterrupt

    row = Rung("halt", "it", interrupt, "t", "f", "l", ())
    monkeypatch.setattr(ladder_module, "LADDER", (*LADDER, row))
    search = MethodSearchCV(["pls", "halt"], cv=3).fit(X, Y)
    assert search.best_method_ == "pls"
    with pytest.raises(KeyboardInterrupt):
        MethodSearchCV(["pls", "halt"], cv=3).fit(X, Y, on_interrupt="raise")
    with pytest.raises(KeyboardInterrupt):
        MethodSearchCV("halt", cv=3).fit(X, Y)


def test_scoring_of_scikit_learn():
    search = MethodSearchCV("ridge", cv=FOLDS, scoring="neg_mean_absolute_error").fit(X, Y)
    expected = [-np.abs(Y[test] - search.cv_predictions_[test]).mean() for _, test in FOLDS]
    assert_allclose(search.best_score_, np.mean(expected))


def test_folds_side_by_side_change_nothing():
    a, b = (MethodSearchCV(["ridge", "kernel"], cv=4, n_jobs=n).fit(X, Y) for n in (None, 2))
    assert_allclose(a.cv_predictions_, b.cv_predictions_, rtol=1e-10)


def test_classes_are_answered_by_a_classifier():
    A, labels = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[labels]
    model = fit_auto(A, names, cv=3, methods=["ridge", "rough_kernel"], verbose=0)
    assert isinstance(model, IndicatorClassifier)
    assert model.cv_accuracy_ > 0.9 and set(model.predict(A[::50])) == set(names)


def test_classes_have_groups_too():
    labels = np.where(X[:, 0] > 2, "high", "low")
    groups = np.repeat(np.arange(12), 5)
    model = fit_auto(X, labels, cv=4, methods="ridge", groups=groups, verbose=0)
    peer = MethodSearchCV("ridge", cv=4).fit(X, np.eye(2)[(labels == "low") * 1], groups=groups)
    assert_array_equal(model.estimator_.cv_predictions_, peer.cv_predictions_)
    with pytest.raises(ValueError, match="sample_weight"):
        fit_auto(X, labels, sample_weight=WEIGHTS)


def test_a_leaderboard_that_grows(capsys):
    fit_auto(X, Y, cv=2, methods=["pls", "ridge"], verbose=1, time_limit=100)
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 3 and "ridge regression" in said[1] and "s left" in said[2]
    fit_auto(X, Y, cv=2, methods=["pls", "ridge"])
    assert capsys.readouterr().err == ""


# -- curves --------------------------------------------------------------------------------------


def curves(n=40, seed=0):
    """Curves whose slope tells the target, on offsets that do not."""
    draw = np.random.default_rng(seed)
    t = np.linspace(0, 1, 60)
    target = draw.normal(size=n)
    bumps = np.exp(-((t - 0.5) ** 2) / 0.01)
    offsets = 5 * draw.normal(size=(n, 1)) + draw.normal(size=(n, 1)) * t
    return target[:, None] * bumps + offsets + 0.01 * draw.normal(size=(n, 60)), target


@pytest.mark.parametrize("search", [RidgeSearch(False), PathSearch()], ids=repr)
def test_coefficients_are_on_the_columns_that_were_measured(search):
    A, b = curves()
    bank = {"derivative": SavitzkyGolay(9, 2, 1)}
    treated = TreatedSearch(search, bank, cv=5).fit(A, b)
    by_hand = search.set_params(cv=5).fit(bank["derivative"].fit_transform(A), b)
    expected = by_hand.predict(bank["derivative"].transform(A))
    model = treated.best_estimator_
    assert model.coef_.shape == (60,)
    assert_allclose(A @ model.coef_ + model.intercept_, expected, rtol=1e-6, atol=1e-8)


def test_components_of_a_path_are_those_of_the_whole_columns():
    from isthmus import PLS

    A, b = curves()
    found = PathSearch(cv=5).fit(A, b)
    rank = int(found.best_params_["n_components"][0])
    assert_allclose(found.predict(A), PLS(rank, scale=False).fit(A, b).predict(A), rtol=1e-6)


def test_treatments_are_searched_for_curves_alone():
    A, b = curves()
    search = MethodSearchCV(["pls", "ridge"], cv=3).fit(A, b)
    assert search.best_score_ > 0.95
    plain = MethodSearchCV("ridge", cv=3).fit(X, Y)
    assert "treatment" not in plain.best_params_
    own = MethodSearchCV("ridge", cv=3, treatments=[NormalVariate()]).fit(A, b)
    assert "treatment" in own.best_params_
    off = MethodSearchCV("ridge", cv=3, treatments=None).fit(A, b)
    assert "treatment" not in off.best_params_


def test_treatments_of_a_kernel_are_named_by_the_kernel():
    """The output is an even function of one column, which no linear method can tell from the others."""
    A = np.random.default_rng(2).uniform(-2, 2, size=(80, 10))
    bank = {f"column {j}": FunctionTransformer(np.take, kw_args={"indices": [j], "axis": 1})
            for j in range(10)}  # fmt: skip
    search = TreatedSearch(KernelSearch(scale=False), bank, quick={"widths": [0.1, 1.0]})
    search.fit(A, np.cos(2 * A[:, 5]))
    assert search.best_params_["treatment"] == "column 5 1.00"
    assert len(search.search.widths) == 7  # the quick settings are for choosing alone


def test_more_rows_than_a_gram_matrix_holds(monkeypatch):
    from isthmus.auto.methods import kernel_search

    monkeypatch.setattr(kernel_search, "_ROWS_FOR_WIDTHS", 1000)  # one width: the same kernel
    exact = KernelSearch("rbf", cv=FOLDS).fit(X, Y)
    monkeypatch.setattr(kernel_search, "_GRAM_ROWS", 20)
    monkeypatch.setattr(kernel_search, "_N_LANDMARKS", 55)
    few = KernelSearch("rbf", cv=FOLDS).fit(X, Y)
    assert few.best_estimator_.steps[1][0] == "landmarks"
    error = ((few.left_out_ - Y) ** 2).mean(axis=0)
    assert (error < 1.3 * ((exact.left_out_ - Y) ** 2).mean(axis=0) + 1e-3).all()


def test_trees_win_where_steps_are():
    draw = np.random.default_rng(0)
    A = draw.uniform(size=(200, 3))
    b = np.floor(4 * A[:, 0]) * (A[:, 1] > 0.5) + 0.05 * draw.normal(size=200)
    search = MethodSearchCV(["ridge", "trees"], cv=3).fit(A, b)
    peer = ExtraTreesRegressor(150, random_state=0).fit(A[:150], b[:150])
    off = np.mean((peer.predict(A[150:]) - b[150:]) ** 2) / b.var()
    assert search.best_params_["trees"] > 0.8
    assert 1 - search.best_score_ < 2 * off + 0.02


def test_tables_are_read_as_the_command_reads_them(tmp_path, capsys):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = X @ [1.0, -2.0, 0.5] + 0.01 * rng.normal(size=40)
    names = [f"s{i:02d}" for i in range(40)]
    inputs = ["sample;a;b;c"] + [
        ";".join([n, *(f"{v:.6f}".replace(".", ",") for v in row)]) for n, row in zip(names, X)
    ]
    outputs = ["sample;fat"] + [f"{n};{v:.6f}".replace(".", ",") for n, v in zip(names, y)]
    (tmp_path / "x.csv").write_text("\n".join(inputs))
    (tmp_path / "y.csv").write_text("\n".join([outputs[0], *outputs[:0:-1]]))  # another order
    options = {"cv": 4, "methods": ["ridge"], "verbose": 0}
    search = fit_auto(tmp_path / "x.csv", str(tmp_path / "y.csv"), **options | {"verbose": 1})
    told = capsys.readouterr().err
    assert "commas are decimal marks" in told
    assert "were put in the order of" in told
    assert list(search.feature_names_in_) == ["a", "b", "c"]
    assert search.target_names_ == ["fat"]
    plain = fit_auto(X.round(6), y.round(6)[:, None], **options)
    new = pd.DataFrame(X, columns=["a", "b", "c"])
    assert_allclose(search.predict(new), plain.predict(X), rtol=1e-9)
    joined = [a + ";" + b.split(";")[1] for a, b in zip(inputs, outputs)]
    (tmp_path / "both.csv").write_text("\n".join(joined))
    one = fit_auto(tmp_path / "both.csv", ["fat"], **options)
    assert_allclose(one.predict(new), plain.predict(X), rtol=1e-9)
    with pytest.raises(ValueError, match="nothing to predict"):
        fit_auto(tmp_path / "x.csv", **options)


def test_widths_per_input_do_not_flatter_themselves():
    """Left-out predictions of pure noise explain nothing, though the widths were fitted to it.

    The share of variance has mean -0.011 and deviation 0.013 per draw (twelve draws), so that the mean
    of six exceeds 0.025 with probability below 1e-6. With widths that have seen the rows it is 0.1.
    """
    shares = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(120, 10))
        y = rng.normal(size=120)
        search = KernelSearch().fit(X, y)
        shares.append(1 - np.mean((y - search.left_out_[:, 0]) ** 2) / y.var())
    assert np.mean(shares) < 0.025


@pytest.mark.parametrize("by_rows", [True, False])
@pytest.mark.parametrize(
    ("gains", "chosen"),
    [
        ([-0.1, -0.2], "blend"),
        ([0.0, 0.0], "blend"),
        ([0.3, -0.1], "blend"),
        ([0.3, 0.05], "blend"),  # 1.4 standard errors
        ([0.1, 0.11], "pls"),
    ],
)
def test_the_blend_is_the_answer_if_no_method_is_surely_better(gains, chosen, by_rows):
    """Better in the mean by more than two standard errors of the gain in the same rows, or folds.

    Folds decide where rows of one belong together: there the rows here say the opposite.
    """

    def trial(name, gains):
        sign = 1 if by_rows else -1
        return SimpleNamespace(
            scores=np.array([0.5, 0.9]) - sign * gains, score=float(name == "pls"),
            losses=np.array([0.4, 0.2, np.nan]) - sign * np.append(gains, 0.0), is_done=True,
            standard_error=0.1, rung=SimpleNamespace(name=name), scoring=None,
            inner=None if by_rows else inner_folds("time", None),
        )  # fmt: skip

    best = trial("pls", np.array(gains))
    blend = trial("blend", np.zeros(2))
    assert Answers([best], [best], blend).choose("accurate").rung.name == chosen


def test_luck_does_not_replace_the_blend():
    """Two methods that are as good: on draws of few rows one of them is ahead of the blend by chance.

    Of 40 draws a method was ahead of the blend in 30 and replaced it in 7; of the first eight in few.
    """
    found = []
    for seed in range(8):
        draw = np.random.default_rng(seed)
        A = draw.normal(size=(40, 6))
        B = A[:, :3] + draw.normal(size=(40, 3))
        found.append(MethodSearchCV(["pls", "ridge"], cv=3).fit(A, B).best_method_)
    assert found.count("blend") >= 4


def test_the_simple_answer_takes_fewer_components():
    """Three factors and noise: the least error of left-out rows is often at more components."""
    fewer = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        scores = rng.normal(size=(60, 3))
        X = scores @ rng.normal(size=(3, 80)) + 0.5 * rng.normal(size=(60, 80))
        Y = scores @ rng.normal(size=(3, 2)) + 0.5 * rng.normal(size=(60, 2))
        best, simple = (PathSearch(rule=rule).fit(X, Y) for rule in ("best", "one_se"))
        ranks = best.best_params_["n_components"], simple.best_params_["n_components"]
        assert (ranks[1] <= ranks[0]).all()
        fewer.append((ranks[1] < ranks[0]).any())
        for j in range(2):  # the rule a second time, from the left-out predictions themselves
            least = (best.left_out_[:, j] - Y[:, j]) ** 2
            bound = least.mean() + least.std(ddof=1) / np.sqrt(60)
            assert ((simple.left_out_[:, j] - Y[:, j]) ** 2).mean() <= bound * (1 + 1e-12)
    assert any(fewer)


@pytest.mark.parametrize(("bend", "expected"), [(0.25, "pls"), (2.0, "kernel")])
def test_the_small_answer_is_a_kernel_only_if_it_halves_the_error(bend, expected):
    """A slight bend lets a kernel be a little better, a strong one lets it be far better."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    Y = X[:, :2] + bend * X[:, [1, 2]] ** 2 + 0.4 * rng.normal(size=(80, 2))
    search = MethodSearchCV(["pls", "kernel"], cv=3).fit(X, Y)
    small = search.answers_["small"]
    assert small["method"] == expected
    left_out = search.cv_results_["mean_test_score"]
    gain = (1 - left_out[0]) / (1 - left_out[1])
    assert (gain > 2) == (expected == "kernel")
    if expected == "pls":
        assert gain > 1.05 and small["numbers"] < 200
