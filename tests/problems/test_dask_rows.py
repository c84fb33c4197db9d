"""Moments of Dask collections against those of the same rows in memory; lazy methods; clear errors."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from isthmus import Moments

dask = pytest.importorskip("dask", reason="the extra dask is not installed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

from isthmus.problems.streams.dask_rows import DaskRows  # noqa: E402 (it imports dask)

N, P, Q = 203, 4, 2
NAMES = ["a", "b", "c", "d"]
TARGETS = ["oil", "starch"]


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(3, [1, 2, 5, 0.1], size=(N, P))
    Y = X[:, :Q] + rng.normal(size=(N, Q))
    return X, Y, rng.uniform(size=N)


@pytest.fixture
def frame(data):
    X, Y, w = data
    table = pd.DataFrame(np.column_stack([X, Y, w]), columns=[*NAMES, *TARGETS, "w"])
    return dd.from_pandas(table, npartitions=6)


def assert_same(found, expected, rtol=1e-11):
    assert found.n_samples == expected.n_samples
    for name in ("weight", "x_mean", "y_mean", "xx", "xy"):
        assert_allclose(getattr(found, name), getattr(expected, name), rtol=rtol, atol=1e-10)
    yy = expected.yy if found.yy.ndim == 2 else expected.yy.diagonal()
    assert_allclose(found.yy, yy, rtol=rtol)


def array(values, *chunks):
    return da.from_array(values, chunks=chunks)


CHUNKINGS = {
    "alike": lambda X, Y, w: (array(X, 30, P), array(Y, 30, Q), array(w, 30)),
    "not aligned": lambda X, Y, w: (array(X, 30, P), array(Y, 47, 1), array(w, 100)),
    "one chunk": lambda X, Y, w: (array(X, N, P), array(Y, N, Q), array(w, N)),
    "a row each": lambda X, Y, w: (array(X, 1, P), array(Y, 1, Q), array(w, 1)),
    "plain y": lambda X, Y, w: (array(X, 30, P), Y, w),
    "empty chunks": lambda X, Y, w: (
        array(X, (0, 100, 0, 103, 0), P), array(Y, (0, 100, 0, 103, 0), Q), array(w, 40),
    ),
    "sparse": lambda X, Y, w: (
        array(X, 30, P).map_blocks(sparse.csr_matrix), array(Y, 30, Q), array(w, 30)
    ),
    "sparse coo": lambda X, Y, w: (
        array(X, 30, P).map_blocks(sparse.coo_array), array(Y, 30, Q), array(w, 30)
    ),
}  # fmt: skip


@pytest.mark.parametrize("chunking", CHUNKINGS)
def test_moments_are_those_of_all_rows(data, chunking):
    found = DaskRows(*CHUNKINGS[chunking](*data)).moments(full_yy=True)
    assert_same(found, Moments.from_data(*data))


def test_unknown_lengths(data):
    X, Y, w = data
    kept = X[:, 0] > 3
    dX, dY, dw = CHUNKINGS["alike"](*data)
    mask = dX[:, 0] > 3
    assert np.isnan(dX[mask].shape[0])
    found = DaskRows(dX[mask], dY[mask], dw[mask]).moments()
    assert_same(found, Moments.from_data(X[kept], Y[kept], w[kept]))


def test_frames_of_unknown_lengths(data, frame):
    X, Y, w = data
    kept = X[:, 0] > 3
    some = frame[frame["a"] > 3]
    rows = DaskRows(some[NAMES], some[TARGETS], some["w"])
    assert rows.n_samples is None
    assert rows.feature_names == NAMES and rows.target_names == TARGETS
    assert_same(rows.moments(), Moments.from_data(X[kept], Y[kept], w[kept]))


def test_a_frame_with_an_array(data, frame):
    X, Y, w = data
    rows = DaskRows(frame[NAMES].to_dask_array(lengths=True), frame[TARGETS], w)
    assert_same(rows.moments(), Moments.from_data(X, Y, w))
    lengths = tuple(frame.map_partitions(len).compute())
    rows = DaskRows(frame[NAMES], array(Y, lengths, Q))
    assert_same(rows.moments(), Moments.from_data(X, Y))


def test_frames_whose_divisions_differ_are_aligned(data, frame):
    other = frame[TARGETS].repartition(npartitions=2)
    assert_same(DaskRows(frame[NAMES], other).moments(), Moments.from_data(*data[:2]))


def test_integers_and_flags(data):
    X = np.round(data[0]).astype(np.int8)
    found = DaskRows(array(X, 30, P), array(X[:, 0] > 2, 30)).moments()
    assert_same(found, Moments.from_data(X.astype(float), (X[:, 0] > 2).astype(float)))


def test_nullable_columns(data, frame):
    nullable = frame[NAMES].astype("Float64")
    assert_same(
        DaskRows(nullable, frame["oil"]).moments(), Moments.from_data(data[0], data[1][:, 0])
    )


@pytest.mark.parametrize("n_folds", [2, 5, 7])
def test_folds_of_rows_whose_numbers_nobody_knows(data, frame, n_folds):
    X, Y, _ = data
    kept = X[:, 0] > 3
    some = frame[frame["a"] > 3]
    found = DaskRows(some[NAMES], some[TARGETS]).moments(n_folds)
    assert len(found) == n_folds
    for i, part in enumerate(found):
        assert_same(part, Moments.from_data(X[kept][i::n_folds], Y[kept][i::n_folds]))


def test_named_folds(data, frame):
    X, Y, _ = data
    labels = np.random.default_rng(1).integers(0, 3, size=N)
    labels[40:90] = -1  # a whole partition that is in no fold
    for rows in (DaskRows(frame[NAMES], frame[TARGETS]), DaskRows(array(X, 30, P), Y)):
        for fold, part in enumerate(rows.moments(labels)):
            assert_same(part, Moments.from_data(X[labels == fold], Y[labels == fold]))
    with pytest.raises(ValueError, match=f"folds names 5 rows, but the source has {N}"):
        rows.moments(np.zeros(5, dtype=int))


def test_maps_are_applied_to_the_chunks(data):
    X, Y, _ = data
    rows = DaskRows(array(X, 30, P), Y).map(np.square, P)
    assert_same(rows.moments(), Moments.from_data(X**2, Y))


def test_a_common_source_is_read_once():
    calls = []

    def load(i):
        calls.append(i)
        return pd.DataFrame({"a": [i, 1.0, 2.0], "y": [1.0, 2.0, i]})

    table = dd.from_map(load, [5.0, 6.0, 7.0], meta=load(0.0).iloc[:0])
    calls.clear()
    DaskRows(table[["a"]], table["y"]).moments()
    assert sorted(calls) == [5.0, 6.0, 7.0]


def test_only_sums_are_brought_here(data):
    """No task that the client waits for, and none that is merged, holds rows."""
    sizes = []

    class Watch(dask.callbacks.Callback):
        def _posttask(self, key, value, dsk, state, id):
            if isinstance(value, tuple) and value and isinstance(value[-1], list):
                sizes.append(sum(part.xx.nbytes + part.xy.nbytes for part in value[-1]))

    X = da.ones((5000, P), chunks=(50, P))
    with Watch():
        DaskRows(X, X[:, :1]).moments()
    assert len(sizes) >= 100 and max(sizes) == 8 * P * (P + 1)


def test_chunks_by_columns_say_what_they_cost(data):
    X, Y, _ = data
    with pytest.warns(
        UserWarning, match=r"chunked by columns \(2 chunks per row\).*sends up to 0 MiB"
    ):
        rows = DaskRows(array(X, 30, 2), Y)
    assert_same(rows.moments(), Moments.from_data(X, Y))


def with_nan(X, row):
    X = X.copy()
    X[row, 2] = np.nan
    return X


def test_a_chunk_with_nan_is_named(data):
    X, Y, _ = data
    with pytest.raises(ValueError, match="chunk 3: X has NaN in row 10 of the block, column 2"):
        DaskRows(array(with_nan(X, 100), 30, P), Y).moments()
    table = dd.from_pandas(pd.DataFrame(with_nan(X, 202), columns=NAMES), npartitions=6)
    with pytest.raises(ValueError, match=r"chunk 5: X has NaN .* column 2 \('c'\)"):
        DaskRows(table, table["a"]).moments()


def test_errors_at_the_door(data, frame):
    X, Y, w = data
    dX = array(X, 30, P)
    some = dX[dX[:, 0] > 3]
    with pytest.raises(ValueError, match="X has 203 rows and y has 202"):
        DaskRows(dX, Y[1:])
    with pytest.raises(ValueError, match="X has 203 rows and sample_weight has 202"):
        DaskRows(dX, Y, w[1:])
    with pytest.raises(ValueError, match="X has 1 dimension, expected 2"):
        DaskRows(dX[:, 0], Y)
    with pytest.raises(ValueError, match=r"7 chunks of rows and y has 3.*compute_chunk_sizes"):
        DaskRows(some, array(Y, 70, Q))
    with pytest.raises(ValueError, match="unknown lengths: hand over y as a Dask"):
        DaskRows(some, Y)
    with pytest.raises(ValueError, match=r"no numbers: name\. Encode"):
        DaskRows(frame.assign(name="x"), frame["oil"])
    with pytest.raises(ValueError, match="X holds complex128, expected numbers"):
        DaskRows(dX.astype(complex), Y)
    with pytest.raises(TypeError, match=r"X is a Dask Delayed.*, expected an array"):
        DaskRows(dask.delayed(X), Y)
    with pytest.raises(ValueError, match="the source has no rows"):
        DaskRows(dX[:0], Y[:0]).moments()
    unknown = frame.clear_divisions()
    with pytest.raises(
        ValueError, match="6 partitions and y has 2, and their divisions are unknown"
    ):
        DaskRows(unknown[NAMES], unknown["oil"].repartition(npartitions=2))


@pytest.mark.parametrize("more", [0, 1])
def test_chunks_of_different_lengths_are_named(data, more):
    dX, dY, _ = CHUNKINGS["one chunk"](*data)
    found = [dX[dX[:, 0] > 3], dY[dX[:, 0] > 4]]
    message = r"chunk 0: X has [0-9]+ rows and y has [0-9]+"
    with pytest.raises(ValueError, match=message):
        DaskRows(found[more], found[1 - more][:, :1]).moments()


def test_the_library_does_not_import_dask():
    code = "import sys, isthmus; isthmus.PLS, isthmus.Rows; assert 'dask' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
