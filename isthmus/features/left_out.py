"""The ridge weight of the least error of rows left out one by one, for a kernel: one decomposition."""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus._linalg import Array
from isthmus._validation import N_FOLDS
from isthmus.kernels import Linear, copy_groups, gram, is_precomputed, take
from isthmus.problems import Distinct, RidgeSpectrum

_BYTES_PER_PAIR = 80  # of rows, in all matrices of a choice
_MEAN_SHARES = np.logspace(-6, 2, 25)  # weights that are compared, times the mean eigenvalue


def distinct(X: Any, Y: Array, weights: Array | None, most: int) -> Distinct:
    """Return at most so many different samples, drawn by what they are."""
    return Distinct(copy_groups(X, N_FOLDS, Y), weights, most)


def left_out_ridge(
    kernel: Any, X: Any, Y: Array, weights: Array | None, most: int, n_jobs: int | None = None
) -> tuple[float, float, float]:
    """Choose a ridge weight, one for all outputs, on at most so many different samples drawn by content.

    Returns the weight, the mean square of what is left of rows left out, and the mean squared distance of
    a sample from the mean of all.
    """
    kept = distinct(X, Y, weights, most)
    rows, targets = take(X, kept.places), kept.means(Y)
    if type(kernel) is Linear and isinstance(rows, np.ndarray):
        # Far from zero products lose digits.
        spectrum = RidgeSpectrum.of_rows(rows.astype(np.float64), kept.weights)
    else:
        K = rows[:, kept.places] if is_precomputed(kernel) else gram(kernel, rows, n_jobs=n_jobs)
        spectrum = RidgeSpectrum.of_gram(np.asarray(K, dtype=np.float64), kept.weights)
    # Without variation there is none: constant samples are refused by the fit.
    mean_square = float(spectrum.values.sum()) / len(targets) or 1.0
    alpha, off = spectrum.best_singly(targets, _MEAN_SHARES * mean_square)
    error = float(np.average((off**2).sum(axis=1), weights=kept.weights))
    return alpha * float(kept.weights.mean()), error, mean_square


def rows_within(memory: float, most: int) -> int:
    """Return how many rows can choose a weight within a bound of memory."""
    return int(min(most, np.sqrt(memory / _BYTES_PER_PAIR)))
