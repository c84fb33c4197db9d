"""The ridge weight of the least error of rows left out one by one, for a kernel: one decomposition."""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus._linalg import Array, spreads
from isthmus.kernels import Linear, gram
from isthmus.kernels.distinct import merged_samples
from isthmus.kernels.gram import take
from isthmus.kernels.wrappers import is_precomputed
from isthmus.problems.ridge import RidgeSpectrum

_BYTES_PER_PAIR = 80  # of rows, in all matrices of a choice
_MEAN_SHARES = np.logspace(-6, 2, 25)  # weights that are compared, times the mean eigenvalue


def left_out_ridge(
    kernel: Any, X: Any, Y: Array, weights: Array | None, most: int, n_jobs: int | None = None
) -> tuple[float, float, float]:
    """Choose a ridge weight, one for all outputs, on at most so many different samples drawn by content.

    Returns the weight, the mean square of what is left of rows left out, and the mean squared distance of
    a sample from the mean of all.
    """
    some, targets, sums = merged_samples(X, Y, weights, most)
    rows = take(X, some)
    if type(kernel) is Linear and isinstance(
        rows, np.ndarray
    ):  # far from zero products lose digits
        spectrum = RidgeSpectrum.of_rows(rows.astype(np.float64), sums)
    else:
        K = rows[:, some] if is_precomputed(kernel) else gram(kernel, rows, n_jobs=n_jobs)
        spectrum = RidgeSpectrum.of_gram(np.asarray(K, dtype=np.float64), sums)
    if not len(spectrum.values):  # constant samples, which the fit refuses
        return 1.0, np.inf, 1.0
    mean_square = float(spectrum.values.sum()) / len(targets)
    alpha = spectrum.best_alpha(targets, _MEAN_SHARES * mean_square)
    squares = (targets - spectrum.left_out_singly(targets, np.array([alpha]))) ** 2
    error = float(np.average(squares.sum(axis=1), weights=sums))
    return alpha * float(sums.mean()), error, mean_square


def rows_within(memory: float, most: int) -> int:
    """Return how many rows can choose a weight within a bound of memory."""
    return int(min(most, np.sqrt(memory / _BYTES_PER_PAIR)))


def deviations(Y: Any, weights: Array | None) -> Array:
    """Return standard deviations of columns, one where they do not vary."""
    Y = np.asarray(Y, dtype=np.float64)
    unit = spreads(Y)
    if weights is None:
        return unit
    # In units in which squares stay in the range of float64.
    Z = Y / unit
    mean = np.average(Z, axis=0, weights=weights)
    found = np.sqrt(np.average((Z - mean) ** 2, axis=0, weights=weights))
    return np.where(found > 0, found, 1.0) * unit
