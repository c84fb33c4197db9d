"""Tables that are written block by block: CSV, TSV, Parquet, Feather and npy."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.tables.cells import number
from isthmus.tables.errors import need

WRITABLE = (".csv", ".tsv", ".parquet", ".feather", ".npy")


def defuse(cell: str) -> str:
    """Write a text so that no spreadsheet takes it for a formula."""
    # Spreadsheets run cells that begin like this; negative numbers are kept.
    if cell[:1] in ("=", "+", "-", "@", "\t", "\r") and number(cell) is None:
        return "'" + cell
    return cell


class Writer:
    """Write rows to a file as they come.

    Parameters
    ----------
    suffix : str
        One of ``WRITABLE``.
    write : callable of bytes
        Takes the bytes of text formats, in order.
    part : callable without arguments
        Gives the path of a file for formats that need one.
    id_name : str or None
        Name of the column of row names; None writes none.
    names : list of str
        Names of the columns of numbers.
    text_names : list of str, default=()
        Names of columns of texts behind them; ``.npy`` has no place for these.
    raw : bool, default=False
        Whether texts that a spreadsheet would run are written as they are.
    """

    def __init__(
        self,
        suffix: str,
        write: Callable[[bytes], Any],
        part: Callable[[], Path],
        id_name: str | None,
        names: list[str],
        *,
        text_names: Sequence[str] = (),
        raw: bool = False,
    ) -> None:
        self._suffix = suffix
        self._write = write
        self._part = part
        self._id_name = id_name
        self._names = names
        self._raw = raw
        self._text_names = list(text_names)
        self.n_rows = 0
        self._file: Any = None

    def _begin(self) -> None:
        """Write what comes before the rows; nothing is written for a table that is refused at once."""
        if self._suffix in (".csv", ".tsv"):
            head = (
                ([] if self._id_name is None else [self._id_name]) + self._names + self._text_names
            )
            self._write(self._lines([[self._safe(cell) for cell in head]]))
        elif self._suffix == ".npy":
            self._write(self._npy_header())
        else:
            self._file = self._arrow_writer()

    def _safe(self, cell: str) -> str:
        return cell if self._raw else defuse(cell)

    def _lines(self, rows: list[list[str]]) -> bytes:
        text = io.StringIO()
        mark = "\t" if self._suffix == ".tsv" else ","
        csv.writer(text, delimiter=mark, lineterminator="\n").writerows(rows)
        return text.getvalue().encode("utf-8", "surrogatepass")

    def append(
        self, ids: list[str] | None, values: NDArray, texts: Sequence[Sequence[str]] = ()
    ) -> None:
        """Write some rows: their names, their numbers, and their texts column by column."""
        if not self.n_rows:
            self._begin()
        self.n_rows += len(values)
        if self._suffix == ".npy":
            self._write(np.ascontiguousarray(values, dtype="<f8").tobytes())
        elif self._file is not None:
            self._append_arrow(ids, values, texts)
        else:
            lines: list[list[str]] = [
                ["" if v != v else repr(v) for v in row] for row in values.tolist()
            ]
            if self._id_name is not None:
                assert ids is not None
                lines = [[self._safe(i), *line] for i, line in zip(ids, lines)]
            for column in texts:
                lines = [[*line, self._safe(text)] for line, text in zip(lines, column)]
            self._write(self._lines(lines))

    def finish(self) -> None:
        """Complete the file."""
        if self._suffix == ".npy":
            with open(self._part(), "r+b") as file:
                file.write(self._npy_header())
        elif self._file is not None:
            self.close()

    def close(self) -> None:
        """Close what is open, whole or not."""
        if self._file is not None:
            file, self._file = self._file, None
            file.close()

    def _npy_header(self) -> bytes:
        # Of one length whatever the number of rows, for which numpy leaves room.
        header = io.BytesIO()
        shape = (self.n_rows, len(self._names))
        told = {"descr": "<f8", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(header, told)
        return header.getvalue()

    def _arrow_writer(self) -> Any:
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError as error:
            raise need("pyarrow", "Parquet and Feather files", "parquet") from error
        fields = [] if self._id_name is None else [(self._id_name, pa.string())]
        fields += [(name, pa.float64()) for name in self._names]
        self._schema = pa.schema([*fields, *((name, pa.string()) for name in self._text_names)])
        path = str(self._part())
        if self._suffix == ".parquet":
            return pq.ParquetWriter(path, self._schema)
        return pa.ipc.new_file(path, self._schema)

    def _append_arrow(
        self, ids: list[str] | None, values: NDArray, texts: Sequence[Sequence[str]]
    ) -> None:
        import pyarrow as pa

        columns = [] if self._id_name is None else [pa.array(ids, pa.string())]
        columns += [pa.array(column) for column in np.ascontiguousarray(values.T)]
        columns += [pa.array(list(column), pa.string()) for column in texts]
        self._file.write_table(pa.Table.from_arrays(columns, schema=self._schema))
