"""What a spreadsheet unpacks to, counted before the library that builds all of its cells sees it.

A cell far out, a repeated row or a compressed part make gigabytes of a file of 2 kB. Sizes that a file
states may lie, so its cells are looked at one by one, in bounded memory. What is handed on is a copy of
the parts that were looked at: no other reader can take it for something else.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from xml.parsers import expat

import numpy as np

from isthmus.tables.errors import TableError
from isthmus.tables.sources import Source

_ROOM = 1 << 28  # bytes that any spreadsheet may unpack to
_TIMES = 200  # as many times its own length may be added; tables of numbers take less than 100
_CELL, _XLS_CELL = 32, 64  # bytes of a cell: python-calamine holds those of .xls twice
_MOST_ROWS, _MOST_COLUMNS = 1 << 20, 1 << 14  # of any spreadsheet program
_MARK = 200  # bytes of a mark that is kept
_TEXTS = "xl/sharedstrings.xml"
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, expat.ExpatError, EOFError, OSError, RuntimeError, ValueError,
    LookupError, struct.error,
)  # fmt: skip

Marks = dict[tuple[int, int], str]
"""Row and column, from 1, of cells that hold no value but a mark: an error, a formula alone."""


class _Budget:
    """Bytes that are left of what a file may take."""

    def __init__(self, path: str, length: int) -> None:
        self.path = path
        self.most = self.left = _ROOM + _TIMES * length

    def take(self, count: int, what: str) -> None:
        self.left -= count
        if self.left < 0:
            raise TableError(
                f"{self.path} unpacks to more than {self.most >> 20} MB ({what}): delete what stands "
                "outside of the table, or save it as CSV or Parquet."
            )

    def take_box(self, rows: int, columns: int, cell: int) -> None:
        """Count a sheet, whose cells are a rectangle in memory."""
        size = (
            self.left + 1 if rows > _MOST_ROWS or columns > _MOST_COLUMNS else rows * columns * cell
        )
        self.take(size, f"a sheet of {rows:,} rows and {columns:,} columns")


def look_through(source: Source) -> tuple[Any, dict[str, Marks]]:
    """Return the file of a spreadsheet as it may be read, and the marks in each of its sheets."""
    file = source.seekable()
    budget = _Budget(source.path, file.seek(0, 2))
    file.seek(0)
    try:
        if file.read(2) == b"PK":
            file, marks = _copy_parts(file, source.spool(), budget)
        else:
            file.seek(0)
            marks = {}
            _count_xls(file.read(), budget)
    except _DAMAGE as error:
        if isinstance(error, TableError):
            raise
        raise TableError(f"{source.path} is not a spreadsheet that can be read.") from error
    file.seek(0)
    return file, marks


# -- .xlsx and .ods ------------------------------------------------------------------------------------


def _copy_parts(file: Any, copy: Any, budget: _Budget) -> tuple[Any, dict[str, Marks]]:
    book = _Book()
    with zipfile.ZipFile(file) as archive, zipfile.ZipFile(copy, "w") as out:
        parts = {info.filename: info for info in archive.infolist()}
        if any(name.lower().endswith("workbook.bin") for name in parts):
            raise TableError(f"{budget.path} is an .xlsb workbook: save it as .xlsx.")
        # The lengths of shared texts are needed where they are used.
        for name in sorted(parts, key=lambda name: name.lower() != _TEXTS):
            with archive.open(parts[name]) as packed:
                if name == "mimetype":  # of .ods
                    out.writestr(name, packed.read(99).replace(b"<", b""))
                elif name.lower().endswith((".xml", ".rels")):
                    part = _Part(name, book, budget)
                    with out.open(name, "w", force_zip64=True) as to:
                        while data := packed.read(1 << 18):
                            budget.take(len(data), f"its part {name}")
                            part.parser.Parse(data, False)
                            to.write(data)
                    part.parser.Parse(b"", True)
                    part.end_sheet(name)
    return copy, book.marks_by_sheet()


@dataclass
class _Book:
    """What the parts of a workbook say about each other."""

    text_lengths: list[int] = field(default_factory=list)
    sheets: dict[str, str] = field(default_factory=dict)  # of .xlsx: the relation of each name
    targets: dict[str, str] = field(default_factory=dict)
    marks: dict[str, Marks] = field(default_factory=dict)  # by part, or by sheet of .ods

    def marks_by_sheet(self) -> dict[str, Marks]:
        by_end = {name.rpartition("/")[2]: marks for name, marks in self.marks.items()}
        ends = {
            name: self.targets.get(rel, "").rpartition("/")[2] for name, rel in self.sheets.items()
        }
        return {name: by_end.get(end, {}) for name, end in ends.items()} or self.marks


@lru_cache(maxsize=_MOST_COLUMNS)
def _column(letters: str) -> int:
    if not letters.isalpha() or len(letters) > 8:
        raise ValueError(f"a cell in column {letters[:20]}")
    column = 0
    for letter in letters.upper():
        column = 26 * column + ord(letter) - 64
    return column


class _Part:
    """The elements of one part: the last row and column with a value, texts, and marks."""

    def __init__(self, name: str, book: _Book, budget: _Budget) -> None:
        # The reader of cells takes all parts for UTF-8, whatever they say, and knows no entities.
        self.parser = expat.ParserCreate("utf-8")
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.parser.StartElementHandler = self._start
        if name.lower() == _TEXTS:
            self.parser.StartElementHandler = self._start_text
            self.parser.CharacterDataHandler = self._measure
        self._book, self._budget = book, budget
        self._sheet: str | None = None  # of .ods
        self._reset()

    def _reset(self) -> None:
        self._row = self._column = self._bottom = self._right = 0
        self._marks: Marks = {}
        self._ref = ""
        self._kind: str | None = None
        self._heard: list[str] | None = None  # what the cell holds, where that matters
        self._is_formula = False
        self._times = self._rows = 1  # that an element of .ods stands for

    def end_sheet(self, name: str) -> None:
        """Count the cells up to here."""
        self._end_cell()
        self._budget.take_box(self._bottom, self._right, _CELL)
        self._book.marks[name] = self._marks
        self._reset()

    def _refuse(self, *_: Any) -> None:
        raise ValueError("document type")

    def _start_text(self, tag: str, _: dict[str, str]) -> None:
        if tag.rpartition(":")[2] == "si":
            self._book.text_lengths.append(0)

    def _measure(self, text: str) -> None:
        if self._book.text_lengths:
            self._book.text_lengths[-1] += len(text)

    def _start(self, tag: str, given: dict[str, str]) -> None:
        if ":" in tag:  # name spaces are called as the writer likes
            tag = tag.rpartition(":")[2]
        if tag == "c":
            if self._heard is not None or self._is_formula:
                self._end_cell()
            ref = given.get("r", "")
            if not ref:  # it stands next to the one before
                self._column = self._place()[1] + 1
            self._ref, self._kind = ref, given.get("t")
        elif tag == "v" or tag == "is":
            self._fill(*self._place())
            if self._kind in ("s", "e") or self._is_formula:
                self._listen()
        elif tag == "row":
            self._end_cell()
            self._ref, self._row, self._column = "", int(given.get("r", self._row + 1)), 0
        elif tag == "f":
            self._is_formula = True
        elif tag == "sheet":
            self._book.sheets[given.get("name", "")] = given.get("r:id", "")
        elif tag == "Relationship":
            self._book.targets[given.get("Id", "")] = given.get("Target", "")
        elif tag == "table" or self._sheet is not None:
            self._start_ods(tag, given)

    def _start_ods(self, tag: str, given: dict[str, str]) -> None:
        if tag in ("table-cell", "covered-table-cell"):
            self._end_cell()
            repeated = max(1, int(given.get("table:number-columns-repeated", 1)))
            self._column += repeated
            self._times = repeated * self._rows
            kind, text = given.get("office:value-type"), given.get("office:string-value")
            is_formula = "table:formula" in given
            self._kind = "e" if is_formula and text == "" else None
            if kind is not None or is_formula:
                self._fill(self._row, self._column)
            self._is_formula = is_formula and (kind is None or text == "")
            if self._is_formula or (self._times > 1 and kind in (None, "string")):
                self._budget.take(len(text or "") * self._times, "a text in many cells")
                self._listen()
        elif tag == "table-row":
            self._end_cell()
            self._rows = max(1, int(given.get("table:number-rows-repeated", 1)))
            self._row, self._column = self._row + self._rows, 0
        elif tag == "p":
            self._fill(self._row, self._column)
        elif tag == "s":
            self._budget.take(int(given.get("text:c", 1)) * self._times, "spaces")
        elif tag == "table":
            if self._sheet is not None:
                raise ValueError("a table in a table")
            self._sheet = given.get("table:name", "")
            self.parser.EndElementHandler = self._end

    def _end(self, tag: str) -> None:
        if self._sheet is not None and tag.rpartition(":")[2] == "table":
            self.end_sheet(self._sheet)
            self._sheet = None

    def _place(self) -> tuple[int, int]:
        """Row and column of the cell, B7 or the next one, from 1."""
        if not self._ref:
            return self._row, self._column
        letters = self._ref.rstrip("0123456789")
        return int(self._ref[len(letters) :]), _column(letters)

    def _fill(self, row: int, column: int) -> None:
        if row > self._bottom:
            self._bottom = row
        if column > self._right:
            self._right = column

    def _listen(self) -> None:
        self._heard = []
        self.parser.CharacterDataHandler = self._heard.append

    def _end_cell(self) -> None:
        if self._heard is None and not self._is_formula:
            return
        text = "".join(self._heard or ()).strip()
        self.parser.CharacterDataHandler = None
        size = len(text) * (self._times - 1)
        if self._kind == "s" and text:
            size = self._book.text_lengths[int(text)]
        elif self._kind == "e" or (self._is_formula and not text):
            size += _MARK
            self._marks[self._place()] = text or "formula without a value"
        self._budget.take(size, "a text in many cells")
        self._heard, self._is_formula = None, False


# -- .xls ----------------------------------------------------------------------------------------------

_FREE = 0xFFFFFFF0  # numbers of sectors from here on end a chain
_CELLS = {0x02, 0x03, 0x04, 0x05, 0x06, 0xD6, 0xFD, 0x203, 0x204, 0x205, 0x206, 0x27E, 0x406}
_END, _SHEET, _CELLS_OF_A_ROW = 0x0A, 0x85, 0xBD


def _count_xls(data: bytes, budget: _Budget) -> None:
    """Count the cells of the sheets that the first records of a workbook point to."""
    for stream in _streams(data):
        for place in [
            int.from_bytes(r[:4], "little") for k, r in _records(stream, 0) if k == _SHEET
        ]:
            bottom = right = 0
            for kind, record in _records(stream, place):
                budget.take(len(record), "its sheets")
                if kind in _CELLS or kind == _CELLS_OF_A_ROW:
                    row, column = struct.unpack_from("<HH", record)
                    column += (len(record) - 6) // 6 if kind == _CELLS_OF_A_ROW else 1
                    bottom, right = max(bottom, row + 1), max(right, column)
            budget.take_box(bottom, right, _XLS_CELL)


def _records(stream: bytes, place: int) -> Iterator[tuple[int, bytes]]:
    """Yield kind and content of the records up to the next end."""
    while place + 4 <= len(stream):
        kind, length = struct.unpack_from("<HH", stream, place)
        if kind == _END:
            return
        yield kind, stream[place + 4 : place + 4 + length]
        place += 4 + length


def _streams(data: bytes) -> Iterator[bytes]:
    """Yield the workbooks of a compound file."""
    size = 1 << min(data[30], 12)
    first, *_, more, n_more = struct.unpack_from("<7I", data, 48)

    def sector(k: int) -> bytes:
        return data[(k + 1) * size : (k + 2) * size]

    def chain(k: int) -> bytes:
        parts: list[bytes] = []
        while k < _FREE and len(parts) <= len(data) // size:
            parts.append(sector(k))
            k = int(after[k])
        return b"".join(parts)

    table = list(struct.unpack_from("<109I", data, 76))
    for _ in range(min(n_more, len(data) // size)):
        *found, more = struct.unpack(f"<{size // 4}I", sector(more))
        table += found
    after = np.frombuffer(b"".join(sector(k) for k in table if k < _FREE), "<u4")
    directory = chain(first)
    for place in range(0, len(directory), 128):
        name = directory[place : place + 64].decode("utf-16-le", "replace").partition("\0")[0]
        if name in ("Workbook", "Book"):
            start, length = struct.unpack_from("<II", directory, place + 116)
            if length < 4096:  # kept elsewhere; no program writes so short a workbook
                raise ValueError("a short stream")
            yield chain(start)[:length]
