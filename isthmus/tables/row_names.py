"""Which column names the rows of several tables: decided for all of them together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from isthmus.tables.cells import number
from isthmus.tables.errors import TableError, some
from isthmus.tables.kinds import Column, is_identifier
from isthmus.tables.names import find_all
from isthmus.tables.reader import TableReader
from isthmus.tables.table import Table, read_groups

Wanted = tuple[TableReader, Sequence[list[Column]]]
"""A table, and the groups of its columns that are read."""


def read_together(wanted: Sequence[Wanted]) -> list[list[Table]]:
    """Read tables whose rows belong together, each once; see :func:`read_groups`.

    Numbers under one heading that occur once in each table, more than half of them in both, are names
    of rows whatever their order. Table by table they would be row numbers here and an input there.
    """
    readers = [reader for reader, _ in wanted]
    shared = _shared_columns(readers)
    tables = []
    for k, (reader, groups) in enumerate(wanted):
        aside = [c for found in shared if (c := found.get(k)) is not None and c.kind != "id"]
        tables.append(read_groups(reader, groups, aside))
    best: dict[int, list[str]] = {}
    for found in shared:
        names = {k: _names(column, tables[k][0]) for k, column in found.items()}
        _check_repeats(readers, found, names)
        names = {k: own for k, own in names.items() if _are_alike(names[0], own)}
        # Of several columns that which most tables have.
        if len(names) > max(1, len(best)) and not any(
            group.columns == [found[k]] for k in names for group in tables[k]
        ):
            best, columns = names, found
    if any(columns[k].kind != "id" for k in best):
        for k, own in best.items():
            tables[k] = [_name_rows(table, columns[k], own) for table in tables[k]]
    return tables


def _shared_columns(readers: Sequence[TableReader]) -> list[dict[int, Column]]:
    """Columns of the first table that may name rows, with those of the other tables by their number."""
    first = readers[0]
    if first.id_column is not None and first.id_column.is_asked:
        return []
    shared = [{0: column} for column in first.columns if _may_name(column)]
    for k, other in enumerate(readers[1:], 1):
        if first.has_names and other.has_names:
            known = [column.name for column in other.columns]
            places = find_all([found[0].name for found in shared], known)
        else:  # without headings the first column of both
            is_alike = first.has_names == other.has_names
            places = [0 if is_alike and found[0].place == 0 else None for found in shared]
        for found, place in zip(shared, places, strict=True):
            if place is not None and _may_name(other.columns[place]):
                found[k] = other.columns[place]
    # In one of the tables at least it looks like names or numbers of rows.
    return [
        found for found in shared
        if len(found) > 1
        and any(c.kind in ("id", "index") or is_identifier(c.name) for c in found.values())
    ]  # fmt: skip


def _may_name(column: Column) -> bool:
    return column.kind in ("id", "index", "number") and not column.is_asked


def _names(column: Column, table: Table) -> list[str]:
    """The cells of a column as names; 7 and 7.0 are one."""
    if column.kind == "id":
        return [_name(number(text), text) for text in table.ids or []]
    return [_name(value, "") for value in table.aside[column.place]]


def _name(value: float | None, text: str) -> str:
    return text if value is None or not np.isfinite(value) else f"{value:.17g}"


def _are_alike(first: list[str], own: list[str]) -> bool:
    known = set(first)
    is_unique = len(known) == len(first) and len(set(own)) == len(own) and "" not in known
    return is_unique and 2 * len(known & set(own)) > min(len(first), len(own))


def _check_repeats(
    readers: Sequence[TableReader], found: dict[int, Column], names: dict[int, list[str]]
) -> None:
    """Refuse names of rows of which one table has some twice: it would be read as a number."""
    for k, own in names.items():
        column, first = found[k], names[0]
        if not is_identifier(column.name) or "" in own + first:
            continue
        one, other = (own, first) if len(set(own)) < len(own) else (first, own)
        if len(set(one)) < len(one) and len(set(other)) == len(other):
            if 2 * len(set(one) & set(other)) > len(one):
                path = readers[k if one is own else 0].path
                repeated = dict.fromkeys(name for name in one if one.count(name) > 1)
                raise TableError(
                    f"{path}: the column {column.name!r} names the rows of the other table, and has "
                    f"{some(repeated)} more than once, so rows cannot be matched by it. Name every row "
                    f"once, or pair rows by position: --ignore-columns {column.name!r}."
                )


def _name_rows(table: Table, column: Column, names: list[str]) -> Table:
    """Take a column for the names of the rows, and out of the numbers."""
    # A table without headings is read by the places of its columns: none of them has the names.
    column.kind = "id" if table.has_names else "index"
    column.why = "names the rows, as in the other table"
    kept = [k for k, other in enumerate(table.columns) if other is not column]
    return replace(
        table,
        columns=[table.columns[k] for k in kept],
        values=table.values if len(kept) == len(table.columns) else table.values[:, kept],
        ids=names,
        id_name=column.name if table.has_names else None,
    )
