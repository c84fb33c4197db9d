"""Label kernels: how alike two labels are, between 0 and 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from isthmus._linalg import Array


def label_matrix(kernel: Callable[[Any, Any], float], labels: Sequence[Any], name: str) -> Array:
    """Values of a label kernel for all pairs of labels; they must be symmetric and in [0, 1]."""
    if not callable(kernel):
        raise TypeError(f"{name} == {kernel!r}, must be a function of two labels.")
    M = np.array([[float(kernel(a, b)) for b in labels] for a in labels])
    bad = ~((M >= 0.0) & (M <= 1.0))
    if bad.any():
        i, j = np.argwhere(bad)[0]
        raise ValueError(
            f"{name}({labels[i]!r}, {labels[j]!r}) == {M[i, j]}, must be between 0 and 1."
        )
    if np.abs(M - M.T).max() > 1e-12:
        i, j = np.unravel_index(np.abs(M - M.T).argmax(), M.shape)
        raise ValueError(
            f"{name} is not symmetric: {M[i, j]} and {M[j, i]} for {labels[i]!r}, {labels[j]!r}."
        )
    return M
