"""Samples of a source, from which landmarks and kernel widths are chosen."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from isthmus.problems.streams.blockwise import name_features
from isthmus.problems.streams.sources import Rows

# So many rows, and so many for each landmark.
_SAMPLE_ROWS = 10_000
_ROWS_PER_LANDMARK = 10


def draw_sample(
    source: Rows, n_landmarks: int, random_state: Any
) -> tuple[NDArray, NDArray, NDArray]:
    """Draw the rows that landmarks are chosen from: inputs, outputs and places."""
    return source.sample(max(_SAMPLE_ROWS, _ROWS_PER_LANDMARK * n_landmarks), random_state)


def fit_sample(transformer: Any, source: Rows) -> Any:
    """Fit ``Landmarks`` or ``FourierFeatures`` to a sample of the rows of a source."""
    X, _, places = draw_sample(source, int(transformer.n_components), transformer.random_state)
    transformer.fit(X)
    if getattr(transformer, "indices_", None) is not None:
        transformer.indices_ = places[transformer.indices_]
    name_features(transformer, source, X.shape[1])
    return transformer
