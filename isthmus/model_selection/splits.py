"""The splits of a search, checked."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from sklearn.model_selection import check_cv

from isthmus._linalg import Array
from isthmus.problems.splits import Split, without_empty


def make_splits(cv: Any, X: Any, Y: NDArray, groups: Any) -> list[Split]:
    """Return the splits of ``cv``, each with rows to test on."""
    splits = [Split(train, test, len(Y)) for train, test in check_cv(cv).split(X, Y, groups)]
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
