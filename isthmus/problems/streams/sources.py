"""Rows that do not fit into memory: a source of blocks that can be walked again."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils import check_random_state

from isthmus._linalg import Array, row_blocks
from isthmus._validation import check_number, is_dask, refuse_dask
from isthmus.problems.streams.checking import (
    as_floats,
    check_block_weights,
    check_floats,
    cut_rows,
    n_rows_of,
    three_parts,
)
from isthmus.problems.streams.dask_door import dask_source
from isthmus.problems.streams.readers import (
    ArrayReader,
    ArrowReader,
    CallReader,
    ParquetReader,
    Reader,
)
from isthmus.problems.streams.walks import (
    TOO_LARGE,
    BlockError,
    Sample,
    Walk,
    add_rows,
    check_finite_sums,
    empty_moments,
    own_rows,
    unusable,
)
from isthmus.problems.sums import Moments

Block = tuple[Any, NDArray, "Array | None"]
"""Inputs (n, p), outputs (n, q) and the weights of a block of rows."""

# A block in float64, and what is computed from it, take this share of the memory bound; larger blocks
# than so many bytes are not faster.
_BLOCK_SHARE = 1 / 8
_SOURCE_BYTES = 2**25


class Rows:
    """A source of row blocks, to be handed to ``fit``, ``predict`` and ``transform`` in place of arrays.

    Only one block, and what is computed from it, is in memory at a time. The fit is that of all rows.

    Parameters
    ----------
    blocks : callable
        Called without arguments at the beginning of each pass; returns an iterable of ``(X,)``,
        ``(X, y)`` or ``(X, y, sample_weight)``. X may be sparse.
    memory : float, default=None
        Bound on the memory of the blocks and what is computed from them, in MiB. None is scikit-learn's
        ``working_memory``. Larger blocks are cut.
    progress : callable, default=None
        Called as ``progress(n_rows, n_samples)`` after each block: rows so far in this pass, and in all or
        None if unknown.

    Attributes
    ----------
    n_samples : int or None
        Number of rows, None if the source does not know it.
    feature_names, target_names : list of str or None
        Names of columns, from an Arrow schema.
    can_repeat : bool
        Whether the rows can be walked more than once.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus import PLS, Rows
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(1000, 5)), rng.normal(size=1000)
    >>> rows = Rows(lambda: ((X[i : i + 100], y[i : i + 100]) for i in range(0, 1000, 100)))
    >>> bool(np.allclose(PLS(2).fit(rows).coef_, PLS(2).fit(X, y).coef_))
    True
    """

    def __init__(
        self,
        blocks: Callable[[], Iterable[tuple]],
        *,
        memory: float | None = None,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> None:
        if not callable(blocks):
            raise TypeError(
                f"blocks is a {type(blocks).__name__}, expected a callable that returns an iterable of "
                "(X, y); Rows.from_arrays, Rows.from_arrow and Rows.from_parquet take data."
            )
        self._start(CallReader(blocks), memory, progress)

    def _start(self, reader: Reader, memory: Any, progress: Any) -> Rows:
        if memory is not None:
            check_number("memory", memory, "> 0, in MiB", strict=True)
        self._reader = reader
        self._memory = memory
        self._maps: tuple[Callable[[Any], Any], ...] = ()
        self._width = 0  # columns of the widest array that a map makes of a block
        self._walk = Walk()
        self.progress = progress
        self.n_samples: int | None = reader.n_samples
        self.feature_names: list[str] | None = reader.feature_names
        self.target_names: list[str] | None = reader.target_names
        self.can_repeat = reader.can_repeat
        return self

    @classmethod
    def from_arrays(
        cls,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        memory: float | None = None,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> Rows:
        """Take anything that has a shape and slices by rows: ``numpy.memmap``, Zarr, h5py."""
        return cls.__new__(cls)._start(ArrayReader(X, y, sample_weight), memory, progress)

    @classmethod
    def from_arrow(
        cls,
        data: Any,
        y: str | list[str] = (),  # type: ignore[assignment]
        sample_weight: str | None = None,
        *,
        memory: float | None = None,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> Rows:
        """Take anything that speaks the Arrow stream protocol, or a Polars LazyFrame.

        ``y`` names the target columns (a string for a one-dimensional y) and ``sample_weight`` the column
        of weights; all other columns are inputs. A ``RecordBatchReader`` can be walked once only.
        """
        return cls.__new__(cls)._start(ArrowReader(data, y, sample_weight), memory, progress)

    @classmethod
    def from_parquet(
        cls,
        path: Any,
        y: str | list[str] = (),  # type: ignore[assignment]
        sample_weight: str | None = None,
        *,
        memory: float | None = None,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> Rows:
        """Take a Parquet file, or a folder of them; columns as in ``from_arrow``."""
        return cls.__new__(cls)._start(ParquetReader(path, y, sample_weight), memory, progress)

    # -- walking -----------------------------------------------------------------------------------

    @property
    def y_is_1d(self) -> bool:
        """Whether y was given without a second dimension; known after the first block at the latest."""
        return self._reader.y_is_1d

    @property
    def memory(self) -> int:
        """Bound in bytes."""
        mebibytes = get_config()["working_memory"] if self._memory is None else self._memory
        return max(1, int(mebibytes * 2**20))

    def block_rows(self, n_columns: int) -> int:
        """Return the number of rows in a block with this many columns."""
        width = 8 * max(n_columns, self._width, 1)
        return max(1, int(min(self.memory * _BLOCK_SHARE, _SOURCE_BYTES)) // width)

    def blocks(self) -> Iterator[Block]:
        """Yield checked blocks ``(X, y, sample_weight)`` of float32 or float64, within the bound.

        y is two-dimensional, without columns if there is none; sample_weight is None if there is none. A
        block that cannot be used raises a ``BlockError``, a ``ValueError`` that names it.
        """
        return (block for _, block in self._numbered(0))

    def _numbered(self, skip: int, *, finite: bool = True) -> Iterator[tuple[int, Block]]:
        """Blocks after the first ``skip`` rows, each with the number of its block in the source.

        ``finite=False`` leaves it to the caller to see NaN, which saves a pass over each block.
        """
        number, n_rows, n_columns = 0, skip, None
        walk = self._reader.read(skip, self.block_rows)
        while True:
            try:
                found = next(walk, None)
            except Exception as error:
                where = f"block {number} of the rows (from row {n_rows} on)"
                raise BlockError(f"{where} cannot be read: {error}", number) from error
            if found is None:
                return
            number = found[0]
            try:
                X, y, w = three_parts(found[1])
            except ValueError as error:
                raise BlockError(f"block {number}: {error}", number) from None
            for rows in row_blocks(
                n_rows_of(X), self.block_rows(X.shape[1] if np.ndim(X) == 2 else 1)
            ):
                own = [cut_rows(part, rows) for part in (X, y, w)]
                try:
                    part = self._checked(own[0], own[1], own[2], n_columns, finite)
                except Exception as error:
                    raise unusable(number, n_rows, rows.stop - rows.start, error) from error
                n_columns = part[3]
                n_rows += rows.stop - rows.start
                yield number, part[:3]
                if self.progress is not None:
                    self.progress(n_rows, self.n_samples)
            number += 1

    def _checked(
        self, X: Any, y: Any, w: Any, n_columns: Any, finite: bool
    ) -> tuple[Any, NDArray, Any, Any]:
        finite = finite or w is not None  # rows of weight zero are not summed
        X = self._floats(X, "X", finite)
        if X.ndim != 2:
            raise ValueError(f"X has {X.ndim} dimensions, expected 2.")
        if y is None:
            y = np.empty((X.shape[0], 0))
        self._reader.y_is_1d = np.ndim(y) == 1
        Y = self._floats(y, "y", finite)
        if Y.ndim > 2:
            raise ValueError(f"y has {Y.ndim} dimensions, expected 1 or 2.")
        Y = Y.reshape(len(Y), -1)
        shape = (X.shape[1], Y.shape[1])
        if n_columns is not None and shape != n_columns:
            raise ValueError(
                f"{shape[0]} features and {shape[1]} targets, but the blocks before have "
                f"{n_columns[0]} and {n_columns[1]}."
            )
        weights = None if w is None or not len(w) else check_block_weights(w, X)
        for function in self._maps:
            X = function(X)
        return X, Y, weights, shape

    def _floats(self, values: Any, name: str, finite: bool) -> Any:
        if not finite:
            return as_floats(values, name)
        return check_floats(values, name, self.feature_names if name == "X" else self.target_names)

    def moments(self, folds: Any = None, *, full_yy: bool = False, squares: bool = False) -> Any:
        """Sum the second moments of all rows in one pass.

        Parameters
        ----------
        folds : int, array of shape (n_samples,) or None, default=None
            None: one ``Moments`` of all rows. An int k: the moments of k folds, row i in fold i modulo k.
            An array of whole numbers: the fold of each row.
        full_yy : bool, default=False
            Whether ``yy`` is the whole matrix or its diagonal alone.
        squares : bool, default=False
            Whether to sum squares alone, for maps with a ridge. Otherwise ill-conditioned moments keep
            their digits by QR decompositions of the blocks, which cost about four times as much.

        Returns
        -------
        moments : Moments or list of Moments
            Of all rows, or of each fold.
        """
        labels = None if folds is None or np.ndim(folds) == 0 else np.asarray(folds)
        n_folds = 1 if folds is None else int(folds) if labels is None else int(labels.max()) + 1
        walk = copy.deepcopy(self._walk)
        if walk.parts and len(walk.parts) != n_folds:
            raise ValueError(
                f"the walk to resume has {len(walk.parts)} folds, but this fit has {n_folds}: resume "
                "the fit that failed."
            )
        try:
            # A map may need finite values, so they are looked at before it.
            for number, (X, Y, w) in self._numbered(walk.n_rows, finite=bool(self._maps)):
                if not walk.parts:
                    walk.parts = [empty_moments(X, Y, full_yy) for _ in range(n_folds)]
                parts = list(walk.parts)
                try:
                    for fold, own in own_rows(walk.n_rows, len(Y), n_folds, labels):
                        part = X[own], Y[own], None if w is None else w[own]
                        parts[fold] = add_rows(parts[fold], *part, squares)
                except FloatingPointError:
                    self._find_bad_value(number, walk.n_rows, X, Y)
                    raise ValueError(TOO_LARGE) from None
                walk.parts, walk.n_rows = parts, walk.n_rows + len(Y)  # a block counts whole or not
        except BlockError as error:
            error.walk = walk
            raise
        if not walk.parts:
            raise ValueError("the source has no rows.")
        check_finite_sums(walk.parts)
        return walk.parts[0] if folds is None else walk.parts

    def _find_bad_value(self, number: int, n_rows: int, X: Any, Y: NDArray) -> None:
        try:
            [self._floats(values, name, True) for values, name in ((X, "X"), (Y, "y"))]
        except ValueError as error:
            raise unusable(number, n_rows, len(Y), error) from error

    def sample(self, n_rows: int, random_state: Any = None) -> tuple[Any, NDArray, NDArray]:
        """Draw rows without replacement, each as likely as any other, in one pass.

        Every row has a random key, and those with the smallest keys are kept, so that the sample does not
        depend on the blocks. Rows of weight zero are left out.

        Parameters
        ----------
        n_rows : int
            Rows to draw; fewer if there are no more, or if an eighth of the memory bound holds no more.
        random_state : int, RandomState or None, default=None
            Seed of the keys.

        Returns
        -------
        X, y, places : ndarray of shape (m, n_features), (m, n_targets), (m,)
            Inputs, outputs, and the numbers of these rows in the source, rising.
        """
        most = int(self.memory * _BLOCK_SHARE)
        sample = Sample(n_rows, most, check_random_state(random_state))
        for X, Y, w in self.blocks():
            sample.add(X, Y, w)
        return sample.rows()

    def resume(self, error: BlockError) -> Rows:
        """Return this source with the sums from before an error: a fit continues from there.

        The rows before the error must be the same; ``self`` may be another source of them, such as one
        that reads a repaired file.
        """
        if error.walk is None:
            raise ValueError("the error does not come from a sum over the rows: fit again instead.")
        resumed = copy.copy(self)
        resumed._walk = error.walk
        return resumed

    def map(self, function: Callable[[Any], Any], n_columns: int) -> Rows:
        """Return a source that applies ``function`` to X of each block and yields ``n_columns`` columns."""
        mapped = copy.copy(self)
        mapped._maps = (*self._maps, function)
        mapped._width = max(self._width, n_columns)
        mapped.feature_names = None
        return mapped

    def merged(self, function: Callable[..., Any], merge: Callable[[Any, Any], Any]) -> Any:
        """Return ``function(X, y, sample_weight)`` of each block, merged in order; None without rows."""
        parts = (function(*block) for block in self.blocks())
        first = next(parts, None)
        return first if first is None else reduce(merge, parts, first)

    def apply(self, function: Callable[[Any], Any]) -> Iterator[Any]:
        """Yield ``function(X)`` of each block."""
        return (function(X) for X, _, _ in self.blocks())

    def __array__(self, *args: Any, **options: Any) -> Any:
        raise TypeError(
            "Rows are not gathered into one array, and this estimator or function does not take Rows: "
            "docs/scale.md lists those that do. For the others, fit a sample of the rows in memory."
        )

    def __iter__(self) -> Any:
        return self.__array__()

    def __repr__(self) -> str:
        n = "unknown" if self.n_samples is None else self.n_samples
        return f"Rows({type(self._reader).__name__}, n_samples={n})"


# -- what estimators call ------------------------------------------------------------------------------


def as_rows(X: Any, y: Any = None, sample_weight: Any = None) -> Rows | None:
    """Return the source that an estimator was handed in place of X, or None for anything else.

    Dask collections are a source, with their y and sample_weight beside them; ``Moments`` are one that has
    been summed.
    """
    if is_dask(X):
        return dask_source(X, y, sample_weight)
    refuse_dask(y=y, sample_weight=sample_weight)
    if isinstance(X, Moments):
        from isthmus.problems.streams.summed import SummedRows

        X = SummedRows(X)
    if not isinstance(X, Rows):
        return None
    if y is not None or sample_weight is not None:
        raise ValueError(
            "Rows hold their own y and sample_weight: pass those to Rows, and only Rows to fit."
        )
    return X
