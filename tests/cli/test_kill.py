"""SIGKILL at twenty random moments of ``isthmus fit``: the old model is whole, or the new one is."""

import os
import subprocess
import sys
from pathlib import Path

import isthmus

ROOT = Path(__file__).resolve().parents[2]

# Everything is imported once; every child is then a run of the whole command.
FITTING = """
import os, random, signal, sys, time
import isthmus, isthmus.auto, isthmus.persistence, skops.io, jinja2, plotly.offline
from isthmus.cli import main
arguments = ["fit", "X.csv", "Y.csv", "-o", "m.isthmus", "-m", "pls,ridge", "--cv", "4", "-q"]

def child():
    pid = os.fork()
    if pid == 0:
        os._exit(main(arguments))
    return pid

begin = time.perf_counter()
assert os.waitpid(child(), 0)[1] == 0
takes = time.perf_counter() - begin
moments = random.Random(1)
killed = 0
for _ in range(20):
    pid = child()
    time.sleep(moments.uniform(0, 1.1 * takes))
    os.kill(pid, signal.SIGKILL)
    killed += os.waitpid(pid, 0)[1] == signal.SIGKILL
    isthmus.load("m.isthmus")
print(killed)
assert os.waitpid(child(), 0)[1] == 0
"""


def test_sigkill_at_twenty_moments_of_a_fit(tables, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FITTING], cwd=tmp_path, capture_output=True, text=True, timeout=400,
        env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[-1]) >= 10  # most were killed before they had ended
    assert isthmus.load(tmp_path / "m.isthmus").target_names_ == ["fat", "water"]
    assert not [path for path in tmp_path.iterdir() if path.name.endswith("-part")]
