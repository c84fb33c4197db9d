"""Tables that are read in blocks. Oracle: the same search on the rows in memory."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.model_selection import PredefinedSplit

from isthmus import PLS, ComponentSearchCV
from isthmus.cli import main

N = 30_000


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 6)).round(4)
    Y = (X @ rng.normal(size=(6, 2)) + 0.1 * rng.normal(size=(N, 2))).round(4)
    both = np.hstack([X, Y])
    names = [*"abcdef", "oil", "starch"]
    np.savetxt(
        folder / "t.csv", both, fmt="%.4f", delimiter=",", header=",".join(names), comments=""
    )
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrow = pa.table(dict(zip(names, both.T, strict=True)))
    pq.write_table(arrow, folder / "t.parquet")
    (folder / "parts").mkdir()
    pq.write_table(arrow.slice(0, 20_000), folder / "parts" / "a.parquet")
    pq.write_table(arrow.slice(20_000), folder / "parts" / "b.parquet")
    return folder, X, Y


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "parts"])
def test_a_table_larger_than_the_bound_is_fitted_in_blocks(table, name, tmp_path, capsys):
    folder, X, Y = table
    model = str(tmp_path / "m.isthmus")
    given = [str(folder / name), "-t", "oil,starch", "-o", model, "--memory", "1", "--json"]
    assert main(["fit", *given]) == 0
    told = json.loads(capsys.readouterr().out)
    want = ComponentSearchCV(PLS(), cv=PredefinedSplit(np.arange(N) % 5)).fit(X, Y)
    assert told["rows"] == N
    assert told["components"] == want.best_estimator_.n_components_
    assert told["score"] == pytest.approx(want.best_score_, abs=1e-10)
    out = tmp_path / "out.csv"
    assert main(["predict", model, str(folder / "t.csv"), "-o", str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    found = pd.read_csv(out)
    assert_allclose(found[["oil", "starch"]], want.predict(X), atol=1e-6)
    # The limits of 2000 rows vary by half a percent of the rows.
    assert told["outside"] == (found["outside"] == "yes").sum()
    assert 0.02 < told["outside"] / N < 0.07


def test_a_foreign_row_is_flagged_by_a_model_of_blocks(table, tmp_path, capsys):
    folder, X, _ = table
    model, new = str(tmp_path / "m.isthmus"), tmp_path / "new.csv"
    given = [str(folder / "t.csv"), "-t", "oil,starch", "-o", model, "--memory", "1", "-q"]
    assert main(["fit", *given]) == 0
    names = (folder / "t.csv").read_text().partition("\n")[0].split(",")[: X.shape[1]]
    rows = np.vstack([X[:10], X[:1] + 8 * np.eye(X.shape[1])[0]])
    np.savetxt(new, rows, delimiter=",", header=",".join(names), comments="")
    capsys.readouterr()
    assert main(["predict", model, str(new), "-o", str(tmp_path / "out.csv"), "--json"]) == 0
    (last,) = (e for e in json.loads(capsys.readouterr().out)["flagged"] if e["row"] == 11)
    assert last["distance"] > 2 and "a" in last["reason"]


def test_what_needs_all_rows_is_refused(table, tmp_path, capsys):
    path, model = str(table[0] / "t.csv"), str(tmp_path / "m.isthmus")
    for more, message in (
        (["-t", "oil", "--report", str(tmp_path / "r.html")], "--report needs all rows"),
        (["-t", "oil", "--categories"], "--categories needs all rows"),
        (["-t", "oil", "--method", "kernel"], "takes one of pls, pcr, reduced_rank"),
        ([], "name the outputs"),
    ):
        assert main(["fit", path, "-o", model, "--memory", "1", *more]) == 1
        assert message in capsys.readouterr().err
        assert not (tmp_path / "m.isthmus").exists()


def test_a_hole_is_named_by_its_line(table, tmp_path, capsys):
    lines = (table[0] / "t.csv").read_text().splitlines()
    lines[20_000] = "," + lines[20_000].partition(",")[2]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    given = [
        str(tmp_path / "t.csv"),
        "-t",
        "oil",
        "-o",
        str(tmp_path / "m.isthmus"),
        "--memory",
        "1",
    ]
    assert main(["fit", *given]) == 1
    assert "column 'a' has no value in line 20001" in capsys.readouterr().err


def test_intervals_hold_their_share_and_compressing_is_refused(table, tmp_path, capsys):
    folder, _, Y = table
    path, model = str(folder / "t.csv"), str(tmp_path / "m.isthmus")
    assert main(["fit", path, "-t", "oil,starch", "-o", model, "--memory", "1", "-q"]) == 0
    out = str(tmp_path / "out.csv")
    assert main(["predict", model, path, "-o", out, "--interval", "0.9", "-q"]) == 0
    found = pd.read_csv(out)
    for j, name in enumerate(["oil", "starch"]):
        held = (found[f"{name} lower"] <= Y[:, j]) & (Y[:, j] <= found[f"{name} upper"])
        told = found[f"{name} lower"].notna() & (found["outside"] == "no")
        # The quantile of 2000 rows varies by 0.007.
        assert 0.87 < held[told].mean() < 0.93
    page = str(tmp_path / "r.html")
    assert main(["report", model, path, "-t", "oil,starch", "-o", page, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    guess = found[["oil", "starch"]].to_numpy()
    for j, name in enumerate(["oil", "starch"]):
        rmse = np.sqrt(np.mean((guess[:, j] - Y[:, j]) ** 2))
        assert told["figures"][name]["rmse"] == pytest.approx(rmse, rel=1e-4)
    assert main(["compress", model, "-o", str(tmp_path / "c.isthmus")]) == 1
    assert "fitted in blocks or in Python" in capsys.readouterr().err
