"""Kernel widths from the data: the median rule."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.spatial.distance import pdist
from sklearn.gaussian_process.kernels import Kernel as GPKernel
from sklearn.utils import check_random_state

from isthmus._linalg import Array, require_squares, weighted_median
from isthmus.kernels.sparse_rows import SAME_SQUARE, pair_distances, squared_lengths

# The median squared distance varies by 1.5 % (10 inputs) to 5 % (one) between such samples of a normal law.
MAX_ROWS = 1000
MAX_OBJECTS = 300  # their kernel may be expensive, and 45000 pairs have a good median
_COPIES = 1e-9  # of the largest distance: eigenvectors of repeated rows differ by no more


def median_gamma(
    X: Any,
    *,
    metric: Any = "sqeuclidean",
    random_state: Any = None,
    sample_weight: Array | None = None,
) -> float:
    """Return ``1 / (2 median(squared distance))`` over at most 1000 rows drawn with ``random_state``.

    For other metrics (``"cityblock"``, ``"euclidean"``) it is one over the median distance, so that
    rescaling the data changes nothing. Pairs of equal rows are left out, so that repeating all rows
    changes nothing either. If all rows are equal the result is 1. ``metric`` may be a kernel object:
    its squared distances ``k(x, x) + k(y, y) - 2 k(x, y)`` are taken over at most 300 of the objects
    ``X``, which need not be rows of numbers. A pair counts by the product of the two weights, as often
    as it would among repeated rows.
    """
    if isinstance(metric, GPKernel):
        rows, weights = _some(X, MAX_OBJECTS, random_state, sample_weight)
        distances = _kernel_distances(metric, rows)
        return 0.5 / (_median_of_positive(distances, _of_pairs(weights)) or 0.5)
    rows, weights = _some(_as_rows(X), MAX_ROWS, random_state, sample_weight)
    rows = rows.astype(np.float64)
    if issparse(rows):
        require_squares("X", rows.data)
        distances = pair_distances(rows, metric)
    else:
        rows = rows - rows.mean(axis=0)
        require_squares("X", rows)
        distances = pdist(rows, metric)
        # Copies of a computed row, as of scores, differ by rounding.
        same = _COPIES**2 if metric == "sqeuclidean" else _COPIES
        distances[distances <= same * distances.max(initial=0.0)] = 0.0
    width = _median_of_positive(distances, _of_pairs(weights))
    if width is None:
        return 1.0
    return 0.5 / width if metric == "sqeuclidean" else 1.0 / width


def product_gamma(X: Any, *, random_state: Any = None, sample_weight: Array | None = None) -> float:
    """One over the median squared norm, so that ``gamma x'x`` is about 1."""
    rows, weights = _some(_as_rows(X), MAX_ROWS, random_state, sample_weight)
    require_squares("X", rows.data if issparse(rows) else rows)
    squares = squared_lengths(rows.astype(np.float64))
    return 1.0 / (_median_of_positive(squares, weights) or 1.0)


def _as_rows(X: Any) -> Any:
    return X.tocsr() if issparse(X) else np.atleast_2d(np.asarray(X))


def _some(X: Any, most: int, random_state: Any, weights: Array | None) -> tuple[Any, Array | None]:
    """All samples with their weights, or as many of them as are looked at."""
    from isthmus.kernels.distinct import (
        distinct_samples,  # which needs kernels, and they their widths
    )

    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if n <= most:
        return X, weights
    places, counts = distinct_samples(X, weights)
    few = min(most, len(places))
    drawn = check_random_state(random_state).choice(len(places), few, replace=False)
    chosen, weights = places[drawn], counts[drawn]
    rows = X[chosen] if hasattr(X, "shape") else [X[i] for i in chosen]
    return rows, None if (weights == weights[0]).all() else weights


def _of_pairs(weights: Array | None) -> Array | None:
    if weights is None:
        return None
    weights = weights / weights.max()  # products of huge or tiny weights leave the range of numbers
    i, j = np.triu_indices(len(weights), 1)
    return np.asarray(weights[i] * weights[j])


def _kernel_distances(kernel: GPKernel, X: Any) -> NDArray:
    """Squared distances of all pairs of some objects; those of equal objects are exactly zero."""
    K = np.asarray(kernel(X), dtype=np.float64)
    i, j = np.triu_indices(len(K), 1)
    sizes = K.diagonal()[i] + K.diagonal()[j]
    D = sizes - 2 * K[i, j]
    return np.where(D > SAME_SQUARE * sizes, D, 0.0)


def _median_of_positive(values: NDArray, weights: Array | None = None) -> float | None:
    counted = values > 0 if weights is None else (values > 0) & (weights > 0)
    if not counted.any():
        return None
    if weights is None:  # a copy, which may be put in order: there are half a million distances
        return float(np.median(values[counted], overwrite_input=True))
    return weighted_median(values[counted], weights[counted])
