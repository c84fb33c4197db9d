"""Training rows to look at: those that stand out in X, and those whose outputs have large errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from isthmus._linalg import Array
from isthmus.inspection.reasons import tell_reason, worst_statistic
from isthmus.inspection.trust import INSIDE_LEVEL

if TYPE_CHECKING:
    from isthmus.inspection.domain import Domain

_WRONG_OUTPUT = 3.0  # times the error that one row in twenty exceeds
_MOST_IN_SENTENCE = 5
_FEWEST_TOGETHER = 3
_MOST_ASIDE = 0.15  # share of the rows; more are a kind of their own
_MOST_LISTED_ROWS = 20  # row numbers in a sentence
_NUMBERED = range(2**62)  # names of rows that have none


@dataclass
class FitRows:
    """Which rows of a table are fitted, what they are called, and which of them a domain must keep.

    Attributes
    ----------
    numbers : ndarray of int
        Rows of the table that are fitted, in their order.
    names : sequence of str or int
        Of all rows of the table; their numbers, if they have no names.
    keep : ndarray of int
        Rows of the table that are part of the domain even if they stand out; they are not named.
    """

    numbers: NDArray
    names: Sequence[str | int] = _NUMBERED
    keep: NDArray | tuple[()] = ()

    def part(self, places: NDArray) -> FitRows:
        """Some of these rows, by their places."""
        return replace(self, numbers=self.numbers[places])

    def without(self, rows: Any) -> NDArray:
        """Whether each row that is fitted is none of these rows of the table."""
        return np.isin(self.numbers, rows, invert=True)

    def tell(self, place: Any, part: str, times: float, reason: str, group: Any = -1) -> dict:
        """What is kept of a row that stands out, in the types of JSON."""
        number = int(self.numbers[place])
        told = {"row": number, "name": self.names[number], "part": part, "reason": reason}
        return {**told, "times": min(float(times), np.finfo(float).max), "group": int(group)}


def resolve_rows(asked: Any, names: Sequence[str | int], n: int, option: str) -> NDArray:
    """Numbers of rows that are given by their numbers or, as texts, by their names."""
    places: dict[Any, list[int]] = {i: [i] for i in range(n)}
    for i, name in enumerate(names):
        places.setdefault(name, []).append(i)
    found: list[int] = []
    for each in np.array([] if asked is None else asked, dtype=object).ravel():
        if each not in places or isinstance(each, bool):
            raise ValueError(f"{option}: there is no row {each!r} among the {n} rows of X.")
        found += places[each]
    return np.unique(np.array(found, dtype=np.intp))


def find_in_x(domain: Domain, rows: FitRows, times: Array, X: Array) -> list[dict[str, Any]]:
    """Rows set aside: how far they stand out, why, and with which others."""
    Z = domain.before_model(X)
    names, ratios, _ = domain._ratios(X, Z, None)
    groups = _together(np.clip(domain.parts["plane"].standardise(Z), -1e100, 1e100))
    found = []
    for i, far in enumerate(times):
        reason = tell_reason(domain, worst_statistic(names, ratios[i])[0], far, X[i], Z[i], None)
        found.append(rows.tell(i, "X", far, reason, groups[i]))
    return found


def _together(P: Array) -> NDArray:
    """A number for rows that lie nearer to each other than half way to the middle; -1 for others."""
    size = np.linalg.norm(P, axis=1)
    near = cdist(P, P) < np.minimum.outer(size, size) / 2
    labels = connected_components(near, directed=False)[1]
    return np.where(np.bincount(labels)[labels] >= _FEWEST_TOGETHER, labels, -1)


def find_in_y(
    rows: FitRows, errors: Array, known: Array, guess: Array, names: Sequence[str]
) -> list[dict[str, Any]]:
    """Rows with errors far beyond those of others left out, as scaled for intervals."""
    limits = np.nanquantile(errors, INSIDE_LEVEL, axis=0)
    is_between = (known > np.nanmin(known, axis=0)) & (known < np.nanmax(known, axis=0))
    over = np.nan_to_num(errors / np.where((limits > 0) & is_between.any(axis=0), limits, np.inf))
    times, worst = over.max(axis=1), over.argmax(axis=1)
    found = []
    for i in np.flatnonzero((times > _WRONG_OUTPUT) & rows.without(rows.keep)):
        values = f"{known[i, worst[i]]:.4g}, predicted {guess[i, worst[i]]:.4g}"
        reason = f"{names[worst[i]]} == {values}: {times[i]:.2g} times the limit of errors"
        found.append(rows.tell(i, "y", times[i], reason))
    return found


def told_rows(unusual: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows that stand out in X, and the first of those that do in y."""
    in_x, in_y = ([each for each in unusual if each["part"] == part] for part in "Xy")
    return in_x + in_y[:_MOST_IN_SENTENCE]


def tell_unusual(domain: Domain, scores: tuple[float, float] | None) -> str:
    """Return sentences that name rows of the fit; scores are those without these rows and with them."""
    told = []
    if domain.share_far > _MOST_ASIDE:
        share = f"{100 * domain.share_far:.0f} % of the training rows"
        told.append(f"{share} lie far from the others: they may be two kinds of samples.")
    in_x, in_y = (_listed(domain.unusual, part) for part in "Xy")
    if in_x:
        told.append(f"Training rows that stand out in X: {in_x}.")
        told.append("The domain leaves them out, the model does not.")
    if in_y:
        told.append(f"Training rows whose outputs stand out: {in_y}.")
    if scores is not None:
        names = [each["name"] for each in told_rows(domain.unusual)]
        # A command calls all rows by names, if need be by their numbers from 1.
        is_named = isinstance(names[0], str)
        dashes, listed = ("--", f" {','.join(map(str, names))}") if is_named else ("", f"={names}")
        exclude = f"{dashes}exclude{listed if len(names) <= _MOST_LISTED_ROWS else ''}"
        told.append(
            f"Without them ({exclude}) the score is {scores[0]:.3f} in place of {scores[1]:.3f}; "
            f"{dashes}keep takes rows back into the domain."
        )
    text = " ".join(told)
    return text[:1].lower() + text[1:]


def _listed(unusual: Sequence[dict[str, Any]], part: str) -> str:
    """Each row of a part with its reason, those that lie together as one."""
    items = []
    for each in unusual:
        group = [other for other in unusual if other["group"] == each["group"] >= 0]
        if each["part"] == part and not group:
            items.append(f"row {each['name']} ({each['reason']})")
        elif each["part"] == part and group[0] is each:
            names = [str(other["name"]) for other in sorted(group, key=lambda other: other["row"])]
            listed = _first(names, _MOST_LISTED_ROWS, ", ")
            items.append(f"{len(group)} rows lie together: {listed} ({each['reason']})")
    return _first(items, _MOST_IN_SENTENCE, "; ")


def _first(items: list[str], most: int, comma: str) -> str:
    """The first items of a list, and how many more there are."""
    more = [f"and {len(items) - most} more"] if len(items) > most else []
    return comma.join(items[:most] + more)
