"""SIGKILL before every line of ``isthmus fit`` and of the writing: the old model is whole, or the new one.

A line is a moment that comes in every run, however fast the machine is.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import isthmus

ROOT = Path(__file__).resolve().parents[2]

# Everything is imported once; every child is then a run of the whole command.
FITTING = """
import json, os, pathlib, signal, sys
import isthmus, isthmus.auto, isthmus.cli.fit, isthmus.persistence.atomic, skops.io
from isthmus.cli import main
arguments = ["fit", "X.csv", "Y.csv", "-o", "m.isthmus", "-m", "ridge", "--cv", "2", "-q"]
watched = {isthmus.cli.fit.fit.__code__} | {
    thing.__code__ for thing in vars(isthmus.persistence.atomic).values() if hasattr(thing, "__code__")
}
lines = 0

def child(moment):
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def trace(frame, event, _):
        global lines
        if frame.f_code not in watched:
            return None
        if event == "line":
            if lines == moment:
                os.kill(os.getpid(), signal.SIGKILL)
            lines += 1
        return trace

    sys.settrace(trace)
    code = main(arguments)
    sys.settrace(None)
    pathlib.Path("lines").write_text(str(lines))
    os._exit(code)

model = pathlib.Path("m.isthmus")
assert child(moment=-1) == 0
count = int(pathlib.Path("lines").read_text())
old, outcomes = model.read_bytes(), []
for moment in range(count):
    assert child(moment) == -signal.SIGKILL, moment
    isthmus.load(model)
    outcomes.append("old" if model.read_bytes() == old else "new")
    old = model.read_bytes()
parts = len(list(pathlib.Path().glob(".*-part")))
assert child(moment=-1) == 0
print(json.dumps([outcomes, parts]))
"""


def test_sigkill_before_every_line_of_a_fit(tables, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FITTING], cwd=tmp_path, capture_output=True, text=True, timeout=1200,
        env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    outcomes, parts = json.loads(done.stdout.splitlines()[-1])
    first = outcomes.index("new")  # the line after the renaming, from which on the new one stays
    assert 30 < first < len(outcomes) - 1
    assert outcomes == ["old"] * first + ["new"] * (len(outcomes) - first)
    assert parts == 0  # each run sweeps what the killed one before it has left
    assert isthmus.load(tmp_path / "m.isthmus").target_names_ == ["fat", "water"]
    assert not [path for path in tmp_path.iterdir() if path.name.endswith("-part")]
