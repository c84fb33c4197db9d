"""Centring in feature space: Gram matrices of samples from which the training mean is taken away."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import row_blocks

_CACHED = 2**15  # numbers that are still in the cache when they are asked for again


def center_train(
    K: NDArray, *, copy: bool = True, share: NDArray | None = None
) -> tuple[NDArray, NDArray, float]:
    """Return ``H K H'`` with ``H = I - 1 s'``, the row means of ``K`` and its mean.

    ``share`` is s, what each sample has of the mean; None is ``1 / n`` of all. With ``copy=False`` the
    matrix itself is centred.
    """
    if share is None:
        row_means = K.mean(axis=0, dtype=np.float64)
        mean = float(row_means.mean())
    else:
        row_means = share @ K
        mean = float(row_means @ share)
    Kc = K.copy() if copy else K
    for rows in row_blocks(len(K), max(1, _CACHED // max(len(K), 1))):
        block = Kc[rows]
        block -= row_means
        block -= (row_means[rows] - mean)[:, None]
    return Kc, row_means, mean
