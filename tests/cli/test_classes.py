"""Outputs that are classes, through the command: the same as scikit-learn's classes from Python."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from isthmus import fit_auto

X, CODES = load_iris(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(150)[:75]
X, CODES = X[ORDER], CODES[ORDER]
NAMES = np.array(["setosa", "versicolor", "virginica"])
FIT = ("-m", "pls,ridge", "--cv", "3")


def write(labels, column="kind"):
    lines = [",".join(["a", "b", "c", "d", column])]
    lines += [",".join([*map(str, row), label]) for row, label in zip(X, labels, strict=True)]
    Path("all.csv").write_text("\n".join(lines) + "\n")
    Path("X.csv").write_text("\n".join(line.rpartition(",")[0] for line in lines) + "\n")
    Path("Y.csv").write_text("\n".join(line.rpartition(",")[2] for line in lines) + "\n")


def predicted(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("files", [("X.csv", "Y.csv"), ("all.csv", "-t", "kind")])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_are_predicted_by_name(run, files, n_classes):
    labels = NAMES[np.minimum(CODES, n_classes - 1)]
    write(labels)
    code, out, err = run("fit", *files, "-o", "m.isthmus", "--json", *FIT)
    assert code == 0, err
    told = json.loads(out)
    peer = fit_auto(X, labels, methods=["pls", "ridge"], cv=3)
    assert told["accuracy"] == pytest.approx(peer.cv_accuracy_)
    assert run("predict", "m.isthmus", "X.csv", "-o", "p.csv", "-q")[0] == 0
    assert [row["kind"] for row in predicted("p.csv")] == list(peer.predict(X))
    again = fit_auto(*(files[:2] if files[0] == "X.csv" else ("all.csv", ["kind"])),
                     methods=["pls", "ridge"], cv=3)  # fmt: skip
    assert list(again.predict(X)) == list(peer.predict(X))


def test_a_table_of_classes_is_shown_and_bounds_are_refused(run):
    write(NAMES[CODES])
    code, out, err = run("fit", "X.csv", "Y.csv", "-o", "m.isthmus", *FIT)
    assert code == 0, err
    assert (
        "of the left-out rows are classified correctly" in out
        and "as versicolor" in out
        and "RMSECV" not in out
    )
    assert "--interval" not in out
    code, _, err = run("predict", "m.isthmus", "X.csv", "-o", "p.csv", "--interval", "0.9")
    assert code != 0 and "predicts classes, which have no bounds" in err


def test_new_classes_are_reported_on(run):
    write(NAMES[CODES])
    assert run("fit", "X.csv", "Y.csv", "-o", "m.isthmus", "-q", *FIT)[0] == 0
    code, out, err = run("report", "m.isthmus", "X.csv", "Y.csv", "-o", "r.html")
    assert code == 0, err
    assert "kind=virginica" in out and Path("r.html").exists()
    assert "of the rows are classified correctly" in out and "as virginica" in out
    page = Path("r.html").read_text()
    assert "Rows by true class of kind" in page
    assert "Residuals: they should scatter evenly" not in page
    code, _, err = run("report", "m.isthmus", "all.csv", "-o", "r2.html")
    assert code != 0 and "give them in a table of their own" in err
    write(["rose", *NAMES[CODES][1:]])
    code, _, err = run("report", "m.isthmus", "X.csv", "Y.csv", "-o", "r2.html")
    assert code != 0 and "has no class of the model" in err


def test_classes_beside_numbers_and_rows_without_class_are_named(run):
    labels = [str(name) for name in NAMES[CODES]]
    write(labels)
    code, _, err = run("fit", "all.csv", "-t", "kind,a", "-o", "m.isthmus", *FIT)
    assert code != 0 and "column 'kind' holds classes" in err and "--target-columns kind" in err
    write(["", *labels[1:]])
    code, _, err = run("fit", "all.csv", "-t", "kind", "-o", "m.isthmus", *FIT)
    assert code != 0 and "has no class in the column 'kind'" in err
    assert not Path("m.isthmus").exists()


def test_truth_values_are_classes_if_they_are_the_only_output(run):
    labels = ["yes" if code else "no" for code in CODES]
    write(labels)
    code, out, err = run(
        "fit", "all.csv", "-t", "kind", "-o", "m.isthmus", "--report", "r.html", *FIT
    )
    assert code == 0, err
    assert "as yes" in out and "RMSECV" not in out
    assert "of the rows are classified correctly" in Path("r.html").read_text()
    assert run("predict", "m.isthmus", "X.csv", "-o", "p.csv", "-q")[0] == 0
    peer = fit_auto(X, labels, methods=["pls", "ridge"], cv=3, report="python.html")
    assert [row["kind"] for row in predicted("p.csv")] == list(peer.predict(X))
    assert (
        f"{100 * peer.cv_accuracy_:.1f} % of the rows are classified"
        in Path("python.html").read_text()
    )
    # Beside another output they are numbers, 0 or 1.
    code, out, err = run("fit", "all.csv", "-t", "kind,a", "-o", "m.isthmus", *FIT)
    assert code == 0, err
    assert "RMSECV" in out
