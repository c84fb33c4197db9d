"""Laws of regression with an output kernel: no accident of rows or of the last digit decides an answer."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.cross_decomposition import PLSRegression
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isthmus import DependencyRegressor, KernelMap, Rows
from isthmus.preimages import FixedPoint
from isthmus.preimages.ranks import ranks
from isthmus.regression import PLS, ManifoldPLS, ReducedRankRegression, StiefelRegression

MAPS = [
    Ridge(0.01),
    ReducedRankRegression(2, alpha=0.01),
    PLS(2),
    PLS(4, scale="pareto"),
    PLSRegression(2),
]
# How far answers may move, as a part of their range: iterations stop at 1e-6 of the data's scale.
PREIMAGES = {"auto": 1e-8, "distance": 1e-8, "nearest": 1e-8, "fixed_point": 1e-5, "gradient": 1e-4}


@pytest.fixture(params=range(2))
def data(request):
    rng = np.random.default_rng(request.param)
    X = rng.normal(size=(60, 4))
    return X, np.sin(X @ rng.normal(size=(4, 3))) + 0.1 * rng.normal(size=(60, 3))


def predicted(X, Y, map_, preimage, X_test):
    return (
        DependencyRegressor(KernelMap(), map_, KernelMap(preimage=preimage))
        .fit(X, Y)
        .predict(X_test)
    )


def moved(first, second):
    return np.abs(first - second).max() / np.ptp(first, axis=0).max()


@pytest.mark.parametrize("map_", MAPS, ids=str)
@pytest.mark.parametrize("preimage", PREIMAGES)
def test_tiny_noise_and_the_order_of_rows_move_no_answer(map_, preimage, data):
    X, Y = data
    rng = np.random.default_rng(7)
    once = predicted(X, Y, map_, preimage, X)
    noisy = predicted(X, Y + 1e-13 * rng.normal(size=Y.shape), map_, preimage, X)
    assert moved(once, noisy) < PREIMAGES[preimage]
    order = rng.permutation(len(X))
    assert moved(once, predicted(X[order], Y[order], map_, preimage, X)) < PREIMAGES[preimage]


def test_coordinates_of_a_kernel_are_not_scaled_and_plain_outputs_are(data):
    X, Y = data
    X_test, units = X + 0.1, np.array([1.0, 1e3, 1e-3])
    plain = DependencyRegressor(KernelMap(), PLS(3, scale=False), scale_y=True).fit(X, Y)
    scaled = DependencyRegressor(KernelMap(), PLS(3)).fit(X, Y)
    assert_allclose(scaled.predict(X_test), plain.predict(X_test), rtol=1e-10)
    other = DependencyRegressor(KernelMap(), PLS(3)).fit(X, Y * units)
    assert_allclose(other.predict(X_test), scaled.predict(X_test) * units, rtol=1e-7)
    inputs = KernelMap(0.9, gamma=0.1, solver="landmarks", n_landmarks=20, random_state=0)
    blocks = [DependencyRegressor(inputs, PLS(2, scale=s), scale_y=not s) for s in (True, False)]
    a, b = (model.fit(Rows(lambda: [(X, Y)])).predict(X_test) for model in blocks)
    assert_allclose(a, b, rtol=1e-8)


def test_a_transformer_of_the_user_is_scaled_as_before(data):
    X, Y = data
    model = DependencyRegressor(StandardScaler(), PLS(2)).fit(X, Y)
    assert_allclose(model.predict(X), PLS(2).fit(X, Y).predict(X), rtol=1e-8)


def test_samples_are_dealt_by_what_they_are():
    rng = np.random.default_rng(0)
    X, Psi = rng.normal(size=(50, 3)), rng.integers(3, size=(50, 1)).astype(float)
    order = rng.permutation(50)
    assert_allclose(ranks(Psi[order], X[order]), ranks(Psi, X)[order])
    assert sorted(ranks(Psi, X)) == list(range(50))
    words = [str(row) for row in X]  # inputs without numbers: ties of the outputs go by place
    assert len(set(ranks(rng.normal(size=(50, 2)), words))) == 50


def test_of_two_equal_neighbours_the_smaller_is_taken():
    X = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    for rows in (X, X[::-1]):
        embedding = KernelMap(gamma=2.0).fit(rows)
        method = FixedPoint().fit(rows, embedding.transform(rows), embedding)
        middle = embedding.transform(np.array([[0.0, 1.0]]))
        losses = method._fitted_losses(method._targets(middle))
        assert_allclose(method._nearest_objects(losses), [[-1.0, 1.0]])


@pytest.mark.parametrize("map_", [StiefelRegression(2), ManifoldPLS(2)], ids=str)
@pytest.mark.parametrize("preimage", ["auto", "fixed_point"])
def test_maps_on_manifolds_too(map_, preimage, data):
    """They are iterated to their own tolerance, from where the data lead and not from the rows."""
    X, Y = data
    rng = np.random.default_rng(7)
    once = predicted(X, Y, map_, preimage, X)
    noisy = predicted(X, Y + 1e-13 * rng.normal(size=Y.shape), map_, preimage, X)
    assert moved(once, noisy) < 1e-4
    order = rng.permutation(len(X))
    assert moved(once, predicted(X[order], Y[order], map_, preimage, X)) < 1e-4


@pytest.mark.parametrize("preimage", PREIMAGES)
@pytest.mark.parametrize("n_components", [3, None])
def test_a_kernel_map_and_back(preimage, n_components, data):
    """Few components leave many objects behind the same scores: none of them may win by accident."""
    _, Y = data
    rng = np.random.default_rng(7)

    def back(rows):
        model = KernelMap(n_components, preimage=preimage).fit(rows)
        return model.inverse_transform(model.transform(Y))

    once = back(Y)
    assert moved(once, back(Y + 1e-13 * rng.normal(size=Y.shape))) < PREIMAGES[preimage]
    assert moved(once, back(Y[rng.permutation(len(Y))])) < PREIMAGES[preimage]


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "polynomial"])
def test_a_plain_pipeline_scales_no_rounding(kernel, data):
    """Eigenvalues below 1e-10 of the largest are not coordinates, so that dividing by deviations raises
    rounding of 1e-16 to about 1e-6 and no further."""
    X, Y = data
    rng = np.random.default_rng(7)

    def answers(rows, outputs):
        return make_pipeline(KernelMap(kernel=kernel), PLS(2)).fit(rows, outputs).predict(X + 0.1)

    once = answers(X, Y)
    assert moved(once, answers(X, Y + 1e-13 * rng.normal(size=Y.shape))) < 1e-5
    assert moved(once, answers(X + 1e-13 * rng.normal(size=X.shape), Y)) < 1e-5
    order = rng.permutation(len(X))
    assert moved(once, answers(X[order], Y[order])) < 1e-5
