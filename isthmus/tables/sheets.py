"""Spreadsheets, .xlsx, .xls and .ods, by python-calamine: rows of texts."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from isthmus.tables.errors import TableError, need, some
from isthmus.tables.formats import ROWS, Block, Laid
from isthmus.tables.layout import SAMPLE, Layout, find_header
from isthmus.tables.sheet_sizes import look_through
from isthmus.tables.sources import Source


class Sheet(Laid):
    """Rows of texts from a spreadsheet."""

    def __init__(self, source: Source, header: bool | None, known: Sequence[str]) -> None:
        self._source = source
        self._rows, sheet = _open(source)
        layout, self._head = _find_layout(source.path, self._rows, header, known)
        super().__init__(source.path, layout, {"format": "spreadsheet", "sheet": sheet})

    def blocks(self, texts: frozenset[int]) -> Iterator[Block]:
        """Yield all rows."""
        body = [row for row in self._head if row[0] >= self.layout.body_line]
        filled = (row for row in self._rows if any(cell.strip() for cell in row[1]))
        done = 0
        for line, cells in filled:
            body.append((line, self._fit_to_width(line, cells)))
            if len(body) >= ROWS:
                done += len(body)
                self._source.tell_rows(done, None)
                yield self._block(body, texts)
                body = []
        if body:
            yield self._block(body, texts)

    def _fit_to_width(self, line: int, cells: list[str]) -> list[str]:
        width = self.layout.width
        if any(cell.strip() for cell in cells[width:]):
            raise TableError(
                f"{self.path}, row {line}: more than the {width} cells of the first rows."
            )
        return (cells + [""] * width)[:width]

    def _block(self, body: list[tuple[int, list[str]]], texts: frozenset[int]) -> Block:
        lines, rows = zip(*body)
        return self.block(zip(*rows), np.array(lines), texts)


def _open(source: Source) -> tuple[Iterator[tuple[int, list[str]]], str]:
    """Open a spreadsheet: its rows with their numbers, and the name of the sheet."""
    try:
        import python_calamine as calamine
    except ImportError as error:
        raise need("python-calamine", "spreadsheets", "tables") from error
    try:
        book = calamine.CalamineWorkbook.from_filelike(look_through(source))
        sheets = [book.get_sheet_by_name(name) for name in book.sheet_names]
    except BaseException as error:  # one class a format, and panics for damaged ones
        if isinstance(error, TableError | KeyboardInterrupt | SystemExit | MemoryError):
            raise
        raise TableError(f"{source.path} is not a spreadsheet that can be read.") from error
    filled = [sheet for sheet in sheets if sheet.total_height]
    if not filled:
        raise TableError(f"{source.path} has no rows.")
    chosen, told = filled[0], filled[0].name
    if len(filled) > 1:
        others = [sheet.name for sheet in filled[1:]]
        told = f"{chosen.name}, the first; not read: {some(others, 3)}"
    return _rows(chosen), told


def _rows(sheet: Any) -> Iterator[tuple[int, list[str]]]:
    for k, cells in enumerate(sheet.iter_rows()):
        yield k + 1, [cell_text(cell) for cell in cells]


def cell_text(cell: Any) -> str:
    """A cell as a text file would have it."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        if cell.is_integer() and abs(cell) < 1e15:
            return repr(int(cell))
        return repr(cell)
    if isinstance(cell, datetime.datetime):
        if cell.time() == datetime.time():
            return cell.date().isoformat()
        return cell.isoformat(" ")
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat()
    return str(cell)


def _find_layout(
    path: str, rows: Iterator[tuple[int, list[str]]], header: bool | None, known: Sequence[str]
) -> tuple[Layout, list[tuple[int, list[str]]]]:
    """Decide on header and units; return the rows that were read for it too."""
    taken = [
        (line, cells)
        for line, cells in islice(rows, SAMPLE + 2)
        if any(cell.strip() for cell in cells)
    ]
    if not taken:
        raise TableError(f"{path} has no rows.")
    # Titles above the table: lines with one cell where the table has several.
    filled = [[k for k, cell in enumerate(cells) if cell.strip()] for _, cells in taken]
    width = max(places[-1] + 1 for places in filled)
    skipped = 0
    while width > 1 and skipped < len(taken) - 2 and len(filled[skipped]) == 1:
        skipped += 1
    taken = taken[skipped:]
    layout = Layout(width=width)
    if skipped:
        layout.notes.append("title rows at the top are skipped")
    head = [(cells + [""] * width)[:width] for _, cells in taken]
    lines = [line for line, _ in taken]
    find_header(path, layout, head, lines, header, None, known)
    return layout, list(zip(lines, head))
