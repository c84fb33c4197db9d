"""How much a file may claim, counted before anything is built from it."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.persistence.errors import CorruptedFileError, UnsafeArchiveError

MOST_TEXT = 2**25  # bytes of JSON
MOST_NODES = 2_000_000  # values in it, shared ones counted wherever they stand
# Models nest about ten deep; this is below Python's limit of recursion.
DEEPEST = 100
# Far beyond any array of a model; larger claims are meant to exhaust memory.
_MOST_DIMENSIONS = 16
_LONGEST_SIDE = 2**40
_DTYPE = re.compile(r"[<>|](b1|[iu][1248]|f[248]|c8|c16|[SU][1-9]\d{0,5})")
_LAST_CHARACTER = 0x10FFFF
# Searches that leave out one row at a time keep a score of each under a name of its own.
_MOST_KEYS = 2**17
_LARGEST_KEY = 2**31
# A file may take as many times its length, and what is free, in memory.
_TIMES, _FREE = 10, 2**26
# Bytes of what JSON becomes, by the marks in it: lists and dictionaries twice, before and after.
_COST = {b"[": 128, b"{": 200, b",": 40, b'"': 16, b":": 150}
# Of each byte, where one character makes all texts four times as long; no file of ours has such.
_COST_WIDE = 16


class Budget:
    """The bytes that may be built from a file of a given length: one budget for all of it."""

    def __init__(self, length: int, what: Any) -> None:
        self.most = self.left = _TIMES * length + _FREE
        self.what = what

    def spend(self, n_bytes: int) -> None:
        """Count bytes before they are built."""
        self.left -= n_bytes
        if self.left < 0:
            raise UnsafeArchiveError(
                f"{self.what} is refused: it would take more than {self.most} bytes of memory, "
                f"{_TIMES} times its length and {_FREE}."
            )


def parse(text: bytes, what: Any, budget: Budget | None = None) -> Any:
    """JSON of bounded length and number of values; depth is bounded by the parser itself."""
    if len(text) > MOST_TEXT:
        raise UnsafeArchiveError(
            f"{what} is refused: {len(text)} bytes of description, at most {MOST_TEXT} are read."
        )
    # Every value but the first comes after one of these.
    if sum(text.count(mark) for mark in (b"[", b"{", b",", b":")) > 2 * MOST_NODES:
        raise UnsafeArchiveError(
            f"{what} is refused: its description has more than {MOST_NODES} values."
        )
    if budget is not None:
        wide = 0 if text.isascii() else _COST_WIDE * len(text)
        budget.spend(wide + sum(cost * text.count(mark) for mark, cost in _COST.items()))
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CorruptedFileError(f"{what} is corrupted: its description is not JSON.") from error


def array_size(dtype: Any, shape: Any, what: Any) -> int:
    """Bytes of an array that is described so; refuses what an array of a model never is."""
    known = isinstance(dtype, str) and _DTYPE.fullmatch(dtype) is not None
    sides = isinstance(shape, list | tuple) and len(shape) <= _MOST_DIMENSIONS
    if not known or not sides or not all(type(n) is int and 0 <= n < _LONGEST_SIDE for n in shape):
        raise UnsafeArchiveError(
            f"{what} is refused: it has an array of type {str(dtype)[:40]!r} and shape "
            f"{str(shape)[:80]}, which no model has."
        )
    return int(math.prod(shape) * np.dtype(dtype).itemsize)


def array_from(data: Any, dtype: str, shape: Any, order: str, what: Any) -> NDArray:
    """A new array from bytes whose number has been checked; its values are ones of its type."""
    array = np.frombuffer(data, dtype=dtype).reshape(
        tuple(shape), order="F" if order == "F" else "C"
    )
    array = array.copy(order="K")
    raw = array.ravel(order="K")
    if array.dtype.kind == "b" and raw.view(np.uint8).max(initial=0) > 1:
        raise CorruptedFileError(f"{what} is corrupted: a boolean is neither true nor false.")
    if array.dtype.kind == "U":
        codes = raw.view(array.dtype.str[0] + "u4")
        is_half = (codes >= 0xD800) & (codes <= 0xDFFF)
        if codes.max(initial=0) > _LAST_CHARACTER or is_half.any():
            raise CorruptedFileError(f"{what} is corrupted: a text has an invalid character.")
    return array


def odd_values(array: NDArray) -> set[str]:
    """Which of "nan", "inf" and "-inf" an array has."""
    if array.dtype.kind not in "fc" or np.isfinite(array).all():
        return set()
    infinite = array[np.isinf(array)]
    words = {"nan": np.isnan(array), "inf": infinite.real > 0, "-inf": ~(infinite.real > 0)}
    return {word for word, has in words.items() if has.any()}


def are_keys(keys: Any) -> bool:
    """Whether a dictionary may have these keys: others can be made to collide, and take hours."""
    return len(keys) <= _MOST_KEYS and all(
        type(key) is str or (type(key) is int and abs(key) < _LARGEST_KEY) for key in keys
    )
