"""Centring in feature space: Gram matrices of samples from which the training mean is taken away."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


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
    Kc -= row_means
    Kc -= (row_means - mean)[:, None]
    return Kc, row_means, mean
