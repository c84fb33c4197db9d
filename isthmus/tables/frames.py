"""Parquet and Feather files by pyarrow, in batches of rows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

from isthmus.tables.errors import TableError, need, some
from isthmus.tables.formats import ROWS, Block, Format
from isthmus.tables.layout import SAMPLE
from isthmus.tables.sheets import cell_text
from isthmus.tables.sources import Source


class Frame(Format):
    """Typed columns: numbers stay numbers, all others are texts until it is known what they are."""

    def __init__(self, source: Source) -> None:
        path = source.path
        label = "Parquet" if source.format == "parquet" else "Feather"
        try:
            names, batches, self._total = _open(source)
            first = next(batches, None)
        except TableError:
            raise
        except Exception as error:  # each library has its own
            raise TableError(f"{path} is not a {label} file that can be read.") from error
        if first is None or not len(first[0] if first else []):
            raise TableError(f"{path} has no rows.")
        self._source = source
        self._batches = chain([first], _whole(path, batches))
        sample = [column[:SAMPLE] for column in first]
        facts = {"format": label, "header": "names"}
        super().__init__(path, names, sample, facts, has_names=True)

    def blocks(self, texts: frozenset[int]) -> Iterator[Block]:
        """Yield all rows."""
        done = 0
        for batch in self._batches:
            lines = range(done + 1, done + 1 + len(batch[0]))
            for k in texts:
                if isinstance(batch[k], np.ndarray):
                    batch[k] = ["" if v != v else cell_text(float(v)) for v in batch[k]]
            done += len(lines)
            self._source.tell_rows(done, self._total)
            yield self.block(batch, lines, texts)


def _whole(path: str, batches: Iterator[Any]) -> Iterator[Any]:
    try:
        yield from batches
    except TableError:
        raise
    except Exception as error:
        raise TableError(f"{path} is damaged: not all of its rows can be read.") from error


def _open(source: Source) -> tuple[list[str], Iterator[list[Any]], int | None]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise need("pyarrow", "Parquet and Feather files", "parquet") from error
    file = source.seekable()
    if source.format == "parquet":
        opened = pq.ParquetFile(file)
        schema, total = opened.schema_arrow, opened.metadata.num_rows
        batches = opened.iter_batches(batch_size=ROWS)
    else:
        reader = pa.ipc.open_file(file)
        schema, total = reader.schema, None
        batches = (
            reader.get_batch(k).slice(start, ROWS)
            for k in range(reader.num_record_batches)
            for start in range(0, reader.get_batch(k).num_rows, ROWS)
        )
    nested = [field.name for field in schema if pa.types.is_nested(field.type)]
    binary = [
        f.name for f in schema if pa.types.is_binary(f.type) or pa.types.is_large_binary(f.type)
    ]
    if nested or binary:
        raise TableError(
            f"{source.path}: columns that hold lists, records or bytes: {some(nested + binary)}."
        )
    names = [str(name) for name in schema.names]
    return names, ([_arrow_column(c) for c in batch.columns] for batch in batches), total


def _arrow_column(column: Any) -> Any:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        if pa.types.is_float16(kind):  # older versions of pyarrow cannot cast it
            return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
        return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
    return ["" if cell is None else cell_text(cell) for cell in column.to_pylist()]
