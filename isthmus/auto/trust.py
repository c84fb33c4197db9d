"""The domain of the chosen model, and whether the rows are ordered."""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus.auto.blends import Blend
from isthmus.auto.splits import is_curve
from isthmus.auto.trials import Splits, Trial
from isthmus.inspection import Domain
from isthmus.inspection.order import Order


def domain_of(
    search: Any, trial: Trial, shuffled: Trial, names: Any, rows: dict[str, Any]
) -> Domain:
    """Return the domain of the chosen model, with limits from the rows left out in the outer folds.

    Those of ordered rows are still of shuffled folds: a row that is like none before it is flagged.
    Blocks have units of their own: the domain of a blend is that of its heaviest method, which brings them
    to the same size. ``rows`` has their numbers and those of rows to keep.
    """
    model = search.best_estimator_
    if trial.problem.blocks is not None and isinstance(model, Blend):
        model = model.estimators_[int(model.weights_.mean(axis=1).argmax())]
    return Domain.of(
        model, trial.X, trial.given, folds=shuffled.splits, names=names,
        curve=is_curve(trial.X, names), left_out=shuffled.predictions,
        later=None if shuffled is trial else (trial.predictions, trial.splits),
        target_names=search.target_names_, **rows,
    )  # fmt: skip


def order_of(trial: Trial, grouped: bool) -> Order | None:
    """What the errors tell of the order of the rows; None if the folds have regard to it."""
    if grouped or not _parts_neighbours(trial.splits, len(trial.X)):
        return None
    return Order.of(trial.Y, trial.predictions)


def _parts_neighbours(splits: Splits, n: int) -> bool:
    """Whether most rows are left out without the row that follows them."""
    together = left_out = 0
    for _, test in splits:
        out = np.zeros(n + 1, dtype=bool)
        out[test] = True
        together += int((out[:-1] & out[1:]).sum())
        left_out += int(out.sum())
    return 2 * together < left_out
