"""The domain of the chosen model, and whether the order of the rows was seen by the folds."""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus.auto.blends import Blend
from isthmus.auto.splits import is_curve
from isthmus.auto.trials import Splits, Trial
from isthmus.inspection import Domain
from isthmus.inspection.order import neighbour_p_value

FALSE_ALARMS = 0.001  # share of tables without an order of which it is said that they have one


def domain_of(search: Any, trial: Trial, names: Any) -> Domain:
    """Return the domain of the chosen model, with limits from the rows left out in the outer folds.

    Blocks have units of their own: the domain of a blend is that of its heaviest method, which brings them
    to the same size.
    """
    model = search.best_estimator_
    if trial.problem.blocks is not None and isinstance(model, Blend):
        model = model.estimators_[int(model.weights_.mean(axis=1).argmax())]
    return Domain.of(
        model, trial.X, trial.y, folds=trial.splits, names=names, curve=is_curve(trial.X, names),
        left_out=trial.predictions, target_names=search.target_names_,
    )  # fmt: skip


def order_notice(trial: Trial, grouped: bool) -> str | None:
    """Return a sentence if neighbouring rows err alike and the folds part them, else None."""
    if grouped or not _parts_neighbours(trial.splits, len(trial.X)):
        return None
    if neighbour_p_value(trial.Y - trial.predictions) >= FALSE_ALARMS:
        return None
    return (
        "the rows look ordered: neighbours have like errors, and the folds part them, so that new "
        "batches or later rows will be predicted worse than cross-validation says. Give groups "
        "(--groups), or cv='time' (--cv time)."
    )


def _parts_neighbours(splits: Splits, n: int) -> bool:
    """Whether most rows are left out without the row that follows them."""
    together = left_out = 0
    for _, test in splits:
        out = np.zeros(n + 1, dtype=bool)
        out[test] = True
        together += int((out[:-1] & out[1:]).sum())
        left_out += int(out.sum())
    return 2 * together < left_out
