"""Arrays as pictures, without an imaging library."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

MOST_PICTURES = 12  # side by side


def png_uri(
    picture: ArrayLike, *, low: float | None = None, high: float | None = None, signed: bool = False
) -> str:
    """Return a two-dimensional array as a PNG in a ``data:`` address.

    Parameters
    ----------
    picture : array of shape (height, width)
        Large values are dark, as ink on paper; with ``signed`` zero is white, positive values are
        blue and negative ones red.
    low, high : float, default=None
        Values of white and black; None takes the extremes.
    signed : bool, default=False
        Whether the sign matters.

    Returns
    -------
    address : str
    """
    values = np.nan_to_num(np.asarray(picture, dtype=float))
    if values.ndim != 2:
        raise ValueError(f"picture has {values.ndim} dimensions, must have 2.")
    if signed:
        return _encode(_colour_signed(values, high), colour_type=2)
    low = float(values.min()) if low is None else low
    high = float(values.max()) if high is None else high
    shade = 1 - np.clip((values - low) / (high - low or 1.0), 0, 1)
    return _encode(np.round(255 * shade).astype(np.uint8), colour_type=0)


def _colour_signed(values: Any, high: float | None) -> Any:
    most = np.abs(values).max() if high is None else high
    part = np.clip(values / (most or 1.0), -1, 1)[:, :, None]
    blue = np.array([26, 90, 160])
    red = np.array([190, 60, 40])
    towards = np.where(part > 0, blue, red)
    return np.round(255 + np.abs(part) * (towards - 255.0)).astype(np.uint8)


def _encode(pixels: Any, colour_type: int) -> str:
    height, width = pixels.shape[:2]
    lines = np.hstack([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)])
    header = struct.pack(">IIBBBBB", width, height, 8, colour_type, 0, 0, 0)
    data = (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(lines.tobytes(), 9))
        + _chunk(b"IEND", b"")
    )
    return "data:image/png;base64," + base64.b64encode(data).decode()


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
