"""Several tables of inputs: a block each, at the fit and for new rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.cli.app import InputError
from isthmus.cli.matching import NewRows


def blocks_of(search: Any) -> list[dict[str, Any]]:
    """Tables a model was fitted on, one entry each; none for a single table."""
    return list(getattr(search, "origin_", {}).get("blocks", []))


def open_rows(
    search: Any, files: Sequence[str], reading: Any, drop: Sequence[str], **more: Any
) -> NewRows | BlockRows:
    """New rows for a model, from as many tables as it was fitted on."""
    known = blocks_of(search)
    expected = max(len(known), 1)
    if len(files) != expected:
        names = f" ({', '.join(block['name'] for block in known)}, in this order)" if known else ""
        raise InputError(
            f"the model was fitted on {expected} table{'s' if expected > 1 else ''} of inputs{names}, "
            f"{len(files)} {'is' if len(files) == 1 else 'are'} given."
        )
    if not known:
        return NewRows(search, files[0], reading, drop=drop, **more)
    return BlockRows(search, known, files, reading, drop)


class BlockRows:
    """Tables whose columns are the blocks of a model; rows are matched with those of the first."""

    def __init__(
        self, search: Any, known: list[dict[str, Any]], files: Sequence[str], reading: Any,
        drop: Sequence[str],
    ) -> None:  # fmt: skip
        self._parts: list[NewRows] = []
        try:
            for block, path in zip(known, files, strict=True):
                origin = dict(block)
                if self._parts and reading.id_column is not None:
                    # The first table must have the column of row names; the others may.
                    origin["id_column"] = reading.id_column
                    reading = replace(reading, id_column=None)
                view = SimpleNamespace(
                    origin_=origin,
                    n_features_in_=block["n"],
                    best_estimator_=search.best_estimator_,
                )
                if block["columns"] is not None:
                    view.feature_names_in_ = block["columns"]
                self._parts.append(NewRows(view, path, reading, drop=drop))
        except BaseException:
            self.close()
            raise
        self.reader = self._parts[0].reader

    def close(self) -> None:
        """Close the files."""
        for part in self._parts:
            part.close()

    def tables(self) -> tuple[NDArray, Any]:
        """All rows for the model, and the first table."""
        from isthmus.cli.console import current
        from isthmus.tables.pairs import align
        from isthmus.tables.table import read_groups

        found: list[NDArray] = []
        first: Any = None
        for part in self._parts:
            table = read_groups(part.reader, [part.columns])[0]
            part.check_complete(table.values, table.line)
            first = table if first is None else first
            table = align(first, table, current().notice)
            found.append(part.expand(table.values))
        return np.hstack(found), first

    def blocks(self) -> Iterator[tuple[NDArray, list[str] | None]]:
        """Yield all rows at once, with their names."""
        X, first = self.tables()
        yield X, first.ids
