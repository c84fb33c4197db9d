"""New rows against the columns of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.cli.app import InputError
from isthmus.cli.console import current
from isthmus.inspection import split_model
from isthmus.tables import (
    Column,
    Reading,
    Table,
    Wanted,
    align,
    expand,
    find_all,
    read_together,
    some,
    suggest,
)


def known_tables(search: Any) -> list[dict[str, Any]]:
    """What a model keeps of each table it was fitted on: its columns, and how it was read."""
    origin = getattr(search, "origin_", {})
    names = getattr(search, "feature_names_in_", None)
    whole = {**origin, "columns": names, "n": int(search.n_features_in_)}
    return origin.get("blocks", [whole])


class NewRows:
    """New rows for a model, from as many tables as it was fitted on, in the order of the first."""

    def __init__(
        self,
        search: Any,
        files: Sequence[str],
        reading: Reading,
        drop: Sequence[str],
        outputs: Sequence[str] = (),
    ) -> None:
        known = known_tables(search)
        if len(files) != len(known):
            names = ", ".join(table.get("name", "") for table in known)
            many = f"s of inputs ({names}, in this order)" if len(known) > 1 else " of inputs"
            raise InputError(
                f"the model was fitted on {len(known)} table{many}, "
                f"{len(files)} {'is' if len(files) == 1 else 'are'} given."
            )
        before, last = split_model(search)
        # A search fills holes before its model, models with missing="em" by themselves.
        by_itself = not before and getattr(last, "missing", "error") == "em"
        takes_holes = by_itself or getattr(search, "missing_model_", None) is not None
        self._tables: list[_NewTable] = []
        try:
            for table, path in zip(known, files, strict=True):
                if self._tables and reading.id_column is not None:
                    # The first table must have the column of row names; the others may.
                    table = {**table, "id_column": reading.id_column}
                    reading = replace(reading, id_column=None)
                self._tables.append(_NewTable(table, path, reading, drop, outputs, takes_holes))
        except BaseException:
            self.__exit__()
            raise
        self.reader = self._tables[0].reader

    def __enter__(self) -> NewRows:
        return self

    def __exit__(self, *_: object) -> None:
        for table in self._tables:
            table.reader.__exit__()

    def read(
        self, outputs: Sequence[str] = (), other: Wanted | None = None
    ) -> tuple[NDArray, Table, Table]:
        """All rows for the model, the first table, and the outputs, of ``other`` if they are there."""
        wanted = [(part.reader, [part.columns]) for part in self._tables]
        if other is None:
            wanted[0][1].append(self.reader.columns_of(outputs))
        read = read_together([*wanted, *([] if other is None else [other])])
        first, y = read[0][0], read[0][1] if other is None else read[-1][0]
        found = []
        for part, (table, *_) in zip(self._tables, read, strict=False):
            part.check_complete(table.values, table.line)
            found.append(part.expand(align(first, table, current().notice).values))
        return np.hstack(found), first, y

    def blocks(self) -> Iterator[tuple[NDArray, list[str] | None]]:
        """Yield rows for the model, with their names; those of several tables all at once."""
        if len(self._tables) == 1:
            yield from self._tables[0].blocks()
        else:
            X, first, _ = self.read()
            yield X, first.ids


class _NewTable:
    """A table whose columns are those of one that a model was fitted on."""

    def __init__(
        self,
        known: Mapping[str, Any],
        path: str,
        reading: Reading,
        drop: Sequence[str],
        outputs: Sequence[str],
        takes_holes: bool,
    ) -> None:
        self._takes_holes = takes_holes
        self.levels: Mapping[str, list[str]] = known.get("categories") or {}
        names = known["columns"]
        if names is not None:
            names = _collapse([str(name) for name in names], self.levels)
        self.reader = reading.open(
            path, likely_id=known.get("id_column"), categories=self.levels,
            # A column of numbers in training is one here too, whatever its new cells look like.
            numeric=[*(n for n in names or [] if n not in self.levels), *outputs],
        )  # fmt: skip
        try:
            for sentence in self.reader.sentences():
                current().notice(sentence)
            # Without names on one side the order of the columns is all there is.
            if names is not None and self.reader.has_names:
                self.columns, self._names = self._match(names, drop), names
            else:
                # A category of k levels is one column of the table and k of the model.
                n = known["n"] - sum(len(v) - 1 for v in self.levels.values())
                self.columns = self._by_place(names, n, known.get("row_numbers", []))
                self._names = names or [column.name for column in self.columns]
        except BaseException:
            self.reader.__exit__()
            raise

    def _match(self, names: list[str], drop: Sequence[str]) -> list[Column]:
        reader = self.reader
        places = find_all(names, [column.name for column in reader.columns])
        missing = [name for name, place in zip(names, places) if place is None]
        if missing:
            rest = [c.name for k, c in enumerate(reader.columns) if k not in places]
            raise InputError(
                f"{reader.path} lacks {len(missing)} of the {len(names)} columns the model was fitted on: "
                f"{some(missing, 20)}.{suggest(missing[0], rest)}"
            )
        columns = [reader.columns[place] for place in places if place is not None]
        for column, name in zip(columns, names):
            if name in self.levels:
                column.name, column.kind = name, "category"
        taken, known = set(places), set(drop)
        extra = [
            c.name for c in reader.data_columns if c.place not in taken and c.name not in known
        ]
        if extra:
            current().notice(
                f"{reader.path}: columns that were not in training are ignored: {some(extra)}."
            )
        renamed = [(c.name, n) for c, n in zip(columns, names) if c.name != n]
        if renamed:
            told = ", ".join(f"{a!r} is {b!r}" for a, b in renamed[:3])
            current().notice(f"{reader.path}: similar names are treated as equal: {told}.")
        return columns

    def _by_place(self, names: list[str] | None, n: int, numbered: list[int]) -> list[Column]:
        reader = self.reader
        columns = reader.data_columns
        # Columns that only number the rows were left out of the fit; new tables may have them or not.
        others = [c for c in reader.columns if c.kind not in ("id", "ignore")]
        if len(columns) != n and len(others) == n:
            columns = others
        elif len(columns) != n and len(others) - len(numbered) == n:
            columns = [c for c in others if c.place not in numbered]
        if len(columns) != n:
            raise InputError(
                f"{reader.path} has {len(columns)} columns, the model was fitted on {n}"
                + ("." if names is None else f": {some(names)}.")
            )
        if names is not None:
            current().notice(
                f"{reader.path} has no header: its columns are assumed to be in the order of training."
            )
        for column in columns:
            # A column of the model that happens to count upwards in the new rows.
            column.kind = "number" if column.kind == "index" else column.kind
        return columns

    def blocks(self) -> Iterator[tuple[NDArray, list[str] | None]]:
        """Yield rows for the model, with their names."""
        for rows in self.reader.rows(self.columns):
            self.check_complete(rows.values, rows.lines.__getitem__)
            yield self.expand(rows.values), rows.ids
        if self.reader.unknown:
            told = [f"{name} ({count} rows)" for name, count in self.reader.unknown.items()]
            current().notice(
                f"categories that were not in training are encoded as zeros: {some(told)}."
            )

    def expand(self, values: NDArray) -> NDArray:
        """Columns as the model has them."""
        return expand(values, self._names, self.levels)

    def check_complete(self, values: NDArray, line_of: Callable[[int], int]) -> None:
        """Missing values are for models that were fitted with them."""
        holes = np.isnan(values)
        if holes.any() and not self._takes_holes:
            i, j = np.argwhere(holes)[0]
            raise InputError(
                f"{self.reader.path}: column {self.columns[j].name!r} has no value in {self.reader.place} "
                f"{line_of(int(i))} and the model was fitted on complete rows: fill it, leave the row "
                "out, or fit on rows with missing values."
            )


def _collapse(names: list[str], levels: Mapping[str, list[str]]) -> list[str]:
    """Names of the columns of a table for those of a model with categories."""
    expanded = {f"{name}={level}": name for name, values in levels.items() for level in values}
    return list(dict.fromkeys(expanded.get(name, name) for name in names))
