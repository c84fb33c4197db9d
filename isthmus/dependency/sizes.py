"""Sizes of predicted sequences, by a regression of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone


class SizesMixin:
    """The part of a dependency regressor that predicts the sizes of sequences.

    A ridge shrinks the predicted point towards the mean, where the images of long sequences are if the
    kernel divides by the length: the loss alone prefers answers that are too long. So the size is
    predicted by the same inputs and map as the point; its residuals have mean zero on the training rows.
    """

    inputs: Any
    map: Any
    sizes_: Any = None

    def _fit_sizes(self, X: Any, Y: Any, method: Any) -> None:
        self.sizes_ = None
        if not getattr(method, "predicts_sizes", False):
            return
        lengths = np.array([len(y) for y in Y], dtype=np.float64)
        if (
            np.ptp(lengths) == 0
        ):  # nothing to regress on, and the search stays near the fitted sizes
            return
        inputs, map_ = (None if part is None else clone(part) for part in (self.inputs, self.map))
        regressor: Any = type(self)
        self.sizes_ = regressor(inputs, map_).fit(X, lengths)

    def _with_sizes(self, X: Any, options: dict[str, Any]) -> dict[str, Any]:
        """Options of the search, with the sizes that are expected."""
        if self.sizes_ is None or "sizes" in options:
            return options
        return {**options, "expected": self.sizes_.predict(X)}
