"""A trial: one set of pictures, many methods, one table and what is read from it."""

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
        """By how much the mean error of one method exceeds that of another, a number a column."""
        return self.means(worse) - self.means(better)


@dataclass
class Trial:
    """One table of the page.

    Attributes
    ----------
    title, setting : str
        The heading, and the paragraph above the table, in which ``{draws}`` is filled in.
    columns : tuple of int
        Numbers of components, or whatever else the columns are.
    draws : int
        How often the data are drawn anew.
    methods : dict
        Names, and what makes each.
    judge : callable of (method, draw)
        Errors, a number a column.
    table, reading : callable of an Outcome
        The table in Markdown, and the sentences below it.
    """

    title: str
    setting: str
    columns: tuple[int, ...]
    draws: int
    methods: dict[str, Any]
    judge: Callable[[str, int], dict[int, float]]
    table: Callable[[Outcome], str]
    reading: Callable[[Outcome], list[str]]


def with_spread(outcome: Outcome, method: str, column: int, digits: int) -> str:
    """Mean and standard deviation over the draws; the smallest mean of a column is in bold."""
    mean, spread = outcome.mean(method, column), outcome.spread(method, column)
    text = f"{mean:.{digits}f}"
    if len(outcome.errors[method]) > 1:
        text += f" ± {spread:.{digits}f}"
    least = min(outcome.mean(other, column) for other in outcome.errors)
    return f"**{text}**" if mean <= least + 1e-9 else text


def verdict(holds: bool | np.bool_) -> str:
    return "holds" if holds else "**does not hold**"


def markdown(head: list[str], lines: list[list[str]]) -> str:
    """Return a table."""
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)
