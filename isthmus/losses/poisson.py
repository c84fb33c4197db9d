"""The Poisson loss for counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isthmus.losses.base import Array, Loss


@dataclass(frozen=True)
class Poisson(Loss):
    r"""Negative log-likelihood of counts; the prediction is the logarithm of their mean.

    .. math:: \ell(y, \hat y) = e^{\hat y} - y \hat y

    up to :math:`\log y!`, which does not depend on the prediction. Targets are at least 0. The
    curvature has no bound, and predictions beyond 709 have an infinite loss.
    """

    def typical_curvature(self, scale: float) -> float:
        return 1.0  # e^0: the size of counts is not the size of predictions

    def check_targets(self, Y: ArrayLike) -> None:
        Y = np.asarray(Y)
        if Y.min() < 0:
            raise ValueError(f"the Poisson loss needs targets >= 0, got {Y.min():.6g}")

    def start_targets(self, Y: ArrayLike) -> Array:
        return np.log(np.asarray(Y, dtype=float) + 0.5)  # finite at a count of 0

    def inverse_link(self, Y_pred: ArrayLike) -> Array:
        return np.asarray(np.exp(np.asarray(Y_pred, dtype=float)))

    def pointwise(self, Y: Any, Y_pred: Any) -> tuple[Array, Array]:
        Y = np.asarray(Y, dtype=float)
        Y_pred = np.asarray(Y_pred, dtype=float)
        mean = np.exp(Y_pred)
        return mean - Y * Y_pred, mean - Y
