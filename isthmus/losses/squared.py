"""The squared loss."""

from __future__ import annotations

from dataclasses import dataclass

from isthmus.losses.base import Array
from isthmus.losses.residual import ResidualLoss


@dataclass(frozen=True)
class Squared(ResidualLoss):
    r"""Half the squared error.

    .. math:: \rho(e) = e^2 / 2

    Half, so that it is the limit of :class:`Huber` for a large ``delta``, and so that
    :math:`L + \tfrac\alpha2 \|C\|^2` has the minimiser of ``Ridge(alpha)``.
    """

    @property
    def curvature(self) -> float:
        return 1.0

    def rho_and_psi(self, residual: Array) -> tuple[Array, Array]:
        rho = residual * residual
        rho *= 0.5
        return rho, residual.copy()
