"""Inputs and outputs from one or two tables, row by row."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.tables.categories import expand, expand_names, indicate
from isthmus.tables.errors import TableError, plural, some
from isthmus.tables.kinds import KINDS, Column
from isthmus.tables.names import find, split_names, split_types, suggest
from isthmus.tables.reader import TableReader, split_key
from isthmus.tables.row_names import Wanted, read_together
from isthmus.tables.table import Table, constant_columns, duplicated_columns, stand_ins


def _be_silent(sentence: str) -> None:
    pass


@dataclass
class Reading:
    """How tables are read, from the options of a command."""

    header: bool | None = None
    id_column: str | None = None
    types: list[str] | None = None
    ignore: list[str] | None = None
    categories: bool = False
    progress: Any = None
    tell: Callable[[str], None] = _be_silent  # is given sentences about what was decided
    groups: str | None = None  # column that says which rows belong together, no input or output

    @property
    def options(self) -> dict[str, Any]:
        """What a :class:`TableReader` is told of every file."""
        return {
            "header": self.header, "progress": self.progress, "categories": self.categories,
            "ignore": split_names(self.ignore), "types": split_types(self.types, KINDS),
        }  # fmt: skip

    def open(self, path: str, **more: Any) -> TableReader:
        """Open one of the files; names that the others may have are not missed here."""
        options = {**self.options, "id_column": self.id_column, **more}
        reader = TableReader(path, **options)
        try:
            reader.columns_of(list(options["types"]))
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
    groups: NDArray | None = None  # a number per group of rows


def read_pair(
    x_files: str | Sequence[str], y_file: str | None, target_columns: list[str], reading: Reading
) -> Pair:
    """Read one or more files of inputs and one of outputs, or one file with target columns.

    Rows are matched with those of the first file. Several files of inputs are a block each:
    ``origin["blocks"]`` has the name, the columns and the origin of each file, and names of columns
    have that of their block before them.
    """
    x_files = [x_files] if isinstance(x_files, str) else x_files
    files = [*x_files, *([] if y_file is None else [y_file])]
    if files.count("-") > 1:
        raise TableError("standard input is one table: give the others as files.")
    if y_file is not None and _array_of(y_file, "Y") in [_array_of(file, "X") for file in x_files]:
        raise TableError(
            f"{y_file} is given as inputs and as outputs: give it once, and name the outputs with "
            "--target-columns."
        )
    with _Shared(reading, files) as shared:
        numeric = () if y_file is not None else tuple(target_columns)
        readers = [shared.open(path, numeric=numeric, key="X") for path in x_files]
        y_reader = readers[0]
        if y_file is not None:
            y_reader = shared.open(y_file, numeric=tuple(target_columns), key="Y")
        shared.check_groups()
        if y_file is None and not target_columns:
            if not {"Y", "y"} & set(y_reader.extra):
                raise TableError(
                    f"{y_reader.path}: nothing to predict; give a second file, or --target-columns."
                )
            y_reader = shared.open(files[0].partition(":")[0], key="Y")
        wanted: list[Wanted] = []
        for reader in dict.fromkeys([*readers, y_reader]):
            own = shared.groups(reader)
            outputs = _outputs(reader, target_columns, own) if reader is y_reader else []
            inputs = _inputs(reader, [*outputs, *own]) if reader in readers else []
            wanted.append((reader, [part for part in (inputs, outputs, own) if part]))
        tables: list[Table] = []
        groups: list[Table] = []
        for (reader, _), found in zip(wanted, read_together(wanted), strict=True):
            if reader in readers:
                tables.append(found.pop(0))
            if reader is y_reader:
                y = found.pop(0)
            groups += found
        for sentence in dict.fromkeys(shared.sentences()):
            reading.tell(sentence)
        shared.check_unused()
    first = tables[0]
    tables = [first, *(align(first, other, reading.tell) for other in tables[1:])]
    y = align(first, y, reading.tell)
    _check_empty(y)
    _check_outputs(y, reading.tell)
    parts = [_join(x, y, reader, reading.tell) for x, reader in zip(tables, readers, strict=True)]
    pair = parts[0] if len(parts) == 1 else join_pairs(parts, block_names(x_files))
    _indicate_classes(pair, y, y_reader.levels)
    if groups:
        pair.groups = _codes(align(first, groups[0], _be_silent), "group").astype(np.intp)
    return pair


def _array_of(file: str, key: str) -> tuple[str, str]:
    """What all names of a file have in common, and the array of an archive."""
    path, inner = split_key(file)
    return os.path.realpath(path), inner or (key if path.lower().endswith(".npz") else "")


def block_names(files: Sequence[str]) -> list[str]:
    """A name for the block of each file: its own without folder and ending, with a number if it repeats."""
    stems = [
        PurePath(split_key(path)[1] or path).name.partition(".")[0] or "block" for path in files
    ]
    return [
        stem if stems.count(stem) == 1 else f"{stem}{stems[: k + 1].count(stem)}"
        for k, stem in enumerate(stems)
    ]


def join_pairs(parts: Sequence[Pair], names: Sequence[str]) -> Pair:
    """Blocks side by side, whose rows are in the same order."""
    columns, blocks = [], []
    for part, name in zip(parts, names, strict=True):
        own = part.feature_names or [str(k + 1) for k in range(part.X.shape[1])]
        columns += [f"{name}:{column}" for column in own]
        blocks.append(
            {"name": name, "columns": part.feature_names, "n": part.X.shape[1], **part.origin}
        )
    ids = next((part.ids for part in parts if part.ids is not None), None)
    X = np.hstack([part.X for part in parts])
    origin = {"id_column": blocks[0]["id_column"], "blocks": blocks}
    return Pair(X, parts[0].Y, columns, parts[0].target_names, ids, origin)


def _codes(table: Table, what: str) -> NDArray:
    """The codes of the only column, a group or a class; every row must have one."""
    codes = table.values[:, 0]
    without = np.flatnonzero(codes < 0)
    if len(without):
        raise TableError(
            f"{table.path}: row {table.line(int(without[0]))} has no {what} in the column "
            f"{table.names[0]!r}; fill it, or leave the row out."
        )
    return codes


class _Shared:
    """Options that name columns, where one of two files has them."""

    def __init__(self, reading: Reading, paths: Sequence[str]) -> None:
        self._reading = reading
        self._paths = paths
        self._options = reading.options
        self._types = self._options["types"]
        self._ignore = self._options["ignore"]
        if reading.groups is not None:  # whatever it holds, only what is the same counts
            self._types[reading.groups] = "category"
        self._found: set[str] = set()
        self._readers: list[TableReader] = []

    def open(self, path: str, **more: Any) -> TableReader:
        # The first file must have the column of row names; a second one may.
        id_name = {"likely_id" if self._readers else "id_column": self._reading.id_column}
        reader = TableReader(path, **{**self._options, **id_name, **more})
        names = [column.name for column in reader.columns]
        is_number = (lambda name: False) if reader.has_names else _is_number
        self._found |= {n for n in self._types if find(n, names) is not None or is_number(n)}
        self._found |= {name for name in self._ignore if find(name, names) is not None}
        self._readers.append(reader)
        return reader

    def groups(self, reader: TableReader) -> list[Column]:
        """The column of the groups, if a table has it."""
        name = self._reading.groups
        if name is None:
            return []
        if reader.has_names and find(name, [c.name for c in reader.columns]) is None:
            return []
        if not reader.has_names and reader is not self._readers[0]:
            return []  # a number is a column of the inputs
        return reader.columns_of([name])

    def sentences(self) -> list[str]:
        return [sentence for reader in self._readers for sentence in reader.sentences()]

    def check_groups(self) -> None:
        """Say that no table has the column of the groups, before its cells are taken for inputs."""
        if self._reading.groups is not None:
            self._check_found("--groups", [self._reading.groups])

    def check_unused(self) -> None:
        self._check_found("--ignore-columns", self._ignore)
        self._check_found("--types", list(self._types))

    def _check_found(self, option: str, asked: Sequence[str]) -> None:
        unknown = [name for name in asked if name not in self._found]
        if unknown:
            files = " and ".join(self._paths)
            names = [c.name for reader in self._readers for c in reader.columns]
            have = "has" if len(self._paths) == 1 else "have"
            raise TableError(
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
        raise TableError(f"{reader.path} has no input columns left.")
    return inputs


def _outputs(reader: TableReader, asked: list[str], groups: list[Column]) -> list[Column]:
    """The columns of a table of outputs; a category among them holds classes and needs no option.

    So do truth values that are the only output.
    """
    columns = reader.columns_of(asked) or _inputs(reader, groups)
    kinds = ("category", "boolean") if len(columns) == 1 else ("category",)
    return [replace(c, kind="category", is_asked=True) if c.kind in kinds else c for c in columns]


def _indicate_classes(pair: Pair, y: Table, levels: dict[str, list[str]]) -> None:
    """Turn one output of classes into indicators; several outputs must be numbers."""
    classes = [name for name in y.names if name in levels]
    if not classes:
        return
    name = classes[0]
    if len(y.names) > 1:
        raise TableError(
            f"{y.path}: column {name!r} holds classes, {some(sorted(levels[name]))}, beside other "
            f"outputs; predict it by itself: --target-columns {name}."
        )
    labels = sorted(levels[name])
    pair.Y = indicate(_codes(y, "class"), levels[name])
    pair.target_names = [f"{name}={label}" for label in labels[len(labels) == 2 :]]
    pair.origin["classes"] = {"column": name, "labels": labels}


def align(x: Table, y: Table, tell: Callable[[str], None]) -> Table:
    """Put the rows of ``y`` in the order of those of ``x``: by their names, if both have them."""
    if x.n_rows != y.n_rows:
        raise TableError(
            f"{x.path} has {x.n_rows} rows and {y.path} has {y.n_rows}: they must be the same."
            f"{_rows_of_one(x, y)}"
        )
    # Without names on both sides rows go by their order.
    if (x.ids is None) != (y.ids is None):
        tell(
            f"rows of {x.path} and {y.path} are paired by position: only "
            f"{(y if x.ids is None else x).path} has row names."
        )
    if x.ids is None or y.ids is None or x.ids == y.ids:
        return y
    for table in (x, y):
        assert table.ids is not None
        if len(set(table.ids)) < len(table.ids):
            raise TableError(f"{table.path}: row names repeat, so rows cannot be matched by them.")
    where = {name: i for i, name in enumerate(y.ids)}
    missing = [name for name in x.ids if name not in where]
    if missing:
        raise TableError(f"rows of {x.path} are not in {y.path}: {some(missing)}.")
    order = [where[name] for name in x.ids]
    tell(f"rows of {y.path} were put in the order of {x.path} by their names.")
    return replace(y, values=y.values[order], ids=x.ids, id_name=x.id_name)


def _rows_of_one(x: Table, y: Table) -> str:
    """Names of rows that only one of two tables has."""
    if x.ids is None or y.ids is None:
        return ""
    told = ""
    for one, other in ((x, y), (y, x)):
        known = set(other.ids or [])
        missing = [name for name in one.ids or [] if name not in known]
        if missing:
            told += f" Only {one.path} has {some(missing)}."
    return told


def _check_empty(table: Table) -> None:
    empty = np.isnan(table.values).all(axis=0)
    if empty.any():
        names = [name for name, none in zip(table.names, empty) if none]
        raise TableError(
            f"{table.path}: the columns {some(names)} are empty; leave them out with --ignore-columns."
        )


def _check_outputs(y: Table, tell: Callable[[str], None]) -> None:
    constant = constant_columns(y)
    if len(constant) == len(y.names):
        raise TableError(f"{y.path}: outputs are constant: {some(constant)}.")
    if constant:
        tell(f"{y.path}: constant outputs: {some(constant)}.")
    _tell_stand_ins(y, tell)


def _join(x: Table, y: Table, reader: TableReader, tell: Callable[[str], None]) -> Pair:
    """Inputs and outputs, checked, with what a model keeps to read new rows of the inputs."""
    _check_empty(x)
    _tell_useless(x, tell)
    shared = set(x.names) & set(y.names) if x.has_names and y.has_names else set()
    # A target among the inputs would be predicted from itself.
    if shared:
        raise TableError(f"columns are both inputs and outputs: {some(sorted(shared))}.")
    targets = y.names if y.has_names else [f"y{k + 1}" for k in range(len(y.names))]
    levels = {name: reader.levels[name] for name in x.names if name in reader.levels}
    ids, id_name = (x.ids, x.id_name) if x.ids is not None else (y.ids, y.id_name)
    origin: dict[str, Any] = {"id_column": id_name}
    left_out = [c.place for c in reader.columns if c.kind == "index"]
    if not x.has_names and left_out:
        origin["row_numbers"] = left_out
    if levels:
        origin["categories"] = {name: sorted(found) for name, found in levels.items()}
    X = expand(x.values, x.names, levels)
    inputs = expand_names(x.names, levels) if x.has_names or levels else None
    return Pair(X, y.values, inputs, targets, ids, origin)


def _tell_stand_ins(table: Table, tell: Callable[[str], None]) -> None:
    for value, cells in stand_ins(table).items():
        count = sum(cells.values())
        tell(
            f"{table.path}: {value:g} in {plural(count, 'cell')} of {some(cells, 4)} is far from all other "
            "values there: missing values by a number? Then leave these cells empty."
        )


def _tell_useless(x: Table, tell: Callable[[str], None]) -> None:
    _tell_stand_ins(x, tell)
    constant = constant_columns(x)
    if constant:
        tell(f"{x.path}: constant inputs: {some(constant)}.")
    pairs = [(a, b) for a, b in duplicated_columns(x) if a not in constant]
    if pairs:
        told = ", ".join(f"{a!r} is {b!r}" for a, b in pairs[:4])
        more = f" and {len(pairs) - 4} more" if len(pairs) > 4 else ""
        tell(f"{x.path}: duplicate inputs: {told}{more}.")
