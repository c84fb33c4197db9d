"""Partial least squares of all folds at once, every number of components."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import EPS, Array
from isthmus.problems import ScoreStack
from isthmus.regression import primal_pls

_STACKED_ROWS = 2_000_000  # numbers in the rows of the problems that are solved together


def pls_paths(
    Z: Array, Y: Array, trains: Sequence[NDArray], news: Sequence[Array], n_components: int
) -> list[Array]:
    """Return the predictions of new rows with 1 to ``n_components`` components, for each training set.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_features)
    Y : ndarray of shape (n_samples, n_targets)
    trains : sequence of ndarray of int
        Rows of each training set.
    news : sequence of ndarray of shape (m, n_features)
        Rows to be predicted from each.
    n_components : int
        Where fewer exist, all that there are take the place of the rest.

    Returns
    -------
    paths : list of ndarray of shape (n_components, m, n_targets)
    """
    most = max(len(train) for train in trains)
    at_once = max(1, _STACKED_ROWS // (most * Z.shape[1]))
    found: list[Array] = []
    for begin in range(0, len(trains), at_once):
        stack = slice(begin, begin + at_once)
        found += _stacked_paths(Z, Y, trains[stack], news[stack], n_components)
    return found


def _stacked_paths(
    Z: Array, Y: Array, trains: Sequence[NDArray], news: Sequence[Array], n_components: int
) -> list[Array]:
    most = max(len(train) for train in trains)
    X = np.zeros((len(trains), most, Z.shape[1]))
    targets = np.zeros((len(trains), most, Y.shape[1]))
    centres = np.array([Z[train].mean(axis=0) for train in trains])
    means = np.array([Y[train].mean(axis=0) for train in trains])
    for b, train in enumerate(trains):
        X[b, : len(train)] = Z[train] - centres[b]
        targets[b, : len(train)] = Y[train] - means[b]
    stack = ScoreStack(X, targets, n_components)
    path = primal_pls(stack, n_components, EPS * max(X.shape[1:]))
    found = []
    for b, new in enumerate(news):
        scores = (new - centres[b]) @ path.rotations[b].T
        parts = scores.T[:, :, None] * path.y_loadings[b][:, None, :]
        found.append(means[b] + np.cumsum(parts, axis=0))
    return found
