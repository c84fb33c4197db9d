"""Thresholds of a classifier that was compressed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC, NuSVC

from isthmus._linalg import Array
from isthmus.expansion import Expansion


def class_thresholds(model: Any, small: Expansion, X: Any, y: Any) -> Array:
    """Intercepts with the fewest errors on labelled rows, the nearest to the fitted ones among equals.

    Two classes: one threshold. More: one per pair of classes, on the rows of the two; of one against the
    rest the largest value counts, so that there are no thresholds to be set apart from each other.
    """
    classes = np.asarray(model.classes_)
    y = np.asarray(y)
    values = small(X)
    if values.ndim == 1:
        return np.asarray(small.intercept + _shift(values, y == classes[1]))
    if not tells_pairs_apart(model):
        return small.intercept
    shifts = []
    for column, i, j in zip(values.T, *np.triu_indices(len(classes), 1)):
        rows = (y == classes[i]) | (y == classes[j])
        shifts.append(_shift(column[rows], y[rows] == classes[i]))
    return np.asarray(small.intercept + np.array(shifts))


def tells_pairs_apart(model: Any) -> bool:
    """Whether a classifier of several classes has a function for every pair of them.

    Three classes have as many pairs: the number of functions does not tell.
    """
    return isinstance(getattr(model, "estimator_", model), SVC | NuSVC)


def _shift(values: Array, positive: NDArray) -> float:
    """What to add to values so that their signs agree with the labels as often as can be."""
    order = np.argsort(values, kind="stable")
    ordered, labels = values[order], positive[order]
    # With the cut before place k: positives below it and negatives from it on are wrong.
    wrong = np.concatenate([[0], np.cumsum(labels)]) + np.concatenate(
        [np.cumsum((~labels)[::-1])[::-1], [0]]
    )
    at_zero = int(np.searchsorted(ordered, 0.0))
    if not len(values) or wrong[at_zero] == wrong.min():
        return 0.0
    # Between neighbours, and just outside of all.
    cuts = np.concatenate(
        [[ordered[0] - 1e-9], 0.5 * (ordered[1:] + ordered[:-1]), [ordered[-1] + 1e-9]]
    )
    best = np.flatnonzero(wrong == wrong.min())
    return -float(cuts[best[np.abs(cuts[best]).argmin()]])
