"""Where blocks come from. Oracle: the same rows as arrays."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isthmus import PLS, Rows
from isthmus.problems.streams.sources import BlockError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
ds = pytest.importorskip("pyarrow.dataset")

TINY = 0.05
NAMES = ["a", "b", "c", "oil", "starch"]


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(5, 700)).astype(np.float32)
    return pa.table(dict(zip(NAMES, columns)))


def arrays(table, y=("oil", "starch")):
    X = np.column_stack([table[name].to_numpy() for name in ("a", "b", "c")])
    return X, np.column_stack([table[name].to_numpy() for name in y])


def assert_rows(rows, table):
    X, Y = arrays(table)
    blocks = list(rows.blocks())
    assert len(blocks) > 1
    assert_array_equal(np.vstack([block[0] for block in blocks]), X)
    assert_array_equal(np.vstack([block[1] for block in blocks]), Y)
    assert all(block[0].dtype == np.float32 for block in blocks)


def test_arrow_objects(table, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    import pandas as pd
    import polars as pl

    pq.write_table(table, tmp_path / "t.parquet")
    frame = pl.from_arrow(table)
    dataset = ds.dataset(tmp_path / "t.parquet")
    relation = duckdb.connect().from_arrow(table)
    for data in (
        table, dataset, dataset.scanner(), frame, frame.lazy(), pd.DataFrame(table.to_pandas()), relation,
    ):  # fmt: skip
        rows = Rows.from_arrow(data, y=["oil", "starch"], memory=TINY)
        assert rows.feature_names == ["a", "b", "c"]
        assert rows.can_repeat
        assert_rows(rows, table)
        assert_rows(rows, table)


def test_a_reader_is_walked_once(table):
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=100))
    rows = Rows.from_arrow(reader, y=["oil", "starch"], memory=TINY)
    assert not rows.can_repeat
    found = PLS(2).fit(rows)
    assert_allclose(found.coef_, PLS(2).fit(*arrays(table)).coef_, rtol=1e-10)
    with pytest.raises(ValueError, match="once only and has been"):
        list(found.predict(rows))


def test_a_file_without_a_column_is_named(table, tmp_path):
    pq.write_table(table, tmp_path / "a.parquet")
    pq.write_table(table.drop_columns(["starch"]), tmp_path / "b.parquet")
    rows = Rows.from_parquet(tmp_path, y=["oil", "starch"], memory=TINY)
    with pytest.raises(ValueError, match=r"b\.parquet has no column 'starch'"):
        PLS(2).fit(rows)


def test_a_folder_of_parquet(table, tmp_path):
    for i in range(3):
        pq.write_table(table.slice(300 * i, 300), tmp_path / f"part{i}.parquet")
    rows = Rows.from_parquet(tmp_path, y=["oil", "starch"], memory=TINY)
    assert rows.n_samples == 700
    assert_rows(rows, table)
    found = PLS(2).fit(rows)
    assert list(found.feature_names_in_) == ["a", "b", "c"]
    assert_allclose(
        np.vstack(list(found.predict(rows))), found.predict(table.to_pandas()[["a", "b", "c"]])
    )
    other = Rows.from_parquet(tmp_path, y=["oil"], memory=TINY)
    with pytest.raises(ValueError, match="was fitted with"):
        found.predict(other)


def test_a_name_is_one_output_and_weights_are_a_column(table, tmp_path):
    pq.write_table(table.append_column("w", pa.array(np.arange(700) % 3)), tmp_path / "t.parquet")
    rows = Rows.from_parquet(tmp_path / "t.parquet", y="oil", sample_weight="w", memory=TINY)
    X, _ = arrays(table)
    X = np.column_stack([X, table["starch"].to_numpy()])
    want = PLS(2).fit(X, table["oil"].to_numpy(), np.arange(700) % 3)
    found = PLS(2).fit(rows)
    assert found.coef_.shape == (4,)
    assert_allclose(found.coef_, want.coef_, rtol=1e-9)


def test_a_walk_over_batches_resumes(table):
    X, Y = arrays(table)
    bad = table.set_column(1, "b", pa.array(np.where(np.arange(700) == 650, np.nan, X[:, 1])))
    with pytest.raises(BlockError, match=r"X has NaN in row .* column 1 \('b'\)") as caught:
        PLS(2).fit(Rows.from_arrow(bad, y=["oil", "starch"], memory=TINY))
    good = table.set_column(1, "b", pa.array(X[:, 1].astype(np.float64)))
    rows = Rows.from_arrow(good, y=["oil", "starch"], memory=TINY)
    assert 0 < caught.value.walk.n_rows < 650
    assert_array_equal(PLS(2).fit(rows.resume(caught.value)).coef_, PLS(2).fit(rows).coef_)
    assert_allclose(PLS(2).fit(rows).coef_, PLS(2).fit(X, Y).coef_, rtol=1e-6)


def test_a_truncated_file_names_its_block(table, tmp_path):
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=50)
    rows = Rows.from_parquet(tmp_path / "t.parquet", y=["oil", "starch"], memory=TINY)
    whole = (tmp_path / "t.parquet").read_bytes()
    start = len(whole) // 2  # the footer stays, pages in the middle are gone
    (tmp_path / "t.parquet").write_bytes(whole[:start] + bytes(2000) + whole[start + 2000 :])
    with pytest.raises(BlockError, match=r"block .* cannot be read"):
        PLS(2).fit(rows)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array(["x"] * 700), "column 'a' holds string"),
        (pa.array([None] + [1.0] * 699), "column 'a' has 1 missing"),
    ],
)
def test_columns_that_are_no_numbers(table, column, message):
    with pytest.raises(BlockError, match=f"block 0 .*{message}"):
        PLS(2).fit(Rows.from_arrow(table.set_column(0, "a", column), y=["oil"]))


def test_names_are_checked(table):
    with pytest.raises(ValueError, match="no column 'corn'; there are 'a', 'b'"):
        Rows.from_arrow(table, y=["corn"])
    with pytest.raises(ValueError, match="no inputs are left"):
        Rows.from_arrow(table, y=NAMES)
    with pytest.raises(TypeError, match="__arrow_c_stream__"):
        Rows.from_arrow([1, 2])


def test_zarr(table, tmp_path):
    """Compressed chunks that do not end where the blocks do."""
    zarr = pytest.importorskip("zarr")
    X, Y = arrays(table)
    group = zarr.open_group(tmp_path / "t.zarr", mode="w")
    for name, values in (("X", X), ("Y", Y), ("w", np.ones(len(X)))):
        chunks = (130, *values.shape[1:])
        group.create_array(name, shape=values.shape, chunks=chunks, dtype=values.dtype)[:] = values
    group = zarr.open_group(tmp_path / "t.zarr", mode="r")
    rows = Rows.from_arrays(group["X"], group["Y"], memory=TINY)
    assert_rows(rows, table)
    assert_rows(rows, table)
    weighted = Rows.from_arrays(group["X"], group["Y"], group["w"], memory=TINY)
    want = PLS(2).fit(X, Y)
    for source in (rows, weighted):
        found = PLS(2).fit(source)
        assert_allclose(found.coef_, want.coef_, rtol=1e-6)
        assert_allclose(
            np.vstack(list(found.predict(source))), want.predict(X), rtol=1e-5, atol=1e-6
        )


def test_memory_maps_and_h5py(table, tmp_path):
    h5py = pytest.importorskip("h5py")
    X, Y = arrays(table)
    mapped = np.memmap(tmp_path / "x", dtype=np.float32, mode="w+", shape=X.shape)
    mapped[:] = X
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["X"], file["Y"] = X, Y
        for rows in (Rows.from_arrays(file["X"], file["Y"], memory=TINY),
                     Rows.from_arrays(mapped, Y, memory=TINY)):  # fmt: skip
            assert_rows(rows, table)
            assert_rows(rows, table)
    mine = np.memmap(tmp_path / "x", dtype=np.float32, mode="c", shape=X.shape)
    mine[0, 0] = 77.0
    list(Rows.from_arrays(mine, Y, memory=TINY).blocks())
    assert mine[0, 0] == 77.0  # a private change is not given back with the pages


# -- memory ----------------------------------------------------------------------------------------


def peak(work):
    """Bytes that were allocated at once beyond those before."""
    work()  # imports and caches
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("fold", [None, 5])
def test_no_more_memory_than_the_bound(fold, tmp_path):
    """Twice the rows do not take more memory, and all arrays together stay below the bound."""
    bound, p = 2.0, 20
    peaks = []
    for n in (20_000, 40_000):  # 3 and 6 MiB of float64
        X = np.memmap(tmp_path / f"x{n}", dtype=np.float64, mode="w+", shape=(n, p))
        X[:] = np.random.default_rng(0).normal(size=(n, p))
        rows = Rows.from_arrays(X, X[:, :2], memory=bound)
        peaks.append(peak(lambda rows=rows: rows.moments(fold)))
        peaks.append(peak(lambda rows=rows: sum(T.sum() for T in PLS(2).fit(rows).predict(rows))))
    assert max(peaks) < bound * 2**20
    assert_allclose(peaks[2:], peaks[:2], rtol=0.1)
