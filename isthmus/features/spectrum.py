"""From eigenvalues of a Gram matrix to the number of coordinates."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

NO_DIFFERENCE = (
    "The kernel does not tell any two samples apart: {what} is constant, and there is no direction "
    "in which samples differ."
)


def choose_rank(
    values: NDArray, asked: Any, *, trace: float, tol: float, noise: float, remedy: str = ""
) -> int:
    """How many of the eigenvalues, largest first, are kept.

    ``asked`` is a number, a fraction of ``trace`` or None for all above ``tol`` times the largest.
    ``noise`` is what rounding alone makes of a kernel without any differences.
    """
    if not values[0] > noise:
        raise ValueError(NO_DIFFERENCE.format(what="X or its kernel"))
    rank = int((values > tol * values[0]).sum())
    if asked is None:
        return rank
    if isinstance(asked, Integral):
        asked = int(asked)
        if asked > rank:
            warnings.warn(
                f"n_components == {asked} is more than the rank {rank} of the kernel matrix: "
                f"{rank} components are returned.{remedy}",
                UserWarning,
                stacklevel=5,
            )
        return min(asked, rank)
    shares = np.cumsum(values[:rank]) / trace
    return min(int(np.searchsorted(shares, float(asked) * (1 - 1e-12))) + 1, rank)
