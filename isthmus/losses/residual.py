"""Losses of the residual alone."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isthmus.losses.base import Array, Loss
from isthmus.validation import check_number


class ResidualLoss(Loss):
    r"""A loss :math:`\ell(y, \hat y) = \rho(e)` of the residual :math:`e = y - \hat y`."""

    @abstractmethod
    def rho_and_psi(self, residual: Array) -> tuple[Array, Array]:
        r"""Return :math:`\rho(e)` and :math:`\psi(e) = \rho'(e)` as two new arrays."""

    def prox(self, residual: ArrayLike, t: float) -> Array:
        r"""Return :math:`\arg\min_z \rho(z) + \tfrac t2 (z - e)^2` for every entry ``e``."""
        raise NotImplementedError(f"{type(self).__name__} has no proximal map in closed form")

    def pointwise(self, Y: Any, Y_pred: Any) -> tuple[Array, Array]:
        # Differences of float32 are taken in double precision.
        rho, psi = self.rho_and_psi(np.subtract(Y, Y_pred, dtype=float))
        return rho, np.negative(psi, out=psi)


def check_positive(name: str, value: float | None) -> None:
    """Raise ValueError unless ``value`` is None or a positive finite number."""
    if value is not None:
        check_number(name, value, "> 0 and finite", strict=True)


def require(loss: Loss, name: str) -> float:
    """Return a parameter, or say how to set it where it is still None."""
    value = getattr(loss, name)
    if value is None:
        raise ValueError(
            f"{name} of {type(loss).__name__} is None: give a number, or set it from residuals "
            "by loss.resolve(residual)"
        )
    return float(value)
