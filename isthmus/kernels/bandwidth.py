"""Kernel widths from the data: the median rule."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist
from sklearn.gaussian_process.kernels import Kernel as GPKernel
from sklearn.utils import check_random_state

from isthmus._linalg import require_squares

MAX_ROWS = 1000
MAX_OBJECTS = 300  # their kernel may be expensive, and 45000 pairs have a good median
_SAME = 64 * np.finfo(np.float64).eps  # relative to k(x, x): distances below it are rounding


def median_gamma(X: Any, *, metric: Any = "sqeuclidean", random_state: Any = None) -> float:
    """Return ``1 / (2 median(squared distance))`` over at most 1000 rows drawn with ``random_state``.

    For other metrics (``"cityblock"``, ``"euclidean"``) it is one over the median distance, so that
    rescaling the data changes nothing. Pairs of equal rows are left out, so that repeating all rows
    changes nothing either. If all rows are equal the result is 1. ``metric`` may be a kernel object:
    its squared distances ``k(x, x) + k(y, y) - 2 k(x, y)`` are taken over at most 300 of the objects
    ``X``, which need not be rows of numbers.
    """
    if isinstance(metric, GPKernel):
        return 0.5 / (_median_of_positive(_kernel_distances(metric, X, random_state)) or 0.5)
    rows = _some_rows(np.asarray(X), random_state)
    rows = rows - rows.mean(axis=0)
    require_squares("X", rows)
    width = _median_of_positive(pdist(rows, metric))
    if width is None:
        return 1.0
    return 0.5 / width if metric == "sqeuclidean" else 1.0 / width


def product_gamma(X: Any, *, random_state: Any = None) -> float:
    """One over the median squared norm, so that ``gamma x'x`` is about 1."""
    rows = _some_rows(np.asarray(X), random_state)
    require_squares("X", rows)
    return 1.0 / (_median_of_positive(np.einsum("ij,ij->i", rows, rows)) or 1.0)


def _some_rows(X: NDArray, random_state: Any) -> NDArray:
    X = np.atleast_2d(X)
    if len(X) > MAX_ROWS:
        X = X[_draw(len(X), MAX_ROWS, random_state)]
    return X.astype(np.float64)


def _draw(n: int, size: int, random_state: Any) -> NDArray:
    return np.sort(check_random_state(random_state).choice(n, size, replace=False))


def _kernel_distances(kernel: GPKernel, X: Any, random_state: Any) -> NDArray:
    """Squared distances of all pairs of some objects; those of equal objects are exactly zero."""
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if n > MAX_OBJECTS:
        chosen = _draw(n, MAX_OBJECTS, random_state)
        X = X[chosen] if hasattr(X, "shape") else [X[i] for i in chosen]
    K = np.asarray(kernel(X), dtype=np.float64)
    i, j = np.triu_indices(len(K), 1)
    sizes = K.diagonal()[i] + K.diagonal()[j]
    D = sizes - 2 * K[i, j]
    return np.where(D > _SAME * sizes, D, 0.0)


def _median_of_positive(values: NDArray) -> float | None:
    values = values[values > 0]
    return float(np.median(values)) if values.size else None
