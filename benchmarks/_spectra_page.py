"""Tables of docs/spectra.md: each stands between two comments with its name, where its script puts it."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "spectra.md"


def table_of(name: str) -> tuple[list[str], dict[str, list[str]]]:
    """Columns of a table of the page, and the cells of each row by its label."""
    text = PAGE.read_text("utf-8").split(f"<!-- {name} -->\n")[1].split(f"<!-- end {name} -->")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]
    return rows[0][1:], {label: cells for label, *cells in rows[2:]}


def put_columns(name: str, head: list[str], lines: dict[str, list[str]], write: bool) -> None:
    """Put some columns of a table into the page; those that were not run stay as they are."""
    columns, known = table_of(name)
    columns = [*columns, *(column for column in head if column not in columns)]
    table = [f"| method | {' | '.join(columns)} |", f"|---|{'---|' * len(columns)}"]
    for label, cells in lines.items():
        old = dict(zip(columns, known.get(label, []), strict=False))
        new = old | dict(zip(head, cells, strict=True))
        table.append(f"| {label} | {' | '.join(new.get(column, '') for column in columns)} |")
    put_table(name, table, write)


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
