"""The formats of tables behind one face: names, first rows, then blocks of columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.tables.cells import is_missing, number, read_column
from isthmus.tables.encoding import LABELS, Lines, is_text
from isthmus.tables.engines import is_regular, parse
from isthmus.tables.errors import TableError, shorten
from isthmus.tables.layout import SEPARATORS, Layout, check_widths, find_layout, split_rows
from isthmus.tables.sources import Source

_FEW_LINES = 10  # lines of a first block that are too few to decide on
ROWS = 8192  # of a block, where rows and not bytes are counted


@dataclass
class Block:
    """Some rows: arrays of numbers or lists of texts, one per column, and where they stand."""

    columns: list[Any]
    lines: NDArray | range

    @property
    def n_rows(self) -> int:
        return len(self.lines)


class Format(ABC):
    """A table whose first rows are known and whose rows can be read once.

    Attributes
    ----------
    names, has_names : list of str, bool
        Names of the columns, and whether the file has them.
    sample : list
        The first rows: one array of numbers or list of texts per column.
    facts, notes : dict of str to str, list of str
        What was decided about the file.
    extra : dict of str to ndarray
        The arrays of an archive.
    """

    place = "row"  # what its rows are counted in
    decimal = "."

    def __init__(
        self, path: str, names: list[str], sample: list[Any], facts: dict[str, str], has_names: bool
    ) -> None:
        self.path = path
        self.names, self.has_names = names, has_names
        self.sample = sample
        self.facts = facts
        self.notes: list[str] = []
        self.extra: dict[str, NDArray] = {}
        # What stood for missing values: how often, and where first.
        self.marks: dict[str, list[Any]] = {}

    def note_marks(self, name: str, missing: NDArray, cells: Sequence[str], lines: Any) -> None:
        """Count what stands in the cells without a value, unless they are empty."""
        for i in np.flatnonzero(missing).tolist():
            if (mark := cells[i].strip()) and is_missing(mark):
                count, *first = self.marks.get(mark, [0, name, int(lines[i])])
                self.marks[mark] = [count + 1, *first]

    @abstractmethod
    def blocks(self, texts: frozenset[int]) -> Iterator[Block]:
        """Yield all rows; the columns in ``texts`` as lists of texts, others as numbers."""

    def block(self, columns: Iterable[Any], lines: Any, texts: frozenset[int]) -> Block:
        """Texts of cells to columns; a text where a number is expected is refused with its place."""
        done: list[Any] = []
        for k, cells in enumerate(columns):
            if k in texts:
                done.append([cell.strip() for cell in cells])
            elif isinstance(cells, np.ndarray):  # numbers already
                done.append(cells)
            else:
                parse_cell = partial(number, decimal=self.decimal)
                done.append(self.read(self.names[k], cells, lines, parse_cell))
        return Block(done, lines)

    def read(
        self, name: str, cells: Sequence[str], lines: Any, parse_cell: Callable[[str], float | None]
    ) -> NDArray:
        """Texts of a column to numbers; what stands for a missing value is counted."""
        values, bad = read_column(cells, parse_cell)
        if bad is not None:
            raise refuse_text(self, name, int(lines[bad]), cells[bad].strip())
        self.note_marks(name, np.isnan(values), cells, lines)
        return values


class Laid(Format):
    """Rows of texts, whose layout was found from the first of them."""

    def __init__(self, path: str, layout: Layout, facts: dict[str, str]) -> None:
        sample = [[cell.strip() for cell in cells] for cells in zip(*layout.sample)]
        facts |= {"header": _describe_header(layout), "units": _describe_units(layout)}
        super().__init__(path, layout.names, sample, facts, layout.has_header)
        self.notes = layout.notes
        self.decimal = layout.decimal
        self.layout = layout


class TextFile(Laid):
    """CSV and its relatives."""

    place = "line"

    def __init__(self, source: Source, header: bool | None, known: Sequence[str] = ()) -> None:
        lines = Lines(source)
        self._blocks = lines.blocks()
        first = next(self._blocks, None)
        if first is None:
            raise TableError(f"{source.path} has no rows.")
        self._first, line = first
        if not is_text(self._first):
            raise TableError(f"{source.path} is not a text file, nor of any other known format.")
        self._second = next(self._blocks, None)
        while self._second is not None and self._first.count(b"\n") < _FEW_LINES:
            # A quote that is left open, or very long lines.
            self._first += self._second[0]
            self._second = next(self._blocks, None)
        text = self._first.decode("utf-8", "surrogatepass")
        layout = find_layout(source.path, text, line, header, self._second is None, known)
        facts = {
            "format": "text" if source.packed is None else f"text, {source.packed}",
            "encoding": LABELS[lines.encoding],
            "separator": SEPARATORS.get(layout.separator, repr(layout.separator)),
            "decimal mark": "comma" if layout.decimal == "," else "point",
        }
        super().__init__(source.path, layout, facts)

    def blocks(self, texts: frozenset[int]) -> Iterator[Block]:
        """Yield all rows."""
        skip = self.layout.body_line - 1
        pieces = self._first.split(b"\n", skip)
        body = pieces[-1] if len(pieces) > skip else b""
        # The block may be megabytes, and is not needed again.
        self._first = b""
        if body:
            yield from self._parse(body, skip + 1, texts)
        if self._second is not None:
            second, self._second = self._second, None
            yield from self._parse(*second, texts)
            for block, line in self._blocks:
                yield from self._parse(block, line, texts)

    def _parse(self, block: bytes, line: int, texts: frozenset[int]) -> Iterator[Block]:
        layout = self.layout
        if layout.separator != " " and is_regular(block, layout.width, layout.separator):
            columns = parse(block, layout.width, layout.separator, layout.decimal, texts)
            if columns is not None:
                places = range(line, line + len(columns[0]))
                self._find_marks(block, columns, places, texts)
                yield Block(columns, places)
                return
        text = block.decode("utf-8", "surrogatepass")
        rows, lines = split_rows(self.path, text, layout.separator, line)
        if rows:
            check_widths(self.path, rows, lines, layout.width)
            yield self.block(zip(*rows), np.array(lines), texts)

    def _find_marks(
        self, block: bytes, columns: list[Any], lines: range, texts: frozenset[int]
    ) -> None:
        """Count the marks of a block that an engine has read: it does not tell them."""
        gaps = {k: np.isnan(cells) for k, cells in enumerate(columns) if k not in texts}
        gaps = {k: missing for k, missing in gaps.items() if missing.any()}
        layout = self.layout
        known = texts.union(gaps)
        if gaps and (read := parse(block, layout.width, layout.separator, layout.decimal, known)):
            for k, missing in gaps.items():
                self.note_marks(self.names[k], missing, read[k], lines)


def _describe_header(layout: Layout) -> str:
    if not layout.has_header:
        return "none; columns are x1, x2, ..."
    numeric = all(name.replace(".", "", 1).lstrip("+-").isdigit() for name in layout.names if name)
    return "numbers, such as wavelengths" if numeric else "names"


def _describe_units(layout: Layout) -> str:
    if layout.units is None:
        return "none"
    units = [u for u in layout.units if u]
    return (
        "a line of units is skipped: " + ", ".join(units[:6]) + (" ..." if len(units) > 6 else "")
    )


def refuse_text(table: Any, name: str, line: int, cell: str) -> TableError:
    """Say where a column of numbers has a text, and what can be done."""
    hint = ""
    # 1,234 is one number to some and two to others: it is named, not guessed.
    if "," in cell and cell.replace(",", "").replace(".", "").strip("+-").isdigit():
        hint = " Marks between thousands are not read."
    return TableError(
        f"{table.path}: column {name!r} has text in {table.place} {line}, {shorten(cell)}; correct it, "
        f"leave the column out with --ignore-columns, or say what it is with --types.{hint}"
    )
