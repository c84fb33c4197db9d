"""Losses of the residual alone."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from isthmus._validation import check_number
from isthmus.losses.base import Array, Loss
from isthmus.losses.scale import robust_scale


class ResidualLoss(Loss):
    r"""A loss :math:`\ell(y, \hat y) = \rho(e)` of the residual :math:`e = y - \hat y`."""

    @abstractmethod
    def rho_and_psi(self, residual: Array) -> tuple[Array, Array]:
        r"""Return :math:`\rho(e)` and :math:`\psi(e) = \rho'(e)` as two new arrays."""

    def pointwise(self, Y: Any, Y_pred: Any) -> tuple[Array, Array]:
        # Differences of float32 are taken in double precision.
        rho, psi = self.rho_and_psi(np.subtract(Y, Y_pred, dtype=float))
        return rho, np.negative(psi, out=psi)


class ScaleParameter(ResidualLoss):
    """A loss with one parameter that, left at None, follows the scale of the residuals."""

    parameter: ClassVar[str]  # its name
    multiple: ClassVar[float] = 1.0  # of the robust scale of the residuals

    def __post_init__(self) -> None:
        check_positive(self.parameter, getattr(self, self.parameter))

    @property
    def has_units(self) -> bool:
        return getattr(self, self.parameter) is not None

    def resolve(
        self,
        residual: ArrayLike,
        sample_weight: ArrayLike | None = None,
        scale: float | None = None,
    ) -> Self:
        if self.has_units:
            return self
        return type(self)(self._from_residuals(residual, sample_weight, scale))  # type: ignore[call-arg]

    def _from_residuals(
        self, residual: ArrayLike, sample_weight: ArrayLike | None, scale: float | None
    ) -> float:
        return self.multiple * (scale or robust_scale(residual, sample_weight))

    def _value(self) -> float:
        """Return the parameter, or say how to set it where it is still None."""
        value = getattr(self, self.parameter)
        if value is None:
            raise ValueError(
                f"{self.parameter} of {type(self).__name__} is None: give a number, or set it from "
                "residuals by loss.resolve(residual)"
            )
        return float(value)


def check_positive(name: str, value: float | None) -> None:
    """Raise ValueError unless ``value`` is None or a positive finite number."""
    if value is not None:
        check_number(name, value, "> 0 and finite", strict=True)
