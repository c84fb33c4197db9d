"""What may be in an archive, looked at before anything is built from it."""

from __future__ import annotations

import io
import json
import re
import zipfile
from typing import Any

import numpy as np
from numpy.lib import format as npy

from isthmus.persistence.errors import CorruptedFileError, UnsafeArchiveError

SCHEMA = "schema.json"
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]+\.(json|npy|npz|bin)")
# Sparse matrices are archives in the archive, the only ones that are compressed.
_MOST_INFLATED, _INFLATED_FREELY = 100, 2**26


def check_archive(payload: bytes | memoryview, path: Any) -> dict[str, Any]:
    """Refuse an archive that is not as we write it; return the description of its objects.

    Members are stored as they are, so that together they cannot be longer than the file; their
    names are plain; arrays have no Python objects in them and the length that they claim.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(payload)) as archive:
            _check_members(archive.infolist(), len(payload), path)
            for member in archive.infolist():
                _check_member(member.filename, archive.read(member), path)
            schema = json.loads(archive.read(SCHEMA))
    except UnsafeArchiveError:
        raise
    except (zipfile.BadZipFile, KeyError, ValueError, EOFError, RecursionError, OSError) as error:
        raise CorruptedFileError(f"{path} is corrupted: its archive cannot be read.") from error
    if not isinstance(schema, dict):
        raise CorruptedFileError(f"{path} is corrupted: its archive describes no object.")
    return schema


def _check_members(members: list[zipfile.ZipInfo], length: int, path: Any) -> None:
    names = [member.filename for member in members]
    for member in members:
        if not _PLAIN_NAME.fullmatch(member.filename):
            raise UnsafeArchiveError(
                f"{path} is refused: its archive has a member {member.filename[:80]!r}, "
                "which is no plain name."
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


def _check_member(name: str, data: bytes, path: Any) -> None:
    if name.endswith(".npy"):
        _check_array(name, data, path)
    elif name.endswith(".npz"):
        with zipfile.ZipFile(io.BytesIO(data)) as inner:
            total = sum(member.file_size for member in inner.infolist())
            if total > max(_INFLATED_FREELY, _MOST_INFLATED * len(data)):
                raise UnsafeArchiveError(
                    f"{path} is refused: {name} would grow from {len(data)} to {total} bytes."
                )
            for member in inner.infolist():
                _check_array(f"{name}/{member.filename}", inner.read(member), path)


def _check_array(name: str, data: bytes, path: Any) -> None:
    stream = io.BytesIO(data)
    version = npy.read_magic(stream)
    if version == (1, 0):
        shape, _, dtype = npy.read_array_header_1_0(stream)
    elif version == (2, 0):
        shape, _, dtype = npy.read_array_header_2_0(stream)
    else:
        raise UnsafeArchiveError(f"{path} is refused: {name} has an unknown form of array.")
    if dtype.hasobject:
        raise UnsafeArchiveError(
            f"{path} is refused: {name} is an array of Python objects, which only pickle can read."
        )
    claimed = int(np.prod([float(n) for n in shape])) * dtype.itemsize
    if claimed != len(data) - stream.tell():
        raise UnsafeArchiveError(
            f"{path} is refused: {name} claims {claimed} bytes and has {len(data) - stream.tell()}."
        )
