"""Laws of regression with an output kernel: no accident of rows or of the last digit decides an answer."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isthmus import DependencyRegressor, KernelMap, Rows
from isthmus.preimages import FixedPoint, Learned
from isthmus.preimages.rank_order import ranks
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


@pytest.mark.parametrize("cv", [4, "splits"])
@pytest.mark.parametrize("solver", ["dual", "stages"])
def test_copies_are_weights_for_a_learned_preimage(solver, cv, data):
    """Copies are held out together, however they are shuffled; given splits may part them."""
    X, Y = data
    rng = np.random.default_rng(5)
    counts = rng.integers(1, 4, size=len(X))
    rows = rng.permutation(np.repeat(np.arange(len(X)), counts))
    folds = np.arange(len(X)) % 3

    def answers(places, weights):
        of_each = folds[places]
        splits = [(np.flatnonzero(of_each != k), np.flatnonzero(of_each == k)) for k in range(3)]
        outputs = KernelMap(gamma=0.5, preimage="learned")
        model = DependencyRegressor(
            KernelMap(gamma=0.2), Ridge(0.1), outputs, solver=solver, cv=cv if cv == 4 else splits
        )
        return model.fit(X[places], Y[places], sample_weight=weights).predict(X + 0.1)

    everything = np.arange(len(X))
    weighted = answers(everything, counts.astype(float))
    assert moved(weighted, answers(rows, None)) < 1e-8
    assert moved(weighted, answers(everything, None)) > 1e-4  # weights matter


def test_given_splits_are_those_of_the_scores(data):
    """A refit without each fold, and a pre-image of one ridge weight on what it predicts."""
    X, Y = data
    parts = [(np.arange(20, 60), np.arange(20)), (np.arange(20), np.arange(20, 60))]
    outputs = KernelMap(gamma=0.5, preimage=Learned(alpha=0.1))
    stages = KernelMap(gamma=0.2), Ridge(0.1)
    model = DependencyRegressor(*stages, outputs, cv=parts).fit(X, Y)
    Psi = KernelMap(gamma=0.5).fit_transform(Y)
    scores = np.empty_like(Psi)
    for train, test in parts:
        scores[test] = make_pipeline(*map(clone, stages)).fit(X[train], Psi[train]).predict(X[test])
    oracle = Learned(alpha=0.1).fit(Y, scores, KernelMap(gamma=0.5).fit(Y))
    new = X + 0.1
    assert moved(oracle.inverse(model.predict_embedding(new)), model.predict(new)) < 1e-8
    for bad in (1, True, 2.5, parts[:1], [(np.arange(20), np.arange(30))] * 2):
        with pytest.raises(ValueError, match="cv"):
            DependencyRegressor(*stages, outputs, cv=bad).fit(X, Y)
