"""Oracle: after whatever error, signal or neighbour, all outputs are the old ones or all the new."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from isthmus.persistence.outputs import Outputs, write_atomically

ROOT = Path(__file__).resolve().parents[2]
posix = pytest.mark.skipif(os.name != "posix", reason="signals and file locks of POSIX")


@pytest.fixture
def pair(tmp_path):
    """Two old files."""
    for name in "ab":
        (tmp_path / name).write_text("old")
    return tmp_path


def write_pair(folder, content):
    with Outputs() as outputs:
        for output in [outputs.add(folder / name) for name in "ab"]:
            output.write(content[:1])
            output.write(content[1:])


def contents(folder):
    """Of all files, those of a name with a dot too."""
    return {path.name: path.read_text() for path in folder.iterdir()}


# -- what is refused -------------------------------------------------------------------------------


def test_an_input_is_no_output_by_any_name(tmp_path):
    (tmp_path / "X.csv").write_text("1,2\n")
    (tmp_path / "soft").symlink_to("X.csv")
    os.link(tmp_path / "X.csv", tmp_path / "hard")
    (tmp_path / "folder").mkdir()
    for given in ("X.csv", "soft", "hard", "folder/../X.csv"):
        with (
            pytest.raises(ValueError, match="is the input"),
            Outputs([tmp_path / "X.csv"]) as outputs,
        ):
            outputs.add(tmp_path / given).write("lost")
    with pytest.raises(ValueError, match="is the input"):
        Outputs([tmp_path / "hard"]).add(tmp_path / "X.csv")
    assert (tmp_path / "X.csv").read_text() == "1,2\n"


@pytest.mark.parametrize("exists", [True, False])
def test_two_outputs_are_two_files(tmp_path, exists):
    (tmp_path / "folder").mkdir()
    if exists:
        (tmp_path / "m").write_text("old")
    (tmp_path / "link").symlink_to("m")
    outputs = Outputs()
    outputs.add(tmp_path / "m")
    for given in ("m", "folder/../m", "link"):
        with pytest.raises(ValueError, match="are one file"):
            outputs.add(tmp_path / given)
    outputs.add(tmp_path / "folder/m")
    outputs.add("-")
    with pytest.raises(ValueError, match="are one file"):
        outputs.add("-")


@posix
def test_regular_files_only(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "null").symlink_to("/dev/null")
    for given in (tmp_path / "pipe", tmp_path / "null", "/dev/null"):
        with pytest.raises(ValueError, match="not a regular file: name another, or - for standard"):
            write_atomically(given, "new")
    with pytest.raises(IsADirectoryError):
        write_atomically(tmp_path, "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["null", "pipe"]


def test_standard_output(tmp_path, capfdbinary):
    with Outputs() as outputs:
        outputs.add("-").write(b"\x00spoken")
        outputs.add(tmp_path / "m").write("written")
    assert capfdbinary.readouterr().out == b"\x00spoken"
    assert contents(tmp_path) == {"m": "written"}
    with pytest.raises(KeyError), Outputs() as outputs:
        outputs.add("-").write("half")
        raise KeyError
    assert capfdbinary.readouterr().out == b""


def test_long_names(tmp_path):
    for name in ("m" * 255, "é" * 127):
        write_atomically(tmp_path / name, "new")
        assert contents(tmp_path)[name] == "new"
    assert len(contents(tmp_path)) == 2


# -- errors ------------------------------------------------------------------------------------------


def fail_at(monkeypatch, k, error):
    """Let the k-th call to the system that writes anything raise; return the counter."""
    calls = []

    def counted(function):
        def call(*arguments, **options):
            calls.append(function.__name__)
            if len(calls) == k:
                raise error
            return function(*arguments, **options)

        return call

    for name in ("open", "write", "fsync", "chmod", "link", "replace"):
        monkeypatch.setattr(os, name, counted(getattr(os, name)))
    return calls


@pytest.mark.parametrize(
    "error",
    [OSError(errno.ENOSPC, "No space left"), OSError(errno.EIO, "I/O"), KeyboardInterrupt()],
    ids=["ENOSPC", "EIO", "Ctrl-C"],
)
@pytest.mark.parametrize("exists", [True, False])
def test_an_error_at_every_step(tmp_path, monkeypatch, error, exists):
    """Each call is let fail in turn, until there is no k-th any more."""
    before = {"a": "old", "b": "old"} if exists else {}
    failed, seen = 0, set()
    for k in range(1, 100):
        for path in tmp_path.iterdir():
            path.unlink()
        for name, text in before.items():
            (tmp_path / name).write_text(text)
        with monkeypatch.context() as patch:
            calls = fail_at(patch, k, error)
            try:
                write_pair(tmp_path, "new")
                raised = False
            except type(error) as caught:
                raised = True
                if isinstance(caught, OSError):  # told of the file that was asked for
                    assert Path(caught.filename or tmp_path / "a").name in ("a", "b")
        if len(calls) < k:
            break
        seen.add(calls[k - 1])
        failed += raised
        expected = before if raised else {"a": "new", "b": "new"}
        assert contents(tmp_path) == expected, (k, calls)
    else:
        pytest.fail("there is no end")
    assert seen >= {"open", "write", "fsync", "replace"} and failed >= 10


FULL = """
mount -t tmpfs -o size=256k tmpfs "$1" || exit 77
exec "$2" -c '
import os, sys
from isthmus.persistence.outputs import Outputs
os.chdir(sys.argv[1])
def write(size):
    with Outputs() as outputs:
        for name in "ab":
            outputs.add(name).write(b"x" * size)
write(1000)
failed = 0
for size in range(1000, 400_000, 9_001):
    before = [open(name, "rb").read() for name in "ab"]
    try:
        write(size)
    except OSError as error:
        failed += 1
        assert error.errno == 28 and error.filename in "ab", error
        assert [open(name, "rb").read() for name in "ab"] == before
    else:
        assert all(os.path.getsize(name) == size for name in "ab")
    assert sorted(os.listdir(".")) == ["a", "b"], os.listdir(".")
print(failed)
' "$1"
"""


def in_namespaces(flags, script, *arguments):
    """Run a script of the shell in namespaces of its own, or skip."""
    if shutil.which("unshare") is None:
        pytest.skip("no unshare")
    flags = flags if os.geteuid() == 0 else f"{flags}Ur"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        ["unshare", f"-{flags}", "sh", "-c", script, "sh", *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip


def finished(process):
    out, err = process.communicate(timeout=120)
    if process.returncode == 77 or "unshare:" in err:
        pytest.skip(f"not allowed here: {err.strip()}")
    assert process.returncode == 0, err
    return out


def test_a_disk_that_is_really_full(tmp_path):
    assert int(finished(in_namespaces("m", FULL, tmp_path, sys.executable))) > 20


# -- signals -----------------------------------------------------------------------------------------


@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("step", [0, 1])
def test_a_signal_between_the_renames_waits(pair, monkeypatch, number, step):
    class Ended(BaseException):
        pass

    def end(*_):
        raise Ended

    before, replace, calls = signal.signal(number, end), os.replace, []

    def replace_and_signal(*arguments):
        replace(*arguments)
        calls.append(arguments)
        if len(calls) == step + 1:
            os.kill(os.getpid(), number)

    monkeypatch.setattr(os, "replace", replace_and_signal)
    try:
        with pytest.raises(Ended):
            write_pair(pair, "new")
        assert signal.getsignal(number) is end
    finally:
        signal.signal(number, before)
    assert contents(pair) == {"a": "new", "b": "new"} and len(calls) == 2


# -- neighbours --------------------------------------------------------------------------------------


def test_four_threads_on_one_path(tmp_path):
    path, errors, torn = tmp_path / "m", [], []
    texts = [str(k) * 200_000 for k in range(4)]
    path.write_text(texts[0])
    at_work = threading.Event()
    at_work.set()

    def write(text):
        for _ in range(25):
            try:
                write_atomically(path, text)
            except BaseException as error:
                errors.append(error)

    def read():
        while at_work.is_set():
            if path.read_text() not in texts:
                torn.append(1)

    reader = threading.Thread(target=read)
    writers = [threading.Thread(target=write, args=(text,)) for text in texts]
    for thread in (reader, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    at_work.clear()
    reader.join()
    assert errors == [] and torn == []
    assert list(contents(tmp_path)) == ["m"]


def test_two_runs_leave_a_pair_of_one_of_them(pair, monkeypatch):
    """With a pause between the renames, in which the other run would slip in."""
    replace = os.replace

    def slow(*arguments):
        replace(*arguments)
        time.sleep(0.01)

    monkeypatch.setattr(os, "replace", slow)
    for _ in range(5):
        threads = [
            threading.Thread(target=write_pair, args=(pair, text)) for text in ("one", "two")
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = contents(pair)
        assert len(found) == 2 and len(set(found.values())) == 1, found


WRITING = """
import os, sys
from isthmus.persistence.outputs import write_atomically
assert os.getpid() < 5, os.getpid()
print(os.getpid(), flush=True)
for _ in range(60):
    write_atomically(sys.argv[1], sys.argv[2] * 300_000)
"""


def test_two_namespaces_of_processes_on_one_path(tmp_path):
    """Both writers have the same process number, as in two containers that share a directory."""
    path = tmp_path / "m"
    path.write_text("0" * 300_000)
    script = 'exec "$1" -c \'' + WRITING + '\' "$2" "$3"'
    both = [in_namespaces("pf", script, sys.executable, path, mark) for mark in "12"]
    torn = 0
    while any(process.poll() is None for process in both):
        torn += path.read_text() not in [mark * 300_000 for mark in "012"]
    numbers = [finished(process) for process in both]
    assert numbers[0] == numbers[1] and torn == 0
    assert list(contents(tmp_path)) == ["m"]
