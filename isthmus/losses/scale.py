"""A scale of residuals that outliers do not move."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from isthmus._linalg import weighted_median
from isthmus.losses.base import Array

MAD_TO_DEVIATION = 1.4826  # the median absolute deviation of a Gaussian is its deviation / 1.4826


def robust_scale(residual: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    r"""Return :math:`1.4826 \operatorname{median} |e - \operatorname{median} e|` over all entries.

    Where more than half of the residuals are equal this is 0; the standard deviation takes its
    place, and where that is 0 too, 1. A weight counts a sample that many times.
    """
    residual = np.asarray(residual, dtype=float)
    weight = _entry_weights(residual, sample_weight)
    residual = residual.ravel()
    centred = residual - weighted_median(residual, weight)
    scale = MAD_TO_DEVIATION * weighted_median(np.abs(centred), weight)
    return scale or _deviation(centred, weight) or 1.0


def robust_scales(residual: ArrayLike, sample_weight: ArrayLike | None = None) -> Array:
    """Return the robust scale of each output, (n_targets,); 0 for an output that does not vary."""
    residual = np.asarray(residual, dtype=float)
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
    centred = residual - column_medians(residual, weight)
    scales = MAD_TO_DEVIATION * column_medians(np.abs(centred), weight)
    for j in np.flatnonzero(scales == 0):
        scales[j] = _deviation(centred[:, j], weight)
    return scales


def column_medians(values: Array, weight: Array | None = None) -> Array:
    """Return the median of each column, (n_columns,)."""
    if weight is None:
        return np.asarray(np.median(values, axis=0), dtype=float)
    return np.array([weighted_median(column, weight) for column in values.T])


def _entry_weights(residual: Array, sample_weight: ArrayLike | None) -> Array | None:
    if sample_weight is None:
        return None
    outputs = residual[0].size
    return np.repeat(np.asarray(sample_weight, dtype=float), outputs)


def _deviation(values: Array, weight: Array | None) -> float:
    largest = np.abs(values).max()  # taken out, so that squares neither overflow nor vanish
    if not largest:
        return 0.0
    scaled = values / largest
    mean = np.average(scaled, weights=weight)
    return float(largest * np.sqrt(np.average((scaled - mean) ** 2, weights=weight)))
