"""Packages that are only needed for pictures, films and quadratic programmes."""

from __future__ import annotations

import importlib
import os
from typing import Any

_DISTRIBUTIONS = {"cv2": "opencv-python-headless", "imageio_ffmpeg": "imageio-ffmpeg"}


def need(module: str) -> Any:
    """Import an optional package, or say which extra has it."""
    if module == "mujoco":
        os.environ.setdefault("MUJOCO_GL", "osmesa")  # read once, when mujoco is imported
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = _DISTRIBUTIONS.get(module, module)
        raise ImportError(
            f"{name} is needed for this and is not installed: pip install 'isthmus[imitation]'"
        ) from error


def make_renderer(model: Any, height: int, width: int) -> Any:
    """Open an off-screen renderer of MuJoCo, or name the Debian package that is missing."""
    mujoco = need("mujoco")
    try:
        return mujoco.Renderer(model, height, width)
    except Exception as error:  # the loader of the graphics library raises whatever it likes
        backend = os.environ.get("MUJOCO_GL", "osmesa")
        raise ImportError(
            f"MuJoCo cannot render off screen with MUJOCO_GL={backend} ({type(error).__name__}: "
            f"{error}). On Debian and Ubuntu: apt-get install libosmesa6; if mujoco was imported "
            "before this package, set MUJOCO_GL=osmesa before that import"
        ) from error


def check_installed() -> None:
    """Refuse at once, before any work, where rendering or film is not available."""
    for module in ("mujoco", "cv2", "imageio", "imageio_ffmpeg"):
        need(module)
    mujoco = need("mujoco")
    model = mujoco.MjModel.from_xml_string("<mujoco><worldbody/></mujoco>")
    make_renderer(model, 16, 16).close()
