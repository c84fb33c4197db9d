"""Interval PLS: which stretch of a curve predicts best on its own."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isthmus._linalg import Array
from isthmus._validation import check_array, check_count
from isthmus.model_selection.component_search import ComponentSearchCV
from isthmus.regression import PLS


@dataclass(frozen=True)
class IntervalPLS:
    """Errors of PLS on stretches of the columns.

    Attributes
    ----------
    intervals : list of slice
        Columns of each interval, in order.
    rmsecv : ndarray of shape (n_intervals,) or (n_intervals, n_targets)
        Pooled error of each interval with its own number of components, in units of the outputs.
    n_components : ndarray of shape (n_intervals,)
        Number of components chosen for each.
    full_rmsecv : float or ndarray of shape (n_targets,)
        The error with all columns.
    full_n_components : int
        Number of components with all columns.
    """

    intervals: list[slice]
    rmsecv: Array
    n_components: NDArray
    full_rmsecv: Any
    full_n_components: int

    @property
    def best(self) -> slice:
        """The interval with the smallest error, of several outputs in units of that with all columns."""
        relative = self.rmsecv / self.full_rmsecv
        return self.intervals[int(relative.reshape(len(relative), -1).mean(axis=1).argmin())]


def interval_pls(
    X: ArrayLike,
    y: ArrayLike,
    n_intervals: int = 20,
    *,
    n_components: int = 10,
    cv: Any = 5,
    rule: str = "pooled_one_se",
) -> IntervalPLS:
    """Compute the cross-validated error of PLS on each interval of the columns, [NSWE2000]_.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Curves in rows.
    y : array of shape (n_samples,) or (n_samples, n_targets)
        Outputs.
    n_intervals : int, default=20
        Number of stretches, of equal numbers of columns but for one.
    n_components : int, default=10
        Largest number of components.
    cv : int, splitter or iterable, default=5
        Folds, the same for all intervals unless they are drawn anew.
    rule : {"pooled", "pooled_one_se", "randomization"}, default="pooled_one_se"
        How the number of components is chosen, see ``ComponentSearchCV``.

    Returns
    -------
    result : IntervalPLS

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.model_selection import interval_pls
    >>> X = np.random.default_rng(0).normal(size=(60, 40))
    >>> interval_pls(X, X[:, 12] + X[:, 14], n_intervals=8).best
    slice(10, 15, None)
    """
    for name, given in (("X", X), ("y", y)):
        if hasattr(given, "fit"):
            raise TypeError(
                f"{name} is an estimator, {given!r}, must be an array: interval_pls(X, y) fits a PLS of "
                "its own to every interval, see n_components."
            )
    if np.isscalar(y):
        raise TypeError(
            f"y == {y!r}, must be an array of outputs: interval_pls(X, y, n_intervals)."
        )
    rows = check_array(X, dtype=np.float64)
    p = rows.shape[1]
    if check_count("n_intervals", n_intervals) > p:
        raise ValueError(f"n_intervals == {n_intervals}, must be at most {p}, the columns of X.")
    ends = np.rint(np.linspace(0, p, n_intervals + 1)).astype(int).tolist()
    intervals = [slice(a, b) for a, b in pairwise(ends)]
    found = [
        _search(rows[:, part], y, n_components, cv, rule) for part in (slice(0, p), *intervals)
    ]
    errors = np.array([error for error, _ in found])
    ranks = np.array([rank for _, rank in found])
    return IntervalPLS(intervals, errors[1:], ranks[1:], errors[0], int(ranks[0]))


def _search(X: Array, y: Any, n_components: int, cv: Any, rule: str) -> tuple[Any, int]:
    most = min(n_components, X.shape[1])
    search = ComponentSearchCV(
        PLS(scale="y"), n_components=most, cv=cv, rule=rule, refit=False
    ).fit(X, y)
    return search.rmsecv_[search.best_index_], search.best_params_["n_components"]
