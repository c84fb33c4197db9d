"""Oracles: cell by cell against every engine, the same rows in blocks of any size, pipes, names."""

import io
import os
import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isthmus.tables import TableError, encoding, engines, formats, layout, read_table
from isthmus.tables.categories import expand, expand_names
from isthmus.tables.cells import MISSING, number
from isthmus.tables.names import find, find_all, suggest
from isthmus.tables.reader import TableReader
from isthmus.tables.table import read_groups
from isthmus.tables.writing import Writer, defuse


@pytest.fixture(params=range(4))
def rng(request):
    return np.random.default_rng(request.param)


# -- engines ---------------------------------------------------------------------------------------

CELLS = ["1.5", "-2", ".5", "5.", "1e-300", "12345678901234567890", "+3", "", "NA", "NaN", "nan", "?",
    "007",
         " 4", "4 ", '"6.5"', "inf", "1e400", "null", "0.1000000000000000055511151231",
    "4.9e-324"]  # fmt: skip
ENGINES = {"polars": engines.with_polars, "numpy": engines.with_numpy}
SLIPS = ["x", "1_0", "0x1", "1,5", "--5", "5%", "1e", "1.2.3", "\u0661"]


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_reads_what_cells_are_or_gives_up(engine, rng):
    """Numbers are equal to the last bit; a text is never a number."""
    parse = ENGINES[engine]
    accepted = 0
    for _ in range(300):
        few = list(rng.choice(CELLS, size=rng.integers(1, 8)))
        cells = [*few, str(rng.choice(SLIPS))] if rng.random() < 0.2 else few
        block = "".join(f"{rng.normal()!r};{cell}\n" for cell in cells).encode()
        columns = parse(block, 2, ";", ".", frozenset())
        if columns is None:
            continue
        accepted += 1
        expected = [number(cell.strip('"')) for cell in cells]
        assert None not in expected, block
        assert_array_equal(columns[1], np.array(expected, dtype=float))
    assert accepted > 10


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_keeps_texts(engine):
    block = b'NA;1\n" x y";2\n"";3\nnull;4\n'
    columns = ENGINES[engine](block, 2, ";", ".", frozenset({0}))
    if columns is not None:
        assert columns[0] == ["NA", "x y", "", "null"]


@pytest.mark.parametrize(
    "block", [b"1,2\n3\n", b"1,2\n3,4,5\n", b"1,2\n\n3,4\n", b'1,"2\n3"\n4,5\n', b"\n1,2\n"]
)
def test_irregular_blocks_are_seen_by_counting(block):
    assert not engines.is_regular(block, 2, ",")
    assert engines.is_regular(b'1,"2,3"\n4,5', 2, ",")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("decimal", [".", ","])
def test_the_same_table_by_every_engine(engine, decimal, monkeypatch, tmp_path, rng):
    values = rng.normal(size=(50, 4))
    values[rng.random(values.shape) < 0.1] = np.nan
    text = "a;b;c;d\n"
    for row in values:
        text += (
            ";".join("NA" if np.isnan(v) else repr(float(v)).replace(".", decimal) for v in row)
            + "\n"
        )
    (tmp_path / "t.csv").write_text(text)
    monkeypatch.setattr(engines, "has_polars", lambda: engine == "polars")
    assert_array_equal(read_table(str(tmp_path / "t.csv")).values, values)


@pytest.mark.parametrize("engine", ENGINES)
def test_two_rows_that_are_wrong_together_are_refused(engine, monkeypatch, tmp_path):
    """A cell too many and one too few: the number of separators is right, the rows are not."""
    rows = ["1.5,2"] * (layout.SAMPLE + 5) + ["1,2,3", "4"]
    (tmp_path / "t.csv").write_text("a,b\n" + "\n".join(rows) + "\n")
    monkeypatch.setattr(engines, "has_polars", lambda: engine == "polars")
    with pytest.raises(TableError, match=f"line {layout.SAMPLE + 7}: 3 cells"):
        read_table(str(tmp_path / "t.csv"))


# -- blocks ----------------------------------------------------------------------------------------


def long_table(n, ids=False):
    rows = [f"{i % 97}.5,{i * 7 % 1013}" for i in range(n)]
    if ids:
        rows = [f'"row\n{i}",{row}' if i % 3 == 0 else f"r{i},{row}" for i, row in enumerate(rows)]
    return ("name,a,b\n" if ids else "a,b\n") + "\n".join(rows) + "\n"


@pytest.mark.parametrize("ids", [False, True])
@pytest.mark.parametrize("size", [1, 7, 64, 1000, 1 << 22])
@pytest.mark.parametrize("code", ["utf-8", "utf-16", "latin-1"])
def test_blocks_of_any_size_are_one_table(ids, size, code, monkeypatch, tmp_path):
    monkeypatch.setattr(encoding, "TEXT_BYTES", size)
    n = 120 if size < 64 else 1500
    text = long_table(n, ids).replace("name", "naïve")
    (tmp_path / "t.csv").write_bytes(text.replace("\n", "\r\n").encode(code))
    with TableReader(str(tmp_path / "t.csv")) as reader:
        table = read_groups(reader, [reader.data_columns])[0]
    assert_array_equal(table.values, [[i % 97 + 0.5, i * 7 % 1013] for i in range(n)])
    # Every third name has a line end in it.
    assert table.line(n - 1) == (n + 1 + (n - 1) // 3 + ((n - 1) % 3 > 0) if ids else n + 1)
    if ids:
        assert table.ids is not None and len(set(table.ids)) == n and table.ids[4] == "r4"


SIZES = [layout.SAMPLE - 1, layout.SAMPLE, layout.SAMPLE + 1, layout.SAMPLE + 3, formats.ROWS - 1,
         formats.ROWS, formats.ROWS + 1, 3 * formats.ROWS + 1]  # fmt: skip


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kind", ["csv", "xlsx", "parquet", "feather", "npy"])
def test_sizes_around_every_threshold(n, kind, tmp_path):
    values = np.column_stack([np.arange(n) % 97 + 0.5, np.arange(n) * 7 % 1013])
    path = tmp_path / f"t.{kind}"
    save(path, values)
    table = read_table(str(path))
    assert_array_equal(table.values, values)
    assert table.line(n - 1) == (n + 1 if kind in ("csv", "xlsx") else n)


def save(path, values):
    if path.suffix == ".npy":
        np.save(path, values)
    elif path.suffix == ".xlsx":
        pytest.importorskip("python_calamine")
        book = pytest.importorskip("openpyxl").Workbook(write_only=True)
        sheet = book.create_sheet("one")
        for row in [["a", "b"], *values.tolist()]:
            sheet.append(row)
        book.save(path)
    else:
        with open(path, "wb") as file:
            writer = Writer(path.suffix, file.write, lambda: path, None, ["a", "b"])
            writer.append(None, values)
            writer.finish()


@pytest.mark.parametrize("n", [5, layout.SAMPLE + 7, formats.ROWS + 7])
def test_the_place_of_a_text_far_down(n, tmp_path):
    lines = ["a,b"] + [f"{i % 7},{i % 5}" for i in range(n)] + ["3,low"] + ["1,2"] * 40
    (tmp_path / "t.csv").write_text("\n".join(lines))
    with pytest.raises(TableError, match=f"column 'b' has text in line {n + 2}, 'low'"):
        read_table(str(tmp_path / "t.csv"))
    lines[n + 1] = "3,2,1"
    (tmp_path / "t.csv").write_text("\n".join(lines))
    with pytest.raises(TableError, match=f"line {n + 2}: 3 cells, the first line has 2"):
        read_table(str(tmp_path / "t.csv"))


def test_a_text_in_a_second_block(tmp_path, monkeypatch):
    monkeypatch.setattr(encoding, "TEXT_BYTES", 1 << 12)
    lines = ["a,b"] + ["0.5,2"] * 5000 + ["inf,2"]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    with pytest.raises(TableError, match="column 'a' is infinite in line 5002"):
        read_table(str(tmp_path / "t.csv"))


def test_row_numbers_that_stop_counting_are_an_input(tmp_path):
    n = layout.SAMPLE + 50
    rows = [f"{i if i < n - 1 else -3},{i % 7}" for i in range(n)]
    (tmp_path / "t.csv").write_text("k,b\n" + "\n".join(rows) + "\n")
    table = read_table(str(tmp_path / "t.csv"))
    assert table.names == ["k", "b"] and table.values[-1, 0] == -3


def test_a_line_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(encoding, "TEXT_BYTES", 1 << 12)
    monkeypatch.setattr(encoding, "LONGEST_RECORD", 1 << 14)
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 5000 + '"' + "x" * 99999)
    with pytest.raises(TableError, match=r"line 5002: a line or a quoted cell of more than"):
        read_table(str(tmp_path / "t.csv"))


def test_latin_1_met_late(tmp_path, monkeypatch):
    monkeypatch.setattr(encoding, "TEXT_BYTES", 1 << 12)
    text = "name,a\n" + "".join(f"n{i},{i % 7}\n" for i in range(3000)) + "né,1\n"
    (tmp_path / "t.csv").write_bytes(text.encode("latin-1"))
    table = read_table(str(tmp_path / "t.csv"))
    assert table.ids is not None and table.ids[-1] == "né"


# -- pipes -----------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="pipes with a name")
@pytest.mark.parametrize("kind", ["csv", "xlsx", "parquet", "npy", "csv.gz"])
def test_a_pipe_is_read_once(kind, tmp_path):
    import gzip

    values = np.column_stack([np.arange(3000) % 97 + 0.5, np.arange(3000) * 7 % 1013])
    path = tmp_path / f"t.{kind.removesuffix('.gz')}"
    save(path, values)
    data = path.read_bytes()
    data = gzip.compress(data) if kind.endswith("gz") else data
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    if kind == "xlsx":
        pipe = pipe.rename(tmp_path / "pipe.xlsx")
    thread = threading.Thread(target=pipe.write_bytes, args=(data,))
    thread.start()
    table = read_table(str(pipe))
    thread.join()
    assert_array_equal(table.values, values)


def test_standard_input(monkeypatch):
    stdin = io.TextIOWrapper(io.BytesIO(b"a,b\n1,2\n3,4\n"))
    monkeypatch.setattr("sys.stdin", stdin)
    table = read_table("-")
    assert_array_equal(table.values, [[1, 2], [3, 4]])
    assert table.path == "standard input"


def test_progress_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(encoding, "TEXT_BYTES", 1 << 12)
    (tmp_path / "t.csv").write_text(long_table(5000))
    told = []
    read_table(str(tmp_path / "t.csv"), progress=lambda *what: told.append(what))
    assert len(told) > 5 and "reading" in told[0][0]


# -- names -----------------------------------------------------------------------------------------


def test_names_that_are_alike():
    names = ["1115.0", "1120 nm", "Fat (%)", "water", "Water", "X1130"]
    assert [find(n, names) for n in ("1115", "1115 nm", "1120", "fat  (%)", "water", "WATER", "1130")] == [
        0, 0, 1, 2, 3, None, 5,
    ]  # fmt: skip
    assert find_all(["1115", "1115.0"], ["1115.0", "b"]) == [None, 0]
    assert find_all(["water", "WATER"], ["Water", "water"]) == [1, 0]
    assert suggest("protien", ["moisture", "protein"]) == " Did you mean 'protein'?"
    assert suggest("xyz", ["moisture", "protein"]) == ""


# -- categories ------------------------------------------------------------------------------------


def test_one_column_per_level():
    levels = {"c": ["red", "blue"]}
    values = np.array([[1.0, 0], [2, 1], [3, 0], [4, -1]])
    assert expand_names(["a", "c"], levels) == ["a", "c=blue", "c=red"]
    assert_array_equal(
        expand(values, ["a", "c"], levels), [[1, 0, 1], [2, 1, 0], [3, 0, 1], [4, 0, 0]]
    )
    assert expand(values, ["a", "c"], {}) is values


# -- writing ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cell", ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "=cmd|' /C calc'!A0", "-log p"]
)
def test_formulas_are_written_as_text(cell):
    assert defuse(cell) == "'" + cell


@pytest.mark.parametrize("cell", ["-1.5", "+2", "a=b", "x", "", "-", "1e-5", "-inf"])
def test_numbers_and_words_stay(cell):
    assert defuse(cell) == cell


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".feather", ".npy"])
def test_written_in_blocks_read_as_one(suffix, tmp_path, rng):
    values = rng.normal(size=(1000, 3))
    values[3, 1] = np.nan
    ids = None if suffix == ".npy" else [f"s{i}" for i in range(1000)]
    path = tmp_path / f"t{suffix}"
    with open(path, "wb", buffering=0) as file:
        writer = Writer(
            suffix, file.write, lambda: path, None if ids is None else "id", ["a", "b", "c"]
        )
        for k in range(0, 1000, 130):
            writer.append(None if ids is None else ids[k : k + 130], values[k : k + 130])
        writer.finish()
    table = read_table(str(path))
    assert_array_equal(table.values, values)
    assert table.ids == ids


def test_missing_marks_are_lower_case():
    assert all(mark == mark.lower() for mark in MISSING)
