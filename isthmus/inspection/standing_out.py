"""Training rows that stand out: which rows lie so far from the others that no domain is made of them.

One row whose squares are as large as those of all others together sets means, deviations, axes and limits;
what is found here does not depend on such rows, up to about a seventh of all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import ROUNDING, Array, leading_pairs
from isthmus.inspection._domain_parts import Folds, deal_folds, fold_planes, joint_limits, renumber
from isthmus.inspection.trust import FAR_DISTANCE

_SHARE_KEPT = 0.85  # at least; a tenth of 48 rows is 5, more than 10 %
_SHARE_AT_START = 0.75
_MOST_AXES = 10
_MOST_TURNS = 10
_SHARE_NEAR = 0.95  # share of a column whose median deviation is zero that gives its unit
_FARTHEST = 1e150  # its square is a number still


def find_aside(
    seen: Sequence[Array], judged: NDArray, folds: Folds
) -> tuple[NDArray, Array, float]:
    """Return which of the rows that are judged stand out, how far rows are, and the share of far ones.

    Rows are ``seen`` as they are measured and as the last step of a model sees them: a step may hide one,
    which still rules the ranges. Where ``folds`` would leave out nothing any more, none stand out.
    """
    none = np.zeros(len(judged))
    found = [stand_out(X, folds) for X in seen] or [(none > 0, none, none > 0)]
    aside, times, far = (np.max(part, axis=0) for part in zip(*found, strict=True))
    aside &= judged
    if not renumber(folds, np.flatnonzero(~aside), len(judged)):
        aside[:] = False
    return aside, times, float((judged & far).mean())


def stand_out(X: Array, given: Folds = ()) -> tuple[NDArray, Array, NDArray]:
    """Return which rows stand out, at most 15 %, how many times the limit each lies out, and which are far.

    The last are those that are as far out from the rows of the start: they may be more.

    A start that no few rows can move, spherical principal components ([LMSTZC1999]_), grows by the
    statistics of the domain itself, of rows left out in shuffled folds. Rows that are not as far out where
    the ``given`` folds leave them out, such as those of a new batch, do not stand out. Columns of two
    values are left out: a rare category is no mistake.
    """
    n, none = len(X), np.zeros(len(X))
    least = int(np.ceil(_SHARE_KEPT * n))
    units = _robust_units(X)
    columns = (units > 0) & ((X > X.min(axis=0)) & (X < X.max(axis=0))).any(axis=0)
    if least == n or not columns.any():
        return none > 0, none, none > 0
    X = X[:, columns]
    with np.errstate(all="ignore"):  # rows may be as far out as numbers go
        U = np.clip((X - np.median(X, axis=0)) / units[columns], -_FARTHEST, _FARTHEST)
        start = _start(U)
        kept = start <= np.sort(start)[int(np.ceil(_SHARE_AT_START * n)) - 1]
        folds = deal_folds(X)
        first = distance = _left_out_distances(X, kept, folds)
        for _ in range(_MOST_TURNS):
            found = distance <= max(FAR_DISTANCE, np.sort(distance)[least - 1])
            if (found == kept).all():
                break
            kept = found
            distance = _left_out_distances(X, kept, folds)
        far = first > FAR_DISTANCE
        own = [(train, test) for train, test in given if (kept & ~far)[train].sum() > 2]
        if own and not (kept & ~far).all():
            tested = np.concatenate([test for _, test in own])
            distance[tested] = _left_out_distances(X, kept, own)[tested]
            far[tested] &= _left_out_distances(X, ~far, own)[tested] > FAR_DISTANCE
    return ~kept & (distance > FAR_DISTANCE), distance, far


def _robust_units(X: Array) -> Array:
    """A spread of each column that few rows do not move; zero where nearly all values are one."""
    off = np.sort(np.abs(X - np.median(X, axis=0)), axis=0)
    units = 1.4826 * np.median(off, axis=0)
    near = off[: max(1, int(_SHARE_NEAR * len(X)))].mean(axis=0)
    return np.where(units > 0, units, near)


def _start(U: Array) -> Array:
    """How far rows lie from the middle, along axes that few rows do not move and beside them."""
    n, p = U.shape
    norms = np.linalg.norm(U, axis=1)
    D = U / np.where(norms > 0, norms, 1.0)[:, None]
    values, vectors = leading_pairs(D.T @ D if p < n else D @ D.T, max(1, min(_MOST_AXES, n // 5)))
    told = values > ROUNDING * values[0]
    values, vectors = values[told], vectors[:, told]
    axes = vectors if p < n else D.T @ vectors / np.sqrt(values)
    T, R = U @ axes, U
    scores = np.cumsum(_over_median(np.abs(T - np.median(T, axis=0))) ** 2, axis=1)
    sizes = [norms]
    for t, axis, score in zip(T.T, axes.T, scores.T, strict=True):
        R = R - np.outer(t, axis)
        sizes += [score, np.linalg.norm(R, axis=1), _over_median(np.abs(R)).max(axis=1)]
    middle, high = np.quantile(sizes, [0.5, 0.75], axis=1)
    far = [(size - m) / (h - m) for size, m, h in zip(sizes, middle, high) if h > m]
    return np.nan_to_num(np.max(far, axis=0), nan=np.inf) if far else np.zeros(n)


def _over_median(A: Array) -> Array:
    middle = np.median(A, axis=0)
    return np.where(middle > 0, A / np.where(middle > 0, middle, 1.0), 0.0)


def _left_out_distances(X: Array, kept: NDArray, folds: Folds) -> Array:
    """Distances of all rows in the planes of their folds, which only rows that are kept make."""
    place = np.cumsum(kept) - 1
    among = [tuple(place[part[kept[part]]] for part in fold) for fold in folds]
    planes = fold_planes(X[kept], among)
    found: dict[str, Array] = {}
    for plane, (_, test) in zip(planes, folds, strict=False):
        for name, values in plane.statistics(X[test]).items():
            found.setdefault(name, np.zeros(len(X)))[test] = values
    limits = joint_limits({name: values[kept] for name, values in found.items()})
    ratios = [found[name] / limit for name, limit in limits.items()]
    return np.nan_to_num(np.max(ratios, axis=0), nan=np.inf) if ratios else np.zeros(len(X))
