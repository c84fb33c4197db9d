"""Oracle: whatever happens while a file is written, the old one or the new one is there, whole."""

import os
import subprocess
import sys

import pytest

from isthmus.persistence import load
from isthmus.persistence.outputs import write_atomically

# Everything is imported once; each child then saves over and over until it is killed.
SAVING = """
import os, random, signal, sys, time
import numpy as np, isthmus
path, rng = sys.argv[1], np.random.default_rng(0)
model = isthmus.PLS(2).fit(rng.normal(size=(30, 20000)), rng.normal(size=30))
isthmus.save(model, path)
moments = random.Random(0)
for _ in range(20):
    child = os.fork()
    if child == 0:
        while True:
            isthmus.save(model, path)
    time.sleep(moments.uniform(0, 0.1))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert isthmus.load(path).n_components_ == 2
    print("whole", flush=True)
"""


def parts(folder):
    return [path.name for path in folder.iterdir() if path.name.endswith("-part")]


def test_writes_and_replaces(tmp_path):
    path = tmp_path / "f.txt"
    write_atomically(path, "one")
    path.chmod(0o640)
    write_atomically(path, b"two")
    assert path.read_bytes() == b"two"
    assert path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["f.txt"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_atomically(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_text() == "new"


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, step, error):
    path = tmp_path / "f"
    path.write_text("old")

    def fail(*_):
        raise error

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(type(error)):
        write_atomically(path, "new")
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["f"]


def test_what_the_dead_left_is_swept(tmp_path):
    (tmp_path / ".m.0123456789abcdef.isthmus-part").write_text("half")
    writing = (
        "import sys; from isthmus.persistence.outputs import Outputs; output = Outputs().add(sys.argv[1]);"
        "output.write('half'); print(output.part.name, flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", writing, str(tmp_path / "m")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as another:
        alive = another.stdout.readline().strip()
        other = tmp_path / ".n.0123456789abcdef.isthmus-part"
        other.write_text("of another file")
        write_atomically(tmp_path / "m", "new")
        assert sorted(parts(tmp_path)) == sorted([alive, other.name])
        another.kill()
    write_atomically(tmp_path / "m", "newer")
    assert parts(tmp_path) == [other.name]


def test_sigkill_at_twenty_moments_while_saving(tmp_path):
    path = tmp_path / "m.isthmus"
    done = subprocess.run(
        [sys.executable, "-c", SAVING, str(path)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["whole"] * 20
    write_atomically(path, path.read_bytes())  # the next run is not in the way of what was left
    assert load(path).n_components_ == 2 and parts(tmp_path) == []
