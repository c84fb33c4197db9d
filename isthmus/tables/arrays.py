"""NumPy files: one array, or one of an archive."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.tables.errors import TableError, some
from isthmus.tables.formats import Arrays
from isthmus.tables.sources import Source


def open_arrays(source: Source, inner: str | None, key: str) -> Arrays:
    """Open .npy or .npz; nothing that is stored as Python objects is built."""
    path = source.path
    file = source.seekable()
    extra: dict[str, NDArray] = {}
    if source.format == "npy":
        array = _load(path, file, source)
    else:
        with _load(path, file, source) as loaded:
            try:
                extra = {name: loaded[name] for name in loaded.files}
            except Exception as error:
                raise TableError(
                    f"{path} holds Python objects, or is damaged: it is refused."
                ) from error
        array = _pick(path, extra, inner, key)
    if array.dtype.kind not in "fiub":
        raise TableError(f"{path} has values of type {array.dtype}, must be numbers.")
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise TableError(f"{path} has {array.ndim} dimensions, must have 2: rows and columns.")
    if 0 in array.shape:
        raise TableError(f"{path} has shape {array.shape}: it is empty.")
    return Arrays(path, array, extra, source.format)


def _load(path: str, file: Any, source: Source) -> Any:
    try:
        if source.format == "npy" and source.is_file and source.packed is None:
            return np.load(path, mmap_mode="r", allow_pickle=False)
        return np.load(file, allow_pickle=False)
    except ValueError as error:
        if "pickle" in str(error).lower() or "object" in str(error).lower():
            raise TableError(
                f"{path} holds Python objects or is not a NumPy file: it is not loaded."
            ) from error
        raise TableError(f"{path} is not a numpy file that can be read.") from error
    except Exception as error:  # numpy raises as the damage comes
        raise TableError(f"{path} is not a numpy file that can be read.") from error


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
