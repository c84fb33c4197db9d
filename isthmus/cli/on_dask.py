"""``isthmus fit --dask``: the table is read and summed by the workers of a running scheduler."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from isthmus.cli.app import InputError

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


def open_dask_rows(path: str, targets: list[str], ignored: list[str]) -> Any:
    """Return the rows of Parquet or CSV files, a folder or a pattern, that all workers can read."""
    import dask.dataframe as dd

    from isthmus.problems.streams.dask_rows import DaskRows

    if not targets:
        raise InputError(f"{path}: name the outputs with --target-columns.")
    try:
        if path.lower().endswith((".csv", ".csv.gz")):
            # A compressed file cannot be split into blocks.
            table = dd.read_csv(path, blocksize=None if path.endswith(".gz") else "default")
        elif os.path.isdir(path) or path.lower().endswith((".parquet", ".pq")):
            table = dd.read_parquet(path)
        else:
            raise InputError(f"{path}: --dask reads .csv, .parquet and folders of Parquet files.")
    except OSError as error:
        raise InputError(f"{path}: {error}") from None
    missing = [name for name in (*targets, *ignored) if name not in table.columns]
    if missing:
        known = ", ".join(map(str, table.columns[:20]))
        raise InputError(f"{path} has no column {missing[0]!r}; it has {known}.")
    inputs = [name for name in table.columns if name not in {*targets, *ignored}]
    return DaskRows(table[inputs], table[targets])
