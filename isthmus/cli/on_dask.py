"""``isthmus fit --dask``: the table is read and summed by the workers of a running scheduler."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from isthmus.cli.app import InputError
from isthmus.cli.console import current
from isthmus.tables.errors import some

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

    from isthmus.problems.streams.dask_rows import DaskRows

    if not targets:
        raise InputError(f"{path}: name the outputs with --target-columns.")
    files = _files(path)
    is_csv = {file.lower().endswith(_CSV) for file in files}
    if len(is_csv) != 1 or not all(file.lower().endswith((*_CSV, *_PARQUET)) for file in files):
        raise InputError(f"{path}: --dask reads .csv, .parquet and folders of either.")
    try:
        full = files if files == [path] else _with_rows(path, files, skip_empty)
        if is_csv == {True}:
            # A compressed file cannot be split into blocks.
            packed = any(file.lower().endswith(".gz") for file in full)
            table = dd.read_csv(full, blocksize=None if packed else "default")
        else:
            table = dd.read_parquet(path if full == files else full)
    except OSError as error:
        raise InputError(f"{path}: {error}") from None
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


def _with_rows(path: str, files: list[str], skip_empty: bool) -> list[str]:
    """Say how many rows each file has, and refuse one without rows or with other columns."""
    import dask

    read = dask.delayed(_rows_and_columns, pure=False)
    told = dict(zip(files, dask.compute(*map(read, files)), strict=True))
    parts = {os.path.basename(file): rows for file, (rows, _) in told.items()}
    current().notice(
        f"{path}: rows of each file: " + ", ".join(f"{n} {k}" for n, k in parts.items()) + "."
    )
    empty = [file for file, (rows, _) in told.items() if not rows]
    if empty and not skip_empty:
        raise InputError(f"files without rows: {some(empty)}; remove them, or pass --skip-empty.")
    full = [file for file in files if file not in empty]
    if not full:
        raise InputError(f"{path} has no rows.")
    for file in full:
        if told[file][1] != told[full[0]][1]:
            raise InputError(
                f"{file} has the columns {some(told[file][1])}, but {full[0]} has "
                f"{some(told[full[0]][1])}: all files must have the same, in one order."
            )
    return full


def _rows_and_columns(file: str) -> tuple[int, list[str]]:
    """Run by a worker, which sees the file."""
    if file.lower().endswith(_PARQUET):
        import pyarrow.parquet as pq

        described = pq.ParquetFile(file)
        return described.metadata.num_rows, sorted(described.schema_arrow.names)
    import pandas as pd

    try:
        names = list(pd.read_csv(file, nrows=0).columns)
    except pd.errors.EmptyDataError:
        return 0, []
    parts = pd.read_csv(file, usecols=[0], chunksize=2**18, dtype=str)
    return sum(len(part) for part in parts), names
