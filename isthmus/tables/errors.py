"""The one error of this room, and lists of names in messages."""

from __future__ import annotations

from collections.abc import Iterable


class TableError(ValueError):
    """A table that cannot be read as asked; the message is one line for the user."""


def some(names: Iterable[str], most: int = 8) -> str:
    """List names, the first few of many."""
    names = list(names)
    listed = ", ".join(map(repr, names[:most]))
    if len(names) <= most:
        return listed
    return f"{listed}, ... ({len(names)} in all)"


def need(package: str, what: str, extra: str) -> TableError:
    """Say which package a kind of file needs, and which extra has it."""
    return TableError(f"{what} need {package}: pip install 'isthmus[{extra}]'.")


def shorten(cell: str) -> str:
    """Quote a cell in a message, at most 40 characters of it."""
    return repr(cell if len(cell) <= 40 else cell[:40] + "...")


def plural(count: int, noun: str) -> str:
    """Count things: 1 row, 2 rows."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
