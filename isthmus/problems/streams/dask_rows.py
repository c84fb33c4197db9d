"""Rows of Dask arrays and data frames: chunks are summed where they live, and only sums travel.

Which machines work is what Dask is set to: threads, processes or the client of a cluster.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial, reduce
from typing import Any

import dask
import numpy as np
from dask.delayed import Delayed, delayed
from dask.sizeof import sizeof
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from isthmus.problems.streams.dask_chunks import Chunks, aligned_chunks
from isthmus.problems.streams.dask_sample import Drawn, draw_rows, drawn_places, pick_rows
from isthmus.problems.streams.readers import Numbered, Reader, Size
from isthmus.problems.streams.sources import BlockError, Rows
from isthmus.problems.sums import Moments

# Sums that are merged by one task: a tree of eights is three levels deep for 500 chunks.
_FAN_IN = 8

Sums = tuple[int, list[Moments]]
"""Number of rows of neighbouring chunks, and the moments of each fold; row i is in fold i modulo k."""


@sizeof.register(Moments)
def _size(moments: Moments) -> int:
    """Bytes of moments, by which workers plan their memory."""
    few = () if moments._rows is None else moments._rows
    return sum(part.nbytes for part in (moments.xx, moments.xy, moments.yy, *few))


class DaskRows(Rows):
    """A source of the rows of Dask collections; ``fit`` makes one of those it is handed.

    Parameters
    ----------
    X : dask array or data frame of shape (n_samples, n_features)
        Inputs; chunks may be sparse, and their lengths unknown.
    y : dask array, data frame or series, or array, default=None
        Outputs, of the same rows. Where lengths are unknown, chunk i of y goes with chunk i of X.
    sample_weight : dask array or series, or array, of shape (n_samples,), default=None
        Weight of each row.
    memory, progress :
        As for :class:`Rows`; the bound holds for each task of a worker, beside the chunk itself.
    """

    def __init__(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        memory: float | None = None,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> None:
        self._start(DaskReader(aligned_chunks(X, y, sample_weight)), memory, progress)

    @property
    def chunks(self) -> Chunks:
        """The collections, cut alike."""
        assert isinstance(self._reader, DaskReader)
        return self._reader.chunks

    def moments(self, folds: Any = None, *, full_yy: bool = False, squares: bool = False) -> Any:
        """Sum the second moments of all rows in one pass, by a tree of tasks; see :class:`Rows`."""
        labels = None if folds is None or np.ndim(folds) == 0 else np.asarray(folds)
        n_folds = 1 if folds is None else int(folds) if labels is None else int(labels.max()) + 1
        named = None if labels is None else self._named(labels)
        tasks = self.chunks.tasks(_sum_chunk, self._here(), named, n_folds, (full_yy, squares))
        merge = _merge if labels is None else _merge_folds
        (found,) = dask.compute(tree(tasks, merge))
        if found is None:
            raise ValueError("the source has no rows.")
        n_rows, parts = found
        if self.progress is not None:
            self.progress(n_rows, self.n_samples)
        return parts[0] if folds is None else parts

    def merged(self, function: Callable[..., Any], merge: Callable[[Any, Any], Any]) -> Any:
        """Return ``function(X, y, sample_weight)`` of blocks, merged where they live and by a tree."""
        what = delayed((function, merge), pure=False, traverse=False)
        tasks = self.chunks.tasks(_merge_chunk, self._here(), what)
        return dask.compute(tree(tasks, partial(_merge_all, merge)))[0]

    def sample(self, n_rows: int, random_state: Any = None) -> tuple[Any, NDArray, NDArray]:
        """Draw rows without replacement, in one pass; see :class:`Rows`.

        Where the lengths of the chunks are known and no row has a weight, the sample is that of the same
        rows in memory; otherwise it depends on the chunks.
        """
        rng = check_random_state(random_state)
        width = max(self.chunks.n_columns, self._width)
        n_rows = min(n_rows, max(1, self.memory // (64 * width)))  # an eighth of the bound
        if self.n_samples is not None and self.chunks.weights is None:
            places = drawn_places(self.n_samples, n_rows, rng)
            starts = np.cumsum([0, *self.chunks.lengths()])
            plan = delayed((places, starts), pure=False)
        else:
            plan = rng.randint(np.iinfo(np.int32).max)
        tasks = self.chunks.tasks(_sample_chunk, self._here(), plan, n_rows)
        (found,) = dask.compute(
            tree(tasks, partial(_merge_all, partial(Drawn.merge, n_rows=n_rows)))
        )
        if found is None:
            raise ValueError("the source has no rows.")
        return found.X, found.Y, found.places

    def _here(self) -> Delayed:
        """This source without its chunks, which each worker receives once."""
        source = copy.copy(self)
        source._reader = ChunkReader(None, 0)
        source._reader.y_is_1d = self.y_is_1d
        source.progress = None
        source.__class__ = Rows  # type: ignore[assignment]
        return delayed(source, pure=False)

    def _named(self, labels: NDArray) -> Delayed:
        """The fold of each row, as small numbers, and the first row of each chunk."""
        ends = np.cumsum([0, *self.chunks.lengths()])
        if ends[-1] != len(labels):
            raise ValueError(f"folds names {len(labels)} rows, but the source has {ends[-1]}.")
        return delayed(
            (labels.astype(np.min_scalar_type(-int(labels.max()) - 1)), ends), pure=False
        )


class DaskReader(Reader):
    """Brings one chunk after the other here, for what cannot be summed where it lives."""

    def __init__(self, chunks: Chunks) -> None:
        self.chunks = chunks
        self.n_samples = chunks.n_samples
        self.feature_names = chunks.feature_names
        self.target_names = chunks.target_names
        self.y_is_1d = chunks.y_is_1d

    def read(self, skip: int, size: Size) -> Numbered:
        for number, task in enumerate(self.chunks.tasks(_as_is)):
            X, y, w = dask.compute(task)[0]
            n = X.shape[0]
            if skip < n:
                yield number, tuple(None if part is None else part[skip:] for part in (X, y, w))
            skip = max(0, skip - n)


class ChunkReader(Reader):
    """A single chunk, on the worker that holds it."""

    def __init__(self, block: tuple | None, number: int) -> None:
        self.block, self.number = block, number

    def read(self, skip: int, size: Size) -> Iterator[tuple[int, tuple]]:
        assert self.block is not None
        yield self.number, self.block


# -- tasks ---------------------------------------------------------------------------------------------


def tree(parts: list[Delayed], merge: Callable[[list[Any]], Any]) -> Delayed:
    """Merge neighbours by a tree of tasks, always in the same order."""
    join = delayed(merge, pure=False)
    parts = [join(parts[i : i + _FAN_IN]) for i in range(0, len(parts), _FAN_IN)]
    while len(parts) > 1:
        parts = [join(parts[i : i + _FAN_IN]) for i in range(0, len(parts), _FAN_IN)]
    return parts[0]


def _as_is(number: int, X: Any, y: Any, w: Any) -> tuple[Any, Any, Any]:
    return X, y, w


def _chunk_rows(source: Rows, number: int, X: Any, y: Any, w: Any) -> Rows:
    """Rows of a chunk alone, by the checks and the maps of the whole source."""
    for name, values in (("y", y), ("sample_weight", w)):
        if values is not None and len(values) != X.shape[0]:
            message = f"chunk {number}: X has {X.shape[0]} rows and {name} has {len(values)}."
            raise BlockError(message, number)
    rows = copy.copy(source)
    rows._reader = ChunkReader((X, y, w), number)
    return rows


def _sum_chunk(
    number: int, X: Any, y: Any, w: Any, source: Rows, named: Any, n_folds: int, how: Any
) -> Sums | None:
    """The moments of each fold of a chunk; None if it has no rows."""
    if X.shape[0] == 0:
        return None
    folds: Any = n_folds
    if named is not None:
        labels, ends = named
        folds = labels[ends[number] : ends[number + 1]]
        if (folds < 0).all():  # rows of no fold
            return X.shape[0], []
    rows = _chunk_rows(source, number, X, y, w)
    try:
        parts = rows.moments(folds, full_yy=how[0], squares=how[1])
    except BlockError as error:
        raise _renamed(error) from error.__cause__
    return X.shape[0], parts


def _merge_chunk(number: int, X: Any, y: Any, w: Any, source: Rows, what: Any) -> Any:
    """What a function makes of the blocks of a chunk, merged; None if it has no rows."""
    if X.shape[0] == 0:
        return None
    rows = _chunk_rows(source, number, X, y, w)
    try:
        return rows.merged(*what)
    except BlockError as error:
        raise _renamed(error) from error.__cause__


def _merge_all(merge: Callable[[Any, Any], Any], parts: list[Any]) -> Any:
    kept = [part for part in parts if part is not None]
    return reduce(merge, kept) if kept else None


def _sample_chunk(
    number: int, X: Any, y: Any, w: Any, source: Rows, plan: Any, n_rows: int
) -> Drawn | None:
    """Rows of a chunk: those at given places of all rows, or some of its own; None if it has no rows."""
    if X.shape[0] == 0:
        return None
    rows = _chunk_rows(source, number, X, y, w)
    try:
        if isinstance(plan, int):
            return draw_rows(rows, n_rows, [plan, number])
        places, starts = plan
        first, last = np.searchsorted(places, starts[number : number + 2])
        return pick_rows(rows, places[first:last] - starts[number])
    except BlockError as error:
        raise _renamed(error) from error.__cause__


def _renamed(error: BlockError) -> BlockError:
    """The error of a chunk: its rows are counted within the chunk, and what was summed stays there."""
    return BlockError(f"chunk {error.block}: {error.__cause__ or error}", error.block)


def _merge(parts: list[Sums | None]) -> Sums | None:
    """Join neighbouring chunks: row 0 of a chunk after m rows is in fold m modulo k."""
    kept = [part for part in parts if part is not None]
    return reduce(_merge_two, kept) if kept else None


def _merge_two(left: Sums, right: Sums) -> Sums:
    n, k = left[0], len(left[1])
    return n + right[0], [part.merge(right[1][(i - n) % k]) for i, part in enumerate(left[1])]


def _merge_folds(parts: list[Sums | None]) -> Sums | None:
    """Join chunks whose folds are named."""
    kept = [part for part in parts if part is not None]
    if not kept:
        return None
    n_folds = max(len(moments) for _, moments in kept)
    joined = []
    for fold in range(n_folds):
        own = [moments[fold] for _, moments in kept if fold < len(moments)]
        joined.append(reduce(Moments.merge, own))
    return sum(n for n, _ in kept), joined
