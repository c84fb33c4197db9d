"""Oracle: scikit-learn's ``GridSearchCV`` over the same candidates, in all that it shows."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose
from sklearn.exceptions import FitFailedWarning, UnsetMetadataPassedError
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer, make_scorer, r2_score
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler

from isthmus import PCR, PLS, ComponentSearchCV, KernelMap, ReducedRankRegression
from isthmus.kernels import SpectrumKernel

MSE = "neg_mean_squared_error"
RANKS = [1, 2, 3]
ALPHAS = [0.1, 1.0, 10.0]


def make(n=60, p=6, q=2, seed=0):
    rng = np.random.default_rng(seed)
    X = np.exp(rng.normal(0, 1, size=(n, p)))
    return X, X[:, :3] @ rng.normal(size=(3, q)) + rng.normal(size=(n, q))


X, Y = make()
WEIGHTS = 1.0 + np.arange(len(X)) % 4
GROUPS = np.arange(len(X)) % 7


def agree(ours, peer, atol=1e-10):
    """The same keys, the same candidates in the same order, the same scores, the same choice."""
    assert list(ours.cv_results_) == list(peer.cv_results_)
    assert ours.cv_results_["params"] == peer.cv_results_["params"]
    for key, value in peer.cv_results_.items():
        if "_test_" in key:
            assert_allclose(ours.cv_results_[key], value, rtol=0, atol=atol, err_msg=key)
        if key.startswith("param_"):
            assert list(ours.cv_results_[key]) == list(value)
    assert ours.best_params_ == peer.best_params_ and ours.best_index_ == peer.best_index_
    assert_allclose(ours.best_score_, peer.best_score_, rtol=0, atol=atol)
    assert ours.n_splits_ == peer.n_splits_ and ours.multimetric_ == peer.multimetric_


PIPELINES = [
    PLS(),
    PCR(scale=True),
    ReducedRankRegression(),
    make_pipeline(SplineTransformer(3), PLS()),
    make_pipeline(StandardScaler(), ReducedRankRegression()),
    make_pipeline(KernelMap(gamma=0.05), ReducedRankRegression()),
    make_pipeline(KernelMap(8, "laplacian", gamma=0.1), PLS(scale=False)),
]


def candidates(estimator):
    is_pipeline = hasattr(estimator, "steps")
    last = estimator[-1] if is_pipeline else estimator
    prefix = f"{estimator.steps[-1][0]}__" if is_pipeline else ""
    grid = {f"{prefix}n_components": RANKS}
    alpha = None
    if hasattr(last, "alpha"):
        grid[f"{prefix}alpha"] = alpha = ALPHAS
    return grid, {"n_components": RANKS, "alpha": alpha}


@pytest.mark.filterwarnings("ignore:n_components == 3, must")  # two outputs allow two
@pytest.mark.filterwarnings("ignore:n_components == 3, but only 2")
@pytest.mark.parametrize("scoring", [None, MSE, "neg_mean_absolute_error"])
@pytest.mark.parametrize("estimator", PIPELINES, ids=repr)
def test_grid_search_finds_the_same(estimator, scoring):
    grid, ours = candidates(estimator)
    ours = ComponentSearchCV(estimator, cv=4, scoring=scoring, rule="best", **ours).fit(X, Y)
    peer = GridSearchCV(estimator, grid, cv=4, scoring=scoring).fit(X, Y)
    agree(ours, peer)
    assert_allclose(ours.predict(X), peer.predict(X), atol=1e-10)
    assert_allclose(ours.score(X, Y), peer.score(X, Y), atol=1e-10)
    assert_allclose(ours.transform(X), peer.best_estimator_.transform(X), atol=1e-10)


@pytest.mark.parametrize("estimator", [PLS(), make_pipeline(StandardScaler(), PLS())], ids=repr)
def test_several_scorers_and_a_rule_of_ones_own(estimator):
    grid, ours = candidates(estimator)
    scoring = {"error": MSE, "share": "r2"}
    ours = ComponentSearchCV(estimator, scoring=scoring, refit="error", **ours).fit(X, Y)
    peer = GridSearchCV(estimator, grid, scoring=scoring, refit="error").fit(X, Y)
    agree(ours, peer)

    def least(results):
        return int(np.argmin(results["mean_test_share"]))

    other = ComponentSearchCV(estimator, n_components=3, scoring=scoring, refit=least).fit(X, Y)
    assert other.best_index_ == least(peer.cv_results_) != ours.best_index_
    assert not hasattr(other, "best_score_")


def test_a_callable_sees_the_inputs_of_the_pipeline():
    estimator = make_pipeline(StandardScaler(), PLS())
    seen = []

    def own(model, A, b):
        seen.append(A)
        return float(r2_score(b, model.predict(A)))

    grid, options = candidates(estimator)
    ours = ComponentSearchCV(estimator, scoring=own, **options).fit(X, Y)
    agree(ours, GridSearchCV(estimator, grid, scoring=own).fit(X, Y))
    assert all((A[:, None] == X).all(axis=2).any(axis=1).all() for A in seen)


def test_pipelines_of_objects_and_of_kernel_values():
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abc"), size=9)) for _ in range(40)]
    y = np.array([word.count("ab") + 0.1 * word.count("c") for word in words])
    estimator = make_pipeline(KernelMap(kernel=SpectrumKernel()), PLS(scale=False))
    ours = ComponentSearchCV(estimator, n_components=3).fit(words, y)
    agree(ours, GridSearchCV(estimator, {"pls__n_components": RANKS}).fit(words, y))
    K = SpectrumKernel()(words)
    estimator = make_pipeline(KernelMap(kernel="precomputed"), PLS(scale=False))
    ours = ComponentSearchCV(estimator, n_components=3).fit(K, y)
    agree(ours, GridSearchCV(estimator, {"pls__n_components": RANKS}).fit(K, y))


def test_tables_keep_their_names():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=list("abcdef"))
    estimator = make_pipeline(StandardScaler(), PLS())
    ours = ComponentSearchCV(estimator, n_components=3).fit(table, Y)
    agree(ours, GridSearchCV(estimator, {"pls__n_components": RANKS}).fit(table, Y))
    assert ours.n_features_in_ == 6


def test_weights_of_a_pipeline_are_those_of_its_regression():
    """Without routing: in the fits of the last step and in the scores."""
    weights = np.where(np.arange(len(X)) % 9 == 4, 0.0, WEIGHTS)
    estimator = make_pipeline(SplineTransformer(3), PLS())
    ours = ComponentSearchCV(estimator, n_components=3, cv=4).fit(X, Y, sample_weight=weights)
    for i, (train, test) in enumerate(KFold(4).split(X)):
        train, test = train[weights[train] > 0], test[weights[test] > 0]
        for k in RANKS:
            model = make_pipeline(SplineTransformer(3), PLS(k))
            model.fit(X[train], Y[train], pls__sample_weight=weights[train])
            score = r2_score(Y[test], model.predict(X[test]), sample_weight=weights[test])
            assert_allclose(ours.cv_results_[f"split{i}_test_score"][k - 1], score, atol=1e-10)
    whole = make_pipeline(SplineTransformer(3), PLS(**{"n_components": ours.best_index_ + 1}))
    whole.fit(X, Y, pls__sample_weight=weights)
    assert_allclose(ours.predict(X), whole.predict(X), atol=1e-10)


# -- metadata routing -------------------------------------------------------------------------------


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.parametrize("weighted_fit", [False, True])
@pytest.mark.parametrize("weighted_score", [False, True])
@pytest.mark.parametrize("in_pipeline", [False, True])
def test_metadata_go_where_they_are_asked_for(routing, weighted_fit, weighted_score, in_pipeline):
    model = PLS().set_fit_request(sample_weight=weighted_fit)
    scaler = StandardScaler().set_fit_request(sample_weight=weighted_fit)
    estimator = make_pipeline(scaler, model) if in_pipeline else model
    scoring = get_scorer(MSE).set_score_request(sample_weight=weighted_score)
    grid, options = candidates(estimator)
    given = {"groups": GROUPS}
    if weighted_fit or weighted_score:
        given["sample_weight"] = WEIGHTS
    ours = ComponentSearchCV(estimator, cv=GroupKFold(4), scoring=scoring, **options)
    peer = GridSearchCV(estimator, grid, cv=GroupKFold(4), scoring=scoring)
    ours.fit(X, Y, **given)
    peer.fit(X, Y, **given)
    agree(ours, peer)
    assert_allclose(ours.predict(X), peer.predict(X), atol=1e-10)
    if weighted_score:
        ours, peer = (s.score(X, Y, sample_weight=WEIGHTS) for s in (ours, peer))
        assert_allclose(ours, peer, atol=1e-10)


def test_metadata_that_nobody_asked_for_are_an_error(routing):
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        ComponentSearchCV(PLS(), n_components=2).fit(X, Y, sample_weight=WEIGHTS)


def test_metadata_go_through_an_outer_cross_validation(routing):
    model = PLS().set_fit_request(sample_weight=True)
    scoring = get_scorer(MSE).set_score_request(sample_weight=True)
    given = {"sample_weight": WEIGHTS, "groups": GROUPS}
    found = [
        cross_validate(search, X, Y, cv=GroupKFold(3), scoring=scoring, params=given)["test_score"]
        for search in (
            ComponentSearchCV(model, n_components=RANKS, cv=GroupKFold(2), scoring=scoring),
            GridSearchCV(model, {"n_components": RANKS}, cv=GroupKFold(2), scoring=scoring),
        )
    ]
    assert_allclose(*found, atol=1e-10)


# -- options ----------------------------------------------------------------------------------------


class Brittle(StandardScaler):
    """A step that fails in one fold."""

    def fit(self, X, y=None, sample_weight=None):
        if len(X) < len(Y) and not (X == globals()["X"][0]).all(axis=1).any():
            raise RuntimeError("the first row is not here")
        return super().fit(X, y)


def brittle_score(model, A, b):
    if (A == X[0]).all(axis=1).any():
        raise RuntimeError("the first row is here")
    return float(r2_score(b, model.predict(A)))


@pytest.mark.parametrize(
    ("estimator", "scoring"), [(make_pipeline(Brittle(), PLS()), None), (PLS(), brittle_score)]
)
def test_a_fold_that_fails_has_the_error_score(estimator, scoring):
    grid, options = candidates(estimator)
    with pytest.warns(FitFailedWarning, match="1 of 5 folds failed"):
        ours = ComponentSearchCV(estimator, scoring=scoring, error_score=-9.0, **options).fit(X, Y)
    with pytest.warns(Warning):  # scikit-learn's, one for fits and another for scores
        peer = GridSearchCV(estimator, grid, scoring=scoring, error_score=-9.0).fit(X, Y)
    agree(ours, peer)
    assert (ours.cv_results_["split0_test_score"] == -9.0).all()
    with pytest.raises(RuntimeError, match="the first row is"):
        ComponentSearchCV(estimator, scoring=scoring, error_score="raise", **options).fit(X, Y)


def test_where_every_fold_fails_the_error_is_raised():
    def fails(model, A, b):
        raise RuntimeError("never")

    with pytest.raises(RuntimeError, match="never"):
        ComponentSearchCV(PLS(), n_components=2, scoring=fails).fit(X, Y)
    with pytest.raises(ValueError, match="error_score == 'ignore'"):
        ComponentSearchCV(PLS(), error_score="ignore").fit(X, Y)


@pytest.mark.parametrize("estimator", [PLS(), make_pipeline(StandardScaler(), PLS())], ids=repr)
def test_jobs_change_nothing(estimator):
    one, two = (ComponentSearchCV(estimator, n_components=3, n_jobs=n).fit(X, Y) for n in (1, 2))
    for key in ("mean_test_score", "split3_test_score"):
        assert_allclose(one.cv_results_[key], two.cv_results_[key], rtol=0, atol=1e-12)


def test_what_the_regression_has_is_handed_on():
    search = ComponentSearchCV(PLS(), n_components=3)
    assert_allclose(search.fit_transform(X, Y), search.best_estimator_.transform(X))
    back = search.inverse_transform(search.transform(X))
    assert_allclose(back, search.best_estimator_.inverse_transform(search.transform(X)))
    model = make_pipeline(ComponentSearchCV(PLS(), n_components=3), Ridge(1e-8)).fit(X, Y[:, 0])
    assert model[0].transform(X).shape == (60, model[0].best_params_["n_components"])
    without = ComponentSearchCV(PLS(), n_components=3, refit=False).fit(X, Y)
    assert not hasattr(without, "transform") and not hasattr(without, "inverse_transform")


def test_pipelines_of_others_are_refused():
    with pytest.raises(TypeError, match="the last step of the pipeline is a Ridge"):
        ComponentSearchCV(make_pipeline(StandardScaler(), Ridge())).fit(X, Y)


def test_the_simplest_good_candidate_of_a_pipeline():
    estimator = make_pipeline(StandardScaler(), PLS())
    best = ComponentSearchCV(estimator, n_components=5).fit(X, Y)
    simple = ComponentSearchCV(estimator, n_components=5, rule="one_se").fit(X, Y)
    scores = np.array([best.cv_results_[f"split{i}_test_score"] for i in range(5)])
    error = scores[:, best.best_index_].std(ddof=1) / np.sqrt(5)
    good = scores.mean(axis=0) >= best.best_score_ - error
    assert simple.best_index_ == good.argmax()


def test_scorers_made_by_the_user_work_in_the_fast_path():
    scoring = make_scorer(r2_score, multioutput="variance_weighted")
    ours = ComponentSearchCV(PLS(), n_components=RANKS, scoring=scoring).fit(X, Y)
    agree(ours, GridSearchCV(PLS(), {"n_components": RANKS}, scoring=scoring).fit(X, Y))
