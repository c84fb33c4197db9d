"""Text of a table as UTF-8 records: encodings, line ends, blocks that end with a whole record."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from isthmus.tables.errors import TableError
from isthmus.tables.sources import Source

TEXT_BYTES = 1 << 22  # bytes: a few megabytes stay in the cache of the processor and fill two cores
# 64 MB: wider tables exist, but a quote that is left open swallows the rest of the file.
LONGEST_RECORD = 1 << 26
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32-le", codecs.BOM_UTF32_BE: "utf-32-be", codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be",
}  # fmt: skip
LABELS = {"utf-8": "UTF-8", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16", "utf-32-le": "UTF-32",
          "utf-32-be": "UTF-32", "latin-1": "Latin-1", "cp1252": "Latin-1 (Windows 1252)"}  # fmt: skip
_PAIR = re.compile(rb"[\xc3-\xdf][\x80-\xbf](?![\x80-\xbf])|[\xe1-\xef][\x80-\xbf]{2}")
_CONTROLS = bytes(set(range(32)) - {9, 10, 11, 12, 13, 26})


class Lines:
    """The text of a source in blocks of whole records, as UTF-8 with plain line ends."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.path = source.path
        head = source.read(TEXT_BYTES)
        while len(head) < 4 and (more := source.read(TEXT_BYTES)):
            head += more
        mark = next((m for m in _MARKS if head.startswith(m)), b"")
        self.encoding = _MARKS[mark] if mark else _guess(head)
        self._decoder = codecs.getincrementaldecoder(self.encoding)()
        self._is_ascii = True  # so far
        self._ends_with_cr = False
        self._pending: bytes | None = head[len(mark) :]
        self.line = 1

    def blocks(self) -> Iterator[tuple[bytes, int]]:
        """Yield blocks of whole records, each with the number of its first line."""
        rest = b""
        while True:
            data = self._pending if self._pending is not None else self._source.read(TEXT_BYTES)
            self._pending = None
            rest += self._decode(data, last=not data)
            if not data:
                break
            cut = _last_record_end(rest)
            if cut:
                block, rest = rest[:cut], rest[cut:]
                yield block, self.line
                self.line += block.count(b"\n")
            elif len(rest) > LONGEST_RECORD:
                raise TableError(
                    f"{self.path}, line {self.line}: a line or a quoted cell of more than "
                    f"{LONGEST_RECORD >> 20} MB; is a quote left open?"
                )
        if rest:
            yield rest, self.line

    def _decode(self, data: bytes, last: bool) -> bytes:
        if self.encoding == "utf-8":
            data = self._check_utf8(data, last)
        else:
            try:
                data = self._decoder.decode(data, last).encode("utf-8", "surrogatepass")
            except UnicodeDecodeError as error:
                raise TableError(f"{self.path} is cut off: its {LABELS[self.encoding]} text ends "
                                 "within a character.") from error  # fmt: skip
        if b"\0" in data:
            raise TableError(f"{self.path} has null bytes: it is not a text file.")
        if not data:  # half a character
            return data
        ends_with_cr = data[-1:] == b"\r"
        if self._ends_with_cr and data[:1] == b"\n":
            data = data[1:]
        self._ends_with_cr = ends_with_cr
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return data

    def _check_utf8(self, data: bytes, last: bool) -> bytes:
        if data.isascii() and not self._decoder.getstate()[0]:
            return data
        before = self._decoder.getstate()[0]
        try:
            text = self._decoder.decode(data, last)
        except UnicodeDecodeError:
            # Pairs such as Ã© are UTF-8, and hardly ever meant as two letters.
            if not self._is_ascii or _PAIR.search(data):
                raise TableError(
                    f"{self.path} is not UTF-8 text near line {self.line}; save it as UTF-8."
                ) from None
            self.encoding = _single_byte(data)  # no other letter was met before
            self._decoder = codecs.getincrementaldecoder(self.encoding)()
            return (before + data).decode(self.encoding, "replace").encode()
        self._is_ascii = self._is_ascii and text.isascii()
        return text.encode()


def _guess(head: bytes) -> str:
    sample = head[: 1 << 16]
    even = sample[0::2].count(0)
    odd = sample[1::2].count(0)
    half = len(sample) // 2
    # Text of the Latin alphabet has a null byte in nearly every pair, always on the same side.
    if odd > 0.7 * half and even < 0.1 * half:
        return "utf-16-le"
    if even > 0.7 * half and odd < 0.1 * half:
        return "utf-16-be"
    return "utf-8"  # refused later if it has null bytes


def _single_byte(data: bytes) -> str:
    """Latin-1, or what Windows makes of it: 0x80 to 0x9f are letters there."""
    found = set(data) & set(range(0x80, 0xA0))
    undefined = {0x81, 0x8D, 0x8F, 0x90, 0x9D}
    return "cp1252" if found and not found & undefined else "latin-1"


def is_text(block: bytes) -> bool:
    """Whether a block has hardly any control characters."""
    sample = block[: 1 << 16]
    # A stray form feed or bell is no reason to refuse a table.
    return len(sample) - len(sample.translate(None, _CONTROLS)) <= max(8, 0.01 * len(sample))


def _last_record_end(text: bytes) -> int:
    """Just behind the last line end that is in no quoted cell; 0 if there is none."""
    end = text.rfind(b"\n") + 1
    if b'"' not in text:
        return end
    quotes = text.count(b'"', 0, end)
    while end and quotes % 2:
        start = text.rfind(b"\n", 0, end - 1) + 1
        quotes -= text.count(b'"', start, end)
        end = start
    return end
