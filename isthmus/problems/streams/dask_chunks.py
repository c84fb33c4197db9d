"""Dask collections of inputs, outputs and weights, cut alike into chunks of rows."""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Callable
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.base import is_dask_collection
from dask.delayed import Delayed


class Chunks:
    """Inputs, outputs (n, q) and weights (n, 1) that are cut alike; outputs and weights may be None."""

    feature_names: list[str] | None = None
    target_names: list[str] | None = None

    def __init__(self, X: Any, y: Any, weights: Any, y_is_1d: bool) -> None:
        self.X, self.y, self.weights = X, y, weights
        self.y_is_1d = y_is_1d
        self.n_samples = None if is_frame(X) or np.isnan(X.shape[0]) else int(X.shape[0])

    @property
    def n_columns(self) -> int:
        """Columns of inputs and outputs together."""
        n_targets = 0 if self.y is None else 1 if self.y.ndim == 1 else self.y.shape[1]
        return int(self.X.shape[1] + n_targets)

    def tasks(self, function: Callable[..., Any], *args: Any) -> list[Delayed]:
        """One task for each chunk: ``function(number, X, y, weights, *args)``.

        All collections are in one graph, so that what they have in common is computed once.
        """
        call = _NumberedCall(function, self.y_is_1d)
        own = (self.y, self.weights)
        if is_frame(self.X):
            import dask.dataframe as dd

            found = dd.map_partitions(
                call, self.X, *own, *args, meta=_objects(), enforce_metadata=False,
                align_dataframes=False, token=function.__name__.strip("_"),
            )  # fmt: skip
            return list(found.to_delayed())
        found = da.map_blocks(
            call, self.X, *own, *args, dtype=object, meta=np.empty((0, 0), dtype=object),
            name=f"{function.__name__.strip('_')}-{uuid.uuid4().hex}",
        )  # fmt: skip
        return list(found.to_delayed().ravel())

    def lengths(self) -> list[int]:
        """Rows of each chunk; where they are unknown, one pass counts them."""
        if self.n_samples is not None:
            return list(self.X.chunks[0])
        return list(dask.compute(*self.tasks(_length)))


class _NumberedCall:
    """Calls a function with the number of a chunk and its plain arrays."""

    def __init__(self, function: Callable[..., Any], y_is_1d: bool) -> None:
        self.function, self.y_is_1d = function, y_is_1d
        self.token = uuid.uuid4().hex

    def __dask_tokenize__(self) -> str:
        return self.token

    def __call__(
        self,
        X: Any,
        y: Any,
        weights: Any,
        *args: Any,
        block_id: Any = None,
        partition_info: Any = None,
    ) -> Any:
        number = block_id[0] if partition_info is None else partition_info["number"]
        y = None if y is None else as_plain(y)
        weights = None if weights is None else as_plain(weights).reshape(-1)
        if y is not None and self.y_is_1d and y.ndim == 2:
            y = y[:, 0]
        return self.function(number, as_plain(X), y, weights, *args)


def as_plain(chunk: Any) -> Any:
    """Return a chunk as an array or a sparse matrix; missing values of a frame are NaN."""
    if hasattr(chunk, "tocsr"):
        return chunk.tocsr()
    if not hasattr(chunk, "to_numpy"):
        return np.asarray(chunk)
    plain = chunk.to_numpy()
    if plain.dtype == object:  # columns that may hold NA
        plain = chunk.astype("float64").to_numpy(na_value=np.nan)
    return plain


def _length(number: int, X: Any, y: Any, weights: Any) -> int:
    return int(X.shape[0])


def _objects() -> Any:
    import pandas as pd

    return pd.Series(dtype=object)


# -- the door ------------------------------------------------------------------------------------------


def is_frame(collection: Any) -> bool:
    """Whether a collection is a data frame or a series."""
    return hasattr(type(collection), "map_partitions")  # a Delayed has everything


def aligned_chunks(X: Any, y: Any, sample_weight: Any) -> Chunks:
    """Check collections and cut them alike, at the rows of X."""
    feature_names = _names(X)
    target_names = _names(y)
    X = whole_columns(check_kind(X, "X"))
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimension, expected 2: X[:, None] is one column.")
    y_is_1d = y is not None and np.ndim(y) == 1 if not is_dask_collection(y) else y.ndim == 1
    others = []
    for name, values in (("y", y), ("sample_weight", sample_weight)):
        if values is not None:
            values = check_kind(values, name) if is_dask_collection(values) else np.asarray(values)
        others.append(values)
    if is_frame(X) and not all(v is None or is_frame(v) for v in others):
        X = X.to_dask_array()
    if not is_frame(X):
        others = [v.to_dask_array() if is_frame(v) else v for v in others]
    paired = [_cut_like(X, v, n) for v, n in zip(others, ("y", "sample_weight"), strict=True)]
    chunks = Chunks(X, paired[0], paired[1], y_is_1d)
    chunks.feature_names, chunks.target_names = feature_names, target_names
    return chunks


def check_kind(values: Any, name: str) -> Any:
    """Refuse what is no array or frame of numbers."""
    if is_frame(values):
        kinds = values.to_frame().dtypes if values.ndim == 1 else values.dtypes
        wrong = [str(c) for c, kind in kinds.items() if getattr(kind, "kind", "O") not in "fiub"]
        if wrong:
            raise ValueError(
                f"{name} has columns that hold no numbers: {', '.join(wrong[:5])}"
                f"{', ...' if len(wrong) > 5 else ''}. Encode or leave them out."
            )
        return values
    if not isinstance(values, da.Array):
        raise TypeError(
            f"{name} is a Dask {type(values).__name__}, expected an array or a data frame: "
            "dask.array.from_delayed and dask.dataframe.from_delayed make one."
        )
    if values.dtype.kind not in "fiub":
        raise ValueError(f"{name} holds {values.dtype}, expected numbers.")
    return values


def whole_columns(X: Any) -> Any:
    """Put chunks of columns side by side; say what that costs."""
    if is_frame(X) or X.ndim != 2 or X.numblocks[1] == 1:
        return X
    n_blocks = X.numblocks[1]
    share = (n_blocks - 1) / n_blocks
    moved = f"{share:.0%} of X" if np.isnan(X.nbytes) else f"{share * X.nbytes / 2**20:.0f} MiB"
    warnings.warn(
        f"X is chunked by columns ({n_blocks} chunks per row): every pass over "
        f"the rows joins them, which sends up to {moved} between workers each time. "
        "X = X.rechunk({1: -1}).persist() does so once.",
        UserWarning,
        stacklevel=2,
    )
    return X.rechunk({1: -1})


def _names(values: Any) -> list[str] | None:
    if not is_frame(values):
        return None
    names = [values.name] if values.ndim == 1 else list(values.columns)
    return names if all(isinstance(name, str) for name in names) else None


def _cut_like(X: Any, values: Any, name: str) -> Any:
    """Cut outputs or weights at the rows of X."""
    if values is None:
        return None
    if is_frame(X):
        return _frame_like(X, values, name)
    known = not np.isnan(X.shape[0])
    if isinstance(values, np.ndarray):
        if not known:
            raise ValueError(
                f"{name} is an array, but the chunks of X have unknown lengths: hand over {name} as a Dask "
                "collection with the same chunks, or call X.compute_chunk_sizes() first."
            )
        _check_lengths(X, values, name)
        values = da.from_array(values, chunks=(X.chunks[0], *values.shape[1:]))
    if values.ndim > 2:
        raise ValueError(f"{name} has {values.ndim} dimensions, expected 1 or 2.")
    if values.ndim == 1:
        values = values[:, None]
    if values.numblocks[1] > 1:
        values = values.rechunk({1: -1})
    if known and not np.isnan(values.shape[0]):
        _check_lengths(X, values, name)
        if values.chunks[0] == X.chunks[0]:
            return values
        return values.rechunk({0: X.chunks[0]})
    if values.numblocks[0] != X.numblocks[0]:
        raise ValueError(
            f"X has {X.numblocks[0]} chunks of rows and {name} has {values.numblocks[0]}, and some of "
            f"their lengths are unknown: find them by compute_chunk_sizes() of X and of {name}."
        )
    return values


def _frame_like(X: Any, values: Any, name: str) -> Any:
    same = values.npartitions == X.npartitions
    if X.known_divisions and values.known_divisions:
        same = values.divisions == X.divisions
        if same:
            return values
        return values.repartition(divisions=X.divisions, force=True)
    if not same:
        raise ValueError(
            f"X has {X.npartitions} partitions and {name} has {values.npartitions}, and their divisions "
            "are unknown, so that rows cannot be paired: take both from one data frame, or set_index first."
        )
    return values


def _check_lengths(X: Any, values: Any, name: str) -> None:
    if values.shape[0] != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows and {name} has {values.shape[0]}.")
