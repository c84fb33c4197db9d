"""The way to what is written for Dask, which is imported when a collection comes and not before."""

from __future__ import annotations

from typing import Any


def dask_source(X: Any, y: Any, sample_weight: Any) -> Any:
    """Return the rows of Dask collections as a source."""
    from isthmus.problems.streams.dask_rows import DaskRows

    return DaskRows(X, y, sample_weight)


def dask_result(estimator: Any, method: str, X: Any, *args: Any, **options: Any) -> Any:
    """Return what a method of a fitted estimator makes of each chunk, as a lazy collection."""
    from isthmus.problems.streams.dask_maps import map_lazily

    return map_lazily(estimator, method, X, *args, **options)
