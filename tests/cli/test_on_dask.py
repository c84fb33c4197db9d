"""``isthmus fit --dask`` against the same search in memory."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import PredefinedSplit

from isthmus import PLS, ComponentSearchCV
from isthmus.cli import main

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")

N = 600
NAMES = ["a", "b", "c", "oil", "starch"]


@pytest.fixture(scope="module")
def address():
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(N, 5))
    rows[:, 3:] += rows[:, :2]
    folder = tmp_path_factory.mktemp("dask")
    frame = pd.DataFrame(rows, columns=NAMES).assign(name="x")
    frame.to_csv(folder / "t.csv", index=False)
    (folder / "parts").mkdir()
    for i in range(3):
        frame[200 * i : 200 * (i + 1)].to_parquet(folder / "parts" / f"{i}.parquet", index=False)
    for name, suffix in (("texts", ".csv"), ("packed", ".csv.gz")):
        (folder / name).mkdir()
        for i, rows_here in enumerate((range(150), range(150, 400), range(400, N))):
            frame.iloc[rows_here].to_csv(folder / name / f"{i}{suffix}", index=False)
        (folder / name / "_SUCCESS").touch()
    return folder, rows


# Dask's reader of Parquet calls pandas 3.1 in an old way.
@pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame.reset_index")
@pytest.mark.parametrize("name", ["t.csv", "parts", "texts", "packed", "texts/*.csv"])
def test_workers_read_the_table(address, table, name, tmp_path, capsys):
    folder, rows = table
    model, out = str(tmp_path / "m.isthmus"), str(tmp_path / "out.csv")
    given = [str(folder / name), "-t", "oil,starch", "--ignore-columns", "name", "-o", model]
    assert main(["fit", *given, "--dask", address, "--json"]) == 0
    said = capsys.readouterr()
    told = json.loads(said.out)
    if "texts" in name:
        assert "rows of each file: 0.csv 150, 1.csv 250, 2.csv 200." in said.err
    X, Y = rows[:, :3], rows[:, 3:]
    want = ComponentSearchCV(PLS(), cv=PredefinedSplit(np.arange(N) % 5)).fit(X, Y)
    assert told["rows"] == N and told["targets"] == ["oil", "starch"]
    assert told["score"] == pytest.approx(want.best_score_, abs=1e-10)
    assert main(["predict", model, str(folder / "t.csv"), "-o", out, "-q"]) == 0
    found = pd.read_csv(out)[["oil", "starch"]].to_numpy()
    np.testing.assert_allclose(found, want.predict(X), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["t.csv", "-t", "oil"], "hold no numbers: name"),
        (["t.csv", "-t", "oils"], "has no column 'oils'; it has a, b, c"),
        (["t.csv"], "name the outputs with --target-columns"),
        (["t.csv", "t.csv"], "--dask takes one table"),
        (["t.json", "-t", "oil"], r"--dask reads .csv, .parquet"),
        (["t.csv", "-t", "oil", "--report", "r.html"], "--report needs all rows in memory"),
    ],
)
def test_errors(address, table, arguments, message, monkeypatch, capsys):
    monkeypatch.chdir(table[0])
    assert main(["fit", *arguments, "--dask", address, "-o", "m.isthmus"]) != 0
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("content", ["", ",".join([*NAMES, "name"]) + "\n"])
def test_a_part_without_rows_is_told(address, table, content, tmp_path, capsys):
    folder = tmp_path / "parts"
    folder.mkdir()
    for i in range(2):
        (folder / f"{i}.csv").write_bytes((table[0] / "texts" / f"{i}.csv").read_bytes())
    (folder / "a.csv").write_text(
        content
    )  # the last; of 9.csv the first would be asked for the columns
    (folder / "A.csv").write_text(content)
    given = ["fit", str(folder), "-t", "oil,starch", "--ignore-columns", "name", "--json"]
    given += ["--dask", address, "-o", str(tmp_path / "m.isthmus")]
    assert main(given) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "files without rows: " in said and "a.csv'; remove them, or pass --skip-empty" in said
    assert main([*given, "--skip-empty"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 400
    for file in ("0.csv", "1.csv"):
        (folder / file).write_text(content)
    assert main([*given, "--skip-empty"]) == 1
    assert "parts has no rows" in capsys.readouterr().err


def test_parts_with_other_columns_are_named(address, table, tmp_path, capsys):
    folder = tmp_path / "parts"
    folder.mkdir()
    frame = pd.read_csv(table[0] / "t.csv").drop(columns="name")
    frame.to_csv(folder / "0.csv", index=False)
    frame[NAMES[::-1]].to_csv(folder / "1.csv", index=False)
    assert (
        main(["fit", str(folder), "-t", "oil", "--dask", address, "-o", str(tmp_path / "m")]) == 1
    )
    assert "1.csv has the columns 'starch', 'oil'" in " ".join(capsys.readouterr().err.split())


def test_nobody_answers(table, monkeypatch, capsys):
    monkeypatch.setattr("isthmus.cli.on_dask._SECONDS", 0.5)
    given = [str(table[0] / "t.csv"), "-t", "oil", "--dask", "tcp://127.0.0.1:1", "-o", "m.isthmus"]
    assert main(["fit", *given]) != 0
    assert "no scheduler answers there" in " ".join(capsys.readouterr().err.split())
