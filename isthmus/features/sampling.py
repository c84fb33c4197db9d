"""Samples of a source, from which landmarks and kernel widths are chosen."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from isthmus.features.cost import EIGEN_OPERATIONS, is_share, most_landmarks
from isthmus.problems import Rows

# At least so many rows, for kernel widths and k-means, and so many for each landmark.
_SAMPLE_ROWS = 10_000
_ROWS_PER_LANDMARK = 10


def draw_sample(
    source: Rows, n_landmarks: int | float, random_state: Any
) -> tuple[NDArray, NDArray, NDArray]:
    """Draw the rows that landmarks are chosen from: inputs, outputs and places.

    Where their number is to follow from a share of the trace, as many as an eigenproblem may have.
    """
    if is_share(n_landmarks):
        n_landmarks = most_landmarks(1, EIGEN_OPERATIONS, source.memory)
    return source.sample(max(_SAMPLE_ROWS, _ROWS_PER_LANDMARK * int(n_landmarks)), random_state)
