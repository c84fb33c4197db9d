"""One reader for every table: open, decide, then blocks of rows or the whole."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.tables.arrays import Arrays
from isthmus.tables.cells import day, is_missing, truth
from isthmus.tables.errors import TableError, plural, some
from isthmus.tables.formats import Block, Format, TextFile
from isthmus.tables.frames import Frame
from isthmus.tables.kinds import Column, decide, place_of
from isthmus.tables.sheets import Sheet
from isthmus.tables.sources import Progress, Source

_LARGEST_CELL = 1e100  # sums of squares beyond it overflow
_MOST_MARKS = 8  # of missing values that are told


def split_key(given: str) -> tuple[str, str | None]:
    """``name.npz:array`` is one array of an archive."""
    path, colon, key = given.rpartition(":")
    if colon and path.lower().endswith(".npz"):
        return (path, key)
    return (given, None)


@dataclass
class Rows:
    """Some rows of a table after all decisions."""

    values: NDArray  # (rows, columns of numbers)
    ids: list[str] | None
    lines: Any


class TableReader:
    """A table that is open: what was decided about it, and its rows once.

    Parameters
    ----------
    given : str
        A file, ``name.npz:array``, or "-" for standard input.
    header : bool or None, default=None
        Whether there is a header; None finds out.
    id_column : str or None, default=None
        The column with the names of the rows; None finds out.
    types : mapping of str to str, default=None
        Kinds of columns, of ``KINDS``.
    ignore : sequence of str, default=()
        Columns to leave out; those that are not there are not missed.
    categories : bool or mapping of str to list of str, default=False
        Whether categories are read as codes; a mapping gives the levels that a model knows.
    numeric : sequence of str, default=()
        Columns that are numbers whatever they look like.
    likely_id : str or None, default=None
        The column with the names of the rows if there is one of that name.
    key : str, default="X"
        The array of an archive that is meant if none is named.
    progress : callable of (label, done, total), default=None
        Called with the progress of reading.

    Attributes
    ----------
    columns : list of Column
        What was decided about each column.
    facts : dict of str to str
        What was decided about the file.
    levels : dict of str to list of str
        Categories in the order of their codes, as far as read.
    """

    def __init__(
        self,
        given: str,
        *,
        header: bool | None = None,
        id_column: str | None = None,
        types: Mapping[str, str] | None = None,
        ignore: Sequence[str] = (),
        categories: bool | Mapping[str, Sequence[str]] = False,
        numeric: Sequence[str] = (),
        likely_id: str | None = None,
        key: str = "X",
        progress: Progress | None = None,
    ) -> None:
        path, inner = split_key(given)
        self._source = Source(path, progress)
        try:
            self._format = _open_format(self._source, header, inner, key, numeric)
            self.path = self._format.path
            self.place, self.facts = self._format.place, self._format.facts
            self.has_names = self._format.has_names
            self.extra = self._format.extra
            self.notes = list(self._format.notes)
            names = self._settle_names()
            self.columns = decide(
                self.path, names, self._format.sample, has_names=self.has_names,
                decimal=self._format.decimal,
                types=types, id_column=id_column, ignore=tuple(ignore), numeric=tuple(numeric),
                likely_id=likely_id,
            )  # fmt: skip
        except BaseException:
            self._source.close()
            raise
        self.categories = categories
        self.levels: dict[str, list[str]] = {}
        if not isinstance(categories, bool):
            self.levels = {name: list(levels) for name, levels in categories.items()}
        self._codes = {n: {v: k for k, v in enumerate(vs)} for n, vs in self.levels.items()}
        self.unknown: Counter[str] = Counter()  # categories that a model does not know

    def _settle_names(self) -> list[str]:
        """A name for each column, none twice."""
        names = self._format.names
        if self.has_names:
            blank = [k for k, name in enumerate(names) if not name]
            empty = [k for k in blank if all(is_missing(str(c)) for c in self._format.sample[k])]
            for k in blank:
                if k == 0 or k in empty:  # how frames with an index are written; a comma too many
                    names[k] = "Unnamed: 0" if k == 0 else f"(empty {k + 1})"
                else:
                    raise TableError(f"{self.path}: column {k + 1} has no name in the header.")
        repeated = [name for name, count in Counter(names).items() if count > 1]
        if repeated:
            raise TableError(f"{self.path} has several columns of one name: {some(repeated)}.")
        return names

    def __enter__(self) -> TableReader:
        return self

    def __exit__(self, *_: object) -> None:
        self._source.close()

    def columns_of(self, names: Sequence[str]) -> list[Column]:
        """The columns of these names, or numbers from 1 where there are no names."""
        every = [c.name for c in self.columns]
        return [self.columns[place_of(self.path, n, every, self.has_names)] for n in names]

    def sentences(self) -> list[str]:
        """What was decided that a user may not expect."""
        told = []
        if self.facts.get("encoding", "UTF-8") != "UTF-8":
            told.append(f"{self.path} is read as {self.facts['encoding']}.")
        if self.facts.get("decimal mark") == "comma":
            told.append(f"{self.path}: commas are decimal marks.")
        if self.facts.get("units", "none") != "none":
            told.append(f"{self.path}: {self.facts['units']}.")
        told += [f"{self.path}: {note}." for note in self.notes]
        for column in self.columns:
            if column.is_asked:
                continue
            if column.kind == "id":
                told.append(f"{self.path}: the column {column.name!r} is taken as row names.")
            elif column.kind == "index":
                told.append(
                    f"{self.path}: the column {column.name!r} is left out: {column.why} "
                    f"(--types {column.name!r}=number keeps it)."
                )
        return told

    @property
    def id_column(self) -> Column | None:
        """The column with the names of the rows."""
        return next((c for c in self.columns if c.kind == "id"), None)

    @property
    def data_columns(self) -> list[Column]:
        """The columns that may be inputs or outputs."""
        return [
            c for c in self.columns if c.kind not in ("id", "index", "ignore") and not _is_void(c)
        ]

    def rows(self, wanted: Sequence[Column]) -> Iterator[Rows]:
        """Yield all rows in blocks, with these columns as numbers and in this order."""
        for column in wanted:
            self._check_kind(column)
        id_column = self.id_column
        texts = {c.place for c in self.columns if not c.is_number and c.kind != "index"}
        # What is not wanted may hold anything.
        texts |= {c.place for c in self.columns} - {c.place for c in wanted}
        for block in self._format.blocks(frozenset(texts)):
            values = np.empty((block.n_rows, len(wanted)))
            for j, column in enumerate(wanted):
                values[:, j] = self._numbers(column, block)
            self._check_finite(values, wanted, block)
            ids = None if id_column is None else block.columns[id_column.place]
            yield Rows(values, ids, block.lines)
        if marks := self._format.marks:
            told = [
                f"{mark!r} in {plural(count, 'cell')}, first in column {name!r}, {self.place} {line}"
                for mark, (count, name, line) in list(marks.items())[:_MOST_MARKS]
            ]
            more = " ..." if len(marks) > _MOST_MARKS else ""
            self.notes.append("read as missing: " + "; ".join(told) + more)

    def _check_kind(self, column: Column) -> None:
        takes_categories = column.name in self.levels  # those that a model knows
        if isinstance(self.categories, bool):
            takes_categories = self.categories or column.is_asked
        if (
            column.is_number
            or column.kind in ("boolean", "index")
            or (column.kind == "category" and takes_categories)
            or (column.kind == "date" and column.is_asked)
        ):
            return
        row = ""
        if column.kind == "text" and self.place == "row":
            cells = self._format.sample[column.place]
            k = next((k for k, cell in enumerate(cells) if not is_missing(cell)), 0)
            row = f" in row {k + 1}"
        raise column.refuse(self.path, row)

    def _numbers(self, column: Column, block: Block) -> NDArray:
        cells = block.columns[column.place]
        if column.kind in ("number", "empty", "index"):
            return cells
        if column.kind == "category":
            codes = self._encode(column.name, cells)
            self._format.note_marks(column.name, codes < 0, cells, block.lines)
            return codes
        parse_cell = truth if column.kind == "boolean" else day
        return self._format.read(column.name, cells, block.lines, parse_cell)

    def _encode(self, name: str, cells: list[str]) -> NDArray:
        codes = self._codes.setdefault(name, {})
        is_fixed = not isinstance(self.categories, bool)
        values = np.empty(len(cells))
        for i, cell in enumerate(cells):
            code = -1 if is_missing(cell) else codes.get(cell)
            if code is None and is_fixed:
                self.unknown[f"{name} = {cell}"] += 1
                code = -1
            elif code is None:
                code = codes[cell] = len(codes)
                self.levels.setdefault(name, []).append(cell)
            values[i] = code
        return values

    def _check_finite(self, values: NDArray, wanted: Sequence[Column], block: Block) -> None:
        bad = np.abs(values) > _LARGEST_CELL
        if bad.any():
            i, j = np.argwhere(bad)[0]
            what = "is infinite" if np.isinf(values[i, j]) else f"holds {values[i, j]:g}"
            raise TableError(
                f"{self.path}: column {wanted[j].name!r} {what} in {self.place} "
                f"{block.lines[int(i)]}; correct the cell, or leave the row out."
            )


def _is_void(column: Column) -> bool:
    """A comma too many at the end of every line."""
    return column.kind == "empty" and bool(re.fullmatch(r"\(empty \d+\)|Unnamed: 0", column.name))


def _open_format(
    source: Source, header: bool | None, inner: str | None, key: str, known: Sequence[str]
) -> Format:
    if source.format == "text":
        return TextFile(source, header, known)
    if source.format == "sheet":
        return Sheet(source, header, known)
    if source.format in ("npy", "npz"):
        return Arrays(source, inner, key)
    return Frame(source)
