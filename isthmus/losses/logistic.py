"""The logistic loss for labels 0 and 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from isthmus.losses.base import Array, Loss


@dataclass(frozen=True)
class Logistic(Loss):
    r"""Negative log-likelihood of labels; the prediction is the log-odds of a 1.

    .. math:: \ell(y, \hat y) = \log(1 + e^{\hat y}) - y \hat y

    Targets are 0 or 1, or probabilities between.
    """

    @property
    def curvature(self) -> float:
        return 0.25

    def check_targets(self, Y: ArrayLike) -> None:
        Y = np.asarray(Y)
        if Y.min() < 0 or Y.max() > 1:
            raise ValueError(
                f"the logistic loss needs targets in [0, 1], got {Y.min():.6g} to {Y.max():.6g}"
            )

    def start_targets(self, Y: ArrayLike) -> Array:
        # Log-odds are infinite at the labels; their tangent at 1/2 is not.
        return 4 * np.asarray(Y, dtype=float) - 2

    def inverse_link(self, Y_pred: ArrayLike) -> Array:
        return np.asarray(expit(np.asarray(Y_pred, dtype=float)))

    def pointwise(self, Y: Any, Y_pred: Any) -> tuple[Array, Array]:
        Y = np.asarray(Y, dtype=float)
        Y_pred = np.asarray(Y_pred, dtype=float)
        decay = np.exp(-np.abs(Y_pred))  # never overflows
        larger = 1 / (1 + decay)
        smaller = decay * larger
        positive = Y_pred > 0
        # (1 - y) p - y (1 - p) keeps the digits of a small 1 - p, which p - y would round away.
        one = np.where(positive, larger, smaller)
        zero = np.where(positive, smaller, larger)
        # The large numbers first: where they cancel, the small one is all that is left.
        terms = np.maximum(Y_pred, 0) - Y * Y_pred
        terms += np.log1p(decay)
        return terms, (1 - Y) * one - Y * zero
