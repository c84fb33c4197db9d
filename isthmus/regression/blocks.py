"""Which columns belong together: the blocks of inputs from several sources."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length

from isthmus._linalg import Array
from isthmus._validation import check_array


def join_blocks(*arrays: ArrayLike) -> tuple[Array, list[slice]]:
    """Join several inputs of the same rows side by side; return them and the columns of each.

    Parameters
    ----------
    *arrays : array of shape (n_samples, n_columns)
        One per source: near-infrared and Raman spectra, process data. NaN is kept.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        All columns.
    blocks : list of slice
        Columns of each source, as ``BlockRidge``, ``MultiblockPLS`` and ``SequentialPLS`` take them.

    Examples
    --------
    >>> from isthmus.regression import join_blocks
    >>> X, blocks = join_blocks([[1.0, 2.0]], [[3.0]])
    >>> X.shape, blocks
    ((1, 3), [slice(0, 2, None), slice(2, 3, None)])
    """
    if not arrays:
        raise ValueError("join_blocks needs at least one array.")
    checked = [
        check_array(array, dtype=np.float64, ensure_all_finite="allow-nan") for array in arrays
    ]
    check_consistent_length(*checked)
    ends = np.cumsum([0, *(part.shape[1] for part in checked)]).tolist()
    return np.hstack(checked), [slice(a, b) for a, b in pairwise(ends)]


def resolve_blocks(blocks: Any, n_features: int, names: Sequence[str] | None) -> list[NDArray]:
    """Return the column numbers of each block; every column is in exactly one."""
    if blocks is None:
        return [np.arange(n_features)]
    if isinstance(blocks, str) or not isinstance(blocks, Iterable):
        raise ValueError(f"blocks == {blocks!r}, must be a list with the columns of each block.")
    found = [_columns(block, n_features, names) for block in blocks]
    if not found or any(len(block) == 0 for block in found):
        raise ValueError(f"blocks == {blocks!r}, must have at least one block, each with columns.")
    counts = np.bincount(np.concatenate(found), minlength=n_features)
    if (counts != 1).any():
        column = int((counts != 1).argmax())
        raise ValueError(
            f"column {column} is in {counts[column]} blocks, must be in exactly one: the blocks must "
            f"cover all {n_features} columns without overlap."
        )
    return found


def _columns(block: Any, n_features: int, names: Sequence[str] | None) -> NDArray:
    if isinstance(block, slice):
        return np.arange(n_features)[block]
    if not isinstance(block, Iterable):
        raise ValueError(f"a block is {block!r}, must be a slice, column numbers or column names.")
    items = [block] if isinstance(block, str) else list(block)
    if all(isinstance(item, str) for item in items):
        places = {} if names is None else {str(name): j for j, name in enumerate(names)}
        missing = [item for item in items if item not in places]
        if missing:
            raise ValueError(f"blocks name {missing[0]!r}, which is not a column of X.")
        return np.array([places[item] for item in items], dtype=int)
    columns = np.asarray(items)
    if columns.dtype.kind not in "iu" or columns.ndim != 1:
        raise ValueError(f"a block is {block!r}, must be a slice, column numbers or column names.")
    outside = columns[(columns < 0) | (columns >= n_features)]
    if len(outside):
        raise ValueError(f"a block has column {outside[0]}, must be from 0 to {n_features - 1}.")
    return columns
