"""Partial least squares of all folds at once, every number of components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import EPS, Array
from isthmus.regression.pls import primal_pls

_STACKED = 2_000_000  # numbers in the rows of the problems that are solved together


class ScoreStack:
    """Scores of a stack of problems as vectors, each made orthogonal to those before it.

    The same for many small problems as ``RowScores`` of ``isthmus.problems.rows`` for one: their matrices
    are multiplied in one call, since the call itself takes longer than the product.

    Parameters
    ----------
    X : ndarray of shape (n_problems, n_samples, n_features)
        Centred rows; rows of zeros fill up problems with fewer.
    Y : ndarray of shape (n_problems, n_samples, n_targets)
    n_components : int
    """

    def __init__(self, X: Array, Y: Array, n_components: int) -> None:
        b, n, p = X.shape
        self.X, self.Y = X, Y
        self.cross = Y.transpose(0, 2, 1) @ X
        self.directions = np.zeros((b, n_components, p))
        self.x_cross = np.zeros((b, n_components, p))
        self.is_trusted = np.ones(b, dtype=bool)
        self.weights = np.zeros((b, n_components, p))
        self.units = np.zeros((b, n_components, n))
        self.lengths = np.ones((b, n_components))
        self.smallest = EPS * max(n, p) * np.linalg.norm(X, axis=(1, 2))

    def add(self, w: Array, S: Array, i: int) -> tuple[Array, Array]:
        """Make score i that of the directions w (b, p); return t't, (b,), and Y't, (b, q)."""
        w, _ = _off(w, self.weights[:, :i])
        w = w / np.maximum(np.linalg.norm(w, axis=1), np.finfo(float).tiny)[:, None]
        self.weights[:, i] = w
        t, overlaps = _off(_times(self.X, w), self.units[:, :i])
        lengths = np.linalg.norm(t, axis=1)
        found = lengths > self.smallest
        self.lengths[found, i] = lengths[found]
        t *= found[:, None]
        self.units[:, i] = t / self.lengths[:, i, None]
        # One column of R^-1 by substitution, so that r has all digits that R has.
        behind = (overlaps / self.lengths[:, :i])[:, None, :] @ self.directions[:, :i]
        self.directions[:, i] = (w - behind[:, 0]) * found[:, None]
        self.x_cross[:, i] = (t[:, None, :] @ self.X)[:, 0]
        outputs = np.zeros((len(t), S.shape[1]))
        outputs[:, : self.Y.shape[2]] = (t[:, None, :] @ self.Y)[:, 0]
        return (lengths * found) ** 2, outputs


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
    at_once = max(1, _STACKED // (most * Z.shape[1]))
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
    stack: Any = ScoreStack(X, targets, n_components)
    path = primal_pls(stack, n_components, EPS * max(X.shape[1:]))
    found = []
    for b, new in enumerate(news):
        scores = (new - centres[b]) @ path.rotations[b].T
        parts = scores.T[:, :, None] * path.y_loadings[b][:, None, :]
        found.append(means[b] + np.cumsum(parts, axis=0))
    return found


def _off(v: Array, basis: Array) -> tuple[Array, Array]:
    """What is left of vectors (b, m) off orthonormal rows (b, i, m), and the products with them."""
    overlaps = _times(basis, v)
    left = v - _times(basis.transpose(0, 2, 1), overlaps)
    # Twice: what is left of a vector that all but vanishes is rounding error, orthogonal to nothing.
    more = _times(basis, left)
    return left - _times(basis.transpose(0, 2, 1), more), overlaps + more


def _times(A: Array, x: Array) -> Array:
    return (A @ x[:, :, None])[:, :, 0]
