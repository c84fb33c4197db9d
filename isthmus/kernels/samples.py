"""What a kernel takes: rows of numbers, or objects."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Kernel as GPKernel

from isthmus.kernels.wrappers import Function, Precomputed


def needs_vectors(kernel: Any) -> bool:
    """Return whether samples must be rows of numbers; rows of ready kernel values are."""
    if isinstance(kernel, str):
        return True
    if isinstance(kernel, Function) or not isinstance(kernel, GPKernel):
        return False  # a function of two samples: the samples decide
    return bool(kernel.requires_vector_input) or isinstance(kernel, Precomputed)


def takes_vectors(kernel: Any, X: Any = None) -> bool:
    """Return whether samples are rows of numbers; for a function of two samples ``X`` decides."""
    if isinstance(kernel, GPKernel) and not isinstance(kernel, Function):
        return needs_vectors(kernel)
    return needs_vectors(kernel) or X is None or looks_like_vectors(X)


def looks_like_vectors(X: Any) -> bool:
    """Return whether samples are a table of numbers: a 2-D array, or rows of one length."""
    if hasattr(X, "shape"):
        return len(X.shape) == 2
    if not isinstance(X, list | tuple) or not X or not isinstance(X[0], list | tuple | np.ndarray):
        return False
    numbers = all(np.isscalar(value) and not isinstance(value, str | bytes) for value in X[0])
    return numbers and len({len(row) for row in X}) == 1
