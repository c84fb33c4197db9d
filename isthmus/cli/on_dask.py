"""``isthmus fit --dask``: the table is read and summed by the workers of a running scheduler."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from isthmus.cli.app import InputError
from isthmus.cli.console import current
from isthmus.tables import some

_SECONDS = 10  # to wait for the scheduler


@contextmanager
def scheduler(address: str) -> Iterator[Any]:
    """Connect to a running scheduler, which is then the one that Dask uses."""
    try:
        from distributed import Client
    except ImportError:
        raise InputError("--dask needs Dask: pip install 'isthmus[dask]'.") from None
    try:
        client = Client(address, timeout=_SECONDS)
    except (OSError, ValueError) as error:
        raise InputError(f"--dask {address}: no scheduler answers there ({error}).") from None
    with client:
        yield client


def open_dask_rows(path: str, targets: list[str], ignored: list[str], skip_empty: bool) -> Any:
    """Return the rows of Parquet or CSV files, a folder or a pattern, that all workers can read."""
    import dask.dataframe as dd

    from isthmus.problems.streams import DaskRows

    if not targets:
        raise InputError(f"{path}: name the outputs with --target-columns.")
    files = _files(path)
    if not all(file.lower().endswith((*_CSV, *_PARQUET)) for file in files):
        raise InputError(f"{path}: --dask reads .csv, .parquet and folders of either.")
    try:
        tables = {file: _open(file) for file in files}
        if files != [path]:
            tables = _with_rows(path, tables, skip_empty)
    except OSError as error:
        raise InputError(f"{path}: {error}") from None
    table = dd.concat(list(tables.values()))
    missing = [name for name in (*targets, *ignored) if name not in table.columns]
    if missing:
        known = ", ".join(map(str, table.columns[:20]))
        raise InputError(f"{path} has no column {missing[0]!r}; it has {known}.")
    inputs = [name for name in table.columns if name not in {*targets, *ignored}]
    return DaskRows(table[inputs], table[targets])


_CSV, _PARQUET = (".csv", ".csv.gz"), (".parquet", ".pq")


def _files(path: str) -> list[str]:
    """The files of a folder or a pattern of this machine; else what was given."""
    if os.path.isdir(path):
        pattern = os.path.join(glob.escape(path), "**", "*")
        # Notes of other programs, such as _SUCCESS, are no parts.
        found = [file for file in glob.glob(pattern, recursive=True) if os.path.isfile(file)]
        return sorted(file for file in found if not os.path.basename(file).startswith("_"))
    return sorted(glob.glob(path)) or [path]


def _open(file: str) -> Any:
    import dask.dataframe as dd
    import pandas as pd

    if file.lower().endswith(_PARQUET):
        return dd.read_parquet(file)
    try:
        # A compressed file cannot be split into blocks.
        return dd.read_csv(file, blocksize=None if file.lower().endswith(".gz") else "default")
    except pd.errors.EmptyDataError:
        return dd.from_pandas(pd.DataFrame(), npartitions=1)


def _with_rows(path: str, tables: dict[str, Any], skip_empty: bool) -> dict[str, Any]:
    """Say how many rows each file has, and refuse one without rows or with other columns."""
    import dask

    counts = dict(zip(tables, dask.compute(*(table.shape[0] for table in tables.values()))))
    told = ", ".join(f"{os.path.basename(file)} {count}" for file, count in counts.items())
    current().notice(f"{path}: rows of each file: {told}.")
    empty = [file for file, count in counts.items() if not count]
    if empty and not skip_empty:
        raise InputError(f"files without rows: {some(empty)}; remove them, or pass --skip-empty.")
    if len(empty) == len(tables):
        raise InputError(f"{path} has no rows.")
    full = {file: table for file, table in tables.items() if counts[file]}
    first = next(iter(full))
    for file, table in full.items():
        if list(table.columns) != list(full[first].columns):
            raise InputError(
                f"{file} has the columns {some(table.columns)}, but {first} has "
                f"{some(full[first].columns)}: all files must have the same, in one order."
            )
    return full
