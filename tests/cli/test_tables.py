"""Tables through the command: what is told, what is matched, what is written, and in how much memory.

Oracles: predictions in Python, the same file in one block, an encoder of scikit-learn inside the folds.
"""

import gzip
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import isthmus
from isthmus.model_selection.splits import ContentKFold
from isthmus.regression import PLS
from isthmus.tables import encoding
from isthmus.tables.writing import Writer

ROOT = Path(__file__).resolve().parents[2]
FIT = ("-m", "pls", "--cv", "3")


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(encoding, "TEXT_BYTES", 900)


def read_csv(text):
    return [line.split(",") for line in text.splitlines()]


# -- what is told ----------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:the rows look ordered")  # they are: y counts them
def test_row_numbers_are_no_inputs(run, tmp_path):
    """Row numbers that predict the output alone: they are told and left out."""
    rng = np.random.default_rng(0)
    lines = [f"{i},{rng.normal():.4f},{rng.normal():.4f},{i + rng.normal():.3f}" for i in range(60)]
    for head in ("Unnamed: 0,a,b,y", ",a,b,y", "n,a,b,y"):
        (tmp_path / "t.csv").write_text(head + "\n" + "\n".join(lines) + "\n")
        code, out, err = run("fit", "t.csv", "-t", "y", "--json", *FIT)
        assert code == 0, err
        assert "is left out: numbers the rows, 0, 1, 2" in err
        told = json.loads(out)
        assert told["feature_names"] == ["a", "b"] and told["score"] < 0.3
        name = head.split(",")[0] or "Unnamed: 0"
        code, out, err = run("fit", "t.csv", "-t", "y", "--json", "--types", f"{name}=number", *FIT)
        assert json.loads(out)["score"] > 0.9


def test_rows_in_another_order_are_paired_by_their_numbers(run, tmp_path, write_csv):
    """The score of fit and of fit_auto, and the errors of a report, are those of tables in one order."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    Y = X @ rng.normal(size=(4, 2)) + 0.05 * rng.normal(size=(60, 2))
    order, names = rng.permutation(60), np.array([str(i + 1) for i in range(60)])
    write_csv(tmp_path / "X.csv", X, "abcd", names)
    write_csv(tmp_path / "Y.csv", Y, ["fat", "water"], names)
    write_csv(tmp_path / "lab.csv", Y[order], ["fat", "water"], names[order])
    told = []
    for y in ("Y.csv", "lab.csv"):
        code, out, err = run("fit", "X.csv", y, "--json", "-o", "m.isthmus", *FIT)
        assert code == 0, err
        told.append(json.loads(out)["score"])
        code, out, err = run("report", "m.isthmus", "X.csv", y, "-o", "r.html", "--json")
        assert code == 0, err
        told.append(json.loads(out)["figures"])
        told.append(
            isthmus.fit_auto("X.csv", y, methods=["pls"], cv=3, verbose=0).best_score_,
        )
    assert told[:3] == told[3:] and told[0] > 0.95
    # A model that knows no names of rows: those of the two new tables alone.
    write_csv(tmp_path / "t.csv", np.hstack([X, Y]), [*"abcd", "fat", "water"])
    assert run("fit", "t.csv", "-t", "fat,water", "-o", "m.isthmus", *FIT)[0] == 0
    for y in ("Y.csv", "lab.csv"):
        told.append(json.loads(run("report", "m.isthmus", "X.csv", y, "--json")[1])["figures"])
    assert told[-1] == told[-2]


def test_inspect_shows_every_decision(run, tmp_path):
    text = "Unnamed: 0;probe;a;b;same;flat;ok;kind;day\n;;nm;%;;;;;\n"
    for i in range(12):
        text += f"{i};Nr {i};{i % 5},5;{'NA' if i == 3 else i % 7};{i % 5},5;4;{'yes' if i % 2 else 'no'};"
        text += f"{'xyz'[i % 3]};2024-01-{i % 6 + 1:02}\n"
    (tmp_path / "t.csv").write_bytes(text.replace("Nr", "Größe").encode("latin-1"))
    code, out, err = run("inspect", "t.csv", "--json")
    assert code == 0, err
    told = json.loads(out)
    assert told["rows"] == 12 and told["encoding"] == "Latin-1" and told["decimal mark"] == "comma"
    assert "nm, %" in told["units"]
    kinds = {column["name"]: column["kind"] for column in told["columns"]}
    assert list(kinds.values()) == [
        "index", "id", "number", "number", "number", "number", "boolean", "category", "date",
    ]  # fmt: skip
    why = {column["name"]: column["why"] for column in told["columns"]}
    assert (
        why["b"] == "1 missing" and why["same"] == "the same as 'a'" and why["flat"] == "constant"
    )
    code, out, err = run("inspect", "t.csv")
    assert code == 0 and "Größe" not in err and "constant" in out and "lines of the file" in out
    code, out, err = run(
        "inspect", "t.csv", "--types", "day=date,kind=ignore", "--id", "kind", "--json"
    )
    kinds = {column["name"]: column["kind"] for column in json.loads(out)["columns"]}
    assert kinds["day"] == "date" and kinds["kind"] == "id" and kinds["probe"] == "text"


def test_inspect_groups_many_columns(run, tmp_path):
    names = [str(1100 + 2 * j) for j in range(200)]
    rng = np.random.default_rng(0)
    rows = [",".join(f"{v:.4f}" for v in rng.normal(size=200)) for _ in range(9)]
    (tmp_path / "t.csv").write_text("\n".join([",".join(names), *rows]))
    code, out, _ = run("inspect", "t.csv")
    assert code == 0 and "1100 ... 1498 (200)" in out and "numbers, such as wavelengths" in out


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("-t", "wator"), "no column 'wator'; it has 'sample', 'fat', 'water'. Did you mean 'water'?"),
        (("--types", "wator=number"), "X.csv and Y.csv have no column 'wator'. Did you mean 'water'?"),
        (("--types", "water"), "must be column=kind, such as day=date"),
        (("--types", "water=integer"), "'integer' must be one of number, id, boolean"),
        (("--ignore-columns", "aa"), "--ignore-columns: X.csv and Y.csv have no column 'aa'"),
        (("--id", "smaple"), "X.csv has no column 'smaple'"),
    ],
)  # fmt: skip
def test_did_you_mean(tables, run, options, expected):
    code, _, err = run("fit", "X.csv", "Y.csv", *options, *FIT)
    assert code == 1 and expected in err, err


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (
            "xyz",
            "column 'c' holds categories, 3 of them: 'x', 'y', 'z'; encode it with --categories",
        ),
        (
            "vwxyz",
            "column 'c' holds categories, 5 of them: 'v', 'w', 'x', 'y', ...; encode it with",
        ),
        (
            ("2024-01-01", "2024-01-02"),
            "column 'c' holds dates, such as '2024-01-01'; read it as days with",
        ),
    ],
)
def test_what_is_no_number_is_refused_by_name(run, tmp_path, cells, expected):
    rows = [f"{i % 7},{cells[i % len(cells)]},{i % 5}" for i in range(20)]
    (tmp_path / "t.csv").write_text("a,c,y\n" + "\n".join(rows) + "\n")
    code, _, err = run("fit", "t.csv", "-t", "y", *FIT)
    assert code == 1 and expected in err, err


def test_escapes_of_a_table_are_shown_not_sent(run, tmp_path):
    evil = "\x1b]0;owned\x07\x1b[2J"
    rows = "".join(f"name {i},{i % 7},{i % 5}\n" for i in range(99))
    (tmp_path / "t.csv").write_text(f"{evil},a,{evil}y\n{rows}")
    for arguments in (
        ("inspect", "t.csv"),
        ("fit", "t.csv", "-t", "q", *FIT),
    ):
        _, out, err = run(*arguments)
        assert "\x1b" not in out + err and "\x07" not in out + err and "\\x1b" in out + err


# -- categories ------------------------------------------------------------------------------------


def test_categories_are_encoded_inside_the_folds(run, tmp_path):
    """A rare level is in no training row of some fold: an encoder fitted there ignores it."""
    rng = np.random.default_rng(3)
    colour = np.array(["red"] * 20 + ["blue"] * 19 + ["green"])
    x = rng.normal(size=40)
    y = x + 2.0 * (colour == "red") + 5.0 * (colour == "green") + 0.1 * rng.normal(size=40)
    lines = [f"{a!r},{c},{b!r}" for a, c, b in zip(x.tolist(), colour, y.tolist())]
    (tmp_path / "t.csv").write_text("x,colour,y\n" + "\n".join(lines) + "\n")
    code, out, err = run("fit", "t.csv", "-t", "y", "--categories", "--components", "2", "--scale", "no",
                         "-m", "pls", "--cv", "4", "--json", "-o", "c.isthmus")  # fmt: skip
    assert code == 0, err
    told = json.loads(out)
    assert told["feature_names"] == ["x", "colour=blue", "colour=green", "colour=red"]
    encoder = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), [1]), remainder="passthrough"
    )
    peer = make_pipeline(encoder, PLS(2, scale="y"))
    X = np.column_stack([x.astype(object), colour.astype(object)])
    scores = []
    numbers = np.column_stack([x, *(colour == level for level in ("blue", "green", "red"))])
    for train, test in ContentKFold(4, shuffle=True, random_state=0).split(numbers):
        predicted = clone(peer).fit(X[train], y[train]).predict(X[test])
        scores.append(1 - ((y[test] - predicted) ** 2).mean() / y.var())
    assert_allclose(told["score"], np.mean(scores), rtol=1e-9)

    (tmp_path / "new.csv").write_text("colour,x\nred,0.5\npink,0.5\nblue,0.5\n")
    code, _, err = run("predict", "c.isthmus", "new.csv", "-o", "o.csv", "--no-check")
    assert (
        code == 0 and "were not in training are encoded as zeros: 'colour = pink (1 rows)'" in err
    )
    found = np.array(read_csv((tmp_path / "o.csv").read_text())[1:], dtype=float).ravel()
    model = isthmus.load("c.isthmus")
    rows = np.array([[0.5, 0, 0, 1], [0.5, 0, 0, 0], [0.5, 1, 0, 0]])
    assert_allclose(found, np.ravel(model.predict_rows(rows)), rtol=1e-12)


def test_truth_values_and_days_of_a_model(run, tmp_path):
    rows = [f"{'yes' if i % 2 else 'no'},2024-01-{i + 1:02},{i % 3},{i % 2 + i}" for i in range(20)]
    (tmp_path / "t.csv").write_text("ok,day,a,y\n" + "\n".join(rows) + "\n")
    code, _, err = run("fit", "t.csv", "-t", "y", "--types", "day=date", "-o", "m.isthmus", *FIT)
    assert code == 0, err
    (tmp_path / "new.csv").write_text("a,day,ok\n1,2024-01-05,TRUE\n2,2024-02-01,0\n")
    code, _, err = run("predict", "m.isthmus", "new.csv", "-o", "o.csv", "--no-check")
    assert code == 0, err
    found = np.array(read_csv((tmp_path / "o.csv").read_text())[1:], dtype=float).ravel()
    rows = np.array([[1, 19727.0, 1], [0, 19754.0, 2]])
    assert_allclose(found, np.ravel(isthmus.load("m.isthmus").predict_rows(rows)), rtol=1e-12)


# -- predict ---------------------------------------------------------------------------------------


def test_names_that_are_alike_are_matched(run, tmp_path, write_csv):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    write_csv(tmp_path / "X.csv", X, ["1115", "1120", "1125"])
    write_csv(tmp_path / "Y.csv", X[:, :1] - X[:, 1:2], ["y"])
    assert run("fit", "X.csv", "Y.csv", "-o", "m.isthmus", *FIT)[0] == 0
    write_csv(tmp_path / "new.csv", X[:4, ::-1], ["1125.0", "1120 nm", "1115nm"])
    code, _, err = run("predict", "m.isthmus", "new.csv", "-o", "o.csv", "--no-check")
    assert code == 0 and "similar names are treated as equal: '1115nm' is '1115'" in err
    found = np.array(read_csv((tmp_path / "o.csv").read_text())[1:], dtype=float)
    assert_allclose(
        found.ravel(), np.ravel(isthmus.load("m.isthmus").predict_rows(X[:4])), rtol=1e-12
    )
    write_csv(tmp_path / "one.csv", X[:1], ["1115", "1120", "1126"])
    code, _, err = run("predict", "m.isthmus", "one.csv", "-o", "o.csv")
    assert code == 1 and "lacks 1 of the 3 columns" in err and "Did you mean '1126'?" in err


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".feather", ".npy"])
def test_blocks_give_the_same_file(suffix, model, run, tmp_path, small_blocks, monkeypatch):
    code, _, err = run("predict", "m.isthmus", "X.csv", "-o", f"small{suffix}", "--interval", "0.9")
    assert code == 0, err
    monkeypatch.setattr(encoding, "TEXT_BYTES", 1 << 22)
    assert run("predict", "m.isthmus", "X.csv", "-o", f"whole{suffix}", "--interval", "0.9")[0] == 0
    small, whole = tmp_path / f"small{suffix}", tmp_path / f"whole{suffix}"
    if suffix == ".npy":
        assert np.load(small).shape == (40, 7)
        assert_allclose(np.load(small), np.load(whole), rtol=1e-12)
    elif suffix in (".csv", ".tsv"):
        mark = "," if suffix == ".csv" else "\t"
        a, b = ([line.split(mark) for line in p.read_text().splitlines()] for p in (small, whole))
        assert a[0] == b[0] and len(a) == 41 and [r[0] for r in a] == [r[0] for r in b]
        a, b = (np.array([row[1:8] for row in rows[1:]], float) for rows in (a, b))
        assert_allclose(a, b, rtol=1e-12)
    else:
        read = pq.read_table if suffix == ".parquet" else pyarrow.feather.read_table
        a, b = read(small), read(whole)
        assert a.schema == b.schema and a.num_rows == 40 and a["sample"] == b["sample"]
        assert_allclose(a["fat"].to_numpy(), b["fat"].to_numpy(), rtol=1e-12)


@pytest.mark.skipif(os.name != "posix", reason="pipes with a name")
def test_a_pipe_is_read_once(model, run, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    thread = threading.Thread(
        target=(tmp_path / "pipe").write_bytes, args=((tmp_path / "X.csv").read_bytes(),)
    )
    thread.start()
    code, _, err = run("predict", "m.isthmus", "pipe", "-o", "a.csv")
    thread.join()
    assert code == 0, err
    run("predict", "m.isthmus", "X.csv", "-o", "b.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_standard_input_to_standard_output(model, run, run_process, tmp_path):
    run("predict", "m.isthmus", "X.csv", "-o", "b.csv")
    done = run_process(
        "predict", "m.isthmus", "-", "-o", "-", input=(tmp_path / "X.csv").read_text()
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == (tmp_path / "b.csv").read_text()


def test_results_come_before_the_input_ends(model, tmp_path):
    """Rows of a block that is full are written while the pipe is still open."""
    code = (
        "import sys; from isthmus.tables import encoding; encoding.TEXT_BYTES = 900\n"
        "from isthmus.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, "predict", "m.isthmus", "-", "-o", "-", "-q"], cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    content = (tmp_path / "X.csv").read_bytes()
    process.stdin.write(content[:-200])
    process.stdin.flush()
    first = [process.stdout.readline() for _ in range(5)]  # waits for ever if nothing comes
    assert first[0].startswith(b"sample,fat") and first[4].startswith(b"s3,")
    process.stdin.write(content[-200:])
    process.stdin.close()
    rest = process.stdout.read()
    assert process.wait(timeout=120) == 0 and rest.count(b"\n") == 36
    process.stdout.close()


def test_formulas_are_written_as_text(tables, run, tmp_path):
    X, Y = tables
    names = ["=1+1", "+cmd|' /C calc'!A0", "-x", "@SUM(A1)", "-7"] + [f"s{i}" for i in range(35)]
    rows = [",".join([n, *map(repr, map(float, x))]) for n, x in zip(names, X)]
    (tmp_path / "X.csv").write_text("sample,a,b,c,d,e,f\n" + "\n".join(rows) + "\n")
    rows = [",".join([n, *map(repr, map(float, y))]) for n, y in zip(names, Y)]
    (tmp_path / "Y.csv").write_text("sample,=fat,water\n" + "\n".join(rows) + "\n")
    assert run("fit", "X.csv", "Y.csv", "--id", "sample", "-o", "m.isthmus", *FIT)[0] == 0
    assert run("predict", "m.isthmus", "X.csv", "-o", "o.csv")[0] == 0
    found = read_csv((tmp_path / "o.csv").read_text())
    assert found[0] == ["sample", "'=fat", "water", "distance", "outside", "reason"]
    assert [row[0] for row in found[1:6]] == [
        "'=1+1",
        "'+cmd|' /C calc'!A0",
        "'-x",
        "'@SUM(A1)",
        "-7",
    ]
    assert any(row[1].startswith("-") for row in found[1:])  # numbers stay numbers
    assert run("predict", "m.isthmus", "X.csv", "-o", "o.csv", "--raw")[0] == 0
    found = read_csv((tmp_path / "o.csv").read_text())
    assert found[0][1] == "=fat" and found[1][0] == "=1+1"


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".feather", ".npy"])
def test_a_full_disk_within_the_blocks(suffix, model, run_process, tmp_path):
    """A limit on the size of files stands for a full disk: a later block cannot be written."""
    rows = (tmp_path / "X.csv").read_text().splitlines()
    (tmp_path / "long.csv").write_text("\n".join([rows[0], *rows[1:] * 500]) + "\n")
    (tmp_path / f"out{suffix}").write_bytes(b"old")
    before = sorted(path.name for path in tmp_path.iterdir())
    limit = (
        "import resource; from isthmus.tables import encoding; encoding.TEXT_BYTES = 1 << 16\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))"
    )
    done = run_process("predict", "m.isthmus", "long.csv", "-o", f"out{suffix}", first=limit)
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    errors = [line for line in done.stderr.splitlines() if not line.startswith("note: ")]
    assert len(errors) == 1 and errors[0].startswith("isthmus: error: "), done.stderr
    assert (tmp_path / f"out{suffix}").read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_an_error_in_a_later_block_keeps_the_old_file(model, run, tmp_path, small_blocks):
    (tmp_path / "out.csv").write_text("old")
    (tmp_path / "X.csv").write_text((tmp_path / "X.csv").read_text() + "s99,1,2,x,4,5,6\n")
    code, _, err = run("predict", "m.isthmus", "X.csv", "-o", "out.csv")
    assert code == 1 and "column 'c' has text in line 42, 'x'" in err
    assert (tmp_path / "out.csv").read_text() == "old"


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the peak as Linux tells it")
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet", ".feather", ".npy"])
def test_memory_of_predict_does_not_grow_with_the_rows(suffix, model, tmp_path, run_process):
    """400,000 rows of 6 numbers, 19 MB, are not held: the peak is that of a tenth of the rows."""
    X, _ = model
    code = (
        "from isthmus.cli import main; assert main(sys.argv[1:]) == 0\n"
        "print(int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]) / 1024)\n"
        "sys.exit()"
    )
    peaks = []
    path = tmp_path / f"long{suffix}"
    for times in (1000, 10_000):
        if suffix == ".npy":
            np.save(path, np.tile(X, (times, 1)))
        else:
            write = gzip.open if suffix.endswith(".gz") else open
            with write(path, "wb") as file:
                writer = Writer(
                    suffix.removesuffix(".gz"), file.write, lambda: path, None, list("abcdef")
                )
                for _ in range(times // 100):
                    writer.append(None, np.tile(X, (100, 1)))
                writer.finish()
        done = run_process("predict", "m.isthmus", path.name, "-o", "out.csv", "-q", first=code)
        assert done.returncode == 0, done.stderr
        peaks.append(float(done.stdout))
    assert (tmp_path / "out.csv").read_bytes().count(b"\n") == 400_001
    # The file itself is mapped: its pages count, and are given back when they are needed.
    assert peaks[1] < peaks[0] + 40 + (path.stat().st_size >> 20) * (suffix == ".npy")


def test_without_extras_the_core_reads_text(model, run, tmp_path):
    """Neither Polars nor pyarrow nor python-calamine: the same predictions, and a line for the rest."""
    run("predict", "m.isthmus", "X.csv", "-o", "a.csv")
    block = "import sys\nfor name in ('polars', 'pyarrow', 'python_calamine'):\n"
    block += "    sys.modules[name] = None\n"
    block += "from isthmus.cli import main; sys.exit(main(sys.argv[1:]))"
    (tmp_path / "x.xlsx").write_bytes(b"PK\x03\x04")
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    (tmp_path / "x.csv.zst").write_bytes(b"\x28\xb5\x2f\xfd")

    def call(*arguments):
        return subprocess.run(
            [sys.executable, "-c", block, *arguments], cwd=tmp_path, capture_output=True, text=True,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )  # fmt: skip

    done = call("predict", "m.isthmus", "X.csv", "-o", "b.csv")
    assert done.returncode == 0, done.stderr
    a, b = (read_csv((tmp_path / name).read_text())[1:] for name in ("a.csv", "b.csv"))
    assert_array_equal(np.array(a)[:, 0], np.array(b)[:, 0])
    assert_allclose(
        np.array(a)[:, 1:4].astype(float), np.array(b)[:, 1:4].astype(float), rtol=1e-12
    )
    for name, package, extra in (
        ("x.xlsx", "python-calamine", "tables"),
        ("x.parquet", "pyarrow", "parquet"),
        ("x.csv.zst", "pyarrow", "parquet"),
    ):
        done = call("inspect", name)
        told = f"need {package}: pip install 'isthmus[{extra}]'."
        assert done.returncode == 1 and told in done.stderr, done.stderr
