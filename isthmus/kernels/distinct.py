"""Samples that are different, in an order that their content decides alone."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_random_state

from isthmus._linalg import Array
from isthmus.kernels.gram_matrix import length, take

# Entries of sparse rows up to which they are compared as dense ones, beyond by two drawn sums of each.
_DENSE_ENTRIES = 2**22
_HEIGHT_DIGITS = 9
# Copies of computed rows, as of scores, differ by rounding: by no more than this part of the range of their
# column, nor of this part of the largest range of all columns.
_SAME, _SAME_OF_ALL = 1e-6, 1e-11


def distinct_samples(X: Any, weights: Array | None) -> tuple[NDArray, Array]:
    """Places of different samples and the weights of all their copies together, one on average.

    What is drawn among them with these weights is a function of the distribution of the samples: neither
    the order of rows or columns, nor units, nor repeating all samples matter, and a weight is as many
    copies. Strings are sorted; rows by their columns, those columns first whose mean is nearest to their
    largest value. Many sparse rows are compared by two drawn sums of each. Other objects are taken as they
    come.
    """
    w = np.ones(length(X)) if weights is None else weights
    order, is_new = _sorted_samples(X, w)
    sums = np.add.reduceat(w[order], np.flatnonzero(is_new))
    return order[is_new], sums * (len(sums) / sums.sum())


def sample_groups(X: Any) -> NDArray:
    """A number for each sample that it shares alone with its copies, up to rounding."""
    order, is_new = _sorted_samples(X, np.ones(length(X)))
    groups = np.empty(len(order), dtype=np.intp)
    groups[order] = np.cumsum(is_new) - 1
    return groups


def content_places(X: Any) -> NDArray:
    """As ``sample_groups``, numbered in an order that the number of copies does not move."""
    if isinstance(X, np.ndarray) and (gaps := X != X).any():
        low = np.nan_to_num(np.fmin.reduce(X, axis=0))  # what is missing is a value of its own
        X = np.hstack([np.where(gaps, low, X), gaps])
    groups = sample_groups(X)
    if groups.max(initial=-1) + 1 == len(groups):
        return groups
    _, first, copy_of = np.unique(groups, return_index=True, return_inverse=True)
    return sample_groups(take(X, first))[copy_of]


def deal_by_content(
    X: Any, n_folds: int, seed: Any = 0, Y: NDArray | None = None
) -> NDArray[np.intp]:
    """The fold of each sample, 0 .. n_folds - 1, which what it is decides, not its place.

    Copies (:func:`copy_groups`) are in one fold, so that a weight is as many of them. Positive units, and
    the order of unlike columns, do not matter either.
    """
    groups = copy_groups(X, n_folds, Y)
    n = int(groups.max(initial=-1)) + 1
    # A generator gives no deal twice.
    deal = _dealt if isinstance(seed, int) else _dealt.__wrapped__
    return deal(n, n_folds, seed)[groups]


@lru_cache(maxsize=2)  # to make a seeded generator takes as long as a small fit's fold
def _dealt(n: int, n_folds: int, seed: Any) -> NDArray[np.intp]:
    """The fold of each of n different samples."""
    fold = np.empty(n, dtype=np.intp)
    fold[check_random_state(seed).permutation(n)] = np.sort(np.arange(n) % n_folds)
    return fold


def copy_groups(X: Any, n_folds: int, Y: NDArray | None = None) -> NDArray[np.intp]:
    """A number for each sample that it shares with its copies alone, which are left out together.

    Equal inputs are copies whatever their outputs, of which those held out would know the others. Given
    ``Y``, tables of few kinds of inputs are excepted, since a kind that is left out as a whole cannot be
    told: fewer than two of them for a fold, or each with as many different outputs as there are folds, on
    average. There only samples that are equal in both are copies. Numbers are in an order that content
    decides.
    """
    groups = content_places(X)
    kinds = groups.max(initial=-1) + 1
    if Y is not None and kinds < len(groups):
        pairs = content_places(np.column_stack([groups, content_places(Y)]))
        if kinds < 2 * n_folds or n_folds * kinds <= pairs.max() + 1:
            groups = pairs
    if groups.max(initial=0) < 2:  # without one of two kinds nothing varies
        groups = np.arange(len(groups))
    return groups


def _sorted_samples(X: Any, w: Array) -> tuple[NDArray, NDArray]:
    """Order of the samples, and which of them differ from the one before."""
    n = length(X)
    order = np.arange(n)
    is_new = np.ones(n, dtype=bool)
    if not hasattr(X, "shape"):
        if all(isinstance(x, str) for x in X):
            order = np.array(sorted(range(n), key=X.__getitem__), dtype=np.intp)
            is_new[1:] = [X[i] != X[j] for i, j in zip(order[1:], order[:-1])]
    elif len(X.shape) == 2:
        if issparse(X) and n * X.shape[1] > _DENSE_ENTRIES:
            X = X @ np.random.default_rng(0).normal(size=(X.shape[1], 2))
        order, is_new = _sorted_rows(X.toarray() if issparse(X) else np.asarray(X), w)
    return order, is_new


def _sorted_rows(X: NDArray, w: Array) -> tuple[NDArray, NDArray]:
    """Order of the rows, and which of them differ from the one before."""
    low, high = X.min(axis=0), X.max(axis=0)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        height = ((w / w.sum()) @ X - low) / (high - low)
        gaps = _SAME * high - _SAME * low
    gaps = np.minimum(gaps, _SAME_OF_ALL / _SAME * np.fmax.reduce(gaps, initial=0.0))
    # Rounding, which goes by the order of rows, must not tell equal ones apart.
    height = np.round(np.where(np.isfinite(height), height, -1.0), _HEIGHT_DIGITS)
    columns = np.argsort(-height, kind="stable")
    order = np.arange(len(X))
    is_new = np.arange(len(X)) == 0
    for i, column in enumerate(columns):  # each sorts what those before have left tied
        if is_new.all():
            break
        group = np.cumsum(is_new)
        places = np.flatnonzero(np.bincount(group)[group] > 1)
        tied = order[places]
        # Now and then, as it takes all columns.
        if i and i & (i - 1) == 0 and not _differ(X[tied], group[places]):
            break
        values = X[tied, column]
        inner = np.lexsort((values, group[places]))
        order[places], values = tied[inner], values[inner]
        with np.errstate(over="ignore", invalid="ignore"):
            rounded = np.diff(values) <= gaps[column]
        is_new[places[1:]] |= (values[1:] != values[:-1]) & ~rounded
    return order, is_new


def _differ(rows: NDArray, group: NDArray) -> bool:
    """Whether there are different rows in a group."""
    return bool(((rows[1:] != rows[:-1]).any(axis=1) & (group[1:] == group[:-1])).any())
