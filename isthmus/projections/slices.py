"""Slices of the outputs: classes, quantiles or clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.utils import check_scalar

from isthmus._linalg import spreads
from isthmus._validation import check_option, warn
from isthmus.kernels import content_places

_WHOLE = 1e-9  # by which a share may miss a whole number of slices through rounding
SLICINGS = ("auto", "classes", "quantiles", "kmeans")


def is_categorical(y: NDArray) -> bool:
    """Whether outputs are names rather than numbers."""
    return y.dtype.kind in "OSUTb"


def slicing(y: NDArray, slices: str, n_slices: int) -> str:
    """How outputs are sliced; whole numbers that repeat may be labels, which nobody but the user knows."""
    check_option("slices", slices, SLICINGS)
    check_scalar(n_slices, "n_slices", int, min_val=2)
    if slices != "auto":
        return slices
    if is_categorical(y):
        return "classes"
    if y.ndim == 2 and y.shape[1] > 1:
        return "kmeans"
    n_values = len(np.unique(y))
    if n_values <= n_slices:
        return "classes"
    if y.dtype.kind in "iu" and 2 * n_values <= len(y):
        warn(
            f"y has {n_values} different integers, more than n_slices == {n_slices}: they are taken as "
            "numbers and sliced at quantiles. slices='classes' takes them as labels, slices='quantiles' "
            "as numbers without this warning."
        )
    return "quantiles"


def slice_labels(
    y: NDArray,
    n_slices: int,
    slices: str = "auto",
    random_state: Any = None,
    weights: NDArray | None = None,
) -> NDArray[np.intp]:
    """Number of the slice of each row, from 0 and without gaps.

    One output: quantiles, equal values together, or its values where there are no more of them than
    slices. Names: classes. Several outputs: k-means on outputs divided by their deviations, clusters
    without rows dropped. Slices have equal weights, as far as equal values allow.
    """
    y = np.asarray(y)
    slices = slicing(y, slices, n_slices)
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    if slices == "classes":
        # Names of Python objects have no order as rows: columns are numbered first.
        codes = [np.unique(c, return_inverse=True)[1] for c in y.reshape(len(y), -1).T]
        labels = np.unique(np.column_stack(codes), axis=0, return_inverse=True)[1].reshape(-1)
    elif slices == "quantiles":
        if y.ndim == 2:
            raise ValueError(
                f"slices == 'quantiles' needs one output, y has {y.shape[1]}: use 'kmeans'."
            )
        labels = _quantiles(y, n_slices, weights)
    else:
        labels = _clusters(y.reshape(len(y), -1), n_slices, random_state, weights)
    if labels.max() == 0:
        raise ValueError(
            "y is constant: one slice takes every row, and at least two slices are needed."
        )
    return labels


def _quantiles(y: NDArray, n_slices: int, weights: NDArray | None) -> NDArray[np.intp]:
    """Slice of each row by the share of the weights that have smaller values.

    Equal values are in the slice of the first of them: the answer depends neither on the order of rows nor
    on whether a row counts twice or is there twice.
    """
    values, inverse = np.unique(y, return_inverse=True)
    inverse = inverse.reshape(-1)
    if len(values) <= n_slices:
        return inverse
    counts = np.bincount(inverse, weights)
    below = np.cumsum(counts) - counts
    places = np.floor(n_slices * below / counts.sum() + _WHOLE).astype(np.intp)
    return np.unique(places[inverse], return_inverse=True)[1].reshape(-1)


def _clusters(
    Y: NDArray, n_slices: int, random_state: Any, weights: NDArray | None
) -> NDArray[np.intp]:
    places = content_places(Y)  # the first centres are drawn by the place of a row
    first = np.unique(places, return_index=True)[1]
    Y, counts = Y[first], np.bincount(places, weights)
    Y = (Y - Y.mean(axis=0)) / spreads(Y)  # distances between clusters are not to go by units
    means = KMeans(min(n_slices, len(Y)), n_init=1, random_state=random_state)
    found = means.fit_predict(Y, sample_weight=counts / counts.mean())
    return np.unique(found, return_inverse=True)[1].reshape(-1)[places]


def indicators(labels: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return one column per slice: 1 for its rows, otherwise 0."""
    return np.eye(labels.max() + 1)[labels]
