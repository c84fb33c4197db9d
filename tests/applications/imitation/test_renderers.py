"""With OSMesa alone, EGL alone, or neither: libraries are hidden from the loader of whole processes."""

import ctypes.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mujoco")
pytest.importorskip("typer")
ROOT = Path(__file__).resolve().parents[3]
HIDING = """
import ctypes, os
_open = ctypes.CDLL.__init__
def _refuse(self, name=None, *more, **options):
    if any(hidden in str(name) for hidden in os.environ["HIDDEN"].split()):
        raise OSError(f"{name}: hidden by the test")
    _open(self, name, *more, **options)
ctypes.CDLL.__init__ = _refuse
"""
# The quality of a picture is left to the tests of the lesson: here, that there is one.
FILMED = """
from isthmus.applications.imitation import Film
with Film(random_state=0) as film:
    assert len(set(film.background().ravel().tolist())) > 50
"""
FOUND = """
import os
from isthmus.applications.imitation.extras import find_renderer
assert find_renderer() == {!r}
assert "MUJOCO_GL" not in os.environ
"""
COMMAND = """
import sys
from isthmus.cli import main
code = main({!r})
assert not {{name.split(".")[0] for name in sys.modules}} & {!r}
sys.exit(code)
"""


@pytest.fixture
def process(tmp_path):
    """Run code in a process that finds none of the hidden libraries, nor do its children."""
    folder = tmp_path / "hiding"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(HIDING)

    def call(code, hidden="", **changes):
        environment = {k: v for k, v in os.environ.items() if not k.endswith(("_GL", "_PLATFORM"))}
        environment |= {"HIDDEN": hidden, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])}
        # A window of the machine that runs the tests would be a third renderer.
        environment = {k: v for k, v in environment.items() if "DISPLAY" not in k} | changes
        return subprocess.run(
            [sys.executable, "-c", code],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )

    return call


ONLY = {"osmesa": ("OSMesa", "EGL"), "egl": ("EGL", "OSMesa")}  # library, and the one to hide


@pytest.mark.parametrize("renderer", ONLY)
def test_one_renderer_alone_is_found_and_draws(process, renderer):
    library, hidden = ONLY[renderer]
    if ctypes.util.find_library(library) is None:
        pytest.skip(f"lib{library} is not installed")
    # Whoever imports MuJoCo first, and by whom it is asked to draw.
    others = (
        "import isthmus.applications.imitation.extras as extras\nmujoco = extras.need('mujoco')\n"
    )
    others += "mujoco.Renderer(mujoco.MjModel.from_xml_string('<mujoco/>'), 8, 8).close()\n"
    for code in (FOUND.format(renderer) + FILMED, "import mujoco\n" + FILMED, others):
        done = process(code, hidden)
        assert done.returncode == 0, done.stderr


def test_the_renderer_that_the_user_names_is_the_only_one_that_is_tried(process):
    done = process(FILMED, "EGL", MUJOCO_GL="egl")
    assert "ImportError: MuJoCo cannot draw here (EGL: " in done.stderr
    assert "OSMesa:" not in done.stderr


def test_what_draws_nothing_imports_no_renderer(process, tmp_path):
    code = COMMAND.format(["imitate", "--write", "c", "-o", "angles.csv"], {"OpenGL", "glfw"})
    for hidden, changes in (("", {}), ("OSMesa EGL", {}), ("OSMesa EGL", {"MUJOCO_GL": "osmesa"})):
        done = process(code, hidden, **changes)
        assert done.returncode == 0, done.stderr
        assert len((tmp_path / "angles.csv").read_text().splitlines()) > 50
        (tmp_path / "angles.csv").unlink()


def test_without_a_renderer_there_is_the_page_and_no_film(process, tmp_path):
    done = process(COMMAND.format(["imitate", "--write", "c", "-o", "c.html"], set()), "OSMesa EGL")
    assert done.returncode == 0, done.stderr
    assert "without a film" in done.stderr and "apt-get install libosmesa6" in done.stderr
    assert "c.mp4" not in done.stdout and not (tmp_path / "c.mp4").exists()
    text = (tmp_path / "c.html").read_text("utf-8")
    assert "three.js" in text and "<video" not in text.partition("<script")[0]


def test_what_learns_from_pictures_is_refused_before_the_work(process, tmp_path):
    done = process(COMMAND.format(["imitate", "-o", "c.html"], set()), "OSMesa EGL")
    assert done.returncode == 1
    assert "apt-get install libosmesa6" in done.stderr and "Traceback" not in done.stderr
    assert not list(tmp_path.glob("c.*"))


def test_an_experiment_that_cannot_draw_leaves_the_others(process, tmp_path):
    names = ["thesis-linear-machine", "thesis-camera", "thesis-descent"]
    code = COMMAND.format(["reproduce", "--quick", *names, "-o", "c.html"], set())
    done = process(code, "OSMesa EGL")
    assert done.returncode == 1
    assert "1 of 3 experiments failed. thesis-camera: ImportError" in done.stderr
    assert "libosmesa6" in done.stderr and "Traceback" not in done.stderr
    text = (tmp_path / "c.html").read_text("utf-8")
    assert text.count("failed: ImportError") == 1 and all(name in text for name in names)
