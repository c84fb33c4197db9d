"""Where data sets are looked for: ``ISTHMUS_DATA``, then the cache directory, then OpenML."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import fetch_openml
from sklearn.utils import Bunch

from isthmus._validation import check_option
from isthmus.datasets.registry import SETS, DataSet, OpenMLTable

Arrays = dict[str, NDArray]


class DatasetNotFoundError(FileNotFoundError):
    """A data set is in none of the places; the message lists them and says what to do."""


def isthmus_data_home() -> Path:
    """Return the directory in which downloaded data sets are kept.

    The environment variable ``ISTHMUS_CACHE`` where it is set, else ``isthmus`` under the
    platform's cache directory (``~/.cache`` or ``$XDG_CACHE_HOME``, ``~/Library/Caches``,
    ``%LOCALAPPDATA%``). It need not exist: it is made when something is written.
    """
    named = os.environ.get("ISTHMUS_CACHE")
    if named:
        return Path(named).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", "~/AppData/Local")).expanduser() / "isthmus"
    if sys.platform == "darwin":
        return Path("~/Library/Caches/isthmus").expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "isthmus"


def read_set(family: str, name: str, only: Sequence[str] | None = None) -> tuple[Arrays, str]:
    """Return the arrays of a set, their names without the set's own (``X``, ``Y``, ...), and its ``DESCR``.

    ``only`` names the arrays that are needed: a file that lacks one of them is passed over. None
    reads all there are.
    """
    check_option("name", name, tuple(SETS[family]))
    row = SETS[family][name]
    for path in _places(row):
        arrays = _read(path, row.prefix, only)
        if arrays:
            return arrays, row.description
    arrays = _download(row)
    _keep(row, arrays)
    return arrays, row.description


def is_at_hand(row: DataSet) -> bool:
    """Whether a set can be read without a download."""
    return any(_read(path, row.prefix) for path in _places(row))


def _places(row: DataSet) -> Iterator[Path]:
    named = os.environ.get("ISTHMUS_DATA")
    if named:
        directory = Path(named).expanduser()
        if not directory.is_dir():  # a misspelt path must not end in a silent download
            raise NotADirectoryError(
                f"ISTHMUS_DATA == {named!r} is not a directory: correct it, or unset it to use the "
                f"cache directory {isthmus_data_home()}."
            )
        yield directory / row.file
    yield isthmus_data_home() / row.file
    yield _find_kept_file(row)


def _find_kept_file(row: DataSet) -> Path:
    """A download has a file of its own, beside the files of whole families."""
    return isthmus_data_home() / f"{Path(row.file).stem}_{row.name}.npz"


def _read(path: Path, prefix: str, only: Sequence[str] | None = None) -> Arrays:
    """The arrays of one set in a file; none where there is no file or it lacks the set."""
    if not path.is_file():
        return {}
    try:
        # Opened here: NumPy leaves a damaged file open.
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
            found = [key.removeprefix(prefix) for key in file.files if key.startswith(prefix)]
            wanted = found if only is None else only
            if not set(wanted) <= set(found):
                return {}
            return {key: file[prefix + key] for key in wanted}
    except (BadZipFile, EOFError, ValueError) as error:
        raise OSError(f"{path} is damaged or not an .npz file: delete or replace it.") from error


def _download(row: DataSet) -> Arrays:
    if row.openml is None:
        raise DatasetNotFoundError(_not_found(row, "It is not kept at OpenML."))
    try:
        with warnings.catch_warnings():  # one error at the end instead of a warning each trial
            warnings.filterwarnings("ignore", message="A network error occurred")
            # liac-arff: the other parser needs pandas, which is not among our dependencies.
            table = fetch_openml(
                data_id=row.openml.data_id,
                target_column=None,
                as_frame=False,
                parser="liac-arff",
                cache=False,
            )
    except (OSError, HTTPException, ValueError) as error:
        failure = f"The download of OpenML data set {row.openml.data_id} failed ({error})."
        raise DatasetNotFoundError(_not_found(row, failure)) from error
    why = _misfit(row.openml, table)
    if why:
        raise DatasetNotFoundError(_not_found(row, why))
    return _split(row.openml, table)


def _misfit(layout: OpenMLTable, table: Bunch) -> str:
    """Say what keeps a table of OpenML from being the set that is asked for; nothing if it fits."""
    found = f"OpenML data set {layout.data_id} is another table than expected:"
    if table.data.shape != layout.shape:
        return f"{found} its shape is {table.data.shape}, not {layout.shape}."
    if table.categories:
        return f"{found} its columns {', '.join(table.categories)} are nominal, not numbers."
    first = str(table.feature_names[-layout.blocks[-1][1]])
    if not _plain(first).endswith(_plain(layout.first_target)):
        return f"{found} its targets begin with {first!r}, not {layout.first_target!r}."
    return ""


def _split(layout: OpenMLTable, table: Bunch) -> Arrays:
    """Cut a table that came without targets (OpenML marks one of many) into the set's arrays."""
    names = np.array([str(column) for column in table.feature_names])
    widths = [width for _, width in layout.blocks]
    parts = np.split(np.asarray(table.data, dtype=np.float64), np.cumsum(widths)[:-1], axis=1)
    arrays = {key: part for (key, _), part in zip(layout.blocks, parts)}
    return arrays | {"x_names": names[: widths[0]], "y_names": names[-widths[-1] :]}


def _plain(name: str) -> str:
    """Letters and digits alone: uploads change the other signs, and put an X before a digit."""
    return re.sub(r"[\W_]", "", name).lower()


def _keep(row: DataSet, arrays: Arrays) -> None:
    """Write a download under a temporary name, then rename: readers see all of it or none."""
    path = _find_kept_file(row)
    named: dict[str, Any] = {f"{row.name}_{key}": array for key, array in arrays.items()}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            dir=path.parent, prefix=f"{path.stem}.", suffix=".tmp", delete=False
        ) as file:
            try:
                np.savez_compressed(file, **named)
                file.close()
                os.replace(file.name, path)
            except BaseException:
                file.close()
                Path(file.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        warnings.warn(f"{row.name} was downloaded but not kept in {path}: {error}", stacklevel=4)


def _not_found(row: DataSet, why: str) -> str:
    places = " nor ".join(str(path) for path in _places(row))
    named = os.environ.get("ISTHMUS_DATA")
    arrays = f" with the arrays {row.prefix}*" if row.prefix else ""
    unset = "" if named else " The environment variable ISTHMUS_DATA is not set."
    return (
        f"The data set {row.name!r} is neither in {places}.{unset} {why} Set ISTHMUS_DATA to a "
        f"directory that holds {row.file}{arrays}, or put that file into "
        f"{isthmus_data_home()} (ISTHMUS_CACHE names another directory)."
    )
