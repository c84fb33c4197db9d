"""Feature maps of Rows. Oracle: the fit in memory; a sample that holds all rows is all rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from isthmus import (
    PLS,
    ComponentSearchCV,
    DependencyRegressor,
    KernelMap,
    Landmarks,
    ReducedRankRegression,
    Rows,
)
from isthmus.features.fourier import FourierFeatures

SMALL = 3.0  # MiB: some twenty blocks of features


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    return X, np.column_stack([np.sin(2 * X[:, 0]), X[:, 1] ** 2 + 0.1 * X[:, 2]]) + 5


def stacked(rows):
    return np.vstack([block[0] for block in rows.blocks()])


@pytest.mark.parametrize("selection", ["uniform", "kmeans", "cholesky", "leverage"])
def test_landmarks(data, selection):
    X, Y = data
    model = Landmarks(40, gamma=0.5, selection=selection, random_state=0)
    rows = Rows.from_arrays(X, Y, memory=SMALL)
    want = model.fit(X).transform(X)
    found = model.fit(rows)
    assert_allclose(stacked(found.transform(rows)), want, atol=1e-10)


def test_landmarks_name_their_rows(data):
    X, Y = data
    found = Landmarks(40, random_state=0).fit(Rows.from_arrays(X, Y))
    assert_array_equal(found.points_, X[found.indices_])


def test_fourier_features_draw_the_same_waves(data):
    X = data[0]
    model = FourierFeatures(60, gamma=0.5, random_state=3)
    want = model.fit_transform(X)
    assert_allclose(stacked(model.fit_transform(Rows.from_arrays(X, memory=SMALL))), want)


@pytest.mark.parametrize("solver", ["landmarks", "fourier"])
@pytest.mark.parametrize("center", [True, False])
def test_kernel_map(data, solver, center):
    X, Y = data
    model = KernelMap(8, gamma=0.3, solver=solver, center=center, n_landmarks=60, random_state=0)
    want, values = model.fit_transform(X), model.eigenvalues_
    rows = Rows.from_arrays(X, Y, memory=SMALL)
    found = stacked(model.fit_transform(rows))
    assert_allclose(model.eigenvalues_, values, rtol=1e-9)
    signs = np.sign((found * want).sum(axis=0))
    assert_allclose(found * signs, want, atol=1e-7)


@pytest.mark.parametrize("features", [Landmarks(50, gamma=0.5, random_state=0),
                                      FourierFeatures(50, gamma=0.5, random_state=0),
                                      KernelMap(20, gamma=0.5, n_landmarks=50, solver="landmarks",
                                                random_state=0)], ids=str)  # fmt: skip
@pytest.mark.parametrize("model", [PLS(2), ReducedRankRegression(2, alpha=0.1)], ids=str)
def test_a_pipeline_takes_rows(data, features, model):
    X, Y = data
    rows = Rows.from_arrays(X, Y, memory=SMALL)
    want = make_pipeline(features, model).fit(X, Y).predict(X)
    pipeline = make_pipeline(features, model).fit(rows)
    assert_allclose(np.vstack(list(pipeline.predict(rows))), want, atol=1e-7)


def test_a_search_over_a_pipeline_fits_the_features_once(data):
    X, Y = data
    pipeline = make_pipeline(Landmarks(50, gamma=0.5, random_state=0), PLS())
    search = ComponentSearchCV(pipeline, n_components=10, cv=5).fit(
        Rows.from_arrays(X, Y, memory=SMALL)
    )
    F = pipeline[0].fit_transform(X)
    folds = [(np.flatnonzero(np.arange(1500) % 5 != k), np.arange(k, 1500, 5)) for k in range(5)]
    want = ComponentSearchCV(PLS(), n_components=10, cv=folds).fit(F, Y)
    assert_allclose(
        search.cv_results_["mean_test_score"], want.cv_results_["mean_test_score"], rtol=1e-8
    )
    assert search.best_params_["pls__n_components"] == want.best_params_["n_components"]
    assert_allclose(search.predict(X), want.predict(F), atol=1e-7)


@pytest.mark.parametrize(
    "map_", [None, Ridge(0.01), PLS(2), ReducedRankRegression(1, alpha=0.1)], ids=str
)
@pytest.mark.parametrize("scale_y", [False, True])
def test_dependency_regressor(data, map_, scale_y):
    X, Y = data
    inputs = KernelMap(gamma=0.5, n_landmarks=60, solver="landmarks", random_state=0)
    model = DependencyRegressor(inputs, map_, scale_y=scale_y)
    want = model.fit(X, Y).predict(X)
    # The weight of the default map is chosen on as many rows as the memory holds.
    rows = Rows.from_arrays(X, Y, memory=None if map_ is None else SMALL)
    model.fit(rows)
    assert_allclose(model.predict(X), want, atol=1e-6)
    assert_allclose(np.vstack(list(model.predict(rows))), want, atol=1e-6)


def test_float32_rows_are_as_good_as_in_memory(data):
    """Kernel values of float32 rows are summed and not their features; landmarks are nearly dependent."""
    X, Y = data
    for alpha in (1.0, 1e-2):
        model = DependencyRegressor(
            KernelMap(gamma=0.1, n_landmarks=200, random_state=0), Ridge(alpha)
        )
        want = model.fit(Rows.from_arrays(X, Y, memory=SMALL)).predict(X)
        X32, Y32 = X.astype(np.float32), Y.astype(np.float32)
        found = model.fit(Rows.from_arrays(X32, Y32, memory=SMALL)).predict(X32)
        in_memory = model.set_params(inputs__solver="landmarks").fit(X32, Y32).predict(X32)
        errors = [np.sqrt(((values - want) ** 2).mean()) for values in (found, in_memory)]
        assert errors[0] < 1.1 * errors[1] < 0.01


def test_dependency_regressor_with_waves(data):
    X, Y = data
    inputs = KernelMap(gamma=0.5, n_landmarks=60, solver="fourier", random_state=0)
    model = DependencyRegressor(inputs, Ridge(0.1))
    want = model.fit(X, Y[:, 0]).predict(X)
    assert_allclose(model.fit(Rows.from_arrays(X, Y[:, 0])).predict(X), want, atol=1e-6)


def test_a_sample_is_uniform_and_does_not_depend_on_the_blocks():
    n, m, draws = 400, 40, 300
    X = np.arange(n, dtype=float)[:, None]
    counts = np.zeros(n)
    for seed in range(draws):
        first = Rows.from_arrays(X, memory=0.01).sample(m, seed)
        again = Rows.from_arrays(X, memory=0.5).sample(m, seed)
        assert_array_equal(first[2], again[2])
        assert_array_equal(first[0][:, 0], first[2])
        counts[first[2]] += 1
    assert counts.sum() == m * draws
    # Binomial with mean 30 and deviation 5.2: a row beyond 6.5 deviations is a false alarm in 1e-7 runs.
    assert np.abs(counts - 30).max() < 6.5 * np.sqrt(30 * 0.9)
    assert abs(counts[: n // 2].sum() / counts.sum() - 0.5) < 0.03


def test_rows_of_weight_zero_are_not_drawn():
    X = np.arange(100.0)[:, None]
    w = (np.arange(100) % 2).astype(float)
    assert (Rows.from_arrays(X, X, w).sample(80, 0)[2] % 2 == 1).all()


def test_what_needs_all_rows_says_so(data):
    rows = Rows.from_arrays(*data)
    with pytest.raises(ValueError, match="needs all rows at once"):
        KernelMap(solver="exact").fit(rows)
    with pytest.raises(ValueError, match="outputs with a kernel"):
        DependencyRegressor(outputs=KernelMap()).fit(rows)
    with pytest.raises(ValueError, match="solver == 'dual'"):
        DependencyRegressor(solver="dual").fit(rows)
    with pytest.raises(ValueError, match="numbers for n_components"):
        DependencyRegressor(map=PLS("auto")).fit(rows)
    with pytest.raises(ValueError, match="no y"):
        DependencyRegressor().fit(Rows.from_arrays(data[0]))
