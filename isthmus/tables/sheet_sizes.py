"""What a spreadsheet unpacks to, counted before the library that builds all of its cells sees it.

A cell far out, a repeated row or a compressed part make gigabytes of a file of 2 kB. Sizes that a file
states may lie, so its cells are looked at one by one, in bounded memory. What is handed on is a copy of
the parts that were looked at: no other reader can take it for something else.
"""

from __future__ import annotations

import re
import struct
import zipfile
from collections.abc import Callable, Iterator
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
_MOST_KEPT = 1 << 22  # bytes of a row that waits for its end


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
        is_possible = rows <= _MOST_ROWS and columns <= _MOST_COLUMNS
        size = rows * columns * cell if is_possible else self.left + 1
        self.take(size, f"a sheet of {rows:,} rows and {columns:,} columns")


def look_through(source: Source) -> Any:
    """Return the file of a spreadsheet as it may be read; one that is damaged raises anything."""
    file = source.seekable()
    budget = _Budget(source.path, file.seek(0, 2))
    file.seek(0)
    if file.read(2) == b"PK":
        packed, file = file, source.spool()
        _copy_parts(packed, file, budget)
    else:
        file.seek(0)
        _count_xls(file.read(), budget)
    file.seek(0)
    return file


# -- .xlsx and .ods ------------------------------------------------------------------------------------


def _copy_parts(file: Any, copy: Any, budget: _Budget) -> None:
    lengths: list[int] = []  # of shared texts
    with zipfile.ZipFile(file) as archive, zipfile.ZipFile(copy, "w") as out:
        # Of names that some program takes for one only the last is copied.
        parts = {part.filename.replace("\\", "/").lower(): part for part in archive.infolist()}
        if any(name.endswith("workbook.bin") for name in parts):
            raise TableError(f"{budget.path} is an .xlsb workbook: save it as .xlsx.")
        # The lengths of shared texts are needed where they are used.
        for name in sorted(parts, key=lambda name: name != "xl/sharedstrings.xml"):
            with archive.open(parts[name]) as packed:
                if name == "mimetype":  # of .ods
                    out.writestr(name, packed.read(99).replace(b"<", b""))
                elif name.endswith((".xml", ".rels")):
                    part = _Part(budget, lengths)
                    with out.open(parts[name].filename, "w", force_zip64=True) as to:
                        for data in _pieces(packed):
                            budget.take(len(data), f"its part {name}")
                            part.parser.Parse(data, False)
                            to.write(data)
                    part.parser.Parse(b"", True)
                    part.end_sheet()


def _pieces(packed: Any) -> Iterator[bytes]:
    """Yield a part, up to the end of a row each time, with marks where cells would come as empty texts."""
    kept = b""
    while data := packed.read(1 << 18):
        rows, end, kept = (kept + data).rpartition(b"row>")
        if len(kept) > _MOST_KEPT:
            rows, end, kept = kept, b"", b""
        data = rows + end
        for hint, pattern, text in _MARKS:
            if hint in data:  # patterns take much longer
                data = pattern.sub(text, data)
        yield data
    yield kept


# Errors, and formulas that no program has computed: as texts they are told as marks of missing values. A
# pattern never goes beyond the tags of a cell, so that its time is linear.
_MARKS = [
    (hint, re.compile(pattern), text)
    for hint, pattern, text in (
        (b't="e"', rb'(<(?:\w+:)?c\b[^<>]*\st=)"e"', rb'\1"str"'),
        (
            b"f",
            rb"(<((?:\w+:)?)c\b(?![^<>]*\st=)[^<>]*>\s*<\2f\b(?:[^<>]*/>|[^<>]*>[^<]*</\2f>))"
            rb"(?:\s*<\2v\s*/>|\s*<\2v>\s*</\2v>)?\s*(?=</\2c>)",
            rb"\1<\2v>formula without a value</\2v>",
        ),
        (b"formula=", rb' office:string-value=""', b""),
        (
            b"formula=",
            rb"(<table:table-cell(?![^<>]*\soffice:value-type=)(?=[^<>]*\stable:formula=)[^<>]*)/>",
            rb'\1 office:value-type="string"><text:p>formula without a value</text:p></table:table-cell>',
        ),
    )
]


@lru_cache(maxsize=_MOST_COLUMNS)
def _column(letters: str) -> int:
    if not letters.isalpha() or len(letters) > 8:
        raise ValueError(f"a cell in column {letters[:20]}")
    column = 0
    for letter in letters.upper():
        column = 26 * column + ord(letter) - 64
    return column


_ODS = {"table", "table-row", "table-cell"}


class _Part:
    """The elements of one part: the last row and column with a value, and texts in several cells."""

    def __init__(self, budget: _Budget, lengths: list[int]) -> None:
        # The reader of cells takes all parts for UTF-8, whatever they say, and knows no entities.
        self.parser = expat.ParserCreate("utf-8")
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self._budget, self._lengths = budget, lengths
        self._on: dict[str, Callable[[dict[str, str]], None]] = {
            "si": self._shared_text, "row": self._line, "c": self._cell, "v": self._value,
            "is": self._value, "table-row": self._ods_line, "table-cell": self._ods_cell,
            "p": self._value, "s": self._spaces,
        }  # fmt: skip
        self._number = ""  # of a shared text
        self._begin()

    def _begin(self) -> None:
        self._row = self._column = self._bottom = self._right = 0
        self._place = 0, 0
        self._rows = self._times = 1  # that an element of .ods stands for
        self._open: set[str] = set()
        self._hear: Callable[[str], None] | None = None  # the text of a cell, where it matters

    def end_sheet(self) -> None:
        """Count the cells up to here."""
        self._end_cell()
        self._budget.take_box(self._bottom, self._right, _CELL)
        self._begin()

    def _refuse(self, *_: Any) -> None:
        raise ValueError("document type")

    def _start(self, tag: str, given: dict[str, str]) -> None:
        if ":" in tag:  # name spaces are called as the writer likes
            tag = tag.rpartition(":")[2].removeprefix("covered-")
        if tag in _ODS:  # readers differ on one in another
            if tag in self._open:
                raise ValueError(f"a {tag} in a {tag}")
            self._open.add(tag)
        if tag in self._on:
            self._on[tag](given)

    def _end(self, tag: str) -> None:
        if self._open:
            tag = tag.rpartition(":")[2].removeprefix("covered-")
            self._open.discard(tag)
            if tag == "table":
                self.end_sheet()

    def _shared_text(self, _: dict[str, str]) -> None:
        self._lengths.append(0)
        self.parser.CharacterDataHandler = self._measure

    def _measure(self, text: str) -> None:
        self._lengths[-1] += len(text)

    def _line(self, given: dict[str, str]) -> None:
        self._end_cell()
        self._row, self._column = int(given.get("r", self._row + self._rows)), 0

    def _cell(self, given: dict[str, str]) -> None:
        self._end_cell()
        if ref := given.get("r"):
            letters = ref.rstrip("0123456789")
            self._column = _column(letters)
            self._place = int(ref[len(letters) :]), self._column
        else:  # it stands next to the one before
            self._column += 1
            self._place = self._row, self._column
        self._hear = self._add_digits if given.get("t") == "s" else None

    def _value(self, _: dict[str, str]) -> None:
        row, column = self._place
        if row > self._bottom:
            self._bottom = row
        if column > self._right:
            self._right = column
        self.parser.CharacterDataHandler = self._hear

    def _add_digits(self, text: str) -> None:
        self._number += text

    def _end_cell(self) -> None:
        self.parser.CharacterDataHandler = None
        if number := self._number.strip():
            self._budget.take(self._lengths[int(number)], "a text in many cells")
        self._number = ""

    def _ods_line(self, given: dict[str, str]) -> None:
        self._rows = max(1, int(given.get("table:number-rows-repeated", 1)))
        self._line({})

    def _ods_cell(self, given: dict[str, str]) -> None:
        self._end_cell()
        repeated = max(1, int(given.get("table:number-columns-repeated", 1)))
        self._column += repeated
        self._place, self._times = (self._row, self._column), repeated * self._rows
        self._hear = self._repeat
        if "office:value-type" in given:
            self._value(given)
            self._repeat(given.get("office:string-value", ""))

    def _repeat(self, text: str) -> None:
        self._budget.take(len(text) * self._times, "a text in many cells")

    def _spaces(self, given: dict[str, str]) -> None:
        self._budget.take(int(given.get("text:c", 1)) * self._times, "spaces")


# -- .xls ----------------------------------------------------------------------------------------------

_FREE = 0xFFFFFFF0  # numbers of sectors from here on end a chain
_END, _SHEET, _SEVERAL = 0x0A, 0x85, 0xBD  # kinds of records; cells of a row in one
_CELLS = {
    _SEVERAL, 0x02, 0x03, 0x04, 0x05, 0x06, 0xD6, 0xFD, 0x203, 0x204, 0x205, 0x206, 0x27E, 0x406,
}  # fmt: skip


def _count_xls(data: bytes, budget: _Budget) -> None:
    """Count the cells of the sheets that the first records of a workbook point to."""
    for stream in _streams(data):
        sheets = [record for kind, record in _records(stream, 0) if kind == _SHEET]
        for sheet in sheets:
            bottom = right = 0
            for kind, record in _records(stream, int.from_bytes(sheet[:4], "little")):
                budget.take(len(record), "its sheets")
                if kind in _CELLS:
                    row, column = struct.unpack_from("<HH", record)
                    several = (len(record) - 6) // 6 if kind == _SEVERAL else 1
                    bottom, right = max(bottom, row + 1), max(right, column + several)
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
