"""The splits of a search, checked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit, TimeSeriesSplit, check_cv

from isthmus._linalg import Array
from isthmus._validation import N_FOLDS
from isthmus.kernels import deal_by_content
from isthmus.problems import Split, without_empty


class ContentKFold(KFold):
    """Shuffled folds to which rows are dealt by what they are, copies together."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[NDArray, NDArray]]:
        """Yield training and test rows; fewer folds than asked for where fewer rows differ."""
        Y = None if y is None else np.reshape(y, (len(y), -1))
        yield from PredefinedSplit(deal_by_content(X, self.n_splits, self.random_state, Y)).split()


def is_auto(cv: Any) -> bool:
    """Whether the folds are left to the data."""
    return isinstance(cv, str) and cv == "auto"


def splitter_of(cv: Any, n_samples: int, groups: Any = None) -> Any:
    """Return the splitter of ``cv``; a number of folds leaves out whole groups where there are any."""
    if isinstance(cv, str):
        if cv != "time":
            raise ValueError(f"cv == {cv!r}, must be a number, 'time' or a splitter.")
        return TimeSeriesSplit(min(N_FOLDS, n_samples // 2))
    if groups is None or not isinstance(cv, int | np.integer) or isinstance(cv, bool):
        return check_cv(cv)
    n_groups = len(np.unique(groups))
    if n_groups < 2:
        raise ValueError("groups has one group only, at least two are needed.")
    return GroupKFold(min(int(cv), n_groups))


def outer_splits(cv: Any, X: Array, Y: NDArray, groups: NDArray | None, seed: int) -> list:
    """Return the folds in which rows are left out, (train, test) each; a number is dealt by content.

    "auto" is five folds, as long as nobody has seen that the rows are ordered.
    """
    if is_auto(cv):
        cv = N_FOLDS
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        if cv < 2:
            raise ValueError(f"cv == {cv}, must be >= 2.")
        if groups is None:
            folds = ContentKFold(min(int(cv), len(X) // 2), shuffle=True, random_state=seed)
            return list(folds.split(X, Y))
    return list(splitter_of(cv, len(X), groups).split(X, Y, groups))


def make_splits(cv: Any, X: Any, Y: NDArray, groups: Any) -> list[Split]:
    """Return the splits of ``cv``, each with rows to test on."""
    splitter = splitter_of(cv, len(Y), groups)
    splits = [Split(train, test, len(Y)) for train, test in splitter.split(X, Y, groups)]
    if not splits:
        raise ValueError(f"cv == {cv!r} gives no split.")
    if any(len(split.test) == 0 for split in splits):
        raise ValueError(f"cv == {cv!r} leaves no row to test on in a split.")
    return splits


def drop_empty(
    cv: Any, X: Any, Y: NDArray, weights: Array | None, splits: list[Split]
) -> tuple[Any, NDArray, Array | None, list[Split]]:
    """Drop rows of weight zero, and splits that have no target to test on."""
    X, Y, weights, splits = without_empty(X, Y, weights, splits)
    if not splits:
        raise ValueError(
            f"cv == {cv!r} gives no split with a test row that has a weight and a target."
        )
    for split in splits:
        if split.n_train < 2:
            rows = "row" if split.n_train == 1 else "rows"
            raise ValueError(
                f"cv == {cv!r} leaves {split.n_train} {rows} to train on "
                f"(n_samples={X.shape[0]}), at least 2 are needed: use fewer folds or more rows."
            )
    return X, Y, weights, splits
