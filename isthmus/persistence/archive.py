"""Archives of format 1, looked at before anything is built from them: members, sizes, arrays."""

from __future__ import annotations

import io
import re
import zipfile
from typing import Any

from numpy.typing import NDArray

from isthmus.persistence.errors import CorruptedFileError, ModelFileError, UnsafeArchiveError
from isthmus.persistence.limits import array_from, array_size, parse

SCHEMA = "schema.json"
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]+\.(json|npy|npz|bin)")
# Sparse matrices are archives in the archive, the only ones that are compressed.
_MOST_INFLATED, _INFLATED_FREELY = 100, 2**26
_MAGIC = b"\x93NUMPY"
# The header as numpy writes it; no other is read, and none is evaluated.
_HEADER = re.compile(
    rb"\{'descr': '([^']{1,12})', 'fortran_order': (True|False), "
    rb"'shape': \(((?:\d{1,14}, ?)*)(\d{1,14})?\), \} *\n"
)


class Archive:
    """The members of an archive that is as we wrote them in format 1.

    Members are stored as they are, so that together they cannot be longer than the file; their
    names are plain; arrays have no Python objects in them and the length that they claim.
    """

    def __init__(self, payload: bytes | memoryview, path: Any) -> None:
        self.path = path
        try:
            with zipfile.ZipFile(io.BytesIO(payload)) as archive:
                _check_members(archive.infolist(), len(payload), path)
                members = {name: archive.read(name) for name in archive.namelist()}
            schema = parse(members[SCHEMA], path)
        except UnsafeArchiveError:
            raise
        except Exception as error:  # the library has many ways to say that it cannot
            raise CorruptedFileError(f"{path} is corrupted: its archive cannot be read.") from error
        if not isinstance(schema, dict):
            raise CorruptedFileError(f"{path} is corrupted: its archive describes no object.")
        self.schema = schema
        self.arrays: dict[str, NDArray] = {}
        self.sparse: dict[str, dict[str, NDArray]] = {}  # the arrays of each matrix
        for name, data in members.items():
            if name.endswith(".npy"):
                self.arrays[name] = _read_array(name, data, path)
            elif name.endswith(".npz"):
                self.sparse[name] = self._read_sparse(name, data)

    def _read_sparse(self, name: str, data: bytes) -> dict[str, NDArray]:
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as inner:
                total = sum(member.file_size for member in inner.infolist())
                if total > max(_INFLATED_FREELY, _MOST_INFLATED * len(data)):
                    raise UnsafeArchiveError(
                        f"{self.path} is refused: {name} would grow from {len(data)} to {total} bytes."
                    )
                return {
                    member.filename: _read_array(
                        f"{name}/{member.filename}", inner.read(member), self.path
                    )
                    for member in inner.infolist()
                }
        except ModelFileError:
            raise
        except Exception as error:
            raise CorruptedFileError(f"{self.path} is corrupted: {name} cannot be read.") from error


def _check_members(members: list[zipfile.ZipInfo], length: int, path: Any) -> None:
    names = [member.filename for member in members]
    for member in members:
        if not _PLAIN_NAME.fullmatch(member.filename):
            raise UnsafeArchiveError(
                f"{path} is refused: its archive has a member {member.filename[:80]!r}, "
                "which is not a plain name."
            )
        if member.compress_type != zipfile.ZIP_STORED or member.flag_bits & 1:
            raise UnsafeArchiveError(
                f"{path} is refused: {member.filename} is compressed and would grow from "
                f"{member.compress_size} to {member.file_size} bytes; members of a model are stored as "
                "they are."
            )
    if len(set(names)) < len(names):
        raise UnsafeArchiveError(f"{path} is refused: its archive has two members of one name.")
    total = sum(member.file_size for member in members)
    if total > length:
        raise UnsafeArchiveError(
            f"{path} is refused: its members claim {total} bytes, the archive has {length}."
        )


def _read_array(name: str, data: bytes, path: Any) -> NDArray:
    if data[:6] != _MAGIC or data[6:8] not in (b"\x01\x00", b"\x02\x00"):
        raise UnsafeArchiveError(f"{path} is refused: {name} has an unknown form of array.")
    width = 2 if data[6] == 1 else 4
    begin = 8 + width + int.from_bytes(data[8 : 8 + width], "little")
    header = _HEADER.fullmatch(data[8 + width : begin]) if begin < 2**16 else None
    if header is None:
        raise UnsafeArchiveError(
            f"{path} is refused: {name} has a header that numpy does not write."
        )
    dtype = header[1].decode("latin-1")
    order = "F" if header[2] == b"True" else "C"
    shape = [int(n) for n in re.findall(rb"\d+", header[3] + (header[4] or b""))]
    if dtype == "|O":
        raise UnsafeArchiveError(
            f"{path} is refused: {name} is an array of Python objects, which only pickle can read."
        )
    claimed = array_size(dtype, shape, f"{path} ({name})")
    if claimed != len(data) - begin:
        raise UnsafeArchiveError(
            f"{path} is refused: {name} claims {claimed} bytes and has {len(data) - begin}."
        )
    return array_from(memoryview(data)[begin:], dtype, shape, order, path)
