"""Of which model the domain is, and whether the rows are ordered."""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus.auto.blends import Blend
from isthmus.auto.problem import Problem
from isthmus.auto.trials import Splits, Trial
from isthmus.inspection import Order


def unit_model(model: Any, problem: Problem) -> Any:
    """The model whose inputs the domain is one of: of a blend of blocks its heaviest method.

    Blocks have units of their own, and a method brings them to the same size.
    """
    if problem.blocks is None or not isinstance(model, Blend):
        return model
    return model.estimators_[int(model.weights_.mean(axis=1).argmax())]


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
