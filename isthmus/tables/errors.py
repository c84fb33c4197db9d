"""The one error of this room, and lists of names in messages."""

from __future__ import annotations

from collections.abc import Iterable


class TableError(ValueError):
    """A table that cannot be read as asked; the message is one line for the user."""


def some(names: Iterable[str], most: int = 8) -> str:
    """List names, the first few of many."""
    names = list(names)
    listed = ", ".join(map(repr, names[:most]))
    return listed if len(names) <= most else f"{listed}, ... ({len(names)} in all)"


def need(package: str, what: str) -> TableError:
    """Say which package a kind of file needs."""
    return TableError(f"{what} need {package}: pip install {package}.")


def shorten(cell: str, most: int = 40) -> str:
    """Quote a cell in a message."""
    return repr(cell if len(cell) <= most else cell[:most] + "...")


def plural(count: int, noun: str) -> str:
    """Count things: 1 row, 2 rows."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
