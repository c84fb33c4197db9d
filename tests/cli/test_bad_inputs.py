"""Bad inputs, each with its one line and its exit code; no traceback, no file left behind."""

import os
import pickle
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import isthmus
from isthmus.datasets import make_low_rank_regression

ROOT = Path(__file__).resolve().parents[2]
X, Y, _ = make_low_rank_regression(20, 4, 2, rank=2, noise=0.3, random_state=0)


def text(A, names=None, sep=","):
    head = [] if names is None else [sep.join(names)]
    return "\n".join(head + [sep.join(f"{v:.6g}" for v in row) for row in A]) + "\n"


GOOD_X, GOOD_Y = text(X, "abcd"), text(Y, ["u", "v"])


def with_cell(content, row, column, value):
    lines = [line.split(",") for line in content.splitlines()]
    lines[row][column] = value
    return "\n".join(map(",".join, lines)) + "\n"


def parquet_of_nothing(path):
    path.write_bytes(b"PAR1 but not really PAR1")


def object_npy(path):
    np.save(path, np.array([{"a": 1}], dtype=object), allow_pickle=True)


def save_npy(*shape, dtype=float):
    return lambda path: np.save(path, np.zeros(shape, dtype=dtype))


FIT = ("fit", "X.csv", "Y.csv", "-m", "pls", "--cv", "2")
PREDICT = ("predict", "m.isthmus", "new.csv", "-o", "out.csv")

# name: (files beside X.csv and Y.csv, arguments, a part of the line, exit code)
CASES = {
    "empty file": ({"X.csv": ""}, FIT, "X.csv is empty", 1),
    "blank lines only": ({"X.csv": "\n\n \n"}, FIT, "X.csv has no rows", 1),
    "header only": ({"X.csv": "a,b,c,d\n"}, FIT, "X.csv has a header and no rows", 1),
    "no such file": ({}, ("fit", "no.csv", "Y.csv"), "no.csv: no such file", 1),
    "a directory": ({"dir.csv/x": ""}, ("fit", "dir.csv", "Y.csv"), "dir.csv is a directory", 1),
    "unknown suffix": ({"X.doc": "a"}, ("fit", "X.doc", "Y.csv"), "'.doc' are not known", 1),
    "no suffix": ({"X": "a"}, ("fit", "X", "Y.csv"), "'' are not known", 1),
    "ragged rows": (
        {"X.csv": GOOD_X.replace("\n", ",7\n", 3).replace(",7", "", 1)}, FIT,
        "X.csv, line 2: 5 cells, the first line has 4", 1,
    ),
    "text in a column": (
        {"X.csv": with_cell(GOOD_X, 5, 1, "low")}, FIT, "column 'b' has text in line 6, 'low'", 1,
    ),
    "text in an output": (
        {"Y.csv": with_cell(GOOD_Y, 2, 1, "x")}, FIT, "column 'v' has text in line 3, 'x'", 1,
    ),
    "infinite value": (
        {"X.csv": with_cell(GOOD_X, 4, 0, "inf")}, FIT, "column 'a' is infinite in line 5", 1,
    ),
    "all-NaN column": (
        {"X.csv": "\n".join(["a,b"] + ["1,"] * 20)}, FIT, "the columns 'b' are empty", 1,
    ),
    "all-NaN output": (
        {"Y.csv": "\n".join(["u,v"] + [f"{i},NA" for i in range(20)])}, FIT,
        "the columns 'v' are empty", 1,
    ),
    "one row": (
        {"X.csv": "a,b\n1,2\n", "Y.csv": "u\n1\n"}, FIT, "at least 5 rows are needed", 1,
    ),
    "four rows": (
        {"X.csv": "a\n1\n2\n3\n5\n", "Y.csv": "u\n1\n2\n4\n3\n"}, FIT, "at least 5 rows are needed", 1,
    ),
    "other number of rows": (
        {"Y.csv": GOOD_Y + "1,2\n"}, FIT, "X.csv has 20 rows and Y.csv has 21", 1,
    ),
    "duplicate names": ({"X.csv": text(X, "abca")}, FIT, "several columns of one name: 'a'", 1),
    "a nameless column": (
        {"X.csv": GOOD_X.replace("a,b,c,d", "a,b,,d")}, FIT, "column 3 has no name in the header", 1,
    ),
    "not UTF-8": (
        {"X.csv": "a,b\n1,é\n".encode() + b"2,\xff\xfe\n"}, FIT, "not UTF-8 text near line 1", 1,
    ),
    "UTF-16 cut off": (
        {"X.csv": GOOD_X.encode("utf-16")[:-1]}, FIT, "UTF-16 text ends within a character", 1,
    ),
    "null bytes": ({"X.csv": b"a,b\n1,\x002\n"}, FIT, "has null bytes", 1),
    "open quote": ({"X.csv": 'a,b\n1,"2\n' + "3,4\n" * 9}, FIT, "X.csv, line", 1),
    "a hundred thousand columns": (
        {"X.csv": ",".join(["1"] * 10**5) + "\n" + ",".join(["2"] * 10**5) + "\n", "Y.csv": "1\n2\n"},
        FIT, "at least 5 rows are needed", 1,
    ),
    "constant outputs": ({"Y.csv": "u\n" + "3\n" * 20}, FIT, "outputs are constant: 'u'", 1),
    "inputs are outputs": ({"Y.csv": text(Y, ["a", "v"])}, FIT, "both inputs and outputs: 'a'", 1),
    "no outputs named": ({}, ("fit", "X.csv"), "X.csv: nothing to predict; give a second file", 1),
    "no such target": ({}, ("fit", "X.csv", "-t", "fat"), "no column 'fat'; it has 'a', 'b'", 1),
    "target number too large": (
        {"B.csv": text(X)}, ("fit", "B.csv", "-t", "9", "--no-header"), "columns are numbered 1 to 4", 1,
    ),
    "all columns are targets": (
        {}, ("fit", "X.csv", "-t", "a,b,c,d"), "X.csv has no input columns left", 1,
    ),
    "no such id column": ({}, (*FIT, "--id-column", "name"), "X.csv has no column 'name'", 1),
    "row names that do not match": (
        {"X.csv": "id,a\n" + "".join(f"s{i},{i}\n" for i in range(9)),
         "Y.csv": "id,u\n" + "".join(f"t{i},{i}\n" for i in range(9))},
        FIT, "rows of X.csv are not in Y.csv: 's0', 's1'", 1,
    ),
    "row names that repeat": (
        {"X.csv": "id,a\n" + "".join(f"s{i % 5},{i}\n" for i in range(9)),
         "Y.csv": "id,u\n" + "".join(f"s{i},{i}\n" for i in range(9))},
        (*FIT, "--id-column", "id"), "row names repeat", 1,
    ),
    "npy of objects": (
        {"x.npy": object_npy}, ("fit", "x.npy", "Y.csv"), "x.npy holds Python objects", 1,
    ),
    "npy that is text": ({"x.npy": "hello"}, ("fit", "x.npy", "Y.csv"), "or is not a NumPy", 1),
    "npy of three dimensions": (
        {"x.npy": save_npy(20, 2, 2)}, ("fit", "x.npy", "Y.csv"), "has 3 dimensions, must have 2", 1,
    ),
    "npy of nothing": ({"x.npy": save_npy(0, 3)}, ("fit", "x.npy", "Y.csv"), "it is empty", 1),
    "npy of words": (
        {"x.npy": save_npy(20, 2, dtype="U3")}, ("fit", "x.npy", "Y.csv"), "must be numbers", 1,
    ),
    "npz without the array": (
        {"x.npz": lambda path: np.savez(path, a=X, b=X)}, ("fit", "x.npz", "Y.csv"),
        "has no array 'X'; it has 'a', 'b'", 1,
    ),
    "npz cut off": (
        {"x.npz": b"PK\x03\x04 and no more"}, ("fit", "x.npz", "Y.csv"), "is not a numpy file", 1,
    ),
    "no Parquet": (
        {"x.parquet": parquet_of_nothing}, ("fit", "x.parquet", "Y.csv"), "is not a Parquet file", 1,
    ),
    "unknown method": ({}, ("fit", "X.csv", "Y.csv", "-m", "magic"), "must be one of 'pls'", 1),
    "unknown loss": (
        {}, ("fit", "X.csv", "Y.csv", "-m", "stiefel", "--loss", "magic"), "'magic' is not known", 1,
    ),
    "unknown kernel": (
        {}, ("fit", "X.csv", "Y.csv", "-m", "kernel", "--kernel", "magic"), "magic", 1,
    ),
    "components no number": ({}, (*FIT, "--components", "many"), "'many' must be auto or an integer", 2),
    "components zero": ({}, (*FIT, "--components", "0"), "must be auto or an integer > 0", 2),
    "one fold": ({}, ("fit", "X.csv", "Y.csv", "--cv", "1"), "'--cv'", 2),
    "scale": ({}, (*FIT, "--scale", "maybe"), "must be auto, yes or no", 2),
    "picture shape": ({}, (*FIT, "--image-shape", "2by2"), "must be height x width", 2),
    "picture of other size": (
        {}, (*FIT, "--image-shape", "3x3", "--report", "r.html"), "its product must be 4 columns", 1,
    ),
    "unknown option": ({}, (*FIT, "--fast"), "No such option", 2),
    "unknown command": ({}, ("learn", "X.csv"), "No such command 'learn'", 2),
    "no place for the model": ({}, (*FIT, "-o", "no/m.isthmus"), "there is no directory no", 1),
    "the model is a directory": ({"d/x": ""}, (*FIT, "-o", "d"), "d is a directory, name a file", 1),
    "no permission": ({}, (*FIT, "-o", "/proc/m.isthmus"), "/proc", 1),
    "report of other kind": ({}, (*FIT, "--report", "r.pdf"), "must end in one of .html", 1),
    "output of other kind": (
        {}, ("predict", "m.isthmus", "X.csv", "-o", "out.xls"), "must end in one of .csv", 1,
    ),
    "model of other columns": (
        {"new.csv": text(X[:, :3], "abz")}, PREDICT, "lacks 2 of the 4 columns", 1,
    ),
    "model of other width": (
        {"new.csv": text(X[:, :3])}, (*PREDICT, "--no-header"), "3 columns, the model was fitted on 4", 1,
    ),
    "unknown column to ignore": (
        {}, (*FIT, "--ignore-columns", "q"), "--ignore-columns: X.csv and Y.csv have no column 'q'", 1,
    ),
    "text in new rows": (
        {"new.csv": with_cell(GOOD_X, 1, 0, "?!")}, PREDICT, "column 'a' has text in line 2", 1,
    ),
    "holes in new rows": (
        {"new.csv": with_cell(GOOD_X, 1, 0, "")}, PREDICT,
        "column 'a' has no value in line 2 and the model was fitted on complete rows", 1,
    ),
    "no such model": ({}, ("predict", "no.isthmus", "X.csv"), "no.isthmus: no such file", 1),
    "model is a directory": ({"d/x": ""}, ("inspect", "d"), "d is a directory", 1),
    "model is a pickle": (
        {"p.isthmus": pickle.dumps([1])}, ("predict", "p.isthmus", "X.csv"), "is a pickle", 1,
    ),
    "model is a table": ({}, ("predict", "X.csv", "X.csv"), "not a model file of isthmus", 1),
    "model is empty": ({"e.isthmus": ""}, ("inspect", "e.isthmus"), "e.isthmus is empty", 1),
    "interval above one": ({}, (*PREDICT, "--interval", "95"), "must be between 0 and 1", 2),
    "compress a linear model": ({}, ("compress", "m.isthmus"), "has no kernel points to leave out", 1),
    "compress both ways": (
        {}, ("compress", "m.isthmus", "--points", "3", "--tolerance", "0.1"), "not both", 2,
    ),
    "report on other outputs": (
        {"Z.csv": text(Y, ["u", "w"])}, ("report", "m.isthmus", "X.csv", "Z.csv"), "no column 'v'", 1,
    ),
    "report on fewer rows": (
        {"Z.csv": text(Y[:5], ["u", "v"])}, ("report", "m.isthmus", "X.csv", "Z.csv"),
        "X.csv has 20 rows and Z.csv has 5: they must be the same", 1,
    ),
}  # fmt: skip
# By a process of its own: one of each kind of trouble.
BY_PROCESS = (
    "empty file", "text in a column", "not UTF-8", "ragged rows", "npy of objects",
    "unknown method", "one fold", "no place for the model", "model of other columns",
    "model is a pickle", "unknown command", "compress a linear model",
)  # fmt: skip


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "m.isthmus"
    search = isthmus.MethodSearchCV("pls", cv=2).fit(
        X, Y, feature_names=list("abcd"), target_names=["u", "v"]
    )
    isthmus.save(search, path)
    return path.read_bytes()


@pytest.fixture
def place(tmp_path, saved):
    """Put the files of a case where the command will look."""

    def put(files):
        (tmp_path / "m.isthmus").write_bytes(saved)
        for name, content in {"X.csv": GOOD_X, "Y.csv": GOOD_Y, **files}.items():
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            if callable(content):
                content(path)
            else:
                path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return {path.name for path in tmp_path.iterdir()}

    return put


def check(code, out, err, expected, expected_code):
    lines = [line for line in err.splitlines() if not line.startswith("note: ")]
    assert code == expected_code, err
    assert out == ""
    assert len(lines) == 1 and lines[0].startswith("isthmus: error: "), err
    assert expected in lines[0], lines[0]


def test_there_are_at_least_forty():
    assert len(CASES) >= 40 and len(BY_PROCESS) >= 12


@pytest.mark.parametrize("name", CASES)
def test_one_line_and_a_code(name, place, run, tmp_path):
    files, arguments, expected, expected_code = CASES[name]
    before = place(files)
    code, out, err = run(*arguments)
    check(code, out, err, expected, expected_code)
    assert {path.name for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("name", BY_PROCESS)
def test_the_same_by_a_process(name, place, run_process):
    files, arguments, expected, expected_code = CASES[name]
    place(files)
    done = run_process(*arguments)
    check(done.returncode, done.stdout, done.stderr, expected, expected_code)


def test_disk_full(place, tmp_path, saved):
    """A limit on the size of files stands for a full disk: the write itself fails."""
    place({})

    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    done = subprocess.run(
        [sys.executable, "-B", "-m", "isthmus.cli", *FIT, "-o", "m.isthmus"],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        preexec_fn=small,
    )  # fmt: skip
    check(done.returncode, done.stdout, done.stderr, "file too large", 1)
    assert (tmp_path / "m.isthmus").read_bytes() == saved
    assert not [path for path in tmp_path.iterdir() if path.name.endswith("-part")]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_no_permission_in_the_directory(place, run, tmp_path):
    place({})
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    code, out, err = run(*FIT, "-o", "closed/m.isthmus")
    check(code, out, err, "no permission to write", 1)
