"""Several tables of inputs: fit, predict, report, and what is said when tables do not go together."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from isthmus import MethodSearchCV, fit_auto, load

N, NEW = 50, 20


@pytest.fixture
def blocks(tmp_path, write_csv):
    """Two tables that each know one of two outputs, the second in another order of rows."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(N + NEW, 6)), 1000 * rng.normal(size=(N + NEW, 4))
    Y = np.column_stack([a @ rng.normal(size=6), b @ rng.normal(size=4) / 500])
    Y += 0.1 * rng.normal(size=Y.shape)
    ids = [f"s{i}" for i in range(N + NEW)]
    order = rng.permutation(N)
    write_csv(tmp_path / "nir.csv", a[:N], "abcdef", ids[:N])
    write_csv(tmp_path / "raman.csv", b[order], "abcd", [ids[i] for i in order])
    write_csv(tmp_path / "lab.csv", Y[:N], ["fat", "water"], ids[:N])
    back = np.arange(N + NEW - 1, N - 1, -1)
    write_csv(tmp_path / "nir_new.csv", a[N:], "abcdef", ids[N:])
    write_csv(tmp_path / "raman_new.csv", b[back], "abcd", [ids[i] for i in back])
    write_csv(tmp_path / "lab_new.csv", Y[N:], ["fat", "water"], ids[N:])
    return a, b, Y


def test_fit_predict_and_report(blocks, run, tmp_path):
    a, b, Y = blocks
    code, out, err = run("fit", "nir.csv", "raman.csv", "-y", "lab.csv", "--cv", "3", "--json")
    assert code == 0, err
    assert "rows of raman.csv were put in the order of nir.csv by their names" in err
    told = json.loads(out)
    assert set(told["block_importances"]) == {"nir", "raman"}
    assert sum(told["block_importances"].values()) == pytest.approx(1)
    assert min(told["block_importances"].values()) > 0.2  # each knows one of two outputs
    code, out, err = run("predict", "model.isthmus", "nir_new.csv", "raman_new.csv", "-o", "p.csv")
    assert code == 0, err
    found = pd.read_csv(tmp_path / "p.csv")
    assert list(found["sample"]) == [f"s{i}" for i in range(N, N + NEW)]
    error = ((found[["fat", "water"]] - Y[N:]) ** 2).mean().to_numpy()
    assert (error < 0.05 * Y.var(axis=0)).all()
    # The same rows from Python.
    model = load(tmp_path / "model.isthmus")
    assert_allclose(
        model.predict({"raman": b[N:], "nir": a[N:]}), found[["fat", "water"]], rtol=1e-9
    )
    code, out, err = run("report", "model.isthmus", "nir_new.csv", "raman_new.csv", "lab_new.csv")
    assert code == 0, err
    by_option = ("report", "model.isthmus", "nir_new.csv", "raman_new.csv", "-y", "lab_new.csv")
    assert run(*by_option)[0] == 0
    assert "RMSEP" in out and "Blocks of inputs" in (tmp_path / "report.html").read_text()


def test_what_does_not_go_together_is_told(blocks, run, tmp_path):
    code, _, err = run("fit", "nir.csv", "raman.csv", "lab.csv")
    assert code == 2 and "name the table of outputs with -y" in err
    lines = (tmp_path / "raman.csv").read_text().splitlines()
    (tmp_path / "short.csv").write_text("\n".join(lines[:-2]) + "\n")
    code, _, err = run("fit", "nir.csv", "short.csv", "-y", "lab.csv")
    missing = lines[-1].split(",")[0]
    assert code and "nir.csv has 50 rows and short.csv has 48" in err and f"{missing!r}" in err
    assert run("fit", "nir.csv", "raman.csv", "-y", "lab.csv", "--cv", "3", "-q")[0] == 0
    code, _, err = run("predict", "model.isthmus", "nir_new.csv")
    assert code and "fitted on 2 tables of inputs (nir, raman, in this order), 1 is given" in err
    code, _, err = run("predict", "model.isthmus", "raman_new.csv", "nir_new.csv")
    assert code and "raman_new.csv lacks 2 of the 6 columns" in err
    code, _, err = run("report", "model.isthmus", "nir_new.csv", "raman_new.csv")
    assert code and "-y" in err
    assert run("fit", "nir.csv", "lab.csv", "-o", "one.isthmus", "-m", "pls", "-q")[0] == 0
    code, _, err = run("predict", "one.isthmus", "nir_new.csv", "raman_new.csv")
    assert code and "fitted on 1 table of inputs, 2 are given" in err


def test_groups_reach_several_tables(blocks, run, tmp_path):
    table = pd.read_csv(tmp_path / "lab.csv")
    table["batch"] = np.arange(N) // 10
    table.to_csv(tmp_path / "lab.csv", index=False)
    call = ("fit", "nir.csv", "raman.csv", "-y", "lab.csv", "--groups", "batch", "--json")
    code, out, err = run(*call)
    assert code == 0, err
    assert json.loads(out)["n_splits"] == 5


def test_a_block_that_knows_nothing_has_next_to_no_share(blocks):
    a, _, Y = blocks
    noise = np.random.default_rng(1).normal(size=(N, 30))
    search = fit_auto({"noise": noise, "nir": a[:N]}, Y[:N, 0], cv=3, verbose=0)
    assert search.block_importances_["nir"] > 0.9
    assert search.predict({"noise": noise, "nir": a[:N]}).shape == (N,)


def test_blocks_in_python(blocks):
    a, b, Y = blocks
    X = np.hstack([a, b])[:N]
    options = {"cv": 3, "methods": ["block_ridge"]}
    given = MethodSearchCV(blocks={"nir": slice(0, 6), "raman": slice(6, 10)}, **options)
    given.fit(X, Y[:N])
    # Of blocks "ridge" is that of blocks.
    listed = MethodSearchCV("ridge", blocks=[slice(0, 6), range(6, 10)], cv=3).fit(X, Y[:N])
    assert list(listed.blocks_) == ["block 1", "block 2"]
    assert_allclose(listed.predict(X), given.predict(X))
    with pytest.raises(ValueError, match="methods"):
        MethodSearchCV(["kernel"], blocks=[slice(0, 6), slice(6, 10)]).fit(X, Y[:N])
    gaps = np.where(np.eye(N, 10) > 0, np.nan, X)
    filled = MethodSearchCV(blocks=[slice(0, 6), slice(6, 10)], **options)
    filled.fit(gaps, np.where(np.eye(N, Y.shape[1]) > 0, np.nan, Y[:N]))
    assert_allclose(filled.predict({"block 1": gaps[:, :6], "block 2": gaps[:, 6:]}),
                    filled.predict(gaps))  # fmt: skip
    with pytest.raises(ValueError, match="the block 'nir' has 5 columns"):
        given.predict({"nir": a[:, :5], "raman": b})
    with pytest.raises(ValueError, match="fitted on"):
        given.predict({"nir": a})
