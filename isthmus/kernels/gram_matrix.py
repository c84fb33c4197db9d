"""Gram matrices: every one is computed here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn.gaussian_process.kernels import Kernel as GPKernel

from isthmus._linalg import row_blocks
from isthmus._validation import check_memory
from isthmus.kernels.base import VectorKernel
from isthmus.kernels.distances import DistanceKernel
from isthmus.kernels.resolve import resolve_kernel
from isthmus.kernels.wrappers import Precomputed

GRAM_BYTES = 2**26
"""How large a block of a Gram matrix may be that is computed at once."""


def gram(
    kernel: Any,
    X: Any,
    Y: Any = None,
    *,
    n_jobs: int | None = None,
    block_bytes: int = GRAM_BYTES,
) -> NDArray:
    """Return the kernel of all pairs, ``K[i, j] = k(x_i, y_j)``.

    Parameters
    ----------
    kernel : kernel object, str or callable
        See ``isthmus.kernels.resolve.resolve_kernel``. A name whose width is open takes it from ``X``.
    X, Y : array-like or list of objects
        Samples; ``Y=None`` means ``X`` itself and gives a matrix symmetric to the last digit.
    n_jobs : int or None, default=None
        Pieces that are computed side by side: threads for kernels of vectors, processes else.
    block_bytes : int, default=2**26
        Bound on what one piece may take besides the matrix itself.

    Returns
    -------
    ndarray of shape (len(X), len(Y))
        float32 where the kernel is one of ours and all samples are float32.
    """
    kernel = _as_object(kernel, X)
    n = length(X)
    m = length(X if Y is None else Y)
    if isinstance(kernel, Precomputed):
        return np.asarray(kernel(X, Y))
    # Asked first: after hours of pairs of graphs, a failed allocation would lose them all.
    what = "n_landmarks or solver='landmarks' takes less"
    check_memory(8.0 * n * m, f"A Gram matrix of {n} x {m} numbers", what)
    if effective_n_jobs(n_jobs) > 1 and n > 1:
        return _in_parallel(kernel, X, Y, n_jobs, block_bytes)
    if isinstance(kernel, VectorKernel) or 8 * n * m <= block_bytes:
        return np.asarray(kernel(X) if Y is None else kernel(X, Y))
    return _assemble(kernel, X, Y, _pieces(n, m, Y is None, block_bytes))


def shifted_gram(kernel: Any, X: NDArray) -> NDArray:
    """Return the Gram matrix up to a constant, for what centres it.

    Values of a wide kernel are all nearly one: what is left of them after centring has few digits, unless
    the one is taken away before it is added.
    """
    kernel = _as_object(kernel, X)
    if isinstance(kernel, DistanceKernel):
        return kernel.less_one(np.asarray(X, dtype=np.float64))
    return np.asarray(gram(kernel, X), dtype=np.float64)


def gram_diagonal(kernel: Any, X: Any) -> NDArray:
    """Return the kernel of each sample with itself."""
    return np.asarray(_as_object(kernel, X).diag(X))


def gram_blocks(
    kernel: Any, X: Any, Y: Any, *, block_bytes: int = GRAM_BYTES, n_jobs: int | None = None
) -> Iterator[tuple[slice, NDArray]]:
    """Yield ``(rows, K[rows])`` of the Gram matrix of ``X`` and ``Y``, block by block.

    No more than ``block_bytes`` of it are there at a time.
    """
    kernel = _as_object(kernel, Y)
    size = max(1, block_bytes // (8 * max(1, length(Y))))
    for rows in row_blocks(length(X), size):
        yield rows, gram(kernel, take(X, rows), Y, n_jobs=n_jobs, block_bytes=block_bytes)


def take(X: Any, rows: slice | NDArray | Sequence[int]) -> Any:
    """Some of the samples: an array of an array, a list of a list."""
    if hasattr(X, "shape") or isinstance(rows, slice):
        return X[rows]
    return [X[int(i)] for i in np.asarray(rows).ravel()]


def owned(X: Any) -> Any:
    """Samples as a fitted model keeps them: the caller may refill the arrays or the list."""
    if hasattr(X, "shape"):
        return X.copy()
    return [x.copy() if isinstance(x, np.ndarray | list) else x for x in X]


def _as_object(kernel: Any, X: Any) -> Any:
    return kernel if isinstance(kernel, GPKernel) else resolve_kernel(kernel, X)


def length(X: Any) -> int:
    """Number of samples."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


Piece = tuple[slice, slice | None]


def _pieces(n: int, m: int, symmetric: bool, block_bytes: int, at_least: int = 1) -> list[Piece]:
    """Rows and columns of the pieces; columns are None on the diagonal of a symmetric matrix."""
    if symmetric:
        # Square pieces: each is computed once and written twice.
        size = max(1, min(int(np.sqrt(block_bytes / 8)), -(-n // at_least)))
        rows = list(row_blocks(n, size))
        return [(r, None if c is r else c) for i, r in enumerate(rows) for c in rows[: i + 1]]
    size = max(1, min(block_bytes // (8 * max(m, 1)), -(-n // at_least)))
    return [(rows, slice(0, m)) for rows in row_blocks(n, size)]


def _assemble(kernel: Any, X: Any, Y: Any, pieces: list[Piece]) -> NDArray:
    return _place(X, Y, pieces, (_piece(kernel, X, Y, piece) for piece in pieces))


def _in_parallel(kernel: Any, X: Any, Y: Any, n_jobs: int | None, block_bytes: int) -> NDArray:
    n = length(X)
    m = length(X if Y is None else Y)
    # More pieces than workers, because objects of different size make pieces of different cost.
    workers = 2 * effective_n_jobs(n_jobs)
    pieces = _pieces(n, m, Y is None, block_bytes, at_least=workers)
    # Products of NumPy release the interpreter lock; kernels of objects are loops that hold it.
    prefer = "threads" if isinstance(kernel, VectorKernel) else "processes"
    values = Parallel(n_jobs=n_jobs, prefer=prefer)(
        delayed(_piece)(kernel, X, Y, piece) for piece in pieces
    )
    return _place(X, Y, pieces, values)


def _piece(kernel: Any, X: Any, Y: Any, piece: Piece) -> NDArray:
    rows, columns = piece
    if columns is None:  # some kernels, as that of white noise, differ where Y is not given
        return np.asarray(kernel(take(X, rows)))
    return np.asarray(kernel(take(X, rows), take(X if Y is None else Y, columns)))


def _place(X: Any, Y: Any, pieces: list[Piece], values: Any) -> NDArray:
    K: NDArray | None = None
    for (rows, columns), block in zip(pieces, values):
        if K is None:
            K = np.empty((length(X), length(X if Y is None else Y)), dtype=block.dtype)
        K[rows, rows if columns is None else columns] = block
        if Y is None and columns is not None:
            K[columns, rows] = block.T
    assert K is not None
    return K
