"""Pictures of a word while an arm writes it: both recordings with their cuts, and the ink so far."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from isthmus.applications.imitation.extras import need

if TYPE_CHECKING:
    from isthmus.applications.imitation.writing import Writing

Array = NDArray[np.float64]
Picture = NDArray[np.uint8]

SIZE = 320  # pixels
_INK, _PALE, _GREY, _PEN, _CUT = (
    (31, 36, 44),
    (205, 210, 216),
    (120, 126, 134),
    (237, 125, 41),
    (43, 108, 176),
)


def board_pictures(writing: Writing, rough: Mapping[float, float]) -> Picture:
    """Return a picture of each sample, (n, 320, 320, 3).

    Parameters
    ----------
    writing : Writing
        The word.
    rough : dict of float to float
        Acceleration by smoothing, drawn as bars.
    """
    cv2 = need("cv2")
    page: Picture = np.full((SIZE, SIZE, 3), 252, dtype=np.uint8)
    for k, (hand, movement) in enumerate(writing.recordings.items()):
        top = 34 + 52 * k
        _text(cv2, page, f"{hand} hand", 8, top + 24)
        cuts = writing.cuts[hand]
        width = (SIZE - 100) // max(len(cuts) - 1, 1)
        for i, (begin, end) in enumerate(pairwise(cuts)):  # as they were cut
            line = _fit(movement[begin : end + 1], 88 + i * width, top, width - 8, 40)
            _draw(cv2, page, line, _GREY)
            for x, y in (line[0], line[-1]):
                cv2.circle(page, (int(x), int(y)), 2, _CUT, -1, cv2.LINE_AA)
    _text(cv2, page, f"written: {writing.text}", 8, 150)
    line = _fit(writing.path, 14, 158, SIZE - 28, 92)
    _draw(cv2, page, line, _PALE)
    _bars(cv2, page, rough)
    frames = []
    for i in range(len(line)):
        if i:
            _draw(cv2, page, line[i - 1 : i + 1], _INK, 2)
        frame = page.copy()
        cv2.circle(frame, tuple(line[i].astype(int).tolist()), 4, _PEN, -1, cv2.LINE_AA)
        frames.append(frame)
    return np.stack(frames)


def _fit(path: Array, x: int, y: int, width: int, height: int) -> Array:
    """A path in pixels inside a box, upright and not stretched."""
    low = path.min(axis=0)
    size = np.maximum(np.ptp(path, axis=0), 1e-9)
    scale = float(min(width / size[0], height / size[1]))
    inner = (np.array([width, height]) - scale * size) / 2 + scale * (path - low)
    return np.stack([x + inner[:, 0], y + height - inner[:, 1]], axis=1)


def _draw(
    cv2: Any, page: Picture, line: Array, colour: tuple[int, int, int], width: int = 1
) -> None:
    cv2.polylines(page, [np.round(line).astype(np.int32)], False, colour, width, cv2.LINE_AA)


def _text(cv2: Any, page: Picture, text: str, x: int, y: int) -> None:
    cv2.putText(page, text, (x, y), cv2.FONT_HERSHEY_SIMPLEX, 0.36, _GREY, 1, cv2.LINE_AA)


def _bars(cv2: Any, page: Picture, rough: Mapping[float, float]) -> None:
    """Root mean square acceleration for each weight of smoothing."""
    _text(cv2, page, "acceleration by smoothing (s), rms rad/s^2", 8, 270)
    top = max(rough.values(), default=1.0)
    for k, (alpha, value) in enumerate(rough.items()):
        x = 8 + 78 * k
        cv2.rectangle(page, (x, 288), (x + max(int(66 * value / top), 1), 294), _CUT, -1)
        _text(cv2, page, f"{alpha:g}", x, 284)
        _text(cv2, page, f"{value:.2f}", x + 36, 284)
