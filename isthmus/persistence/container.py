"""The shell of a model file: a header, a line of JSON, an archive.

::

    isthmus-model 1 <bytes that follow> <SHA-256 of them>\\n
    {"created": ..., "versions": {...}, "type": ..., "summary": {...}}\\n
    <archive of skops>
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

from isthmus.persistence.errors import (
    CorruptedFileError,
    NewerFormatError,
    NotAModelFileError,
    PickleRefusedError,
    TruncatedFileError,
)

FORMAT = 1
MAGIC = b"isthmus-model "
_HEADER = re.compile(rb"isthmus-model (\d{1,6}) (\d{1,18}) ([0-9a-f]{64})\n")
_LONGEST_HEADER = 120
# First bytes of protocols 2 to 5, and of the compressed files of joblib.
_PICKLE = (
    b"\x80\x02",
    b"\x80\x03",
    b"\x80\x04",
    b"\x80\x05",
    b"\x78\x9c",
    b"\x78\x5e",
    b"\x78\xda",
)
_OLD_PICKLE = re.compile(
    rb"(c[\w.]+\n[\w.]+\n|\(dp|\(lp|\(i[\w.]+\n|\]q\x00|\}q\x00|cos\n|c__builtin__\n)"
)


def pack(manifest: dict[str, Any], payload: bytes) -> bytes:
    """The bytes of a model file."""
    body = json.dumps(manifest, allow_nan=True).encode() + b"\n" + payload
    digest = hashlib.sha256(body).hexdigest()
    return MAGIC + f"{FORMAT} {len(body)} {digest}\n".encode() + body


def unpack(path: str | os.PathLike) -> tuple[dict[str, Any], memoryview]:
    """The manifest and the archive of a file whose length and checksum are right."""
    data = Path(path).read_bytes()
    header = _HEADER.match(data[:_LONGEST_HEADER])
    if header is None:
        raise _what_it_is(path, data)
    version, length, digest = int(header[1]), int(header[2]), header[3].decode()
    if version > FORMAT:
        raise NewerFormatError(
            f"{path} has format {version}, this release reads formats up to {FORMAT}: update isthmus."
        )
    body = memoryview(data)[header.end() :]
    if len(body) < length:
        raise TruncatedFileError(
            f"{path} is cut off: {len(body)} of {length} bytes are there; copy or save it again."
        )
    if len(body) > length or hashlib.sha256(body).hexdigest() != digest:
        raise CorruptedFileError(
            f"{path} is corrupted: its content does not match its checksum; copy or save it again."
        )
    end = bytes(body[: 2**26]).find(b"\n")
    try:
        manifest = json.loads(bytes(body[: max(end, 0)]))
        assert isinstance(manifest, dict)
    except (ValueError, AssertionError, RecursionError) as error:
        raise CorruptedFileError(f"{path} is corrupted: its description is not JSON.") from error
    return manifest, body[end + 1 :]


def _what_it_is(path: str | os.PathLike, data: bytes) -> Exception:
    if not data:
        return TruncatedFileError(f"{path} is empty.")
    if data.startswith(_PICKLE) or _OLD_PICKLE.match(data[:200]):
        return PickleRefusedError(
            f"{path} is a pickle, which can run any code: it is refused unread. Save the model again "
            "with isthmus.save."
        )
    if MAGIC.startswith(data[: len(MAGIC)]) or (
        data.startswith(MAGIC) and len(data) < _LONGEST_HEADER
    ):
        return TruncatedFileError(
            f"{path} is cut off within its first line; copy or save it again."
        )
    if data.startswith(MAGIC):
        return CorruptedFileError(f"{path} is corrupted: its first line cannot be read.")
    kind = "a bare archive" if data.startswith(b"PK") else "not a model file of isthmus"
    return NotAModelFileError(
        f"{path} is {kind}: models are written by isthmus.save or isthmus fit."
    )
