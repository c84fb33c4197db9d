"""The smooth stand-in for the absolute loss that the source papers use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from isthmus.losses.base import Array
from isthmus.losses.residual import ResidualLoss, check_positive, require
from isthmus.losses.scale import robust_scale

NO_SLOPE_LEFT = 50.0  # x / cosh(x)^2 is 0 in double precision beyond this


@dataclass(frozen=True)
class TanhAbsolute(ResidualLoss):
    r"""The absolute error with its sign replaced by a hyperbolic tangent ([BGFS2004]_ Sec. 4.3).

    .. math:: \rho(e) = e \tanh(e / h)

    Kept for the reproductions. It is not convex beyond :math:`|e| = 1.1997 h`, its slope overshoots
    to 1.1997, and it lies below :math:`|e|` by at most :math:`0.2785 h`. Prefer
    ``Absolute().smoothed(h)``, which is convex.

    Parameters
    ----------
    width : float, default=None
        :math:`h`; the slope parameter of the paper is :math:`1/h`. None is the robust scale of the
        residuals given to :meth:`resolve`.
    """

    is_convex: ClassVar[bool] = False
    width: float | None = None

    def __post_init__(self) -> None:
        check_positive("width", self.width)

    @property
    def curvature(self) -> float:
        return 2 / require(self, "width")

    @property
    def has_units(self) -> bool:
        return self.width is not None

    def resolve(
        self,
        residual: ArrayLike,
        sample_weight: ArrayLike | None = None,
        scale: float | None = None,
    ) -> TanhAbsolute:
        if self.width is not None:
            return self
        return TanhAbsolute(scale or robust_scale(residual, sample_weight))

    def smoothed(self, width: float) -> TanhAbsolute:
        return TanhAbsolute(width)

    def rho_and_psi(self, residual: Array) -> tuple[Array, Array]:
        scaled = residual / require(self, "width")
        tanh = np.tanh(scaled)
        psi = 1 - tanh * tanh
        psi *= np.clip(scaled, -NO_SLOPE_LEFT, NO_SLOPE_LEFT, out=scaled)  # no inf times 0
        psi += tanh
        tanh *= residual
        return tanh, psi
