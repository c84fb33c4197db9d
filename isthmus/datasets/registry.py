"""The rows of ``registry.toml``: where a data set is kept, what it is, whose it is."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class OpenMLTable:
    """How a set lies in its table at OpenML: blocks of columns from left to right."""

    data_id: int
    n_samples: int
    blocks: tuple[tuple[str, int], ...]
    first_target: str  # a copy whose columns are ordered otherwise is refused by this name

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_samples, sum(width for _, width in self.blocks)


@dataclass(frozen=True)
class DataSet:
    """A set of the registry.

    In a file of several sets its arrays are named ``<name>_X``, ``<name>_Y``, ...; in a file of its
    own they have no such prefix.
    """

    name: str
    file: str
    title: str
    origin: str
    terms: str
    cite: str
    note: str = ""
    openml: OpenMLTable | None = None
    alone: bool = False  # whether its file holds nothing else

    @property
    def prefix(self) -> str:
        """What the names of its arrays begin with."""
        return "" if self.alone else f"{self.name}_"

    @property
    def description(self) -> str:
        """Text for ``Bunch.DESCR``."""
        lines = [self.title, f"Origin: {self.origin}", f"Terms: {self.terms}", f"Cite: {self.cite}"]
        return "\n".join(lines + [self.note] * bool(self.note))


NOT_STATED = "not stated where the copy was taken from; look them up before publishing the data."


def _row(name: str, fields: dict[str, Any]) -> DataSet:
    openml = fields.pop("openml", None)
    if openml is not None:
        blocks = tuple((kind, width) for kind, width in openml.pop("blocks"))
        openml = OpenMLTable(blocks=blocks, **openml)
    return DataSet(name=name, openml=openml, **{"terms": NOT_STATED} | fields)


_FAMILIES = tomllib.loads(files("isthmus.datasets").joinpath("registry.toml").read_text("utf-8"))
# By family, then by name; "single" has the sets without relatives.
SETS = {
    family: {name: _row(name, fields) for name, fields in rows.items()}
    for family, rows in _FAMILIES.items()
}
