"""Ridge weight and kernel width that a default call chooses: refits without each row are the oracle."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isthmus import COIR, MORP, DependencyRegressor, KernelCCA, KernelMap, KernelSIR, Rows, compress
from isthmus._linalg import spreads
from isthmus.dependency import chosen_ridge
from isthmus.features import Landmarks, left_out
from isthmus.features.left_out import left_out_ridge
from isthmus.kernels import RBF, Linear, Standardised, gram

SHAPES = {"n < p": (14, 25), "n = p": (16, 16), "n > p": (40, 3)}


def make(n, p, q=2, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(2, 1, size=(n, p)) * np.linspace(0.5, 20, p)
    Y = np.tanh((X - 2) / np.linspace(0.5, 20, p) @ rng.normal(size=(p, q)) / np.sqrt(p))
    return X, Y * np.linspace(1, 50, q) + noise * np.linspace(1, 50, q) * rng.normal(size=(n, q))


def refitted_error(kernel, X, Y, w, alpha):
    """Squared error of each row by the fit without it: (K + alpha / w) with an unpenalised constant."""
    total = 0.0
    K = gram(kernel, X)
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        A = np.block([
            [K[np.ix_(rest, rest)] + np.diag(alpha / w[rest]), np.ones((rest.sum(), 1))],
            [np.ones((1, rest.sum())), np.zeros((1, 1))],
        ])  # fmt: skip
        found = np.linalg.solve(A, np.vstack([Y[rest], np.zeros(Y.shape[1])]))
        total += w[i] * ((Y[i] - K[i, rest] @ found[:-1] - found[-1]) ** 2).sum()
    return total / w.sum()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kernel", [RBF(0.02), Linear()], ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_weight_is_the_best_of_refits(shape, kernel, weighted):
    X, Y = make(*SHAPES[shape])
    rng = np.random.default_rng(3)
    w = rng.uniform(0.3, 3, len(X)) if weighted else np.ones(len(X))
    alpha, error, mean_square = left_out_ridge(kernel, X, Y, w if weighted else None, 100)
    centred = np.average((X - np.average(X, axis=0, weights=w)) ** 2, axis=0, weights=w).sum()
    if isinstance(kernel, Linear):
        assert_allclose(mean_square, centred)
    assert_allclose(error, refitted_error(kernel, X, Y, w, alpha), rtol=1e-6)
    steps = left_out._MEAN_SHARES * mean_square * w.mean()
    assert np.abs(steps / alpha - 1).min() < 1e-12
    errors = [refitted_error(kernel, X, Y, w, a) for a in steps]
    assert error <= min(errors) * (1 + 1e-6)


def test_a_wide_table_given_twice_keeps_its_ridge():
    X, Y = make(20, 60, noise=2.0)
    once = left_out_ridge(Linear(), X, Y, None, 100)
    twice = left_out_ridge(Linear(), np.repeat(X, 2, axis=0), np.repeat(Y, 2, axis=0), None, 100)
    weighted = left_out_ridge(Linear(), X, Y, np.full(20, 2.0), 100)
    assert_allclose(twice, [2 * once[0], *once[1:]], rtol=1e-9)
    assert_allclose(weighted, twice, rtol=1e-9)
    assert once[0] > 1e-4 * once[2]


def test_one_input_with_few_values_is_told_by_its_rows():
    """Left out as a whole a value could not be told, and the largest ridge would look best."""
    x = np.repeat([0.0, 1.0, 2.0], 30)[:, None]
    y = x[:, 0] ** 2 + 0.1 * np.random.default_rng(0).normal(size=90)
    model = DependencyRegressor().fit(x, y)
    assert_allclose(model.predict([[0.0], [1.0], [2.0]]), [0, 1, 4], atol=0.15)


# -- the width --------------------------------------------------------------------------------


def kernel_of(model):
    kernel = model.expansion_.kernel
    assert isinstance(kernel, Standardised)
    return kernel.kernel


def test_width_and_linearity_are_those_of_the_data():
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, (150, 1))
    noise = 0.1 * rng.normal(size=150)
    wave = DependencyRegressor().fit(x, np.sin(4 * x[:, 0]) + noise)
    slow = DependencyRegressor().fit(x, np.sin(0.7 * x[:, 0]) + noise)
    assert kernel_of(wave).gamma > 3 * kernel_of(slow).gamma
    new = rng.uniform(-3, 3, (200, 1))
    assert np.abs(wave.predict(new) - np.sin(4 * new[:, 0])).mean() < 0.1
    X = rng.normal(size=(60, 100)) @ np.diag(np.linspace(1, 0.1, 100))
    line = DependencyRegressor().fit(X, X @ rng.normal(size=100))
    assert isinstance(kernel_of(line), Linear)


def test_of_many_rows_some_are_compared_whatever_their_order(monkeypatch):
    X, Y = make(200, 4)
    monkeypatch.setattr(chosen_ridge, "_WIDTH_ROWS", 50)
    monkeypatch.setattr(chosen_ridge, "WEIGHT_ROWS", 120)
    once = DependencyRegressor().fit(X, Y)
    order = np.random.default_rng(1).permutation(len(X))
    again = DependencyRegressor().fit(X[order], Y[order])
    assert repr(kernel_of(once)) == repr(kernel_of(again))
    assert_allclose(again.predict(X), once.predict(X), rtol=1e-6, atol=1e-6)


def test_sparse_rows_and_rows_in_blocks_are_the_same_fit():
    X, Y = make(90, 6)
    X[X < 2] = 0.0
    dense = DependencyRegressor().fit(X, Y)
    sparse = DependencyRegressor().fit(csr_array(X), Y)
    assert_allclose(sparse.predict(csr_array(X)), dense.predict(X), rtol=1e-5, atol=1e-6)
    assert_allclose(dense.predict(csr_array(X)), dense.predict(X), rtol=1e-9)
    X, Y = make(600, 6)
    whole, blocks = (
        DependencyRegressor().fit(*given) for given in ((X, Y), [Rows.from_arrays(X, Y)])
    )
    assert repr(kernel_of(whole)) == repr(kernel_of(blocks))
    assert_allclose(blocks.predict(X), whole.predict(X), atol=0.05 * Y.std(axis=0).max())


def test_what_is_given_stays():
    X, Y = make(50, 4)
    given = DependencyRegressor(KernelMap(gamma=0.3)).fit(X, Y)
    assert given.expansion_.kernel == RBF(0.3)
    assert DependencyRegressor(KernelMap(), Ridge(2.5)).fit(X, Y)._make_map().alpha == 2.5
    stays = DependencyRegressor(map=Ridge(2.5)).fit(X, Y)
    assert_allclose(
        stays.predict(X), DependencyRegressor(KernelMap(), Ridge(2.5)).fit(X, Y).predict(X)
    )


@pytest.mark.parametrize(
    "inputs", [KernelMap(), KernelMap(5), Landmarks(20, random_state=0), StandardScaler()], ids=repr
)
def test_every_phi_has_a_weight_of_its_own(inputs):
    X = np.random.default_rng(0).normal(size=(60, 3))
    Y = np.c_[X[:, 0], 5 * X[:, 1] - X[:, 2]]
    model = DependencyRegressor(inputs).fit(X, Y)
    pipe = make_pipeline(inputs, Ridge(1e6)).fit(X, Y)
    assert model.score(X, Y) > 0.2 > pipe.score(X, Y)


def test_outputs_with_a_kernel_have_the_weight_of_the_outputs_themselves():
    X, Y = make(80, 3, noise=0.1)
    plain = chosen_ridge.choose_stages(None, X, Y / spreads(Y), None)
    model = DependencyRegressor(outputs=KernelMap(preimage="nearest")).fit(X, Y)
    assert repr(model.expansion_.kernel) == repr(plain[0].kernel)


def test_a_default_model_is_compressed():
    X, Y = make(120, 3, noise=0.1)
    model = DependencyRegressor().fit(X, Y)
    small = compress(model, 40, X=X)
    assert_allclose(small.predict(X), model.predict(X), atol=0.2 * Y.std())


# -- projections ------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [COIR, KernelCCA, MORP])
def test_a_projection_has_the_ridge_of_the_regression_of_its_outputs(cls):
    X, Y = make(50, 4)
    model = cls(gamma=0.01, random_state=0).fit(X, Y)
    alpha, _, mean_square = left_out_ridge(RBF(0.01), X, Y / Y.std(axis=0), None, 50)
    assert_allclose(model.alpha_, alpha / mean_square if cls is MORP else alpha, rtol=1e-9)
    assert_allclose(
        cls(gamma=0.01, alpha=model.alpha_).fit(X, Y).transform(X), model.transform(X), rtol=1e-9
    )


def test_objects_are_outputs_with_a_ridge_too():
    X, Y = make(40, 3)
    words = [
        "a" * int(k) + "b" for k in np.digitize(Y[:, 0], np.quantile(Y[:, 0], [0.2, 0.5, 0.8]))
    ]
    from isthmus.kernels import SpectrumKernel

    model = COIR(1, kernel_y=SpectrumKernel(1)).fit(X, words)
    assert 0 < model.alpha_ < np.inf


def test_kernel_sir_chooses_its_ridge_in_folds_that_are_the_same_every_time():
    X, Y = make(80, 4)
    first, second = (KernelSIR(gamma=0.01).fit(X, Y[:, 0]) for _ in range(2))
    assert first.alpha_ == second.alpha_ and np.isfinite(first.held_out_score_)
    searched = KernelSIR(gamma=0.01, alpha="cv", random_state=0).fit(X, Y[:, 0])
    assert first.alpha_ == searched.alpha_
    few = KernelSIR().fit(X[:8], Y[:8, 0])
    assert np.isnan(few.held_out_score_) and few.alpha_ > 0
