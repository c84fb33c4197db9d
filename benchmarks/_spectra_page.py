"""Tables of docs/spectra.md: each stands between two comments with its name, where its script puts it."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "spectra.md"


def put_table(name: str, lines: list[str], write: bool) -> None:
    """Print a table in Markdown, and put it into the page if asked to."""
    table = "\n".join(lines)
    print(f"\n<!-- {name} -->\n{table}\n<!-- end {name} -->", flush=True)
    if not write:
        return
    place = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
    text, found = place.subn(
        lambda match: f"{match[1]}{table}\n{match[2]}", PAGE.read_text("utf-8")
    )
    if found != 1:
        raise ValueError(f"{PAGE.name} has {found} places for the table {name!r}, must have one.")
    PAGE.write_text(text, "utf-8")
