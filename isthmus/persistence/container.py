"""The shell of a model file: a header, a line of JSON, the model.

::

    isthmus-model 2 <bytes that follow> <SHA-256 of them>[ ed25519:<signature of the line so far>]\\n
    {"created": ..., "versions": {...}, "type": ..., "summary": {...}}\\n
    {"arrays": [[type, shape, order], ...], "root": ...}\\n
    <the arrays, one after the other>
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from isthmus.persistence.errors import (
    CorruptedFileError,
    NotAModelFileError,
    OtherFormatError,
    PickleRefusedError,
    TruncatedFileError,
)
from isthmus.persistence.limits import MOST_TEXT, Budget, parse

FORMAT = 2
MAGIC = b"isthmus-model "
_HEADER = re.compile(
    rb"(isthmus-model (\d{1,6}) (\d{1,18}) ([0-9a-f]{64}))(?: ed25519:([0-9a-f]{128}))?\n"
)
# The longest line that the pattern above can match has 242 bytes.
_LONGEST_HEADER = 260
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


@dataclass
class Shell:
    """What is around a model: the format, the description, and the model as bytes."""

    format: int
    manifest: dict[str, Any]
    payload: memoryview
    signed: bytes  # the part of the header that a signature signs, the checksum in it
    signature: bytes | None
    size: int
    budget: Budget


def pack(
    manifest: dict[str, Any],
    payload: bytes,
    *,
    version: int = FORMAT,
    sign: Callable[[bytes], bytes] | None = None,
) -> bytes:
    """The bytes of a model file."""
    body = json.dumps(manifest, allow_nan=True).encode() + b"\n" + payload
    header = MAGIC + f"{version} {len(body)} {hashlib.sha256(body).hexdigest()}".encode()
    signature = b"" if sign is None else b" ed25519:" + sign(header).hex().encode()
    return header + signature + b"\n" + body


def unpack(path: str | os.PathLike) -> Shell:
    """A file whose length and checksum are right, with its description read."""
    with open(path, "rb", opener=_without_waiting) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise NotAModelFileError(f"{path} is not a regular file.")
        first = file.read(_LONGEST_HEADER)
        header = _HEADER.match(first)
        if header is None:
            raise _what_it_is(path, first)
        version = int(header[2])
        length = int(header[3])
        digest = header[4].decode()
        there = status.st_size - header.end()
        if there < length:
            raise TruncatedFileError(
                f"{path} is cut off: {there} of {length} bytes are there; copy or save it again."
            )
        file.seek(header.end())
        body = memoryview(file.read(length + 1))
    if len(body) != length or hashlib.sha256(body).hexdigest() != digest:
        raise CorruptedFileError(
            f"{path} is corrupted: its content does not match its checksum; copy or save it again."
        )
    line, payload = first_line(body, path)
    budget = Budget(length, path)
    manifest = parse(line, path, budget)
    if not isinstance(manifest, dict) or not all(
        isinstance(manifest.get(key, {}), dict) for key in ("summary", "versions")
    ):
        raise CorruptedFileError(
            f"{path} is corrupted: its description was not written by isthmus."
        )
    if version != FORMAT:
        author = str(manifest.get("versions", {}).get("isthmus", "another version"))[:40]
        raise OtherFormatError(
            f"{path} has format {version} of isthmus {author}, this release reads format {FORMAT}: load "
            "it with the version that wrote it, or fit again."
        )
    signature = None if header[5] is None else bytes.fromhex(header[5].decode())
    return Shell(version, manifest, payload, header[1], signature, status.st_size, budget)


def first_line(body: memoryview, path: Any) -> tuple[bytes, memoryview]:
    """A line of bounded length, and what comes after it."""
    begin = bytes(body[: MOST_TEXT + 1])
    end = begin.find(b"\n")
    if end < 0:
        raise CorruptedFileError(f"{path} is corrupted: its description is cut off.")
    return begin[:end], body[end + 1 :]


def _without_waiting(path: str, flags: int) -> int:
    """A pipe that nobody writes to is no reason to wait."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _what_it_is(path: str | os.PathLike, data: bytes) -> Exception:
    if not data:
        return TruncatedFileError(f"{path} is empty.")
    if data.startswith(_PICKLE) or _OLD_PICKLE.match(data[:200]):
        return PickleRefusedError(
            f"{path} is a pickle, which can run any code: it is refused unread. Save the model again "
            "with isthmus.save."
        )
    if MAGIC.startswith(data[: len(MAGIC)]) or (
        data.startswith(MAGIC) and b"\n" not in data and len(data) < _LONGEST_HEADER
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
