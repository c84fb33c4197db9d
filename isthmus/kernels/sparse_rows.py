"""Rows of sparse matrices: products, norms and distances that never make a dense copy of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.gaussian_process.kernels import Kernel as GPKernel
from sklearn.metrics.pairwise import manhattan_distances

from isthmus._linalg import Array

# Of the squared lengths: distances below it are rounding
SAME_SQUARE = 64 * np.finfo(np.float64).eps


def takes_sparse_rows(kernel: GPKernel) -> bool:
    """Whether a kernel takes rows of a sparse matrix."""
    return bool(getattr(kernel, "takes_sparse_rows", False))


def refuse_sparse(kernel: Any, X: Any) -> None:
    """Refuse sparse rows where the kernel would need them dense."""
    if issparse(X) and not takes_sparse_rows(kernel):
        raise TypeError(
            f"Sparse data was passed, but {kernel!r} needs dense rows. Kernels of sparse rows are linear, "
            "polynomial, exponential, cosine, rbf and laplacian, and their sums, products and powers. "
            "X.toarray() makes the rows dense, if they fit into memory."
        )


def multiply_rows(A: Any, B: Any, out: NDArray) -> None:
    """Write ``A B'`` into ``out``, either side dense or sparse."""
    if not issparse(A) and not issparse(B):
        np.matmul(A, B.T, out=out)
        return
    values = A @ B.T
    out[...] = values.toarray() if issparse(values) else values


def squared_lengths(X: Any) -> NDArray:
    """Squared Euclidean length of every row."""
    if issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X))


def unit_rows(X: Any) -> Any:
    """Rows divided by their lengths; rows of zeros stay."""
    lengths = np.sqrt(squared_lengths(X))
    lengths = np.where(lengths > 0, lengths, 1.0)[:, None]
    return csr_array(X.multiply(1.0 / lengths)) if issparse(X) else X / lengths


def pair_distances(X: Any, metric: str) -> Array:
    """Distances of all pairs of a few rows, as of ``pdist``; those of equal rows are exactly zero."""
    i, j = np.triu_indices(X.shape[0], 1)
    if metric == "cityblock":
        return np.asarray(manhattan_distances(X))[i, j]
    lengths = squared_lengths(X)
    sizes = lengths[i] + lengths[j]
    D = sizes - 2.0 * (X @ X.T).toarray()[i, j]
    D = np.where(D > SAME_SQUARE * sizes, D, 0.0)
    return D if metric == "sqeuclidean" else np.sqrt(D)
