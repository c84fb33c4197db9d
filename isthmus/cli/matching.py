"""New rows against the columns of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.cli.app import InputError
from isthmus.cli.console import current
from isthmus.inspection._model import split_model
from isthmus.tables.categories import expand
from isthmus.tables.errors import some
from isthmus.tables.kinds import Column
from isthmus.tables.names import find_all, suggest
from isthmus.tables.pairs import Reading
from isthmus.tables.reader import split_key


def file_of(given: str | None) -> list[str]:
    """The file that is read, as a list: of ``name.npz:array`` without the array; none for a pipe."""
    return [] if given is None or given == "-" else [split_key(given)[0]]


class NewRows:
    """A table whose columns are those of a model: its rows once, in blocks or as a whole."""

    def __init__(
        self, search: Any, path: str, reading: Reading, drop: Sequence[str] = (), **more: Any
    ) -> None:
        self._search = search
        origin = getattr(search, "origin_", {})
        self.levels: Mapping[str, list[str]] = origin.get("categories") or {}
        known = getattr(search, "feature_names_in_", None)
        names = None if known is None else _collapse([str(name) for name in known], self.levels)
        self.reader = reading.open(
            path, likely_id=origin.get("id_column"), categories=self.levels,
            # A column of numbers in training is one here too, whatever its new cells look like.
            numeric=[n for n in names or [] if n not in self.levels] + list(more.pop("outputs", [])),
            **more,
        )  # fmt: skip
        try:
            # A category of k levels is one column of the table and k of the model.
            n = int(search.n_features_in_) - sum(len(v) - 1 for v in self.levels.values())
            self.columns = self._match(names, n, origin, drop)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self.reader.__exit__()

    def _match(
        self, names: list[str] | None, n: int, origin: dict[str, Any], drop: Sequence[str]
    ) -> list[Column]:
        reader = self.reader
        for sentence in reader.sentences():
            current().notice(sentence)
        # Without names on one side the order of the columns is all there is.
        if names is None or not reader.has_names:
            return self._by_place(names, n, origin)
        places = find_all(names, [column.name for column in reader.columns])
        missing = [name for name, place in zip(names, places) if place is None]
        if missing:
            rest = [c.name for k, c in enumerate(reader.columns) if k not in places]
            raise InputError(
                f"{reader.path} lacks {len(missing)} of the {len(names)} columns the model was fitted on: "
                f"{some(missing, 20)}.{suggest(missing[0], rest)}"
            )
        columns = [reader.columns[place] for place in places if place is not None]
        for column, name in zip(columns, names):
            if name in self.levels:
                column.name, column.kind = name, "category"
        taken = {column.place for column in columns}
        known = set(drop)
        extra = [
            c.name for c in reader.data_columns if c.place not in taken and c.name not in known
        ]
        if extra:
            current().notice(
                f"{reader.path}: columns that were not in training are ignored: {some(extra)}."
            )
        renamed = [(c.name, n) for c, n in zip(columns, names) if c.name != n]
        if renamed:
            told = ", ".join(f"{a!r} is {b!r}" for a, b in renamed[:3])
            current().notice(f"{reader.path}: similar names are treated as equal: {told}.")
        self._rename = dict(zip([c.name for c in columns], names))
        return columns

    def _by_place(self, names: list[str] | None, n: int, origin: dict[str, Any]) -> list[Column]:
        reader = self.reader
        columns = reader.data_columns
        # Columns that only number the rows were left out of the fit; new tables may have them or not.
        numbered = origin.get("row_numbers", [])
        others = [c for c in reader.columns if c.kind not in ("id", "ignore")]
        if len(columns) != n and len(others) == n:
            columns = others
        elif len(columns) != n and len(others) - len(numbered) == n:
            columns = [c for c in others if c.place not in numbered]
        if len(columns) != n:
            raise InputError(
                f"{reader.path} has {len(columns)} columns, the model was fitted on {n}"
                + ("." if names is None else f": {some(names)}.")
            )
        if names is not None:
            current().notice(
                f"{reader.path} has no header: its columns are assumed to be in the order of training."
            )
        for column in columns:
            # A column of the model that happens to count upwards in the new rows.
            column.kind = "number" if column.kind == "index" else column.kind
        self._rename = {
            c.name: (names or [c.name for c in columns])[k] for k, c in enumerate(columns)
        }
        return columns

    def blocks(self) -> Iterator[tuple[NDArray, list[str] | None]]:
        """Yield rows for the model, with their names."""
        for rows in self.reader.rows(self.columns):
            self.check_complete(rows.values, rows.lines.__getitem__)
            yield self.expand(rows.values), rows.ids
        if self.reader.unknown:
            told = [f"{name} ({count} rows)" for name, count in self.reader.unknown.items()]
            current().notice(
                f"categories that were not in training are encoded as zeros: {some(told)}."
            )

    def expand(self, values: NDArray) -> NDArray:
        """Columns as the model has them."""
        names = [self._rename[column.name] for column in self.columns]
        return expand(values, names, self.levels)

    def check_complete(self, values: NDArray, line_of: Callable[[int], int]) -> None:
        """Missing values are for models that were fitted with them."""
        # Models with missing="em" fill the holes themselves.
        before, last = split_model(self._search)
        if not before and getattr(last, "missing", "error") == "em":
            return
        holes = np.isnan(values)
        if holes.any():
            i, j = np.argwhere(holes)[0]
            raise InputError(
                f"{self.reader.path}: column {self.columns[j].name!r} has no value in {self.reader.place} "
                f"{line_of(int(i))} and the model was fitted on complete rows: fill it, leave the row "
                "out, or fit on rows with missing values."
            )


def _collapse(names: list[str], levels: Mapping[str, list[str]]) -> list[str]:
    """Names of the columns of a table for those of a model with categories."""
    expanded = {f"{name}={level}": name for name, values in levels.items() for level in values}
    return list(dict.fromkeys(expanded.get(name, name) for name in names))
