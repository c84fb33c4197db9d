"""Doors of the rooms: a name is imported from its file on first use.

A room's ``__init__`` holds one table of files and their names. ``isthmus.kernels.gram`` then loads the file
of ``gram`` alone, and a file can be moved without touching its users. Type checkers read the stub
``__init__.pyi`` beside it, which ``python -m isthmus._doors`` writes; a test holds both equal.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

HOMES: dict[str, Mapping[str, str]] = {}
"""The names of every package with a door that has been imported, and the file of each."""

Table = Mapping[
    str, str
]  # a file, by its name in the package or its whole name: names, separated by spaces


def open_door(
    package: str, public: Table, *, neighbours: Table | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    public : dict of file and names
        What users may ask for.
    neighbours : dict of file and names, default=None
        What other rooms may ask for besides; it may change at any time.
    """
    module = sys.modules[package]
    homes = HOMES[package] = _homes(package, public) | _homes(package, neighbours or {})

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name]), name)
        setattr(module, name, value)
        return value

    return load, lambda: sorted({*vars(module), *homes}), sorted(_homes(package, public))


def _homes(package: str, table: Table) -> dict[str, str]:
    """The file of each name, by its whole name."""
    whole = {file: file if file.startswith("isthmus.") else f"{package}.{file}" for file in table}
    return {name: whole[file] for file, names in table.items() for name in names.split()}


def stubs() -> Iterator[tuple[Path, str]]:
    """Yield the stub of every package with a door: its path, and what is to stand in it."""
    root = Path(__file__).parent
    for path in sorted(root.rglob("__init__.py")):
        parts = path.parent.relative_to(root.parent).parts
        module = import_module(name := ".".join(parts))
        if name in HOMES:
            by_file = sorted(HOMES[name].items(), key=lambda item: (item[1], item[0]))
            lines = [f"from {file} import {known} as {known}\n" for known, file in by_file]
            names = "".join(f'    "{name}",\n' for name in module.__all__)
            listed = f"\n__all__ = [\n{names}]\n" if names else ""
            yield path.with_suffix(".pyi"), "".join(lines) + listed


if __name__ == "__main__":
    from isthmus._doors import stubs as stubs  # the table of doors is that of the package

    for stub, text in stubs():
        stub.write_text(text, "utf-8")
