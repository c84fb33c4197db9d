"""Outer and inner folds, and what the tables look like: curves, wild cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, KFold, TimeSeriesSplit, check_cv

from isthmus._linalg import Array

_INNER_FOLDS = 5
_TIME_FOLDS = 5
_WILD = 6.0  # robust deviations from the median; a Gaussian cell is there once in 5e8
_SHARE_OF_WILD = 0.005


def outer_splits(cv: Any, X: Array, Y: Array, groups: NDArray | None, seed: int) -> list:
    """Return the outer folds, (train, test) each."""
    if isinstance(cv, str):
        if cv != "time":
            raise ValueError(f"cv == {cv!r}, must be a number, 'time' or a splitter.")
        splitter: Any = TimeSeriesSplit(min(_TIME_FOLDS, len(X) // 2))
    elif isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        if cv < 2:
            raise ValueError(f"cv == {cv}, must be >= 2.")
        if groups is not None:
            n_groups = len(np.unique(groups))
            if n_groups < 2:
                raise ValueError("groups has one group only, at least two are needed.")
            splitter = GroupKFold(min(int(cv), n_groups))
        else:
            n_splits = min(int(cv), len(X) // 2)
            splitter = KFold(n_splits, shuffle=True, random_state=seed)
    else:
        splitter = check_cv(cv)
    return list(splitter.split(X, Y, groups))


def inner_folds(cv: Any, groups: NDArray | None) -> Callable[[NDArray], Any] | None:
    """Return the inner folds of training rows as the outer ones are: by groups, by time, or None.

    None stands for shuffled k-fold.
    """
    if groups is not None:

        def by_groups(rows: NDArray) -> Any:
            own = groups[rows]
            n_groups = len(np.unique(own))
            if n_groups < 2:
                return None
            return list(GroupKFold(min(_INNER_FOLDS, n_groups)).split(own, groups=own))

        return by_groups
    in_order = isinstance(cv, TimeSeriesSplit) or (isinstance(cv, str) and cv == "time")
    if in_order:

        def by_time(rows: NDArray) -> Any:
            m = len(rows)
            return list(TimeSeriesSplit(max(2, min(_INNER_FOLDS, m // 4))).split(np.zeros(m)))

        return by_time
    return None


def is_curve(X: Array, names: Any) -> bool:
    """Whether the columns are points of a curve: numbers for names, or neighbours all but equal."""
    if names is not None and len(names) > 4:
        try:
            steps = np.diff([float(name) for name in names])
            if (steps > 0).all() or (steps < 0).all():
                return True
        except ValueError:
            pass
    if X.shape[1] < 20 or len(X) < 3 or np.isnan(X).any():
        return False
    Z = X - X.mean(axis=0)
    norms = np.linalg.norm(Z, axis=0)
    norms[norms == 0] = 1.0
    near = (Z[:, 1:] * Z[:, :-1]).sum(axis=0) / (norms[1:] * norms[:-1])
    return bool(np.median(near) > 0.98)


def has_wild_cells(Y: Array) -> bool:
    """Whether more than a few outputs lie far outside of what half of them span."""
    off = np.abs(Y - np.median(Y, axis=0))
    deviations = 1.4826 * np.median(off, axis=0)
    varies = deviations > 0
    if not varies.any():
        return False
    return bool(np.mean(off[:, varies] > _WILD * deviations[varies]) > _SHARE_OF_WILD)
