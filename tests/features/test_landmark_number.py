"""Landmarks for a stated error. Oracle: the dense approximation K_HZ K_ZZ^-1 K_ZH, one number at a time."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge

from isthmus import DependencyRegressor, KernelMap, Landmarks, Rows
from isthmus.features import cost
from isthmus.features.landmark_number import choose_landmarks, trace_errors
from isthmus.kernels import RBF, Precomputed, SequenceKernel, gram
from isthmus.regression.kernel_ridge import dual_ridge

KERNEL = RBF(0.1)
SELECTIONS = ["uniform", "kmeans", "cholesky", "leverage"]


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(1200, 4))


def left(X, Z, held):
    """What the span of Z leaves of the trace of other samples."""
    K = gram(KERNEL, X[held], Z)
    explained = np.einsum("ij,ij->", K @ np.linalg.pinv(gram(KERNEL, Z), hermitian=True), K)
    return 1 - explained / len(held)


def held_out(n, seed=0):
    return np.sort(np.random.RandomState(seed).permutation(n)[: n // 5])


def test_one_factor_gives_the_errors_of_all_numbers(X):
    chosen, held = np.arange(0, 60), np.arange(900, 1200)
    kept, errors = trace_errors(KERNEL, X, chosen, held)
    assert len(kept) == 60 and np.all(np.diff(errors) <= 0)
    for m in (1, 7, 60):
        assert_allclose(errors[m - 1], left(X, X[kept[:m]], held), rtol=1e-6)
    of_matrix = trace_errors(Precomputed(), gram(KERNEL, X), chosen, held)
    assert_array_equal(of_matrix[0], kept)
    assert_allclose(of_matrix[1], errors, atol=1e-12)


@pytest.mark.parametrize("selection", ["uniform", "cholesky", "leverage"])
def test_one_landmark_fewer_is_too_few(X, selection):
    chosen, error = choose_landmarks(KERNEL, X, 0.98, selection, 900, 0, tell=True)
    held = held_out(len(X))
    assert not np.isin(chosen, held).any()
    assert_allclose(error, left(X, X[chosen], held), rtol=1e-6)
    assert error <= 0.02 < left(X, X[chosen[:-1]], held)


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_new_rows_have_the_stated_error(X, selection, dtype):
    """240 held-out rows know the mean of residuals like these to 7 %: five standard errors are allowed."""
    model = Landmarks(0.98, KERNEL, selection=selection, random_state=0).fit(X.astype(dtype))
    new = np.random.default_rng(1).normal(size=(5000, 4)).astype(dtype)
    error = model.residual(new).sum() / len(new)
    assert 0.65 < error / model.trace_error_ < 1.35
    assert model.trace_error_ <= 0.02 * (1.2 if selection == "kmeans" else 1)
    assert model.transform(new[:3]).shape == (3, model.n_components_)


def test_a_smaller_error_takes_more_landmarks(X):
    numbers = [
        Landmarks(s, KERNEL, random_state=0).fit(X).n_components_ for s in (0.9, 0.99, 0.999)
    ]
    assert numbers[0] < numbers[1] < numbers[2]
    again = Landmarks(5, KERNEL, random_state=0).fit(X).set_params(n_components=0.9).fit(X)
    assert again.n_components_ == numbers[0]
    assert not hasattr(again.set_params(n_components=5).fit(X), "trace_error_")


def test_kernel_map(X):
    model = KernelMap(kernel=KERNEL, solver="landmarks", n_landmarks=0.98, random_state=0).fit(X)
    landmarks = Landmarks(0.98, KERNEL, random_state=0).fit(X)
    assert_array_equal(model.points_, landmarks.points_)
    assert model.trace_error_ == landmarks.trace_error_
    assert not hasattr(model.set_params(n_landmarks=20).fit(X), "trace_error_")


def test_words():
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("ab"), size=6)) for _ in range(200)]
    model = Landmarks(0.9, SequenceKernel(), random_state=0).fit(words)
    assert model.n_components_ < 20 and model.trace_error_ <= 0.1
    assert model.residual(words).shape == (200,)


@pytest.mark.parametrize("selection", SELECTIONS)
def test_rows_whose_sample_holds_all_of_them(X, selection):
    model = Landmarks(0.98, KERNEL, selection=selection, random_state=0)
    want = model.fit(X)
    points, error = want.points_, want.trace_error_
    model.fit(Rows.from_arrays(X, memory=4))
    assert_array_equal(model.points_, points)
    assert model.trace_error_ == error
    streamed = KernelMap(kernel=KERNEL, n_landmarks=0.98, selection=selection, random_state=0)
    streamed.fit(Rows.from_arrays(X, memory=4))
    assert_array_equal(streamed.points_, points)
    assert streamed.trace_error_ == error


def test_a_bound_on_memory_is_a_bound_on_landmarks(X):
    with pytest.warns(UserWarning, match="leave .* requested, and more take too much memory"):
        model = Landmarks(0.99999, KERNEL, random_state=0).fit(Rows.from_arrays(X, memory=0.5))
    assert model.n_components_ <= int(np.sqrt(2**19 / 32)) == 128
    with pytest.warns(UserWarning, match="there are no more samples"):
        Landmarks(0.99, RBF(10.0), random_state=0).fit(X[:100])


@pytest.mark.parametrize("value, message", [(0.0, "zero for every"), (np.nan, "NaN|not finite")])
def test_kernels_without_a_trace(value, message):
    with pytest.raises(ValueError, match=message):
        Landmarks(0.9, lambda a, b: value).fit(np.arange(40.0)[:, None])


def test_landmarks_that_span_everything_are_enough():
    few = np.tile(np.random.default_rng(0).normal(size=(5, 3)), (100, 1))
    model = Landmarks(0.999999999, KERNEL, random_state=0).fit(few)
    assert model.n_components_ == 5 and model.trace_error_ < 1e-9


# -- the number that follows from a ridge ---------------------------------------------------------------


def test_the_number_follows_from_the_ridge(X, monkeypatch):
    """Beyond the exact solution; the error is that of the exact one whatever the weight."""
    rng = np.random.default_rng(2)
    f = np.sin(X[:, 0] + X[:, 1]) + 0.1 * rng.normal(size=len(X))
    A, y, B, truth = X[:900], f[:900], X[900:], f[900:]
    numbers = []
    for alpha in (10.0, 1.0, 0.1):
        inputs = KernelMap(kernel=RBF(0.03), random_state=0)
        exact = DependencyRegressor(inputs, Ridge(alpha)).fit(A, y)
        with monkeypatch.context() as bound:
            bound.setattr(cost, "OPERATIONS", cost.EIGEN_OPERATIONS * 290**3)
            model = DependencyRegressor(inputs, Ridge(alpha)).fit(A, y)
        assert exact.solver_ == "dual" and isinstance(model.inputs_, Landmarks)
        numbers.append(len(model.inputs_.points_))
        assert model.inputs_.trace_error_ <= 0.1 * alpha / len(A)
        errors = [np.sqrt(((m.predict(B) - truth) ** 2).mean()) for m in (model, exact)]
        assert errors[0] < 1.01 * errors[1]
        F, F_new = model.inputs_.transform(A), model.inputs_.transform(B)
        full = dual_ridge(
            F @ F.T, y[:, None], alpha
        )  # by the kernel of the landmarks, all rows at once
        expected = F_new @ (F.T @ full.dual_coef[:, 0]) + full.intercept
        assert_allclose(model.predict(B), expected, rtol=1e-8, atol=1e-10)
    assert numbers[0] < numbers[1] < numbers[2]


@pytest.mark.parametrize(
    "model",
    [
        Landmarks(1.0),
        Landmarks(-0.5),
        KernelMap(solver="landmarks", n_landmarks=1.5),
        KernelMap(solver="fourier", n_landmarks=0.9),
    ],
)
def test_errors(model, X):
    with pytest.raises(ValueError, match=r"(n_components|n_landmarks) == .*must be"):
        model.fit(X)
    with pytest.raises(ValueError, match=r"(n_components|n_landmarks) == .*must be"):
        model.fit(Rows.from_arrays(X))
