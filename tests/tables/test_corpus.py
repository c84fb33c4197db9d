"""Every table of the corpus: the decisions, the numbers, or one line and an exit code."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isthmus.cli import main
from isthmus.tables import TableError
from isthmus.tables.reader import TableReader
from isthmus.tables.table import read_groups


def load(name):
    """A module beside this one; pytest imports tests without putting their folder on the path."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


corpus = load("corpus")
load("corpus_cells")  # adds to the list
CASES = corpus.CASES + [corpus.Case(*row[:9]) for row in load("corpus_binary").CASES]
BY_NAME = {case.name: case for case in CASES}


def test_the_corpus_is_large_and_no_name_is_there_twice():
    assert len(BY_NAME) == len(CASES) >= 215
    assert sum(bool(case.error) for case in CASES) >= 60


@pytest.fixture
def file(tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)
    case = BY_NAME[request.param]
    if case.file.endswith((".xlsx", ".ods")) and case.content[:2] == b"PK":
        pytest.importorskip("python_calamine")
    Path(case.file).write_bytes(case.content)
    return case


def usable(reader):
    return [c for c in reader.data_columns if c.kind not in ("text", "date") or c.is_asked]


def read(case):
    with TableReader(case.file, categories=True, **case.options) as reader:
        return reader, read_groups(reader, [usable(reader)])[0]


GOOD = [case.name for case in CASES if case.kinds and not case.error]
BAD = [case.name for case in CASES if case.error]


@pytest.mark.parametrize("file", GOOD, indirect=True)
def test_decisions(file):
    reader, table = read(file)
    assert [column.kind for column in reader.columns] == file.kinds.split()
    for fact, expected in file.facts.items():
        assert reader.facts[fact].startswith(expected), reader.facts
    if file.names:
        assert [column.name for column in reader.columns] == file.names.split()
    if file.rows is not None:
        expected = [[np.nan if v is None else v for v in row] for row in file.rows]
        assert_array_equal(table.values, expected)


@pytest.mark.parametrize("file", BAD, indirect=True)
def test_refusals(file):
    with pytest.raises(TableError) as caught:
        read(file)
    message = str(caught.value)
    assert file.error in message and "\n" not in message and len(message) < 500


def arguments(case):
    options = case.options
    given = [f"--types={name}={kind}" for name, kind in options.get("types", {}).items()]
    if "id_column" in options:
        given += ["--id", options["id_column"]]
    if "header" in options:
        given += ["--header" if options["header"] else "--no-header"]
    return given


@pytest.mark.parametrize("file", list(BY_NAME), indirect=True)
def test_the_command_shows_it_or_says_one_line(file, capsys):
    code = main(["inspect", file.file, *arguments(file)])
    said = capsys.readouterr()
    assert "\x1b" not in said.out + said.err and "Traceback" not in said.err
    if file.error:
        assert code == 1 and said.out == ""
        lines = said.err.splitlines()
        assert len(lines) == 1 and lines[0].startswith("isthmus: error: "), said.err
    elif file.kinds:
        assert code == 0, said.err
        for kind in set(file.kinds.split()):
            assert kind in said.out
    else:
        assert code in (0, 1)
