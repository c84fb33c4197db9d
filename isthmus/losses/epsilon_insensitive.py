"""The epsilon-insensitive loss of support vector regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from isthmus._validation import check_number
from isthmus.losses.base import Array
from isthmus.losses.residual import ScaleParameter
from isthmus.losses.smoothing import Pieces, PiecewiseLinear

# The tube, in robust scales of the residuals: narrow enough that most rows still count.
SCALES = 0.1


@dataclass(frozen=True)
class EpsilonInsensitive(ScaleParameter, PiecewiseLinear):
    r"""The absolute error beyond a tube in which errors cost nothing ([V1995]_).

    .. math:: \rho(e) = \max(|e| - \epsilon, 0)

    The tube is around each entry; [B2006]_ prints a tube around the sum of a row, which is the same
    for one output only.

    Parameters
    ----------
    epsilon : float, default=None
        Half width of the tube. None is 0.1 times the robust scale of the residuals given to
        :meth:`resolve`.
    """

    parameter: ClassVar[str] = "epsilon"
    multiple: ClassVar[float] = SCALES

    epsilon: float | None = None

    def __post_init__(self) -> None:
        if self.epsilon is not None:
            check_number("epsilon", self.epsilon, ">= 0 and finite")

    def pieces(self) -> Pieces:
        epsilon = self._value()
        return Pieces(kinks=(-epsilon, epsilon), heights=(0.5, 0.5), slope=0.0, offset=-epsilon)

    def rho_and_psi(self, residual: Array) -> tuple[Array, Array]:
        rho = np.abs(residual)
        rho -= self._value()
        np.maximum(rho, 0.0, out=rho)
        psi = np.sign(residual)
        psi *= rho > 0
        return rho, psi
