"""A loss from a pair of functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus.losses.base import Array, Loss


@dataclass(frozen=True, repr=False)
class FunctionLoss(Loss):
    """A loss given by two functions.

    With the environment variable ``ISTHMUS_DEBUG`` set, the gradient is checked by finite
    differences the first time the loss is used.

    Parameters
    ----------
    value_of : callable
        ``value_of(Y, Y_pred)`` with arrays (rows, n_targets): one number for each entry or for each
        row. Not their sum, which could not be weighted. It sees the data in blocks of rows.
    gradient_of : callable
        ``gradient_of(Y, Y_pred)``: the derivative with respect to ``Y_pred``, in its shape.

    Both must be functions of a module, not lambdas, where the model is to be pickled.
    """

    value_of: Callable[[Any, Any], Any]
    gradient_of: Callable[[Any, Any], Any]

    def __repr__(self) -> str:  # names, not addresses, which differ from run to run
        names = (getattr(f, "__name__", repr(f)) for f in (self.value_of, self.gradient_of))
        return f"FunctionLoss({', '.join(names)})"

    def pointwise(self, Y: Any, Y_pred: Any) -> tuple[Array, Array]:
        terms = np.array(self.value_of(Y, Y_pred), dtype=float)
        slopes = np.array(self.gradient_of(Y, Y_pred), dtype=float)
        if terms.shape not in (Y.shape, Y.shape[:1]):
            raise ValueError(
                f"the value of a loss has shape {terms.shape}, must be one number for each entry "
                f"{Y.shape} or for each row {Y.shape[:1]}"
            )
        if slopes.shape != Y.shape:
            raise ValueError(f"the gradient of a loss has shape {slopes.shape}, must be {Y.shape}")
        return terms, slopes
