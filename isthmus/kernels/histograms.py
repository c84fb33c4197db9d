"""The histogram intersection kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from isthmus.kernels.base import VectorKernel, as_vectors


class HistogramIntersection(VectorKernel):
    r"""Total variation kernel of histograms, :math:`k(x, y) = \sum_j \min(x_j, y_j)`, entries >= 0.

    Its squared distance is :math:`\|x - y\|_1`; it is computed as
    :math:`k = (\sum x + \sum y - \|x - y\|_1) / 2`.
    """

    def _operands(self, X: NDArray, Y: NDArray | None) -> tuple[NDArray, NDArray]:
        A, B = super()._operands(X, Y)
        _check_histograms(A)
        if Y is not None:
            _check_histograms(B)
        return A, B

    def _fill(self, A: NDArray, B: NDArray, out: NDArray) -> None:
        np.multiply(cdist(A, B, "cityblock"), -0.5, out=out)
        out += 0.5 * A.sum(axis=1)[:, None]
        out += 0.5 * B.sum(axis=1)

    def diag(self, X: Any) -> NDArray:
        return as_vectors(X).sum(axis=1)


def _check_histograms(X: NDArray) -> None:
    if X.size and X.min() < 0:
        row, column = np.unravel_index(int(X.argmin()), X.shape)
        raise ValueError(
            f"X[{row}, {column}] == {X[row, column]}, must be >= 0 for the histogram intersection."
        )
