"""The quantile loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isthmus._validation import check_number
from isthmus.losses.base import Array
from isthmus.losses.smoothing import Pieces, PiecewiseLinear

_BELOW_ONE = float(np.nextafter(1.0, 0.0))


@dataclass(frozen=True)
class Quantile(PiecewiseLinear):
    r"""The pinball loss, whose best constant is a quantile ([KB1978]_).

    .. math:: \rho(e) = \max(\tau e, (\tau - 1) e)

    Parameters
    ----------
    quantile : float, default=0.5
        :math:`\tau`, between 0 and 1. At 0.5 the loss is half of ``loss="absolute"``.
    """

    quantile: float = 0.5

    def __post_init__(self) -> None:
        check_number("quantile", self.quantile, "> 0 and < 1", high=_BELOW_ONE, strict=True)

    @property
    def has_units(self) -> bool:
        return False

    def pieces(self) -> Pieces:
        return Pieces(kinks=(0.0,), heights=(0.5,), slope=self.quantile - 0.5, offset=0.0)

    def rho_and_psi(self, residual: Array) -> tuple[Array, Array]:
        tau = self.quantile
        psi = np.sign(residual)
        psi *= 0.5
        psi += tau - 0.5  # at a residual of 0 this is the middle of the subgradients
        return np.maximum(tau * residual, (tau - 1) * residual), psi
