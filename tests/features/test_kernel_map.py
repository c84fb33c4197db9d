"""Oracles: scikit-learn's KernelPCA, the kernel itself, PCA for the linear kernel, worked example E1."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.decomposition import PCA, KernelPCA
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import kernels as gp
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from isthmus import KernelMap, load, save
from isthmus.kernels import (
    RBF,
    HistogramIntersection,
    Kernel,
    Linear,
    Polynomial,
    SequenceKernel,
    gram,
)
from isthmus.kernels.distinct import distinct_samples


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def X(rng):
    return rng.normal(1.0, 1.0, size=(60, 4))


@pytest.fixture
def new(rng):
    return rng.normal(1.0, 1.0, size=(11, 4))


def up_to_sign(ours, theirs, atol):
    flips = np.sign((ours * theirs).sum(axis=0))
    assert_allclose(ours, theirs * flips, atol=atol)


# -- against others ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "name", "params"),
    [
        ("rbf", "rbf", {"gamma": 0.2}),
        (RBF(0.2), "rbf", {"gamma": 0.2}),
        ("poly", "poly", {"gamma": 0.3}),
        (Polynomial(2, 0.3, 0.5), "poly", {"gamma": 0.3, "degree": 2, "coef0": 0.5}),
        ("linear", "linear", {}),
        ("cosine", "cosine", {}),
    ],
)
@pytest.mark.parametrize("r", [2, None])
def test_scikit_learns_kernel_pca(kernel, name, params, r, X, new):
    ours = KernelMap(r, kernel, gamma=params.get("gamma") if kernel == name else None)
    train = ours.fit_transform(X)
    peer = KernelPCA(ours.n_components_, kernel=name, **params)
    theirs = peer.fit_transform(X)
    assert_allclose(ours.eigenvalues_, peer.eigenvalues_, rtol=1e-9)
    leading = ours.eigenvalues_ > 1e-5 * ours.eigenvalues_[0]  # below, both are rounding times 1e5
    up_to_sign(train[:, leading], theirs[:, leading], 1e-10)
    up_to_sign(ours.transform(new)[:, leading], peer.transform(new)[:, leading], 1e-10)


def test_scikit_learns_kernel_pca_on_many_rows(rng):
    X = rng.normal(size=(900, 5))
    ours = KernelMap(10, gamma=0.1).fit(X)  # by Lanczos
    peer = KernelPCA(10, kernel="rbf", gamma=0.1, eigen_solver="dense").fit(X)
    assert_allclose(ours.eigenvalues_, peer.eigenvalues_, rtol=1e-12)
    up_to_sign(ours.transform(X[:50]), peer.transform(X[:50]), 1e-10)


def test_the_linear_kernel_is_pca(X, new):
    ours = KernelMap(kernel="linear").fit(X)
    peer = PCA().fit(X)
    assert ours.n_components_ == 4
    assert_allclose(ours.eigenvalues_ / (len(X) - 1), peer.explained_variance_, rtol=1e-10)
    up_to_sign(ours.transform(new), peer.transform(new), 1e-12)


def test_worked_example():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, 2.0]])
    model = KernelMap(gamma=0.5)
    scores = model.fit_transform(X)
    assert_allclose(model.eigenvalues_, [1.18405044, 0.63212056, 0.30211580], atol=5e-9)
    assert_allclose(np.abs(scores[0]), [0.41479283, 0, 0.42741868], atol=5e-9)
    one = np.array([[1.0, 1.0]])
    assert_allclose(np.abs(model.transform(one)[0]), [0.08299124, 0, 0.40315828], atol=5e-9)
    assert_allclose(model.residual(one), 0.32659406, atol=5e-9)
    assert_allclose(model.residual_, 0, atol=1e-14)


# -- identities -------------------------------------------------------------------------------------

KERNELS = [RBF(0.3), Polynomial(2, 0.5, 1.0), gp.RBF([1.0, 2.0, 1.0, 1.0]), gp.Matern(2.0)]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_uncentred_coordinates_reproduce_the_kernel(kernel, X, new):
    model = KernelMap(kernel=kernel, center=False)
    train = model.fit_transform(X)
    K, Kt = kernel(X), kernel(new, X)
    assert_allclose(train @ train.T, K, atol=1e-8 * K.max())
    assert_allclose(model.transform(new) @ train.T, Kt, atol=1e-7 * K.max())
    assert_allclose(model.residual_, 0, atol=1e-8 * K.max())


def test_full_rank_reproduces_the_kernel_to_rounding(X, new):
    kernel = RBF(2.0)  # narrow: every eigenvalue counts
    model = KernelMap(kernel=kernel, center=False)
    train = model.fit_transform(X)
    assert_allclose(train @ train.T, kernel(X), atol=1e-13)
    assert_allclose(model.transform(new) @ train.T, kernel(new, X), atol=1e-12)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("method", ["exact", "landmarks"])
def test_expansions(center, method, X, new, rng):
    kernel = RBF(0.3)
    model = KernelMap(5, kernel, center=center, solver=method, n_landmarks=25, random_state=0).fit(
        X
    )
    Z, K = model.transform(new), kernel(model.points_)
    G = model.expand(Z)
    if center and method == "exact":
        assert_allclose(G.sum(axis=1), 1, atol=1e-12)
    # Psi = mean + sum b_j v_j: its coordinates are b, and its distance from the mean is |b|.
    mean = model.expand(np.zeros((1, 5)))
    back = (G @ K - model.row_means_ * center) @ model._coef()
    assert_allclose(back, Z, atol=1e-10)
    apart = np.einsum("ij,jk,ik->i", G - mean, K, G - mean)
    assert_allclose(apart, (Z**2).sum(axis=1), atol=1e-10)
    # The whole as one expansion.
    W = rng.normal(size=(5, 2))
    coef, offset = model.collapse(W)
    assert_allclose(gram(kernel, new, model.points_) @ coef + offset, Z @ W, atol=1e-12)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("method", ["exact", "landmarks", "fourier"])
def test_training_rows_are_like_new_ones(center, method, X):
    model = KernelMap(6, center=center, solver=method, n_landmarks=30, random_state=0)
    scores = model.fit_transform(X)
    assert model.solver_ == method
    assert_allclose(model.transform(X), scores, atol=1e-11)
    assert_allclose(model.residual(X), model.residual_, atol=1e-11)
    if center:
        assert_allclose(scores.mean(axis=0), 0, atol=1e-12)
    assert_allclose(scores.T @ scores, np.diag(model.eigenvalues_), atol=1e-9)
    assert (scores[np.abs(scores).argmax(axis=0), np.arange(6)] > 0).all()


@pytest.mark.parametrize("center", [True, False])
def test_all_points_as_landmarks_are_exact(center, X, new):
    exact = KernelMap(8, RBF(1.0), center=center).fit(X)
    every = KernelMap(8, RBF(1.0), center=center, solver="landmarks", n_landmarks=60).fit(X)
    assert_allclose(every.eigenvalues_, exact.eigenvalues_, rtol=1e-10)
    assert_allclose(every.transform(new), exact.transform(new), atol=1e-9)
    assert_allclose(every.residual(new), exact.residual(new), atol=1e-9)
    assert_allclose(every.mean_, exact.mean_, rtol=1e-10)


def test_fourier_features_come_near(X):
    exact = KernelMap(3, gamma=0.1).fit(X)
    waves = KernelMap(3, gamma=0.1, solver="fourier", n_landmarks=20000, random_state=0)
    assert_allclose(waves.fit(X).eigenvalues_, exact.eigenvalues_, rtol=0.05)
    for method in (waves.expand, waves.collapse):
        with pytest.raises(ValueError, match="landmarks"):
            method(np.eye(3))


def test_number_of_components(X):
    every = KernelMap(gamma=0.3).fit(X)
    share = np.cumsum(every.eigenvalues_) / every.eigenvalues_.sum()
    for fraction in (0.5, 0.9, 0.999, 1.0):
        few = KernelMap(fraction, gamma=0.3).fit(X)
        assert share[few.n_components_ - 1] >= fraction - 1e-9
        assert few.n_components_ == 1 or share[few.n_components_ - 2] < fraction
    with pytest.warns(UserWarning, match="n_components == 9 is more than the rank 4"):
        assert KernelMap(9, "linear").fit_transform(X).shape == (60, 4)


def test_auto_takes_landmarks_for_many_rows(rng):
    X = rng.normal(size=(3001, 2))
    model = KernelMap(5, n_landmarks=50, random_state=0)
    assert model.fit(X[:-1]).solver_ == "exact"
    assert model.fit(X).solver_ == "landmarks"
    assert 30 < len(model.points_) <= 50  # those that depend on the others are dropped


# -- symmetries (section 14, test 4) ------------------------------------------------------------------


@pytest.mark.parametrize("method", ["exact", "landmarks"])
def test_permuted_and_doubled_rows(method, X, new, rng):
    options = {"kernel": RBF(0.3), "n_components": 6, "solver": method, "n_landmarks": 60}
    plain = KernelMap(**options).fit(X)
    order = rng.permutation(60)
    permuted = KernelMap(**options).fit(X[order])
    assert_allclose(permuted.transform(new), plain.transform(new), atol=1e-10)
    doubled = KernelMap(**options | {"n_landmarks": 120}).fit(np.vstack([X, X]))
    assert_allclose(doubled.transform(new), plain.transform(new), atol=1e-10)
    assert_allclose(doubled.eigenvalues_, 2 * plain.eigenvalues_, rtol=1e-10)


def test_scaled_kernels_and_data(X, new):
    plain = KernelMap(6).fit(X)
    louder = KernelMap(6, 4.0 * plain.kernel_).fit(X)
    assert_allclose(louder.transform(new), 2 * plain.transform(new), atol=1e-10)
    assert_allclose(KernelMap(6).fit(1e8 * X).transform(1e8 * new), plain.transform(new), atol=1e-9)
    tiny = KernelMap(6).fit(1e-8 * X)
    assert_allclose(tiny.transform(1e-8 * new), plain.transform(new), atol=1e-9)


# -- edges (sections 1, 2 and 10; test 12) ------------------------------------------------------------


def test_one_row():
    with pytest.raises(ValueError, match="1 sample"):
        KernelMap().fit(np.ones((1, 3)))
    model = KernelMap(kernel=Linear(), center=False).fit(np.array([[3.0, 4.0]]))
    assert_allclose(model.transform([[6.0, 8.0]]), [[10.0]])


def test_two_rows():
    model = KernelMap(gamma=0.5)
    scores = model.fit_transform(np.array([[0.0], [1.0]]))
    assert model.n_components_ == 1
    half = np.sqrt((1 - np.exp(-0.5)) / 2)
    assert_allclose(scores, [[half], [-half]])  # a tie: the first is positive


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("method", ["exact", "landmarks"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_constant_rows_are_refused(kernel, method, dtype):
    X = np.full((30, 3), 0.7, dtype=dtype)
    with pytest.raises(ValueError, match="does not tell any two samples apart"):
        KernelMap(kernel=kernel, solver=method, n_landmarks=10).fit(X)


@pytest.mark.parametrize("n_components", [None, 3])
def test_a_kernel_that_is_constant_up_to_rounding_is_told_by_name(n_components, rng):
    noise = 1e-8 * rng.normal(size=(40, 3))  # squares are below the last digit of one
    message = r"does not tell any two samples apart: .* for RBF\(gamma=1\)"
    with pytest.raises(ValueError, match=message):
        KernelMap(n_components, RBF(1.0)).fit(1.0 + noise)
    K = 1.0 + 1e-15 * rng.normal(size=(40, 40))
    with pytest.raises(ValueError, match="any two samples apart"):
        KernelMap(n_components, "precomputed").fit((K + K.T) / 2)
    # Ten times farther they differ, by few digits: negative eigenvalues are still rounding.
    KernelMap(n_components, RBF(1.0)).fit(1.0 + 10 * noise)


def test_a_constant_column_changes_nothing(X, new):
    wide, wide_new = (np.column_stack([A, np.full(len(A), 5.0)]) for A in (X, new))
    one = KernelMap(5).fit(X).transform(new)
    assert_allclose(KernelMap(5).fit(wide).transform(wide_new), one, atol=1e-10)


@pytest.mark.parametrize("method", ["exact", "landmarks"])
def test_duplicates_lower_the_rank(method, X):
    model = KernelMap(kernel=RBF(2.0), solver=method, n_landmarks=40, random_state=0)
    model.fit(np.vstack([X[:10]] * 4))
    assert model.n_components_ == 9
    assert np.isfinite(model.dual_coef_).all()


def test_float32_is_kept(X, new):
    for method in ("exact", "landmarks", "fourier"):
        model = KernelMap(5, solver=method, n_landmarks=30, random_state=0)
        fine = model.fit(X).transform(new)
        scores = model.fit_transform(X.astype(np.float32))
        coarse = model.transform(new.astype(np.float32))
        assert scores.dtype == coarse.dtype == np.float32
        assert_allclose(coarse, fine, atol=2e-4)
    rank = KernelMap(gamma=0.01).fit(X.astype(np.float32)).n_components_
    assert rank < KernelMap(gamma=0.01).fit(X).n_components_  # rounding is no component


@pytest.mark.parametrize("bad", [0, -1, 1.5, 0.0, "many", True, np.nan])
def test_bad_number_of_components(bad, X):
    with pytest.raises(ValueError, match="n_components == "):
        KernelMap(n_components=bad).fit(X)


@pytest.mark.parametrize(
    "params", [{"solver": "best"}, {"indefinite": "ignore"}, {"tol": -1.0}, {"tol": "small"}]
)
def test_bad_options(params, X):
    with pytest.raises(ValueError, match=next(iter(params))):
        KernelMap(**params).fit(X)


def test_bad_numbers_are_located(X, new):
    X[7, 2] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity, first at row 7, column 2"):
        KernelMap().fit(X)
    new[3, 1] = np.inf
    with pytest.raises(ValueError, match="row 3, column 1"):
        KernelMap().fit(np.nan_to_num(X)).transform(new)


def test_not_fitted(new):
    with pytest.raises(NotFittedError):
        KernelMap().transform(new)


# -- kernels that are none (section 1) ----------------------------------------------------------------


def indefinite(n, negative):
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(n, n)))[0]
    values = np.linspace(0.1, 1.0, n)
    values[0] = -negative
    return (Q * values) @ Q.T


@pytest.mark.parametrize(("n", "r"), [(40, None), (40, 5), (600, 5)])
def test_indefinite_matrices(n, r):
    options = {"kernel": "precomputed", "n_components": r, "center": False}
    K = indefinite(n, 0.3)
    K = 0.5 * (K + K.T)
    with pytest.raises(ValueError, match=r"not positive semi-definite.*-0\.[23]"):
        KernelMap(**options).fit(K)
    with pytest.warns(UserWarning, match="set to zero"):
        model = KernelMap(**options, indefinite="clip").fit(K)
    assert (model.eigenvalues_ > 0).all()
    if r is None:  # phi_hat reproduces the clipped matrix
        values, vectors = np.linalg.eigh(K)
        clipped = (vectors * np.maximum(values, 0)) @ vectors.T
        scores = model.transform(K)
        assert_allclose(scores @ scores.T, clipped, atol=1e-12)


def test_a_little_indefinite_is_a_warning():
    with pytest.warns(UserWarning, match="smallest eigenvalue is -0.001"):
        KernelMap(kernel="precomputed", center=False).fit(indefinite(40, 1e-3))


def test_a_kernel_that_returns_nan(X):
    with np.errstate(invalid="ignore"), pytest.raises(ValueError, match="NaN or infinity"):
        KernelMap(kernel=lambda x, y: float(np.log(x @ y - 9))).fit(X)


# -- precomputed --------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["exact", "landmarks"])
def test_precomputed(method, X, new):
    X = X[
        distinct_samples(X, None)[0]
    ]  # what is drawn among rows depends on the rows, not on their place
    kernel = RBF(0.3)
    options = {"n_components": 6, "solver": method, "n_landmarks": 30, "random_state": 0}
    direct = KernelMap(kernel=kernel, **options).fit(X)
    K = kernel(X)
    before = K.copy()
    model = KernelMap(kernel="precomputed", **options).fit(K)
    assert_array_equal(K, before)
    assert_allclose(model.transform(kernel(new, X)), direct.transform(new), atol=1e-12)
    assert_allclose(model.residual_, direct.residual_, atol=1e-12)
    with pytest.raises(ValueError, match=r"59.* 60"):
        model.transform(kernel(new, X)[:, 1:])
    with pytest.raises(ValueError, match="must be square"):
        KernelMap(kernel="precomputed", **options).fit(K[:, 1:])


def test_precomputed_in_cross_validation(X):
    y = np.sin(X).sum(axis=1)
    K = RBF(0.3)(X)
    by_matrix = make_pipeline(KernelMap(8, "precomputed"), Ridge())
    by_rows = make_pipeline(KernelMap(8, RBF(0.3)), Ridge())
    assert by_matrix.__sklearn_tags__().input_tags.pairwise
    assert_allclose(
        cross_val_score(by_matrix, K, y, cv=4), cross_val_score(by_rows, X, y, cv=4), rtol=1e-8
    )


def test_preimages_need_samples(X):
    with pytest.raises(ValueError, match="samples themselves"):
        KernelMap(kernel="precomputed", preimage="auto").fit(RBF(0.3)(X))


# -- objects ------------------------------------------------------------------------------------------


class LetterKernel(Kernel):
    """Common letters of two words: the protocol at its smallest."""

    requires_vector_input = False

    def __init__(self, case=True):
        self.case = case

    def _counts(self, words):
        words = words if self.case else [word.lower() for word in words]
        letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
        return np.array([[word.count(letter) for letter in letters] for word in words], dtype=float)

    def __call__(self, X, Y=None, eval_gradient=False):
        return HistogramIntersection()(self._counts(X), None if Y is None else self._counts(Y))

    def diag(self, X):
        return self._counts(X).sum(axis=1)

    def is_stationary(self):
        return False


WORDS = [
    "kernel",
    "Kernel",
    "colonel",
    "map",
    "MAP",
    "maple",
    "staple",
    "Staples",
    "pals",
    "alps",
] * 3
LENGTHS = np.array([len(word) for word in WORDS], dtype=float)


@pytest.mark.parametrize("method", ["exact", "landmarks"])
def test_words(method):
    model = KernelMap(kernel=LetterKernel(), solver=method, n_landmarks=20, random_state=0)
    scores = model.fit_transform(WORDS)
    assert_allclose(model.transform(["maps", "pearls", *WORDS[:2]])[2:], scores[:2], atol=1e-9)
    assert isinstance(model.points_, list)
    K = LetterKernel()(WORDS)
    d = K.diagonal()
    apart = d[:, None] + d - 2 * K
    ours = ((scores[:, None] - scores[None]) ** 2).sum(axis=2)
    assert_allclose(ours, apart, atol=1e-8)


def test_words_in_a_pipeline_and_a_grid_search():
    pipeline = make_pipeline(KernelMap(kernel=LetterKernel()), Ridge(alpha=1e-3))
    grid = {
        "kernelmap__n_components": [2, 6],
        "kernelmap__kernel": [LetterKernel(), LetterKernel(False)],
    }
    search = GridSearchCV(pipeline, grid, cv=3).fit(WORDS, LENGTHS)
    assert search.best_params_["kernelmap__n_components"] == 6
    assert search.best_score_ > 0.9
    assert_allclose(search.predict(["lamp", "plates"]), [4, 6], atol=0.5)


def test_words_and_a_function():
    def common(a, b):
        return float(sum(min(a.count(c), b.count(c)) for c in set(a)))

    by_function = KernelMap(4, common).fit(WORDS).transform(["maps"])
    by_object = KernelMap(4, LetterKernel()).fit(WORDS).transform(["maps"])
    assert_allclose(by_function, by_object, atol=1e-9)


# -- as an estimator ----------------------------------------------------------------------------------


def test_frames_and_names(X, new):
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    plain = KernelMap(3).fit(X).transform(new)
    for library in (pandas, polars):
        frame, frame_new = (
            library.DataFrame({f"c{j}": A[:, j] for j in range(4)}) for A in (X, new)
        )
        model = KernelMap(3).set_output(transform=library.__name__)
        out = model.fit(frame).transform(frame_new)
        assert list(out.columns) == ["kernelmap0", "kernelmap1", "kernelmap2"]
        assert_allclose(out.to_numpy(), plain, atol=1e-13)
        assert list(model.feature_names_in_) == ["c0", "c1", "c2", "c3"]


@pytest.mark.parametrize("method", ["exact", "landmarks", "fourier"])
def test_round_trips(method, X, new):
    model = KernelMap(
        4,
        RBF(0.3) if method == "fourier" else RBF(0.3) + Linear(),
        solver=method,
        n_landmarks=20,
        random_state=0,
    ).fit(X)
    expected = model.transform(new)
    assert_array_equal(pickle.loads(pickle.dumps(model)).transform(new), expected)
    assert_array_equal(clone(model).fit(X).transform(new), expected)


def test_the_same_whatever_the_number_of_jobs(X, new):
    one, two = (KernelMap(4, n_jobs=jobs).fit(X).transform(new) for jobs in (1, 2))
    assert_allclose(two, one, atol=1e-13)


def test_a_second_fit_by_another_method_leaves_nothing_behind(X, new):
    model = KernelMap(4, random_state=0, n_landmarks=20).fit(X)
    model.set_params(solver="fourier").fit(X)
    assert not hasattr(model, "points_")
    fresh = clone(model).fit(X)
    assert_array_equal(model.transform(new), fresh.transform(new))


# -- and back -----------------------------------------------------------------------------------------


def test_inverse_transform(X):
    with pytest.raises(AttributeError, match="inverse_transform") as raised:
        KernelMap().fit(X).inverse_transform(np.zeros((1, 2)))
    assert "preimage='auto'" in str(raised.value.__cause__)
    model = KernelMap(kernel="linear", preimage="auto").fit(X)
    assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-8)
    back, loss = model.inverse_transform(model.transform(X[:5]), return_loss=True)
    assert back.shape == (5, 4) and loss.shape == (5,)
    assert_allclose(loss, 0, atol=1e-8)
    words = KernelMap(kernel=LetterKernel(), preimage="auto").fit(WORDS)
    assert words.inverse_transform(words.transform(["colonel"]))[0] == "colonel"
    with pytest.raises(ValueError, match="columns"):
        model.inverse_transform(np.zeros((1, 2)))


def test_a_map_with_its_way_back_is_saved_whole(X, tmp_path):
    model = KernelMap(5, preimage="auto").fit(X)
    Z = model.transform(X[:3])
    save(model, tmp_path / "m.isthmus")
    for copy in (load(tmp_path / "m.isthmus"), pickle.loads(pickle.dumps(model))):
        assert_array_equal(copy.inverse_transform(Z), model.inverse_transform(Z))


def test_words_by_the_sequence_kernel_in_a_grid_search():
    pipeline = make_pipeline(KernelMap(kernel=SequenceKernel()), Ridge(alpha=1e-3))
    grid = {"kernelmap__kernel": [SequenceKernel(0.1), SequenceKernel(0.9)]}
    words = ["abab", "abba", "baabab", "bbb", "aaaaa", "abc", "ca"] * 3
    vowels = np.array([word.count("a") / len(word) for word in words])
    search = GridSearchCV(pipeline, grid, cv=3).fit(words, vowels)
    assert search.best_score_ > 0.9
