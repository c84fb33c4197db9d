"""The score of predicted objects, in the feature space of their kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.kernels import gram, gram_diagonal


def kernel_score(outputs: Any, truth: Any, predicted: Any, sample_weight: Any = None) -> float:
    """Return one minus the mean squared distance of images over that from the training mean."""
    kernel = outputs.kernel_
    own = gram_diagonal(kernel, truth)
    losses = own + gram_diagonal(kernel, predicted) - 2.0 * _paired(kernel, truth, predicted)
    spread = own.astype(np.float64)
    if outputs.center:
        cross = gram(kernel, truth, outputs.points_) @ outputs.mean_coef_
        spread = own - 2.0 * cross + outputs.mean_
    loss = float(np.average(losses, weights=sample_weight))
    return 1.0 - loss / float(np.average(spread, weights=sample_weight))


def _paired(kernel: Any, A: Any, B: Any, size: int = 32) -> NDArray:
    """Return ``k(a_t, b_t)``, by small square blocks."""
    parts = [
        np.diagonal(gram(kernel, A[i : i + size], B[i : i + size])) for i in range(0, len(A), size)
    ]
    return np.concatenate(parts)
