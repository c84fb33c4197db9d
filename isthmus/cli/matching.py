"""Inputs and outputs row by row, and new rows against the columns of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.cli.app import InputError
from isthmus.cli.console import current
from isthmus.cli.tables import Table, _some, read_table


@dataclass
class Pair:
    """Inputs and outputs, row by row."""

    X: NDArray
    Y: NDArray
    feature_names: list[str] | None
    target_names: list[str]
    ids: list[str] | None
    id_name: str | None


def split_names(given: list[str] | None) -> list[str]:
    """``a,b`` and repeated options alike."""
    return [name.strip() for item in given or [] for name in item.split(",") if name.strip()]


def read_pair(
    x_file: str,
    y_file: str | None,
    *,
    target_columns: list[str],
    id_column: str | None,
    ignore: list[str],
    header: bool | None,
) -> Pair:
    """Two files, or one file with target columns."""
    x = read_table(x_file, header=header, id_column=id_column, ignore=ignore, key="X")
    left_out = x.ignored
    if y_file is not None:
        y = _read_outputs(y_file, x, id_column, ignore, header)
        left_out = left_out | y.ignored
        if target_columns:
            y = y.take([y.place(name) for name in target_columns])
        x, y = aligned(x, y)
    elif target_columns:
        places = [x.place(name) for name in target_columns]
        y, x = x.take(places), x.without(set(places))
    elif "Y" in x.extra or "y" in x.extra:
        y = read_table(x.path, key="Y")
    else:
        raise InputError(
            f"{x_file} alone says not what to predict: give a second file, or --target-columns."
        )
    unknown = [name for name in ignore if name not in left_out]
    if unknown:
        files = x_file if y_file is None else f"{x_file} and {y_file}"
        raise InputError(f"--ignore-columns: {files} have no column {_some(unknown)}.")
    return _checked(x, y)


def _read_outputs(
    path: str, x: Table, id_column: str | None, ignore: list[str], header: bool | None
) -> Table:
    """Outputs; the id column is theirs too only if they have it."""
    try:
        return read_table(path, header=header, id_column=id_column, ignore=ignore, key="Y")
    except InputError as error:
        if id_column is None or "has no column" not in str(error):
            raise
    return read_table(path, header=header, ignore=ignore, key="Y")


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
    missing = [name for name in x.ids if name not in set(y.ids)]
    if missing:
        raise InputError(f"rows of {x.path} are not in {y.path}: {_some(missing)}.")
    where = {name: i for i, name in enumerate(y.ids)}
    order = [where[name] for name in x.ids]
    current().notice(f"rows of {y.path} were put in the order of {x.path} by their names.")
    columns = [np.asarray(column)[order] for column in _as_numbers(y)]
    return x, Table(y.path, y.names, columns, y.has_names, x.ids, x.id_name)


def _as_numbers(table: Table) -> list[Any]:
    return list(table.numbers("output").T)


def _checked(x: Table, y: Table) -> Pair:
    X, Y = x.numbers("input"), y.numbers("output")
    if len(X) != len(Y):
        raise InputError(f"{len(X)} rows of inputs and {len(Y)} of outputs: they must be the same.")
    for table, A in ((x, X), (y, Y)):
        empty = np.isnan(A).all(axis=0)
        if empty.any():
            names = [name for name, none in zip(table.names, empty) if none]
            raise InputError(
                f"{table.path}: no value at all in the columns {_some(names)}; leave them out with "
                "--ignore-columns."
            )
    with np.errstate(invalid="ignore"):
        constant = np.nanmax(Y, axis=0) == np.nanmin(Y, axis=0)
    if len(Y) > 1 and constant.any():
        names = [name for name, none in zip(y.names, constant) if none]
        if constant.all():
            raise InputError(f"{y.path}: the outputs never vary: {_some(names)}.")
        current().notice(f"{y.path}: outputs that never vary: {_some(names)}.")
    shared = set(x.names) & set(y.names) if x.has_names and y.has_names else set()
    if shared:
        raise InputError(f"columns are both inputs and outputs: {_some(sorted(shared))}.")
    targets = y.names if y.has_names else [f"y{k + 1}" for k in range(Y.shape[1])]
    ids, id_name = (x.ids, x.id_name) if x.ids is not None else (y.ids, y.id_name)
    return Pair(X, Y, x.names if x.has_names else None, targets, ids, id_name)


def rows_for_model(
    search: Any,
    path: str,
    *,
    id_column: str | None,
    header: bool | None,
    drop: list[str] | None = None,
) -> tuple[NDArray, Table]:
    """New rows with the columns that a model has seen, in its order."""
    table = read_table(path, header=header, id_column=id_column)
    wanted = getattr(search, "feature_names_in_", None)
    n = int(search.n_features_in_)
    if wanted is not None and not table.has_names and len(table.names) == n:
        current().notice(
            f"{path} has no header: its columns are taken to be in the order of training."
        )
        return _complete(search, table), table
    if wanted is None or not table.has_names:
        kept = table
        if len(kept.names) != n:
            raise InputError(
                f"{path} has {len(kept.names)} columns, the model was fitted on {n}"
                + ("." if wanted is None else f": {_some([str(w) for w in wanted])}.")
            )
        return _complete(search, kept), table
    names = [str(name) for name in wanted]
    missing = [name for name in names if name not in table.names]
    if missing:
        raise InputError(
            f"{path} lacks {len(missing)} of the {len(names)} columns the model was fitted on: "
            f"{_some(missing, 20)}."
        )
    known = set(names) | set(drop or [])
    extra = [name for name in table.names if name not in known]
    if extra:
        current().notice(
            f"{path}: columns that the model does not know are ignored: {_some(extra)}."
        )
    return _complete(search, table.take([table.names.index(name) for name in names])), table


def _complete(search: Any, table: Table) -> NDArray:
    """The rows as numbers; holes are for models that were fitted with them."""
    X = table.numbers("input")
    holes = np.argwhere(np.isnan(X))
    if len(holes) and getattr(search.best_estimator_, "missing", "error") != "em":
        i, j = holes[0]
        raise InputError(
            f"{table.path}: column {table.names[j]!r} has no value in row {i + 1} and the model was fitted "
            "on complete rows: fill it, leave the row out, or fit on rows with missing values."
        )
    return X


def id_column_for(search: Any, path: str, asked: str | None, header: bool | None) -> str | None:
    """The id column that was asked for, or that of training if the file has it."""
    name = getattr(search, "origin_", {}).get("id_column")
    if asked is not None or name is None:
        return asked
    return name if name in read_table(path, header=header).names else None
