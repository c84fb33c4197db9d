"""Estimators on Dask collections: the fits of the same rows in memory, and nothing gathered in silence."""

from inspect import signature

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose
from sklearn.metrics import r2_score
from sklearn.pipeline import make_pipeline

import isthmus
from isthmus import (
    COIR,
    MORP,
    PCR,
    PLS,
    BayesianStiefelRegression,
    ComponentSearchCV,
    DependencyRegressor,
    KernelMap,
    KernelSIR,
    Landmarks,
    ManifoldPLS,
    Moments,
    ReducedRankRegression,
    Rows,
    StiefelRegression,
)
from isthmus.features import FourierFeatures

dask = pytest.importorskip("dask", reason="the extra dask is not installed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

N, P, Q = 307, 5, 2
NAMES = ["a", "b", "c", "d", "e"]
TARGETS = ["oil", "starch"]


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(2, 1, size=(N, P))
    return X, np.sin(X[:, :Q]) + 0.1 * rng.normal(size=(N, Q))


@pytest.fixture(scope="module")
def arrays(data):
    return da.from_array(data[0], chunks=(50, P)), da.from_array(data[1], chunks=(70, 1))


@pytest.fixture(scope="module")
def frame(data):
    table = pd.DataFrame(np.column_stack(data), columns=[*NAMES, *TARGETS])
    return dd.from_pandas(table, npartitions=4)


EXACT = [
    PCR(3),
    PLS(2),
    PLS(2, scale=False),
    ReducedRankRegression(1, alpha=1.0),
    ManifoldPLS(2, alpha=0.0),
    StiefelRegression(2, alpha=0.0),
]


@pytest.mark.parametrize("model", EXACT, ids=lambda model: type(model).__name__)
def test_fits_are_those_in_memory(data, arrays, frame, model):
    X, Y = data
    model = sklearn.clone(model)
    expected, scores = model.fit(X, Y).predict(X), model.transform(X)
    model.fit(*arrays)
    assert_allclose(model.predict(arrays[0]).compute(), expected, rtol=1e-10, atol=1e-10)
    found = model.transform(arrays[0]).compute()
    assert_allclose(np.abs(found), np.abs(scores), rtol=1e-8, atol=1e-8)  # signs by another rule
    some = frame[frame["a"] > 2]  # lengths that nobody knows
    kept = X[:, 0] > 2
    expected = model.fit(X[kept], Y[kept]).predict(X[kept])
    model.fit(some[NAMES], some[TARGETS])
    assert_allclose(model.predict(some[NAMES]).compute(), expected, rtol=1e-10, atol=1e-10)


LANDMARKS = {
    "landmarks": make_pipeline(Landmarks(20, random_state=0), ReducedRankRegression(alpha=1.0)),
    "landmarks for an error": make_pipeline(
        Landmarks(0.9, selection="cholesky", random_state=0), ReducedRankRegression(alpha=1.0)
    ),
    "waves": make_pipeline(FourierFeatures(20, random_state=0), ReducedRankRegression(alpha=1.0)),
    "kernel map": make_pipeline(
        KernelMap(n_components=8, solver="landmarks", n_landmarks=20, random_state=0), PCR(3)
    ),
    "dependency": DependencyRegressor(
        KernelMap(solver="landmarks", n_landmarks=20, random_state=0), PLS(2)
    ),
}


@pytest.mark.parametrize("name", LANDMARKS)
def test_landmark_fits_are_those_of_rows(data, arrays, name):
    X, Y = data
    model = sklearn.clone(LANDMARKS[name])
    expected = model.fit(Rows.from_arrays(X, Y)).predict(X)
    found = model.fit(*arrays).predict(arrays[0])
    assert isinstance(found, da.Array)
    assert_allclose(found.compute(), expected, rtol=1e-7, atol=1e-7)
    assert_allclose(model.score(*arrays), r2_score(Y, expected), rtol=1e-7)


def test_any_loss_is_summed_where_chunks_live(data, arrays):
    X, Y = data
    model = StiefelRegression(1, loss="huber", alpha=1.0)
    expected = model.fit(Rows.from_arrays(X, Y)).coef_
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "isthmus.problems.streams.dask_rows.DaskReader.read", None
        )  # no chunk is brought here
        model.fit(*arrays)
    assert_allclose(model.coef_, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    "model",
    [COIR(2, alpha=0.1), MORP(2, alpha=0.1), KernelSIR(2, alpha=0.1)],
    ids=lambda model: type(model).__name__,
)
def test_projections_are_those_of_rows(data, arrays, model):
    X, Y = data
    model = model.set_params(n_landmarks=20, solver="features", random_state=0)
    expected = model.fit(Rows.from_arrays(X, Y[:, 0])).transform(X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "isthmus.problems.streams.dask_rows.DaskReader.read", None
        )  # no chunk is brought here
        found = model.fit(arrays[0], arrays[1][:, 0]).transform(arrays[0])
    assert isinstance(found, da.Array)
    assert_allclose(found.compute(), expected, rtol=1e-6, atol=1e-6)


def test_search_is_that_of_the_same_folds(data, arrays):
    X, Y = data
    fold = np.arange(N) % 3
    splits = [(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(3)]
    expected = ComponentSearchCV(ReducedRankRegression(), cv=splits).fit(X, Y)
    found = ComponentSearchCV(ReducedRankRegression(), cv=3).fit(*arrays)
    for name in ("mean_test_score", "split2_test_score"):
        assert_allclose(found.cv_results_[name], expected.cv_results_[name], rtol=1e-9)
    assert found.best_params_["n_components"] == expected.best_params_["n_components"]
    assert_allclose(found.predict(arrays[0]).compute(), expected.predict(X), rtol=1e-8, atol=1e-8)
    assert_allclose(found.score(*arrays), expected.score(X, Y), rtol=1e-9)


def test_weights(data, arrays):
    X, Y = data
    w = np.random.default_rng(1).integers(0, 3, size=N)
    model = PLS(2).fit(*arrays, da.from_array(w, chunks=100))
    assert_allclose(model.coef_, PLS(2).fit(X, Y, w).coef_, rtol=1e-9)
    assert_allclose(model.score(*arrays, w), model.score(X, Y, w), rtol=1e-9)


def test_frames_come_back_with_names_and_index(frame):
    some = frame[frame["a"] > 2]
    model = PLS(2).fit(some[NAMES], some[TARGETS])
    assert list(model.feature_names_in_) == NAMES
    predicted, scores = model.predict(some[NAMES]), model.transform(some[NAMES])
    assert list(predicted.columns) == TARGETS and list(scores.columns) == ["pls0", "pls1"]
    in_memory = some.compute()
    pd.testing.assert_index_equal(predicted.compute().index, in_memory.index)
    assert_allclose(predicted.compute(), model.predict(in_memory[NAMES]), rtol=1e-12)
    joined = some.assign(guess=predicted["oil"]).compute()
    assert_allclose(joined["guess"], model.predict(in_memory[NAMES])[:, 0])
    single = PLS(2).fit(some[NAMES], some["oil"]).predict(some[NAMES])
    assert single.name == "oil" and single.compute().shape == (len(in_memory),)
    with pytest.raises(ValueError, match="the rows have the columns"):
        model.predict(some[NAMES[::-1]])


def test_names_of_an_earlier_fit_are_forgotten(data, frame):
    model = PLS(2).fit(frame[NAMES], frame[TARGETS])
    model.fit(frame[NAMES].compute(), data[1])
    assert list(model.predict(frame[NAMES]).columns) == ["y0", "y1"]


def test_lazy_results_know_their_shape(data, arrays):
    dX, dY = arrays
    single = PLS(2).fit(dX.astype(np.float32), dY[:, 0].astype(np.float32))
    found = single.predict(dX.astype(np.float32))
    assert found.shape == (N,) and found.dtype == np.float32 and found.chunks == (dX.chunks[0],)
    assert found.compute().dtype == np.float32
    model = PLS(2).fit(dX, dY)
    gaps = da.from_array(data[0], chunks=((0, 100, 0, 207), P))
    assert_allclose(model.transform(gaps).compute(), model.transform(data[0]))
    with pytest.warns(UserWarning, match="chunked by columns"):
        by_columns = model.predict(dX.rechunk((50, 2)))
    assert_allclose(by_columns.compute(), model.predict(data[0]))
    spoilt = da.where(da.arange(N, chunks=50)[:, None] == 170, np.nan, dX)
    with pytest.raises(ValueError, match="chunk 3: Input X contains NaN"):
        model.predict(spoilt).compute()


def test_scikit_learn_may_not_gather_what_comes_out(arrays):
    model = PLS(2).fit(*arrays).set_output(transform="pandas")
    with pytest.raises(ValueError, match="transform_output == 'pandas' would bring"):
        model.transform(arrays[0])


PUBLIC = [getattr(isthmus, name) for name in sorted(isthmus.__all__)]
ESTIMATORS = [
    kind
    for kind in PUBLIC
    if isinstance(kind, type) and issubclass(kind, sklearn.base.BaseEstimator)
]


@pytest.mark.filterwarnings("ignore:n_components == 500 landmarks are more")
@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_no_estimator_gathers_in_silence(arrays, kind):
    """Whatever a fit does with a chunk that may not be brought here, it does not bring all of them here."""
    gathered = []

    class Watch(dask.callbacks.Callback):
        def _posttask(self, key, value, dsk, state, id):
            if isinstance(value, np.ndarray) and value.shape[:1] == (N,) and value.ndim == 2:
                gathered.append(key)

    def forbidden(self, *args, **options):
        raise AssertionError("gathered in silence")

    with pytest.MonkeyPatch.context() as patch, Watch():
        patch.setattr(da.Array, "__array__", forbidden)
        model = kind(PLS()) if "estimator" in signature(kind).parameters else kind()
        try:
            model.fit(*arrays)
        except (TypeError, ValueError) as error:
            assert "Dask" in str(error) or "Rows" in str(error)
    assert not gathered


@pytest.mark.parametrize(
    "call",
    [
        lambda model, X, y: model.partial_fit(X, y),
        lambda model, X, y: model.inverse_transform(model.transform(X)),
        lambda model, X, y: model.y_scores(y),
        lambda model, X, y: model.predict_path(X),
        lambda model, X, y: Moments.from_data(X, y),
        lambda model, X, y: model.fit(X.compute(), y),
        lambda model, X, y: PLS(2, missing="em").fit(X, y),
        lambda model, X, y: BayesianStiefelRegression(2, likelihood="student").fit(X, y),
    ],
)
def test_what_cannot_be_lazy_says_what_to_do(arrays, call):
    model = PLS(2).fit(*arrays)
    with pytest.raises((TypeError, ValueError), match=r"\.compute\(\)|Rows|in memory"):
        call(model, *arrays)
