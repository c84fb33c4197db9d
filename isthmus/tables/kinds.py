"""What each column is: numbers, row names, truth values, dates, categories or other text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.tables.cells import TRUTH, is_almost_number, is_date, is_missing, number
from isthmus.tables.errors import TableError, shorten, some
from isthmus.tables.layout import ID_NAMES
from isthmus.tables.names import find, find_all, missing_column

KINDS = ("number", "id", "boolean", "date", "category", "ignore")
_MOST_LEVELS = 50  # distinct texts of a column that is still one of categories
_INDEX_NAME = re.compile(r"(unnamed: ?\d+(\.\d+)?|level_\d+|index(\.\d+)?|__index_level_\d+__)?")


@dataclass
class Column:
    """A column and what was decided about it.

    Attributes
    ----------
    name, place : str, int
        Its name and where it stands, from 0.
    kind : str
        One of ``KINDS``, or "index" (row numbers), "text", "empty".
    why : str
        The reason, for the user.
    is_asked : bool
        Whether the user said what it is.
    """

    name: str
    place: int
    kind: str
    why: str = ""
    is_asked: bool = False

    @property
    def is_number(self) -> bool:
        """Whether its cells are read as numbers."""
        return self.kind in ("number", "empty")

    def refuse(self, path: str, row: str = "") -> TableError:
        """The line for a column that is needed as numbers and is none."""
        what = {
            "category": "holds categories",
            "date": "holds dates",
            "boolean": "holds truth values",
        }.get(self.kind, "has text")
        help_ = {
            "category": "encode it with --categories, leave it out with --ignore-columns",
            "date": f"read it as days with --types {self.name}=date, leave it out with --ignore-columns",
        }.get(self.kind, "leave it out with --ignore-columns")
        return TableError(
            f"{path}: column {self.name!r} {what}{row}, {self.why}; {help_}, or take it as row names "
            f"with --id {self.name}."
        )


def decide(
    path: str,
    names: list[str],
    sample: list[Any],
    *,
    has_names: bool,
    decimal: str = ".",
    types: Mapping[str, str] | None = None,
    id_column: str | None = None,
    ignore: tuple[str, ...] = (),
    numeric: tuple[str, ...] = (),
    likely_id: str | None = None,
) -> list[Column]:
    """Decide on every column from the first rows; what the user said comes first.

    ``numeric`` are columns that are known to be numbers and never row names; ``likely_id`` is the
    column of row names if the table has it.
    """
    asked: dict[int, str] = {}
    for name, kind in (types or {}).items():
        with suppress(TableError):  # another table may have it
            asked[place_of(path, name, names, has_names)] = kind
    for name in ignore:
        k = find(name, names)
        if k is not None:
            asked[k] = "ignore"
    if id_column is not None:
        asked[place_of(path, id_column, names, has_names)] = "id"
    elif likely_id is not None and (k := find(likely_id, names)) is not None:
        asked.setdefault(k, "id")
    known = set(find_all(numeric, names))
    columns = []
    for k, (name, cells) in enumerate(zip(names, sample)):
        if k in asked:
            columns.append(Column(name, k, asked[k], "set by an option", True))
        elif k in known:
            kind, _ = _guess(cells, decimal)
            kind = kind if kind in ("boolean", "date", "category") else "number"
            columns.append(Column(name, k, kind, "asked for by name", True))
        else:
            kind, why = _guess(cells, decimal)
            columns.append(Column(name, k, kind, why))
    _guess_rows(columns, sample, decimal)
    return columns


def place_of(path: str, name: str, names: list[str], has_names: bool) -> int:
    """The column that a name means, or a number from 1 where there are no names."""
    k = find(name, names)
    if k is not None:
        return k
    if has_names:
        raise missing_column(path, name, names)
    try:
        k = int(name)
    except ValueError:
        k = 0
    if not 1 <= abs(k) <= len(names):
        raise TableError(
            f"{path} has no column {name!r}: it has no header, so columns are numbered 1 to {len(names)}."
        )
    return k - 1 if k > 0 else k + len(names)


def _guess(cells: Any, decimal: str) -> tuple[str, str]:
    """A kind and its reason from the cells alone."""
    if isinstance(cells, np.ndarray):
        if np.isnan(cells).all():
            return ("empty", "no value in the first rows")
        return ("number", "")
    filled = [cell for cell in cells if not is_missing(cell)]
    if not filled:
        return "empty", "no value in the first rows"
    texts = [cell for cell in filled if number(cell, decimal) is None]
    if texts and all(cell.lower() in TRUTH or cell in ("0", "1") for cell in filled):
        return "boolean", f"{some(sorted({c for c in filled}), 4)}"
    if len(texts) < 0.5 * len(filled):
        return "number", ""  # a text among them is an error, told with its line
    if sum(map(is_date, filled)) > 0.5 * len(filled):
        return "date", f"such as {shorten(next(c for c in filled if is_date(c)))}"
    if all(map(is_almost_number, texts)):
        return "number", ""  # 1,234 and 5 % are refused with their line, not taken as words
    levels = Counter(filled)
    if len(levels) <= min(_MOST_LEVELS, max(2, len(filled) // 2)):
        more = ", ..." if len(levels) > 4 else ""
        return "category", f"{len(levels)} of them: {some(sorted(levels)[:4])}{more}"
    return "text", f"such as {shorten(texts[0])}"


def _guess_rows(columns: list[Column], sample: list[Any], decimal: str) -> None:
    """Find the names or numbers of the rows."""
    if sum(column.kind != "ignore" for column in columns) < 2:
        return
    has_id = any(column.kind == "id" for column in columns)
    n_before = 0  # columns that only number the rows, or are left out
    for column in columns:
        if column.is_asked:
            continue
        cells = sample[column.place]
        simple = column.name.strip().lower()
        while n_before < column.place and columns[n_before].kind in ("index", "ignore"):
            n_before += 1
        is_first = n_before == column.place
        if column.kind in ("text", "category", "date") and not has_id:
            is_named = is_identifier(simple)
            has_numbers = any(number(c, decimal) is not None for c in cells)
            if (is_first or is_named) and len(set(cells)) == len(cells) and not has_numbers:
                column.kind, column.why = "id", "unique texts"
                has_id = True
        elif column.kind == "number" and (is_first or is_identifier(simple)):
            values = cells if isinstance(cells, np.ndarray) else _floats(cells, decimal)
            found = row_numbers(column.name, values, is_first)
            if found is not None:
                kind, column.why = found
                column.kind = "index" if has_id else kind
                has_id = has_id or kind == "id"


def _floats(cells: list[str], decimal: str) -> NDArray:
    values = [number(cell, decimal) for cell in cells]
    return np.array([np.nan if v is None else v for v in values])


def is_identifier(name: str) -> bool:
    """Whether a name is that of an index or an identifier."""
    simple = name.strip().lower()
    is_id = simple in ID_NAMES or simple.endswith((" id", "_id"))
    return is_id or bool(_INDEX_NAME.fullmatch(simple))


def row_numbers(name: str, values: NDArray, is_first: bool) -> tuple[str, str] | None:
    """Whether a column of numbers only numbers the rows ("index") or names them ("id").

    Consecutive whole numbers count the rows, in the first column or under a name that says so; whole
    numbers that never repeat do where the name is that of an index or an identifier.
    """
    if len(values) < 5 or not np.isfinite(values).all() or (np.mod(values, 1) != 0).any():
        return None
    simple = name.strip().lower()
    is_index = bool(_INDEX_NAME.fullmatch(simple))
    is_named = is_identifier(simple)
    if (np.diff(values) == 1).all() and (is_named or (is_first and values[0] in (0, 1))):
        return "index", f"numbers the rows, {values[0]:.0f}, {values[1]:.0f}, {values[2]:.0f}, ..."
    if is_named and len(np.unique(values)) == len(values):
        kind = "index" if is_index else "id"
        return kind, "unique whole numbers under the name of an identifier"
    return None
