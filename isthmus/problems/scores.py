"""Scores of a fold with every number of components.

Where targets are missing, what is observed counts: errors and R2 are those of the observed entries of each
output, averaged over the outputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import UndefinedMetricWarning

from isthmus._linalg import EPS, Array
from isthmus._validation import warn

# A constant target that is missed by no more than this many units in the last place is met.
_MET_ULPS = 64.0


@dataclass
class TestRows:
    """The held-out rows of a fold. Predictions are asked for in units of ``unit``, powers of two."""

    X: Any
    Y: NDArray
    weights: Array | None
    y_is_1d: bool
    has_gaps: bool  # whether any target of any row is NaN
    unit: float | Array = 1.0  # of all outputs, or one for each
    overall: Array | None = None  # variances of all rows, in units: of a single row there is none

    @cached_property
    def in_units(self) -> NDArray:
        return self.Y if np.all(self.unit == 1.0) else self.Y / self.unit

    @cached_property
    def first(self) -> NDArray:
        """An observed target of each output, (q,)."""
        rows = (~np.isnan(self.in_units)).argmax(axis=0) if self.has_gaps else 0
        return self.in_units[rows, np.arange(self.Y.shape[1])]

    @cached_property
    def variances(self) -> Array:
        """Of each output, in units: 0 where all are the same number, NaN where there is none or one."""
        Y = self.in_units
        if len(Y) < 2:
            message = "R^2 score is not well-defined with less than two samples."
            warn(message, UndefinedMetricWarning)
            return np.full(Y.shape[1], np.nan)
        if not self.has_gaps:
            return _variances(Y, self.weights)
        found = np.full(Y.shape[1], np.nan)
        for j, seen in enumerate(~np.isnan(Y.T)):
            if seen.sum() > 1:
                w = None if self.weights is None else self.weights[seen]
                found[j] = _variances(Y[seen, j, None], w)[0]
        return found


def _variances(Y: NDArray, weights: Array | None) -> Array:
    mean = np.average(Y, axis=0, weights=weights)
    squares = np.average((Y - mean) ** 2, axis=0, weights=weights)
    return np.where((Y == Y[0]).all(axis=0), 0.0, squares)


@dataclass(frozen=True)
class OutputMean:
    """A scorer that is, for several outputs, the mean of what it is for each: scikit-learn's named ones."""

    scorer: Callable[..., Any]


def score_path(
    path: Any, rows: TestRows, ranks: list[int], scorers: dict[str, Any]
) -> dict[str, Array]:
    """Every score of every rank; a single scorer that returns a dict gives its scores their names."""
    quick = {name: scorer for name, scorer in scorers.items() if isinstance(scorer, str)}
    values: dict[str, Array] = {}
    if quick:
        errors = path.errors(rows.in_units, rows.weights, ranks)
        for name, score in quick.items():
            values[name] = _SCORES[score](errors, rows)
    for name, scorer in scorers.items():
        if name not in quick:
            values.update(_ask(name, scorer, path, rows, ranks))
    return values


# -- from the squared errors of all ranks at once, in units of ``unit`` -----------------------------


def _r2(errors: Array, rows: TestRows) -> Array:
    return _explained(errors, rows, rows.variances)


def _q2(errors: Array, rows: TestRows) -> Array:
    assert rows.overall is not None
    return _explained(errors, rows, rows.overall)


def _explained(errors: Array, rows: TestRows, variances: Array) -> Array:
    varies = variances > 0
    scores = 1.0 - errors / np.where(varies, variances, 1.0)
    if not varies.all():
        # An output that does not vary scores 1 where it is met and 0 elsewhere, as in scikit-learn; which
        # divides rounding errors by each other where the mean of equal numbers is not quite that number.
        # What is left of the other outputs in its predictions is rounding too.
        size = np.maximum(rows.first**2, np.nan_to_num(variances).max())[~varies]
        scores[:, ~varies] = errors[:, ~varies] <= (_MET_ULPS * EPS) ** 2 * size
        scores[:, np.isnan(variances)] = np.nan
    return _mean_of_outputs(scores, rows.has_gaps)


def _mean_squared(errors: Array, rows: TestRows) -> Array:
    return -_mean_of_outputs(errors * rows.unit * rows.unit, rows.has_gaps)


def _root_mean_squared(errors: Array, rows: TestRows) -> Array:
    return -_mean_of_outputs(np.sqrt(errors) * rows.unit, rows.has_gaps)


def _mean_of_outputs(values: Array, has_gaps: bool) -> Array:
    if has_gaps:
        values = values[:, ~np.isnan(values).any(axis=0)]  # some outputs may be observed too seldom
        if not values.shape[1]:
            return np.full(len(values), np.nan)
    return np.asarray(values.mean(axis=1))


_SCORES: dict[str, Callable[[Array, TestRows], Array]] = {
    "r2": _r2,
    "q2": _q2,
    "neg_mean_squared_error": _mean_squared,
    "neg_root_mean_squared_error": _root_mean_squared,
}
QUICK_SCORES = tuple(_SCORES)


# -- from predictions, one rank after the other --------------------------------------------------


class _Fixed(RegressorMixin, BaseEstimator):
    """Stands in for a fitted regressor when a scorer asks for its predictions."""

    def __init__(self, prediction: Array) -> None:
        self.prediction = prediction

    def predict(self, X: Any) -> Array:
        return self.prediction


def _ask(name: str, scorer: Any, path: Any, rows: TestRows, ranks: list[int]) -> dict[str, Array]:
    """Any scorer of ``(estimator, X, y)``, once for each rank."""
    by_output = isinstance(scorer, OutputMean)
    call = scorer.scorer if by_output else scorer
    takes_weights = rows.weights is not None and "sample_weight" in signature(call).parameters
    parts = _observed_parts(rows, by_output) if rows.has_gaps else [(slice(None), slice(None))]
    values = []
    for rank in ranks:
        prediction = path.predict(rank) * rows.unit
        found = []
        for part, outputs in parts:
            truth, guess = rows.Y[part, outputs], prediction[part, outputs]
            if rows.y_is_1d and truth.ndim == 2:
                truth, guess = truth[:, 0], guess[:, 0]
            extra = {"sample_weight": rows.weights[part]} if takes_weights else {}  # type: ignore[index]
            found.append(call(_Fixed(guess), rows.X[part], truth, **extra))
        values.append(found[0] if len(found) == 1 else np.mean(found))
    if not isinstance(values[0], dict):
        return {name: np.array(values, dtype=np.float64)}
    if name != "score":
        raise ValueError(
            f"scoring[{name!r}] returns a dict, must return a number: a callable that returns several "
            "scores is given as scoring itself."
        )
    return {key: np.array([value[key] for value in values], dtype=float) for key in values[0]}


def _observed_parts(rows: TestRows, by_output: bool) -> list[tuple[Any, Any]]:
    """Rows and outputs to be scored together: output by output, or the rows that have all of them."""
    seen = ~np.isnan(rows.Y)
    if by_output:
        return [(np.flatnonzero(o), j) for j, o in enumerate(seen.T) if o.any()]
    complete = np.flatnonzero(seen.all(axis=1))
    if not len(complete):
        raise ValueError(
            "no test row of a fold has all targets observed, which a custom scorer needs: use fewer "
            "folds or one of scikit-learn's names, by which each output is scored where it is observed."
        )
    return [(complete, slice(None))]
