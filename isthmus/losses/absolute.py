"""The absolute loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isthmus.losses.base import Array
from isthmus.losses.smoothing import Pieces, PiecewiseLinear


@dataclass(frozen=True)
class Absolute(PiecewiseLinear):
    r"""The absolute error, whose best constant is the median.

    .. math:: \rho(e) = |e|
    """

    @property
    def has_units(self) -> bool:
        return False

    def pieces(self) -> Pieces:
        return Pieces(kinks=(0.0,), heights=(1.0,), slope=0.0, offset=0.0)

    def rho_and_psi(self, residual: Array) -> tuple[Array, Array]:
        return np.abs(residual), np.sign(residual)
