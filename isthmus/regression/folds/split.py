"""What a cross-validation hands round: its rows and its splits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.linalg import Array


class Split:
    """Training and test rows; of n rows of which one is left out, only that one is kept."""

    def __init__(self, train: NDArray, test: NDArray, n_samples: int) -> None:
        train, self.test = np.asarray(train), np.asarray(test)
        self.n_samples, self.n_train = n_samples, len(train)
        inside = np.zeros(n_samples, dtype=bool)
        inside[train] = True
        self.repeats_rows = bool(inside.sum() < len(train))  # as a bootstrap does
        complete = len(train) + len(test) == n_samples and not self.repeats_rows
        self.is_partition = bool(complete and not inside[test].any())
        self._train = None if self.is_partition else train

    @property
    def train(self) -> NDArray:
        return _outside(self.test, self.n_samples) if self._train is None else self._train

    @property
    def held_out(self) -> NDArray:
        """All rows that are not trained on."""
        return self.test if self._train is None else _outside(self._train, self.n_samples)


def _outside(rows: NDArray, n: int) -> NDArray:
    outside = np.ones(n, dtype=bool)
    outside[rows] = False
    return np.flatnonzero(outside)


@dataclass
class Rows:
    """The checked rows of a cross-validation."""

    X: Any
    Y: NDArray
    weights: Array | None

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape

    def weight_of(self, rows: NDArray) -> Array | None:
        return None if self.weights is None else self.weights[rows]

    def take(self, rows: NDArray) -> tuple[Any, NDArray, Array | None]:
        return self.X[rows], self.Y[rows], self.weight_of(rows)
