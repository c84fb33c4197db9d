"""Oracles: kernel ridge, the stages one by one, refitting without each row, scikit-learn's checks."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.ensemble import RandomForestRegressor
from sklearn.gaussian_process.kernels import WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, Ridge
from sklearn.metrics import r2_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.utils.estimator_checks import parametrize_with_checks

from isthmus import (
    PLS,
    DependencyRegressor,
    Expansion,
    KernelMap,
    ReducedRankRegression,
    StiefelRegression,
    compress,
)
from isthmus.kernels import RBF, Linear, gram
from isthmus.preimages import FixedPoint, Learned, Nearest

GAMMA = 0.2


@pytest.fixture
def data():
    rng = np.random.default_rng(1)
    X = rng.normal(1.0, 1.0, size=(90, 4))
    Y = np.sin(X @ rng.normal(size=(4, 3))) + 0.1 * rng.normal(size=(90, 3)) + 5.0
    return X[:60], Y[:60], X[60:], Y[60:]


def centred_kernel_ridge(X, Y, X_test, alpha):
    """Centre the kernel and the outputs, solve, add the mean: the textbook."""
    K, K_test = rbf_kernel(X, X, GAMMA), rbf_kernel(X_test, X, GAMMA)
    K_test = K_test - K_test.mean(axis=1, keepdims=True) - K.mean(axis=0) + K.mean()
    K = K - K.mean(axis=0) - K.mean(axis=1, keepdims=True) + K.mean()
    return K_test @ np.linalg.solve(K + alpha * np.eye(len(K)), Y - Y.mean(axis=0)) + Y.mean(axis=0)


OUTPUTS = [
    None,
    KernelMap(kernel="linear"),
    KernelMap(kernel=Linear(), preimage="exact"),
    KernelMap(kernel="linear", preimage="auto"),
]


@pytest.mark.parametrize("solver", ["dual", "stages"])
@pytest.mark.parametrize(
    "map_", [Ridge(0.3), ReducedRankRegression(alpha=0.3, scale=False)], ids=str
)
@pytest.mark.parametrize("outputs", OUTPUTS, ids=str)
def test_linear_outputs_are_centred_kernel_ridge(outputs, map_, solver, data):
    X, Y, X_test, _ = data
    model = DependencyRegressor(KernelMap(gamma=GAMMA), map_, outputs, solver=solver).fit(X, Y)
    assert model.solver_ == solver
    assert_allclose(model.predict(X_test), centred_kernel_ridge(X, Y, X_test, 0.3), rtol=1e-8)


def test_linear_output_kernel_through_all_three_stages(data):
    """With fewer components asked for than would be taken as they are, the long road: the same."""
    X, Y, X_test, _ = data
    outputs = KernelMap(kernel="linear", n_components=3, preimage="exact")
    model = DependencyRegressor(KernelMap(gamma=GAMMA), Ridge(0.3), outputs).fit(X, Y)
    assert model.outputs_ is not None
    assert_allclose(model.predict(X_test), centred_kernel_ridge(X, Y, X_test, 0.3), rtol=1e-8)


@pytest.mark.parametrize(
    "map_",
    [
        Ridge(0.3),
        PLS(3, scale=False),
        PLS(3),
        PLSRegression(3),
        ReducedRankRegression(2, alpha=0.1),
        StiefelRegression(2),
        Lasso(0.01),
    ],
    ids=str,
)
@pytest.mark.parametrize("method", ["exact", "landmarks"])
def test_collapse_is_exact(map_, method, data):
    X, Y, X_test, _ = data
    inputs = KernelMap(gamma=GAMMA, solver=method, n_landmarks=30, random_state=0)
    outputs = KernelMap(gamma=0.1, n_components=10, preimage="nearest")
    model = DependencyRegressor(inputs, map_, outputs, solver="stages").fit(X, Y)
    direct = model.map_.predict(model.inputs_.transform(X_test))
    assert_allclose(model.predict_embedding(X_test), direct, rtol=1e-7, atol=1e-9)
    rank = getattr(map_, "n_components", 10)
    assert model.inner_expansion().n_outputs == rank
    if model.y_loadings_ is not None:
        assert_allclose(model.y_loadings_.T @ model.y_loadings_, np.eye(rank), atol=1e-12)
    same = compress(model, model.to_expansion().n_points)
    assert_allclose(same.predict_embedding(X_test), direct, rtol=1e-6, atol=1e-7)
    if model.expansion_.values is not None:
        values = model.expansion_.without_intercept(X)
        assert_allclose(model.expansion_.values, values, atol=1e-9)


@pytest.mark.parametrize("solver", ["auto", "stages"])
@pytest.mark.parametrize("map_", [None, PLS(1), ReducedRankRegression(1, alpha=0.1)], ids=str)
@pytest.mark.parametrize("columns", [0, slice(0, 1), slice(0, 3)], ids=str)
def test_the_expansion_of_a_model_is_its_prediction(columns, map_, solver, data):
    X, Y, X_test, _ = data
    model = DependencyRegressor(KernelMap(gamma=GAMMA), map_, solver=solver).fit(X, Y[:, columns])
    f = Expansion.from_model(model)
    predicted = model.predict(X_test)
    assert f(X_test).shape == predicted.shape
    assert_allclose(f(X_test), predicted, rtol=1e-9)
    if f.values is not None:
        assert_allclose(f.values, f.without_intercept(X), atol=1e-9)
    assert_allclose(model.with_expansion(f).predict(X_test), predicted, rtol=1e-9)


def test_the_expansion_with_an_output_kernel_is_the_embedding(data):
    X, Y, X_test, _ = data
    outputs = KernelMap(gamma=0.1, n_components=10, preimage="nearest")
    model = DependencyRegressor(KernelMap(gamma=GAMMA), PLS(3), outputs).fit(X, Y)
    f = Expansion.from_model(model)
    assert_allclose(f(X_test), model.predict_embedding(X_test), atol=1e-9)
    assert_allclose(model.with_expansion(f).predict(X_test), model.predict(X_test), atol=1e-9)


def test_noise_in_the_kernel_is_a_ridge_and_no_part_of_the_expansion(data):
    X, Y, X_test, _ = data
    noisy = DependencyRegressor(KernelMap(kernel=RBF(GAMMA) + WhiteKernel(0.2)), Ridge(0.1)).fit(
        X, Y
    )
    plain = DependencyRegressor(KernelMap(gamma=GAMMA), Ridge(0.3)).fit(X, Y)
    assert_allclose(noisy.predict(X_test), plain.predict(X_test), rtol=1e-9)
    same = compress(noisy, 60)
    assert_allclose(same.predict(X_test), plain.predict(X_test), rtol=1e-6)
    assert same.compression_.errors[-1] < 1e-9


@pytest.mark.parametrize(
    "outputs",
    [
        None,
        *(KernelMap(5, gamma=0.1, preimage=p) for p in ("nearest", "learned", "fixed_point")),
    ],
    ids=str,
)
@pytest.mark.parametrize("solver", ["auto", "stages"])
def test_single_precision_is_kept(outputs, solver, data):
    X, Y, X_test, _ = data
    model = DependencyRegressor(KernelMap(gamma=GAMMA), Ridge(0.3), outputs, solver=solver)
    double = clone(model).fit(X, Y)
    single = clone(model).fit(X.astype("f4"), Y.astype("f4"))
    for name in ("predict", "predict_embedding"):
        kept = getattr(single, name)(X_test.astype("f4"))
        assert kept.dtype == np.float32
        for other, rows in ((single, X_test), (double, X_test.astype("f4"))):
            assert getattr(other, name)(rows).dtype == np.float64
    assert_allclose(single.predict_embedding(X_test), double.predict_embedding(X_test), atol=1e-3)


def test_dual_values_are_known_for_nothing(data):
    X, Y, _, _ = data
    model = DependencyRegressor(KernelMap(gamma=GAMMA), Ridge(0.3)).fit(X, Y)
    assert_allclose(model.expansion_.values, model.expansion_.without_intercept(X), atol=1e-10)


@pytest.mark.parametrize(
    "map_", [RandomForestRegressor(10, random_state=0), KNeighborsRegressor(3), SVR()], ids=str
)
def test_any_regressor_is_a_map(map_, data):
    X, Y, X_test, Y_test = data
    model = DependencyRegressor(KernelMap(gamma=GAMMA, n_components=10), map_).fit(X, Y)
    assert model.expansion_ is None and model.predict(X_test).shape == Y_test.shape
    assert model.score(X_test, Y_test) > 0.1
    with pytest.raises(ValueError, match="no expansion"):
        compress(model, 5)


def test_plain_transformers_are_inputs(data):
    X, Y, X_test, _ = data
    model = DependencyRegressor(StandardScaler(), Ridge(1.0)).fit(X, Y)
    scaler = StandardScaler().fit(X)
    peer = Ridge(1.0).fit(scaler.transform(X), Y)
    assert_allclose(model.predict(X_test), peer.predict(scaler.transform(X_test)))


def test_leave_one_out_scores_are_those_of_refits(data):
    X, Y, _, _ = data
    outputs = KernelMap(gamma=0.1, n_components=5, preimage=Learned())
    model = DependencyRegressor(KernelMap(gamma=GAMMA), Ridge(0.3), outputs).fit(X, Y)
    scores = KernelMap(gamma=0.1, n_components=5).fit_transform(Y)
    for i in (0, 7, 59):
        rest = np.arange(60) != i
        alone = centred_kernel_ridge(X[rest], scores[rest], X[[i]], 0.3)
        assert_allclose(model.preimage_.coordinates_[[i]], alone, rtol=1e-8)


def test_learned_preimage_sees_predicted_scores(data):
    X, Y, _, _ = data
    outputs = KernelMap(gamma=0.1, n_components=5, preimage="learned")
    for solver in ("dual", "stages"):
        true = DependencyRegressor(
            KernelMap(gamma=GAMMA), Ridge(0.3), outputs, solver=solver, cv=None
        )
        unseen = clone(true).set_params(cv=5)
        scores = true.fit(X, Y).outputs_.transform(Y)
        assert_allclose(true.preimage_.coordinates_, scores, atol=1e-10)
        unseen.fit(X, Y)
        assert np.abs(unseen.preimage_.coordinates_ - scores).max() > 0.01
        fitted = unseen.predict_embedding(X)
        assert np.abs(unseen.preimage_.coordinates_ - fitted).max() > 0.01


def test_ridge_weight_of_the_preimage_is_chosen_by_rows_no_stage_has_seen(data):
    X, Y, _, _ = data
    alphas = (1e-6, 0.1, 10.0)
    outputs = KernelMap(gamma=0.1, n_components=5, preimage=Learned(alpha=alphas))
    model = DependencyRegressor(KernelMap(gamma=GAMMA), Ridge(0.3), outputs).fit(X, Y)
    scores = model.outputs_.transform(Y)
    order = np.argsort((scores**2).sum(axis=1))  # every fifth by the distance from the mean
    held = np.sort(order[2::5])
    rest = np.setdiff1d(order, held)
    predicted = centred_kernel_ridge(X[rest], scores[rest], X[held], 0.3)
    unseen = np.vstack(
        [
            centred_kernel_ridge(X[rest[rest != i]], scores[rest[rest != i]], X[[i]], 0.3)
            for i in rest
        ]
    )
    errors = [
        ((Learned(alpha=a).fit(Y[rest], unseen).inverse(predicted) - Y[held]) ** 2).mean()
        for a in alphas
    ]
    assert model.preimage_.alpha_ == alphas[int(np.argmin(errors))]


def overlap(a, b):
    """Letters two words share, a kernel of two objects."""
    return float(sum(min(a.count(c), b.count(c)) for c in set(a) & set(b)))


WORDS = [
    "abba",
    "abab",
    "baab",
    "ccdd",
    "cdcd",
    "ddcc",
    "eeff",
    "efef",
    "ffee",
    "aabb",
    "dccd",
    "feef",
]
KINDS = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, 0, 1, 2])


def test_words_in_and_words_out():
    rng = np.random.default_rng(0)
    X = np.eye(3)[KINDS] + 0.05 * rng.normal(size=(12, 3))
    out = DependencyRegressor(KernelMap(gamma=1.0), Ridge(0.01), KernelMap(kernel=overlap)).fit(
        X, WORDS
    )
    assert isinstance(out.preimage_, Nearest)
    predicted = out.predict(np.eye(3))
    assert [set(word) for word in predicted] == [set("ab"), set("cd"), set("ef")]
    assert out.score(X, WORDS) > 0.95
    # the definition: mean kernel loss over the mean distance from the training mean
    K = gram(overlap, WORDS)
    loss = [
        overlap(a, a) + overlap(b, b) - 2 * overlap(a, b) for a, b in zip(WORDS, out.predict(X))
    ]
    spread = K.diagonal() - 2 * K.mean(axis=0) + K.mean()
    assert_allclose(out.score(X, WORDS), 1 - np.mean(loss) / spread.mean(), atol=1e-12)
    ranked, losses = out.predict(X[:2], n_best=3, return_loss=True)
    assert len(ranked[0]) == 3 and losses.shape == (2, 3) and (np.diff(losses) >= 0).all()
    into = DependencyRegressor(KernelMap(kernel=overlap), Ridge(0.01)).fit(WORDS, X)
    assert_allclose(into.predict(["aabb"]), [[1, 0, 0]], atol=0.1)
    both = DependencyRegressor(
        KernelMap(kernel=overlap), Ridge(0.01), KernelMap(kernel=overlap)
    ).fit(WORDS, WORDS)
    assert set(both.predict(["bbaa"])[0]) == set("ab")
    scores = cross_val_score(both, WORDS, WORDS, cv=3)
    assert np.isfinite(scores).all()


def test_precomputed_inputs(data):
    X, Y, X_test, _ = data
    K, K_test = rbf_kernel(X, X, GAMMA), rbf_kernel(X_test, X, GAMMA)
    for solver in ("auto", "stages"):
        model = DependencyRegressor(KernelMap(kernel="precomputed"), Ridge(0.3), solver=solver).fit(
            K, Y
        )
        assert_allclose(model.predict(K_test), centred_kernel_ridge(X, Y, X_test, 0.3), rtol=1e-8)
    search = GridSearchCV(model, {"map__alpha": [0.1, 1.0]}, cv=3).fit(K, Y)
    assert search.predict(K_test).shape == (30, 3)


def test_all_three_stages_are_reached_by_a_search(data):
    X, Y, _, _ = data
    model = DependencyRegressor(KernelMap(gamma=GAMMA), Ridge(), KernelMap(preimage=FixedPoint()))
    grid = {
        "inputs__gamma": [1e-6, GAMMA],
        "map__alpha": [0.1, 1e5],
        "outputs__gamma": [0.05],
        "outputs__preimage__max_iter": [300],
    }
    search = GridSearchCV(model, grid, cv=3).fit(X, Y)
    assert search.best_params_["inputs__gamma"] == GAMMA
    assert search.best_params_["map__alpha"] == 0.1
    assert search.best_estimator_.preimage_.max_iter == 300


def test_shapes_scores_and_pickles(data):
    X, Y, X_test, Y_test = data
    flat = DependencyRegressor().fit(X, Y[:, 0])
    assert flat.predict(X_test).shape == (30,)
    kernel_outputs = DependencyRegressor(outputs=KernelMap(preimage="learned")).fit(X, Y[:, 0])
    assert kernel_outputs.predict(X_test).shape == (30,)
    model = DependencyRegressor(outputs=KernelMap(preimage="fixed_point")).fit(X, Y)
    predicted, losses = model.predict(X_test, return_loss=True)
    assert losses.shape == (30,) and (losses >= 0).all()
    assert_allclose(model.score(X_test, Y_test), r2_score(Y_test, predicted))
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X_test), predicted)
    small = compress(model, 20)
    assert isinstance(small, DependencyRegressor) and small.to_expansion().n_points == 20
    assert model.to_expansion().n_points == 60  # the original is left alone


def test_many_rows_take_landmarks():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9100, 2))
    y = np.sin(X[:, 0])
    model = DependencyRegressor(KernelMap(n_landmarks=50, random_state=0), Ridge(1e-3)).fit(X, y)
    assert model.solver_ == "stages" and model.to_expansion().n_points <= 50
    assert model.score(X, y) > 0.99


def test_the_mean_is_not_predicted_in_silence():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    model = DependencyRegressor(KernelMap(kernel=RBF(1.0)), Ridge())
    with pytest.raises(ValueError, match=r"apart: .* constant up to rounding for RBF\(gamma=1\)"):
        model.fit(1.0 + 1e-8 * X, y)
    with pytest.warns(UserWarning, match="leaves nothing but the mean"):
        model.fit(1.0 + 1e-5 * X, y)
    assert np.ptp(model.predict(1.0 + 1e-5 * X)) < 1e-6 * np.ptp(y)
    model.fit(1.0 + 1e-2 * X, y)


def test_errors(data):
    X, Y, X_test, _ = data
    with pytest.raises(ValueError, match="solver == 'primal'"):
        DependencyRegressor(solver="primal").fit(X, Y)
    with pytest.raises(ValueError, match="solver == 'dual' needs"):
        DependencyRegressor(KernelMap(n_components=3), solver="dual").fit(X, Y)
    with pytest.raises(ValueError, match="constant"):
        DependencyRegressor(KernelMap(gamma=1.0)).fit(np.ones((5, 2)), np.arange(5.0))
    with pytest.raises(ValueError, match="1 sample"):
        DependencyRegressor().fit(X[:1], Y[:1])
    with pytest.raises(ValueError, match="NaN"):
        DependencyRegressor().fit(X, np.where(np.arange(60)[:, None] == 3, np.nan, Y))
    with pytest.raises(ValueError, match="return_loss"):
        DependencyRegressor().fit(X, Y).predict(X_test, return_loss=True)
    with pytest.raises(ValueError, match="must have 3"):
        DependencyRegressor().fit(X, Y).with_expansion(Expansion(X, Y[:, :2], "linear"))
    with pytest.raises(ValueError, match="must have 3"):
        DependencyRegressor().fit(X, Y).with_inner_expansion(Expansion(X, Y[:, :2], "linear"))


def test_two_rows_duplicates_float32_and_a_huge_scale(data):
    X, Y, X_test, _ = data
    assert_allclose(
        DependencyRegressor(map=Ridge(1e-9)).fit(X[:2], Y[:2]).predict(X[:2]), Y[:2], rtol=1e-4
    )
    twice = DependencyRegressor(KernelMap(gamma=GAMMA), Ridge(0.6)).fit(
        np.vstack([X, X]), np.vstack([Y, Y])
    )
    once = DependencyRegressor(KernelMap(gamma=GAMMA), Ridge(0.3)).fit(X, Y)
    assert_allclose(twice.predict(X_test), once.predict(X_test), rtol=1e-9)
    single = DependencyRegressor(KernelMap(gamma=GAMMA), Ridge(0.3)).fit(X.astype("f4"), Y)
    assert_allclose(single.predict(X_test.astype("f4")), once.predict(X_test), rtol=1e-4)
    huge = DependencyRegressor(KernelMap(gamma=GAMMA * 1e-16), Ridge(0.3)).fit(1e8 * X, 1e8 * Y)
    assert_allclose(huge.predict(1e8 * X_test) / 1e8, once.predict(X_test), rtol=1e-6)


def test_kernel_ridge_without_intercept_differs(data):
    """A guard of the guard: scikit-learn's kernel ridge has no intercept, so the answer is another."""
    X, Y, X_test, _ = data
    peer = KernelRidge(alpha=0.3, kernel="rbf", gamma=GAMMA).fit(X, Y).predict(X_test)
    ours = DependencyRegressor(KernelMap(gamma=GAMMA), Ridge(0.3)).fit(X, Y).predict(X_test)
    assert np.abs(peer - ours).max() > 0.01


@parametrize_with_checks(
    [
        DependencyRegressor(),
        DependencyRegressor(solver="stages"),
        DependencyRegressor(KernelMap(n_components=0.9), Ridge(), KernelMap(preimage="learned")),
    ]
)
def test_sklearn_contract(estimator, check):
    check(estimator)
