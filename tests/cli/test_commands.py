"""Oracles: the same fit in Python, the same rows in every file format, published names and codes."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge

import isthmus
from isthmus.auto import MethodSearchCV
from isthmus.cli import app
from isthmus.cli.console import Console
from isthmus.datasets import DatasetNotFoundError, load_mulan, load_nir
from isthmus.inspection import Trusted

ROOT = Path(__file__).resolve().parents[2]
FIT = ("-m", "pls,ridge", "--cv", "3")


def read_csv(path):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    return rows[0], rows[1:]


def test_fit_predict_report_inspect(tables, run, tmp_path):
    X, Y = tables
    code, out, err = run("fit", "X.csv", "Y.csv", "-o", "m.isthmus", "--report", "r.html", *FIT)
    assert code == 0, err
    assert "partial least squares" in out and "Model: m.isthmus" in out and "open r.html" in out
    assert "'sample' is taken as row names" in err
    peer = isthmus.fit_auto(X, Y, methods=["pls", "ridge"], cv=3)
    assert_allclose(isthmus.load("m.isthmus").predict_rows(X), peer.predict(X), rtol=1e-12)

    code, out, err = run("predict", "m.isthmus", "X.csv", "-o", "out.csv", "--interval", "0.9")
    assert code == 0, err
    header, rows = read_csv("out.csv")
    assert header == [
        "sample",
        "fat",
        "fat lower",
        "fat upper",
        "water",
        "water lower",
        "water upper",
        "distance",
        "outside",
        "reason",
    ]
    assert [row[0] for row in rows] == [f"s{i}" for i in range(40)]
    values = np.array([row[1:7] for row in rows], dtype=float)
    trust = peer.check(X)
    assert_allclose([float(row[7]) for row in rows], trust.distance, rtol=1e-9)
    assert [row[8] == "yes" for row in rows] == list(trust.outside)
    assert [bool(row[9]) for row in rows] == list(trust.outside)
    assert "outside the domain of the training rows" in out
    assert_allclose(values[:, [0, 3]], peer.predict(X), rtol=1e-12)
    inside = (values[:, [1, 4]] < Y) & (Y < values[:, [2, 5]])
    assert 0.85 < inside.mean() <= 1

    code, out, err = run("inspect", "m.isthmus")
    assert code == 0 and "fat, water" in out and "a, b, c, d, e, f" in out and "scikit-learn" in out
    code, out, err = run("report", "m.isthmus", "X.csv", "Y.csv", "-o", "again.html")
    assert code == 0, err
    assert "RMSEP" in out and "RPIQ" in out and "outside the domain" in out
    page = (tmp_path / "again.html").read_text("utf-8")
    assert "s17" in page and "rows predicted by the saved model" in page
    assert "left-out" not in page
    assert sorted(p.name for p in tmp_path.iterdir() if p.name.startswith(".")) == []


def test_rows_of_another_kind_are_told(model, run, tmp_path, write_csv):
    X, _ = model
    new = X.copy()
    new[:3] += 30
    write_csv(tmp_path / "new.csv", new, "abcdef")
    ask = ("predict", "m.isthmus", "new.csv", "-o", "out.csv", "--interval", "0.9")
    code, out, err = run(*ask)
    assert code == 0, err
    assert "outside the domain of the training rows" in out
    assert "Bounds of rows outside are widened by their distance; 3 rows have none: they" in out
    header, rows = read_csv("out.csv")
    assert header[-3:] == ["distance", "outside", "reason"]
    assert all(row[-2] == "yes" and "the limit" in row[-1] for row in rows[:3])
    assert all(float(row[-3]) > 9 for row in rows[:3])
    lower = header.index("fat lower")
    assert [row[lower] == "" for row in rows] == [True] * 3 + [False] * (len(rows) - 3)
    told = json.loads(run(*ask, "--json")[1])
    assert [each["row"] for each in told["flagged"]][:3] == [1, 2, 3]
    assert told["outside"] == sum(row[-2] == "yes" for row in rows) and told["withheld"] == 3
    code, out, _ = run(*ask, "--no-check")
    assert read_csv("out.csv")[0][-1] == "water upper" and "outside" not in out


def test_a_model_without_a_domain_predicts_and_says_so(model, run, tmp_path):
    old = isthmus.load("m.isthmus")
    del old.domain_
    isthmus.save(old, "old.isthmus")
    code, _, err = run("predict", "old.isthmus", "X.csv", "-o", "out.csv")
    assert code == 0 and "has no domain: predictions are not checked" in err
    assert read_csv("out.csv")[0] == ["sample", "fat", "water"]
    code, _, err = run("report", "old.isthmus", "X.csv", "Y.csv", "-o", "old.html")
    assert code == 0, err
    assert "has no domain" in (tmp_path / "old.html").read_text("utf-8")


@pytest.mark.filterwarnings("ignore")  # of rows far out, and of the overflow
@pytest.mark.parametrize("model", [Ridge(), isthmus.PLS(1)], ids=["sklearn", "isthmus"])
def test_predictions_that_are_not_finite_are_an_error(run, model):
    X = np.random.default_rng(0).normal(size=(20, 2))
    isthmus.save(model.fit(X, 1e250 * X[:, 0]), "m.isthmus")  # cells end at 1e100
    np.savetxt("new.csv", 1e99 * X, delimiter=",", header="a,b", comments="")
    code, _, said = run("predict", "m.isthmus", "new.csv", "-o", "out.csv")
    assert code != 0 and not Path("out.csv").exists()
    assert "no finite answer for 20 of 20 rows, the first is row 0" in " ".join(said.split())


def test_models_saved_in_python_are_predicted(tables, run, tmp_path):
    """A plain estimator without a word on trust but that; a trusted one with all columns."""
    X, Y = (pd.read_csv(name, index_col=0) for name in ("X.csv", "Y.csv"))
    isthmus.save(isthmus.PLS(2).fit(X, Y), "plain.isthmus")
    ask = "predict", "plain.isthmus", "X.csv", "-o", "out.csv"
    code, _, err = run(*ask)
    assert code == 0 and "has no domain" in err and "Trusted(model).fit(X, y)" in err
    plain = pd.read_csv("out.csv", index_col=0)
    assert list(plain) == ["y0", "y1"]
    assert_allclose(plain, isthmus.PLS(2).fit(X, Y).predict(X), rtol=1e-6)
    code, _, err = run(*ask, "--interval", "0.9")
    assert code == 1 and "has no errors of left-out rows" in err
    code, _, err = run("report", "plain.isthmus", "X.csv", "Y.csv")
    assert code == 1 and "Trusted(model).fit(X, y)" in err
    code, _, err = run("compress", "plain.isthmus", "-o", "small.isthmus")
    assert code == 1 and "holds a PLS" in err

    trusted = Trusted(isthmus.PLS(2)).fit(X, Y)
    X.iloc[3] += 50
    X.to_csv("new.csv")
    isthmus.save(trusted, "trusted.isthmus")
    code, out, _ = run(
        "predict", "trusted.isthmus", "new.csv", "-o", "out.csv", "--interval", "0.9"
    )
    assert code == 0 and "outside the domain" in out
    found, want = pd.read_csv("out.csv", index_col=0), trusted.check(X, 0.9)
    targets = list(Y.columns)
    assert_allclose(found[targets], want.prediction, rtol=1e-6)
    for end in ("lower", "upper"):
        bounds = getattr(want, end)
        told = found[[f"{name} {end}" for name in targets]]
        assert_allclose(told, np.where(np.isinf(bounds), np.nan, bounds), rtol=1e-6)
    assert_allclose(found["distance"], want.distance, rtol=1e-6)
    assert list(found["outside"] == "yes") == list(want.outside)
    assert list(found["reason"].fillna("")) == want.reasons
    _, out, _ = run("inspect", "trusted.isthmus")
    assert "PLS with its domain and intervals" in out and re.search(r"components +2\n", out)
    code, out, _ = run("report", "trusted.isthmus", "X.csv", "Y.csv", "-o", "r.html")
    assert code == 0 and "RMSEP" in out
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "Validation" in page and "rows outside the domain" in page

    labels = np.where(np.arange(len(X)) % 2, "a", "b")
    isthmus.save(isthmus.IndicatorClassifier(isthmus.PLS(1)).fit(X, labels), "c.isthmus")
    code, _, err = run("predict", "c.isthmus", "X.csv", "-o", "out.csv")
    assert code == 1 and "whose outputs are not numbers" in err
    isthmus.save(isthmus.DependencyRegressor().fit(["ab", "ba", "aab"] * 4, Y[:12]), "s.isthmus")
    code, _, err = run("predict", "s.isthmus", "X.csv", "-o", "out.csv")
    assert code == 1 and "cannot predict from a table of numbers" in err


@pytest.mark.filterwarnings("ignore:the rows look ordered")  # the command tells it
def test_later_rows_of_a_drifting_table_bring_back_what_the_fit_warned_of(run, tmp_path):
    """Errors follow a slow wave that no input has; the inputs walk on after the fit."""
    rng = np.random.default_rng(0)
    X = np.cumsum(rng.standard_normal((140, 5)), axis=0)
    X[100:] += 30
    y = X.sum(axis=1) + 3 * np.sin(np.arange(140) / 8)
    names = list("abcde")
    pd.DataFrame(X[:100], columns=names).assign(y=y[:100]).to_csv("old.csv", index=False)
    pd.DataFrame(X[100:], columns=names).to_csv("later.csv", index=False)
    pd.DataFrame(X[:100], columns=names).to_csv("same.csv", index=False)
    assert run("fit", "old.csv", "-t", "y", "-o", "w.isthmus", "-m", "pls")[0] == 0
    code, out, err = run("predict", "w.isthmus", "later.csv", "-o", "out.csv")
    assert code == 0 and "As a whole they lie farther out" in out
    assert "at the fit, the rows look ordered" in err and "--cv 5" in err
    _, _, err = run("predict", "w.isthmus", "same.csv", "-o", "out.csv")
    assert "ordered" not in err


def test_json_and_quiet(tables, run):
    code, out, err = run("fit", "X.csv", "Y.csv", "-o", "m.isthmus", "--json", "--quiet", *FIT)
    assert code == 0 and err == ""
    told = json.loads(out)
    assert told["model"] == "m.isthmus" and told["target_names"] == ["fat", "water"]
    assert [row["method"] for row in told["cv"]] == ["pls", "ridge", "blend"]
    assert told["n_samples"] == 40 and told["baseline_score"] < told["score"] < 1
    code, out, err = run("inspect", "m.isthmus", "--json")
    assert json.loads(out)["summary"]["n_features"] == 6
    code, out, err = run("predict", "m.isthmus", "X.csv", "--json", "-q", "-o", "o.csv")
    told = json.loads(out)
    assert (told["rows"], told["targets"], told["output"]) == (40, ["fat", "water"], "o.csv")
    assert told["outside"] == len(told["flagged"]) == sum(told["causes"].values())
    code, out, err = run("fit", "X.csv", "Y.csv", "-q", *FIT)
    assert (code, out, err) == (0, "", "")


def test_the_seed_is_the_fit(tables, run):
    def table(seed):
        _, out, _ = run("fit", "X.csv", "Y.csv", "--json", "-q", "--seed", seed, *FIT)
        return [row["score"] for row in json.loads(out)["cv"]]

    assert table(1) == table(1) != table(2)


@pytest.mark.parametrize("kind", ["csv", "tsv", "semicolon", "parquet", "npy", "npz"])
def test_every_format_gives_the_same_model(tables, run, tmp_path, kind, write_csv):
    X, Y = tables
    names = {"x": list("abcdef"), "y": ["fat", "water"]}
    files = []
    for key, A in (("x", X), ("y", Y)):
        path = tmp_path / f"{key}.{'csv' if kind == 'semicolon' else kind}"
        if kind in ("csv", "tsv"):
            write_csv(path, A, names[key], sep="," if kind == "csv" else "\t")
        elif kind == "semicolon":  # decimal commas
            write_csv(path, A, names[key], sep=";")
            head, body = path.read_text().split("\n", 1)
            path.write_text(head + "\n" + body.replace(".", ","))
        elif kind == "parquet":
            pq.write_table(pa.table({n: A[:, k] for k, n in enumerate(names[key])}), path)
        elif kind == "npy":
            np.save(path, A)
        else:
            np.savez(path, other=A[:1], **{key.upper(): A})
        files.append(path)
    code, _, err = run("fit", *files, "-o", "f.isthmus", "-q", *FIT)
    assert code == 0, err
    peer = isthmus.fit_auto(X, Y, methods=["pls", "ridge"], cv=3)
    assert_allclose(isthmus.load("f.isthmus").predict_rows(X), peer.predict(X), rtol=1e-9)
    code, _, err = run(
        "predict",
        "f.isthmus",
        files[0],
        "-o",
        f"out.{'csv' if kind == 'npz' else kind.replace('semicolon', 'csv')}",
    )
    assert code == 0, err


def test_one_file_with_target_columns(tables, run, tmp_path, write_csv):
    X, Y = tables
    write_csv(tmp_path / "one.csv", np.hstack([Y[:, :1], X, Y[:, 1:]]), ["fat", *"abcdef", "water"])
    code, _, err = run("fit", "one.csv", "-t", "fat,water", "-o", "o.isthmus", "-q", *FIT)
    assert code == 0, err
    run("fit", "X.csv", "Y.csv", "-o", "two.isthmus", "-q", *FIT)
    one, two = isthmus.load("o.isthmus"), isthmus.load("two.isthmus")
    assert_array_equal(one.predict_rows(X), two.predict_rows(X))
    np.savez(tmp_path / "both.npz", X=X, y=Y)
    code, _, err = run("fit", "both.npz", "-o", "n.isthmus", "-q", *FIT)
    assert code == 0, err
    assert_array_equal(isthmus.load("n.isthmus").predict_rows(X), two.predict_rows(X))


def test_no_header_columns_by_number(tables, run, tmp_path, write_csv):
    X, Y = tables
    write_csv(tmp_path / "bare.csv", np.hstack([X, Y]))
    code, _, err = run(
        "fit", "bare.csv", "-t", "7,-1", "--no-header", "-o", "b.isthmus", "-q", *FIT
    )
    assert code == 0, err
    write_csv(tmp_path / "new.csv", X)
    code, _, err = run("predict", "b.isthmus", "new.csv", "-o", "out.csv", "--no-check")
    assert code == 0, err
    header, rows = read_csv("out.csv")
    assert header == ["x7", "x8"] or header == ["y1", "y2"]
    assert len(rows) == 40


def test_wavelengths_are_a_header(run, tmp_path, write_csv):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 8))
    write_csv(tmp_path / "X.csv", X, [str(1100 + 2 * j) for j in range(8)])
    write_csv(tmp_path / "Y.csv", X[:, :1] + rng.normal(size=(30, 1)), ["y"])
    code, out, err = run("fit", "X.csv", "Y.csv", "-o", "w.isthmus", "--json", "-q", *FIT)
    assert code == 0, err
    told = json.loads(out)
    assert told["n_samples"] == 30 and told["feature_names"][0] == "1100" and not told["scale"]


def test_columns_are_matched_by_name(model, run, tmp_path, write_csv):
    X, _ = model
    order = [3, 1, 0, 5, 4, 2]
    write_csv(
        tmp_path / "new.csv",
        np.hstack([X[:, order], X[:, :1]]),
        ["d", "b", "a", "f", "e", "c", "more"],
    )
    code, _, err = run("predict", "m.isthmus", "new.csv", "-o", "out.csv", "--no-check")
    assert code == 0 and "were not in training are ignored: 'more'" in err
    _, rows = read_csv("out.csv")
    expected = isthmus.load("m.isthmus").predict_rows(X)
    assert_allclose(np.array(rows, dtype=float), expected, rtol=1e-12)


def test_rows_are_matched_by_name(tables, run, tmp_path, write_csv):
    X, Y = tables
    run("fit", "X.csv", "Y.csv", "-o", "a.isthmus", "-q", *FIT)
    turned = np.arange(40)[::-1]
    write_csv(tmp_path / "Y.csv", Y[turned], ["fat", "water"], [f"s{i}" for i in turned])
    code, _, err = run("fit", "X.csv", "Y.csv", "-o", "b.isthmus", *FIT)
    assert code == 0 and "put in the order of X.csv" in err
    a, b = isthmus.load("a.isthmus"), isthmus.load("b.isthmus")
    assert_array_equal(a.predict_rows(X), b.predict_rows(X))


def test_a_report_matches_rows_by_name_too(model, run, tmp_path, write_csv):
    _, Y = model
    code, _, err = run("report", "m.isthmus", "X.csv", "Y.csv", "-o", "a.html")
    assert code == 0, err
    turned = np.arange(40)[::-1]
    write_csv(tmp_path / "Y.csv", Y[turned], ["fat", "water"], [f"s{i}" for i in turned])
    code, _, err = run("report", "m.isthmus", "X.csv", "Y.csv", "-o", "b.html")
    assert code == 0 and "put in the order of X.csv" in err
    a, b = (re.search(r"explains [-.\d]+ %", (tmp_path / f).read_text("utf-8"))[0]
            for f in ("a.html", "b.html"))  # fmt: skip
    assert a == b


def test_a_report_knows_the_id_column_of_training(tables, run, tmp_path):
    X, Y = tables
    lines = ["lot,a,b,c,d,e,f,fat,water"]
    lines += [",".join(map(str, [100 + i, *X[i], *Y[i]])) for i in range(40)]
    (tmp_path / "one.csv").write_text("\n".join(lines))
    one = ("fit", "one.csv", "-t", "fat,water", "--id-column", "lot", "-o", "m.isthmus", *FIT)
    assert run(*one)[0] == 0
    code, _, err = run("report", "m.isthmus", "one.csv", "-o", "r.html")
    assert (code, err) == (0, "")
    assert '"139"' in (tmp_path / "r.html").read_text("utf-8")  # on hover


def test_the_notes_of_fit(tables, run):
    code, out, err = run(
        "fit", "X.csv", "Y.csv", "-m", "pls", "--cv", "2", "--components", "99", "-o", "m.isthmus"
    )
    assert code == 0 and err.count("--components 99: the method and the data allow 6") == 1
    code, out, _ = run("inspect", "m.isthmus")
    assert code == 0 and "difference" in out and "best" in out


def test_missing_values(tables, run, tmp_path, write_csv):
    X, Y = tables
    X[3, 2] = X[7, 0] = Y[5, 1] = np.nan
    write_csv(tmp_path / "X.csv", X, "abcdef")
    write_csv(tmp_path / "Y.csv", Y, ["fat", "water"])
    code, out, err = run(
        "fit", "X.csv", "Y.csv", "-o", "h.isthmus", "--cv", "2", "--report", "h.html"
    )
    assert code == 0, err
    assert "kernel" in out  # which has the rows with their holes filled
    code, _, err = run("predict", "h.isthmus", "X.csv", "-o", "out.csv")
    assert code == 0, err


@pytest.mark.parametrize("place", ["X.csv", "Y.csv"])
@pytest.mark.parametrize("as_text", [True, False])
def test_groups_of_a_column(tables, run, place, as_text, tmp_path, monkeypatch):
    """The column is neither input nor output, and its rows are never parted, in whichever file it is."""
    X, Y = tables
    given = []
    fit = MethodSearchCV.fit

    def watched(self, X, y, **params):
        given.append((X.shape, y.shape, params["groups"]))
        return fit(self, X, y, **params)

    monkeypatch.setattr(MethodSearchCV, "fit", watched)
    batches = [i // 8 for i in range(40)]
    lines = (tmp_path / place).read_text().splitlines()
    names = ["batch", *(f"b{b}" if as_text else str(b) for b in batches)]
    (tmp_path / place).write_text(
        "\n".join(f"{line},{name}" for line, name in zip(lines, names, strict=True)) + "\n"
    )
    code, _, err = run("fit", "X.csv", "Y.csv", "-m", "ridge", "--groups", "batch", "-q")
    assert code == 0, err
    ((shape_x, shape_y, groups),) = given
    assert (shape_x, shape_y) == (X.shape, Y.shape)
    assert groups.tolist() == batches
    code, _, err = run("fit", "X.csv", "Y.csv", "-m", "ridge", "--groups", "batches", "-q")
    assert code == 1 and "--groups" in err and "batch" in err
    spoilt = (tmp_path / place).read_text().replace(f",{names[1]}\n", ",\n", 1)
    (tmp_path / place).write_text(spoilt)
    code, _, err = run("fit", "X.csv", "Y.csv", "-m", "ridge", "--groups", "batch", "-q")
    assert code == 1 and "has no group" in err


def test_time_limit(tables, run):
    code, out, err = run("fit", "X.csv", "Y.csv", "--time-limit", "0", "--json", "-q", "--cv", "3")
    assert code == 0, err
    told = json.loads(out)
    assert told["method"] == "pls" and {row["status"] for row in told["cv"][1:]} == {"no time left"}


def test_compress(tables, run, tmp_path):
    X, _ = tables
    code, _, err = run(
        "fit",
        "X.csv",
        "Y.csv",
        "-m",
        "kernel",
        "--cv",
        "2",
        "-o",
        "k.isthmus",
        "-q",
        "--report",
        "k.html",
    )
    assert code == 0, err
    assert "Compression" in (tmp_path / "k.html").read_text("utf-8")
    code, out, err = run("compress", "k.isthmus", "-o", "s.isthmus", "--points", "15", "--json")
    assert code == 0, err
    told = json.loads(out)
    assert (told["points_before"], told["points_after"]) == (40, 15)
    assert told["bytes_after"] < told["bytes_before"] and told["change"] < 0.2
    full, small = isthmus.load("k.isthmus"), isthmus.load("s.isthmus")
    change = np.sqrt(((full.predict_rows(X) - small.predict_rows(X)) ** 2).mean())
    spread = full.predict_rows(X).std(axis=0)
    assert_allclose(change / np.sqrt((spread**2).mean()), told["change"], rtol=1e-6)
    code, out, err = run("predict", "s.isthmus", "X.csv", "-o", "out.csv")
    assert code == 0, err


def test_pictures(run, tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "x.npy", rng.normal(size=(30, 12)))
    np.save(tmp_path / "y.npy", rng.normal(size=(30, 6)))
    code, _, err = run(
        "fit", "x.npy", "y.npy", "-q", "--report", "p.html", "--image-shape", "3x4",
        "--output-image-shape", "2x3", "-m", "pls", "--cv", "2",
    )  # fmt: skip
    assert code == 0, err
    page = (tmp_path / "p.html").read_text("utf-8")
    assert page.count("data:image/png;base64,") > 40 and "components as pictures" in page


# -- help and start -------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["demo", "fit", "predict", "inspect", "report", "compress"])
def test_help_shows_a_real_call(run, command):
    code, out, _ = run(command, "--help")
    assert code == 0 and f"isthmus {command}" in out.split("For example:")[1]


def test_help_does_not_import_scikit_learn():
    code = (
        "import sys; from isthmus.cli import main; code = main(['fit', '--help']); "
        "heavy = {'sklearn', 'numpy', 'scipy', 'plotly', 'skops'} & set(sys.modules); "
        "assert not heavy, heavy; sys.exit(code)"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("missing", ["typer", "rich"])
@pytest.mark.parametrize("arguments", [[], ["--help"], ["fit", "X.csv", "Y.csv"]])
def test_without_its_extra_it_says_what_to_install(tables, tmp_path, missing, arguments):
    block = f"import sys; sys.modules[{missing!r}] = None; "
    run = "import runpy; sys.argv[0] = 'isthmus'; runpy.run_module('isthmus.cli', run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-c", block + run, *arguments], cwd=tmp_path, capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    expected = f"isthmus: error: the command needs {missing}: pip install 'isthmus[cli]'."
    assert done.stderr.splitlines() == [expected]


def test_version_and_usage(run):
    assert run("--version")[1].strip() == f"isthmus {isthmus.__version__}"
    assert run("fit")[0] == 2
    assert run("nonsense")[0] == 2
    assert run("fit", "x.csv", "--nonsense")[0] == 2


# The command, which says when it has come to a function and then waits there for the signal. Where the
# tests run in the background the shell has SIGINT ignored: Python's own handler is put back.
WAITING = """
import functools, importlib, os, signal, sys, time
from isthmus.cli import main

def wait(*_, **__):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(600)

signal.signal(signal.SIGINT, signal.default_int_handler)
module, names = sys.argv.pop(1).split(":")
*owners, name = names.split(".")
setattr(functools.reduce(getattr, owners, importlib.import_module(module)), name, wait)
sys.exit(main())
"""


@pytest.mark.parametrize(
    "place",
    [
        "isthmus.auto.trials:Trial._fold",
        "isthmus.persistence.models:pack",
        "os:fsync",
    ],
)
def test_ctrl_c_keeps_the_old_file(tables, tmp_path, run_process, place):
    (tmp_path / "c.isthmus").write_bytes(b"old")
    arguments = ("fit", "X.csv", "Y.csv", "-o", "c.isthmus", "-m", "ridge", "--cv", "2")
    done = run_process(place, *arguments, first=WAITING)
    assert done.returncode == 130, done.stderr
    assert done.stdout == "" and "Traceback" not in done.stderr
    said = done.stderr.splitlines()[-1]
    assert said == "isthmus: error: interrupted; nothing was left half-written."
    assert (tmp_path / "c.isthmus").read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["X.csv", "Y.csv", "c.isthmus"]


def test_the_command_is_built_once_and_keeps_nothing_of_a_call(tables, run):
    assert app._command() is app._command()
    told = run("inspect", "X.csv", "--json")[1]
    assert json.loads(told)
    shown = run("inspect", "X.csv")[1]
    assert not shown.startswith("{") and run("inspect", "X.csv", "--json")[1] == told


def test_interrupt_in_the_middle(tables, run, monkeypatch, tmp_path):
    from isthmus.auto import MethodSearchCV

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(MethodSearchCV, "fit", interrupted)
    code, _, err = run("fit", "X.csv", "Y.csv", "-o", "c.isthmus")
    assert code == 130 and "interrupted; nothing was left half-written" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["X.csv", "Y.csv"]


# -- the demonstration, and real data by the real command -----------------------------------------


def test_demo(run_process, tmp_path):
    done = run_process("demo", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    errors = {row["method"]: row["test_error"] for row in told["methods"]}
    assert len(errors) == 9 and max(list(errors.values())[2:]) < 3.0 < errors["mean picture"]
    assert errors["kernel ridge regression"] < errors["ridge regression"]
    # The best choice is a method of this library, and the demonstration says against what.
    best = min(errors, key=errors.get)
    assert (
        "scikit-learn" not in best and errors[best] < 0.98 * errors["KernelRidge of scikit-learn"]
    )
    assert told["verdict"].startswith(
        f"The best is {best}: an error of {errors[best]:.2f} per pixel, "
    )
    assert "less than KernelRidge of scikit-learn" in told["verdict"]
    # What is said of rank is what is measured: it buys few coordinates, not accuracy.
    ratio = errors["reduced rank regression"] / errors["ridge regression"]
    assert errors["DependencyRegressor"] < 2.5 < errors["ridge regression"] and ratio > 1
    told_of_rank = f"outputs: {100 * (ratio - 1):.1f} % more error than ridge regression."
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    printed = r"\((\S+); ridge (\S+), `KernelRidge` of scikit-learn (\S+)\); .* has (\S+)\."
    shown = [float(number) for number in re.search(printed, readme).groups()]
    names = ["reduced rank regression", "ridge regression", "KernelRidge of scikit-learn"]
    assert shown == pytest.approx([errors[k] for k in (*names, "DependencyRegressor")], abs=0.03)
    assert re.search(r"keeps \d+ coordinates of 64 " + told_of_rank, told["verdict"])
    page = (tmp_path / "isthmus-demo.html").read_text("utf-8")
    for heading in ("Restored digits", "Rank curves", "Output basis", "Residuals"):
        assert heading in page
    assert page.count("data:image/png") > 10 * 8
    open_in_browser(tmp_path / "isthmus-demo.html")


def open_in_browser(path):
    """No complaint and no request to anywhere, where there is a browser to ask."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        return  # tests/reports/test_browser.py says that it is missing
    playwright = pytest.importorskip("playwright.sync_api")
    trouble = []
    with playwright.sync_playwright() as driver:
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = driver.chromium.launch(executable_path=chromium, args=options)
        page = browser.new_page(viewport={"width": 400, "height": 900})
        page.on("console", lambda m: trouble.append(m.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("request", lambda r: r.url.startswith(("http", "ws")) and trouble.append(r.url))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready=yes]")
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
        drawn = page.evaluate(
            "[...document.querySelectorAll('.plot')].map(p => p.querySelectorAll('svg').length)"
        )
        assert len(drawn) == 3 and min(drawn) > 0
        browser.close()
    assert trouble == []


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_a_terminal_sees_the_method_under_way(tables, tmp_path):
    code = (
        "import os, pty, sys\n"
        "seen = []\n"
        "def read(fd):\n"
        "    seen.append(os.read(fd, 65536))\n"
        "    return seen[-1]\n"
        "pty.spawn([sys.executable, '-m', 'isthmus.cli', 'fit', 'X.csv', 'Y.csv', '-m', 'pls,ridge',"
        " '--cv', '9'], read)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, timeout=240,
        env=os.environ | {"PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "100"},
    )  # fmt: skip
    text = done.stdout.decode(errors="replace")
    before_table = text[: text.index("Cross-validation")]
    assert "ridge regression" in before_table and "/9" in before_table


def real_data():
    for name in ("corn", "tecator"):
        yield name, lambda name=name: load_nir(name)
    yield "edm", lambda: load_mulan("edm")


@pytest.mark.parametrize(
    ("name", "loader"), list(real_data()), ids=[name for name, _ in real_data()]
)
def test_real_files_by_the_real_command(name, loader, tmp_path, run_process, write_csv):
    if "ISTHMUS_DATA" not in os.environ:
        pytest.skip("ISTHMUS_DATA is not set")
    try:
        data = loader()
    except DatasetNotFoundError as error:
        pytest.skip(str(error))
    names = (
        [str(w) for w in data.wavelengths]
        if data.get("wavelengths") is not None
        else data.feature_names
    )
    write_csv(tmp_path / "X.csv", data.data, names)
    write_csv(tmp_path / "Y.csv", data.target.reshape(len(data.data), -1), data.target_names)
    done = run_process(
        "fit", "X.csv", "Y.csv", "-o", "m.isthmus", "--report", "r.html", "--json", "--cv", "4",
        "-m", "pls,ridge,reduced_rank",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    floor = {"corn": 0.95, "tecator": 0.9, "edm": 0.2}[name]
    assert told["score"] > floor
    done = run_process("predict", "m.isthmus", "X.csv", "-o", "out.csv", "--interval", "0.95")
    assert done.returncode == 0, done.stderr


def test_a_table_breaks_no_number_and_no_name(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    row = ["0.1234 ± 0.0567", "-0.115 ± 0.044", "0.02"]
    names = ["a method whose name is longer than the room it has", "x" * 50]
    for name in names:
        Console().table("", ["method", "R2", "difference", "fit s"], [[name, *row]])
        out = capsys.readouterr().out
        assert all(cell in out for cell in row) and "…" not in out
    assert names[1] in out
