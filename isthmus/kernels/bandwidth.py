"""Kernel widths from the data: the median rule."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist
from sklearn.utils import check_random_state

MAX_ROWS = 1000


def median_gamma(X: Any, *, metric: str = "sqeuclidean", random_state: Any = None) -> float:
    """Return ``1 / (2 median(squared distance))`` over at most 1000 rows drawn with ``random_state``.

    For other metrics (``"cityblock"``, ``"euclidean"``) it is one over the median distance, so that
    rescaling the data changes nothing. Pairs of equal rows are left out, so that repeating all rows
    changes nothing either. If all rows are equal the result is 1.
    """
    rows = _some_rows(np.asarray(X), random_state)
    width = _median_of_positive(pdist(rows - rows.mean(axis=0), metric))
    if width is None:
        return 1.0
    return 0.5 / width if metric == "sqeuclidean" else 1.0 / width


def product_gamma(X: Any, *, random_state: Any = None) -> float:
    """One over the median squared norm, so that ``gamma x'x`` is about 1."""
    rows = _some_rows(np.asarray(X), random_state)
    return 1.0 / (_median_of_positive(np.einsum("ij,ij->i", rows, rows)) or 1.0)


def _some_rows(X: NDArray, random_state: Any) -> NDArray:
    X = np.atleast_2d(X)
    if len(X) > MAX_ROWS:
        chosen = check_random_state(random_state).choice(len(X), MAX_ROWS, replace=False)
        X = X[np.sort(chosen)]
    return X.astype(np.float64)


def _median_of_positive(values: NDArray) -> float | None:
    values = values[values > 0]
    return float(np.median(values)) if values.size else None
