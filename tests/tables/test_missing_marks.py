"""What stood for missing values is told. Oracle: marks that were planted, and a count of them."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_linnerud, load_wine

from isthmus.tables import encoding, engines
from isthmus.tables.cells import MISSING
from isthmus.tables.pairs import Reading, read_pair
from isthmus.tables.reader import TableReader
from isthmus.tables.table import read_groups

N = 60


@pytest.fixture(params=range(3))
def rng(request):
    return np.random.default_rng(request.param)


def notes(path, *y, **options):
    told = []
    read_pair(
        str(path),
        *([str(p) for p in y] or [None]),
        [] if y else ["y"],
        Reading(tell=told.append, **options),
    )
    return told


def read(path, **options):
    with TableReader(str(path), **options) as reader:
        read_groups(reader, [reader.data_columns])
        return reader.sentences()


# -- marks in cells --------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["polars", "numpy", "cells"])
@pytest.mark.parametrize("size", [200, 1 << 22])
def test_every_mark_is_told_with_its_number_and_first_place(
    engine, size, rng, tmp_path, monkeypatch
):
    monkeypatch.setattr(engines, "has_polars", lambda: engine == "polars")
    monkeypatch.setattr(encoding, "TEXT_BYTES", size)
    values = rng.normal(size=(N, 3)).round(3).astype(str)
    planted = {"NA": 5, "-": 3, "?": 1, "#DIV/0!": 2, "": 4, "nan": 1}
    places = iter(rng.permutation(N * 3))
    for mark, count in planted.items():
        for _ in range(count):
            i, j = divmod(int(next(places)), 3)
            values[i, j] = f" {mark}" if engine == "cells" and mark == "-" else mark
    if engine == "cells":
        values[0, 0] = '"1.5"'
        planted = {m: sum(c.strip() == m for c in values.ravel()) for m in planted}
    (tmp_path / "t.csv").write_text("a,b,c\n" + "\n".join(map(",".join, values)) + "\n")
    (told,) = read(tmp_path / "t.csv")
    assert "read as missing: " in told
    for mark, count in planted.items():
        if mark:
            assert f"'{mark}' in {count} cell{'s' * (count > 1)}, first in column '" in told
    assert "'' in" not in told


def test_empty_cells_need_no_word(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n,4\n3,\n")
    assert read(tmp_path / "t.csv") == []


@pytest.mark.parametrize("mark", sorted(MISSING - {""}))
def test_every_mark_that_is_known(mark, tmp_path):
    (tmp_path / "t.csv").write_text(f"a,b\n1,2\n3,{mark}\n5,6\n7,{mark}\n")
    (told,) = read(tmp_path / "t.csv")
    assert f"read as missing: {mark!r} in 2 cells, first in column 'b', line 3" in told


def test_marks_of_categories_truth_values_and_days(tmp_path):
    rows = [
        "x,yes,2024-01-01",
        "NA,no,2024-01-02",
        "z,-,2024-01-01",
        "x,yes,?",
        "z,no,2024-01-02",
    ] * 2
    (tmp_path / "t.csv").write_text("c,ok,day\n" + "\n".join(rows) + "\n")
    (told,) = read(tmp_path / "t.csv", categories=True, types={"day": "date"})
    for mark, column, line in (("NA", "c", 3), ("-", "ok", 4), ("?", "day", 5)):
        assert f"'{mark}' in 2 cells, first in column '{column}', line {line}" in told


def test_columns_that_are_left_out_are_not_told(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,y\n" + "".join(f"{i % 5},NA,{i % 7}\n" for i in range(20)))
    assert not any("read as missing" in told for told in notes(tmp_path / "t.csv", ignore=["b"]))


def test_errors_and_formulas_of_a_spreadsheet(tmp_path):
    """A formula that no program has computed has no value; python-calamine gives an empty text for both."""
    pytest.importorskip("python_calamine")
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    other = book.active
    other.title = "notes"
    sheet = book.create_sheet("data", 0)
    for row in (
        ["a", "b"],
        [1.5, 2],
        [2.5, "#DIV/0!"],
        ["=B2", 3],
        [4.5, "#N/A"],
        ["=B3+1", 5],
        [1, 2],
    ):
        sheet.append(row)
    other.append(["#REF!", "=A1"])
    book.save(tmp_path / "t.xlsx")
    told = " ".join(read(tmp_path / "t.xlsx"))
    assert "'formula without a value' in 2 cells, first in column 'a', row 4" in told
    assert "'#DIV/0!' in 1 cell, first in column 'b', row 3" in told
    assert "'#N/A' in 1 cell, first in column 'b', row 5" in told and "#REF!" not in told


def test_errors_and_formulas_of_an_open_document(tmp_path):
    pytest.importorskip("python_calamine")
    sheets = pytest.importorskip("openpyxl") and load_sheets()
    error = (
        '<table:table-cell table:formula="of:=1/0" office:value-type="string" office:string-value="" '
        'calcext:value-type="error"><text:p>#DIV/0!</text:p></table:table-cell>'
    )
    rows = [sheets.row(sheets.of("a"), sheets.of("b"))]
    rows += [sheets.row(sheets.of(k + 0.5), sheets.of(k % 3)) for k in range(5)]
    rows += [
        sheets.row('<table:table-cell table:formula="of:=B2"/>', sheets.of(1)),
        sheets.row(sheets.of(1), error),
    ]
    (tmp_path / "t.ods").write_bytes(sheets.ods(*rows))
    told = " ".join(read(tmp_path / "t.ods"))
    assert "'formula without a value' in 1 cell, first in column 'a', row 7" in told
    assert "'#DIV/0!' in 1 cell, first in column 'b', row 8" in told


def load_sheets():
    import importlib.util
    from pathlib import Path

    path = Path(__file__).with_name("test_sheet_sizes.py")
    spec = importlib.util.spec_from_file_location("sheets_of_tests", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# -- numbers that stand for missing values ---------------------------------------------------------


def table(path, values, names="abcdefy"):
    lines = [",".join(names), *(",".join(map(repr, map(float, row))) for row in values)]
    path.write_text("\n".join(lines) + "\n")
    return path


def stand_ins(told):
    return [sentence for sentence in told if "missing values by a number?" in sentence]


@pytest.mark.parametrize("value", [-999, -9999, -99, 99999, -1e30, 1e6, -32768, -12345])
@pytest.mark.parametrize("cells", [1, 3, 25])
def test_a_lone_far_value_is_asked_about(value, cells, rng, tmp_path):
    values = rng.normal(size=(N, 7))
    values[rng.permutation(N)[:cells], 2] = value
    (told,) = stand_ins(notes(table(tmp_path / "t.csv", values)))
    cell = "1 cell" if cells == 1 else f"{cells} cells"
    assert f"t.csv: {value:g} in {cell} of 'c' is far from all other values" in told


def test_a_known_one_needs_less(rng, tmp_path):
    """-999 among 0 to 5000, or among a few codes, in a table of outputs."""
    X, Y = rng.normal(size=(N, 3)), np.column_stack([rng.uniform(0, 5000, N), np.arange(N) % 4])
    Y[[3, 9], 0], Y[5, 1] = -999, -999
    x, y = table(tmp_path / "X.csv", X, "abc"), table(tmp_path / "Y.csv", Y, "de")
    (told,) = stand_ins(notes(x, y))
    assert "Y.csv: -999 in 3 cells of 'd', 'e'" in told


def test_a_row_that_is_unusual_is_no_matter_of_columns(rng, tmp_path):
    values, whole = rng.normal(size=(2, N, 7))
    values[4] *= 1000
    whole[9, :6] = np.round(whole[9, :6] + np.arange(5000, 5600, 100))
    assert stand_ins(notes(table(tmp_path / "t.csv", values))) == []
    assert stand_ins(notes(table(tmp_path / "t.csv", whole))) == []


def test_ordinary_columns_are_not_asked_about(rng, tmp_path):
    """Heavy tails, counts, indicators, constants, ages up to 99: none is asked about."""
    columns = [
        rng.standard_t(3, N), rng.lognormal(0, 1, N), rng.poisson(1, N), rng.random(N) < 0.05,
        rng.integers(18, 100, N), np.r_[np.zeros(N - 1), 50.0], rng.normal(size=N),
    ]  # fmt: skip
    assert stand_ins(notes(table(tmp_path / "t.csv", np.column_stack(columns)))) == []


@pytest.mark.parametrize("load", [load_breast_cancer, load_diabetes, load_linnerud, load_wine])
def test_a_real_table_is_not_asked_about(load, tmp_path):
    data = load()
    values = np.column_stack([data.data, data.target])
    names = [f"c{k}" for k in range(values.shape[1])]
    told = []
    path = table(tmp_path / "t.csv", values, names)
    read_pair(str(path), None, names[-1:], Reading(tell=told.append))
    assert stand_ins(told) == []
