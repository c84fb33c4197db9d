"""No command writes over what it reads, or two results into one file; - is standard output."""

import errno
import os
import shutil

import pytest

import isthmus
from isthmus.cli import main

FIT = ("fit", "X.csv", "Y.csv", "-m", "pls", "--cv", "2", "-q")
OVERWRITING = {
    "fit over X": (*FIT, "-o", "X.csv"),
    "fit over Y": (*FIT, "-o", "Y.csv"),
    "fit over a link to X": (*FIT, "-o", "link.csv"),
    "fit over a second name of X": (*FIT, "-o", "hard.csv"),
    "fit by a link over X": ("fit", "link.csv", "Y.csv", "-o", "X.csv"),
    "report over X": (*FIT, "-o", "n.isthmus", "--report", "page.html"),
    "predict over new rows": ("predict", "m.isthmus", "X.csv", "-o", "X.csv"),
    "predict over a model": ("predict", "m.csv", "X.csv", "-o", "m.csv"),
    "report over a model": ("report", "m.html", "X.csv", "Y.csv", "-o", "m.html"),
    "compress in place": ("compress", "m.isthmus", "-o", "m.isthmus"),
    "film over a film": ("imitate", "--video", "clip.mp4", "-o", "clip.html"),
}


def everything(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("name", OVERWRITING)
def test_an_input_is_not_overwritten(name, model, run, tmp_path):
    (tmp_path / "link.csv").symlink_to("X.csv")
    os.link("X.csv", "hard.csv")
    os.link("X.csv", "page.html")
    for copy in ("m.csv", "m.html", "clip.mp4"):
        shutil.copy("m.isthmus", copy)
    before = everything(tmp_path)
    code, out, err = run(*OVERWRITING[name])
    assert code == 1 and "is the input" in err and "name another output" in err, err
    assert len(err.strip().splitlines()) == 1 and out == ""
    assert everything(tmp_path) == before


def test_an_array_of_an_archive_is_an_input_too(model, run, tmp_path):
    import numpy as np

    X, Y = model
    np.savez("both.npz", X=X, Y=Y)
    before = everything(tmp_path)
    code, _, err = run("fit", "both.npz:X", "both.npz:Y", "-o", "both.npz", "-q")
    assert code == 1 and "is the input both.npz" in err
    assert everything(tmp_path) == before


def test_two_results_are_two_files(model, run, tmp_path):
    before = everything(tmp_path)
    code, _, err = run(*FIT, "-o", "one.html", "--report", "one.html")
    assert code == 1 and "one.html and one.html are one file" in err
    code, _, err = run(*FIT, "-o", "-", "--report", "-")
    assert code == 1 and "are one file" in err
    assert everything(tmp_path) == before


@pytest.mark.skipif(os.name != "posix", reason="devices of POSIX")
def test_devices_stay_devices(model, run, tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    for given in ("/dev/null", "pipe.csv"):
        code, _, err = run(*FIT, "-o", given)
        assert code == 1 and "not a regular file: name another, or - for standard output" in err
    assert not os.path.isfile("/dev/null")


def test_standard_output(model, run, run_process, tmp_path):
    run("predict", "m.isthmus", "X.csv", "-o", "out.csv", "-q")
    before = everything(tmp_path)
    done = run_process("predict", "m.isthmus", "X.csv", "-o", "-")
    assert done.returncode == 0 and done.stdout == (tmp_path / "out.csv").read_text()
    assert "40 rows predicted: -" in done.stderr
    assert everything(tmp_path) == before
    code, _, err = run("predict", "m.isthmus", "X.csv", "-o", "-", "--json")
    assert code == 2 and "cannot both use standard output" in err


def test_a_model_through_a_pipe(tables, tmp_path, monkeypatch, capfdbinary):
    monkeypatch.chdir(tmp_path)
    capfdbinary.readouterr()
    assert main([*FIT, "-o", "-", "--report", "r.html"]) == 0
    (tmp_path / "m.isthmus").write_bytes(capfdbinary.readouterr().out)
    assert isthmus.load("m.isthmus").target_names_ == ["fat", "water"]
    assert (tmp_path / "r.html").stat().st_size > 10**6


def test_no_terminal_obeys_a_model_file(tables, run, tmp_path):
    """Names with escapes are shown, not sent."""
    evil = "\x1b]0 owned\x07\x1b[2J\x9b31m"
    text = (tmp_path / "Y.csv").read_text().replace("fat", evil)
    (tmp_path / "Y.csv").write_text(text)
    code, _, err = run(*FIT, "-o", "m.isthmus")
    assert code == 0, err
    for command in (("inspect", "m.isthmus"), ("predict", "m.isthmus", "Y.csv", "-o", "o.csv")):
        _, out, err = run(*command)
        assert "\x1b" not in out + err and "\x07" not in out + err and "\x9b" not in out + err
    assert "\\x1b]0 owned" in run("inspect", "m.isthmus")[1]


FAILING = {
    "fit": (*FIT, "-o", "n.isthmus", "--report", "n.html"),
    "predict": ("predict", "m.isthmus", "X.csv", "-o", "n.csv"),
    "report": ("report", "m.isthmus", "X.csv", "Y.csv", "-o", "n.html"),
}


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO], ids=["ENOSPC", "EIO"])
@pytest.mark.parametrize("name", FAILING)
def test_an_error_at_every_write_of_a_command(name, number, model, run, tmp_path, monkeypatch):
    """One line, exit code 1, and all files as they were; predict writes five blocks."""
    from isthmus.tables import encoding

    monkeypatch.setattr(encoding, "TEXT_BYTES", 1500)
    for file in ("n.isthmus", "n.html", "n.csv"):
        (tmp_path / file).write_text("old")
    before = everything(tmp_path)
    write, calls = os.write, 0

    def fail(handle, data):
        nonlocal calls
        calls += 1
        if calls == step:
            raise OSError(number, os.strerror(number))
        return write(handle, data)

    monkeypatch.setattr(os, "write", fail)
    for step in range(1, 60):
        calls = 0
        code, _, err = run(*FAILING[name])
        if calls < step:
            break
        lines = [line for line in err.splitlines() if not line.startswith("note: ")]
        assert code == 1 and len(lines) == 1 and os.strerror(number).lower() in lines[0], err
        assert everything(tmp_path) == before
    assert code == 0 and step > (4 if name == "predict" else 1)
