"""NumPy files: one array, or one of an archive."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.tables.errors import TableError, some
from isthmus.tables.formats import ROWS, Block, Format
from isthmus.tables.layout import SAMPLE
from isthmus.tables.sources import Source


class Arrays(Format):
    """An array of numbers without names; nothing that is stored as Python objects is built."""

    def __init__(self, source: Source, inner: str | None, key: str) -> None:
        path = source.path
        loaded = _load(path, source)
        extra: dict[str, NDArray] = {}
        if source.format == "npz":
            with loaded:
                try:
                    extra = {name: loaded[name] for name in loaded.files}
                except Exception as error:
                    raise TableError(
                        f"{path} holds Python objects, or is damaged: it is refused."
                    ) from error
            loaded = _pick(path, extra, inner, key)
        if loaded.dtype.kind not in "fiub":
            raise TableError(f"{path} has values of type {loaded.dtype}, must be numbers.")
        array = loaded[:, None] if loaded.ndim == 1 else loaded
        if array.ndim != 2:
            raise TableError(f"{path} has {array.ndim} dimensions, must have 2: rows and columns.")
        if 0 in array.shape:
            raise TableError(f"{path} has shape {array.shape}: it is empty.")
        names = [f"x{k + 1}" for k in range(array.shape[1])]
        sample = list(np.asarray(array[:SAMPLE], dtype=np.float64).T)
        facts = {"format": source.format, "header": "none; columns are x1, x2, ..."}
        super().__init__(path, names, sample, facts, has_names=False)
        self.extra = extra
        self._values = array

    def blocks(self, texts: frozenset[int]) -> Iterator[Block]:
        """Yield all rows."""
        # Blocks of at most 4 MB, whatever the number of columns.
        step = max(1, min(ROWS, (1 << 22) // (8 * self._values.shape[1])))
        for start in range(0, len(self._values), step):
            block = np.asarray(self._values[start : start + step], dtype=np.float64)
            columns: list[Any] = list(block.T)
            for k in texts:
                # 17 digits bring back the same number.
                columns[k] = [f"{value:.17g}" for value in columns[k]]
            yield Block(columns, range(start + 1, start + 1 + len(block)))


def _load(path: str, source: Source) -> Any:
    file = source.seekable()
    try:
        if source.format == "npy" and source.is_file and source.packed is None:
            return np.load(path, mmap_mode="r", allow_pickle=False)
        return np.load(file, allow_pickle=False)
    except Exception as error:  # numpy raises as the damage comes
        told = "is not a numpy file that can be read"
        if isinstance(error, ValueError) and re.search("pickle|object", str(error), re.IGNORECASE):
            told = "holds Python objects or is not a NumPy file: it is not loaded"
        raise TableError(f"{path} {told}.") from error


def _pick(path: str, arrays: dict[str, NDArray], inner: str | None, key: str) -> NDArray:
    wanted = [inner] if inner else [key, key.lower()]
    for name in wanted:
        if name in arrays:
            return arrays[name]
    if inner is None and len(arrays) == 1:
        return next(iter(arrays.values()))
    raise TableError(
        f"{path} has no array {wanted[0]!r}; it has {some(list(arrays))}; ask for one as {path}:name."
    )
