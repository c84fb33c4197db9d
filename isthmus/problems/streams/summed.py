"""Rows that somebody has summed already, on whatever machine."""

from __future__ import annotations

from typing import Any

from isthmus.problems.streams.readers import Numbered, Reader, Size
from isthmus.problems.streams.sources import Rows
from isthmus.problems.sums import Moments


class SummedRows(Rows):
    """A source that knows the moments of its rows and nothing else of them."""

    def __init__(self, moments: Moments) -> None:
        reader = SummedReader()
        reader.n_samples = moments.n_samples
        self._start(reader, None, None)
        self._moments = moments

    def moments(self, folds: Any = None, *, full_yy: bool = False, squares: bool = False) -> Any:
        """Return the moments; folds and the rows themselves are not known."""
        if folds is not None:
            raise ValueError(
                "Moments of all rows cannot be split into folds: fix n_components and alpha, or fit Rows."
            )
        if full_yy and self._moments.yy.ndim == 1:
            raise ValueError(
                "Moments with full_yy=False do not serve here: sum by Moments.from_data."
            )
        return self._moments.copy()


class SummedReader(Reader):
    """Has no rows to read."""

    can_repeat = False

    def read(self, skip: int, size: Size) -> Numbered:
        raise ValueError("Moments hold no rows: fit Rows")
