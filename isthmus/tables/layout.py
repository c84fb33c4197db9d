"""How a text table is laid out: separator, decimal mark, header, units; from its first rows."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from isthmus.tables.cells import has_thousands, is_date, is_missing, number, uses_decimal_comma
from isthmus.tables.errors import TableError
from isthmus.tables.names import simplify

SAMPLE = 1000  # rows that the layout and the kinds of columns are decided on
_CELLS = 200_000  # fewer rows of wide tables, lest the decisions take longer than the reading
# Python's default of 128 kB is too short for a cell that holds a spectrum.
LONGEST_CELL = 1 << 24
SEPARATORS = {"\t": "tab", ";": "semicolon", "|": "bar", ",": "comma", " ": "spaces"}
ID_NAMES = frozenset(
    (
        "", "id", "ids", "index", "idx", "sample", "samples", "sample id", "sample_id", "sampleid", "name",
        "row", "rows", "row id", "rowid", "row_id", "rowname", "rownames", "row names", "key", "uid",
        "uuid", "guid", "no", "no.", "nr", "nr.", "#", "record", "obs", "observation", "case", "subject",
        "patient", "barcode", "serial", "serial number",
    )
)  # fmt: skip
_UNITS = re.compile(
    r"[\[(].{0,20}[\])]|%|‰|°|°?[CFK]|(?:[kmcµμnpMG]?(?:m|g|s|l|L|A|V|W|J|N|Pa|Hz|mol|eV|bar|M))(?:[\^²³]?-?\d)?"
    r"(?:\s?[/*· ]\s?[kmcµμn]?(?:m|g|s|l|L|A|mol|min|h|kg)(?:[\^²³]?-?\d)?)*|ppm|ppb|min|h|d|rpm|a\.?u\.?|"
    r"cm-1|1/cm|nm|pH|kcal|mmHg|units?|deg|rad|wt\.?%|w/w|mg/dl|counts?"
)


@dataclass
class Layout:
    """What was decided about a text table."""

    separator: str = ""
    decimal: str = "."
    has_header: bool = False
    names: list[str] = field(default_factory=list)
    units: list[str] | None = None
    skipped: int = 0  # lines before the header
    body_line: int = 1  # the first line of data
    width: int = 0
    sample: list[list[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def split_rows(
    path: str, text: str, separator: str, first_line: int, most: int | None = None
) -> tuple[list[list[str]], list[int]]:
    """Split text into rows of cells, without blank lines; each with its line number."""
    rows: list[list[str]] = []
    lines: list[int] = []
    for line, cells in _records(path, text, separator, first_line):
        if cells and not (len(cells) == 1 and not cells[0].strip()):
            rows.append(cells)
            lines.append(line)
            if len(rows) == most:
                break
    return rows, lines


def _records(path: str, text: str, separator: str, line: int) -> Iterator[tuple[int, list[str]]]:
    # The csv module would see an empty cell between each two of several spaces.
    if separator == " ":
        yield from enumerate(map(str.split, text.split("\n")), line)
        return
    csv.field_size_limit(LONGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline="\n"), delimiter=separator, strict=True)
    first = line
    try:
        for cells in reader:
            yield line, cells
            line = first + reader.line_num
    except csv.Error as error:
        raise TableError(f"{path}, line {line}: {_plain(error)}.") from error


def _plain(error: csv.Error) -> str:
    """What the reader of the standard library means."""
    text = str(error)
    if "unexpected end of data" in text:
        return "a quote is opened and not closed"
    if "expected after" in text:
        return "text follows a closing quote; quotes inside a cell must be doubled"
    if "field larger" in text:
        return f"a cell is longer than {LONGEST_CELL >> 20} MB"
    return text


def find_layout(
    path: str,
    text: str,
    first_line: int,
    header: bool | None,
    is_whole: bool,
    known: Sequence[str] = (),
) -> Layout:
    """Decide on the layout of a text from its first block."""
    layout = Layout()
    text, named = _skip_preface(text, layout)
    if not text.strip():
        raise TableError(f"{path} has no rows.")
    # Whole lines only: half a record at the end would have too few cells.
    head = text if is_whole else text[: text.rfind("\n", 0, 1 << 22) + 1] or text
    layout.separator = layout.separator or _find_separator(head)
    width = max(1, head.partition("\n")[0].count(layout.separator))
    most = min(SAMPLE, max(50, _CELLS // width))
    rows, lines = split_rows(path, head, layout.separator, first_line + layout.skipped, most + 2)
    if not rows:
        raise TableError(f"{path} has no rows.")
    _find_width(path, layout, rows, lines)
    cells = [cell.strip() for row in rows[1:] or rows for cell in row]
    if uses_decimal_comma(cells) and not (layout.separator == "," and has_thousands(cells)):
        layout.decimal = ","
    find_header(path, layout, rows, lines, header, named, known)
    return layout


def _skip_preface(text: str, layout: Layout) -> tuple[str, str | None]:
    """Leave out ``sep=;`` and lines that begin with #; return the last of these too."""
    named = None
    while True:
        line, newline, rest = text.partition("\n")
        found = re.fullmatch(r'"?sep=(.)"?', line.strip(" ")) if not layout.skipped else None
        if found:
            layout.separator = found[1]
        elif line.startswith("#") and line[1:].strip() and newline:
            named = line[1:].strip()
        elif line.strip() or not newline:
            break
        text = rest
        layout.skipped += 1
    if named is not None:
        layout.notes.append("comment lines at the top are skipped")
    return text, named


def _find_separator(text: str) -> str:
    """The separator that parts the first lines most evenly into several cells."""
    # 200 lines settle it; one megabyte bounds the time for very long ones.
    lines = [line for line in text[: 1 << 20].split("\n")[:200] if line.strip()]
    sample = "\n".join(lines)
    best, merit = ",", (0.0, 0)
    for mark in "\t;|,":
        if mark not in sample:
            continue
        try:
            reader = csv.reader(io.StringIO(sample, newline="\n"), delimiter=mark)
            widths = [len(cells) for cells in reader if cells]
        except csv.Error:
            continue
        common, count = Counter(widths).most_common(1)[0]
        # Tenths, so that one ragged line does not decide between two separators.
        share = round(count / len(widths), 1)
        # Commas between semicolons are decimal marks; otherwise more cells are better.
        score = (share, 3 if mark in "\t;|" else 2) if common > 1 else (0.0, 1)
        if score > merit:
            best, merit = mark, score
    if merit[0] == 0:
        widths = [len(line.split()) for line in lines]
        if max(widths) > 1 and len(set(widths)) == 1 and len(lines) > 1:
            cells = [cell for line in lines[1:] for cell in line.split()]
            # Spaces separate numbers; lines of prose have them too.
            if sum(number(c) is not None for c in cells) > 0.5 * len(cells):
                return " "
    return best


def _find_width(path: str, layout: Layout, rows: list[list[str]], lines: list[int]) -> None:
    """Rows of one width; names of one cell fewer are those of R, without one for row names."""
    first = len(rows[0])
    others = {len(cells) for cells in rows[1:]}
    width = first
    if len(rows) > 1 and others == {first + 1} and not all(number(c) is not None for c in rows[0]):
        # A separator at the end of every row but not of the header.
        is_trailing = all(not cells[-1].strip() for cells in rows[1:])
        rows[0] = [*rows[0], ""] if is_trailing else ["", *rows[0]]
        width = first + 1
    check_widths(path, rows, lines, width)
    layout.width = width


def check_widths(path: str, rows: list[list[str]], lines: list[int], width: int) -> None:
    """Refuse a row that has more or fewer cells than the first."""
    for cells, line in zip(rows, lines):
        if len(cells) != width:
            raise TableError(
                f"{path}, line {line}: {len(cells)} cells, the first line has {width}."
            )


def find_header(
    path: str,
    layout: Layout,
    rows: list[list[str]],
    lines: list[int],
    header: bool | None,
    named: str | None,
    known: Sequence[str],
) -> None:
    """Find names and units of the columns, and where the data begin."""
    if header is not None:
        has_header = header
    else:
        has_header = _has_known(rows[0], known) or _is_header(rows, layout.decimal)
    # A header alone; a single row of numbers is data.
    if has_header and len(rows) == 1:
        raise TableError(f"{path} has a header and no rows.")
    if not has_header and header is None and named is not None:
        # The last comment line names the columns in files of numpy.savetxt.
        cells = [c for c in re.split(r"[\s,;|]+", named) if c]
        if len(cells) == layout.width and any(number(c) is None for c in cells):
            layout.names, layout.has_header = cells, True
    start = 0
    if has_header:
        layout.has_header = True
        layout.names = [cell.strip() for cell in rows[0]]
        start = 1
        if header is None and len(rows) > 2 and _is_units(rows[1], rows[2:], layout.decimal):
            layout.units = [cell.strip() for cell in rows[1]]
            start = 2
    elif not layout.has_header:
        layout.names = [f"x{k + 1}" for k in range(layout.width)]
    layout.sample = rows[start : start + SAMPLE]
    layout.body_line = lines[start]


def _has_known(cells: list[str], known: Sequence[str]) -> bool:
    """Whether most of the names that are looked for are in a line."""
    if not known:
        return False
    here = {simplify(cell) for cell in cells}
    # Half of them: new tables may lack the outputs.
    return sum(simplify(name) in here for name in known) > 0.5 * len(known)


def _values(cells: list[str], decimal: str) -> list[float | None]:
    return [number(cell, decimal) for cell in cells]


def _is_header(rows: list[list[str]], decimal: str) -> bool:
    first = _values(rows[0], decimal)
    texts = [k for k, value in enumerate(first) if value is None]
    if not texts:
        is_blank = not rows[0][0].strip() and len(first) > 1
        if is_blank and len(rows) > 1 and number(rows[1][0], decimal) is None:
            return True  # no name for the names of the rows
        return _is_scale([row[is_blank:] for row in rows], decimal, is_sure=is_blank)
    if len(rows) == 1:
        return True
    second = _values(rows[1], decimal)
    if texts != [0] or second[0] is not None or len(first) == 1:
        kinds = [_kind(cell, decimal) for cell in rows[0]]
        # A line of numbers, dates and words like all the others is a row.
        same = all(kinds == [_kind(c, decimal) for c in row] for row in rows[1:6])
        has_numbers = "number" in kinds and len(texts) < len(kinds)
        has_id = 0 in texts and rows[0][0].strip().lower() in ID_NAMES
        return not (same and has_numbers and not has_id)
    if rows[0][0].strip().lower() in ID_NAMES:
        return True
    return _is_scale([row[1:] for row in rows], decimal, is_sure=False)


def _kind(cell: str, decimal: str) -> str:
    value = number(cell, decimal)
    if is_date(cell):
        return "date"
    if value is None:
        return "text"
    return "number"


def _is_scale(rows: list[list[str]], decimal: str, is_sure: bool) -> bool:
    """Whether a line of numbers is a header: wavelengths, or columns numbered in order."""
    if len(rows) < 2 or not rows[0]:
        return False
    head = _values(rows[0], decimal)
    if any(v is None or v != v for v in head):
        return is_sure
    scale = np.array(head, dtype=float)
    body = [_values(row, decimal) for row in rows[1:51]]
    values = np.array([[np.nan if v is None else v for v in row] for row in body], dtype=float)
    if is_sure and _is_counted(scale):
        return True
    if len(scale) < 2 or not _is_monotone(scale):
        return False
    if _is_counted(scale) and all(cell.strip().isdigit() for cell in rows[0]):
        with np.errstate(invalid="ignore"):
            fractions = (np.mod(values, 1) != 0) & np.isfinite(values)
        if fractions.any():
            return True
    # Five numbers in order over a row that is not: by chance once in sixty.
    if len(scale) >= 5:
        return not _is_monotone(values[0])
    # Few columns: every number of the line must be far from all that follow in its column.
    if len(values) < 3 or np.isnan(values).all(axis=0).any():
        return False
    low = np.nanmin(values, axis=0)
    high = np.nanmax(values, axis=0)
    # Three ranges away: wavelengths over absorbances are, an ordinary first row is not.
    margin = 3 * (high - low)
    return bool(((scale > high + margin) | (scale < low - margin)).all())


def _is_counted(scale: np.ndarray) -> bool:
    """Whether numbers are 0, 1, 2, ... or 1, 2, 3, ..."""
    steps = np.arange(len(scale))
    return bool((scale == steps).all() or (scale == steps + 1).all())


def _is_monotone(values: np.ndarray) -> bool:
    steps = np.diff(values)
    return bool((steps > 0).all() or (steps < 0).all())


def _is_units(cells: list[str], rest: list[list[str]], decimal: str) -> bool:
    """Whether a line under the header has units: no number, and texts over columns of numbers."""
    if any(number(c, decimal) is not None and not is_missing(c) for c in cells):
        return False
    over_numbers = []
    for k, cell in enumerate(cells):
        values = [number(row[k], decimal) for row in rest[:50]]
        if all(v is not None for v in values) and any(v == v for v in values if v is not None):
            over_numbers.append(cell.strip())
    texts = [cell for cell in over_numbers if not is_missing(cell)]
    if not texts:
        return False
    known = [cell for cell in texts if _UNITS.fullmatch(cell)]
    # Half of them: units of fields that the list lacks stand beside known ones.
    return len(known) >= max(1, 0.5 * len(texts))
