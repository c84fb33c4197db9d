"""Huber's loss, entry by entry."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from isthmus.losses.base import Array
from isthmus.losses.residual import ResidualLoss, check_positive, require
from isthmus.losses.scale import robust_scale

EFFICIENT = 1.345  # deviations: 95 % efficiency when the errors are Gaussian


@dataclass(frozen=True)
class Huber(ResidualLoss):
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

    delta: float | None = None

    def __post_init__(self) -> None:
        check_positive("delta", self.delta)

    @property
    def curvature(self) -> float:
        return 1.0

    @property
    def has_units(self) -> bool:
        return self.delta is not None

    def resolve(
        self,
        residual: ArrayLike,
        sample_weight: ArrayLike | None = None,
        scale: float | None = None,
    ) -> Huber:
        if self.delta is not None:
            return self
        return Huber(EFFICIENT * (scale or robust_scale(residual, sample_weight)))

    def rho_and_psi(self, residual: Array) -> tuple[Array, Array]:
        delta = require(self, "delta")
        psi = np.clip(residual, -delta, delta)
        # psi (e - psi/2) is both branches at once, and nothing is squared that could overflow.
        rho = psi * -0.5
        rho += residual
        rho *= psi
        return rho, psi

    def prox(self, residual: ArrayLike, t: float) -> Array:
        residual = np.asarray(residual, dtype=float)
        bound = require(self, "delta")
        return residual - np.clip(residual / (1 + t), -bound / t, bound / t)
