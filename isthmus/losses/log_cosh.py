"""The logarithm of the hyperbolic cosine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from isthmus.losses.base import Array
from isthmus.losses.residual import ScaleParameter

EFFICIENT_LOG_COSH = 1.205  # deviations: 95 % efficiency when the errors are Gaussian


@dataclass(frozen=True)
class LogCosh(ScaleParameter):
    r"""A loss like Huber's with no corner in its slope ([HW1977]_, "logistic" weights).

    .. math:: \rho(e) = \delta^2 \log \cosh(e / \delta)

    It is :math:`e^2/2` for small residuals and :math:`\delta |e| - \delta^2 \log 2` for large ones.

    Parameters
    ----------
    delta : float, default=None
        Where squares turn into absolute values. None is 1.205 times the robust scale of the
        residuals given to :meth:`resolve`.
    """

    parameter: ClassVar[str] = "delta"
    multiple: ClassVar[float] = EFFICIENT_LOG_COSH

    delta: float | None = None

    @property
    def curvature(self) -> float:
        return 1.0

    def rho_and_psi(self, residual: Array) -> tuple[Array, Array]:
        delta = self._value()
        size = np.abs(residual)
        tanh = np.tanh(size / delta)
        # log cosh x = x - log(1 + tanh x) has no digits left for small x, and
        # -log(1 - tanh(x)^2)/2 none for large x. Logarithms are expensive: one per number.
        small = size < delta
        logarithm = np.log1p(np.where(small, -tanh * tanh, tanh))
        logarithm *= delta
        rho = np.where(small, -0.5 * logarithm, size - logarithm)
        rho *= delta
        tanh *= delta
        return rho, np.copysign(tanh, residual, out=tanh)
