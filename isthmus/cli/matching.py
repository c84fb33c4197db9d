"""Inputs and outputs row by row, and new rows against the columns of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.cli.app import InputError
from isthmus.cli.console import current
from isthmus.tables import KINDS, Column, Table, TableReader, read_groups
from isthmus.tables.categories import expand, expanded_names
from isthmus.tables.errors import some
from isthmus.tables.names import find, find_all, split_names, split_types, suggest
from isthmus.tables.reader import split_key
from isthmus.tables.table import constant_columns, duplicated_columns


@dataclass
class Reading:
    """How tables are to be read, as the options of a command say."""

    header: bool | None = None
    id_column: str | None = None
    types: list[str] | None = None
    ignore: list[str] | None = None
    categories: bool = False
    progress: Any = None

    def open(self, path: str, **more: Any) -> TableReader:
        """Open one of the files; names that the others may have are not missed here."""
        types = split_types(self.types, KINDS)
        options: dict[str, Any] = {
            "header": self.header, "ignore": split_names(self.ignore), "progress": self.progress,
            "categories": self.categories,
        }  # fmt: skip
        reader = TableReader(path, types=types, id_column=self.id_column, **{**options, **more})
        try:
            reader.columns_of(list(types))
        except BaseException:
            reader.__exit__()
            raise
        return reader


@dataclass
class Pair:
    """Inputs and outputs, row by row."""

    X: NDArray
    Y: NDArray
    feature_names: list[str] | None
    target_names: list[str]
    ids: list[str] | None
    origin: dict[str, Any] = field(default_factory=dict)  # what a model keeps to read new rows


def file_of(given: str | None) -> list[str]:
    """The file that is read, as a list: of ``name.npz:array`` without the array; none for a pipe."""
    return [] if given is None or given == "-" else [split_key(given)[0]]


def read_pair(x_file: str, y_file: str | None, target_columns: list[str], reading: Reading) -> Pair:
    """Two files, or one file with target columns."""
    if x_file == "-" == y_file:
        raise InputError("standard input is one table: give the other as a file.")
    numeric = () if y_file is not None else tuple(target_columns)
    with _Shared(reading, x_file, y_file) as shared:
        x_reader = shared.open(x_file, numeric=numeric, key="X")
        if y_file is not None:
            y_reader = shared.open(y_file, numeric=tuple(target_columns), key="Y")
            outputs = y_reader.columns_of(target_columns) or y_reader.data_columns
            (x,) = read_groups(x_reader, [_inputs(x_reader, [])])
            y = read_groups(y_reader, [outputs])[0]
            x, y = aligned(x, y)
        elif target_columns:
            outputs = x_reader.columns_of(target_columns)
            x, y = read_groups(x_reader, [_inputs(x_reader, outputs), outputs])
        elif "Y" in x_reader.extra or "y" in x_reader.extra:
            (x,) = read_groups(x_reader, [_inputs(x_reader, [])])
            y_reader = shared.open(x_file.partition(":")[0], key="Y")
            y = read_groups(y_reader, [y_reader.data_columns])[0]
        else:
            raise InputError(
                f"{x_reader.path}: nothing to predict; give a second file, or --target-columns."
            )
        for sentence in dict.fromkeys(shared.sentences()):
            current().notice(sentence)
        shared.check_unused()
        levels = {n: sorted(x_reader.levels[n]) for n in x.names if n in x_reader.levels}
    return _checked(x, y, x_reader, levels)


class _Shared:
    """Options that name columns, where one of two files has them."""

    def __init__(self, reading: Reading, *paths: str | None) -> None:
        self._reading, self._paths = reading, [p for p in paths if p is not None]
        self._types = split_types(reading.types, KINDS)
        self._ignore = split_names(reading.ignore)
        self._found: set[str] = set()
        self._readers: list[TableReader] = []

    def open(self, path: str, **more: Any) -> TableReader:
        reading = self._reading
        # The first file must have the column of row names; a second one may.
        id_name = {"likely_id" if self._readers else "id_column": reading.id_column}
        reader = TableReader(
            path, header=reading.header, progress=reading.progress, categories=reading.categories,
            ignore=self._ignore, types=self._types, **{**id_name, **more},
        )  # fmt: skip
        names = [column.name for column in reader.columns]
        is_number = (lambda name: False) if reader.has_names else _is_number
        self._found |= {n for n in self._types if find(n, names) is not None or is_number(n)}
        self._found |= {name for name in self._ignore if find(name, names) is not None}
        self._readers.append(reader)
        return reader

    def sentences(self) -> list[str]:
        return [sentence for reader in self._readers for sentence in reader.sentences()]

    def check_unused(self) -> None:
        files = " and ".join(self._paths)
        names = [c.name for reader in self._readers for c in reader.columns]
        for option, asked in (("--ignore-columns", self._ignore), ("--types", list(self._types))):
            unknown = [name for name in asked if name not in self._found]
            if unknown:
                have = "has" if len(self._paths) == 1 else "have"
                raise InputError(
                    f"{option}: {files} {have} no column {some(unknown)}.{suggest(unknown[0], names)}"
                )

    def __enter__(self) -> _Shared:
        return self

    def __exit__(self, *error: object) -> None:
        for reader in self._readers:
            reader.__exit__(*error)


def _is_number(name: str) -> bool:
    return name.lstrip("-").isdigit()


def _inputs(reader: TableReader, outputs: Sequence[Column]) -> list[Column]:
    places = {column.place for column in outputs}
    inputs = [column for column in reader.data_columns if column.place not in places]
    if not inputs:
        raise InputError(f"{reader.path} has no input columns left.")
    return inputs


def aligned(x: Table, y: Table) -> tuple[Table, Table]:
    """Outputs in the order of the inputs: by the names of the rows, if both have them."""
    if x.n_rows != y.n_rows:
        raise InputError(
            f"{x.path} has {x.n_rows} rows and {y.path} has {y.n_rows}: they must be the same."
        )
    if x.ids is None or y.ids is None or x.ids == y.ids:
        return x, y
    for table in (x, y):
        assert table.ids is not None
        if len(set(table.ids)) < len(table.ids):
            raise InputError(f"{table.path}: row names repeat, so rows cannot be matched by them.")
    where = {name: i for i, name in enumerate(y.ids)}
    missing = [name for name in x.ids if name not in where]
    if missing:
        raise InputError(f"rows of {x.path} are not in {y.path}: {some(missing)}.")
    order = [where[name] for name in x.ids]
    current().notice(f"rows of {y.path} were put in the order of {x.path} by their names.")
    return x, replace(y, values=y.values[order], ids=x.ids, id_name=x.id_name)


def _checked(x: Table, y: Table, reader: TableReader, levels: dict[str, list[str]]) -> Pair:
    for table in (x, y):
        empty = np.isnan(table.values).all(axis=0)
        if empty.any():
            names = [name for name, none in zip(table.names, empty) if none]
            raise InputError(
                f"{table.path}: no value at all in the columns {some(names)}; leave them out with "
                "--ignore-columns."
            )
    constant = constant_columns(y)
    if len(constant) == len(y.names):
        raise InputError(f"{y.path}: the outputs never vary: {some(constant)}.")
    if constant:
        current().notice(f"{y.path}: outputs that never vary: {some(constant)}.")
    _tell_useless(x)
    shared = set(x.names) & set(y.names) if x.has_names and y.has_names else set()
    if shared and x.path != y.path:
        raise InputError(f"columns are both inputs and outputs: {some(sorted(shared))}.")
    targets = y.names if y.has_names else [f"y{k + 1}" for k in range(len(y.names))]
    by_code = {name: list(reader.levels[name]) for name in levels}
    ids, id_name = (x.ids, x.id_name) if x.ids is not None else (y.ids, y.id_name)
    origin: dict[str, Any] = {"id_column": id_name}
    left_out = [c.place for c in reader.columns if c.kind == "index"]
    if not x.has_names and left_out:
        origin["row_numbers"] = left_out
    if levels:
        origin["categories"] = levels
    X = expand(x.values, x.names, by_code)
    inputs = expanded_names(x.names, by_code) if x.has_names or by_code else None
    return Pair(X, y.values, inputs, targets, ids, origin)


def _tell_useless(x: Table) -> None:
    constant = constant_columns(x)
    if constant:
        current().notice(f"{x.path}: inputs that never vary: {some(constant)}.")
    pairs = [(a, b) for a, b in duplicated_columns(x) if a not in constant]
    if pairs:
        told = ", ".join(f"{a!r} is {b!r}" for a, b in pairs[:4])
        more = f" and {len(pairs) - 4} more" if len(pairs) > 4 else ""
        current().notice(f"{x.path}: inputs that are there twice: {told}{more}.")


# -- new rows ---------------------------------------------------------------------------------


class NewRows:
    """A table whose columns are those of a model: its rows once, in blocks or as a whole."""

    def __init__(
        self, search: Any, path: str, reading: Reading, drop: Sequence[str] = (), **more: Any
    ) -> None:
        self._search = search
        origin = getattr(search, "origin_", {})
        self.levels: Mapping[str, list[str]] = origin.get("categories") or {}
        known = getattr(search, "feature_names_in_", None)
        names = None if known is None else _collapsed([str(name) for name in known], self.levels)
        self.reader = reading.open(
            path, likely_id=origin.get("id_column"), categories=self.levels,
            numeric=[n for n in names or [] if n not in self.levels] + list(more.pop("outputs", [])),
            **more,
        )  # fmt: skip
        try:
            n = int(search.n_features_in_) - sum(len(v) - 1 for v in self.levels.values())
            self.columns = self._match(names, n, origin, drop)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self.reader.__exit__()

    def _match(
        self, names: list[str] | None, n: int, origin: dict[str, Any], drop: Sequence[str]
    ) -> list[Column]:
        reader = self.reader
        for sentence in reader.sentences():
            current().notice(sentence)
        if names is None or not reader.has_names:
            return self._by_place(names, n, origin)
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
        taken = {column.place for column in columns}
        known = set(drop)
        extra = [
            c.name for c in reader.data_columns if c.place not in taken and c.name not in known
        ]
        if extra:
            current().notice(
                f"{reader.path}: columns that the model does not know are ignored: {some(extra)}."
            )
        renamed = [(c.name, n) for c, n in zip(columns, names) if c.name != n]
        if renamed:
            told = ", ".join(f"{a!r} is {b!r}" for a, b in renamed[:3])
            current().notice(f"{reader.path}: names that are alike are taken as equal: {told}.")
        self._rename = dict(zip([c.name for c in columns], names))
        return columns

    def _by_place(self, names: list[str] | None, n: int, origin: dict[str, Any]) -> list[Column]:
        reader = self.reader
        columns = reader.data_columns
        numbered = origin.get("row_numbers", [])
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
                f"{reader.path} has no header: its columns are taken to be in the order of training."
            )
        for column in columns:
            column.kind = "number" if column.kind == "index" else column.kind
        self._rename = {
            c.name: (names or [c.name for c in columns])[k] for k, c in enumerate(columns)
        }
        return columns

    def blocks(self) -> Iterator[tuple[NDArray, list[str] | None]]:
        """Yield rows for the model, with their names."""
        for rows in self.reader.rows(self.columns):
            self.check_complete(rows.values, rows.lines.__getitem__)
            yield self.expand(rows.values), rows.ids
        if self.reader.unknown:
            told = [f"{name} ({count} rows)" for name, count in self.reader.unknown.items()]
            current().notice(
                f"categories that the model does not know count as none: {some(told)}."
            )

    def expand(self, values: NDArray) -> NDArray:
        """Columns as the model has them."""
        names = [self._rename[column.name] for column in self.columns]
        return expand(values, names, self.levels)

    def check_complete(self, values: NDArray, line_of: Callable[[int], int]) -> None:
        """Missing values are for models that were fitted with them."""
        if getattr(self._search.best_estimator_, "missing", "error") == "em":
            return
        holes = np.isnan(values)
        if holes.any():
            i, j = np.argwhere(holes)[0]
            raise InputError(
                f"{self.reader.path}: column {self.columns[j].name!r} has no value in {self.reader.place} "
                f"{line_of(int(i))} and the model was fitted on complete rows: fill it, leave the row "
                "out, or fit on rows with missing values."
            )


def _collapsed(names: list[str], levels: Mapping[str, list[str]]) -> list[str]:
    """Names of the columns of a table for those of a model with categories."""
    expanded = {f"{name}={level}": name for name, values in levels.items() for level in values}
    return list(dict.fromkeys(expanded.get(name, name) for name in names))
