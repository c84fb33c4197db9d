"""Text for a terminal. Imports nothing, so that errors can be told without the extra packages."""

from __future__ import annotations


def printable(text: str) -> str:
    """Text from files without what a terminal would take for a command."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in text)
