"""Huber's loss, entry by entry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from isthmus.losses.base import Array
from isthmus.losses.residual import ScaleParameter

EFFICIENT_HUBER = 1.345  # deviations: 95 % efficiency when the errors are Gaussian


@dataclass(frozen=True)
class Huber(ScaleParameter):
    r"""Squares for small residuals, absolute values for large ones ([H1964]_).

    .. math::
        \rho(e) = \begin{cases}
            e^2 / 2 & |e| \le \delta \\
            \delta |e| - \delta^2 / 2 & |e| > \delta
        \end{cases}

    Parameters
    ----------
    delta : float, default=None
        Where the square ends. None is 1.345 times the robust scale of the residuals given to
        :meth:`resolve`.
    """

    parameter: ClassVar[str] = "delta"
    multiple: ClassVar[float] = EFFICIENT_HUBER

    delta: float | None = None

    @property
    def curvature(self) -> float:
        return 1.0

    def rho_and_psi(self, residual: Array) -> tuple[Array, Array]:
        delta = self._value()
        psi = np.clip(residual, -delta, delta)
        # psi (e - psi/2) is both branches at once, and nothing is squared that could overflow.
        rho = psi * -0.5
        rho += residual
        rho *= psi
        return rho, psi
