"""Training rows to look at: those that stand out in X, and those whose outputs have large errors."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
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
_ROW = "row "


def find_in_x(domain: Domain, rows: NDArray, times: Array, X: Array) -> list[dict[str, Any]]:
    """Rows that stand out in X, the farthest first: how far, why, and with which others."""
    Z = domain.before_model(X)
    names, ratios, _ = domain._ratios(X, Z, None)
    plane = domain.parts["plane"]
    groups = _together(np.clip(plane.standardise(Z), -1e100, 1e100))
    found = []
    for i in np.argsort(-times, kind="stable"):
        far = float(min(times[i], np.finfo(float).max))
        reason = tell_reason(domain, worst_statistic(names, ratios[i])[0], far, X[i], Z[i], None)
        row = {"row": int(rows[i]), "part": "X", "times": far, "reason": reason}
        found.append({**row, "group": int(groups[i])})
    return found


def _together(P: Array) -> NDArray:
    """A number for rows that lie nearer to each other than half way to the middle; -1 for others."""
    size = np.linalg.norm(P, axis=1)
    near = cdist(P, P) < np.minimum.outer(size, size) / 2
    labels = connected_components(near, directed=False)[1]
    return np.where(np.bincount(labels)[labels] >= _FEWEST_TOGETHER, labels, -1)


def find_in_y(
    rows: NDArray, errors: Array, known: Array, guess: Array, names: Sequence[str] | None
) -> list[dict[str, Any]]:
    """Rows with errors far beyond those of others left out, as scaled for intervals; the largest first."""
    limits = np.nanquantile(errors, INSIDE_LEVEL, axis=0)
    is_between = (known > np.nanmin(known, axis=0)) & (known < np.nanmax(known, axis=0))
    over = np.nan_to_num(errors / np.where((limits > 0) & is_between.any(axis=0), limits, np.inf))
    found = []
    for i in np.argsort(-over.max(axis=1), kind="stable"):
        j = int(over[i].argmax())
        if over[i, j] <= _WRONG_OUTPUT:
            break
        name = f"y{j}" if names is None else names[j]
        values = f"{name} == {known[i, j]:.4g}, predicted {guess[i, j]:.4g}"
        reason = f"{values}: {over[i, j]:.2g} times the limit of errors"
        row = {"row": int(rows[i]), "part": "y", "times": float(over[i, j]), "reason": reason}
        found.append({**row, "group": -1})
    return found


def told_rows(unusual: Sequence[dict[str, Any]]) -> list[int]:
    """Rows that stand out in X, and the first of those that do in y."""
    parts = [[each["row"] for each in unusual if each["part"] == part] for part in "Xy"]
    return [*parts[0], *parts[1][:_MOST_IN_SENTENCE]]


def tell_unusual(
    domain: Domain, names: Sequence[str] | None = None, scores: tuple[float, float] | None = None
) -> str:
    """Return sentences that name rows of the fit; scores are those without these rows and with them."""
    told = []
    if domain.share_far > _MOST_ASIDE:
        told.append(
            f"{100 * domain.share_far:.0f} % of the training rows lie far from the others: they may be "
            "two kinds of samples."
        )
    for part, what in (("X", "that stand out in X"), ("y", "whose outputs stand out")):
        items = _items([each for each in domain.unusual if each["part"] == part], names)
        if items:
            more = (
                f"; and {len(items) - _MOST_IN_SENTENCE} more"
                if len(items) > _MOST_IN_SENTENCE
                else ""
            )
            told.append(f"Training rows {what}: {'; '.join(items[:_MOST_IN_SENTENCE])}{more}.")
            if part == "X":
                told.append("The domain leaves them out, the model does not.")
    if domain.unusual and scores is not None:
        exclude, keep = _options(told_rows(domain.unusual), names)
        told.append(
            f"Without them ({exclude}) the score is {scores[0]:.3f} in place of {scores[1]:.3f}; "
            f"{keep} takes rows back into the domain."
        )
    text = " ".join(told)
    return text[:1].lower() + text[1:]


def _options(rows: list[int], names: Sequence[str] | None) -> tuple[str, str]:
    """How to leave rows out and to keep some: in Python, or in a command, where rows have names."""
    if len(rows) > _MOST_LISTED_ROWS:
        return "exclude", "keep"
    if names is None:
        return f"exclude={rows}", "keep"
    listed = ",".join(row_label(row, names).removeprefix(_ROW) for row in rows)
    return f"--exclude {listed}", "--keep"


def _items(unusual: list[dict[str, Any]], names: Sequence[str] | None) -> list[str]:
    items = []
    for each in unusual:
        group = [other["row"] for other in unusual if other["group"] == each["group"] >= 0]
        if not group:
            items.append(f"{row_label(each['row'], names)} ({each['reason']})")
        elif group[0] == each["row"]:
            labels = [row_label(row, names).removeprefix(_ROW) for row in sorted(group)]
            listed = ", ".join(labels[:_MOST_LISTED_ROWS])
            more = ", ..." if len(group) > _MOST_LISTED_ROWS else ""
            items.append(f"{len(group)} rows lie together: {listed}{more} ({each['reason']})")
    return items


def row_label(row: int, names: Sequence[str] | None) -> str:
    """What a row is called."""
    return f"{_ROW}{row}" if names is None else _ROW + str(names[row]).removeprefix(_ROW)


def resolve_rows(asked: Any, names: Sequence[str] | None, n: int, option: str) -> NDArray:
    """Numbers of rows that are given by their numbers or, as texts, by their names."""
    places = {str(name).removeprefix(_ROW): i for i, name in enumerate(names or ())}
    rows = []
    for each in [] if asked is None else asked:
        # A truth value of a mask, or 7.5, is no number of a row.
        is_number = isinstance(each, Integral) and not isinstance(each, bool)
        row = int(each) if is_number else places.get(str(each).removeprefix(_ROW), -1)
        if not 0 <= row < n:
            raise ValueError(f"{option}: there is no row {each!r} among the {n} rows of X.")
        rows.append(row)
    return np.unique(np.array(rows, dtype=np.intp))
