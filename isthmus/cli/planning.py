"""Files that are read and written, checked before the work is done and not after."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import typer

from isthmus.cli.app import InputError
from isthmus.cli.console import current
from isthmus.tables import split_key

PAGE = (".html", ".htm")


def file_of(given: str | None) -> list[str]:
    """The file that is read, as a list: of ``name.npz:array`` without the array; none for a pipe."""
    return [] if given is None or given == "-" else [split_key(given)[0]]


def check_file(path: str, what: str) -> None:
    """Refuse a path that is not a file to read."""
    if not os.path.exists(path):
        raise InputError(f"{path}: no such file.")
    if os.path.isdir(path):
        raise InputError(f"{path} is a directory, not {what}.")


def plan(outputs: Any, path: str, kinds: tuple[str, ...] | None = None) -> Any:
    """An output of ``Outputs``, or a line that says why it cannot be there."""
    if path == "-":
        if current().as_json:
            raise typer.BadParameter("--json and an output of - cannot both use standard output.")
        # Standard output is the file now; what people read goes to the other stream.
        current().to_stderr = True
        return outputs.add(path)
    target = Path(path)
    if kinds is not None and target.suffix.lower() not in kinds:
        raise InputError(f"{path}: the output must end in one of {', '.join(kinds)}.")
    if target.is_dir():
        raise InputError(f"{path} is a directory, name a file.")
    # A link is followed: the part file must be on the file system of its target.
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise InputError(f"{path}: there is no directory {target.parent}.")
    planned = outputs.add(path)
    if not os.access(folder, os.W_OK):
        raise InputError(f"{path}: no permission to write in {target.parent}.")
    return planned
