"""Landmark and Fourier features: inner products against the kernel."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.gaussian_process import kernels as gp
from sklearn.kernel_approximation import Nystroem

from isthmus import KernelMap, Landmarks
from isthmus.features import FourierFeatures
from isthmus.kernels import RBF, L2Laplacian, Laplacian, Linear, Polynomial, gram
from isthmus.kernels.distinct import distinct_samples

SELECTIONS = ["uniform", "kmeans", "cholesky", "leverage"]
KERNELS = [RBF(0.3), Laplacian(0.3), Polynomial(2), Linear(), gp.RBF([1.0, 2.0, 3.0])]


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(50, 3))


@pytest.fixture
def new():
    return np.random.default_rng(1).normal(size=(9, 3))


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_exact_where_one_of_two_is_a_landmark(selection, kernel, X, new):
    model = Landmarks(12, kernel, selection=selection, random_state=0).fit(X)
    Fz, F = model.transform(model.points_), model.transform(new)
    scale = gram(kernel, X).max()
    assert_allclose(F @ Fz.T, gram(kernel, new, model.points_), atol=1e-9 * scale)
    assert_allclose(np.triu(Fz, 1), 0, atol=1e-7 * scale)  # phi_m of the landmarks is L itself
    assert (np.einsum("ij,ij->i", F, F) <= gram(kernel, new).diagonal() + 1e-8 * scale).all()


@pytest.mark.parametrize("selection", ["uniform", "cholesky", "leverage"])
def test_all_points_give_the_kernel_back(selection, X):
    F = Landmarks(50, RBF(2.0), selection=selection, random_state=0).fit_transform(X)
    assert_allclose(F @ F.T, RBF(2.0)(X), atol=1e-10)


def test_peer(X, new):
    ours = Landmarks(15, RBF(0.3), random_state=0).fit(X)
    theirs = Nystroem("rbf", gamma=0.3, n_components=15, random_state=0).fit(ours.points_)
    F, P = ours.transform(new), theirs.transform(new)
    assert_allclose(F @ F.T, P @ P.T, atol=1e-9)


def test_more_landmarks_come_nearer(X):
    K = RBF(0.3)(X)
    errors = []
    for m in (3, 10, 25, 50):
        F = Landmarks(m, RBF(0.3), selection="cholesky").fit_transform(X)
        errors.append(np.abs(F @ F.T - K).max())
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 1e-8


def test_more_landmarks_than_points(X):
    with pytest.warns(UserWarning, match="60 landmarks are more than the 50 samples"):
        assert Landmarks(60, RBF(2.0)).fit(X).n_components_ == 50


def test_dependent_landmarks_are_dropped(X):
    model = Landmarks(20, Linear(), random_state=0).fit(X)
    assert model.n_components_ == 3
    assert_allclose(model.transform(X) @ model.transform(X).T, X @ X.T, atol=1e-9)
    doubled = np.vstack([X[:8]] * 5)
    assert Landmarks(40, RBF(2.0), random_state=0).fit(doubled).n_components_ <= 8


def test_precomputed(X, new):
    X = X[
        distinct_samples(X, None)[0]
    ]  # what is drawn among rows depends on the rows, not on their place
    K = RBF(0.3)(X)
    direct = Landmarks(10, RBF(0.3), random_state=0).fit(X)
    before = K.copy()
    Landmarks(50, "precomputed", random_state=0).fit_transform(K)
    assert_array_equal(K, before)
    model = Landmarks(10, "precomputed", random_state=0).fit(K)
    assert_array_equal(model.points_, direct.indices_)
    assert_allclose(model.transform(RBF(0.3)(new, X)), direct.transform(new), atol=1e-12)
    with pytest.raises(ValueError, match=r"49.* 50"):
        model.transform(K[:, 1:])


def test_objects():
    words = ["kernel", "colonel", "kennel", "map", "maple", "pals"]

    def common(a, b):
        return float(sum(min(a.count(c), b.count(c)) for c in set(a)))

    model = Landmarks(6, common).fit(words)
    F = model.transform(words)
    assert_allclose(F @ F.T, gram(common, words), atol=1e-10)
    assert set(model.points_) == set(words)


def test_blocks_are_the_whole(X, monkeypatch):
    model = Landmarks(10, RBF(0.3), random_state=0).fit(X)
    whole = model.transform(X)
    monkeypatch.setattr("isthmus.features.landmarks.LANDMARK_BYTES", 8 * 10 * 7)
    assert_allclose(model.transform(X), whole, atol=1e-14)


def test_float32(X):
    model = Landmarks(10, random_state=0)
    fine = model.fit_transform(X)
    coarse = model.fit_transform(X.astype(np.float32))
    assert coarse.dtype == np.float32
    assert_allclose(coarse, fine, atol=1e-3)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_components": 0}, "n_components == 0"),
        ({"n_components": None}, "n_components == None"),
        ({"selection": "best"}, "selection == 'best'"),
        ({"kernel": Linear(), "n_components": 2}, "zero for every landmark"),
    ],
)
def test_errors(params, message):
    X = np.zeros((5, 2))
    with pytest.raises(ValueError, match=message):
        Landmarks(**params).fit(X)


# -- random waves -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [RBF(0.3), Laplacian(0.3), L2Laplacian(0.4)], ids=repr)
def test_waves_are_the_kernel_on_average(kernel, X):
    model = FourierFeatures(40000, kernel, random_state=0).fit(X)
    F = model.transform(X)
    assert_allclose((F**2).sum(axis=1), 1, rtol=1e-12)
    assert_allclose(F @ F.T, kernel(X), atol=0.045)  # six standard errors: 1e-6 for all entries


@pytest.mark.parametrize("kernel", [RBF(0.3), Laplacian(0.3), L2Laplacian(0.4)], ids=repr)
def test_sixteen_times_the_waves_halve_the_error_twice(kernel, X):
    def squared_error(n_waves, seed):
        F = FourierFeatures(2 * n_waves, kernel, random_state=seed).fit_transform(X)
        return ((F @ F.T - kernel(X)) ** 2).mean()

    coarse, fine = (np.mean([squared_error(n, seed) for seed in range(40)]) for n in (50, 800))
    assert 3 < np.sqrt(coarse / fine) < 5.3


def test_waves_are_of_distances_only(X):
    with pytest.raises(ValueError, match="rbf, laplacian and l2_laplacian"):
        FourierFeatures(kernel=Linear()).fit(X)


def indefinite(n, below):
    rng = np.random.default_rng(0)
    K = RBF(0.3)(rng.normal(size=(n, 3)))
    values, vectors = np.linalg.eigh(K)
    return K - (values[0] + below * values[-1]) * np.outer(vectors[:, 0], vectors[:, 0])


@pytest.mark.parametrize(("n", "m"), [(60, 60), (60, 20), (600, 100)])
def test_indefinite_matrices(n, m):
    """The rules of kernel maps: a warning a little below zero, an error further down."""
    K = indefinite(n, 0.3)
    with pytest.raises(ValueError, match=r"smallest eigenvalue is .*indefinite='clip'"):
        Landmarks(m, "precomputed", random_state=0).fit(K)
    with pytest.raises(ValueError, match="not positive semi-definite"):
        KernelMap(kernel="precomputed", solver="landmarks", n_landmarks=m, random_state=0).fit(K)
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        Landmarks(m, "precomputed", indefinite="clip", random_state=0).fit(K)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Landmarks(m, "precomputed", random_state=0).fit(indefinite(n, 1e-9))


def test_a_little_indefinite_is_a_warning():
    K = indefinite(200, 1e-3)
    with pytest.warns(UserWarning, match=r"smallest eigenvalue is .*its largest"):
        F = Landmarks(200, "precomputed").fit_transform(K)
    assert_allclose(F @ F.T, K, atol=0.1)  # 0.7 where landmarks below the negative part are kept


@pytest.mark.parametrize(
    "kernel", ["sigmoid", lambda x, y: -float(x @ y)], ids=["name", "function"]
)
def test_indefinite_kernels(kernel, X):
    with pytest.raises(ValueError, match="not positive semi-definite"):
        Landmarks(30, kernel, random_state=0).fit(X)
