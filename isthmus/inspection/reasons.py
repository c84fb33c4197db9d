"""Why a row lies outside a domain, in words: the statistic, how far, and the inputs that it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from isthmus._linalg import Array
from isthmus.inspection.distances import Ranges, stretch

if TYPE_CHECKING:
    from isthmus.inspection.domain import Domain

_MOST_NAMED = 3  # inputs; more would not be read

CAUSES = {
    "T2": "Hotelling's T2",
    "Q": "Q residual",
    "peak": "Q residual of one input",
    "nearest": "distance to the nearest training row",
    "span": "distance from the training rows in feature space",
    "range": "range of the inputs",
    "output": "range of the outputs",
}


def worst_statistic(names: list[str], ratios: Array) -> tuple[str, float]:
    """The statistic of one row that is the farthest beyond its limit, and how far.

    What a plane tells of a row says more than one column that is out of its range.
    """
    others = np.where([name != "range" for name in names], ratios, 0)
    row = others if others.max() > 1 else ratios
    return names[int(row.argmax())], float(row.max())


def tell_reason(
    domain: Domain, statistic: str, ratio: float, x: Array, z: Array, guess: Array | None
) -> str:
    """Tell why one row is outside: its inputs x, as the last step sees them z, and what is predicted."""
    if guess is not None and statistic == "output":
        return "predicted " + _beyond(domain, statistic, guess)
    if statistic == "range":
        return _beyond(domain, statistic, x)
    ratio = float(np.sqrt(ratio)) if statistic == "nearest" else ratio
    # A row just outside is not "1 times" as far out.
    times = f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.2g}" if ratio >= 2 else f"{ratio:.3g}"
    times = f"{times} times the limit" if ratio < 1e4 else "far beyond the limit"
    told = f"{CAUSES[statistic]} {times}"
    if statistic in ("T2", "Q", "peak") and len(z) == len(domain.means):
        contributions = domain.parts["plane"].contributions(z, statistic)
        told += f"; {_most(domain, contributions)} most"
    return told


def _name(names: list[str] | None, letter: str, j: int) -> str:
    return f"{letter}{j}" if names is None else names[j]


def _most(domain: Domain, contributions: Array) -> str:
    """The inputs that a statistic comes from: a stretch of a curve, or a few columns."""
    if domain.curve:
        low, high = (_name(domain.names, "x", j) for j in stretch(contributions))
        return f"inputs {low} to {high} differ"
    order = np.argsort(-contributions, kind="stable")
    share = np.cumsum(contributions[order]) / contributions.sum()
    n = min(int(np.searchsorted(share, 0.5)) + 1, _MOST_NAMED, len(order))
    listed = ", ".join(_name(domain.names, "x", int(j)) for j in order[:n])
    return f"{listed} {'differs' if n == 1 else 'differ'}"


def _beyond(domain: Domain, statistic: str, values: Array) -> str:
    is_output = statistic == "output"
    ranges: Ranges = domain.parts["outputs" if is_output else "ranges"]
    out = ranges.outside(values, domain.limits[statistic])
    j = int(out[0])
    name = _name(*((domain.target_names, "y") if is_output else (domain.names, "x")), j)
    more = f"; {len(out) - 1} more out of range" if len(out) > 1 else ""
    return f"{name} == {values[j]:.4g}, trained on {ranges.lower[j]:.4g} to {ranges.upper[j]:.4g}{more}"
