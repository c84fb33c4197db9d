"""Losses made of straight pieces, and what rounds their kinks."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from isthmus.losses.base import Array
from isthmus.losses.residual import ResidualLoss, check_positive

SQUARES_VANISH = 1e-140  # widths below this have squares without enough digits


class Pieces(NamedTuple):
    r"""The numbers of :math:`\rho(e) = \sum_k c_k |e - a_k| + b e + d`."""

    kinks: tuple[float, ...]  # a
    heights: tuple[float, ...]  # c
    slope: float  # b
    offset: float  # d


class PiecewiseLinear(ResidualLoss):
    """A convex loss of straight pieces: a sum of absolute values and a linear term."""

    is_smooth: ClassVar[bool] = False

    @abstractmethod
    def pieces(self) -> Pieces:
        """Return the loss as a sum of absolute values."""

    def smooth(self, width: float) -> Smoothed:
        return Smoothed(self, width)


@dataclass(frozen=True)
class Smoothed(ResidualLoss):
    r"""A piecewise linear loss with its kinks rounded to hyperbolas.

    .. math:: |e| \;\to\; \sqrt{e^2 + h^2} - h

    Convex and infinitely often differentiable. With heights :math:`c_k` of the absolute values it
    lies below the original by at most :math:`h \sum_k c_k` per entry, the ``gap``.

    Parameters
    ----------
    original : PiecewiseLinear
        The loss to round.
    width : float
        :math:`h`, the width of the rounding in units of the residuals.
    """

    original: PiecewiseLinear
    width: float

    def __post_init__(self) -> None:
        check_positive("width", self.width)

    @property
    def gap(self) -> float:
        """Largest amount by which an entry's loss falls below the original."""
        return self.width * sum(self.original.pieces().heights)

    @property
    def curvature(self) -> float:
        return sum(self.original.pieces().heights) / self.width

    def resolve(
        self,
        residual: ArrayLike,
        sample_weight: ArrayLike | None = None,
        scale: float | None = None,
    ) -> Smoothed:
        return Smoothed(self.original.resolve(residual, sample_weight, scale), self.width)

    def smooth(self, width: float) -> Smoothed:
        return Smoothed(self.original, width)

    def rho_and_psi(self, residual: Array) -> tuple[Array, Array]:
        kinks, heights, slope, offset = self.original.pieces()
        rho, psi = _hyperbola(residual - kinks[0] if kinks[0] else residual, self.width)
        for kink in kinks[1:]:
            more_rho, more_psi = _hyperbola(residual - kink, self.width)
            rho += more_rho
            psi += more_psi
        # All heights of one loss are equal, so they are applied once to the sum.
        if heights[0] != 1:
            rho *= heights[0]
            psi *= heights[0]
        if slope:
            rho += slope * residual
            psi += slope
        if offset:
            rho += offset
        return rho, psi


def _hyperbola(residual: Array, width: float) -> tuple[Array, Array]:
    """Return sqrt(e^2 + h^2) - h and its derivative."""
    root = residual * residual
    root += width * width
    np.sqrt(root, out=root)
    if width < SQUARES_VANISH or not np.isfinite(root.max(initial=0.0)):
        root = np.hypot(residual, width)  # never over- or underflows, and is much slower
    slope = residual / root
    # e^2 / (root + h) is root - h without its cancellation.
    root += width
    np.divide(residual, root, out=root)
    root *= residual
    return root, slope
