"""Bytes of a table: from a file, a pipe or standard input, decompressed, read once."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import sys
import tempfile
import zlib
from collections.abc import Callable
from typing import Any

from isthmus.tables.errors import TableError, need

Progress = Callable[[str, int, "int | None"], None]
READABLE = (
    "CSV, TSV, .xlsx, .ods, Parquet, Feather, .npy and .npz files are read, also as .gz or .zst"
)
MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1": "feather",
    b"FEA1": "old feather",
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "sheet",
    b"%PDF": "PDF",
    b"\x89PNG": "PNG",
    b"\xff\xd8\xff": "JPEG",
    b"\x7fELF": "program",
    b"SQLite format 3": "SQLite",
    b"\x89HDF": "HDF5",
    b"Rar!": "RAR",
    b"7z\xbc\xaf": "7z",
    b"\x80\x04\x95": "pickle",
    b"\x80\x05\x95": "pickle",
}
PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz"}
SUFFIXES = {
    ".csv": "text", ".tsv": "text", ".tab": "text", ".txt": "text", ".dat": "text", ".asc": "text",
    ".parquet": "parquet", ".pq": "parquet", ".feather": "feather", ".arrow": "feather",
    ".ipc": "feather", ".npy": "npy", ".npz": "npz", ".xlsx": "sheet", ".xlsm": "sheet",
    ".xlsb": "sheet", ".xls": "sheet", ".ods": "sheet",
}  # fmt: skip
_PACKED_SUFFIXES = (".gz", ".zst", ".bz2", ".xz")
_DAMAGE = (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError, OSError, ValueError)


class Source:
    """An open table: its format by its first bytes, then all bytes once."""

    def __init__(self, path: str, progress: Progress | None = None) -> None:
        self.path = "standard input" if path == "-" else path
        self._progress = progress
        self._raw, self.size, self.is_file = _open(path)
        self._stream: Any = self._raw
        self._head = b""
        self._spools: list[Any] = []
        self.packed: str | None = None
        try:
            self._recognise(path)
        except BaseException:
            self.close()
            raise

    def _recognise(self, path: str) -> None:
        head = self._fill(16)
        if not head:
            raise TableError(f"{self.path} is empty.")
        self.packed = next((name for magic, name in PACKED.items() if head.startswith(magic)), None)
        if self.packed is not None:
            self._stream = _unpack(self.packed, _Joined(self._head, self._raw))
            self._head = b""
            head = self._fill(16)
            if not head:
                raise TableError(f"{self.path} is empty.")
        # The first bytes decide, not the name: a renamed file is read or refused for what it is.
        found = next((kind for magic, kind in MAGIC.items() if head.startswith(magic)), None)
        stem = path.lower()
        for suffix in _PACKED_SUFFIXES:
            stem = stem.removesuffix(suffix)
        suffix = os.path.splitext(stem)[1]
        named = SUFFIXES.get(suffix)
        # Spreadsheets and .npz are zip archives; their names tell which.
        if found == "zip":
            found = named if named in ("npz", "sheet") else "zip"
        elif found is None and named is None and self.is_file and self.packed is None:
            raise TableError(
                f"{self.path}: files that end in {suffix!r} are not known; {READABLE}."
            )
        elif found is None and named in ("npy", "npz"):
            raise TableError(
                f"{self.path} holds Python objects or is not a NumPy file: it is not loaded."
            )
        elif found is None and named not in ("text", None):
            label = {"parquet": "a Parquet", "feather": "a Feather"}.get(
                str(named), "a spreadsheet"
            )
            raise TableError(f"{self.path} is not {label} file that can be read.")
        self.format = found or "text"
        known = ("parquet", "feather", "npy", "npz", "sheet", "text")
        if self.format not in known:
            raise TableError(f"{self.path} is a {self.format} file, not a table; {READABLE}.")

    def _fill(self, count: int) -> bytes:
        while len(self._head) < count:
            more = self._read(count - len(self._head))
            if not more:
                break
            self._head += more
        return self._head

    def _read(self, count: int) -> bytes:
        try:
            return self._stream.read(count)
        except _DAMAGE as error:
            if self.packed is None:
                raise
            raise TableError(
                f"{self.path}: the {self.packed} data are damaged or truncated."
            ) from error

    def read(self, count: int) -> bytes:
        """Read some bytes, none at the end; tell how far it is."""
        data, self._head = self._head[:count], self._head[count:]
        data += self._read(count - len(data))
        if self._progress is not None and data:
            total = None if self.size is None else max(self.size // 10**6, 1)
            self._progress(f"reading {self.path}, MB", self.position // 10**6, total)
        return data

    @property
    def position(self) -> int:
        """Bytes taken from the file so far."""
        try:
            return self._raw.tell()
        except (OSError, ValueError):
            return 0

    def tell_rows(self, done: int, total: int | None) -> None:
        """Tell how many rows are read, where bytes are not counted."""
        if self._progress is not None:
            self._progress(f"reading {self.path}, rows", done, total)

    def seekable(self) -> Any:
        """A file object that can seek, for formats with an index at the end."""
        if self.is_file and self.packed is None:
            self._raw.seek(0)
            self._head = b""
            return self._raw
        # Parquet and spreadsheets have their index at the end, and a pipe cannot go back.
        spool = self.spool()
        while data := self.read(1 << 20):
            spool.write(data)
        spool.seek(0)
        return spool

    def spool(self) -> Any:
        """Open a file without a name, which is closed with the table."""
        self._spools.append(tempfile.TemporaryFile())
        return self._spools[-1]

    def close(self) -> None:
        """Close what was opened."""
        for file in (self._raw, *self._spools):
            if file is not getattr(sys.stdin, "buffer", None):
                file.close()


class _Joined(io.RawIOBase):
    """Bytes that were read already, then the rest of a stream."""

    def __init__(self, head: bytes, rest: Any) -> None:
        self._head, self._rest = head, rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._head[: len(buffer)] or self._rest.read(len(buffer))
        self._head = self._head[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)


def _open(path: str) -> tuple[Any, int | None, bool]:
    if path == "-":
        if sys.stdin is None:
            raise TableError("standard input is closed.")
        return getattr(sys.stdin, "buffer", sys.stdin), None, False
    if not os.path.exists(path):
        raise TableError(f"{path}: no such file.")
    if os.path.isdir(path):
        raise TableError(f"{path} is a directory; {READABLE}.")
    status = os.stat(path)
    is_file = stat.S_ISREG(status.st_mode)
    return open(path, "rb"), status.st_size if is_file else None, is_file


def _unpack(packed: str, stream: Any) -> Any:
    buffered = io.BufferedReader(stream, 1 << 20)
    if packed == "gzip":
        return gzip.GzipFile(fileobj=buffered)
    if packed == "bzip2":
        return bz2.BZ2File(buffered)
    if packed == "xz":
        return lzma.LZMAFile(buffered)
    try:
        import pyarrow as pa
    except ImportError as error:
        raise need("pyarrow", "zstd files", "parquet") from error
    return pa.CompressedInputStream(pa.PythonFile(buffered, mode="r"), packed)
