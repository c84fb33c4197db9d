"""The epsilon-insensitive loss of support vector regression."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from isthmus.losses.base import Array
from isthmus.losses.residual import require
from isthmus.losses.scale import robust_scale
from isthmus.losses.smoothing import Pieces, PiecewiseLinear
from isthmus.validation import check_number

SCALES = 0.1


@dataclass(frozen=True)
class EpsilonInsensitive(PiecewiseLinear):
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

    epsilon: float | None = None

    def __post_init__(self) -> None:
        if self.epsilon is not None:
            check_number("epsilon", self.epsilon, ">= 0 and finite")

    def pieces(self) -> Pieces:
        epsilon = require(self, "epsilon")
        return Pieces(kinks=(-epsilon, epsilon), heights=(0.5, 0.5), slope=0.0, offset=-epsilon)

    @property
    def has_units(self) -> bool:
        return self.epsilon is not None

    def resolve(
        self,
        residual: ArrayLike,
        sample_weight: ArrayLike | None = None,
        scale: float | None = None,
    ) -> EpsilonInsensitive:
        if self.epsilon is not None:
            return self
        return EpsilonInsensitive(SCALES * (scale or robust_scale(residual, sample_weight)))

    def rho_and_psi(self, residual: Array) -> tuple[Array, Array]:
        rho = np.abs(residual)
        rho -= require(self, "epsilon")
        np.maximum(rho, 0.0, out=rho)
        psi = np.sign(residual)
        psi *= rho > 0
        return rho, psi

    def prox(self, residual: ArrayLike, t: float) -> Array:
        residual = np.asarray(residual, dtype=float)
        beyond = residual - np.clip(residual, -self._tube(), self._tube())
        return np.asarray(residual - np.clip(beyond, -1 / t, 1 / t))

    def _tube(self) -> float:
        return require(self, "epsilon")
