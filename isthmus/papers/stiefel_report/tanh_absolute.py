"""The smooth stand-in for the absolute loss, (4.15) and (4.16) of the report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from isthmus._linalg import Array
from isthmus.losses import ScaleParameter

NO_SLOPE_LEFT = 50.0  # x / cosh(x)^2 is 0 in double precision beyond this


@dataclass(frozen=True)
class TanhAbsolute(ScaleParameter):
    r"""The absolute error with its sign replaced by a hyperbolic tangent ([BGFS2004]_ Sec. 4.3).

    .. math:: \rho(e) = e \tanh(e / h)

    It is not convex beyond :math:`|e| = 1.1997 h`, its slope overshoots
    to 1.1997, and it lies below :math:`|e|` by at most :math:`0.2785 h`. Prefer
    ``Absolute().smooth(h)``, which is convex.

    Parameters
    ----------
    width : float, default=None
        :math:`h`; the slope parameter of the paper is :math:`1/h`. None is the robust scale of the
        residuals given to :meth:`resolve`.
    """

    parameter: ClassVar[str] = "width"

    width: float | None = None

    @property
    def curvature(self) -> float:
        return 2 / self._value()

    def smooth(self, width: float) -> TanhAbsolute:
        return TanhAbsolute(width)

    def rho_and_psi(self, residual: Array) -> tuple[Array, Array]:
        scaled = residual / self._value()
        tanh = np.tanh(scaled)
        psi = 1 - tanh * tanh
        psi *= np.clip(scaled, -NO_SLOPE_LEFT, NO_SLOPE_LEFT, out=scaled)  # no inf times 0
        psi += tanh
        tanh *= residual
        return tanh, psi
