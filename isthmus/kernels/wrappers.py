"""Metric names, functions and ready matrices as kernel objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import pairwise_kernels

from isthmus.kernels.base import Kernel


class Metric(Kernel):
    """A kernel of scikit-learn by its metric name, for those without a class of their own here.

    Parameters
    ----------
    metric : str
        A name that ``sklearn.metrics.pairwise_kernels`` accepts.
    params : dict or None, default=None
        Its parameters.
    """

    def __init__(self, metric: str = "chi2", params: dict[str, Any] | None = None):
        self.metric = metric
        self.params = params

    @property
    def positive_semidefinite(self) -> bool:  # type: ignore[override]
        return self.metric in ("chi2", "cosine", "laplacian", "linear", "rbf")

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        K = pairwise_kernels(X, Y, metric=self.metric, **(self.params or {}))
        return (K, np.empty((*K.shape, 0))) if eval_gradient else K

    def diag(self, X: Any) -> NDArray:
        return np.array([self(x[None])[0, 0] for x in np.asarray(X)])


class Function(Kernel):
    """A kernel from a function of two samples, ``function(x, y, **params) -> number``.

    Samples are rows of an array or objects of a list. Gram matrices are checked for symmetry and
    positive semi-definiteness where that matters.

    Parameters
    ----------
    function : callable
        Returns the kernel of two samples.
    params : dict or None, default=None
        Further arguments, by name.
    """

    positive_semidefinite = False
    requires_vector_input = False

    def __init__(self, function: Callable[..., float], params: dict[str, Any] | None = None):
        self.function = function
        self.params = params

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        params = self.params or {}
        if Y is None:
            K = np.empty((len(X), len(X)))
            for i, x in enumerate(X):
                for j in range(i + 1):
                    K[i, j] = K[j, i] = self.function(x, X[j], **params)
        else:
            K = np.array([[self.function(x, y, **params) for y in Y] for x in X], dtype=float)
            K = K.reshape(len(X), len(Y))
        return (K, np.empty((*K.shape, 0))) if eval_gradient else K

    def diag(self, X: Any) -> NDArray:
        return np.array([self.function(x, x, **(self.params or {})) for x in X], dtype=float)


class Precomputed(Kernel):
    """Ready kernel values: ``X`` is the matrix, with one column per training sample.

    The second argument of a call is the square training matrix, or the column numbers to keep.

    Parameters
    ----------
    n_samples : int or None, default=None
        Number of training samples, which new rows must have as their columns. None: not checked.
    """

    positive_semidefinite = False
    requires_vector_input = False

    def __init__(self, n_samples: int | None = None):
        self.n_samples = n_samples

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        K = self._matrix(X)
        if Y is None:
            if K.shape[0] != K.shape[1]:
                raise ValueError(
                    f"A precomputed kernel matrix has shape {K.shape}, must be square."
                )
        else:
            Y = np.asarray(Y)
            self._check_columns(K, Y.shape[1] if Y.ndim == 2 else self.n_samples)
            if Y.ndim == 1 and not np.array_equal(Y, np.arange(K.shape[1])):
                K = K[:, Y]
        return (K, np.empty((*K.shape, 0))) if eval_gradient else K

    def diag(self, X: Any) -> NDArray:
        K = self._matrix(X)
        if K.shape[0] != K.shape[1]:
            raise ValueError(
                f"A precomputed kernel matrix has shape {K.shape}: the kernel of new samples with "
                "themselves is not in it."
            )
        return K.diagonal().copy()

    def _matrix(self, X: Any) -> NDArray:
        K = np.asarray(X)
        K = K if K.dtype in (np.float32, np.float64) else K.astype(np.float64)
        if K.ndim != 2:
            raise ValueError(f"A precomputed kernel matrix has {K.ndim} dimensions, must have 2.")
        return K

    def _check_columns(self, K: NDArray, n_samples: int | None) -> None:
        if n_samples is not None and K.shape[1] != n_samples:
            raise ValueError(
                f"A precomputed kernel matrix has shape {K.shape}, must have n_train = {n_samples} "
                "columns: one row per new sample, one column per training sample."
            )


def is_precomputed(kernel: Any) -> bool:
    """Whether samples are rows of kernel values already."""
    return isinstance(kernel, Precomputed) or (isinstance(kernel, str) and kernel == "precomputed")
