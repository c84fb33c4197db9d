"""What one cell of text is: a number, a missing value, a truth value, a date, or other text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date, datetime
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

MISSING = frozenset(
    (
        "", "na", "n/a", "n.a.", "nan", "-nan", "<na>", "#na", "#n/a", "null", "none", "nil", "?", "-",
        "--", ".", "missing", "#value!", "#div/0!", "#ref!", "#num!", "#name?", "#null!",
        "#spill!", "#calc!", "#getting_data", "formula without a value",
    )
)  # fmt: skip
# The spellings that fast parsers are told; others are found cell by cell.
SPELLINGS = sorted({form for m in MISSING for form in (m, m.upper(), m.title())} | {"NaN", "-NaN"})
TRUTH = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "t": 1.0, "f": 0.0, "y": 1.0, "n": 0.0,
         "on": 1.0, "off": 0.0}  # fmt: skip
_NUMBER = re.compile(
    r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?)", re.ASCII | re.IGNORECASE
)
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?", re.ASCII)
_DECIMAL_POINT = re.compile(r"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?", re.ASCII)
_ALMOST = re.compile(r"[+-]?[$€£]?\s?\d[\d.,' \u00a0\u202f]*\s?[%$€£]?", re.ASCII)
_LONGEST_NUMBER = 400  # characters; longer runs of digits are text
_DATES = {
    re.compile(r"\d{4}-\d{1,2}-\d{1,2}", re.ASCII): ("%Y-%m-%d",),
    re.compile(r"\d{4}/\d{1,2}/\d{1,2}", re.ASCII): ("%Y/%m/%d",),
    re.compile(r"\d{1,2}\.\d{1,2}\.\d{4}", re.ASCII): ("%d.%m.%Y",),
    re.compile(r"\d{1,2}/\d{1,2}/\d{4}", re.ASCII): ("%d/%m/%Y", "%m/%d/%Y"),
}
_TIME = re.compile(r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:\s?[AaPp][Mm])?", re.ASCII)
_STAMP = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}.*", re.ASCII)


def number(cell: str, decimal: str = ".") -> float | None:
    """Read a number; NaN is a missing value, None is text."""
    if decimal == "." and cell.isascii() and "_" not in cell and len(cell) <= _LONGEST_NUMBER:
        try:
            return float(cell)
        except ValueError:
            pass
    cell = cell.strip()
    if decimal == ",":
        if "." in cell and cell.lower() not in MISSING:
            return None  # 1.234 may be 1234: it is not guessed
        cell = cell.replace(",", ".", 1)
    if len(cell) <= _LONGEST_NUMBER and _NUMBER.fullmatch(cell):
        return float(cell)
    if cell.lower() in MISSING:
        return float("nan")
    if cell.startswith("\N{MINUS SIGN}"):
        return number("-" + cell[1:])
    return None


def read_column(
    cells: Sequence[str], read: Callable[[str], float | None]
) -> tuple[NDArray, int | None]:
    """Read cells one by one; the second value is the place of the first that cannot be, or None."""
    values = np.empty(len(cells))
    for i, cell in enumerate(cells):
        value = read(cell)
        if value is None:
            return values, i
        values[i] = value
    return values, None


def is_almost_number(cell: str) -> bool:
    """Whether a text is a number but for thousands, a per cent sign or a currency."""
    return bool(_ALMOST.fullmatch(cell))


def is_missing(cell: str) -> bool:
    """Whether a cell stands for a missing value."""
    return cell.strip().lower() in MISSING


def truth(cell: str) -> float | None:
    """Read a truth value as 0 or 1; NaN is a missing value, None is none."""
    low = cell.strip().lower()
    if low in MISSING:
        return float("nan")
    value = TRUTH.get(low, number(low))
    return value if value in (0.0, 1.0) else None


def uses_decimal_comma(cells: list[str]) -> bool | None:
    """Whether commas are decimal marks; None if no cell tells."""
    if not any("," in c and _DECIMAL_COMMA.fullmatch(c) for c in cells):
        return None
    return not any("." in c and _DECIMAL_POINT.fullmatch(c) for c in cells)


def has_thousands(cells: list[str]) -> bool:
    """Whether all commas could part thousands: 1,234."""
    commas = [c for c in cells if _DECIMAL_COMMA.fullmatch(c)]
    return all(re.fullmatch(r"[+-]?[1-9]\d{0,2},\d{3}", c) for c in commas)


@lru_cache(maxsize=4096)
def day(cell: str) -> float | None:
    """Read a date, or date and time, as days since 1970; NaN is missing, None is no date."""
    cell = cell.strip()
    if cell.lower() in MISSING:
        return float("nan")
    for pattern, layouts in _DATES.items():
        if pattern.fullmatch(cell):
            for layout in layouts:
                try:
                    found = datetime.strptime(cell, layout)
                except ValueError:
                    continue
                return float((found.date() - date(1970, 1, 1)).days)
            return None
    if _STAMP.fullmatch(cell):
        try:
            stamp = datetime.fromisoformat(cell)
        except ValueError:
            return None
        epoch = datetime(1970, 1, 1, tzinfo=stamp.tzinfo)
        return (stamp - epoch).total_seconds() / 86400
    return None


def is_date(cell: str) -> bool:
    """Whether a cell is a date or a time of day."""
    value = day(cell)
    return (value is not None and value == value) or bool(_TIME.fullmatch(cell.strip()))
