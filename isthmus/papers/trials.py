"""A trial: one set of pictures and many methods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

GRASSMANN, PRODUCT = "manifold PLS, Grassmann", "manifold PLS, product"
SQUARED, HUBER, ABSOLUTE = "Stiefel, squared", "Stiefel, Huber", "Stiefel, absolute"

# Steps of a stage of the robust losses. On the digits 500 take five times as long as 100 and move the
# test error by 2 %.
STEPS = 100


class Outcome:
    """Errors of one trial."""

    def __init__(self, columns: tuple[int, ...]) -> None:
        self.columns = columns
        self.errors: dict[str, list[dict[int, float]]] = {}

    def values(self, method: str, column: int) -> NDArray:
        return np.array([errors[column] for errors in self.errors[method]])

    def mean(self, method: str, column: int) -> float:
        return float(self.values(method, column).mean())

    def means(self, method: str) -> NDArray:
        return np.array([self.mean(method, column) for column in self.columns])

    def spread(self, method: str, column: int) -> float:
        values = self.values(method, column)
        return float(values.std(ddof=1)) if len(values) > 1 else 0.0

    def gaps(self, worse: str, better: str) -> NDArray:
        """By how much the mean error of one method exceeds that of another, one number per column."""
        return self.means(worse) - self.means(better)


@dataclass
class Trial:
    """One table.

    Attributes
    ----------
    setting : str
        The paragraph above the table, in which ``{draws}`` is filled in.
    columns : tuple of int
        Numbers of components, or whatever else the columns are.
    methods : dict
        Names, and what makes each.
    judge : callable of (method, draw)
        Errors, one per column.
    """

    setting: str
    columns: tuple[int, ...]
    methods: dict[str, Any]
    judge: Callable[[str, int], dict[int, float]]


def judge(trial: Trial, methods: tuple[str, ...], draws: range) -> Outcome:
    """Return the errors of some methods of a trial."""
    outcome = Outcome(trial.columns)
    for method in methods:
        outcome.errors[method] = [trial.judge(method, draw) for draw in draws]
    return outcome
