"""A whole table in memory, filled block by block into arrays that grow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.tables.errors import TableError, some
from isthmus.tables.kinds import Column, row_numbers
from isthmus.tables.reader import TableReader


class Growing:
    """Rows of numbers that are appended; memory is enlarged in place where the system can."""

    def __init__(self, width: int) -> None:
        self._values = np.empty((1024, width))
        self.n_rows = 0

    def append(self, rows: NDArray) -> None:
        """Add rows at the end."""
        needed = self.n_rows + len(rows)
        if needed > len(self._values):
            self._resize(max(needed, len(self._values) + len(self._values) // 4))
        self._values[self.n_rows : needed] = rows
        self.n_rows = needed

    def _resize(self, n_rows: int) -> None:
        # No copy of the whole is made: the system moves pages, not numbers.
        self._values.resize((n_rows, self._values.shape[1]), refcheck=False)

    def finish(self) -> NDArray:
        """All rows; nothing may be appended any more."""
        self._resize(self.n_rows)
        return self._values


@dataclass
class Table:
    """Columns of numbers with their names, and the names of the rows.

    Attributes
    ----------
    path : str
        Where it was read.
    columns : list of Column
        One per column of ``values``.
    values : ndarray of shape (n_rows, n_columns)
        NaN is a missing value; categories are codes, see ``levels``.
    has_names : bool
        Whether the file has names of columns; otherwise they are x1, x2, ...
    ids, id_name : list of str or None, str or None
        Names of the rows and of their column.
    """

    path: str
    columns: list[Column]
    values: NDArray
    has_names: bool
    ids: list[str] | None = None
    id_name: str | None = None
    lines: list[Any] = field(default_factory=list)  # of each block
    aside: dict[int, NDArray] = field(default_factory=dict)  # by place, columns that may name rows

    def line(self, row: int) -> int:
        """Where a row stands in the file, as the user counts."""
        for block in self.lines:
            if row < len(block):
                return int(block[row])
            row -= len(block)
        return row + 1

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    @property
    def n_rows(self) -> int:
        return len(self.values)


def read_groups(
    reader: TableReader, groups: Sequence[list[Column]], aside: Sequence[Column] = ()
) -> list[Table]:
    """Read a table once into several arrays, one per group of columns.

    A column that was taken for row numbers by the first rows and does not number the others is an input
    after all: it is added to the first group. Columns of numbers may be kept ``aside`` as well.
    """
    doubtful = [c for c in reader.columns if c.kind == "index" and not c.is_asked]
    wanted = [column for group in groups for column in group]
    doubtful = [c for c in doubtful if c not in wanted]
    more = [*doubtful, *(column for column in aside if column not in doubtful)]
    arrays = [Growing(len(group)) for group in [*groups, more]]
    ids: list[str] | None = None if reader.id_column is None else []
    lines = []
    for rows in reader.rows([*wanted, *more]):
        lines.append(rows.lines)
        start = 0
        for array, group in zip(arrays, [*groups, more]):
            array.append(rows.values[:, start : start + len(group)])
            start += len(group)
        if ids is not None:
            ids += rows.ids or []
    values = [array.finish() for array in arrays]
    if not len(values[0]):
        raise TableError(f"{reader.path} has no rows.")
    first = list(groups[0])
    for k, column in enumerate(doubtful):
        if row_numbers(column.name, values[-1][:, k], column.place == 0) is None:
            column.kind, column.why = "number", ""
            at = sum(other.place < column.place for other in first)
            first.insert(at, column)
            values[0] = np.insert(values[0], at, values[-1][:, k], axis=1)
    name = None if reader.id_column is None else reader.id_column.name
    kept = {column.place: values[-1][:, k] for k, column in enumerate(more)}
    return [
        Table(reader.path, group, array, reader.has_names, ids, name, lines, kept)
        for group, array in zip([first, *groups[1:]], values)
    ]


def read_table(given: str, **options: Any) -> Table:
    """Read all columns of numbers of a file; options are those of :class:`TableReader`."""
    with TableReader(given, **options) as reader:
        return read_groups(reader, [reader.data_columns])[0]


def constant_columns(table: Table) -> list[str]:
    """Names of columns that never vary."""
    if table.n_rows < 2:
        return []
    values = table.values
    first = values[0]
    # The last row settles most columns at once.
    return [
        name
        for k, name in enumerate(table.names)
        if first[k] == values[-1, k] and (values[:, k] == first[k]).all()
    ]


_FAR = 10  # ranges of the other values
_FEW_VALUES = 10  # counts and codes of fewer values may lie anywhere


def stand_ins(table: Table) -> dict[float, dict[str, int]]:
    """Numbers that may stand for missing values: the columns of each, and in how many cells.

    Such a number is whole, the smallest or the largest of its column, and ten times as far from the others
    as they are apart; -99, -999 and their like are known, so less will do. Where one row is far in several
    columns by different numbers, it is the row that is unusual, and nothing is said of its columns.
    """
    found: dict[float, dict[str, int]] = {}
    values_of_row: defaultdict[int, set[float]] = defaultdict(set)
    for k, column in enumerate(table.columns):
        values = table.values[:, k]
        known = values[~np.isnan(values)]
        ends = {float(known.min()), float(known.max())} if len(known) else set()
        for value in ends if column.kind == "number" else ():
            if _is_far(value, known[known != value]):
                rows = np.flatnonzero(values == value).tolist()
                found.setdefault(value, {})[column.name] = len(rows)
                for row in rows:
                    values_of_row[row].add(value)
    of_rows = set().union(*(values for values in values_of_row.values() if len(values) > 1))
    return {
        value: cells for value, cells in found.items()
        if sum(cells.values()) > 1 or value not in of_rows or _is_nines(value)
    }  # fmt: skip


def _is_far(value: float, others: NDArray) -> bool:
    if not value.is_integer() or len(others) < 2:
        return False
    low, high = float(others.min()), float(others.max())
    gap, spread = max(low - value, value - high), high - low
    if _is_nines(value):
        return 0 < spread < gap or value < 0 <= low < high
    return 0 < _FAR * spread < gap and len(np.unique(others)) > _FEW_VALUES


def _is_nines(value: float) -> bool:
    digits = f"{abs(value):.15g}"
    return len(digits) > 1 and set(digits) == {"9"}


_MOST_PAIRS = 100  # of equal columns that are looked for


def duplicated_columns(table: Table) -> list[tuple[str, str]]:
    """Pairs of columns with the same values, the later one first; the first hundred."""
    names, values = table.names, table.values
    groups: dict[bytes, list[int]] = {}
    for k, column in enumerate(np.ascontiguousarray(values[:100].T)):
        groups.setdefault(column.tobytes(), []).append(k)
    pairs: list[tuple[str, str]] = []
    for first, *others in groups.values():
        for k in others:
            if len(pairs) == _MOST_PAIRS:
                return pairs
            if np.array_equal(values[:, k], values[:, first], equal_nan=True):
                pairs.append((names[k], names[first]))
    return pairs


def describe(table: Table) -> dict[str, str]:
    """What is worth telling of each column of numbers, by name."""
    told: dict[str, str] = {}
    for name in constant_columns(table):
        told[name] = "constant"
    for name, other in duplicated_columns(table):
        told.setdefault(name, f"the same as {some([other])}")
    for k, name in enumerate(table.names):
        missing = int(np.isnan(table.values[:, k]).sum())
        if missing:
            told[name] = "; ".join(filter(None, [told.get(name, ""), f"{missing} missing"]))
    return told
