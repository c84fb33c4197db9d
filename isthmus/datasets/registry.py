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


_GROUPS = tomllib.loads(files("isthmus.datasets").joinpath("registry.toml").read_text("utf-8"))
_ROWS = {
    group: {name: _row(name, fields) for name, fields in rows.items()}
    for group, rows in _GROUPS.items()
}
NIR = _ROWS["nir"]
MULAN = _ROWS["mulan"]
FACES = _ROWS["faces"]
OBJECTS = _ROWS["objects"]
MULTILABEL = _ROWS["multilabel"]
TABLES = _ROWS["tables"]
RAETSCH = _ROWS["raetsch"]
GRAPHS = _ROWS["graphs"]
MOCAP = _ROWS["mocap"]
NETTALK = _ROWS["sequences"]["nettalk"]
OCR_WORDS = _ROWS["sequences"]["ocr_words"]
CB513 = _ROWS["sequences"]["cb513"]
USPS = _ROWS["single"]["usps"]
SILHOUETTES = _ROWS["single"]["silhouette_pose"]
STATUE = _ROWS["single"]["statue_face_pose"]
LETTER = _ROWS["single"]["letter"]
SARCOS = _ROWS["single"]["sarcos"]
JESTER = _ROWS["single"]["jester5k"]
LETTERS = _ROWS["single"]["writing_letters"]
