"""Files to named columns, and back: CSV, TSV, Parquet, npy, npz."""

from __future__ import annotations

import csv
import io
import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.cli.app import InputError
from isthmus.cli.console import current

MISSING = {"", "na", "n/a", "nan", "null", "none", "?", "-", "missing", "#n/a"}
TEXT_KINDS = {".csv": None, ".txt": None, ".tsv": "\t", ".tab": "\t"}
READABLE = "CSV, TSV, Parquet, .npy and .npz files are read"
_LONGEST_CELL = 2**24


@dataclass
class Text:
    """A column that holds text, and the first cell that says so."""

    cells: list[str]
    row: int
    value: str


@dataclass
class Table:
    """Named columns of one file, in order; numbers are arrays, others :class:`Text`."""

    path: str
    names: list[str]
    columns: list[Any]
    has_names: bool
    ids: list[str] | None = None
    id_name: str | None = None
    extra: dict[str, NDArray] = field(default_factory=dict)  # further arrays of an npz
    ignored: set[str] = field(default_factory=set)  # columns left out by name

    @property
    def n_rows(self) -> int:
        if not self.columns:
            return len(self.ids or [])
        first = self.columns[0]
        return len(first.cells) if isinstance(first, Text) else len(first)

    def place(self, name: str) -> int:
        """The column that a name, or a number from 1 where there are no names, means."""
        if name in self.names:
            return self.names.index(name)
        if not self.has_names:
            try:
                k = int(name)
            except ValueError:
                k = 0
            if 1 <= k <= len(self.names) or -len(self.names) <= k <= -1:
                return k - 1 if k > 0 else k + len(self.names)
            raise InputError(
                f"{self.path} has no column {name!r}: it has no header, so columns are numbered 1 to "
                f"{len(self.names)}."
            )
        raise InputError(f"{self.path} has no column {name!r}; it has {_some(self.names)}.")

    def without(self, places: set[int]) -> Table:
        keep = [k for k in range(len(self.names)) if k not in places]
        return Table(
            self.path, [self.names[k] for k in keep], [self.columns[k] for k in keep],
            self.has_names, self.ids, self.id_name, self.extra,
        )  # fmt: skip

    def take(self, places: list[int]) -> Table:
        return Table(
            self.path, [self.names[k] for k in places], [self.columns[k] for k in places],
            self.has_names, self.ids, self.id_name, self.extra,
        )  # fmt: skip

    def numbers(self, what: str) -> NDArray:
        """All columns as one array; text is refused where it stands."""
        if not self.columns:
            raise InputError(f"{self.path} has no {what} columns left.")
        for name, column in zip(self.names, self.columns):
            if isinstance(column, Text):
                raise InputError(
                    f"{self.path}: column {name!r} has text in row {column.row}, {column.value[:40]!r}; "
                    "name it with --id-column, leave it out with --ignore-columns, or turn it into "
                    "numbers."
                )
        values = np.column_stack(self.columns) if self.columns else np.empty((self.n_rows, 0))
        bad = np.isinf(values)
        if bad.any():
            i, j = np.argwhere(bad)[0]
            raise InputError(
                f"{self.path}: column {self.names[j]!r} is infinite in row {i + 1}; leave the row out."
            )
        return values


def _some(names: list[str], most: int = 8) -> str:
    listed = ", ".join(map(repr, names[:most]))
    return listed if len(names) <= most else f"{listed}, ... ({len(names)} in all)"


def read_table(
    given: str,
    *,
    header: bool | None = None,
    id_column: str | None = None,
    ignore: list[str] | None = None,
    key: str = "X",
) -> Table:
    """Read a file; ``name.npz:array`` asks for one array of several."""
    path, inner = _split_key(given)
    _check_readable(path)
    kind = Path(path).suffix.lower()
    if kind in TEXT_KINDS:
        table = _read_text(path, TEXT_KINDS[kind], header)
    elif kind in (".parquet", ".pq"):
        table = _read_parquet(path)
    elif kind in (".npy", ".npz"):
        table = _read_numpy(path, inner, key)
    else:
        raise InputError(f"{path}: files that end in {kind!r} are not known; {READABLE}.")
    repeated = [name for name, count in Counter(table.names).items() if count > 1]
    if repeated:
        raise InputError(f"{path} has several columns of one name: {_some(repeated)}.")
    ignored = set(ignore or []) & set(table.names)
    if ignored:
        table = table.without({table.place(name) for name in ignored})
    table = _with_ids(table, id_column)
    table.ignored = ignored
    return table


def file_of(given: str | None) -> list[str]:
    """The file that is read, as a list: of ``name.npz:array`` without the array, none for none."""
    return [] if given is None else [_split_key(given)[0]]


def _split_key(given: str) -> tuple[str, str | None]:
    path, colon, key = given.rpartition(":")
    if colon and path.lower().endswith(".npz"):
        return path, key
    return given, None


def _check_readable(path: str) -> None:
    if not os.path.exists(path):
        raise InputError(f"{path}: no such file.")
    if os.path.isdir(path):
        raise InputError(f"{path} is a directory; {READABLE}.")
    if os.path.getsize(path) == 0 and os.path.isfile(path):
        raise InputError(f"{path} is empty.")


# -- text -------------------------------------------------------------------------------------


def _read_text(path: str, delimiter: str | None, header: bool | None) -> Table:
    data = Path(path).read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 text (byte {error.start} is 0x{data[error.start]:02x}); save it as UTF-8."
        ) from error
    if "\0" in text:
        raise InputError(f"{path} has null bytes: it is not a text file.")
    rows = _split_rows(path, text, delimiter)
    has_names = _is_header(rows) if header is None else header
    if has_names and len(rows) == 1:
        raise InputError(f"{path} has a header and no rows.")
    names = [cell.strip() for cell in rows[0]] if has_names else _numbered(len(rows[0]))
    if has_names and "" in names:
        blank = [k for k, name in enumerate(names) if not name]
        if blank == [0]:  # how frames with an index are written
            names[0] = "index"
        else:
            raise InputError(f"{path}: column {blank[-1] + 1} has no name in the header.")
    body = rows[1:] if has_names else rows
    try:
        columns: list[Any] = list(np.array(body, dtype=np.float64).T)
    except ValueError:  # holes or texts somewhere
        columns = [_column(cells, 2 if has_names else 1) for cells in zip(*body)]
    return Table(path, names, columns, has_names)


def _numbered(n: int) -> list[str]:
    return [f"x{k + 1}" for k in range(n)]


def _split_rows(path: str, text: str, delimiter: str | None) -> list[list[str]]:
    first = text.lstrip().split("\n", 1)[0]
    if delimiter is None:
        counts = {mark: first.count(mark) for mark in (",", ";", "\t")}
        delimiter = max(counts, key=lambda mark: counts[mark]) if any(counts.values()) else ","
        if counts[";"] and counts[","] and counts[";"] * 2 >= counts[","]:
            delimiter = ";"  # commas are then decimal
    csv.field_size_limit(_LONGEST_CELL)
    rows: list[list[str]] = []
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, strict=True)
    try:
        for cells in reader:
            if not cells or (len(cells) == 1 and not cells[0].strip()):
                continue
            if rows and len(cells) != len(rows[0]):
                raise InputError(
                    f"{path}, line {reader.line_num}: {len(cells)} cells, the first line has "
                    f"{len(rows[0])}."
                )
            rows.append(cells)
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: {error}.") from error
    if not rows:
        raise InputError(f"{path} has no rows.")
    if delimiter == ";":
        rows = [[_decimal(cell) for cell in cells] for cells in rows]
    return rows


def _decimal(cell: str) -> str:
    """1,5 is 1.5 where semicolons part the cells."""
    changed = cell.replace(",", ".", 1)
    return changed if _number(changed) is not None else cell


def _number(cell: str) -> float | None:
    """A number, NaN for what stands for a missing value, None for text."""
    try:
        return float(cell)
    except ValueError:
        return float("nan") if cell.strip().lower() in MISSING else None


def _is_header(rows: list[list[str]]) -> bool:
    first = [_number(cell) for cell in rows[0]]
    if any(value is None for value in first):
        if len(rows) == 1:
            return True
        # A text in the first column alone may be the id of a row that is no header.
        second = [_number(cell) for cell in rows[1]]
        alone = first[0] is None and all(value is not None for value in first[1:])
        if not (alone and second[0] is None and len(first) > 1):
            return True
        return _is_scale(rows[0][1:], rows[1][1:])
    return _is_scale(rows[0], rows[1] if len(rows) > 1 else [])


def _is_scale(first: list[str], second: list[str]) -> bool:
    """Whether a line of numbers is a header of wavelengths: it rises or falls, the next does not."""
    if len(first) < 5 or not second:
        return False
    return _is_monotone(first) and not _is_monotone(second)


def _is_monotone(cells: list[str]) -> bool:
    values = [_number(cell) for cell in cells]
    if any(value is None or value != value for value in values):
        return False
    steps = np.diff(np.array(values, dtype=float))
    return bool((steps > 0).all() or (steps < 0).all())


def _column(cells: tuple[str, ...], first_row: int) -> Any:
    try:
        return np.array(cells, dtype=np.float64)
    except ValueError:
        pass
    values = np.empty(len(cells))
    for i, cell in enumerate(cells):
        value = _number(cell)
        if value is None:
            return Text([c.strip() for c in cells], i + first_row, cell.strip())
        values[i] = value
    return values


# -- binary -----------------------------------------------------------------------------------


def _read_parquet(path: str) -> Table:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise InputError("Parquet files need pyarrow: pip install pyarrow.") from error
    try:
        arrow = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path} is not a Parquet file that can be read.") from error
    names = [str(name) for name in arrow.column_names]
    columns: list[Any] = []
    for column in arrow.columns:
        if pa.types.is_floating(column.type) or pa.types.is_integer(column.type):
            columns.append(np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64))
        elif pa.types.is_boolean(column.type):
            columns.append(np.asarray(column.cast(pa.int8()).to_pandas(), dtype=np.float64))
        else:
            cells = ["" if cell is None else str(cell) for cell in column.to_pylist()]
            columns.append(Text(cells, 1, cells[0] if cells else ""))
    if arrow.num_rows == 0:
        raise InputError(f"{path} has no rows.")
    return Table(path, names, columns, True)


def _read_numpy(path: str, inner: str | None, key: str) -> Table:
    with open(path, "rb") as file:  # NumPy leaves a damaged one open
        return _read_opened(file, path, inner, key)


def _read_opened(file: Any, path: str, inner: str | None, key: str) -> Table:
    try:
        loaded = np.load(file, allow_pickle=False)
    except ValueError as error:
        if "pickle" in str(error).lower():
            raise InputError(
                f"{path} holds Python objects, or is no numpy file: it is refused."
            ) from error
        raise InputError(f"{path} is not a numpy file that can be read.") from error
    except Exception as error:  # numpy raises as the damage comes
        raise InputError(f"{path} is not a numpy file that can be read.") from error
    extra: dict[str, NDArray] = {}
    if isinstance(loaded, np.ndarray):
        array = loaded
    else:
        with loaded:
            try:
                extra = {name: loaded[name] for name in loaded.files}
            except Exception as error:
                raise InputError(
                    f"{path} holds Python objects, or is damaged: it is refused."
                ) from error
        array = _pick(path, extra, inner, key)
    if array.dtype.kind not in "fiub":
        raise InputError(f"{path} has values of type {array.dtype}, must be numbers.")
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise InputError(f"{path} has {array.ndim} dimensions, must have 2: rows and columns.")
    if array.shape[0] == 0 or array.shape[1] == 0:
        raise InputError(f"{path} has shape {array.shape}: there is nothing in it.")
    return Table(
        path, _numbered(array.shape[1]), list(array.astype(np.float64).T), False, extra=extra
    )


def _pick(path: str, arrays: dict[str, NDArray], inner: str | None, key: str) -> NDArray:
    wanted = [inner] if inner else [key, key.lower()]
    for name in wanted:
        if name in arrays:
            return arrays[name]
    if inner is None and len(arrays) == 1:
        return next(iter(arrays.values()))
    raise InputError(
        f"{path} has no array {wanted[0]!r}; it has {_some(list(arrays))}; ask for one as {path}:name."
    )


# -- ids ---------------------------------------------------------------------------------------


def _with_ids(table: Table, id_column: str | None) -> Table:
    if id_column is not None:
        k = table.place(id_column)
    else:
        first = table.columns[0] if table.columns else None
        if not isinstance(first, Text) or len(table.columns) < 2:
            return table
        if len(set(first.cells)) < len(first.cells) or any(
            _number(cell) is not None for cell in first.cells
        ):
            return table  # a column of numbers with a slip in it, or of classes
        k = 0
        current().notice(f"{table.path}: the column {table.names[0]!r} is taken as row names.")
    column = table.columns[k]
    if isinstance(column, Text):
        ids = column.cells
    else:
        ids = [f"{value:.15g}" for value in column]
    left = table.without({k})
    left.ids, left.id_name = ids, table.names[k]
    return left


# -- writing ------------------------------------------------------------------------------------

WRITABLE = (".csv", ".tsv", ".parquet", ".npy")


def table_bytes(
    path: str, ids: list[str] | None, id_name: str, names: list[str], values: NDArray
) -> bytes:
    """A table in the form that the suffix of its file asks for."""
    kind = Path(path).suffix.lower()
    if kind == ".npy":
        stream = io.BytesIO()
        np.save(stream, values)
        return stream.getvalue()
    if kind == ".parquet":
        return _parquet_bytes(ids, id_name, names, values)
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t" if kind == ".tsv" else ",", lineterminator="\n")
    writer.writerow(([id_name] if ids is not None else []) + names)
    for i, row in enumerate(values):
        cells = ["" if np.isnan(v) else repr(float(v)) for v in row]
        writer.writerow(([ids[i]] if ids is not None else []) + cells)
    return text.getvalue().encode()


def _parquet_bytes(ids: list[str] | None, id_name: str, names: list[str], values: NDArray) -> bytes:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise InputError("Parquet files need pyarrow: pip install pyarrow.") from error
    columns = {} if ids is None else {id_name: pa.array(ids)}
    columns |= {name: pa.array(values[:, k]) for k, name in enumerate(names)}
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()
