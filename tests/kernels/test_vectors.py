"""Every kernel of vectors against its formula, scikit-learn, finite differences and its own protocol."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as gp
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC

from isthmus.kernels import (
    RBF,
    Cosine,
    Exponential,
    Gaussian,
    HistogramIntersection,
    L2Laplacian,
    Laplacian,
    Linear,
    Normalised,
    Polynomial,
    Standardised,
    gram,
)
from isthmus.kernels.base import TILE
from isthmus.kernels.resolve import resolve_kernel

# A kernel and the same of two vectors, written a second time.
FORMULAS = {
    "rbf": (RBF(0.3), lambda x, y: np.exp(-0.3 * ((x - y) ** 2).sum())),
    "laplacian": (Laplacian(0.3), lambda x, y: np.exp(-0.3 * np.abs(x - y).sum())),
    "l2_laplacian": (L2Laplacian(0.4), lambda x, y: np.exp(-0.4 * np.sqrt(((x - y) ** 2).sum()))),
    "cubic": (Polynomial(3, 0.5, 1.2), lambda x, y: (0.5 * x @ y + 1.2) ** 3),
    "power 5": (Polynomial(5, 0.5, 0.0), lambda x, y: (0.5 * x @ y) ** 5),
    "affine": (Polynomial(1, 2.0, 0.5), lambda x, y: 2 * x @ y + 0.5),
    "linear": (Linear(), lambda x, y: x @ y),
    "cosine": (Cosine(), lambda x, y: x @ y / np.sqrt(x @ x * (y @ y))),
    "exponential": (Exponential(0.2), lambda x, y: np.exp(0.2 * x @ y)),
    "histogram": (HistogramIntersection(), lambda x, y: np.minimum(x, y).sum()),
    "sum": (RBF(0.3) + 2.0, lambda x, y: np.exp(-0.3 * ((x - y) ** 2).sum()) + 2),
    "product": (RBF(0.3) * Linear(), lambda x, y: np.exp(-0.3 * ((x - y) ** 2).sum()) * (x @ y)),
    "scaled": (0.5 * Linear(), lambda x, y: 0.5 * x @ y),
    "power": (Polynomial(1, 1.0, 1.0) ** 2, lambda x, y: (x @ y + 1) ** 2),
    "normalised": (
        Normalised(Polynomial(2, 0.5, 1.0)),
        lambda x, y: (0.5 * x @ y + 1) ** 2 / ((0.5 * x @ x + 1) * (0.5 * y @ y + 1)),
    ),
    "standardised": (
        Standardised(RBF(0.3), np.array([1.0, -2.0, 0.5, 0.0]), np.array([0.5, 3.0, 1.0, 2.0])),
        lambda x, y: np.exp(-0.3 * (((x - y) / [0.5, 3.0, 1.0, 2.0]) ** 2).sum()),
    ),
    "standardised products": (
        Standardised(Linear(), np.array([1.0, -2.0, 0.5, 0.0]), np.array([0.5, 3.0, 1.0, 2.0])),
        lambda x, y: ((x - [1, -2, 0.5, 0]) / [0.25, 9.0, 1.0, 4.0]) @ (y - [1, -2, 0.5, 0]),
    ),
    "gaussian": (
        Gaussian(Polynomial(2, 0.5, 1.0), 0.1),
        lambda x, y: np.exp(
            -0.1 * ((0.5 * x @ x + 1) ** 2 + (0.5 * y @ y + 1) ** 2 - 2 * (0.5 * x @ y + 1) ** 2)
        ),
    ),
}
KERNELS = {name: kernel for name, (kernel, _) in FORMULAS.items()}
GRADIENTS = {name: kernel for name, kernel in KERNELS.items() if kernel.has_input_gradient}


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def X(rng):
    return rng.uniform(0.1, 2.0, size=(12, 4))


@pytest.fixture
def Y(rng):
    return rng.uniform(0.1, 2.0, size=(7, 4))


def by_pairs(function, X, Y):
    return np.array([[function(x, y) for y in Y] for x in X])


@pytest.mark.parametrize("name", FORMULAS)
def test_gram_is_the_formula(name, X, Y):
    kernel, function = FORMULAS[name]
    assert_allclose(kernel(X, Y), by_pairs(function, X, Y), rtol=1e-12)
    assert_allclose(kernel(X), by_pairs(function, X, X), rtol=1e-12)
    assert_allclose(kernel.diag(X), [function(x, x) for x in X], rtol=1e-12)


@pytest.mark.parametrize("name", KERNELS)
def test_square_matrices_are_symmetric_and_have_the_diagonal(name, X):
    K = KERNELS[name](X)
    assert_array_equal(K, K.T)
    assert_allclose(K.diagonal(), KERNELS[name].diag(X), rtol=1e-15)
    assert KERNELS[name].positive_semidefinite
    assert np.linalg.eigvalsh(K)[0] > -1e-12 * len(K) * K.max()


@pytest.mark.parametrize("name", KERNELS)
def test_tiles_meet(name, rng):
    X = rng.uniform(0.1, 1.0, size=(2 * TILE + 3, 4))
    K = KERNELS[name](X)
    assert_array_equal(K, K.T)
    few = [0, TILE - 1, TILE, 2 * TILE, len(X) - 1]
    assert_allclose(K[few], KERNELS[name](X[few], X), rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("rbf", {"gamma": 0.3}),
        ("laplacian", {"gamma": 0.3}),
        ("polynomial", {"gamma": 0.3, "degree": 4, "coef0": 2.0}),
        ("linear", {}),
        ("cosine", {}),
    ],
)
def test_peer(name, params, X, Y):
    for other in (None, Y):
        theirs = pairwise_kernels(X, other, metric=name, **params)
        ours = gram(resolve_kernel(name, **params), X, other)
        assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)


def test_a_few_far_rows_cost_the_others_no_digits():
    """They pull the mean away, from which squared distances are taken."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 30))
    X[:4] = 1e6 * (X[:4] + 3)
    expected = np.exp(-0.1 * cdist(X, X, "sqeuclidean"))
    assert_allclose(RBF(0.1)(X), expected, atol=1e-9)
    assert_allclose(RBF(0.1)(X[20:], X), expected[20:], atol=1e-9)


def test_a_common_offset_costs_no_digits(X):
    assert_allclose(RBF(0.5)(X + 2.0**26), RBF(0.5)(X), rtol=1e-6)
    far, near = RBF(0.5)(X + 1e4, X[:3] + 1e4), RBF(0.5)(X, X[:3])
    assert_allclose(far, near, rtol=1e-9)


def test_scaling_of_the_data_is_scaling_of_gamma(X):
    assert_allclose(RBF(0.5e-16)(1e8 * X), RBF(0.5)(X), rtol=1e-12)
    assert_allclose(Laplacian(0.5e-8)(1e8 * X), Laplacian(0.5)(X), rtol=1e-12)


@pytest.mark.parametrize("name", KERNELS)
def test_float32_is_kept(name, X, Y):
    kernel, function = FORMULAS[name]
    for other in (None, Y):
        K = kernel(X.astype(np.float32), None if other is None else other.astype(np.float32))
        if "sum" not in name:
            assert K.dtype == np.float32
        assert_allclose(K, by_pairs(function, X, X if other is None else other), rtol=3e-5)
    assert kernel(X.astype(np.float32), Y).dtype == np.float64


@pytest.mark.parametrize("name", GRADIENTS)
def test_input_gradients_against_differences(name, X, Y, rng):
    kernel, function = FORMULAS[name]
    W = rng.normal(size=(len(Y), len(X)))
    step = 1e-5
    numeric, numeric_diagonal = np.empty_like(Y), np.empty_like(Y)
    for j in range(Y.shape[1]):
        up, down = Y.copy(), Y.copy()
        up[:, j] += step
        down[:, j] -= step
        change = (by_pairs(function, up, X) - by_pairs(function, down, X)) / (2 * step)
        numeric[:, j] = (W * change).sum(axis=1)
        ends = [[function(z, z) for z in side] for side in (up, down)]
        numeric_diagonal[:, j] = (np.array(ends[0]) - np.array(ends[1])) / (2 * step)
    assert_allclose(kernel.weighted_gradient(Y, X, W), numeric, rtol=1e-6, atol=1e-7)
    assert_allclose(kernel.diagonal_gradient(Y), numeric_diagonal, rtol=1e-6, atol=1e-7)


def test_gradients_at_a_sample_are_finite(X):
    for kernel in GRADIENTS.values():
        assert np.isfinite(kernel.weighted_gradient(X, X, np.ones((len(X), len(X))))).all()


def test_a_kernel_without_gradient_says_so(X):
    with pytest.raises(NotImplementedError, match="HistogramIntersection"):
        HistogramIntersection().weighted_gradient(X, X, np.ones((12, 12)))


@pytest.mark.parametrize("name", KERNELS)
def test_gradients_of_hyperparameters_against_differences(name, X):
    kernel = KERNELS[name]
    K, gradient = kernel(X, eval_gradient=True)
    assert gradient.shape == (len(X), len(X), kernel.n_dims)
    assert_allclose(K, kernel(X), rtol=1e-14)
    for i in range(kernel.n_dims):
        step = np.zeros(kernel.n_dims)
        step[i] = 1e-5
        up, down = (kernel.clone_with_theta(kernel.theta + s)(X) for s in (step, -step))
        assert_allclose(gradient[:, :, i], (up - down) / 2e-5, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", KERNELS)
def test_protocol(name, X):
    kernel = KERNELS[name]
    assert clone(kernel) == kernel
    assert_array_equal(pickle.loads(pickle.dumps(kernel))(X), kernel(X))
    assert kernel.bounds.shape[0] == kernel.n_dims
    assert type(kernel).__name__ in repr(kernel) or " " in repr(kernel)
    assert isinstance(kernel.is_stationary(), bool)
    assert kernel.requires_vector_input
    moved = kernel.clone_with_theta(kernel.theta)
    assert_allclose(moved(X), kernel(X), rtol=1e-12)


def test_algebra_keeps_gradients_and_mixes_with_scikit_learn(X):
    ours = 2 * RBF(0.3) + Linear() * Linear()
    assert ours.has_input_gradient and ours.positive_semidefinite
    mixed = RBF(0.5) + gp.WhiteKernel(0.1)
    assert not mixed.has_input_gradient
    assert_allclose(mixed(X), RBF(0.5)(X) + 0.1 * np.eye(len(X)), rtol=1e-15)
    assert not (-1.0 * Linear()).positive_semidefinite


# -- histograms ---------------------------------------------------------------------------------


def test_whole_counts_give_whole_values(rng):
    counts = rng.integers(0, 4, size=(20, 6)).astype(float)
    other = rng.integers(0, 4, size=(5, 6)).astype(float)
    expected = np.minimum(counts[:, None], other[None]).sum(axis=2)
    assert_array_equal(HistogramIntersection()(counts, other), expected)
    shifted = HistogramIntersection()(counts + 0.25, other + 0.25)
    assert_allclose(shifted, expected + 6 * 0.25, rtol=1e-14)
    empty = np.zeros((3, 6))
    assert_array_equal(HistogramIntersection()(empty, counts), np.zeros((3, 20)))


def test_its_squared_distance_is_the_l1_distance(X):
    K = HistogramIntersection()(X)
    d = K.diagonal()
    l1 = np.abs(X[:, None] - X[None]).sum(axis=2)
    assert_allclose(d[:, None] + d - 2 * K, l1, atol=1e-13)


def test_negative_histograms_are_refused(X):
    X[3, 1] = -0.5
    with pytest.raises(ValueError, match=r"X\[3, 1\] == -0.5"):
        HistogramIntersection()(X)


# -- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (RBF(None), "gamma == None"),
        (RBF(-1.0), "gamma == -1.0"),
        (Gaussian(Linear()), "gamma == None in Gaussian"),
        (Gaussian(Linear(), 0.0), "gamma == 0"),
        (Laplacian(0.0), "gamma == 0"),
        (Polynomial(0), "degree == 0"),
        (Polynomial(2.5), "degree == 2.5"),
        (Polynomial(2, coef0=-1.0), "coef0 == -1"),
    ],
)
def test_bad_parameters(kernel, message, X):
    with pytest.raises(ValueError, match=message):
        kernel(X)


def test_widths_must_agree(X):
    with pytest.raises(ValueError, match="4 columns, Y has 3"):
        RBF()(X, X[:, :3])


def test_even_powers_have_no_inverse():
    with pytest.raises(ValueError, match="degree == 2"):
        Polynomial(2).profile_inverse(np.ones(1))


@pytest.mark.parametrize(
    "kernel", [Linear(), Polynomial(3, 0.5, 0.2), Polynomial(1, 2.0, 0.0), Exponential(0.7)]
)
def test_profiles_invert(kernel):
    t = np.linspace(-2, 2, 9)
    assert_allclose(kernel.profile_inverse(kernel.profile(t.copy())), t, atol=1e-12)


def test_zero_rows_have_no_direction():
    X = np.array([[0.0, 0.0], [1.0, 2.0]])
    assert_array_equal(Cosine()(X), [[0, 0], [0, 1]])
    assert_array_equal(Cosine().diag(X), [0, 1])
    assert_allclose(Normalised(Linear())(X), [[0, 0], [0, 1]])


# -- inside scikit-learn --------------------------------------------------------------------------

INSIDE = {
    name: KERNELS[name]
    for name in ("rbf", "histogram", "l2_laplacian", "sum", "normalised", "gaussian")
}


@pytest.mark.parametrize("name", INSIDE)
def test_gaussian_process(name, X, rng):
    y = np.sin(X).sum(axis=1)
    model = GaussianProcessRegressor(INSIDE[name], alpha=1e-3, optimizer=None).fit(X, y)
    K = INSIDE[name](X)
    coef = np.linalg.solve(K + 1e-3 * np.eye(len(X)), y)
    assert_allclose(model.predict(X[:4] + 0.1), INSIDE[name](X[:4] + 0.1, X) @ coef, rtol=1e-7)
    tuned = GaussianProcessRegressor(INSIDE[name], alpha=1e-2).fit(X, y)
    start = model.set_params(alpha=1e-2).fit(X, y).log_marginal_likelihood_value_
    assert tuned.log_marginal_likelihood_value_ >= start - 1e-9


@pytest.mark.parametrize("name", INSIDE)
def test_kernel_ridge_and_svc(name, X):
    y = np.sin(X).sum(axis=1)
    ridge = KernelRidge(kernel=INSIDE[name], alpha=0.1).fit(X, y)
    coef = np.linalg.solve(INSIDE[name](X) + 0.1 * np.eye(len(X)), y)
    assert_allclose(ridge.dual_coef_, coef, rtol=1e-8)
    labels = (y > np.median(y)).astype(int)
    ours = SVC(kernel=INSIDE[name], tol=1e-11).fit(X, labels)
    theirs = SVC(kernel="precomputed", tol=1e-11).fit(INSIDE[name](X), labels)
    assert_allclose(ours.decision_function(X), theirs.decision_function(INSIDE[name](X)), atol=1e-9)


@pytest.mark.parametrize("kernel", [RBF(0.3), L2Laplacian(0.3)])
def test_profiles_of_the_distance(kernel, X, Y):
    squared = ((X[:, None] - Y) ** 2).sum(axis=2)
    assert_allclose(kernel.profile(squared), kernel(X, Y), rtol=1e-9)
    assert_allclose(kernel.profile_inverse(kernel.profile(squared)), squared, rtol=1e-9)
    step = 1e-6 * squared
    slope = (kernel.profile(squared + step) - kernel.profile(squared - step)) / (2 * step)
    assert_allclose(kernel.profile_derivative(squared), slope, rtol=1e-5)
    assert np.isfinite(kernel.profile_inverse(np.array([-1.0, 0.0, 2.0]))).all()
