"""Kernel estimators on sparse rows and with weights, against dense and repeated rows.

A weight is a number of copies: the oracle of a weighted fit is the plain fit of repeated rows. Ridge
weights that are numbers stand against sums over rows, so a common factor of all weights changes those
fits, as it does those of ``Ridge``.
"""

import resource
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csc_array, csr_array, csr_matrix
from scipy.sparse import random as random_matrix
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

import isthmus
from isthmus import (
    COIR,
    MORP,
    PLS,
    DependencyRegressor,
    KernelCCA,
    KernelMap,
    KernelSIR,
    Landmarks,
    ReducedRankRegression,
    compress,
)
from isthmus.features import FourierFeatures
from isthmus.kernels import RBF, Gaussian, Linear, Normalised, Polynomial, gram, median_gamma
from isthmus.preimages import Learned
from isthmus.projections import KDR, SIR

N = 60
SPARSE_KERNELS = ["linear", "polynomial", "exponential", "cosine", "rbf", "laplacian"]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 5))
    X[np.abs(X) < 0.6] = 0.0
    y = np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.normal(size=N)
    return X, np.column_stack([y, X[:, 2] + 0.1 * rng.normal(size=N)])


@pytest.fixture(scope="module")
def counts():
    return np.random.default_rng(1).integers(0, 4, N)


def same(a, b, tol=1e-9):
    assert_allclose(a, b, rtol=tol, atol=tol * np.abs(b).max())


# -- kernels ------------------------------------------------------------------------------------


class TestKernels:
    @pytest.mark.parametrize("kernel", SPARSE_KERNELS)
    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_values_are_those_of_dense_rows(self, data, kernel, dtype):
        X = data[0].astype(dtype)
        tol = 1e-12 if dtype == np.float64 else 1e-5
        found = gram(kernel, csr_array(X), gram_kernel_rows(X))
        expected = gram(kernel, X, gram_kernel_rows(X))
        assert found.dtype == expected.dtype
        assert_allclose(found, expected, rtol=tol, atol=tol)
        square = gram(kernel, csr_array(X))
        assert_allclose(square, gram(kernel, X), rtol=tol, atol=tol)
        assert (square == square.T).all()

    @pytest.mark.parametrize(
        "kernel",
        [
            RBF(0.3) + 0.5,
            2.0 * Polynomial(2) * RBF(0.1),
            Normalised(Polynomial(3)),
            Gaussian(Linear(), 0.4),
            Linear() ** 2,
        ],
        ids=repr,
    )
    def test_of_kernels_made_of_others(self, data, kernel):
        X = data[0]
        assert_allclose(kernel(csr_array(X)), kernel(X), rtol=1e-12, atol=1e-12)
        assert_allclose(kernel.diag(csr_array(X)), kernel.diag(X), rtol=1e-12)

    @pytest.mark.parametrize("metric", ["sqeuclidean", "cityblock", "euclidean"])
    def test_widths(self, data, metric):
        X = np.vstack([data[0], data[0][:7]])  # some rows are equal
        assert_allclose(median_gamma(csr_array(X), metric=metric), median_gamma(X, metric=metric))

    @pytest.mark.parametrize("kernel", ["l2_laplacian", "histogram_intersection", "precomputed"])
    def test_others_say_which_kernels_do(self, data, kernel):
        with pytest.raises(TypeError, match=r"[Ss]parse data was passed"):
            KernelMap(kernel=kernel).fit(csr_array(np.abs(data[0])))

    def test_nan_is_found_in_its_place(self):
        X = csr_array(np.array([[0.0, 1.0], [np.nan, 0.0]]))
        with pytest.raises(ValueError, match="row 1, column 0"):
            KernelMap().fit(X)

    def test_weighted_widths_are_those_of_repeated_rows(self, data, counts):
        X = data[0]
        for metric in ("sqeuclidean", "cityblock", RBF(0.2)):
            plain = median_gamma(np.repeat(X, counts, axis=0), metric=metric)
            for weights in (counts, 3.7 * counts, 1e-250 * counts, 1e250 * counts):
                found = median_gamma(X, metric=metric, sample_weight=weights)
                assert_allclose(found, plain, rtol=1e-12)


def gram_kernel_rows(X):
    return X[::3]


# -- every estimator ----------------------------------------------------------------------------

LANDMARKS = {"n_landmarks": N, "selection": "cholesky"}
FEW = {"n_landmarks": 25, "selection": "cholesky"}
EXACT = [
    KernelMap(),
    KernelMap(4, "polynomial", center=False),
    KernelMap(4, solver="landmarks", **FEW),
    KernelMap(solver="fourier", n_landmarks=30),
    KernelSIR(),
    KernelSIR(kernel="linear"),
    KernelSIR(solver="features", **LANDMARKS),
    KernelSIR(eigenproblem="inverse", score_scale="raw"),
    COIR(),
    COIR(kernel_y="linear"),
    COIR(kernel="polynomial", solver="krylov"),
    COIR(solver="features", **LANDMARKS),
    KernelCCA(),
    KernelCCA(kernel_y="linear"),
    KernelCCA(solver="features", **LANDMARKS),
    MORP(),
    MORP(beta=1.0),
    MORP(solver="features", **LANDMARKS),
    DependencyRegressor(map=PLS(2)),
    DependencyRegressor(map=ReducedRankRegression(1, alpha=0.0)),
    DependencyRegressor(KernelMap(10, solver="landmarks", **FEW), PLS(2)),
]
RIDGES = [  # numbers against sums over rows
    COIR(alpha=0.3, alpha_y=0.2, score_scale="raw"),
    MORP(missing="ridge"),
    DependencyRegressor(),
    DependencyRegressor(map=Ridge(0.1), solver="stages"),
    DependencyRegressor(map=Ridge(0.1), outputs=KernelMap(preimage=Learned(alpha=0.1)), cv=None),
    DependencyRegressor(
        map=Ridge(0.1), outputs=KernelMap(preimage=Learned("linear", alpha=0.1)), cv=None
    ),
]
DENSE_ONLY = [SIR(), SIR(alpha=0.1, eigenproblem="inverse"), KDR(max_iter=2, tol=0.1)]


def name(estimator):
    return " ".join(str(estimator).split())


def seeded(estimator):
    params = estimator.get_params()
    known = {key: 0 for key in params if key == "random_state" or key.endswith("__random_state")}
    return clone(estimator).set_params(**known)


def outputs_for(estimator, Y):
    if isinstance(estimator, MORP) and estimator.missing == "ridge":
        return np.where(np.random.default_rng(2).uniform(size=Y.shape) < 0.3, np.nan, Y)
    return Y[:, 0] if isinstance(estimator, KernelSIR | SIR) else Y  # quantiles, no random clusters


def answers(estimator, X):
    if isinstance(estimator, DependencyRegressor):
        return estimator.predict(X)
    return estimator.transform(X)


def fitted(estimator, X, Y, **options):
    estimator = seeded(estimator)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ConvergenceWarning
        )  # few steps of KDR are enough to compare
        return estimator.fit(X, Y, **options)


@pytest.mark.parametrize("estimator", EXACT + RIDGES, ids=name)
@pytest.mark.parametrize("container", [csr_array, csc_array, csr_matrix])
def test_sparse_rows_are_dense_rows(data, estimator, container):
    X, Y = data[0], outputs_for(estimator, data[1])
    dense = fitted(estimator, X, Y)
    sparse = fitted(estimator, container(X), Y)
    same(answers(sparse, container(X)), answers(dense, X), 1e-10)
    same(answers(sparse, X), answers(dense, X), 1e-10)
    if isinstance(estimator, KernelCCA):
        same(sparse.transform_y(Y), dense.transform_y(Y), 1e-10)


@pytest.mark.parametrize("estimator", EXACT + RIDGES + DENSE_ONLY, ids=name)
def test_weights_are_copies(data, counts, estimator):
    X, Y = data[0], outputs_for(estimator, data[1])
    weighted = fitted(estimator, X, Y, sample_weight=counts)
    repeated = fitted(estimator, np.repeat(X, counts, axis=0), np.repeat(Y, counts, axis=0))
    same(answers(weighted, X), answers(repeated, X))
    if hasattr(weighted, "eigenvalues_"):
        same(weighted.eigenvalues_, repeated.eigenvalues_)
    if isinstance(estimator, KernelCCA):
        same(weighted.transform_y(Y), repeated.transform_y(Y))


@pytest.mark.parametrize("estimator", EXACT + DENSE_ONLY[:1] + DENSE_ONLY[2:], ids=name)
def test_a_common_factor_changes_nothing(data, counts, estimator):
    """Nor one whose square leaves the range of float64."""
    X, Y = data[0], outputs_for(estimator, data[1])
    once = fitted(estimator, X, Y, sample_weight=counts)
    for factor in (0.037, 1e-250, 1e250):
        often = fitted(estimator, X, Y, sample_weight=factor * counts)
        same(answers(often, X), answers(once, X))


@pytest.mark.parametrize("estimator", EXACT + RIDGES + DENSE_ONLY, ids=name)
def test_a_weight_of_zero_leaves_out(data, counts, estimator):
    X, Y = data[0], outputs_for(estimator, data[1])
    spoilt = X.copy()
    spoilt[counts == 0] = 1e3
    kept = counts > 0
    some = fitted(estimator, spoilt, Y, sample_weight=counts)
    fewer = fitted(estimator, X[kept], Y[kept], sample_weight=counts[kept])
    same(answers(some, X), answers(fewer, X))


@pytest.mark.parametrize("estimator", [KernelMap(4), KernelMap(4, solver="landmarks", **FEW)])
def test_all_rows_are_transformed(data, counts, estimator):
    X = data[0]
    found = seeded(estimator).fit_transform(X, sample_weight=counts)
    same(found, seeded(estimator).fit(X, sample_weight=counts).transform(X))


@pytest.mark.parametrize("estimator", [KernelMap(kernel="precomputed"), COIR(kernel="precomputed")])
def test_zero_weights_of_a_precomputed_kernel_are_told(data, counts, estimator):
    K = gram("rbf", data[0])
    with pytest.raises(ValueError, match="Leave out those of samples"):
        estimator.fit(K, data[1], sample_weight=counts)
    weighted = clone(estimator).fit(K, data[1], sample_weight=1.0 + counts)
    twice = np.repeat(np.arange(N), 1 + counts)
    repeated = clone(estimator).fit(K[np.ix_(twice, twice)], data[1][twice])
    same(weighted.transform(K), repeated.transform(K[:, twice]), 1e-8)


# -- held-out scores ----------------------------------------------------------------------------

JUDGED = [
    SIR(),
    KernelSIR(alpha=0.1),
    COIR(),
    KernelCCA(),
    MORP(),
    KDR(max_iter=2, tol=0.1),
    COIR(solver="features", **LANDMARKS),
]


def weighted_r2(truth, guess, w):
    errors = (w[:, None] * (truth - guess) ** 2).sum(axis=0)
    middle = (w[:, None] * truth).sum(axis=0) / w.sum()
    return 1 - errors / (w[:, None] * (truth - middle) ** 2).sum(axis=0)


@pytest.mark.parametrize("estimator", JUDGED, ids=name)
def test_weighted_held_out_scores_are_those_of_refits(data, estimator):
    """Each fold learned from repeated rows, judged by ten neighbours that count by their weights."""
    X, Y = data[0], outputs_for(estimator, data[1])
    w = np.random.default_rng(3).integers(1, 4, N)
    folds = np.arange(N) % 3
    splits = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(3)]
    whole = fitted(estimator, X, Y, sample_weight=w)
    model = fitted(estimator.set_params(cv=splits), X, Y, sample_weight=w)
    truth, scores = Y.reshape(N, -1), []
    for train, test in splits:
        part = clone(estimator).set_params(cv=None)
        if not isinstance(part, KDR):  # the ridge weight is that of all rows, as the widths are
            part.set_params(alpha=whole.alpha_)
        for key in ("kernel", "kernel_y"):
            if hasattr(part, key):
                part.set_params(**{key: getattr(whole, f"{key}_")})
        if isinstance(part, KernelSIR | SIR):  # slices are those of all rows
            part.set_params(slices="classes")
            labels = whole.slice_labels_.astype(str)
        else:
            labels = Y
        twice = np.repeat(train, w[train])
        part = fitted(part, X[twice], labels[twice])
        z = part.transform(X)
        apart = ((z[test][:, None] - z[train]) ** 2).sum(axis=2)
        near = train[np.argsort(apart, axis=1)[:, :10]]
        shares = w[near] / w[near].sum(axis=1, keepdims=True)
        guess = (shares[:, :, None] * truth[near]).sum(axis=1)
        scores.append(weighted_r2(truth[test], guess, w[test]))
    tol = 1e-8 if not isinstance(estimator, COIR) or estimator.solver == "auto" else 1e-6
    assert_allclose(model.held_out_scores_, np.mean(scores, axis=0), rtol=tol, atol=tol)
    if isinstance(estimator, KernelSIR):  # its ridge is a number, for sums over rows
        estimator.set_params(alpha=0.1 * estimator.alpha)
    again = fitted(estimator.set_params(cv=splits), X, Y, sample_weight=0.1 * w)
    assert_allclose(again.held_out_scores_, model.held_out_scores_, rtol=1e-9)


def test_weights_decide_on_the_ridge(data):
    """Rows of a second law that hardly count do not choose; those that count do."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.where(np.arange(200) < 100, X[:, 0], rng.normal(size=200))
    w = np.where(np.arange(200) < 100, 1.0, 1e-6)
    model = KernelSIR(alpha="cv", random_state=0).fit(X, y, sample_weight=w)
    plain = KernelSIR(alpha="cv", random_state=0).fit(X, y)
    assert model.held_out_score_ > 0.9 > plain.held_out_score_
    scaled = KernelSIR(alpha="cv", random_state=0).fit(X, y, sample_weight=50 * w)
    assert_allclose(scaled.cv_results_["mean_test_score"], model.cv_results_["mean_test_score"])


@pytest.mark.parametrize("cv", [1, "no", [([0], [1])], [([0], [1]), ([1], [0])]])
def test_folds_that_are_none_are_told(data, cv):
    with pytest.raises(ValueError, match="cv"):
        COIR(cv=cv).fit(*data)


# -- drawn landmarks ----------------------------------------------------------------------------


def test_landmarks_are_drawn_by_weight():
    X = np.arange(400.0)[:, None]
    w = np.where(np.arange(400) < 200, 1.0, 9.0)
    shares = [
        (
            Landmarks(40, gamma=10.0, random_state=seed).fit(X, sample_weight=w).indices_ >= 200
        ).mean()
        for seed in range(20)
    ]
    # 0.9 of 800 draws, a little less without replacement; 0.85 is five standard errors away.
    assert 0.85 < np.mean(shares) < 0.95


@pytest.mark.parametrize("selection", ["uniform", "kmeans", "cholesky", "leverage"])
def test_selections_take_sparse_rows_and_weights(data, counts, selection):
    X = data[0]
    for share in (12, 0.9):
        model = Landmarks(share, selection=selection, random_state=0)
        dense = clone(model).fit(X, sample_weight=counts).transform(X)
        sparse = clone(model).fit(csr_array(X), sample_weight=counts).transform(csr_array(X))
        same(sparse @ sparse.T, dense @ dense.T, 1e-8)
        assert (counts[clone(model).fit(X, sample_weight=counts).indices_] > 0).all() or (
            selection == "kmeans"
        )


def test_all_landmarks_span_what_repeated_rows_span(data, counts):
    X = data[0]
    weighted = Landmarks(N, selection="cholesky").fit(X, sample_weight=counts + 1).transform(X)
    repeated = Landmarks(N, selection="cholesky").fit(np.repeat(X, counts + 1, axis=0)).transform(X)
    same(weighted @ weighted.T, repeated @ repeated.T)


def test_waves_have_the_weighted_width(data, counts):
    X = data[0]
    weighted = FourierFeatures(random_state=0).fit(X, sample_weight=counts)
    repeated = FourierFeatures(random_state=0).fit(np.repeat(X, counts, axis=0))
    assert_allclose(weighted.kernel_.gamma, repeated.kernel_.gamma, rtol=1e-12)


# -- around them --------------------------------------------------------------------------------


def test_a_pipeline_routes_weights(data, counts):
    from sklearn import config_context

    X, Y = data
    repeated = np.repeat(np.arange(N), counts)
    with config_context(enable_metadata_routing=True):
        phi = KernelMap(4).set_fit_request(sample_weight=True)
        model = make_pipeline(phi, PLS(2).set_fit_request(sample_weight=True))
        model.fit(X, Y, sample_weight=counts)
    plain = make_pipeline(KernelMap(4), PLS(2)).fit(X[repeated], Y[repeated])
    same(model.predict(X), plain.predict(X))


def test_a_map_without_weights_is_told(data, counts):
    from sklearn.neighbors import KNeighborsRegressor

    with pytest.raises(TypeError, match="KNeighborsRegressor does not take it"):
        DependencyRegressor(map=KNeighborsRegressor()).fit(*data, sample_weight=counts)


def test_models_of_sparse_rows_are_compressed(data):
    X, Y = data
    dense = compress(DependencyRegressor().fit(X, Y), 20)
    sparse = compress(DependencyRegressor().fit(csr_array(X), Y), 20)
    same(sparse.predict(csr_array(X)), dense.predict(X), 1e-8)
    assert sparse.compression_.n_points == 20


MANY = textwrap.dedent(
    """
    import numpy as np, resource
    from scipy.sparse import csr_array
    from isthmus import COIR, DependencyRegressor, KernelMap, Landmarks

    rng = np.random.default_rng(0)
    places = rng.integers(100_000, size=400_000), np.arange(0, 400_001, 20)
    X = csr_array((rng.random(400_000), *places), shape=(20_000, 100_000))
    X.sum_duplicates()
    y = np.asarray(X[:, :5000].sum(axis=1)).ravel() + 0.1 * rng.normal(size=20_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for kernel in ("linear", "rbf", "polynomial"):
        F = Landmarks(100, kernel, random_state=0).fit_transform(X)
        assert F.shape[0] == 20_000 and np.isfinite(F).all()
        phi = KernelMap(kernel=kernel, solver="landmarks", n_landmarks=100, random_state=0)
        assert np.isfinite(DependencyRegressor(phi).fit(X, y).predict(X[:100])).all()
        model = COIR(kernel=kernel, n_landmarks=100, random_state=0).fit(X, y)
        assert model.solver_ == "features" and np.isfinite(model.transform(X[:100])).all()
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 2**20)
    """
)


def test_a_matrix_of_many_columns_stays_sparse():
    """Dense it would take 16 GB; two hundred thousand values and 100 landmarks take far below one."""
    folder = str(next(iter(isthmus.__path__)))
    done = subprocess.run(
        [sys.executable, "-c", MANY],
        capture_output=True,
        text=True,
        cwd=folder.rsplit("/", 1)[0],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30, 6 * 2**30)),
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert float(done.stdout) < 1.0


def test_drawn_sparse_rows_are_those_of_the_matrix():
    X = csr_array(random_matrix(500, 2000, density=0.005, format="csr", random_state=0))
    model = Landmarks(50, "linear", random_state=0).fit(X)
    assert (model.points_ != X[model.indices_]).nnz == 0
