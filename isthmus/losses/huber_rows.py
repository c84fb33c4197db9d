"""Huber's loss of whole rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from isthmus._linalg import weighted_median
from isthmus.losses.base import Array
from isthmus.losses.residual import ScaleParameter

ROW_NORMS = 1.2  # medians of the row norms


@dataclass(frozen=True)
class HuberRows(ScaleParameter):
    r"""Huber's function of the length of each row of residuals.

    .. math:: \sum_i \rho_\delta(\|e_i\|_2)

    It trusts or distrusts a sample as a whole: right where rows are contaminated, wrong where
    single cells are (there :class:`Huber` is the choice). ``output_weight`` enters the length,
    :math:`\|e_i\|^2 = \sum_j v_j e_{ij}^2`.

    Parameters
    ----------
    delta : float, default=None
        Length where the square ends. None is 1.2 times the median length of the rows given to
        :meth:`resolve`.
    """

    parameter: ClassVar[str] = "delta"

    delta: float | None = None

    @property
    def curvature(self) -> float:
        return 1.0

    def _from_residuals(
        self, residual: ArrayLike, sample_weight: ArrayLike | None, scale: float | None
    ) -> float:
        # The length of a row depends on their number and on how they go together: always measured.
        residual = np.asarray(residual, dtype=float)
        lengths = _lengths(residual.reshape(len(residual), -1))
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
        return float(ROW_NORMS * (weighted_median(lengths, weight) or lengths.mean() or 1.0))

    def row_weights(self, residual: ArrayLike) -> Array:
        r"""Return :math:`\min(1, \delta / \|e_i\|)`: the weights of reweighted least squares."""
        delta = self._value()
        return delta / np.maximum(_lengths(np.asarray(residual, dtype=float)), delta)

    def rho_and_psi(self, residual: Array) -> tuple[Array, Array]:
        delta = self._value()
        lengths = _lengths(residual)
        psi = np.minimum(lengths, delta)
        rho = psi * (lengths - psi / 2)
        return rho, residual * (delta / np.maximum(lengths, delta))[:, None]

    def _block(
        self,
        Y: Any,
        Y_pred: Any,
        out: Array,
        rows: slice,
        sample_weight: Array | None,
        output_weight: Array | None,
    ) -> float:
        if output_weight is None:
            return super()._block(Y, Y_pred, out, rows, sample_weight, None)
        root = np.sqrt(output_weight)
        value = super()._block(Y * root, Y_pred * root, out, rows, sample_weight, None)
        out *= root
        return value


def _lengths(residual: Array) -> Array:
    """Return the length of each row, also where squares would overflow or vanish."""
    largest = np.abs(residual).max(axis=1, keepdims=True, initial=0.0)
    largest[largest == 0] = 1.0
    scaled = residual / largest
    return np.asarray(largest[:, 0] * np.sqrt(np.einsum("ij,ij->i", scaled, scaled)))
