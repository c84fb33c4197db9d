"""Slices of the outputs: classes, quantiles or clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.utils import check_scalar

from isthmus._linalg import spreads
from isthmus._validation import check_option

SLICINGS = ("auto", "classes", "quantiles", "kmeans")


def is_categorical(y: NDArray) -> bool:
    """Whether outputs are names rather than numbers."""
    return y.dtype.kind in "OSUTb"


def slice_labels(
    y: NDArray, n_slices: int, slices: str = "auto", random_state: Any = None
) -> NDArray[np.intp]:
    """Number of the slice of each row, from 0 and without gaps.

    One output: quantiles, equal values together, or its values where there are no more of them than
    slices. Names: classes. Several outputs: k-means on outputs divided by their deviations, clusters
    without rows dropped.
    """
    check_option("slices", slices, SLICINGS)
    check_scalar(n_slices, "n_slices", int, min_val=2)
    y = np.asarray(y)
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    if slices == "auto":
        slices = "classes" if is_categorical(y) else "kmeans" if y.ndim == 2 else "quantiles"
    if slices == "classes":
        # Names of Python objects have no order as rows: columns are numbered first.
        codes = [np.unique(c, return_inverse=True)[1] for c in y.reshape(len(y), -1).T]
        labels = np.unique(np.column_stack(codes), axis=0, return_inverse=True)[1].reshape(-1)
    elif slices == "quantiles":
        if y.ndim == 2:
            raise ValueError(
                f"slices == 'quantiles' needs one output, y has {y.shape[1]}: use 'kmeans'."
            )
        labels = _quantiles(y, n_slices)
    else:
        labels = _clusters(y.reshape(len(y), -1), n_slices, random_state)
    if labels.max() == 0:
        raise ValueError(
            "y is constant: one slice takes every row, and at least two slices are needed."
        )
    return labels


def _quantiles(y: NDArray, n_slices: int) -> NDArray[np.intp]:
    values, inverse = np.unique(y, return_inverse=True)
    if len(values) <= n_slices:
        return inverse.reshape(-1)
    order = np.argsort(y, kind="stable")
    places = np.empty(len(y), dtype=np.intp)
    for k, rows in enumerate(np.array_split(order, min(n_slices, len(y)))):
        places[rows] = k
    # Equal values fall into the slice of the first of them: the answer knows no order of rows.
    lowest = np.full(len(values), n_slices, dtype=np.intp)
    np.minimum.at(lowest, inverse.reshape(-1), places)
    return np.unique(lowest[inverse.reshape(-1)], return_inverse=True)[1].reshape(-1)


def _clusters(Y: NDArray, n_slices: int, random_state: Any) -> NDArray[np.intp]:
    distinct = len(np.unique(Y, axis=0))
    Y = (Y - Y.mean(axis=0)) / spreads(Y)  # distances between clusters are not to go by units
    found = KMeans(min(n_slices, distinct), n_init=1, random_state=random_state).fit_predict(Y)
    return np.unique(found, return_inverse=True)[1].reshape(-1)


def indicators(labels: NDArray[np.intp]) -> NDArray[np.float64]:
    """One column a slice, one where the row is in it."""
    return np.eye(labels.max() + 1)[labels]
