"""What a cross-validation hands round: its rows and its splits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from isthmus._linalg import Array


class Split:
    """Training and test rows; of n rows of which one is left out, only that one is kept."""

    def __init__(self, train: NDArray, test: NDArray, n_samples: int) -> None:
        train, self.test = _rows(train), _rows(test)
        self.n_samples, self.n_train = n_samples, len(train)
        inside = np.zeros(n_samples, dtype=bool)
        inside[train] = True
        self.repeats_rows = bool(inside.sum() < len(train))  # as a bootstrap does
        inside[self.test] = True
        # As many as there are rows, and all of them: none is named twice.
        self.is_partition = bool(len(train) + len(self.test) == n_samples and inside.all())
        self._train = None if self.is_partition else train

    @property
    def train(self) -> NDArray:
        if self._train is None:
            return _outside(self.test, self.n_samples)
        return self._train

    @property
    def held_out(self) -> NDArray:
        """All rows that are not trained on."""
        if self._train is None:
            return self.test
        return _outside(self._train, self.n_samples)


def checked_folds(cv: Any, n: int) -> Any:
    """Return a number of folds, or the fold of each row for splits whose test parts divide all rows."""
    if cv is None:
        return None
    if isinstance(cv, Integral) and not isinstance(cv, bool) and int(cv) >= 2:
        return int(cv)
    if not isinstance(cv, list | tuple) or len(cv) < 2:
        raise ValueError(
            f"cv == {cv!r}, must be an integer >= 2, None or a list of splits, each (train, test)."
        )
    labels = np.full(n, -1, dtype=np.intp)
    for k, (_, test) in enumerate(cv):
        labels[np.asarray(test)] = k
    if (labels < 0).any() or sum(len(test) for _, test in cv) != n:
        raise ValueError(f"cv: every one of the {n} rows must be in the test part of one split.")
    return labels


def _rows(named: Any) -> NDArray:
    """Numbers of rows, or a mask; an empty list has no type of its own."""
    return np.asarray(named) if len(named) else np.empty(0, dtype=np.intp)


def without_empty(
    X: Any, Y: NDArray, weights: Array | None, splits: Sequence[Split]
) -> tuple[Any, NDArray, Array | None, list[Split]]:
    """Rows of weight zero are no rows; splits that are left without a target to test on are no splits."""
    if weights is not None and not weights.all():
        kept = weights > 0
        number = np.cumsum(kept) - 1
        splits = [
            Split(number[s.train[kept[s.train]]], number[s.test[kept[s.test]]], int(kept.sum()))
            for s in splits
        ]
        X, Y, weights = X[kept], Y[kept], weights[kept]
    observed = ~np.isnan(Y).all(axis=1)
    return X, Y, weights, [split for split in splits if observed[split.test].any()]


def _outside(rows: NDArray, n: int) -> NDArray:
    outside = np.ones(n, dtype=bool)
    outside[rows] = False
    return np.flatnonzero(outside)


@dataclass
class CheckedRows:
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


def dense_rows(rows: Any) -> NDArray:
    """Few rows as an array."""
    return rows.toarray() if sparse.issparse(rows) else rows
