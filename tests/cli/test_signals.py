"""Signals to real processes, at every step of writing and at random moments: 0 lost, 0 unpaired.

One process imports everything; each of its children is then a run of the whole command. The results of
the last run lie there when the next begins, under names that say which run wrote them.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

RUNNER = r"""
import contextlib, gc, json, os, random, re, signal, sys, time
import numpy as np
import isthmus
with contextlib.suppress(ImportError):
    import polars  # its threads start when it is first used, in a child
from isthmus.cli import main
from isthmus.persistence import ModelFileError, describe

name = sys.argv[1]
COMMANDS = {
    "fit": (["fit", "X.csv", "Y.csv", "-o", "m.isthmus", "--report", "r.html", "-m", "pls", "--cv", "2"],
            ["m.isthmus", "r.html"]),
    "predict": (["predict", "model.isthmus", "X.csv", "-o", "out.csv"], ["out.csv"]),
    "predict in blocks": (["predict", "model.isthmus", "X.csv", "-o", "out.csv"], ["out.csv"]),
    "report": (["report", "model.isthmus", "X.csv", "Y.csv", "-o", "again.html"], ["again.html"]),
    "compress": (["compress", "kernel.isthmus", "-o", "small.isthmus", "--points", "9"], ["small.isthmus"]),
    "demo": (["demo", "-o", "demo.html"], ["demo.html"]),
    "imitate": (["imitate", "-o", "arm.html"], ["arm.html", "arm.mp4"]),
    "reproduce": (["reproduce", "stiefel-outliers", "-o", "page.html"], ["page.html"]),
}
arguments, outputs = COMMANDS[name]
arguments = arguments + ["-q"]

if name == "predict in blocks":
    from isthmus.tables import encoding
    encoding.TEXT_BYTES = 1500

# What takes long and writes nothing is done once.
if name == "demo":
    from isthmus.cli import restoring
    found = restoring.compare(0, lambda *_: None)
    restoring.compare = lambda *_: found
if name == "reproduce":
    from isthmus.papers.registry import EXPERIMENTS
    outliers = EXPERIMENTS["stiefel-outliers"]
    tried = outliers.run(0, True)
    type(outliers).run = lambda *_: tried
if name == "imitate":
    from isthmus.applications.imitation import make_clip, pa10, show, stories
    arm = pa10()
    story = show.Story("t", arm, make_clip(6, random_state=0).postures(arm), 30.0)
    frame = np.zeros((64, 128, 3), np.uint8)
    stories.learned_story = lambda **_: story
    show.film_frames = lambda *_, **__: (frame + k for k in range(6))

gc.freeze()  # the children do not look through all that was imported

def written(path):
    '''Which run wrote a file, once it is seen to be whole; 0 for what was there before.'''
    data = open(path, "rb").read()
    if data == b"old":
        return 0
    if path.endswith(".isthmus"):
        isthmus.load(path)
        return describe(path)["summary"]["seed"] if name == "fit" else 1
    if path.endswith(".csv"):
        assert data.count(b"\n") == 41 and data.endswith(b"\n"), "torn"
        return 1
    if path.endswith(".mp4"):
        assert b"moov" in data and b"ftyp" in data[:64], "torn"
        return 1
    assert data.rstrip().endswith(b"</html>"), "torn"
    seed = re.search(rb"--seed (\d+)", data)
    return int(seed[1]) if seed and name == "fit" else 1

def child(seed, step=0, number=0, before=True):
    told, tell = os.pipe()
    pid = os.fork()
    if pid:
        os.close(tell)
        return pid, told
    os.close(told)
    calls = 0
    def counted(function):
        def call(*a, **k):
            nonlocal calls
            calls += 1
            mine = calls == step
            if mine and before:
                keep(tell, b"x"); os.kill(os.getpid(), number)
            result = function(*a, **k)
            if mine and not before:
                keep(tell, b"x"); os.kill(os.getpid(), number)
            return result
        return call
    keep = os.write
    for each in ("open", "write", "fsync", "link", "replace", "unlink"):
        setattr(os, each, counted(getattr(os, each)))
    run = arguments + (["--seed", str(seed)] if name in ("fit", "demo", "imitate") else [])
    sys.argv = ["isthmus", *run]
    sys.stderr = open("said", "w")
    code = main(run)
    sys.stderr.flush()
    os._exit(code)

def ended(pid, told):
    status = os.waitpid(pid, 0)[1]
    sent = os.read(told, 9) != b""
    os.close(told)
    return os.waitstatus_to_exitcode(status), sent

def look(where, code, number, result):
    files = [written(path) for path in outputs]
    result["unpaired"] += len(set(files)) > 1
    left = [f for f in os.listdir(".") if f.endswith("-part")]
    if number == signal.SIGKILL:
        result["unpaired_by_kill"] = result.pop("unpaired") + result.get("unpaired_by_kill", 0)
        result["unpaired"] = 0
    else:
        assert not left, (where, left)
        assert code in (0, 128 + number, -number), (where, code, open("said").read())
        result["ended"] += code == 128 + number

def reset():
    for path in outputs:
        open(path, "wb").write(b"old")

def start():
    return {"runs": 0, "sent": 0, "ended": 0, "unpaired": 0, "new": 0}

result = start()
numbers = [signal.SIGINT, signal.SIGTERM, signal.SIGKILL]
seed = 0
def strike(step, number, before):
    '''Run the command with one signal; whether the step was reached.'''
    global seed
    reset()
    seed += 1
    code, sent = ended(*child(seed, step, number, before))
    result["runs"] += 1
    if not sent:
        assert code == 0, (code, open("said").read())
        return False
    result["sent"] += 1
    where = (int(number), before, step)
    if number != signal.SIGKILL:
        assert code == 128 + number, (where, code, open("said").read())
    look(where, code, number, result)
    result["new"] += written(outputs[0]) != 0
    return True

# All commands share one writer. fit, which has two files, and predict meet SIGKILL and either Ctrl-C or
# SIGTERM, which have one handler, at every step; at the steps of the others the three take turns, at every
# second one but in blocks.
# After one step is before the next but for an instant: that one is SIGKILL's in predict.
turns = [numbers[:2], numbers[2:]] if name in ("fit", "predict") else [numbers]
stride = 1 if name in ("fit", "predict", "predict in blocks") else 2
for turn in turns:
    before = name != "predict" or turn is turns[0]
    for step in range(1, 60, stride):
        if not strike(step, turn[step % len(turn)], before):
            break
    else:
        raise SystemExit("there is no end")
aimed, result = result, start()
if sys.argv[3:]:
    reset()
    begun = time.perf_counter()
    assert ended(*child(1))[0] == 0, open("said").read()
    takes = time.perf_counter() - begun
    dice = random.Random(int(sys.argv[2]))
    for seed in range(2, 14):
        number = dice.choice(numbers[:2])
        reset()
        pid, told = child(seed)
        time.sleep(dice.uniform(0, 1.1 * takes))
        os.kill(pid, number)
        code, _ = ended(pid, told)
        result["runs"] += 1
        look(seed, code, number, result)
reset()
assert ended(*child(999))[0] == 0
assert not [f for f in os.listdir(".") if f.endswith("-part")]
print(json.dumps([aimed, result]))
sys.exit()
"""


@pytest.fixture
def signalled(tables, run, run_process):
    """Run the runner in a directory with tables and models."""

    def call(name):
        if name == "imitate":
            for module in ("mujoco", "cv2", "imageio", "imageio_ffmpeg"):
                pytest.importorskip(module)
        kinds = {
            "predict": "pls",
            "predict in blocks": "pls",
            "report": "pls",
            "compress": "kernel",
        }
        if name in kinds:
            path = "kernel.isthmus" if name == "compress" else "model.isthmus"
            options = ("-m", kinds[name], "--cv", "2", "-o", path, "-q")
            assert run("fit", "X.csv", "Y.csv", *options)[0] == 0
        seed = str(np.random.SeedSequence().entropy % 2**31)
        done = run_process(name, seed, *(["by chance"] if name in BY_CHANCE else []), first=RUNNER)
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(done.stdout)

    return call


COMMANDS = [
    "fit", "predict", "predict in blocks", "report", "compress", "demo", "imitate", "reproduce"
]  # fmt: skip
BY_CHANCE = ("fit", "predict", "predict in blocks", "compress")  # at random moments as well


@pytest.mark.parametrize("name", COMMANDS)
def test_a_signal_at_every_step_of_writing_and_at_random_moments(name, signalled):
    found, by_chance = signalled(name)
    assert found["unpaired"] == 0
    # SIGKILL alone cannot wait: only between the two renames, after one or before the other.
    assert found["unpaired_by_kill"] <= (4 if name in ("fit", "imitate") else 0)
    least = 20 if name in ("fit", "predict") else 4  # a file is opened, written, flushed, renamed
    assert found["sent"] >= least and 2 * found["ended"] >= least
    assert 0 < found["new"] < found["sent"]
    assert by_chance["runs"] == (12 if name in BY_CHANCE else 0) and by_chance["unpaired"] == 0


STARTING = r"""
import os, sys
import isthmus.cli.app
left, number, when = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
class Finder:
    def find_spec(self, *_):
        global left
        left -= 1
        if left == 0 and when == "import":
            os.kill(os.getpid(), number)
class Callback:
    def __del__(self):  # an exception in here is dropped by Python
        os.kill(os.getpid(), number)
        for _ in range(9):
            pass
if when == "end":
    import atexit
    atexit.register(os.kill, os.getpid(), number)
if when == "callback":
    import isthmus.cli.fit
    def dropping(*_):
        Callback()
        import time
        while True:
            time.sleep(1)
    isthmus.cli.fit.begin = dropping
sys.meta_path.insert(0, Finder())
sys.argv = ["isthmus", "fit", "X.csv", "Y.csv", "-m", "pls", "--cv", "2", "-q"]
isthmus.cli.app.entry_point()
"""


@pytest.fixture
def started(tables, tmp_path):
    """The command in a process of its own, which is sent a signal while it starts or ends."""

    def call(when, number, left=0):
        given = [sys.executable, "-c", STARTING, str(left), str(int(number)), when]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            given, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
        )
        assert "Traceback" not in done.stderr, done.stderr
        assert not [name for name in os.listdir(tmp_path) if name.endswith("-part")]
        return done

    return call


@pytest.mark.parametrize("left", [1, 2, 20, 100, 250, 400, 700, 1100])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_during_imports(left, name, started, tmp_path):
    """From the first import on: those of the command's own parser, then those of the numerics."""
    number = getattr(signal, name)
    done = started("import", number, left)
    assert done.returncode == 128 + number, done.stderr
    assert done.stderr == "isthmus: error: interrupted; nothing was left half-written.\n"
    assert not (tmp_path / "model.isthmus").exists()


def test_a_signal_in_a_callback_is_not_lost(started):
    done = started("callback", signal.SIGTERM)
    assert done.returncode == 143 and "interrupted" in done.stderr, done.stderr


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_after_the_results_are_there(name, started, tmp_path):
    done = started("end", getattr(signal, name))
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert (tmp_path / "model.isthmus").exists()
