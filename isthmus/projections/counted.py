"""Rows that count: those of positive weight, on both sides, and the folds that were given for them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import Array
from isthmus._validation import check_weights
from isthmus.kernels.gram import take
from isthmus.kernels.wrappers import is_precomputed
from isthmus.problems.splits import checked_folds


def counted_rows(
    projection: Any, X: Any, y: Any, sample_weight: Any
) -> tuple[Any, Any, Array | None, Any]:
    """Return both sides without rows of zero weight, the weights, and the folds of ``cv``."""
    if not hasattr(X, "shape") and not hasattr(X, "__len__"):
        X = np.asarray(X)
    folds = checked_folds(projection.cv, X.shape[0] if hasattr(X, "shape") else len(X))
    weights = None if sample_weight is None else check_weights(sample_weight, X)
    if weights is None or weights.all():
        return X, y, weights, folds
    if any(is_precomputed(getattr(projection, name, None)) for name in ("kernel", "kernel_y")):
        raise ValueError(
            f"sample_weight[{int(weights.argmin())}] == 0: a precomputed kernel matrix has a row and a "
            "column of every sample. Leave out those of samples that do not count."
        )
    kept = np.flatnonzero(weights)
    if isinstance(folds, np.ndarray):
        folds = np.unique(folds[kept], return_inverse=True)[1]
    return _take_rows(X, kept), None if y is None else _take_rows(y, kept), weights[kept], folds


def _take_rows(samples: Any, places: NDArray) -> Any:
    """Some rows of an array, a frame, a sparse matrix or a list."""
    if hasattr(samples, "iloc"):  # data frames keep the names of their columns
        return samples.iloc[places]
    if not hasattr(samples, "shape") and not hasattr(samples, "__len__"):
        samples = np.asarray(samples)
    return take(samples, places)
