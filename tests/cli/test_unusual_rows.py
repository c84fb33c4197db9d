"""Oracles: planted faults; the same fit in Python; a file that remembers what was left out."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

import isthmus
from isthmus.datasets import make_spectra

SPIKED, WRONG = 20, 33


@pytest.fixture
def spoiled(tmp_path):
    """A table with names of rows, one without, and their outputs: a dead pixel, a wrong value."""
    spectra = make_spectra(60, random_state=0)
    X, Y = spectra.data[:, ::20].copy(), spectra.target[:, :1].copy()
    X[SPIKED, 15] += 3 * X[:, 15].std()
    Y[WRONG] += 5 * Y.std()
    header = ",".join(str(1100 + 40 * j) for j in range(X.shape[1]))
    np.savetxt(tmp_path / "X.csv", X, delimiter=",", header=header, comments="", fmt="%.17g")
    np.savetxt(tmp_path / "Y.csv", Y, delimiter=",", header="water", comments="", fmt="%.17g")
    rows = [f"lab{i}a," + ",".join(f"{v:.17g}" for v in row) for i, row in enumerate(X)]
    (tmp_path / "named.csv").write_text("\n".join([f"sample,{header}", *rows]) + "\n")
    return X, Y


def test_rows_that_stand_out_are_named_and_can_be_left_out(spoiled, run):
    X, Y = spoiled
    fit = ("Y.csv", "-m", "pls", "--cv", "4", "-o", "m.isthmus")
    code, out, err = run("fit", "X.csv", *fit, "--report", "r.html")
    assert code == 0, err
    assert f"row {SPIKED + 1} (" in err and f"row {WRONG + 1} (water == " in err
    assert f"--exclude {SPIKED + 1},{WRONG + 1}" in err
    with open("r.html", encoding="utf-8") as page:
        text = page.read()
    assert "Training rows that stand out" in text and f"row {SPIKED + 1} (" in text

    code, out, err = run("fit", "X.csv", *fit, "--exclude", f"{SPIKED + 1},{WRONG + 1}")
    assert code == 0 and "stand out" not in err
    model = isthmus.load("m.isthmus")
    peer = isthmus.fit_auto(X, Y, methods=["pls"], cv=4, exclude=[SPIKED, WRONG], verbose=0)
    assert_allclose(model.predict_rows(X), peer.predict_rows(X), rtol=1e-9)
    code, out, err = run("inspect", "m.isthmus")
    assert f"left out   {SPIKED + 1}, {WRONG + 1}" in out


def test_rows_are_left_out_and_kept_by_their_names(spoiled, run):
    fit = ("fit", "named.csv", "Y.csv", "-m", "pls", "--cv", "4", "-o", "m.isthmus")
    code, out, err = run(*fit, "--json", "--exclude", f"lab{WRONG}a")
    assert code == 0, err
    told = json.loads(out)
    assert told["excluded"] == [f"lab{WRONG}a"]
    assert told["unusual_rows"][0]["name"] == f"lab{SPIKED}a"
    code, out, err = run(*fit, "--json", "--keep", f"lab{SPIKED}a", "--exclude", f"lab{WRONG}a")
    assert json.loads(out)["unusual_rows"] == []
    code, out, err = run(*fit, "--exclude", "lab99a")
    assert code == 1 and "exclude: there is no row 'lab99a' among the 60 rows of X." in err
