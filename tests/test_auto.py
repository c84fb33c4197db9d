"""Oracles: scikit-learn's nested cross-validation, planted structure, coverage on new rows."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from isthmus import PLS, ComponentSearchCV, MethodSearchCV, fit_auto
from isthmus.auto import ladder as ladder_module
from isthmus.auto.ladder import LADDER
from isthmus.auto.problem import Problem, Rung
from isthmus.datasets import make_low_rank_regression
from isthmus.model_selection.splits import ContentKFold

X, Y, _ = make_low_rank_regression(60, 8, 3, rank=2, noise=0.4, random_state=0)


@pytest.mark.parametrize(("prefer", "rule"), [("simple", "one_se"), ("accurate", "best")])
def test_scores_are_those_of_nested_cross_validation(prefer, rule):
    """The same by scikit-learn: a search inside cross_val_predict."""
    ours = MethodSearchCV("pls", cv=5, scale=True, prefer=prefer).fit(X, Y)
    inner = ContentKFold(5, shuffle=True, random_state=0)
    outer = ContentKFold(5, shuffle=True, random_state=0)
    search = ComponentSearchCV(PLS(scale=True), cv=inner, scoring="r2", rule=rule)
    predicted = cross_val_predict(search, X, Y, cv=outer)
    assert_allclose(ours.cv_predictions_, predicted, rtol=1e-10)
    scores = [
        1 - (((Y - predicted)[test] ** 2).mean(axis=0) / Y.var(axis=0)).mean()
        for _, test in outer.split(X)
    ]
    found = [ours.cv_results_[f"split{i}_test_score"][0] for i in range(5)]
    assert_allclose(found, scores, rtol=1e-10)
    assert_allclose(ours.cv_results_["mean_test_score"][0], np.mean(scores))
    error = np.std(scores, ddof=1) / np.sqrt(5)
    assert_allclose(ours.cv_results_["standard_error"][0], error)


def test_scaling_is_done_inside_the_folds():
    """A row that would ruin the scales of all moves nothing in the folds that train without it."""
    spoilt = X.copy()
    spoilt[0] = 1e6
    folds = list(
        KFold(5, shuffle=True, random_state=0).split(X)
    )  # a row of other values is dealt anew
    a, b = (MethodSearchCV("pls", cv=folds, scale=True).fit(A, Y) for A in (X, spoilt))
    for _, test in folds:
        if 0 in test:
            others = test[test != 0]
            assert_allclose(a.cv_predictions_[others], b.cv_predictions_[others], rtol=1e-10)
        else:
            assert np.abs(a.cv_predictions_[test] - b.cv_predictions_[test]).max() > 1e-3


def fake_ladder(monkeypatch, scores):
    """Methods whose errors are known: the rung k predicts Y plus an error of its own."""
    rungs = []
    for k, scale in enumerate(scores):

        class Fake:
            def __init__(self, scale=scale):
                self.scale = scale

            def fit(self, A, B):
                return self

            def predict(self, A):
                return A[:, :3] * self.scale

        rungs.append(Rung(f"m{k}", f"method {k}", lambda problem, F=Fake: F(), "", "", "", ()))
    monkeypatch.setattr(ladder_module, "LADDER", tuple(rungs))


def test_the_simplest_within_one_standard_error(monkeypatch):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(200, 3))
    noisy = A + 0.5 * rng.normal(size=A.shape)
    # 1.0 is the best; 0.97 is within its standard error, 0.5 is not.
    fake_ladder(monkeypatch, [0.5, 0.97, 1.0])
    search = MethodSearchCV(cv=10, prefer="simple").fit(A, noisy)
    means, errors = search.cv_results_["mean_test_score"], search.cv_results_["standard_error"]
    best = int(means.argmax())
    assert means[1] >= means[best] - errors[best] > means[0]
    assert search.best_method_ == "m1"
    fake_ladder(monkeypatch, [0.5, 0.6, 1.0])
    assert MethodSearchCV(cv=10, prefer="simple").fit(A, noisy).best_method_ == "m2"


def test_a_new_method_joins_by_one_row(monkeypatch):
    row = Rung("mine", "my own", lambda problem: PLS(1, scale=problem.scale), "t", "f", "l", ())
    monkeypatch.setattr(ladder_module, "LADDER", (*LADDER, row))
    search = MethodSearchCV(["pls", "mine"], cv=3).fit(X, Y)
    assert search.cv_results_["method"] == ["pls", "mine", "blend"]
    assert search.cv_results_["status"] == ["done", "done", "done"]


def test_a_constant_output_explains_nothing():
    """Neither the methods nor the mean they are held against are praised for it."""
    with_constant = np.column_stack([Y, np.full(len(Y), 3.0)])
    alone, beside = (MethodSearchCV("ridge", cv=5).fit(X, target) for target in (Y, with_constant))
    assert_allclose(beside.baseline_score_, alone.baseline_score_)
    assert_allclose(beside.best_score_, alone.best_score_)
    assert alone.baseline_score_ < 0


def test_a_kernel_wins_where_lines_cannot():
    rng = np.random.default_rng(0)
    A = rng.uniform(-2, 2, size=(150, 2))
    B = np.column_stack([np.sin(3 * A[:, 0]), A[:, 0] * A[:, 1]])
    search = fit_auto(A, B, cv=3, methods=["pls", "ridge", "kernel"], prefer="simple")
    assert search.best_method_ == "kernel" and search.best_score_ > 0.9
    assert search.cv_results_["mean_test_score"][0] < 0.3


def test_robust_search_shrugs_off_wild_cells():
    A, B, coef = make_low_rank_regression(150, 6, 4, rank=2, noise=0.1, random_state=1)
    B[::15] += 80 * np.random.default_rng(0).normal(size=B[::15].shape)
    fits = {
        name: MethodSearchCV(name, cv=3, scale=False, n_components=2)
        .fit(A, B)
        .best_estimator_.coef_
        for name in ("reduced_rank", "stiefel")
    }
    off = {name: np.abs(fit - coef).max() for name, fit in fits.items()}
    assert off["stiefel"] < 0.35 * off["reduced_rank"]


def test_missing_values_leave_no_method_out():
    holes, unknown = X.copy(), Y.copy()
    holes[3, 2] = unknown[5, 1] = np.nan
    search = MethodSearchCV(cv=2).fit(holes, unknown)
    whole = MethodSearchCV(cv=2).fit(X, Y)
    assert search.cv_results_["method"] == whole.cv_results_["method"]
    assert search.cv_results_["status"] == whole.cv_results_["status"]
    assert np.isfinite(search.predict(holes)).all()


def test_intervals_hold_what_they_promise():
    A, B, _ = make_low_rank_regression(5000, 8, 2, rank=2, noise=1.0, random_state=3)
    search = MethodSearchCV("pls", cv=10).fit(A[:2000], B[:2000])
    for level in (0.5, 0.8, 0.95):
        lower, upper = search.predict_interval(A[2000:], level)
        inside = ((lower < B[2000:]) & (B[2000:] < upper)).mean()
        # Five standard errors of a quantile of 2000 rows and of a share of 3000: false alarms 6e-7.
        assert abs(inside - level) < 5 * np.sqrt(level * (1 - level) * (1 / 2000 + 1 / 3000))
    few = MethodSearchCV("pls", cv=3).fit(A[:12], B[:12])
    assert np.isinf(few.predict_interval(A[:2], 0.95)[0]).all()
    with pytest.raises(ValueError, match="between 0 and 1"):
        search.predict_interval(A, 95)


def test_time_limit_gives_up_but_the_first():
    search = MethodSearchCV(cv=3, time_limit=0).fit(X, Y)
    assert search.best_method_ == LADDER[0].name
    assert set(search.cv_results_["status"][1:]) == {"no time left"}


def test_progress_names_the_method_under_way():
    told = []
    MethodSearchCV(["pls", "ridge"], cv=2).fit(X, Y, progress=lambda *call: told.append(call))
    labels = [label for label, _, _ in told]
    assert ("partial least squares", 0, 2) in told and ("ridge regression", 2, 2) in told
    assert labels.index("partial least squares") < labels.index("ridge regression")
    assert labels[-1].endswith("all rows")


def test_one_target_frames_and_names():
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    search = fit_auto(frame, pd.DataFrame(Y, columns=["u", "v", "w"]), cv=2, methods="pls")
    assert search.target_names_ == ["u", "v", "w"]
    assert_array_equal(search.feature_names_in_, list("abcdefgh"))
    assert_allclose(search.predict(frame), search.predict_rows(X))
    one = fit_auto(X, Y[:, 0], cv=2, methods="pls")
    assert one.predict(X).shape == (60,)
    assert one.predict_interval(X, 0.5)[0].shape == (60,)


def test_the_same_seed_is_the_same_search():
    a, b = (MethodSearchCV(["pls", "ridge"], cv=4, random_state=3).fit(X, Y) for _ in range(2))
    assert_array_equal(a.cv_results_["mean_test_score"], b.cv_results_["mean_test_score"])
    assert_array_equal(a.predict(X), b.predict(X))
    assert clone(a).get_params() == a.get_params()


def test_curves_are_left_unscaled():
    t = np.linspace(0, 1, 50)
    curves = np.sin(2 * np.pi * np.outer(np.random.default_rng(0).uniform(1, 2, 30), t))
    target = curves[:, 10] + curves[:, 40]
    assert not MethodSearchCV("pls", cv=2).fit(curves, target).scale_
    assert MethodSearchCV("pls", cv=2).fit(X, Y).scale_
    assert MethodSearchCV("pls", cv=2, scale=True).fit(curves, target).scale_
    named = StandardScaler().fit_transform(np.random.default_rng(0).normal(size=(30, 6)))
    numbers = MethodSearchCV("pls", cv=2)
    numbers.fit(named, named[:, 0], feature_names=[str(900 + j) for j in range(6)])
    assert not numbers.scale_


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": "magic"}, "methods == 'magic', must be one of 'pls'"),
        ({"methods": []}, "methods is empty"),
        ({"cv": 1}, "cv == 1, must be >= 2"),
        ({"scale": "maybe"}, "scale == 'maybe', must be True, False or 'auto'"),
        ({"n_components": 0}, "n_components == 0, must be an integer >= 1"),
        ({"n_components": "all"}, "n_components == 'all', must be an integer"),
    ],
)
def test_errors_name_the_parameter(options, message):
    with pytest.raises(ValueError, match=message):
        MethodSearchCV(**options).fit(X, Y)


def test_shapes_that_do_not_fit():
    with pytest.raises(ValueError, match="X has 60 rows and y has 59"):
        MethodSearchCV("pls").fit(X, Y[:-1])
    with pytest.raises(ValueError, match="at least 5 rows"):
        MethodSearchCV("pls").fit(X[:4], Y[:4])


@pytest.mark.filterwarnings("ignore:the rows look ordered")  # of iris they are, by its classes
@parametrize_with_checks([MethodSearchCV("pls", cv=2)])
def test_sklearn_contract(estimator, check):
    check(estimator)


def test_every_rung_is_told_in_full():
    names = [rung.name for rung in LADDER]
    assert len(names) == len(set(names)) and names[0] == "pls" and "kernel" in names
    for rung in LADDER:
        assert (
            rung.label and rung.formula and rung.latex and len(rung.text) > 60 and rung.references
        )
        model = rung.build(Problem(30, 5, 2, scale=False))
        assert hasattr(model, "fit")


def test_report_from_one_call(tmp_path):
    fit_auto(X, Y, cv=2, methods="pls", report=tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "search = fit_auto(X, y, cv=2, random_state=0, methods=&#39;pls&#39;)" in page


def test_differences_to_the_best_are_paired():
    results = MethodSearchCV(["pls", "pcr", "ridge"], cv=4).fit(X, Y).cv_results_
    scores = np.array([results[f"split{i}_test_score"] for i in range(4)])
    best = scores.mean(axis=0).argmax()
    for k in range(3):
        difference = scores[:, k] - scores[:, best]
        assert_allclose(results["difference_to_best"][k], difference.mean(), atol=1e-15)
        error = difference.std(ddof=1) / 2
        assert_allclose(results["difference_standard_error"][k], error, atol=1e-15)
    assert results["difference_to_best"].max() == 0


def test_a_pilot_that_interpolates_sets_no_vanishing_scale():
    """More columns than rows: the loss keeps the scale of rows left out, and nothing is warned of."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(30, 3)) @ rng.normal(size=(3, 60)) + 1e-3 * rng.normal(size=(30, 60))
    B = A[:, :2] @ rng.normal(size=(2, 2)) + 1e-3 * rng.normal(size=(30, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        search = MethodSearchCV("stiefel", cv=3, scale=False).fit(A, B)
    spread = float(np.std(B))
    assert 1e-5 * spread < search.best_estimator_.loss_.delta < spread
    assert search.best_score_ > 0.99


def test_a_warning_of_every_fold_is_said_once(monkeypatch):
    class Warns(PLS):
        def fit(self, A, B):
            warnings.warn(f"scale was kept at {A[0, 0]!r}, 3.7e-15", UserWarning, stacklevel=2)
            return super().fit(A, B)

    row = Rung("warns", "it", lambda problem: Warns(1), "t", "f", "l", ())
    monkeypatch.setattr(ladder_module, "LADDER", (row,))
    with pytest.warns(UserWarning, match="was kept") as said:
        MethodSearchCV(cv=4).fit(X, Y)
    assert len(said) == 1
