"""The one door: every way to name a kernel gives the same matrix, whole, in pieces or side by side."""

from inspect import signature

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics.pairwise import (
    PAIRWISE_KERNEL_FUNCTIONS,
    pairwise_kernels,
    rbf_kernel,
)

from isthmus.kernels import (
    RBF,
    Function,
    L2Laplacian,
    Laplacian,
    Linear,
    Metric,
    Polynomial,
    Precomputed,
    center_train,
    check_precomputed,
    gram,
    gram_blocks,
    median_gamma,
    shifted_gram,
)
from isthmus.kernels.checks import check_psd, extreme_eigenvalues, missing_part
from isthmus.kernels.gram_matrix import gram_diagonal
from isthmus.kernels.resolve import resolve_kernel


@pytest.fixture
def X():
    return np.random.default_rng(0).uniform(0.1, 2.0, size=(23, 3))


@pytest.fixture
def Y():
    return np.random.default_rng(1).uniform(0.1, 2.0, size=(9, 3))


def dot(x, y, power=1):
    return float(x @ y) ** power


FOREIGN = [
    gp.RBF(0.7),
    gp.RBF([0.7, 1.0, 2.0]),
    gp.Matern(1.3, nu=0.5),
    gp.Matern(1.3, nu=1.5),
    gp.Matern(1.3, nu=np.inf),
    gp.DotProduct(0.6),
    gp.RationalQuadratic(),
    gp.RBF(2.0) * 3.0 + gp.DotProduct(),
    gp.RBF(2.0) ** 2,
    gp.RBF(2.0) + gp.WhiteKernel(0.5),
    gp.PairwiseKernel(gamma=0.5, metric="rbf"),
    gp.PairwiseKernel(gamma=0.5, metric="chi2"),
]


@pytest.mark.parametrize("kernel", FOREIGN, ids=repr)
def test_scikit_learns_kernels_keep_their_values(kernel, X, Y):
    ours = resolve_kernel(kernel, X)
    assert_allclose(gram(ours, X), kernel(X), rtol=1e-12, atol=1e-13)
    assert_allclose(gram(ours, X, Y), kernel(X, Y), rtol=1e-12, atol=1e-13)
    assert_allclose(gram_diagonal(ours, X), kernel.diag(X), rtol=1e-12)
    assert_allclose(gram(kernel, X, Y), kernel(X, Y), rtol=1e-12, atol=1e-13)


def test_equals_of_ours_take_their_place():
    assert resolve_kernel(gp.RBF(2.0)) == RBF(0.125)
    assert resolve_kernel(gp.Matern(2.0, nu=0.5)) == L2Laplacian(0.5)
    assert resolve_kernel(gp.DotProduct(2.0)) == Polynomial(1, 1.0, 4.0)
    assert resolve_kernel(3.0 * gp.RBF(2.0) + gp.DotProduct()).has_input_gradient


@pytest.mark.parametrize("name", ["chi2", "sigmoid", "additive_chi2"])
def test_other_metrics_by_name(name, X, Y):
    params = {} if name == "additive_chi2" else {"gamma": 0.4}
    kernel = resolve_kernel(name, X, **params)
    assert isinstance(kernel, Metric)
    assert_allclose(gram(kernel, X, Y), pairwise_kernels(X, Y, metric=name, **params), rtol=1e-13)
    assert_allclose(gram_diagonal(kernel, X), np.diag(gram(kernel, X)), rtol=1e-13)


def test_functions_of_two_samples(X, Y):
    assert_allclose(gram(dot, X, Y), X @ Y.T, rtol=1e-13)
    squared = resolve_kernel(dot, power=2)
    assert isinstance(squared, Function)
    assert_allclose(gram(squared, X), (X @ X.T) ** 2, rtol=1e-13)
    assert_allclose(gram_diagonal(squared, X), ((X**2).sum(axis=1)) ** 2, rtol=1e-13)


PAIRWISE = [
    (function, params)
    for function in sorted(set(PAIRWISE_KERNEL_FUNCTIONS.values()), key=lambda f: f.__name__)
    for params in ({}, {"gamma": 0.4})
    if not params or "gamma" in signature(function).parameters
]


@pytest.mark.parametrize(("function", "params"), PAIRWISE)
def test_pairwise_functions_are_used_as_they_are(function, params, X, Y):
    """The median rule is for names: a function has its own defaults."""
    for kernel in (
        resolve_kernel(function, X, **params),
        resolve_kernel(function, **params),
    ):
        assert_allclose(gram(kernel, Y, X), function(Y, X, **params), rtol=1e-12)
        assert_allclose(gram_diagonal(kernel, X), np.diag(function(X, X, **params)), rtol=1e-12)
    if not params:
        assert_allclose(gram(function, X), function(X), rtol=1e-12, atol=1e-15)
        assert_allclose(gram(function, Y[:1], X), function(Y[:1], X), rtol=1e-12)
    assert isinstance(resolve_kernel(rbf_kernel, X), RBF)


def test_lists_of_objects():
    def common_letters(a, b):  # a local function travels by value: no worker imports this file
        return float(sum(min(a.count(c), b.count(c)) for c in set(a)))

    words = ["kernel", "colonel", "kennel"]
    K = gram(common_letters, words)
    assert_array_equal(K[0], [6, 3, 5])
    assert_array_equal(gram(common_letters, words, ["lee"]), [[3], [2], [3]])
    assert_array_equal(gram(common_letters, words, n_jobs=2), K)
    assert_array_equal(gram(common_letters, words, block_bytes=16), K)


@pytest.mark.parametrize("kernel", [RBF(0.5), Linear(), gp.RBF([1, 2, 3]), gp.WhiteKernel(0.5)])
@pytest.mark.parametrize("options", [{"n_jobs": 2}, {"block_bytes": 8 * 30}, {"block_bytes": 1}])
def test_pieces_are_the_whole(kernel, options, X, Y):
    assert_allclose(gram(kernel, X, **options), kernel(X), rtol=1e-13, atol=1e-15)
    assert_allclose(gram(kernel, X, Y, **options), kernel(X, Y), rtol=1e-13, atol=1e-15)


def test_blocks_of_rows(X, Y):
    blocks = list(gram_blocks(RBF(0.5), X, Y, block_bytes=8 * len(Y) * 4))
    assert [K.shape[0] for _, K in blocks] == [4, 4, 4, 4, 4, 3]
    assert_allclose(np.vstack([K for _, K in blocks]), RBF(0.5)(X, Y), rtol=1e-14)
    assert [rows.start for rows, _ in blocks] == [0, 4, 8, 12, 16, 20]


def test_memory_is_asked_for_first():
    class Many:
        shape = (10**8, 2)

    with pytest.raises(MemoryError, match="landmarks"):
        gram(RBF(), Many())


# -- open numbers ---------------------------------------------------------------------------------


def test_median_rule(X):
    d = ((X[:, None] - X[None]) ** 2).sum(axis=2)[np.triu_indices(len(X), 1)]
    assert_allclose(median_gamma(X), 1 / (2 * np.median(d)), rtol=1e-12)
    assert_allclose(resolve_kernel("rbf", X).gamma, 1 / (2 * np.median(d)), rtol=1e-12)
    assert resolve_kernel(RBF(None) + Linear(), X).k1.gamma == resolve_kernel("rbf", X).gamma
    assert_allclose(resolve_kernel("rbf", 1e8 * X).gamma, 1e-16 * median_gamma(X), rtol=1e-12)
    for name in ("laplacian", "l2_laplacian", "polynomial", "exponential"):
        power = {"laplacian": 1, "l2_laplacian": 1}.get(name, 2)
        small, large = (resolve_kernel(name, s * X).gamma for s in (1.0, 10.0))
        assert_allclose(small, 10.0**power * large, rtol=1e-12)


def test_median_rule_draws_by_the_seed():
    X = np.random.default_rng(0).normal(size=(1500, 2))
    assert median_gamma(X, random_state=3) == median_gamma(X, random_state=3)
    assert median_gamma(X, random_state=3) != median_gamma(X, random_state=4)
    assert_allclose(median_gamma(X, random_state=3), median_gamma(X, random_state=4), rtol=0.1)


def test_median_rule_with_duplicates():
    X = np.zeros((10, 2))
    assert median_gamma(X) == 1.0
    X[0] = [3.0, 4.0]
    assert_allclose(median_gamma(X), 1 / 50)
    rows = np.random.default_rng(0).normal(size=(9, 3))
    for metric in ("sqeuclidean", "cityblock", "euclidean"):
        once, thrice = (median_gamma(np.repeat(rows, k, axis=0), metric=metric) for k in (1, 3))
        assert_allclose(thrice, once, rtol=1e-12)


def test_the_kernel_given_is_left_alone(X):
    kernel = RBF(None)
    resolve_kernel(kernel, X)
    assert kernel.gamma is None


@pytest.mark.parametrize(
    ("kernel", "params", "error", "message"),
    [
        ("rfb", {}, ValueError, "the names are .*rbf"),
        (3, {}, TypeError, "kernel == 3"),
        (RBF(), {"gamma": 1.0}, ValueError, "set them in"),
        ("rbf", {"width": 1}, ValueError, "width"),
        ("rbf", {}, ValueError, "needs data"),
        (RBF, {}, TypeError, "must be a kernel object"),
    ],
)
def test_what_is_no_kernel(kernel, params, error, message):
    with pytest.raises(error, match=message):
        resolve_kernel(kernel, **params)


# -- precomputed ----------------------------------------------------------------------------------


def test_precomputed(X, Y):
    K, Kt = Linear()(X), Linear()(Y, X)
    kernel = resolve_kernel("precomputed", K)
    assert kernel.n_samples == len(X)
    assert_array_equal(gram(kernel, K), K)
    assert_array_equal(gram(kernel, Kt, np.arange(len(X))), Kt)
    assert_array_equal(gram(kernel, Kt, np.array([4, 2])), Kt[:, [4, 2]])
    assert_array_equal(gram(Precomputed(), Kt, K), Kt)
    assert_array_equal(gram_diagonal(kernel, K), K.diagonal())


def test_precomputed_with_a_wrong_shape(X, Y):
    K, Kt = Linear()(X), Linear()(Y, X)
    with pytest.raises(ValueError, match=r"\(9, 22\).*n_train = 23"):
        gram(resolve_kernel("precomputed", K), Kt[:, :-1], np.arange(23))
    with pytest.raises(ValueError, match=r"\(9, 22\).*n_train = 23"):
        gram("precomputed", Kt[:, :-1], K)
    with pytest.raises(ValueError, match=r"\(9, 23\), must be square"):
        gram(Precomputed(), Kt)
    with pytest.raises(ValueError, match="with themselves"):
        gram_diagonal(Precomputed(), Kt)


def test_precomputed_must_be_symmetric(X):
    K = Linear()(X)
    K[2, 3] += 1e-9
    symmetric = check_precomputed(K)
    assert_array_equal(symmetric, symmetric.T)
    assert K[2, 3] != K[3, 2]
    K[2, 3] += 0.125
    with pytest.raises(ValueError, match=r"largest difference .* is 0\.125"):
        check_precomputed(K)
    with pytest.raises(ValueError, match=r"\(23, 22\), must be square"):
        check_precomputed(K[:, 1:])
    K[4, 5] = np.nan
    with pytest.raises(ValueError, match=r"\[4, 5\]"):
        check_precomputed(K)


def test_psd_rules():
    check_psd(-1e-7, 1.0, np.float64)
    check_psd(-1e-4, 1.0, np.float32)
    with pytest.warns(UserWarning, match=r"smallest eigenvalue is -0\.001, its largest 1"):
        check_psd(-1e-3, 1.0, np.float64)
    with pytest.raises(ValueError, match=r"smallest eigenvalue is -0\.1.*indefinite='clip'"):
        check_psd(-0.1, 1.0, np.float64)
    with pytest.warns(UserWarning, match="set to zero"):
        check_psd(-0.1, 1.0, np.float64, clip=True)


@pytest.mark.parametrize("n", [60, 600])
@pytest.mark.parametrize("below", [0.0, 1e-8, 1e-3, 0.2])
def test_extreme_eigenvalues_and_what_is_missing(n, below):
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    values = 1.0 / np.arange(1, n + 1) ** 4  # they crowd at zero, as those of smooth kernels
    values[-1] = -below
    K = (Q * values) @ Q.T
    smallest, largest = extreme_eigenvalues(K)
    assert_allclose(largest, 1.0, rtol=1e-3)
    assert_allclose(smallest, -below, atol=1e-6)
    if below <= 1e-6:
        assert missing_part(K) is None
    else:
        with pytest.warns(UserWarning, match="The matrix of this test is not positive"):
            missing = missing_part(K, name="matrix of this test", clip=True)
        assert_allclose(K + missing, (Q * np.maximum(values, 0)) @ Q.T, atol=1e-12)


# -- centring -------------------------------------------------------------------------------------


def test_centring_is_the_linear_kernel_of_centred_rows(X, Y):
    K, Kt = Linear()(X), Linear()(Y, X)
    Xc, Yc = X - X.mean(axis=0), Y - X.mean(axis=0)
    before = K.copy()
    Kc, row_means, mean = center_train(K)
    assert_array_equal(K, before)
    assert_allclose(Kc, Xc @ Xc.T, atol=1e-13)
    new = Kt - row_means - Kt.mean(axis=1, keepdims=True) + mean
    assert_allclose(new, Yc @ Xc.T, atol=1e-13)
    assert center_train(K, copy=False)[0] is K


@pytest.mark.parametrize("offset", [0.0, 1e3])
@pytest.mark.parametrize(
    ("kernel", "metric"),
    [(RBF, "sqeuclidean"), (L2Laplacian, "euclidean"), (Laplacian, "cityblock")],
)
def test_a_wide_kernel_less_one_keeps_its_digits(kernel, metric, offset):
    """Against long double; the kernel itself, less one, has four digits left."""
    X = np.random.default_rng(0).normal(size=(40, 3)) + offset
    gamma = 1e-12
    wide = X.astype(np.longdouble)
    difference = np.abs(wide[:, None] - wide)
    distances = {
        "sqeuclidean": (difference**2).sum(axis=-1),
        "euclidean": np.sqrt((difference**2).sum(axis=-1)),
        "cityblock": difference.sum(axis=-1),
    }[metric]
    exact = np.expm1(-gamma * distances)
    found = shifted_gram(kernel(gamma), X)
    size = float(np.abs(exact).max())
    assert np.abs(found - exact).max() < 1e-14 * size
    assert_array_equal(found, found.T)
    assert np.abs(gram(kernel(gamma), X) - 1.0 - exact).max() > 1e-6 * size
    narrow = shifted_gram(kernel(0.5), X)
    assert_allclose(narrow + 1.0, gram(kernel(0.5), X), rtol=1e-9, atol=1e-15)


def test_other_kernels_are_not_shifted(X):
    assert_array_equal(shifted_gram("linear", X), gram("linear", X))
