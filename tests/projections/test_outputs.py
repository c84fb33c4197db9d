"""Outputs of every kind: classes, many, objects, matrices, with holes; choices by held-out score."""

import warnings
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import r2_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline

from isthmus import Expansion
from isthmus.datasets import make_curves
from isthmus.kernels import RBF, Metric, SpectrumKernel, gram
from isthmus.kernels.distinct import deal_by_content
from isthmus.projections import COIR, KDR, MORP, SIR, KernelCCA, KernelSIR, base, kdr
from isthmus.projections.held_out import KernelJudge, VectorJudge
from isthmus.projections.kdr import criterion, gradient_directions
from isthmus.projections.missing import fill_by_ridge, fill_outputs
from isthmus.projections.slices import slice_labels


@pytest.fixture(scope="module")
def curves():
    return make_curves(150, 6, random_state=1)


# -- slices -----------------------------------------------------------------------------------


def test_slices():
    y = np.array([3.0, 1.0, 2.0, 2.0, 9.0, 8.0])
    assert_array_equal(slice_labels(y, 3), [1, 0, 0, 0, 2, 2])  # equal values together
    assert_array_equal(slice_labels(y, 10), [2, 0, 1, 1, 4, 3])  # no more values than slices
    assert_array_equal(slice_labels(np.array(["b", "a", "b"]), 2), [1, 0, 1])
    assert_array_equal(slice_labels(np.array([True, False]), 5), [1, 0])
    Y = np.repeat([[0.0, 0.0], [5.0, 5.0], [9.0, 0.0]], 4, axis=0)
    labels = slice_labels(Y, 8, random_state=0)
    assert labels.max() == 2 and all(len(set(labels[i : i + 4])) == 1 for i in (0, 4, 8))
    pairs = slice_labels(np.array([["a", "x"], ["a", "y"], ["a", "x"]]), 2, "classes")
    assert_array_equal(pairs, [0, 1, 0])
    with pytest.raises(ValueError, match="one slice takes every row"):
        slice_labels(np.ones(5), 3)
    with pytest.raises(ValueError, match="n_slices"):
        slice_labels(y, 1)


@pytest.mark.parametrize("kind", [SIR, KernelSIR])
@pytest.mark.parametrize("n_labels", [3, 40])
def test_labels_as_integers_and_as_names(kind, n_labels):
    rng = np.random.default_rng(n_labels)
    means = rng.normal(size=(n_labels, 2)) @ rng.normal(size=(2, 6))  # in a plane, in no order
    y = np.repeat(np.arange(n_labels), 600 // n_labels)
    X = means[y] + 0.1 * rng.normal(size=(len(y), 6))
    names = np.array([f"label {label}" for label in y])
    expected = kind(2, random_state=0).fit(X, names)
    assert expected.slices_ == "classes" and expected.n_slices_ == n_labels
    if n_labels > 10:
        with pytest.warns(
            UserWarning, match="40 different integers, more than n_slices == 10: .*classes"
        ):
            model = kind(2, random_state=0).fit(X, y)
        assert model.slices_ == "quantiles" and model.n_slices_ == 10
        kind(2, slices="quantiles").fit(X, y)  # asked for: no warning
        kind(2).fit(X, np.arange(len(y)))  # numbers that do not repeat are no labels
        kind(2).fit(X, y.astype(float))
    model = kind(2, slices="auto" if n_labels < 10 else "classes", random_state=0).fit(X, y)
    assert model.slices_ == "classes"
    found, wanted = model.transform(X), expected.transform(X)
    assert_allclose(np.abs(found), np.abs(wanted), atol=1e-6 * np.abs(wanted).max())


def test_names_are_classes(curves):
    X, y, _ = curves
    names = np.where(y > 1, "high", np.where(y > -1, "middle", "low"))
    numbers = np.unique(names, return_inverse=True)[1]
    for model in (SIR(2), KernelSIR()):
        Z = model.fit(X, names).transform(X)
        assert_allclose(model.fit(X, numbers).transform(X), Z, atol=1e-12)
    onehot = np.eye(3)[numbers]
    assert_allclose(COIR().fit(X, names).transform(X), COIR().fit(X, onehot).transform(X))
    assert MORP().fit(X, names).transform(X).shape == (150, 2)


# -- objects and matrices ---------------------------------------------------------------------


def words(n, seed):
    """Words over two alphabets, and the share of the first."""
    rng = np.random.default_rng(seed)
    share = rng.uniform(size=n)
    letters = [
        "".join(rng.choice(list("abcd"), 12, p=[s / 2, s / 2, (1 - s) / 2, (1 - s) / 2]))
        for s in share
    ]
    return letters, share


def test_objects_as_outputs():
    texts, share = words(80, 0)
    X = np.c_[share, 0.1 * np.random.default_rng(1).normal(size=80)]
    kernel = SpectrumKernel()
    L = gram(kernel, texts)
    for estimator in (COIR, MORP, KernelCCA):
        model = estimator(kernel_y=kernel, cv=5, random_state=0).fit(X, texts)
        same = estimator(kernel_y="precomputed", cv=5, random_state=0).fit(X, L)
        assert_allclose(model.transform(X), same.transform(X), atol=1e-9)
        if estimator is not MORP:  # the inputs' own variance counts there
            assert abs(np.corrcoef(model.transform(X)[:, 0], share)[0, 1]) > 0.8
        assert model.held_out_score_ == pytest.approx(same.held_out_score_)
    many = COIR(kernel_y=kernel, solver="features", n_landmarks=80).fit(X, texts)
    exact = COIR(kernel_y=kernel).fit(X, texts)
    assert_allclose(many.eigenvalues_, exact.eigenvalues_, rtol=1e-6)
    both = KernelCCA(kernel_y=kernel).fit(X, texts)
    assert abs(np.corrcoef(both.transform_y(texts)[:, 0], both.transform(X)[:, 0])[0, 1]) > 0.8


def test_objects_as_inputs_in_a_pipeline_and_a_grid():
    texts, share = words(60, 0)
    labels = (share > 0.5).astype(int)
    pipe = make_pipeline(KernelSIR(1, SpectrumKernel()), KNeighborsClassifier(5))
    search = GridSearchCV(pipe, {"kernelsir__alpha": [0.1, 1.0]}, cv=3).fit(texts, labels)
    assert search.best_score_ > 0.8
    model = COIR(kernel=SpectrumKernel(), solver="features", n_landmarks=60).fit(texts, share)
    exact = COIR(kernel=SpectrumKernel()).fit(texts, share)
    assert_allclose(model.transform(texts[:5]), exact.transform(texts[:5]), atol=1e-6)


def test_a_function_as_kernel(curves):
    X, y, _ = curves
    X, y = X[:40], y[:40]

    def alike(a, b):
        return float(np.exp(-0.1 * ((a - b) ** 2).sum()))

    model = COIR(kernel=alike).fit(X, y)
    assert_allclose(model.transform(X), COIR(gamma=0.1).fit(X, y).transform(X), atol=1e-10)


def test_the_fit_is_an_expansion(curves):
    X, y, _ = curves
    for model in (COIR(), KernelSIR(), COIR(solver="features", n_landmarks=50)):
        model.fit(X, y)
        expansion = Expansion.from_model(model)
        assert_allclose(expansion(X), model.transform(X), atol=1e-12)
        assert_allclose(model.with_expansion(expansion).transform(X), model.transform(X))
    with pytest.raises(ValueError, match="directions, not points"):
        SIR(2).fit(X, y).to_expansion()


# -- holes ------------------------------------------------------------------------------------


def test_fillings():
    Y = np.array([[1.0, np.nan], [3.0, 4.0], [np.nan, 6.0]])
    assert_allclose(fill_outputs(Y, "mean"), [[1, 5], [3, 4], [2, 6]])
    assert_allclose(fill_outputs(Y, "zero"), [[1, 0], [3, 4], [0, 6]])
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(500, 2))
    full = Z @ rng.normal(size=(2, 3)) + [1.0, 2.0, 3.0]
    holes = np.where(rng.uniform(size=full.shape) < 0.3, np.nan, full)
    filled = fill_by_ridge(Z, holes, fill_outputs(holes, "mean"))
    assert_allclose(filled, full, atol=0.3)  # a ridge of 10 on 350 rows shrinks a little
    assert_array_equal(filled[~np.isnan(holes)], full[~np.isnan(holes)])


def test_morp_with_missing_outputs(curves):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    Y = np.tanh(X[:, :2] @ rng.normal(size=(2, 30))) + 0.1 * rng.normal(size=(300, 30))
    holes = np.where(rng.uniform(size=Y.shape) < 0.8, np.nan, Y)
    with pytest.raises(ValueError, match="NaN"):
        MORP().fit(X, holes)
    scores = {}
    for missing in ("zero", "mean", "ridge"):
        Z = MORP(n_components=2, missing=missing).fit(X[:200], holes[:200]).transform(X)
        near = KNeighborsRegressor(10).fit(Z[:200], Y[:200])
        scores[missing] = near.score(Z[200:], Y[200:])
    assert scores["ridge"] > 0.3
    assert scores["ridge"] >= scores["zero"] - 0.02
    whole = MORP(missing="ridge").fit(X, Y).transform(X)
    assert_allclose(whole, MORP().fit(X, Y).transform(X))  # nothing missing, nothing changed
    holes[:, 3] = np.nan
    with pytest.warns(UserWarning, match="no observed entry and are dropped: columns 3"):
        MORP(missing="mean").fit(X, holes)
    with pytest.raises(ValueError, match="no observed entry at all"):
        MORP(missing="mean").fit(X, np.full_like(Y, np.nan))


# -- choices ----------------------------------------------------------------------------------


def test_held_out_score_is_that_of_refitting(curves):
    X, y, _ = curves
    for model in (
        COIR(gamma=0.1, kernel_y=RBF(0.5), cv=5, random_state=3),
        KernelSIR(gamma=0.1, alpha=0.3, slices="classes", n_slices=4, cv=5, random_state=3),
        SIR(2, slices="classes", cv=5, random_state=3),
    ):
        target = (
            np.digitize(y, [-1.0, 0.0, 1.0]).astype(float)
            if model.get_params().get("slices")
            else y
        )
        model.fit(X, target)
        scores = []
        for train, test in PredefinedSplit(deal_by_content(X, 5, 3)).split():
            fold = clone(model).set_params(cv=None, alpha=model.alpha_).fit(X[train], target[train])
            near = KNeighborsRegressor(10).fit(fold.transform(X[train]), target[train])
            scores.append(r2_score(target[test], near.predict(fold.transform(X[test]))))
        assert model.held_out_score_ == pytest.approx(np.mean(scores), abs=1e-8)


@pytest.mark.parametrize("solver", ["auto", "features"])
def test_ridge_and_components_by_cross_validation(solver, curves):
    X, y, _ = curves
    options = {
        "gamma": 0.1,
        "kernel_y": RBF(0.5),
        "solver": solver,
        "n_landmarks": 150,
        "random_state": 0,
    }
    chosen = COIR(alpha="cv", n_components="auto", **options).fit(X, y)
    table = chosen.cv_results_
    assert chosen.held_out_score_ == pytest.approx(np.nanmax(table["mean_test_score"]))
    assert chosen.n_components_ in table["n_components"]
    two = COIR(alpha="cv", n_components=2, **options).fit(X, y)
    assert chosen.held_out_score_ > two.held_out_score_ - 1e-9
    # A row of the table is the score of a fit with these numbers.
    rows = table["n_components"] == 2
    assert_allclose(table["mean_test_score"][rows], two.cv_results_["mean_test_score"], atol=1e-6)


def test_training_pictures_lie():
    X, y, _ = make_curves(300, 15, random_state=0)
    weak = COIR(alpha=1e-6 * 300, cv=5).fit(X, y)
    near = KNeighborsRegressor(10).fit(weak.transform(X), y)
    assert near.score(weak.transform(X), y) > 0.9
    assert weak.held_out_score_ < 0.1
    assert COIR(alpha="cv").fit(X, y).held_out_score_ > 0.3


def test_choices_have_five_folds_unless_told(curves):
    X, y, _ = curves
    for options in ({"alpha": "cv"}, {"n_components": "auto"}):
        plain, told = (COIR(**options, cv=cv, random_state=0).fit(X, y) for cv in (None, 5))
        assert plain.held_out_score_ == told.held_out_score_
    with pytest.raises(ValueError, match="too few for cv=5"):
        COIR(n_components="auto").fit(X[:8], y[:8])


@pytest.mark.parametrize(
    "model", [SIR(), KernelSIR(alpha=0.1), COIR(), KernelCCA(), MORP(), KDR(max_iter=0)]
)
def test_nothing_is_held_out_unless_asked_for(model, curves, monkeypatch):
    X, y, _ = curves
    monkeypatch.setattr(base, "deal_by_content", None)  # not callable: any use is an error
    monkeypatch.setattr(kdr, "deal_by_content", None)
    model.fit(X, y)
    assert np.isnan(model.held_out_score_) and model.held_out_scores_ is None
    assert not hasattr(model, "cv_results_")


@pytest.mark.parametrize("make", [KernelSIR, COIR, KernelCCA, MORP])
def test_none_is_fresh_entropy_and_a_number_is_not(make, curves):
    """Landmarks are drawn: of 10 of 150 rows two draws agree once in 1e15 times."""
    X, y, _ = curves
    options = {"solver": "features", "n_landmarks": 10}
    one, two = (make(**options).fit(X, y).points_ for _ in range(2))
    assert not np.array_equal(one, two)
    one, two = (make(**options, random_state=7).fit(X, y).points_ for _ in range(2))
    assert_array_equal(one, two)


def test_fractions_of_the_eigenvalues(curves):
    X, y, _ = curves
    whole = COIR(n_components=149, alpha=0.5, cv=None)
    with pytest.warns(UserWarning, match="more than the rank"):
        shares = np.cumsum(whole.fit(X, y).eigenvalues_) / whole.eigenvalues_.sum()
    some = COIR(n_components=0.6, alpha=0.5).fit(X, y)
    assert some.n_components_ == np.searchsorted(shares, 0.6) + 1


def test_judges_agree_on_vectors():
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(50, 1))
    train, test = np.arange(40), np.arange(40, 50)
    Z = rng.normal(size=(50, 2))
    by_vectors = VectorJudge(Y).scores(Z, train, test)
    assert KernelJudge(Y @ Y.T).scores(Z, train, test) == pytest.approx(by_vectors)
    assert np.isnan(VectorJudge(np.ones((50, 1))).scores(Z, train, test))
    assert sorted(np.bincount(deal_by_content(np.arange(11.0)[:, None], 3))) == [3, 4, 4]


# -- kernel dimension reduction ---------------------------------------------------------------


def test_gradient_of_kdr_by_differences(curves):
    X, y, _ = curves
    X, y = X[:40], y[:40]
    rng = np.random.default_rng(0)
    L = rbf_kernel(y[:, None], gamma=0.5)
    L = L - L.mean(axis=0) - L.mean(axis=1)[:, None] + L.mean()
    B = np.linalg.qr(rng.normal(size=(6, 2)))[0]

    def value(b):
        return criterion(b.reshape(6, 2), X, L, 0.3, 0.4, np.ones(40))[0]

    gradient = criterion(B, X, L, 0.3, 0.4, np.ones(40))[1]
    differences = approx_fprime(B.ravel(), value, 1e-6).reshape(6, 2)
    assert_allclose(gradient, differences, rtol=1e-4, atol=1e-4 * np.abs(gradient).max())


def test_start_of_kdr_is_the_average_of_squared_gradients(curves):
    X, y, _ = curves
    X, y = X[:25], y[:25]
    L = rbf_kernel(y[:, None], gamma=0.5)
    L = L - L.mean(axis=0) - L.mean(axis=1)[:, None] + L.mean()
    K = rbf_kernel(X, gamma=0.2)
    Kc = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    inverse = np.linalg.inv(Kc + 0.5 * np.eye(25))
    M = np.zeros((6, 6))
    for i in range(25):
        D = np.array(
            [
                approx_fprime(X[i], lambda x, j=j: np.exp(-0.2 * ((x - X[j]) ** 2).sum()))
                for j in range(25)
            ]
        )
        M += D.T @ inverse @ L @ inverse @ D
    B = gradient_directions(X, L, 0.5, 2, 0.2, np.ones(25))
    leading = np.linalg.eigh(M)[1][:, ::-1][:, :2]
    assert_allclose(np.linalg.svd(B.T @ leading, compute_uv=False), 1, atol=1e-6)


def test_kdr_finds_the_plane_and_goes_down():
    X, y, directions = make_curves(200, 6, noise=0.1, random_state=0)
    start, end = (KDR(2, max_iter=k).fit(X, y) for k in (0, 100))
    assert end.objective_ < start.objective_
    assert_allclose(end.components_ @ end.components_.T, np.eye(2), atol=1e-10)
    cosines = np.linalg.svd(end.components_ @ directions.T, compute_uv=False)
    assert cosines.min() > 0.9
    assert KDR(2, max_iter=5, tol=0.1, cv=2).fit(X, y).held_out_score_ > 0.5


# -- as found by use --------------------------------------------------------------------------


def test_names_in_several_columns_of_objects(curves):
    X, y, _ = curves
    high, right = np.where(y > 0, "high", "low"), np.where(X[:, 0] > 0, "right", "left")
    both = np.column_stack([high, right]).astype(object)
    joined = np.char.add(high, right)
    for model in (SIR(2), KernelSIR(n_components=2)):
        Z = model.fit(X, both).transform(X)
        assert model.n_slices_ == 4
        assert_allclose(model.fit(X, joined).transform(X), Z, atol=1e-10)


def test_rows_far_from_zero_are_not_constant(curves):
    X, y, _ = curves
    for model in (SIR(2, cv=None), COIR(kernel="linear", cv=None), KDR(max_iter=2, tol=0.1)):
        Z = model.fit(X, y).transform(X)
        far = model.fit(X + 1e8, y).transform(X + 1e8)
        assert_allclose(far, Z, atol=1e-5 * np.abs(Z).max())
        with pytest.raises(ValueError, match="X is constant"):
            model.fit(np.full_like(X, 0.1 + 1e8), y)
    Z = COIR(n_components=1, kernel_y="linear", cv=None).fit(X, y + 1e8).transform(X)
    near = COIR(n_components=1, kernel_y="linear", cv=None).fit(X, y).transform(X)
    assert_allclose(Z, near, atol=1e-6)


@pytest.mark.parametrize("missing", ["mean", "ridge", "zero"])
def test_names_and_words_have_no_holes(missing, curves):
    X, y, _ = curves
    names = np.where(y > 0, "high", "low")
    texts = words(len(X), 0)[0]
    for outputs, options in ((names, {}), (texts, {"kernel_y": SpectrumKernel()})):
        Z = MORP(missing=missing, cv=None, **options).fit(X, outputs).transform(X)
        assert_allclose(Z, MORP(cv=None, **options).fit(X, outputs).transform(X), atol=1e-12)


@pytest.mark.parametrize("kernel_y", ["rbf", "linear"])
def test_names_on_the_output_side_of_kernel_cca(kernel_y, curves):
    X, y, _ = curves
    names = np.where(y > 1, "high", np.where(y > -1, "middle", "low"))
    classes, numbers = np.unique(names, return_inverse=True)
    model = KernelCCA(kernel_y=kernel_y, cv=None).fit(X, names)
    onehot = np.eye(3)[numbers]
    same = KernelCCA(kernel_y=kernel_y, cv=None).fit(X, onehot)
    assert_allclose(model.transform_y(names), same.transform_y(onehot), atol=1e-10)
    assert_allclose(model.transform_y(["low"]), same.transform_y(np.eye(3)[1:2]), atol=1e-10)
    assert np.isfinite(model.transform_y(["never seen"])).all()
    assert model.y_classes_ == [classes.tolist()]


def test_arrays_of_words_on_the_output_side_of_kernel_cca(curves):
    texts = words(60, 0)[0]
    model = KernelCCA(kernel_y=SpectrumKernel(), cv=None).fit(curves[0][:60], texts)
    assert_allclose(model.transform_y(np.array(texts)), model.transform_y(texts))


@pytest.mark.parametrize("selection", ["uniform", "kmeans", "cholesky", "leverage"])
def test_selection_of_landmarks(selection, curves):
    X, y, _ = curves
    options = {"solver": "features", "cv": None}
    for estimator in (KernelSIR, COIR, MORP, KernelCCA):
        exact = estimator(cv=None).fit(X, y)
        model = estimator(n_landmarks=140, selection=selection, **options).fit(X, y)
        if selection != "kmeans":
            assert_array_equal((model.points_[:, None] == X).all(-1).any(1), True)
        assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=0.05)
    with pytest.raises(ValueError, match="selection == 'best'"):
        COIR(selection="best").fit(X, y)


def test_means_of_objects_are_not_asked_for(curves):
    texts = words(60, 0)[0]
    X = curves[0][:60]
    options = {"solver": "features", "n_landmarks": 30, "selection": "kmeans", "cv": None}
    assert COIR(kernel_y=SpectrumKernel(), **options).fit(X, texts).points_.shape == (30, 6)
    with pytest.raises(ValueError, match="needs vectors"):
        COIR(kernel=SpectrumKernel(), **options).fit(texts, X[:, 0])


# -- output kernels that are none -------------------------------------------------------------


WITH_KERNELS = [COIR, KernelCCA, MORP, partial(KDR, max_iter=2, tol=0.1)]


def indefinite(y, below):
    """A Gram matrix whose smallest eigenvalue, once centred, is ``-below`` times the largest."""
    L = rbf_kernel(y[:, None])
    centre = np.eye(len(L)) - 1.0 / len(L)
    values, vectors = np.linalg.eigh(centre @ L @ centre)
    v = vectors[:, np.abs(vectors.sum(axis=0)) < 1e-6][:, 0]  # none of the constant
    return L - (v @ L @ v + below * values[-1]) * np.outer(v, v)


@pytest.mark.parametrize("make", WITH_KERNELS)
def test_indefinite_output_kernels(make, curves):
    """Section 1 holds for outputs as it does for inputs."""
    X, y = curves[0][:80], curves[1][:80]
    model = make(kernel_y="precomputed", cv=None)
    with pytest.raises(ValueError, match=r"output kernel matrix.* smallest eigenvalue is"):
        model.fit(X, indefinite(y, 0.5))
    with pytest.warns(UserWarning, match=r"output kernel matrix.* not positive semi-definite"):
        Z = model.fit(X, indefinite(y, 1e-3)).transform(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        same = model.fit(X, indefinite(y, 0.0)).transform(X)  # the eigenvalue cut off
    assert_allclose(Z, same, atol=1e-5)


@pytest.mark.parametrize("make", WITH_KERNELS)
@pytest.mark.parametrize(
    "kernel_y",
    [Metric("sigmoid", {"gamma": 1.0, "coef0": -3.0}), lambda a, b: -float(np.dot(a, b))],
    ids=["metric", "function"],
)
def test_indefinite_kernels_of_outputs(make, kernel_y, curves):
    X, y = curves[0][:80], curves[1][:80]
    with pytest.raises(ValueError, match=r"output kernel matrix.* is not positive semi-definite"):
        make(kernel_y=kernel_y, cv=None).fit(X, y[:, None])


@pytest.mark.parametrize("make", [COIR, KernelCCA, MORP])
def test_indefinite_output_kernels_by_landmarks(make, curves):
    X, y = curves[0][:80], curves[1][:80]
    model = make(kernel_y="precomputed", solver="features", cv=None)
    with pytest.raises(ValueError, match="not positive semi-definite"):
        model.fit(X, indefinite(y, 0.5))
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        model.fit(X, indefinite(y, 1e-3))


def test_single_precision_has_its_own_tolerance(curves):
    X, L = curves[0][:80], indefinite(curves[1][:80], 1e-4).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        COIR(kernel_y="precomputed", cv=None).fit(X, L)


def test_an_output_ridge_below_rounding(curves):
    X, y = curves[0][:80], curves[1][:80]
    small, none = (COIR(kernel_y="polynomial", alpha_y=a, cv=None).fit(X, y) for a in (1e-18, 0.0))
    assert_allclose(small.eigenvalues_, none.eigenvalues_, rtol=1e-6)


# -- no ridge ---------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["dense", "krylov", "features", "auto"])
@pytest.mark.parametrize("n_landmarks", [80, 60])
def test_full_rank_outputs_need_a_ridge(solver, n_landmarks, curves):
    X, y = curves[0][:80], curves[1][:80]
    model = COIR(kernel_y=RBF(1e4), alpha_y=0.0, solver=solver, n_landmarks=n_landmarks, cv=None)
    with pytest.raises(ValueError, match=r"alpha_y == 0 .*alpha_y='auto'"):
        model.fit(X, y)
    few = np.round(y)  # of which the kernel has a low rank
    model.fit(X, few)


@pytest.mark.filterwarnings("ignore:n_components == 2 is more than the rank 1")  # MORP of one y
@pytest.mark.parametrize(
    "model",
    [
        SIR(2),
        KernelSIR(2, "linear", alpha=0.0),
        KernelSIR(2, alpha=0.0, gamma=1.0),
        KernelSIR(2, alpha=0.0, gamma=1.0, solver="features"),
        COIR(kernel="linear", alpha=0.0),
        MORP(kernel="linear", alpha=0.0),
        MORP(kernel="linear", alpha=0.0, beta=1.0),
    ],
    ids=repr,
)
def test_as_many_directions_as_rows_are_said(model):
    """Section 10: without a ridge, p > n reproduces any outputs."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 50)), rng.normal(size=30)
    with pytest.warns(UserWarning, match=r"rank 29 on 30 samples.*fit any y"):
        model.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tall = rng.normal(size=(120, 3))
        SIR(2).fit(tall, tall[:, 0])
        MORP(kernel="linear", alpha=0.0, beta=0.0).fit(X, y)  # principal components, whatever y


@pytest.mark.parametrize("kind", [COIR, KernelCCA, MORP])
@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_outputs_whose_squares_are_out_of_range_are_named(kind, unit, curves):
    X, Y = curves[0], curves[1]
    with pytest.raises(ValueError, match=r"^y has entries of about 1e.* multiply y by"):
        kind().fit(X, Y * unit)
