"""Tables on the disk, and the command in this process or as one of its own."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from isthmus.cli import main
from isthmus.datasets import make_low_rank_regression

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """The command in this process: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


@pytest.fixture
def run_process(tmp_path):
    """The command as a process of its own."""

    def call(*arguments, **options):
        environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        return subprocess.run(
            [sys.executable, "-m", "isthmus.cli", *map(str, arguments)],
            cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240, **options,
        )  # fmt: skip

    return call


def csv_file(path, values, names=None, ids=None, sep=","):
    lines = []
    if names is not None:
        lines.append(sep.join(([] if ids is None else ["sample"]) + list(names)))
    for i, row in enumerate(values):
        cells = ["" if np.isnan(v) else repr(float(v)) for v in row]
        lines.append(sep.join(([] if ids is None else [ids[i]]) + cells))
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def write_csv():
    """Write an array, with names of columns and rows if given."""
    return csv_file


@pytest.fixture
def tables(tmp_path):
    """X.csv and Y.csv with headers and row names; returns the arrays."""
    X, Y, _ = make_low_rank_regression(40, 6, 2, rank=2, noise=0.3, random_state=0)
    ids = [f"s{i}" for i in range(len(X))]
    csv_file(tmp_path / "X.csv", X, "abcdef", ids)
    csv_file(tmp_path / "Y.csv", Y, ["fat", "water"], ids)
    return X, Y


@pytest.fixture
def model(tables, run):
    """A fitted model in m.isthmus."""
    code, _, err = run("fit", "X.csv", "Y.csv", "-o", "m.isthmus", "-m", "pls", "--cv", "3", "-q")
    assert code == 0, err
    return tables
