"""The fast way through blocks of text: Polars, or the NumPy of the core.

An engine takes a block of whole records and returns its columns, or None for anything unusual: then the
cells are looked at one by one, which gives the same numbers and finds the place of what is wrong.
"""

from __future__ import annotations

import io
import re
from functools import lru_cache
from typing import Any

import numpy as np

from isthmus.tables.cells import SPELLINGS

Columns = list[Any]
_QUOTED = re.compile(rb'"[^"]*"')


def is_regular(block: bytes, width: int, separator: str) -> bool:
    """Whether each line is one row of ``width`` cells, as far as counting tells."""
    # Quoted cells may hold separators and line ends, which must not be counted.
    if b'"' in block:
        if block.count(b'"') % 2 or b'""' in block:
            return False
        lines = block.count(b"\n")
        block = _QUOTED.sub(b"", block)
        if block.count(b"\n") != lines:
            return False
    if b"\n\n" in block or block[:1] == b"\n":
        return False
    lines = block.count(b"\n") + (block[-1:] != b"\n")
    return block.count(separator.encode()) == lines * (width - 1)


def with_polars(
    block: bytes, width: int, separator: str, decimal: str, texts: frozenset[int]
) -> Columns | None:
    """Parse by Polars."""
    import polars as pl

    names = [str(k) for k in range(width)]
    schema: dict[str, Any] = {
        n: pl.String if k in texts else pl.Float64 for k, n in enumerate(names)
    }
    # Without marks first: it is faster, and an empty text is told from one that is a mark.
    for marks in (None, SPELLINGS):
        try:
            frame = pl.read_csv(
                io.BytesIO(block), has_header=False, schema=schema, separator=separator,
                decimal_comma=decimal == ",", null_values=marks,
            )  # fmt: skip
        except pl.exceptions.PolarsError:
            continue
        if marks is not None and any(frame.to_series(k).null_count() for k in texts):
            return None  # NA may be the name of a row
        return [
            frame.to_series(k).fill_null("").str.strip_chars().to_list()
            if k in texts
            else frame.to_series(k).to_numpy()
            for k in range(width)
        ]
    return None


def with_numpy(
    block: bytes, width: int, separator: str, decimal: str, texts: frozenset[int]
) -> Columns | None:
    """Parse numbers without gaps by NumPy."""
    if texts or decimal != ".":
        return None
    try:
        text = io.StringIO(block.decode())
        return list(np.loadtxt(text, delimiter=separator, quotechar='"', comments=None, ndmin=2).T)
    except ValueError:
        return None


_WIDE_TABLE = 5000  # columns; beyond, the cost of a column is more than that of its few numbers


def parse(
    block: bytes, width: int, separator: str, decimal: str, texts: frozenset[int]
) -> Columns | None:
    """Parse by Polars if it is installed, which takes a fifth of the time."""
    engine = with_polars if width <= _WIDE_TABLE and has_polars() else with_numpy
    return engine(block, width, separator, decimal, texts)


@lru_cache
def has_polars() -> bool:
    """Whether Polars can be imported."""
    try:
        import polars  # noqa: F401
    except ImportError:
        return False
    return True
