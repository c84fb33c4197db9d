"""What the domain of a model is made of: its steps, its kind, some of its rows, and folds of these."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline

from isthmus._linalg import Array
from isthmus.inspection._model import refit
from isthmus.inspection.distances import PrincipalAxes
from isthmus.inspection.trust import LEVEL
from isthmus.regression import PCR, PLS

_MOST_ROWS = 2000  # that a domain is made of
_FOLDS = 5
_LEVEL_OF_FEW = 0.99  # under a law whose tail is lighter than that of few rows

Folds = Sequence[tuple[NDArray, NDArray]]


def numeric_outputs(model: Any, y: Any) -> Array:
    """Outputs as numbers; of a classifier the indicators of its classes."""
    outputs = np.asarray(y)
    if hasattr(model, "classes_") or outputs.dtype.kind in "OUSb":
        return np.eye(len(np.unique(outputs)))[np.unique(outputs, return_inverse=True)[1].ravel()]
    return outputs.astype(np.float64)


def split_model(model: Any) -> tuple[list[Any], Any]:
    """Transformers before a model, and the model."""
    for name in ("best_estimator_", "estimator_"):
        while hasattr(model, name):
            model = getattr(model, name)
    if not isinstance(model, Pipeline):
        return [], model
    before = [step for _, step in model.steps[:-1] if step not in (None, "passthrough")]
    if before and hasattr(before[-1], "points_"):  # landmarks and a linear map: a kernel model
        return before[:-1], before[-1]
    further, last = split_model(model.steps[-1][1])
    return before + further, last


def kernel_of(model: Any) -> Any:
    """The kernel of a kernel expansion or of landmarks; None for other models."""
    if hasattr(model, "points_") and hasattr(model, "kernel_"):
        return model.kernel_
    expansion = getattr(model, "expansion_", None)
    return getattr(expansion, "kernel", None)


def has_plane(model: Any) -> bool:
    """Whether a model describes its inputs by components, and is fitted anew in no time."""
    return (
        type(model) in (PCR, PLS)
        and model.n_components_ > 0
        and getattr(model, "missing", "error") != "em"
        and getattr(model, "solver_", None) != "proximal"
    )


def refit_quietly(model: Any, X: Array, Y: Array) -> Any:
    """The same model on fewer rows, which may allow fewer components: no news to anybody."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return refit(model, X, Y.reshape(len(Y), -1))


def some_rows(rows: NDArray, most: int) -> NDArray:
    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(0).choice(rows, most, replace=False))


def part_of_folds(n: int, folds: Folds | None) -> tuple[NDArray, Folds]:
    """All rows, or a part of very many, and the folds in their numbers."""
    if folds is None:
        folds = list(
            KFold(min(_FOLDS, n // 2 + 1), shuffle=True, random_state=0).split(np.zeros(n))
        )
    kept = some_rows(np.arange(n), _MOST_ROWS)
    place = np.full(n, -1)
    place[kept] = np.arange(len(kept))
    parts = [tuple(place[rows][place[rows] >= 0] for rows in fold) for fold in folds]
    return kept, [(a, b) for a, b in parts if len(a) > 2 and len(b)]


def likeliest_rank(axes: list[PrincipalAxes], X: Array, folds: Folds) -> int:
    """The number of components under which rows left out are most likely."""
    most = min(each.most for each in axes)
    if most == 0:
        return 0
    totals = sum(
        each.log_likelihoods(X[test], most) for each, (_, test) in zip(axes, folds, strict=True)
    )
    return int(np.argmax(totals))


def joint_limits(left_out: dict[str, Array]) -> dict[str, float]:
    """Limits such that 95 % of the rows left out are within all of them."""
    scales = {}
    for name, values in left_out.items():
        middle, high = np.quantile(values, [0.5, 0.9])
        if high > middle:  # a statistic that is the same for all rows says nothing
            scales[name] = (float(middle), float(high - middle))
    if not scales:
        return {}
    worst = np.max([(left_out[name] - m) / s for name, (m, s) in scales.items()], axis=0)
    n = len(worst)
    # 0.95 * 20 is to be 19, not a hair more.
    rank = int(np.ceil(LEVEL * (n + 1) - 1e-9))
    if rank <= n:
        multiple = float(np.partition(worst, rank - 1)[rank - 1])
    else:  # too few rows for a quantile of theirs: one of Student's law, and no less than they reach
        reach = stats.t.ppf(_LEVEL_OF_FEW, n - 1) * worst.std(ddof=1) * np.sqrt(1 + 1 / n)
        multiple = float(max(worst.max(), worst.mean() + reach))
    return {name: m + multiple * s for name, (m, s) in scales.items()}
