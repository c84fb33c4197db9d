"""Tables on the disk, and the command in this process or as one of its own."""

import json
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


# Imports take longer than most commands: one process does them, and each run is a child of it. A first
# command, which ends in an error, makes typer import what it needs to read arguments.
PARENT = r"""
import contextlib, gc, importlib, io, json, os, pkgutil, runpy, sys
import isthmus.auto, isthmus.cli, isthmus.reports
with contextlib.suppress(ImportError):
    import jinja2, plotly.offline
for room in (isthmus.cli, isthmus.reports):
    for module in pkgutil.walk_packages(room.__path__, room.__name__ + "."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):
                importlib.import_module(module.name)
with contextlib.redirect_stderr(io.StringIO()):
    isthmus.cli.main(["inspect", "no such file"])
gc.freeze()  # or the first collection in each child takes longer than most commands

for line in sys.stdin:
    job = json.loads(line)
    child = os.fork()
    if not child:
        os.chdir(job["folder"])
        for number, (name, mode) in enumerate(
            [("in", os.O_RDONLY), ("out", os.O_WRONLY), ("err", os.O_WRONLY)]
        ):
            os.dup2(os.open(os.path.join(job["streams"], name), mode), number)
        sys.argv = ["isthmus", *job["arguments"]]
        code = 0
        try:
            exec(job["first"])
            runpy.run_module("isthmus.cli", run_name="__main__")
        except SystemExit as end:
            code = end.code or 0
        sys.stdout.flush(), sys.stderr.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture(scope="session")
def parent():
    """A process that has imported all that a command needs."""
    if not hasattr(os, "fork"):
        pytest.skip("no fork on this system")
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", PARENT], env=environment, **pipes) as process:
        yield process
        process.stdin.close()


@pytest.fixture
def run_process(tmp_path, tmp_path_factory, parent):
    """The command as a process of its own, in which some code may run ``first``."""

    def call(*arguments, input="", first=""):
        streams = tmp_path_factory.mktemp("streams")
        for name, content in {"in": input, "out": "", "err": ""}.items():
            (streams / name).write_text(content, encoding="utf-8")
        job = {
            "folder": str(tmp_path), "streams": str(streams), "first": first,
            "arguments": list(map(str, arguments)),
        }  # fmt: skip
        parent.stdin.write(json.dumps(job) + "\n")
        parent.stdin.flush()
        code = int(parent.stdout.readline())
        out, err = ((streams / name).read_text(encoding="utf-8") for name in ("out", "err"))
        return subprocess.CompletedProcess(arguments, code, out, err)

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
