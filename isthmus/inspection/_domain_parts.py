"""What the domain of a model is made of: its steps, its kind, some of its rows, and folds of these."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline

from isthmus._linalg import Array
from isthmus.inspection._model import refit
from isthmus.inspection.distances import PrincipalAxes
from isthmus.regression import PCR, PLS, ReducedRankRegression

_MOST_ROWS = 2000  # that a domain is made of
_FOLDS = 5

Folds = Sequence[tuple[NDArray, NDArray]]


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
    """Whether a model is a map of low rank that is fitted anew in no time."""
    return (
        type(model) in (PCR, PLS, ReducedRankRegression)
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
