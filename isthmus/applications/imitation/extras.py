"""Packages that are only needed for pictures, films and quadratic programmes."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_DISTRIBUTIONS = {"cv2": "opencv-python-headless", "imageio_ffmpeg": "imageio-ffmpeg"}
# Values of MUJOCO_GL. OSMesa is first: it draws the same picture on every machine, EGL that of a graphics
# card where there is one. An empty value is the window library of the system.
_RENDERERS = {"osmesa": "OSMesa", "egl": "EGL", "": "GLFW"}
_TRIAL = """import mujoco
model = mujoco.MjModel.from_xml_string("<mujoco/>")
with mujoco.Renderer(model, 16, 16) as renderer:
    renderer.update_scene(mujoco.MjData(model)); renderer.render()"""
_HELP = (
    "On Debian and Ubuntu: apt-get install libosmesa6, or libegl1 and libgl1. "
    "If MUJOCO_GL is set, no other renderer is tried"
)


def need(module: str) -> Any:
    """Import an optional package, or say which extra has it; MuJoCo is imported without a renderer."""
    try:
        if module == "mujoco" and module not in sys.modules:
            return _import_mujoco()
        return importlib.import_module(module)
    except ImportError as error:
        name = _DISTRIBUTIONS.get(module, module)
        raise ImportError(
            f"{name} is needed for this and is not installed: pip install 'isthmus[imitation]'"
        ) from error


def make_renderer(model: Any, height: int, width: int) -> Any:
    """Open an off-screen renderer of MuJoCo with what draws here, or name the missing Debian package."""
    mujoco = need("mujoco")
    _bind_renderer()
    try:
        return mujoco.Renderer(model, height, width)
    except Exception as error:  # the loader of the graphics library raises whatever it likes
        raise ImportError(
            f"MuJoCo cannot draw here ({type(error).__name__}: {error}). {_HELP}"
        ) from error


def find_renderer(first: str = "") -> str:
    """Return the value of MUJOCO_GL that draws; each is tried in a process of its own.

    A graphics library that is missing can end a process. ``first`` is tried before the others. If the user
    has set MUJOCO_GL, no other value is tried.
    """
    asked = os.environ.get("MUJOCO_GL")
    names = [asked] if asked else [first] * bool(first) + [*_RENDERERS]
    command = [sys.executable, "-P", "-c", _TRIAL]  # no mujoco.py of this folder
    reasons = []
    for name in names:
        changed = os.environ | {"MUJOCO_GL": name}
        try:
            subprocess.run(command, env=changed, capture_output=True, check=True, timeout=60)
            return name
        except subprocess.SubprocessError as error:
            said = (error.stderr or b"").decode(errors="replace").split("\n")  # type: ignore[attr-defined]
            reason = next(filter(None, reversed(said)), type(error).__name__)
            reasons.append(f"{_RENDERERS.get(name, name)}: {reason}")
    raise ImportError(f"MuJoCo cannot draw here ({'; '.join(reasons)}). {_HELP}")


def check_installed() -> None:
    """Refuse at once, before any work, where rendering or film is not available."""
    mujoco, *_ = map(need, ("mujoco", "cv2", "imageio", "imageio_ffmpeg"))
    make_renderer(mujoco.MjModel.from_xml_string("<mujoco/>"), 16, 16).close()


def _import_mujoco() -> Any:
    with _mujoco_gl("disable"):
        mujoco = importlib.import_module("mujoco")
    # A renderer is looked for when one is made, by us or by others in this process.
    _contexts().__getattr__ = _find_context
    return mujoco


def _contexts() -> Any:
    """Return the module of MuJoCo that binds a renderer when it is imported, in version 3 or 4."""
    names = "mujoco.rendering.classic.gl_context", "mujoco.gl_context"
    return next(sys.modules[name] for name in names if name in sys.modules)


def _find_context(name: str) -> Any:
    """``__getattr__`` of that module."""
    if name != "GLContext":
        raise AttributeError(f"gl_context has no attribute {name!r}")
    _bind_renderer()
    return _contexts().GLContext


@cache
def _bind_renderer() -> None:
    """Let MuJoCo draw with what draws here; first choice is what others in this process have bound."""
    bound = getattr(vars(_contexts()).get("GLContext"), "__module__", "")
    with _mujoco_gl(find_renderer(bound.rpartition(".")[2])):
        importlib.reload(_contexts())


@contextmanager
def _mujoco_gl(value: str) -> Iterator[None]:
    """Set MUJOCO_GL for a while."""
    before = os.environ.get("MUJOCO_GL")
    os.environ["MUJOCO_GL"] = value
    try:
        yield
    finally:
        del os.environ["MUJOCO_GL"]
        if before is not None:
            os.environ["MUJOCO_GL"] = before
