"""What is decided about a table, as one table."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from isthmus.tables import Column, Reading, Table, TableReader, describe, plural, read_groups

_USE = {"id": "row names", "index": "left out", "ignore": "left out", "category": "with --categories",
        "date": "refused", "text": "refused", "empty": "refused"}  # fmt: skip


def show_table(console: Any, file: str, **options: Any) -> None:
    """Read a table and show the decision for each column."""
    with console.progress() as progress:
        with Reading(progress=progress, categories=True, **options).open(file) as reader:
            usable = [
                c
                for c in reader.data_columns
                if c.kind in ("number", "boolean", "category", "empty") or _is_asked_date(c)
            ]
            table = read_groups(reader, [usable])[0]
    told = describe(table)
    rows = [_row(column, told, table, reader) for column in reader.columns]
    console.say(f"{reader.path}: {plural(table.n_rows, 'row')}, {plural(len(rows), 'column')}")
    for name, value in reader.facts.items():
        console.say(f"  {name:<13} {value}")
    for note in reader.notes:
        console.say(f"  note          {note}")
    console.say(f"  rows          are counted as {_counting_rule(reader)}")
    console.table("", ["column", "kind", "use", "why"], _group_rows(rows))
    console.result(
        {
            "file": reader.path,
            "rows": table.n_rows,
            **reader.facts,
            "notes": reader.notes,
            "columns": [dict(zip(("name", "kind", "use", "why"), row)) for row in rows],
        }
    )


def _is_asked_date(column: Column) -> bool:
    return column.kind == "date" and column.is_asked


def _counting_rule(reader: TableReader) -> str:
    if reader.place == "line":
        return "lines of the file, header included"
    is_sheet = reader.facts["format"] == "spreadsheet"
    if is_sheet:
        return "rows of the sheet, header included"
    return "rows of data, from 1"


def _row(column: Column, told: dict[str, str], table: Table, reader: TableReader) -> list[str]:
    use = _USE.get(column.kind, "number")
    if _is_asked_date(column):
        use = "number, days since 1970"
    elif column.kind == "boolean":
        use = "number, 0 or 1"
    why = column.why
    if column.kind == "category":
        levels = sorted(reader.levels.get(column.name, []))
        why = f"{plural(len(levels), 'category').replace('categorys', 'categories')}: " + ", ".join(
            levels[:5]
        ) + (" ..." if len(levels) > 5 else "")  # fmt: skip
    more = told.get(column.name, "")
    # Empty in the first rows, which decide, with values further down.
    if column.kind == "empty" and "missing" in more and not more.startswith(str(table.n_rows)):
        use, why = "number", ""
    return [column.name, column.kind, use, "; ".join(filter(None, [why, more]))]


def _group_rows(rows: list[list[str]], most: int = 12) -> list[list[str]]:
    """Neighbours that are alike in one line, where there are many columns."""
    # A spectrum has hundreds of columns of one kind; one line says so.
    if len(rows) <= most:
        return rows
    grouped = []
    for rest, alike in groupby(rows, key=lambda row: row[1:]):
        names = [row[0] for row in alike]
        many = f"{names[0]} ... {names[-1]} ({len(names)})"
        grouped.append([many if len(names) > 1 else names[0], *rest])
    return grouped
