"""Oracles: what scikit-learn's own models predict, sums written out, errors by name."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.decomposition import KernelPCA
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF as GPRBF
from sklearn.gaussian_process.kernels import ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

import isthmus.expansion.expansion
from isthmus import Expansion
from isthmus.kernels import RBF, Polynomial, gram


def matrix_kernel(A, B):
    return np.exp(-0.2 * ((A[:, None] - B[None]) ** 2).sum(axis=-1))


def two_samples(x, y, width=0.2):
    return float(np.exp(-width * ((x - y) ** 2).sum()))


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    return X[order[:100]], y[order[:100]], X[order[100:]]


KERNELS = ["rbf", "poly", "linear", "sigmoid"]
NUMBERS = [
    *(SVR(kernel=k) for k in KERNELS),
    SVR(kernel=matrix_kernel),
    SVR(kernel=RBF(0.3)),
    NuSVR(),
    *(KernelRidge(kernel=k, alpha=0.1) for k in ["rbf", "poly", "linear", "laplacian", "cosine"]),
    KernelRidge(kernel="rbf", gamma=0.7),
    KernelRidge(kernel=two_samples, kernel_params={"width": 0.4}),
    GaussianProcessRegressor(1.0 * GPRBF(1.5) + WhiteKernel(0.1), optimizer=None),
    GaussianProcessRegressor(
        2.0 * GPRBF([1.0, 2.0, 1.5, 0.7]), alpha=0.1, optimizer=None, normalize_y=True
    ),
]


@pytest.mark.parametrize("model", NUMBERS, ids=lambda m: f"{m}".split(" at 0x")[0][:60])
def test_predictions_of_regressors(model, iris):
    X, y, X_test = iris
    model.fit(X, y)
    f = Expansion.from_model(model)
    assert_allclose(f(X_test), model.predict(X_test), rtol=1e-8, atol=1e-8)
    assert f.n_outputs == 1 and f(X_test).ndim == 1


@pytest.mark.parametrize(
    "model",
    [
        KernelRidge(kernel="rbf"),
        GaussianProcessRegressor(alpha=0.1, optimizer=None, normalize_y=True),
    ],
)
def test_several_outputs(model, iris):
    X, y, X_test = iris
    model.fit(X, np.column_stack([y, X[:, 0] * 10]))
    f = Expansion.from_model(model)
    assert_allclose(f(X_test), model.predict(X_test), rtol=1e-6, atol=1e-6)
    assert f.n_outputs == 2


@pytest.mark.parametrize("two", [True, False])
@pytest.mark.parametrize(
    "model", [*(SVC(kernel=k) for k in KERNELS), SVC(kernel=matrix_kernel), NuSVC(nu=0.2)]
)
def test_decision_functions_of_every_pair(model, two, iris):
    X, y, X_test = iris
    y = (y == 1).astype(int) if two else y
    model.set_params(decision_function_shape="ovo").fit(X, y)
    assert_allclose(Expansion.from_model(model)(X_test), model.decision_function(X_test), atol=1e-9)


def test_one_class_and_components(iris):
    X, _, X_test = iris
    outliers = OneClassSVM(nu=0.3).fit(X)
    assert_allclose(
        Expansion.from_model(outliers)(X_test), outliers.decision_function(X_test), atol=1e-9
    )
    for kernel, params in [
        ("rbf", None),
        ("poly", None),
        ("linear", None),
        (two_samples, {"width": 1.0}),
    ]:
        components = KernelPCA(3, kernel=kernel, kernel_params=params).fit(X)
        f = Expansion.from_model(components)
        assert_allclose(f(X_test), components.transform(X_test), atol=1e-9)
        assert_allclose(f.values, f.without_intercept(X), atol=1e-9)  # known for nothing


def latent_mean(model, X):
    """k(x, X_train) (t - pi), which scikit-learn has a public name for from 1.7 on."""
    binary = getattr(model, "base_estimator_", model)
    return binary.kernel_(X, binary.X_train_) @ (binary.y_train_ - binary.pi_)


def test_latent_mean_of_gaussian_process_classifiers(iris):
    X, y, X_test = iris
    two = GaussianProcessClassifier(1.0 * GPRBF(1.0), optimizer=None).fit(X, y == 1)
    f = Expansion.from_model(two)
    assert_allclose(f(X_test), latent_mean(two, X_test), atol=1e-9)
    three = GaussianProcessClassifier(1.0 * GPRBF(1.0), optimizer=None).fit(X, y)
    parts = [latent_mean(binary, X_test) for binary in three.base_estimator_.estimators_]
    assert_allclose(Expansion.from_model(three)(X_test), np.stack(parts, axis=1), atol=1e-9)
    own_kernels = GaussianProcessClassifier(1.0 * GPRBF(1.0)).fit(X, y)
    with pytest.raises(ValueError, match=r"kernels or points of their own.*optimizer=None"):
        Expansion.from_model(own_kernels)
    for binary in own_kernels.base_estimator_.estimators_:  # what the message advises
        g = Expansion.from_model(binary)
        assert_allclose(g(X_test), latent_mean(binary, X_test), atol=1e-7)


@pytest.mark.parametrize("model", [SVR(kernel="precomputed"), KernelRidge(kernel="precomputed")])
def test_precomputed(model, iris):
    X, y, X_test = iris
    model.fit(matrix_kernel(X, X), y)
    f = Expansion.from_model(model)
    K = matrix_kernel(X_test, X)
    assert_allclose(f(K), model.predict(K), atol=1e-9)
    with pytest.raises(ValueError, match=r"X has shape \(50, 3\)"):
        f(K[:, :3])


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", RBF(), 2.0 * RBF()], ids=repr)
def test_open_numbers_are_set_once_from_the_points(kernel, iris, monkeypatch):
    X, y, X_test = iris
    f = Expansion(X, y, kernel)
    whole = f(X_test)
    assert_allclose(whole, gram(f.kernel, X_test, X) @ y, rtol=1e-12)
    assert_allclose(f(X_test[:1]), whole[:1], rtol=1e-12)
    monkeypatch.setattr(isthmus.expansion.expansion, "_KERNEL_VALUES", 350)
    assert_allclose(f(X_test), whole, rtol=1e-12)


WHITE = WhiteKernel(0.3)
NOISY = {
    "sum times a constant": ((GPRBF() + WHITE) * ConstantKernel(2.0), lambda K: 2.0 * K),
    "constant times noise": (ConstantKernel(2.0) * WHITE + GPRBF(), lambda K: K),
    "power of a sum": ((GPRBF() + WHITE) ** 2, lambda K: K**2),
    "noise times a kernel": (WHITE * GPRBF() + GPRBF(), lambda K: K),
    "kernels of ours": ((RBF(0.5) + WHITE) ** 2, lambda K: K**2),
    "power of noise": (WHITE**2 + GPRBF(), lambda K: K),
    "noise alone": (WHITE, lambda K: 0.0 * K),
}


@pytest.mark.parametrize("case", NOISY)
def test_noise_is_left_out_wherever_it_stands(case, iris):
    kernel, direct = NOISY[case]
    X, y, X_test = iris
    f = Expansion(X, y, kernel, values=np.full(100, np.nan))
    assert f.values is None  # they may be those of the noise too
    for A in (X, X_test):
        assert_allclose(f(A), direct(gram(RBF(0.5), A, X)) @ y, atol=1e-12)
    assert_allclose(gram(f.kernel, X), direct(gram(RBF(0.5), X)), atol=1e-12)  # the diagonal too
    assert_allclose(f.kernel.diag(X), direct(np.ones(100)), atol=1e-12)


def test_tables_as_points_and_rows(iris):
    pandas = pytest.importorskip("pandas")
    X, y, X_test = iris
    f = Expansion(pandas.DataFrame(X), y, RBF(0.3))
    assert_allclose(f(pandas.DataFrame(X_test)), Expansion(X, y, RBF(0.3))(X_test), rtol=1e-12)


def test_one_column_of_outputs_is_flat_where_the_model_makes_it_so(iris):
    X, y, X_test = iris
    for normalize in (True, False):
        model = GaussianProcessRegressor(alpha=0.1, optimizer=None, normalize_y=normalize)
        model.fit(X, y[:, None])
        f = Expansion.from_model(model)
        assert f(X_test).shape == model.predict(X_test).shape == (50,)
        assert_allclose(f(X_test), model.predict(X_test), atol=1e-9)


def test_blocks_and_the_sum_written_out(iris, monkeypatch):
    X, _, X_test = iris
    a = np.linspace(-1, 1, 200).reshape(100, 2)
    f = Expansion(X, a, Polynomial(2, 0.1, 1.0), [0.5, -1.0])
    b = np.array([0.5, -1.0])
    direct = [sum(a[i] * (0.1 * x @ X[i] + 1.0) ** 2 for i in range(100)) + b for x in X_test]
    assert_allclose(f(X_test), direct, rtol=1e-12)
    monkeypatch.setattr(isthmus.expansion.expansion, "_KERNEL_VALUES", 350)  # three rows at a time
    assert_allclose(f(X_test), direct, rtol=1e-12)
    assert_allclose(pickle.loads(pickle.dumps(f))(X_test), direct, rtol=1e-12)


def test_bad_arguments(iris):
    X, y, _ = iris
    with pytest.raises(ValueError, match="coef has 99 rows, points has 100"):
        Expansion(X, np.ones(99), RBF(1.0))
    with pytest.raises(ValueError, match=r"coef\[3\] == nan"):
        Expansion(X, np.where(np.arange(100) == 3, np.nan, 1.0), RBF(1.0))
    for model in (SVR(), KernelRidge(), GaussianProcessRegressor(), GaussianProcessClassifier()):
        with pytest.raises(NotFittedError):
            Expansion.from_model(model)
    with pytest.raises(TypeError, match="Ridge is not a known kernel model"):
        Expansion.from_model(Ridge().fit(X, y))
