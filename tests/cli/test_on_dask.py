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
    return folder, rows


# Dask's reader of Parquet calls pandas 3.1 in an old way.
@pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame.reset_index")
@pytest.mark.parametrize("name", ["t.csv", "parts"])
def test_workers_read_the_table(address, table, name, tmp_path, capsys):
    folder, rows = table
    model, out = str(tmp_path / "m.isthmus"), str(tmp_path / "out.csv")
    given = [str(folder / name), "-t", "oil,starch", "--ignore-columns", "name", "-o", model]
    assert main(["fit", *given, "--dask", address, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
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


def test_nobody_answers(table, monkeypatch, capsys):
    monkeypatch.setattr("isthmus.cli.on_dask._SECONDS", 0.5)
    given = [str(table[0] / "t.csv"), "-t", "oil", "--dask", "tcp://127.0.0.1:1", "-o", "m.isthmus"]
    assert main(["fit", *given]) != 0
    assert "no scheduler answers there" in " ".join(capsys.readouterr().err.split())
