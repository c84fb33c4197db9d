"""Oracle: a fit in every fold for every candidate, scored by scikit-learn."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer, make_scorer, mean_squared_error, r2_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
    cross_val_score,
)

import isthmus.regression.crossval as crossval
from isthmus import (
    PCR,
    PLS,
    ComponentSearchCV,
    ManifoldPLS,
    ReducedRankRegression,
    Rows,
    StiefelRegression,
)
from isthmus.datasets import make_low_rank_regression
from isthmus.kernels.distinct import deal_by_content
from isthmus.problems.missing import expected_moments
from isthmus.problems.splits import CheckedRows, Split

SHAPES = {"small": (40, 6, 3), "tall": (700, 120, 4), "wide": (64, 1500, 3), "near": (260, 250, 2)}
ESTIMATORS = [
    PLS(),
    PLS(scale=False),
    PLS(algorithm="simpls"),
    PLS(algorithm="kernel"),
    PCR(),
    PCR(scale=True),
    ReducedRankRegression(),
    ReducedRankRegression(scale=True),
]
MSE = "neg_mean_squared_error"


def make(shape, seed=0):
    n, p, q = SHAPES[shape]
    rng = np.random.default_rng(seed)
    X = rng.normal(2, 1, size=(n, p)) * (1 + rng.random(p))
    return X, X[:, :4] @ rng.normal(size=(4, q)) + rng.normal(size=(n, q)) - 3


def splitters(n):
    groups = np.arange(n) % 7
    return {
        "k-fold": (KFold(4), None),
        "shuffled": (KFold(3, shuffle=True, random_state=0), None),
        "grouped": (GroupKFold(4), groups),
        "repeated": (RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), None),
        "time series": (TimeSeriesSplit(3), None),
        "shuffle split": (ShuffleSplit(3, test_size=0.2, train_size=0.3, random_state=0), None),
        "small folds": (KFold(n // 3), None),
        "predefined": (
            PredefinedSplit(np.where(np.arange(n) < n // 2, -1, np.arange(n) % 3)),
            None,
        ),
    }


def refits(estimator, X, Y, splits, ranks, alphas, weights, scoring):
    """One fit for every candidate and fold: what the search must equal."""
    scorer = get_scorer(scoring)
    table = np.empty((len(alphas) * len(ranks), len(splits)))
    for i, (train, test) in enumerate(splits):
        w = {} if weights is None else {"sample_weight": weights[train]}
        v = {} if weights is None else {"sample_weight": weights[test]}
        row = 0
        for alpha in alphas:
            for rank in ranks:
                model = clone(estimator).set_params(n_components=rank)
                if alpha is not None:
                    model.set_params(alpha=alpha)
                with warnings.catch_warnings():
                    warnings.filterwarnings("ignore", message="n_components")
                    model.fit(X[train], Y[train], **w)
                table[row, i] = scorer(model, X[test], Y[test], **v)
                row += 1
    return table


def split_scores(search, name="score"):
    return np.array(
        [search.cv_results_[f"split{i}_test_{name}"] for i in range(search.n_splits_)]
    ).T


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("splitter", splitters(10))
def test_equals_refitting(estimator, shape, splitter):
    X, Y = make(shape)
    cv, groups = splitters(len(X))[splitter]
    if splitter == "small folds" and shape in ("tall", "near"):
        cv = KFold(len(X) // 12)
    weights = None if splitter in ("k-fold", "grouped") else 1 + np.arange(len(X)) % 3 / 2
    alphas = [0.0, 1.0, 300.0] if hasattr(estimator, "alpha") else [None]
    ranks = [1, 3]
    search = ComponentSearchCV(
        estimator,
        n_components=ranks,
        alpha=None if alphas == [None] else alphas,
        cv=cv,
        scoring=MSE,
    ).fit(X, Y, sample_weight=weights, groups=groups)
    splits = list(cv.split(X, Y, groups))
    every = max(1, len(splits) // 8)  # of very many folds an eighth is evidence enough
    truth = refits(estimator, X, Y, splits[::every], ranks, alphas, weights, MSE)
    assert_allclose(split_scores(search)[:, ::every], truth, rtol=1e-8)


@pytest.mark.parametrize("estimator", [PLS(), PCR(), ReducedRankRegression()], ids=str)
@pytest.mark.parametrize("shape", ["small", "tall", "wide"])
def test_leave_one_out_equals_refitting(estimator, shape):
    X, Y = make(shape)
    X, Y = X[:64], Y[:64, 0]
    has_alpha = hasattr(estimator, "alpha")
    search = ComponentSearchCV(
        estimator,
        n_components=[1, 3],
        alpha=[2.0] if has_alpha else None,
        cv=LeaveOneOut(),
        scoring=MSE,
    )
    splits = list(LeaveOneOut().split(X))
    truth = refits(estimator, X, Y, splits, [1, 3], [2.0] if has_alpha else [None], None, MSE)
    assert_allclose(split_scores(search.fit(X, Y)), truth, rtol=1e-8)


def test_leave_one_out_of_ridge_has_its_classical_formula():
    X, y = load_diabetes(return_X_y=True)
    search = ComponentSearchCV(
        ReducedRankRegression(), n_components=[1], alpha=[0.05], cv=LeaveOneOut(), scoring=MSE
    ).fit(X, y)
    Xc = np.column_stack([np.ones(len(X)), X - X.mean(0)])
    hat = Xc @ np.linalg.solve(Xc.T @ Xc + np.diag([0] + [0.05] * 10), Xc.T)
    errors = (y - hat @ y) / (1 - np.diag(hat))
    # centring again without the row changes the mean, which the column of ones accounts for
    assert_allclose(-split_scores(search)[0], errors**2, rtol=1e-8)


@pytest.mark.parametrize(
    "scoring",
    [None, "r2", MSE, "neg_root_mean_squared_error", "neg_mean_absolute_error", "neg_max_error"],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_scikit_learns(scoring, weighted):
    X, Y = make("small")
    Y = Y[:, 0] if scoring == "neg_max_error" else np.column_stack([Y, np.full(len(Y), 2.5)])
    weights = 1.0 + np.arange(len(X)) % 3 if weighted and scoring != "neg_max_error" else None
    search = ComponentSearchCV(PLS(), n_components=4, scoring=scoring).fit(X, Y, weights)
    splits = list(KFold(5).split(X))
    truth = refits(PLS(), X, Y, splits, [1, 2, 3, 4], [None], weights, scoring or "r2")
    assert_allclose(split_scores(search), truth, rtol=1e-9)


def test_grid_search_agrees():
    X, Y = make("small")
    ours = ComponentSearchCV(PLS(), n_components=5).fit(X, Y)
    peer = GridSearchCV(PLS(), {"n_components": [1, 2, 3, 4, 5]}).fit(X, Y)
    assert ours.best_params_ == peer.best_params_
    assert ours.best_index_ == peer.best_index_
    assert_allclose(ours.best_score_, peer.best_score_)
    assert set(peer.cv_results_) == set(ours.cv_results_)
    for key in ("mean_test_score", "std_test_score", "rank_test_score", "split2_test_score"):
        assert_allclose(ours.cv_results_[key], peer.cv_results_[key], rtol=1e-8)
    assert ours.cv_results_["params"] == peer.cv_results_["params"]
    assert list(ours.cv_results_["param_n_components"]) == [1, 2, 3, 4, 5]
    assert_allclose(ours.predict(X), peer.predict(X))
    assert_allclose(ours.score(X, Y), peer.score(X, Y))


def test_several_scorers():
    X, Y = make("small")
    own = make_scorer(mean_squared_error, greater_is_better=False)
    search = ComponentSearchCV(
        PLS(), n_components=3, scoring={"a": "r2", "b": own, "c": MSE}, refit="b"
    ).fit(X, Y)
    assert_allclose(search.cv_results_["mean_test_b"], search.cv_results_["mean_test_c"])
    assert search.best_index_ == search.cv_results_["mean_test_b"].argmax()
    assert search.multimetric_ and set(search.scorer_) == {"a", "b", "c"}
    listed = ComponentSearchCV(PLS(), scoring=["r2", MSE], refit=False).fit(X, Y)
    assert "mean_test_r2" in listed.cv_results_ and not hasattr(listed, "predict")
    with pytest.raises(ValueError, match="refit == True, must be False or one of the scorers"):
        ComponentSearchCV(PLS(), scoring=["r2", MSE]).fit(X, Y)

    def plain(model, X, y):
        return -float(np.abs(model.predict(X) - y).max())

    weights = np.ones(len(X))
    assert np.isfinite(ComponentSearchCV(PLS(), scoring=plain).fit(X, Y, weights).best_score_)


def test_one_standard_error_is_the_simplest_good_model():
    X, Y = make("small")
    search = ComponentSearchCV(
        ReducedRankRegression(), n_components=3, alpha=[0.1, 1.0, 10.0, 1e5], rule="one_se"
    ).fit(X, Y)
    mean, scores = search.cv_results_["mean_test_score"], split_scores(search)
    best = mean.argmax()
    bar = mean[best] - scores[best].std(ddof=1) / np.sqrt(5)
    good = [p for p, m in zip(search.cv_results_["params"], mean, strict=True) if m >= bar]
    fewest = min(p["n_components"] for p in good)
    assert search.best_params_["n_components"] == fewest
    assert search.best_params_["alpha"] == max(
        p["alpha"] for p in good if p["n_components"] == fewest
    )
    assert bar <= mean[search.best_index_] <= mean[best]


def test_default_grids():
    X, Y = make("small")
    search = ComponentSearchCV(ReducedRankRegression()).fit(X, Y)
    ranks, alphas = (
        np.unique(search.cv_results_[f"param_{n}"].tolist()) for n in ("n_components", "alpha")
    )
    assert list(ranks) == [1, 2, 3]
    norm = np.linalg.norm(X - X.mean(0), 2) ** 2
    assert_allclose(alphas, np.r_[0, norm * np.logspace(-8, 2, 21)], rtol=1e-3)
    assert len(ComponentSearchCV(PLS()).fit(X, Y).cv_results_["params"]) == 6
    search = ComponentSearchCV(PLS(), refit=False).fit(*make("wide"))
    assert len(search.cv_results_["params"]) == 50
    many = crossval.default_ranks(ReducedRankRegression(), 1000, 300, 400)
    assert len(many) <= 50 and many[0] == 1 and many[-1] == 300


def test_joint_choice_beats_either_alone():
    """Low rank and collinear: rank alone and ridge alone both lose against the two together."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1050, 20)) * np.exp(-np.arange(20) / 2)
    coef = rng.normal(size=(20, 2)) @ rng.normal(size=(2, 20))
    Y = X @ coef + rng.normal(size=(1050, 20))
    train, test = slice(0, 50), slice(50, None)

    def error(model):
        return ((X[test] @ coef - model.fit(X[train], Y[train]).predict(X[test])) ** 2).mean()

    joint = error(ComponentSearchCV(ReducedRankRegression(), scoring=MSE))
    ranks = error(ComponentSearchCV(ReducedRankRegression(), alpha=[0.0], scoring=MSE))
    ridge = min(error(Ridge(alpha=a)) for a in np.logspace(-3, 3, 13))
    assert joint < ranks and joint < ridge


# -- where taking away would cost digits ------------------------------------------------------


# Of all rows together the monstrous one is all there is: the refit at the end says so.
@pytest.mark.filterwarnings("ignore:n_components == 2, but only 1 components exist")
@pytest.mark.filterwarnings("ignore:Singular values 2 and 3 of the fit differ")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
@pytest.mark.parametrize("shape", ["tall", "wide"])
def test_a_monstrous_row_does_not_spoil_the_others(estimator, shape):
    """Taking a row of 1e9 away from moments would leave its rounding errors behind."""
    X, Y = make(shape)
    X, Y = X[:240], Y[:240]  # folds of three rows are made again one by one
    X[0], Y[0] = X[0] * 1e9, Y[0] * 1e9
    alphas = [1.0] if hasattr(estimator, "alpha") else [None]
    for cv in (KFold(4), KFold(len(X) // 3)):
        search = ComponentSearchCV(
            estimator,
            n_components=[2],
            alpha=None if alphas == [None] else alphas,
            cv=cv,
            scoring=MSE,
        ).fit(X, Y)
        truth = refits(estimator, X, Y, list(cv.split(X))[:2], [2], alphas, None, MSE)
        assert_allclose(split_scores(search)[:, :2], truth, rtol=1e-7)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_a_column_that_is_constant_in_a_fold(estimator):
    X, Y = make("tall")
    X[:, 5] = 0.0
    X[3, 5] = 1.0  # without row 3 the column does not vary
    search = ComponentSearchCV(
        estimator,
        n_components=[3],
        alpha=[1.0] if hasattr(estimator, "alpha") else None,
        cv=KFold(70),
        scoring=MSE,
    ).fit(X, Y)
    alphas = [1.0] if hasattr(estimator, "alpha") else [None]
    truth = refits(estimator, X, Y, list(KFold(70).split(X))[:2], [3], alphas, None, MSE)
    assert_allclose(split_scores(search)[:, :2], truth, rtol=1e-8)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
@pytest.mark.parametrize("shape", ["tall", "wide"])
def test_a_spectrum_that_falls_to_rounding(estimator, shape):
    X, Y = make(shape)
    p = X.shape[1]
    X = (X - X.mean(0)) * 10.0 ** (-12 * np.arange(p) / p)
    alphas = [0.0, 1.0] if hasattr(estimator, "alpha") else [None]
    ranks = [2, 12] if not hasattr(estimator, "alpha") else [1, 2]
    search = ComponentSearchCV(
        estimator,
        n_components=ranks,
        alpha=None if alphas == [None] else alphas,
        cv=KFold(4),
        scoring=MSE,
    ).fit(X, Y)
    truth = refits(estimator, X, Y, list(KFold(4).split(X)), ranks, alphas, None, MSE)
    assert_allclose(split_scores(search), truth, rtol=1e-7)


@pytest.mark.parametrize("estimator", [PLS(), PLS(scale=False), PCR(scale=True)], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_as_many_components_as_wide_folds_have_rows(estimator, weighted):
    X, Y = make("wide")
    X, weights = X[:50] - 2, 1 + np.arange(50) % 3 / 2 if weighted else None
    X[:, 5], X[:, 7] = 3.0, np.arange(50) == 1  # constant, and without one row so
    Y, ranks = Y[:50], [1, 12, 25, 39]
    search = ComponentSearchCV(estimator, n_components=ranks, scoring=MSE).fit(X, Y, weights)
    truth = refits(estimator, X, Y, list(KFold(5).split(X)), ranks, [None], weights, MSE)
    assert_allclose(split_scores(search), truth, rtol=1e-8)


@pytest.mark.parametrize("factor", [1e-150, 1e150])
def test_units_do_not_matter(factor):
    X, Y = make("tall")
    for estimator in (PLS(), PCR(), ReducedRankRegression()):
        grid = {"alpha": [0.0]} if hasattr(estimator, "alpha") else {}
        plain = ComponentSearchCV(estimator, n_components=3, cv=3, **grid).fit(X, Y)
        scaled = ComponentSearchCV(estimator, n_components=3, cv=3, **grid).fit(X * factor, Y)
        assert_allclose(split_scores(scaled), split_scores(plain), rtol=1e-8)


def test_errors_near_zero_keep_their_digits():
    X, _ = make("tall")
    rng = np.random.default_rng(0)
    Y = X[:, :3] @ rng.normal(size=(3, 2)) + 1e-7 * rng.normal(size=(700, 2))
    search = ComponentSearchCV(PCR(), n_components=[120], cv=4, scoring=MSE).fit(X, Y)
    truth = refits(PCR(), X, Y, list(KFold(4).split(X)), [120], [None], None, MSE)
    assert_allclose(split_scores(search), truth, rtol=1e-6)


# -- other inputs -----------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [PLS(), PCR(), ReducedRankRegression()], ids=str)
def test_sparse_inputs(estimator):
    X, Y = make("tall")
    X = np.where(X < 4, 0.0, X)
    grid = {"alpha": [1.0, 10.0]} if hasattr(estimator, "alpha") else {}
    dense = ComponentSearchCV(estimator, n_components=3, **grid).fit(X, Y)
    thin = ComponentSearchCV(estimator, n_components=3, **grid).fit(sparse.csr_array(X), Y)
    assert_allclose(split_scores(thin), split_scores(dense), rtol=1e-7)


def test_bootstrap_splits_repeat_rows():
    X, Y = make("tall")
    rng = np.random.default_rng(0)
    splits = []
    for _ in range(3):
        train = rng.integers(0, len(X), size=len(X))
        splits.append((train, np.setdiff1d(np.arange(len(X)), train)))
    for estimator in (PLS(), ReducedRankRegression()):
        alphas = [1.0] if hasattr(estimator, "alpha") else [None]
        search = ComponentSearchCV(
            estimator,
            n_components=[2],
            alpha=None if alphas == [None] else alphas,
            cv=splits,
            scoring=MSE,
        ).fit(X, Y)
        truth = refits(estimator, X, Y, splits, [2], alphas, None, MSE)
        assert_allclose(split_scores(search), truth, rtol=1e-8)


# -- rows, folds and targets that are not as usual -----------------------------------------------


def observed_refits(estimator, X, Y, splits, ranks, scoring):
    """Refits scored by scikit-learn output by output, where it is observed; their mean."""
    scorer = get_scorer(scoring)._score_func
    sign = get_scorer(scoring)._sign
    table = np.empty((len(ranks), len(splits)))
    for i, (train, test) in enumerate(splits):
        for j, rank in enumerate(ranks):
            model = clone(estimator).set_params(n_components=rank).fit(X[train], Y[train])
            guess, seen = model.predict(X[test]), ~np.isnan(Y[test])
            parts = [scorer(Y[test][o, k], guess[o, k]) for k, o in enumerate(seen.T) if o.any()]
            table[j, i] = sign * np.mean(parts)
    return table


@pytest.mark.parametrize("estimator", [PLS(), PCR(), ReducedRankRegression(alpha=2.0)], ids=str)
@pytest.mark.parametrize("scoring", ["r2", MSE, "neg_mean_absolute_error"])
def test_missing_values_are_refitted(estimator, scoring):
    """All numbers of components follow from one model of the gaps, and observed targets alone count."""
    X, Y = make("small")
    rng = np.random.default_rng(0)
    X[rng.random(X.shape) < 0.1] = np.nan
    Y[rng.random(Y.shape) < 0.1] = np.nan
    estimator = clone(estimator).set_params(missing="em")
    alpha = [2.0] if hasattr(estimator, "alpha") else None
    ranks = [1, 2, 3, 5]
    search = ComponentSearchCV(estimator, n_components=ranks, alpha=alpha, scoring=scoring)
    truth = observed_refits(estimator, X, Y, list(KFold(5).split(X)), ranks, scoring)
    assert_allclose(split_scores(search.fit(X, Y)), truth, rtol=1e-8)
    assert np.isfinite(search.predict(X)).all()


@pytest.mark.filterwarnings("ignore:missing='em' stopped")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("share", [0.05, 0.4])
@pytest.mark.parametrize(
    "estimator",
    [PLS(), PLS(scale=False), PCR(), ReducedRankRegression(), ReducedRankRegression(scale=True)],
    ids=str,
)
@pytest.mark.parametrize("n, p", [(120, 8), (40, 110)])
def test_folds_with_gaps_predict_what_refits_predict(estimator, n, p, share, weighted):
    """To rounding, for all ranks and ridge weights, as the docstring says; converged or not."""
    X, Y, _ = make_low_rank_regression(n, p, 3, rank=3, random_state=0)
    rng = np.random.default_rng(1)
    X[rng.random(X.shape) < share], Y[rng.random(Y.shape) < share] = np.nan, np.nan
    weights = rng.random(n) + 0.1 if weighted else None
    estimator = clone(estimator).set_params(missing="em", max_iter=10, tol=1e-3)
    alphas = [0.5, 20.0] if hasattr(estimator, "alpha") else [None]
    for train, test in KFold(3).split(X):
        split = Split(train, test, n)
        paths = crossval._expected(estimator, CheckedRows(X, Y, weights), split, [1, 2, 3], alphas)
        for alpha, path in zip(alphas, paths, strict=True):
            for rank in (1, 2, 3):
                fixed = {"n_components": rank} | ({} if alpha is None else {"alpha": alpha})
                refit = clone(estimator).set_params(**fixed)
                refit.fit(X[train], Y[train], None if weights is None else weights[train])
                assert_allclose(path.predict(rank), refit.predict(X[test]), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("estimator", [PLS(), PCR(), ReducedRankRegression()], ids=str)
def test_one_expectation_a_fold(estimator, monkeypatch):
    """However many candidates there are; and one of all rows, for the model that is chosen."""
    found = []

    def counted(X, *args, **options):
        found.append(len(X))
        return expected_moments(X, *args, **options)

    monkeypatch.setattr("isthmus.problems.missing.expected_moments", counted)
    X, Y, _ = make_low_rank_regression(60, 7, 4, rank=3, random_state=0)
    X[::7, 2] = np.nan
    estimator = clone(estimator).set_params(missing="em")
    ComponentSearchCV(estimator).fit(X, Y)
    assert sorted(found) == [48] * 5 + [60]
    found.clear()
    clone(estimator).set_params(n_components="auto").fit(X, Y)
    assert sorted(found) == [48] * 5 + [60]


def test_chosen_numbers_with_gaps_are_those_of_a_search():
    """Incomplete rows are not left out singly: "auto" is the search over its folds and default grid."""
    X, Y, _ = make_low_rank_regression(60, 7, 4, rank=3, noise=1.0, random_state=0)
    X[::7, 2], Y[5, 1] = np.nan, np.nan
    folds = PredefinedSplit(deal_by_content(X, 5, Y=Y))
    search = ComponentSearchCV(ReducedRankRegression(missing="em"), cv=folds).fit(X, Y)
    found = ReducedRankRegression("auto", missing="em").fit(X, Y)
    assert found.n_components_ == search.best_params_["n_components"]
    assert_allclose(found.alpha_, search.best_params_["alpha"], rtol=1e-10)


@pytest.mark.parametrize("kind", [PLS, PCR, ReducedRankRegression])
def test_one_missing_target_does_not_change_the_choice(kind):
    X, Y, _ = make_low_rank_regression(200, 20, 5, rank=4, random_state=0)
    whole = kind("auto").fit(X, Y).n_components_
    Y[0, 0] = np.nan
    assert abs(kind("auto", missing="em").fit(X, Y).n_components_ - whole) <= 1


def test_own_scorers_see_rows_whose_targets_are_all_observed():
    X, Y = make("small")
    Y[3, 1] = np.nan
    seen = []

    def own(model, X, y):
        seen.append(len(y))
        return -float(np.abs(model.predict(X) - y).max())

    search = ComponentSearchCV(PLS(missing="em"), n_components=2, scoring=own).fit(X, Y)
    assert np.isfinite(search.best_score_) and set(seen) == {7, 8}
    Y[:8, 1] = np.nan
    with pytest.raises(ValueError, match="no test row of a fold has all targets observed"):
        ComponentSearchCV(PLS(missing="em"), n_components=2, scoring=own, error_score="raise").fit(
            X, Y
        )


@pytest.mark.parametrize(
    "estimator",
    [PLS(), PCR(), ReducedRankRegression(), StiefelRegression(), ManifoldPLS(alpha=1.0)],
    ids=str,
)
@pytest.mark.parametrize(
    "n, p, cv", [(400, 60, KFold(20)), (200, 150, KFold(3)), (40, 90, KFold(8)), (40, 6, None)]
)
def test_rows_of_weight_zero_are_no_rows(estimator, n, p, cv):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    Y = X[:, :2] + 0.3 * rng.normal(size=(n, 2))
    weights = np.ones(n)
    weights[[0, 5, n // 2]] = 0.0
    weights[7] = 2.0
    kept = np.flatnonzero(weights)
    alphas = [0.1, 1.0] if hasattr(estimator, "alpha") else [None]
    grid = {"alpha": alphas} if alphas != [None] else {}
    search = ComponentSearchCV(
        estimator, n_components=[1, 2], cv=cv or LeaveOneOut(), scoring=MSE, **grid
    ).fit(X, Y, weights)
    splits = list((cv or LeaveOneOut()).split(X))
    if cv is None:  # nothing is left of three folds
        splits = [splits[i] for i in kept]
    splits = [(np.intersect1d(a, kept), np.intersect1d(b, kept)) for a, b in splits]
    truth = refits(estimator, X, Y, splits, [1, 2], alphas, weights, MSE)
    assert search.n_splits_ == len(splits)
    assert_allclose(split_scores(search), truth, rtol=1e-8)


def test_nothing_to_test_or_to_train_on_is_said():
    X, Y = make("small")
    weights = np.ones(len(X))
    weights[:8] = 0.0
    assert ComponentSearchCV(PLS(), n_components=2).fit(X, Y, weights).n_splits_ == 4
    first = [(np.arange(8, 40), np.arange(8))]
    with pytest.raises(ValueError, match="no split with a test row that has a weight"):
        ComponentSearchCV(PLS(), n_components=2, cv=first).fit(X, Y, weights)
    with pytest.raises(ValueError, match="leaves 0 rows to train on"):
        ComponentSearchCV(PLS(), n_components=2, cv=[first[0][::-1]]).fit(X, Y, weights)
    with pytest.raises(ValueError, match="leaves no row to test on"):
        empty = [(np.arange(40), np.arange(0))]
        ComponentSearchCV(PLS(), n_components=2, cv=empty).fit(X, Y)


@pytest.mark.parametrize(
    "kind, options",
    [
        (ReducedRankRegression, {}),
        (StiefelRegression, {}),
        (ManifoldPLS, {}),
        (ManifoldPLS, {"manifold": "product"}),
    ],
)
def test_auto_rank_with_auto_ridge(kind, options):
    X, Y, _ = make_low_rank_regression(
        60, 10, 8, rank=4, noise=0.8, random_state=1, collinearity=0.3
    )
    estimator = kind(alpha="auto", **options)
    splits = list(PredefinedSplit(deal_by_content(X, 5)).split())
    table = refits(estimator, X, Y, splits, range(1, 9), [None], None, "r2")
    chosen = clone(estimator).set_params(n_components="auto").fit(X, Y).n_components_
    assert chosen == 1 + table.mean(axis=1).argmax() == 2


@pytest.mark.parametrize("factor", [1e-170, 1e-120, 1e100, 1e140])
def test_units_do_not_matter_to_a_ridge_on_scaled_columns(factor):
    X, Y = make("small")
    options = {"n_components": [2], "alpha": [0.0, 30.0]}
    scaled = ReducedRankRegression(scale=True)
    plain = split_scores(ComponentSearchCV(scaled, **options).fit(X, Y))
    for data in ((X * factor, Y), (X, Y * factor)):
        assert_allclose(
            split_scores(ComponentSearchCV(scaled, **options).fit(*data)), plain, rtol=1e-8
        )


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_a_test_row_may_be_named_twice(estimator):
    X, Y = make("small")
    X, Y = X[:20], Y[:20]
    splits = [(np.arange(15), np.array([15, 15, 16, 17, 18]))]
    alphas = [1.0] if hasattr(estimator, "alpha") else [None]
    grid = {} if alphas == [None] else {"alpha": alphas}
    search = ComponentSearchCV(estimator, n_components=[1, 2], cv=splits, **grid).fit(X, Y)
    truth = refits(estimator, X, Y, splits, [1, 2], alphas, None, "r2")
    assert_allclose(split_scores(search), truth, rtol=1e-8)


@pytest.mark.parametrize("shape", ["small", "wide"])
@pytest.mark.parametrize("estimator", [PLS(), PCR(), ReducedRankRegression()], ids=str)
def test_outputs_alone_are_scaled(estimator, shape):
    """``scale="y"`` is a fit to outputs divided by their deviations, in every fold by its own."""
    X, Y = make(shape)
    Y = Y * [1, 1e4, 1e-3]
    estimator = clone(estimator).set_params(scale="y")
    unit = Y.std(axis=0, ddof=1)
    plain = clone(estimator).set_params(scale=False, n_components=2).fit(X, Y / unit)
    ours = clone(estimator).set_params(n_components=2).fit(X, Y)
    assert_allclose(ours.predict(X) / unit, plain.predict(X), atol=1e-10)
    assert_allclose(ours.y_scale_, unit, rtol=1e-12)
    alphas = [1.0] if hasattr(estimator, "alpha") else [None]
    grid = {} if alphas == [None] else {"alpha": alphas}
    splits = list(KFold(4).split(X))
    search = ComponentSearchCV(estimator, n_components=[1, 3], cv=splits, **grid).fit(X, Y)
    truth = refits(estimator, X, Y, splits, [1, 3], alphas, None, "r2")
    assert_allclose(split_scores(search), truth, rtol=1e-8)


@pytest.mark.parametrize("cv, n", [(LeaveOneOut(), 40), (5, 9)])
def test_single_test_rows_are_scored_by_the_variance_of_all(cv, n):
    """Q2, that is 1 - PRESS / total of each output: no output has more say for its unit."""
    X, Y = make("small")
    X, Y = X[:n], Y[:n]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search = ComponentSearchCV(PLS(), n_components=4, cv=cv).fit(X, Y)
        other = ComponentSearchCV(PLS(), n_components=4, cv=cv).fit(X, Y * np.logspace(-6, 6, 3))
    truth = np.zeros((4, len(split_scores(search)[0])))
    splits = list((KFold(cv) if cv == 5 else cv).split(X))
    for i, (train, test) in enumerate(splits):
        for k in range(4):
            errors = (Y[test] - PLS(k + 1).fit(X[train], Y[train]).predict(X[test])) ** 2
            truth[k, i] = (1 - errors.mean(axis=0) / Y.var(axis=0)).mean()
    assert_allclose(split_scores(search), truth, rtol=1e-8, atol=1e-10)
    assert_allclose(split_scores(other), truth, rtol=1e-8, atol=1e-10)
    assert search.best_index_ == other.best_index_ == truth.mean(axis=1).argmax()
    assert search.score(X, Y) == r2_score(Y, search.predict(X))
    named = ComponentSearchCV(PLS(), n_components=4, cv=cv, scoring="q2").fit(X, Y)
    assert_allclose(split_scores(named), split_scores(search), rtol=0)
    with (
        warnings.catch_warnings(),
        pytest.raises(ValueError, match="every candidate has the score NaN"),
    ):
        warnings.simplefilter("ignore")
        ComponentSearchCV(PLS(), n_components=4, cv=cv, scoring="r2").fit(X, Y)


@pytest.mark.parametrize("constant", [0.1, 1 / 3, 2.0, 7.7, 1e6 + 0.1])
@pytest.mark.parametrize("estimator", [PLS(), PCR(), ReducedRankRegression(alpha=1.0)], ids=str)
def test_a_constant_target_has_the_same_say_in_every_fold(estimator, constant):
    """It is met, which R2 calls 1; scikit-learn's own value may be a ratio of rounding errors."""
    X, Y = make("tall")
    Y[:, 1] = constant
    options = {"n_components": [1, 3], "cv": KFold(7)}
    options |= {"alpha": [1.0]} if hasattr(estimator, "alpha") else {}
    without = split_scores(ComponentSearchCV(estimator, **options).fit(X, Y[:, [0, 2, 3]]))
    found = split_scores(ComponentSearchCV(estimator, **options).fit(X, Y))
    if isinstance(estimator, PCR):  # the others look at all targets together
        assert_allclose(found, (3 * without + 1) / 4, rtol=1e-9)
    assert_allclose(
        found,
        split_scores(ComponentSearchCV(estimator, **options).fit(X, Y - [0, constant, 0, 0])),
        rtol=1e-9,
    )


def test_a_scorer_may_return_several_scores():
    X, Y = make("small")

    def both(model, X, y):
        error = float(((model.predict(X) - y) ** 2).mean())
        return {"mse": -error, "rmse": -(error**0.5)}

    options = {"n_components": 3, "scoring": both}
    search = ComponentSearchCV(PLS(), refit="mse", **options).fit(X, Y)
    peer = GridSearchCV(PLS(), {"n_components": [1, 2, 3]}, refit="mse", scoring=both).fit(X, Y)
    assert set(search.cv_results_) == set(peer.cv_results_)
    for name in ("mse", "rmse"):
        assert_allclose(
            search.cv_results_[f"mean_test_{name}"], peer.cv_results_[f"mean_test_{name}"]
        )
    assert search.best_index_ == peer.best_index_ and search.multimetric_
    assert_allclose(search.score(X, Y), peer.score(X, Y))
    with pytest.raises(ValueError, match="refit == True, must be False or one of the scorers"):
        ComponentSearchCV(PLS(), **options).fit(X, Y)
    with pytest.raises(ValueError, match="scoring\\['a'\\] returns a dict"):
        ComponentSearchCV(PLS(), scoring={"a": both}, refit="a").fit(X, Y)


# -- use and refusals ------------------------------------------------------------------------------


def test_as_part_of_other_tools(capsys):
    X, Y = make("small")
    search = ComponentSearchCV(PLS(), n_components=3, verbose=1)
    assert cross_val_score(search, X, Y, cv=3).shape == (3,)
    assert "fold 5 of 5" in capsys.readouterr().err
    again = pickle.loads(pickle.dumps(search.fit(X, Y)))
    assert_allclose(again.predict(X), search.predict(X), rtol=0)


def test_bad_input_is_refused():
    X, Y = make("small")
    with pytest.raises(TypeError, match="estimator is a Ridge"):
        ComponentSearchCV(Ridge()).fit(X, Y)
    with pytest.raises(ValueError, match="rule == 'min', must be one of 'auto', 'best', 'one_se'"):
        ComponentSearchCV(PLS(), rule="min").fit(X, Y)
    for bad in (0, "two", [1, 2.5], [], 1.5, [0]):
        with pytest.raises(ValueError, match="n_components"):
            ComponentSearchCV(PLS(), n_components=bad).fit(X, Y)
    with pytest.raises(ValueError, match="alpha == -1"):
        ComponentSearchCV(ReducedRankRegression(), alpha=[-1]).fit(X, Y)
    with pytest.raises(ValueError, match="alpha is empty"):
        ComponentSearchCV(ReducedRankRegression(), alpha=[]).fit(X, Y)
    with pytest.warns(UserWarning, match="PLS has no ridge weight"):
        ComponentSearchCV(PLS(), alpha=1.0, n_components=2).fit(X, Y)
    with pytest.raises(ValueError, match="leaves 1 row to train on"):
        ComponentSearchCV(PLS(), cv=2).fit(X[:3], Y[:3])
    with pytest.raises(ValueError, match="missing='em'"):
        ComponentSearchCV(PLS()).fit(np.where(X > 3, np.nan, X), Y)
    with pytest.raises(AttributeError, match="no attribute 'predict'"):
        ComponentSearchCV(PLS(), refit=False).fit(X, Y).predict(X)


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize(
    "estimator", [ReducedRankRegression(), StiefelRegression(), ManifoldPLS()], ids=repr
)
def test_sparse_training_rows_that_do_not_vary(estimator, scale):
    X, y = np.zeros((12, 3)), np.arange(12.0)
    X[:3] = np.eye(3)
    cv = [(np.arange(3, 12), np.arange(3))]
    searches = [
        ComponentSearchCV(clone(estimator).set_params(scale=scale), n_components=1, cv=cv).fit(A, y)
        for A in (X, sparse.csr_array(X))
    ]
    assert_allclose(*(search.cv_results_["mean_test_score"] for search in searches))


def test_a_number_of_folds_leaves_out_whole_groups_and_time_later_rows():
    rng = np.random.default_rng(0)
    batch = np.repeat(np.arange(6), 5)
    X = rng.normal(size=(30, 8)) + 3 * rng.normal(size=(6, 8))[batch]
    Y = X[:, :2] + rng.normal(size=(6, 2))[batch]
    order = rng.permutation(30)
    X, Y, batch = X[order], Y[order], batch[order]

    def scores(cv, **given):
        return ComponentSearchCV(PLS(), n_components=4, cv=cv).fit(X, Y, **given).cv_results_

    pairs = [
        (scores(3, groups=batch), scores(GroupKFold(3), groups=batch)),
        (scores(9, groups=batch), scores(GroupKFold(6), groups=batch)),
        (scores("time"), scores(TimeSeriesSplit(5))),
    ]
    for found, want in pairs:
        assert_array_equal(found["mean_test_score"], want["mean_test_score"])
    assert (scores(3)["mean_test_score"] != pairs[0][0]["mean_test_score"]).all()
    with pytest.raises(ValueError, match="one group only"):
        scores(3, groups=np.zeros(30))
    with pytest.raises(ValueError, match="must be a number, 'time' or a splitter"):
        scores("later")
    with pytest.raises(ValueError, match="PredefinedSplit"):
        ComponentSearchCV(PLS()).fit(Rows.from_arrays(X, Y), groups=batch)


def test_a_split_without_test_rows_is_refused():
    with pytest.raises(ValueError, match="leaves no row to test on"):
        ComponentSearchCV(PLS(), cv=[(list(range(10)), [])]).fit(np.eye(10), np.arange(10.0))
