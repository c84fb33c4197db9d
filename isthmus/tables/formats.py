"""The formats of tables behind one face: names, first rows, then blocks of columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from isthmus.tables.cells import number, read_column
from isthmus.tables.encoding import LABELS, Lines, is_text
from isthmus.tables.engines import is_regular, parse
from isthmus.tables.errors import TableError, shorten
from isthmus.tables.layout import SAMPLE, SEPARATORS, find_layout, split_rows
from isthmus.tables.sources import Source

_FEW = 10  # lines of a first block that are too few to decide on
ROWS = 8192  # of a block, where rows and not bytes are counted


@dataclass
class Block:
    """Some rows: arrays of numbers or lists of texts, one per column, and where they stand."""

    columns: list[Any]
    lines: NDArray | range

    @property
    def n_rows(self) -> int:
        return len(self.lines)


class Format(Protocol):
    """A table whose first rows are known and whose rows can be read once."""

    path: str
    place: str  # what its rows are counted in: line, row
    has_names: bool
    names: list[str]
    sample: list[Any]  # one array of numbers or list of texts per column
    facts: dict[str, str]  # what was decided about the file
    notes: list[str]
    extra: dict[str, NDArray]

    def blocks(self, texts: frozenset[int]) -> Iterator[Block]:
        """Yield all rows; the columns in ``texts`` as lists of texts, others as numbers."""
        ...


class TextFile:
    """CSV and its relatives."""

    place = "line"

    def __init__(self, source: Source, header: bool | None, known: Sequence[str] = ()) -> None:
        self.path = source.path
        self._lines = Lines(source)
        self._blocks = self._lines.blocks()
        first = next(self._blocks, None)
        if first is None:
            raise TableError(f"{self.path} has no rows.")
        self._first, line = first
        if not is_text(self._first):
            raise TableError(f"{self.path} is not a text file, nor of any other known format.")
        self._second = next(self._blocks, None)
        while self._second is not None and self._first.count(b"\n") < _FEW:
            # A quote that is left open, or very long lines.
            self._first += self._second[0]
            self._second = next(self._blocks, None)
        text = self._first.decode("utf-8", "surrogatepass")
        layout = find_layout(self.path, text, line, header, self._second is None, known)
        self._layout = layout
        self.has_names, self.names = layout.has_header, layout.names
        self.sample = [[c.strip() for c in cells] for cells in zip(*layout.sample)]
        self.notes = layout.notes
        self.extra: dict[str, NDArray] = {}
        self.facts = {
            "format": "text" if source.packed is None else f"text, {source.packed}",
            "encoding": LABELS[self._lines.encoding],
            "separator": SEPARATORS.get(layout.separator, repr(layout.separator)),
            "decimal mark": "comma" if layout.decimal == "," else "point",
            "header": _describe_header(layout),
            "units": "none" if layout.units is None else _describe_units(layout),
        }

    def blocks(self, texts: frozenset[int]) -> Iterator[Block]:
        """Yield all rows."""
        skip = self._layout.body_line - 1
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
        layout = self._layout
        if layout.separator != " " and is_regular(block, layout.width, layout.separator):
            columns = parse(block, layout.width, layout.separator, layout.decimal, texts)
            if columns is not None:
                yield Block(columns, range(line, line + len(columns[0])))
                return
        text = block.decode("utf-8", "surrogatepass")
        rows, lines = split_rows(self.path, text, layout.separator, line)
        if rows:
            yield self._slow(rows, lines, texts)

    def _slow(self, rows: list[list[str]], lines: list[int], texts: frozenset[int]) -> Block:
        layout = self._layout
        for cells, line in zip(rows, lines):
            if len(cells) != layout.width:
                raise TableError(
                    f"{self.path}, line {line}: {len(cells)} cells, the first line has {layout.width}."
                )
        return Block(
            cell_columns(self, list(zip(*rows)), lines, texts, layout.decimal), np.array(lines)
        )


def _describe_header(layout: Any) -> str:
    if not layout.has_header:
        return "none; columns are x1, x2, ..."
    numeric = all(name.replace(".", "", 1).lstrip("+-").isdigit() for name in layout.names if name)
    return "numbers, such as wavelengths" if numeric else "names"


def _describe_units(layout: Any) -> str:
    units = [u for u in layout.units if u]
    return (
        "a line of units is skipped: " + ", ".join(units[:6]) + (" ..." if len(units) > 6 else "")
    )


def cell_columns(
    table: Any, columns: list[Any], lines: Any, texts: frozenset[int], decimal: str
) -> list[Any]:
    """Texts of cells to columns; a text where a number is expected is refused with its place."""
    done: list[Any] = []
    for k, cells in enumerate(columns):
        if k in texts:
            done.append([cell.strip() for cell in cells])
            continue
        if isinstance(cells, np.ndarray):  # numbers already
            done.append(cells)
            continue
        values, bad = read_column(cells, partial(number, decimal=decimal))
        if bad is not None:
            raise refuse_text(table, table.names[k], int(lines[bad]), cells[bad].strip())
        done.append(values)
    return done


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


class Cells:
    """Rows of texts from a spreadsheet."""

    place = "row"

    def __init__(self, source: Source, header: bool | None, known: Sequence[str] = ()) -> None:
        from isthmus.tables.sheets import sheet_layout, sheet_rows

        self.path = source.path
        self._source = source
        self._rows, sheet = sheet_rows(source)
        self._layout, self._head, self._head_lines = sheet_layout(
            self.path, self._rows, header, known
        )
        layout = self._layout
        self.has_names, self.names = layout.has_header, layout.names
        self.sample = [[c.strip() for c in cells] for cells in zip(*layout.sample)]
        self.notes = layout.notes
        self.extra: dict[str, NDArray] = {}
        self.facts = {
            "format": "spreadsheet",
            "sheet": sheet,
            "header": _describe_header(layout),
            "units": "none" if layout.units is None else _describe_units(layout),
        }

    def blocks(self, texts: frozenset[int]) -> Iterator[Block]:
        """Yield all rows."""
        start = next(k for k, line in enumerate(self._head_lines) if line >= self._layout.body_line)
        rows = self._head[start:]
        lines = self._head_lines[start:]
        done = 0
        for line, cells in self._rows:
            if any(cell.strip() for cell in cells):
                rows.append(self._fit_to_width(line, cells))
                lines.append(line)
            if len(rows) >= ROWS:
                done += len(rows)
                self._source.tell_rows(done, None)
                yield self._block(rows, lines, texts)
                rows, lines = [], []
        if rows:
            yield self._block(rows, lines, texts)

    def _fit_to_width(self, line: int, cells: list[str]) -> list[str]:
        width = self._layout.width
        if any(cell.strip() for cell in cells[width:]):
            raise TableError(
                f"{self.path}, row {line}: more than the {width} cells of the first rows."
            )
        return (cells + [""] * width)[:width]

    def _block(self, rows: list[list[str]], lines: list[int], texts: frozenset[int]) -> Block:
        columns = cell_columns(self, list(zip(*rows)), lines, texts, self._layout.decimal)
        return Block(columns, np.array(lines))


@dataclass
class Arrays:
    """An array of numbers without names, .npy or .npz."""

    path: str
    values: NDArray
    extra: dict[str, NDArray] = field(default_factory=dict)
    kind: str = "npy"
    place = "row"
    has_names = False

    def __post_init__(self) -> None:
        self.names = [f"x{k + 1}" for k in range(self.values.shape[1])]
        self.sample = list(np.asarray(self.values[:SAMPLE], dtype=np.float64).T)
        self.notes: list[str] = []
        self.facts = {"format": self.kind, "header": "none; columns are x1, x2, ..."}

    def blocks(self, texts: frozenset[int]) -> Iterator[Block]:
        """Yield all rows."""
        # Blocks of at most 4 MB, whatever the number of columns.
        step = max(1, min(ROWS, (1 << 22) // (8 * self.values.shape[1])))
        for start in range(0, len(self.values), step):
            block = np.asarray(self.values[start : start + step], dtype=np.float64)
            columns: list[Any] = list(block.T)
            for k in texts:
                # 17 digits bring back the same number.
                columns[k] = [f"{value:.17g}" for value in columns[k]]
            yield Block(columns, range(start + 1, start + 1 + len(block)))
