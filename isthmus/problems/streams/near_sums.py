"""Sums of a block of rows, seen from the mean of the rows before."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from isthmus._linalg import TRUSTED, Array
from isthmus.problems.sums import Moments


def near_moments(X: Any, Y: NDArray, weights: Array | None, before: Moments) -> Moments:
    """Return the moments of a block as squares; ``before`` are those of the blocks before.

    Rows are seen from the mean of the rows before, which saves a pass over the block to find its own.
    """
    point = np.concatenate([before.x_mean, before.y_mean]) if before.weight > 0 else None
    return Moments.squares_of(X, Y, weights, before.yy.ndim == 2, point)


def check_sums(moments: Moments) -> Moments:
    """Refuse sums of values that are not finite, or too large to be squared."""
    squares = moments.xx.diagonal(), moments.y_squares
    for sums in (moments.x_mean, moments.y_mean, *squares):
        if not np.isfinite(sums).all():
            raise FloatingPointError("the values are not finite, or their squares are not.")
    return moments


def add_block(before: Moments, X: Any, Y: NDArray, weights: Array | None) -> Moments:
    """Return the moments of the rows before and of a block, with all digits."""
    with np.errstate(over="ignore", invalid="ignore"):
        part = check_sums(near_moments(X, Y, weights, before))
        n_rows = part.n_samples
        total = before._join(part, lambda: part._centred_blocks(X, Y, weights), n_rows)
    if total._proved is not None and total._proved is not before._proved:
        total._proved = total._proved * _slack(total)
    return total


def _slack(moments: Moments) -> float:
    """Factor by which variances may grow before well-conditioned moments have to be proved so again.

    Rows that are added to moments with the smallest eigenvalue s, in units of the variances, leave at least
    s over the growth of the variances, and the largest is at most the number of columns.
    """
    live = moments._live()
    scales = np.sqrt(moments.xx.diagonal()[live])
    scaled = moments.xx[np.ix_(live, live)] / scales / scales[:, None]
    if not len(scaled):
        return 1.0
    inverse, _ = lapack.dtrtri(np.linalg.cholesky(scaled), lower=1)
    # Of an inverse with this trace, or larger
    smallest = 1.0 / float((np.tril(inverse) ** 2).sum())
    return max(1.0, smallest / len(scaled) / TRUSTED)
