"""One experiment: what was published, how it is repeated, what came out."""

from __future__ import annotations

import importlib
import importlib.util
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.reports import Figure


@dataclass
class Row:
    """One line of the table: a method, its published and its measured numbers, one per column."""

    label: str
    measured: Sequence[float | None]
    published: Sequence[float | str | None] = ()


@dataclass
class Claim:
    """A statement of the paper and whether it holds here.

    Attributes
    ----------
    text : str
        The statement, such as "MRS < PLS".
    holds : bool
        Whether the measured numbers agree.
    expected : bool
        Whether it should hold when repeated with care; False where the published ordering is known
        not to be reproducible.
    why : str
        Reason, where a statement does not hold.
    is_timed : bool
        Whether clocks decide, which a busy machine can turn around.
    """

    text: str
    holds: bool
    expected: bool = True
    why: str = ""
    is_timed: bool = False

    def verdict(self) -> str:
        """Return one sentence."""
        if self.holds:
            tail = "" if self.expected else " (it need not: " + self.why + ")" if self.why else ""
            return f"holds: {self.text}{tail}"
        return f"does not hold: {self.text}" + (f". {self.why}" if self.why else "")


@dataclass
class Result:
    """What one run of an experiment returns.

    Attributes
    ----------
    data : str
        Where the data came from, in one sentence.
    columns : list of str
        Names of the numbers of each row.
    rows : list of Row
        The table.
    claims : list of Claim
        The published orderings.
    notes : list of str
        Remarks.
    figures : list of Figure
        Figures for the page.
    pictures : list of (caption, rows of (label, list of data addresses))
        Strips of small pictures for the page.
    digits : int
        Digits after the point.
    seconds : float
        Time of the run.
    error : str
        Why it failed; then there is nothing else.
    """

    data: str
    columns: list[str]
    rows: list[Row]
    claims: list[Claim] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    pictures: list[tuple[str, list[tuple[str, list[str]]]]] = field(default_factory=list)
    digits: int = 2
    seconds: float = 0.0
    error: str = ""

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return header and cells; a published column stands beside a measured one if there is any."""
        header = ["method"]
        has = [
            any(k < len(row.published) and row.published[k] is not None for row in self.rows)
            for k in range(len(self.columns))
        ]
        for name, published in zip(self.columns, has):
            header += [f"{name}, published", f"{name}, measured"] if published else [name]
        lines = []
        for row in self.rows:
            cells = [row.label]
            for k, published in enumerate(has):
                if published:
                    value = row.published[k] if k < len(row.published) else None
                    cells.append(value if isinstance(value, str) else self.cell(value))
                cells.append(self.cell(row.measured[k]))
            lines.append(cells)
        return header, lines

    def cell(self, value: float | None) -> str:
        """Return a number as text; nothing for a missing one."""
        if value is None or np.isnan(value):
            return ""
        return f"{value:.{self.digits}f}"


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper that can be run.

    Attributes
    ----------
    name : str
        Name on the command line.
    paper, place : str
        Key in ``docs/references.bib``, and where in the paper it is.
    question : str
        What it asks.
    protocol : str
        How it is repeated here, and how that differs from the paper.
    module : str
        Dotted name of the module that has ``function``, which takes a seed and ``quick``.
    needs : tuple of str
        Packages beyond the core.
    """

    name: str
    paper: str
    place: str
    question: str
    protocol: str
    module: str
    function: str
    needs: tuple[str, ...] = ()

    def run(self, seed: int = 0, quick: bool = False) -> Result:
        """Run it; ``quick`` means fewer repeats, not another protocol."""
        function: Callable[..., Result] = getattr(
            importlib.import_module(self.module), self.function
        )
        begin = time.perf_counter()
        with warnings.catch_warnings():
            # Ties, capped ranks and early stops are what the experiments study.
            warnings.simplefilter("ignore")
            result = function(seed, quick)
        result.seconds = time.perf_counter() - begin
        return result

    def missing(self) -> list[str]:
        """Return the packages that it needs and that are not installed."""
        return [name for name in self.needs if importlib.util.find_spec(name) is None]


def ordering_claim(
    names: Sequence[str],
    values: dict[str, float],
    *,
    high: bool = False,
    margin: float = 0.0,
    expected: bool = True,
    why: str = "",
) -> Claim:
    """Return the claim that the named methods stand in this order, best first.

    Parameters
    ----------
    names : sequence of str
        Methods, best first.
    values : dict
        Errors, or scores if ``high``.
    margin : float
        Least difference, relative to the better of two neighbours.
    """
    sign = ">" if high else "<"
    holds = True
    for better, worse in pairwise(names):
        gap = values[worse] - values[better]
        gap = -gap if high else gap
        holds &= bool(gap > margin * abs(values[better]))
    told = f" {sign} ".join(f"{name} ({values[name]:.3g})" for name in names)
    return Claim(told, holds, expected, why)


def bars(name: str, caption: str, values: dict[str, float], title: str) -> Figure:
    """Return a figure with one bar for each method."""
    from isthmus.reports import ACCENT, layout, numbers, plain

    data: dict[str, Any] = {
        "type": "bar",
        "orientation": "h",
        "y": plain(list(values))[::-1],
        "x": numbers(list(values.values()))[::-1],
        "marker": {"color": ACCENT},
    }
    look = layout(title, margin={"l": 190, "r": 10, "t": 10, "b": 45})
    return Figure(name, caption, [("", [data], look)], height=60 + 34 * len(values))


def lines(
    name: str,
    caption: str,
    x: Any,
    curves: dict[str, Any],
    x_title: str,
    y_title: str,
    **axes: Any,
) -> Figure:
    """Return a figure with one curve for each method."""
    from isthmus.reports import LINES, layout, line

    data = [
        line(x, y, LINES[k % len(LINES)], name=label, showlegend=True, mode="lines+markers")
        for k, (label, y) in enumerate(curves.items())
    ]
    look = layout(x_title, y_title)
    for axis, options in axes.items():
        look[axis] = look[axis] | options
    return Figure(name, caption, [("", data, look)])


def average(draws: Sequence[dict[str, NDArray]]) -> dict[str, NDArray]:
    """Return the mean over draws of the scores of each method."""
    return {name: np.mean([draw[name] for draw in draws], axis=0) for name in draws[0]}
