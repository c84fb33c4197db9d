"""How much do the coordinates tell of the outputs of rows that were held out?

Training pictures lie: with a weak ridge any outputs can be laid out neatly. So every fit is judged on
rows it has not seen, by nearest-neighbour regression on the coordinates.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold
from sklearn.neighbors import NearestNeighbors

from isthmus.linalg import Array

N_NEIGHBOURS = 10


def fold_labels(n: int, cv: int, seed: int) -> NDArray[np.intp]:
    """The fold of each row, rows shuffled."""
    labels = np.empty(n, dtype=np.intp)
    for k, (_, test) in enumerate(KFold(cv, shuffle=True, random_state=seed).split(np.empty(n))):
        labels[test] = k
    return labels


def neighbours(z_train: Array, z_test: Array) -> NDArray[np.intp]:
    """Places of the nearest training rows of each test row."""
    k = min(N_NEIGHBOURS, len(z_train))
    found: Any = NearestNeighbors(n_neighbors=k).fit(z_train)
    return found.kneighbors(z_test, return_distance=False)


class VectorJudge:
    """R2 of each output, averaged; outputs that are constant in a test fold do not count."""

    def __init__(self, Y: Array) -> None:
        self.Y = Y

    def score(self, near: NDArray, train: NDArray, test: NDArray) -> float:
        truth = self.Y[test]
        errors = ((truth - self.Y[train][near].mean(axis=1)) ** 2).sum(axis=0)
        totals = ((truth - truth.mean(axis=0)) ** 2).sum(axis=0)
        varied = totals > 1e-12 * np.maximum((truth**2).sum(axis=0), np.finfo(float).tiny)
        return float(np.mean(1.0 - errors[varied] / totals[varied])) if varied.any() else np.nan


class KernelJudge:
    """R2 in the feature space of an output kernel, for outputs that are not vectors."""

    def __init__(self, L: Array) -> None:
        self.L = L

    def score(self, near: NDArray, train: NDArray, test: NDArray) -> float:
        L, chosen = self.L, train[near]  # (t, k)
        own = L[test, test]
        cross = L[test[:, None], chosen].mean(axis=1)
        among = L[chosen[:, :, None], chosen[:, None, :]].mean(axis=(1, 2))
        errors = (own - 2.0 * cross + among).sum()
        total = own.sum() - L[np.ix_(test, test)].sum() / len(test)
        return float(1.0 - errors / total) if total > 0 else np.nan
