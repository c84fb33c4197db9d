"""Outer and inner folds, and what the tables look like: curves, wild cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, TimeSeriesSplit

from isthmus._linalg import Array
from isthmus._validation import N_FOLDS
from isthmus.inspection import is_curve as is_curve
from isthmus.model_selection import outer_splits as outer_splits

_WILD = 6.0  # robust deviations from the median; a Gaussian cell is there once in 5e8
_SHARE_OF_WILD = 0.005  # of the cells: one or two mistakes do not make a table wild


def inner_folds(cv: Any, groups: NDArray | None) -> Callable[[NDArray], Any] | None:
    """Return the inner folds of training rows as the outer ones are: by groups, by time, or None.

    None stands for k-fold that rows are dealt to by content.
    """
    in_order = isinstance(cv, TimeSeriesSplit) or (isinstance(cv, str) and cv == "time")
    if in_order and groups is not None:
        raise ValueError(
            "groups (--groups) keep the rows of a batch in one fold, cv='time' (--cv time) parts rows by "
            "their order: give one of the two."
        )
    if groups is not None:

        def by_groups(rows: NDArray) -> Any:
            own = groups[rows]
            n_groups = len(np.unique(own))
            if n_groups < 2:
                return None
            return list(GroupKFold(min(N_FOLDS, n_groups)).split(own, groups=own))

        return by_groups
    if in_order:

        def by_time(rows: NDArray) -> Any:
            m = len(rows)
            return list(TimeSeriesSplit(max(2, min(N_FOLDS, m // 4))).split(np.zeros(m)))

        return by_time
    return None


def has_wild_cells(Y: Array) -> bool:
    """Whether more than a few outputs lie far outside of what half of them span."""
    off = np.abs(Y - np.median(Y, axis=0))
    deviations = 1.4826 * np.median(off, axis=0)
    varies = deviations > 0
    if not varies.any():
        return False
    return bool(np.mean(off[:, varies] > _WILD * deviations[varies]) > _SHARE_OF_WILD)
