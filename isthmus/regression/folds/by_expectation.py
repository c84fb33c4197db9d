"""Folds with missing values: one model of the gaps, for all numbers of components and ridge weights."""

from __future__ import annotations

from typing import Any

from isthmus.problems.paths import FoldPath
from isthmus.problems.splits import Rows, Split
from isthmus.regression.folds.refit import Folds


def expected_paths(
    estimator: Any, rows: Rows, split: Split, ranks: list[int], alphas: list[Any]
) -> list[FoldPath]:
    """Paths of a fit by expectation-maximisation, one for each ridge weight.

    The model of the gaps is the one that a fit to the training rows finds, step by step.
    """
    form, model = estimator._expected_form(*rows.take(split.train))
    coordinates = form.frame.x(model.filled(rows.X[split.test]))
    return Folds(estimator, rows, max(ranks), alphas).solve(form, coordinates, exact=True)
