"""Where the blocks of a source come from: a callable, arrays on disk, Arrow streams, Parquet files."""

from __future__ import annotations

import mmap
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import row_blocks

Size = Callable[[int], int]
"""Maps a number of columns to the rows of a block."""
Numbered = Iterator[tuple[int, tuple]]
"""Blocks as they come, each with its number in the source."""


class Reader(ABC):
    """Reads raw blocks ``(X, y, sample_weight)``; knows what a source knows of itself."""

    n_samples: int | None = None
    feature_names: list[str] | None = None
    target_names: list[str] | None = None
    y_is_1d = False
    can_repeat = True

    @abstractmethod
    def read(self, skip: int, size: Size) -> Numbered:
        """Yield the blocks after the first ``skip`` rows, of ``size`` rows where there is a choice."""


class CallReader(Reader):
    """Calls a function of the user at the beginning of each pass."""

    def __init__(self, blocks: Callable[[], Iterable[tuple]]) -> None:
        self.call = blocks

    def read(self, skip: int, size: Size) -> Numbered:
        blocks = self.call()
        if isinstance(blocks, tuple):
            raise TypeError("it returned a tuple, expected an iterable of tuples (X, y)")
        for number, block in enumerate(blocks):
            n = len(block[0]) if not hasattr(block[0], "shape") else block[0].shape[0]
            if skip < n or (skip == 0 and n == 0):
                yield number, block if skip == 0 else tuple(part[skip:] for part in block)
            skip = max(0, skip - n)


class ArrayReader(Reader):
    """Slices arrays by rows."""

    def __init__(self, X: Any, y: Any, sample_weight: Any) -> None:
        for name, array in (("X", X), ("y", y), ("sample_weight", sample_weight)):
            if array is not None and not (
                hasattr(array, "shape") and hasattr(array, "__getitem__")
            ):
                raise TypeError(
                    f"{name} is a {type(array).__name__}, expected an array with a shape."
                )
            if array is not None and array.shape[0] != X.shape[0]:
                raise ValueError(f"{name} has {array.shape[0]} rows and X has {X.shape[0]}.")
        self.arrays = X, y, sample_weight
        self.n_samples = int(X.shape[0])
        self.y_is_1d = y is not None and len(y.shape) == 1

    def read(self, skip: int, size: Size) -> Numbered:
        X, y, _ = self.arrays
        assert self.n_samples is not None
        n_columns = sum(int(np.prod(a.shape[1:])) for a in (X, y) if a is not None)
        n_rows = size(n_columns)
        for rows in row_blocks(self.n_samples - skip, n_rows):
            rows = slice(rows.start + skip, rows.stop + skip)
            yield rows.start // n_rows, tuple(None if a is None else a[rows] for a in self.arrays)
            for array in self.arrays:
                _forget(array)


def _forget(array: Any) -> None:
    """Give back the memory of the pages of a memory map that have been read; the file keeps them."""
    # A private copy ("c") has changes that are nowhere else.
    if not isinstance(array, np.memmap) or array.mode == "c" or not hasattr(mmap, "MADV_DONTNEED"):
        return
    pages: Any = array
    while isinstance(pages, np.ndarray):
        pages = pages.base
    if isinstance(pages, mmap.mmap):
        pages.madvise(mmap.MADV_DONTNEED)


class ArrowReader(Reader):
    """Reads record batches, each cut before it becomes an array."""

    def __init__(self, data: Any, y: Any, sample_weight: str | None) -> None:
        self.data = data
        self.pa = import_pyarrow()
        self.can_repeat = not isinstance(data, self.pa.RecordBatchReader)
        self.is_walked = False
        # A Dataset has a scanner, a Scanner a reader, a lazy frame of Polars its batches.
        known = ("__arrow_c_stream__", "scanner", "to_reader", "collect_batches")
        if not any(hasattr(data, name) for name in known):
            raise TypeError(
                f"data is a {type(data).__name__}, expected an object with __arrow_c_stream__ or a "
                "Polars LazyFrame."
            )
        self._name_columns(self._schema(), y, sample_weight)
        for attribute in ("num_rows", "height"):  # an Arrow table, a Polars frame
            count = getattr(data, attribute, None)
            if isinstance(count, int):
                self.n_samples = count

    def _name_columns(self, names: list[str], y: Any, sample_weight: str | None) -> None:
        self.y_is_1d = isinstance(y, str)
        self.target_names = [y] if isinstance(y, str) else list(y)
        self.weight_name = sample_weight
        for name in (*self.target_names, *([sample_weight] if sample_weight else [])):
            if name not in names:
                raise ValueError(
                    f"there is no column {name!r}; there are {', '.join(map(repr, names))}."
                )
        taken = {*self.target_names, sample_weight}
        self.feature_names = [name for name in names if name not in taken]
        if not self.feature_names:
            raise ValueError("all columns are targets or weights: no inputs are left.")

    def _schema(self) -> list[str]:
        if hasattr(self.data, "collect_schema"):  # a lazy frame, whose schema costs no rows
            return list(self.data.collect_schema().names())
        schema = getattr(self.data, "projected_schema", None) or getattr(self.data, "schema", None)
        if isinstance(schema, self.pa.Schema):
            return list(schema.names)
        return list(self.pa.RecordBatchReader.from_stream(self.data).schema.names)

    def _batches(self, n_rows: int) -> Iterator[Any]:
        if self.is_walked and not self.can_repeat:
            raise ValueError(
                "a RecordBatchReader can be walked once only and has been: read the data again, or hand "
                "over something that can be read again (a Table, a Dataset, Rows.from_parquet)"
            )
        self.is_walked = True
        if hasattr(self.data, "collect_batches"):  # Polars, which streams a lazy frame
            for frame in self.data.collect_batches(chunk_size=n_rows, maintain_order=True):
                yield from self.pa.RecordBatchReader.from_stream(frame)
        elif hasattr(self.data, "scanner"):
            yield from self.data.scanner(batch_size=n_rows).to_reader()
        elif hasattr(self.data, "to_reader") and not hasattr(self.data, "__arrow_c_stream__"):
            yield from self.data.to_reader()
        elif not self.can_repeat:
            yield from self.data
        else:
            yield from self.pa.RecordBatchReader.from_stream(self.data)

    def read(self, skip: int, size: Size) -> Numbered:
        assert self.feature_names is not None and self.target_names is not None
        n_rows = size(len(self.feature_names) + len(self.target_names))
        number = 0
        for batch in self._batches(n_rows):
            for rows in row_blocks(batch.num_rows, n_rows):
                length = rows.stop - rows.start
                if skip < length:
                    yield number, self._arrays(batch.slice(rows.start + skip, length - skip))
                skip = max(0, skip - length)
                number += 1

    def _arrays(self, batch: Any) -> tuple:
        assert self.feature_names is not None and self.target_names is not None
        X = _matrix(batch, self.feature_names)
        Y = _matrix(batch, self.target_names)
        w = None if self.weight_name is None else _matrix(batch, [self.weight_name])[:, 0]
        return X, Y[:, 0] if self.y_is_1d else Y, w


def _matrix(batch: Any, names: list[str]) -> NDArray:
    """Columns of a batch side by side; float32 if all of them are."""
    columns = [batch.column(batch.schema.get_field_index(name)) for name in names]
    kinds = {str(column.type) for column in columns}
    matrix = np.empty(
        (batch.num_rows, len(names)),
        dtype=np.float32 if kinds <= {"float", "halffloat"} and kinds else np.float64,
        order="F",
    )
    for j, (name, column) in enumerate(zip(names, columns, strict=True)):
        if column.null_count:
            raise ValueError(f"column {name!r} has {column.null_count} missing values")
        try:
            matrix[:, j] = column.to_numpy(zero_copy_only=False)
        except (ValueError, TypeError):
            raise ValueError(
                f"column {name!r} holds {column.type}, expected numbers: encode or leave it out"
            ) from None
    return matrix


class ParquetReader(ArrowReader):
    """Reads a Parquet file or a folder of them, one file after another."""

    def __init__(self, path: Any, y: Any, sample_weight: str | None) -> None:
        self.pa = import_pyarrow()
        self.data = import_module("pyarrow.dataset").dataset(path, format="parquet")
        self._name_columns(list(self.data.schema.names), y, sample_weight)
        self.n_samples = int(self.data.count_rows())

    def _batches(self, n_rows: int) -> Iterator[Any]:
        assert self.feature_names is not None and self.target_names is not None
        columns = [*self.feature_names, *self.target_names]
        if self.weight_name is not None:
            columns.append(self.weight_name)
        # The scanner of a dataset keeps buffers of the files behind it: its memory grows with the rows.
        open_file = import_module("pyarrow.parquet").ParquetFile
        for fragment in self.data.get_fragments():
            with fragment.open() as source:
                file = open_file(source, pre_buffer=False)
                missing = [name for name in columns if name not in file.schema_arrow.names]
                if missing:
                    raise ValueError(f"{fragment.path} has no column {missing[0]!r}")
                yield from file.iter_batches(batch_size=n_rows, columns=columns)


def import_pyarrow() -> Any:
    """Import pyarrow, or say how to get it."""
    try:
        return import_module("pyarrow")
    except ImportError:
        raise ImportError(
            "Arrow streams and Parquet files need pyarrow: pip install 'isthmus[parquet]'."
        ) from None
