"""What the domain of a model is made of: its steps, its kind, some of its rows, and folds of these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.model_selection import PredefinedSplit

from isthmus._linalg import Array
from isthmus._validation import N_FOLDS
from isthmus.inspection.distances import PrincipalAxes, Subspace
from isthmus.inspection.intervals import error_scale
from isthmus.inspection.trust import INSIDE_LEVEL
from isthmus.kernels import deal_by_content, sample_groups

MOST_DOMAIN_ROWS = 2000  # that a domain is made of
_LEVEL_OF_FEW = 0.99  # under a law whose tail is lighter than that of few rows

Folds = Sequence[tuple[NDArray, NDArray]]


def kernel_of(model: Any) -> Any:
    """The kernel of a kernel expansion or of landmarks; None for other models."""
    if hasattr(model, "points_") and hasattr(model, "kernel_"):
        return model.kernel_
    expansion = getattr(model, "expansion_", None)
    return getattr(expansion, "kernel", None)


def some_rows(rows: NDArray, most: int) -> NDArray:
    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(0).choice(rows, most, replace=False))


def deal_folds(rows: Array) -> Folds:
    """Shuffled folds: what a row is decides its fold, not its place; copies are left out together."""
    folds = PredefinedSplit(deal_by_content(rows, N_FOLDS)).split()
    return [(train, test) for train, test in folds if len(train) > 2]


def part_of_folds(rows: Array, folds: Folds | None) -> tuple[NDArray, Folds]:
    """All rows, or a part of very many, and the folds in their numbers."""
    n = len(rows)
    folds = deal_folds(rows) if folds is None else folds
    order = np.argsort(sample_groups(rows), kind="stable")
    kept = order[some_rows(np.arange(n), MOST_DOMAIN_ROWS)]
    return kept, renumber(folds, kept, n)


def without_rows(folds: Folds, rows: Any) -> Folds:
    """Folds without some of their rows."""
    parts = [tuple(part[~np.isin(part, rows)] for part in fold) for fold in folds]
    return [(train, test) for train, test in parts if len(test)]


def renumber(folds: Folds, kept: NDArray, n: int) -> Folds:
    """Folds of ``n`` rows in the numbers of those that are kept."""
    place = np.full(n, -1)
    place[kept] = np.arange(len(kept))
    parts = [tuple(np.sort(place[part][place[part] >= 0]) for part in fold) for fold in folds]
    return [(a, b) for a, b in parts if len(a) > 2 and len(b)]


def fold_planes(X: Array, folds: Folds) -> list[Subspace]:
    """Planes of the training rows of each fold, and last of all rows.

    They have as many principal axes as make rows left out the most likely.
    """
    axes = [PrincipalAxes(X[train]) for train, _ in folds]
    tests = [X[test] for _, test in folds]
    most, k = min(each.most for each in axes), 0
    if most:
        likely = [own.log_likelihoods(rows, most) for own, rows in zip(axes, tests, strict=True)]
        k = int(np.argmax(np.sum(likely, axis=0)))
    planes = [own.plane(k) for own in (*axes, PrincipalAxes(X))]
    # The last has seen all rows.
    left_out = [_beside_and_unseen(*pair) for pair in zip(planes, tests, strict=False)]
    for i, plane in enumerate(planes):
        # Its own rows leave too little beside a plane where they are few; rows left out are the others',
        # beside planes that may have another last axis. So both. A value that another fold has never seen
        # counts too, or columns of rare values would seem to be without noise.
        own = plane.beside(plane.standardise(X[folds[i][0]] if i < len(folds) else X)) ** 2
        rest = left_out[:i] + left_out[i + 1 :] or left_out
        unit = np.where(plane.scale > 0, plane.scale, np.inf)
        others = np.concatenate([seen + (unseen / unit) ** 2 for seen, unseen in rest])
        spread = np.sqrt(own.mean(axis=0) + others.mean(axis=0))
        plane.noise = np.maximum(spread, 0.0 if plane.noise is None else plane.noise)
    return planes


def _beside_and_unseen(plane: Subspace, X: Array) -> tuple[Array, Array]:
    """Squares of what rows leave beside a plane, and how far they are off in columns that it leaves out."""
    return plane.beside(plane.standardise(X)) ** 2, np.where(plane.scale > 0, 0.0, X - plane.mean)


def joint_limits(left_out: dict[str, Array]) -> dict[str, float]:
    """Limits such that 95 % of the rows left out are within all of them."""
    scales = {}
    for name, values in left_out.items():
        middle, high = np.quantile(values, [0.5, 0.9])
        if high > middle:  # a statistic that is the same for all rows says nothing
            scales[name] = (float(middle), float(high - middle))
    # Rows in a plane, such as those of encoded categories: one beside it by more than rounding is outside.
    in_plane: dict[str, float] = {
        name: 1.0
        for name in ("Q", "peak")
        if name in left_out and name not in scales and left_out[name].max() <= 1
    }
    if not scales:
        return in_plane
    worst = np.max([(left_out[name] - m) / s for name, (m, s) in scales.items()], axis=0)
    n = len(worst)
    # 0.95 * 20 is to be 19, not a hair more.
    rank = int(np.ceil(INSIDE_LEVEL * (n + 1) - 1e-9))
    if rank <= n:
        multiple = float(np.partition(worst, rank - 1)[rank - 1])
    else:  # too few rows for a quantile of theirs: one of Student's law, and no less than they reach
        reach = stats.t.ppf(_LEVEL_OF_FEW, n - 1) * worst.std(ddof=1) * np.sqrt(1 + 1 / n)
        multiple = float(max(worst.max(), worst.mean() + reach))
    return {name: m + multiple * s for name, (m, s) in scales.items()} | in_plane


def scaled_errors(errors: Array, folds: Folds, found: dict[str, Array], mean_q: float) -> Array:
    """Absolute errors of rows left out, each over the scale that its statistics ``found`` give.

    Rows that no fold leaves out are NaN.
    """
    sizes = np.concatenate([np.full(len(test), len(train)) for train, test in folds])
    tests = np.concatenate([test for _, test in folds])
    scaled = np.full_like(errors, np.nan)
    scaled[tests] = np.abs(errors)[tests] / error_scale(found, sizes, mean_q)[:, None]
    return scaled


def statistics_of(parts: dict[str, Any], X: Array, Z: Array) -> dict[str, Array]:
    """Every statistic of some rows, before and after the steps in front of the model."""
    found = {"range": parts["ranges"].values(X)}
    if "features" in parts:
        found |= parts["features"].statistics(Z)
    if "plane" not in parts:  # a Gram matrix, or a kernel model of an older file
        return found
    plane: Subspace = parts["plane"]
    found |= plane.statistics(Z)
    if "neighbours" in parts and plane.loadings.shape[1]:
        found["nearest"] = parts["neighbours"].values(plane.scores(plane.standardise(Z)))
    return found
