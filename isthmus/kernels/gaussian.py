"""The Gaussian of the distances that any kernel measures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.kernels.base import GammaKernel, as_vectors
from isthmus.kernels.composite import OverKernel


class Gaussian(GammaKernel, OverKernel):
    r"""Gaussian of a kernel's distances, of vectors, sequences, graphs or any other objects.

    .. math::
        \exp(-\gamma \, d^2(x, y)), \qquad d^2(x, y) = k(x, x) + k(y, y) - 2 k(x, y).

    It is positive semi-definite whenever ``k`` is, and every object has length one.
    ``Gaussian(Linear(), gamma)`` is ``RBF(gamma)``, which keeps more digits where rows share a large
    offset.

    Parameters
    ----------
    kernel : kernel
        The kernel whose distances are taken.
    gamma : float or None, default=None
        Inverse width. None: the estimators of this package set it to one over twice the median
        squared distance of the training objects, so that the units of ``k`` do not matter. Estimators
        of scikit-learn and calls of the kernel itself need a number:
        ``median_gamma(X, metric=kernel)`` is that of the median rule.
    gamma_bounds : pair of floats or "fixed", default=(1e-10, 1e10)
        Where an optimiser of hyperparameters may look; wide, because ``k`` may have any unit.

    Examples
    --------
    >>> from isthmus.kernels import Gaussian, SpectrumKernel, median_gamma
    >>> words = ["low", "lower", "high", "higher"]
    >>> gamma = median_gamma(words, metric=SpectrumKernel(2))
    >>> Gaussian(SpectrumKernel(2), gamma)(words[:1], words).round(2)
    array([[1.  , 0.85, 0.66, 0.56]])
    """

    def __init__(
        self, kernel: Any, gamma: float | None = None, gamma_bounds: Any = (1e-10, 1e10)
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.gamma_bounds = gamma_bounds

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        """Return the kernel matrix of ``X`` and ``Y`` (``X`` itself where None)."""
        gamma = self._known_gamma()
        if eval_gradient:
            if Y is not None:
                raise ValueError(
                    "eval_gradient=True needs Y=None: the gradient is that of k(X, X)."
                )
            inner, slopes = self.kernel(X, eval_gradient=True)
            D = squared_distances(inner)
            K = np.exp(-gamma * D)
            return K, self._theta_gradients(gamma, K, D, slopes)
        if Y is None:
            D = squared_distances(self.kernel(X))
        else:
            D = squared_distances(self.kernel(X, Y), self.kernel.diag(X), self.kernel.diag(Y))
        D *= -gamma
        return np.exp(D, out=D)

    def _theta_gradients(self, gamma: float, K: NDArray, D: NDArray, slopes: NDArray) -> NDArray:
        """Derivatives with respect to the logarithms of gamma and of the inner kernel's theta."""
        own = np.einsum("iik->ik", slopes)
        growth = own[:, None, :] + own[None, :, :] - 2 * slopes  # of the squared distances
        if not self.hyperparameter_gamma.fixed:
            growth = np.concatenate([D[:, :, None], growth], axis=2)
        return -gamma * K[:, :, None] * growth

    def diag(self, X: Any) -> NDArray:
        """Return ``k(x, x) = 1`` of every object."""
        return np.ones_like(self.kernel.diag(X))

    def weighted_gradient(self, Z: NDArray, X: NDArray, W: NDArray) -> NDArray:
        gamma = self._known_gamma()
        V = W * self(Z, X)
        radial = V.sum(axis=1)[:, None] * self.kernel.diagonal_gradient(Z)
        return gamma * (2.0 * self.kernel.weighted_gradient(Z, X, V) - radial)

    def diagonal_gradient(self, Z: NDArray) -> NDArray:
        return np.zeros_like(as_vectors(Z))


def squared_distances(
    K: NDArray, rows: NDArray | None = None, columns: NDArray | None = None
) -> NDArray:
    """Squared distances from kernel values and those of rows and columns with themselves.

    Without these, ``K`` is square and has them on its diagonal; the result is then symmetric to the
    last digit and has zeros there.
    """
    rows = K.diagonal() if rows is None else rows
    columns = rows if columns is None else columns
    D = np.add.outer(rows, columns)
    D -= 2 * K
    return np.maximum(D, 0, out=D)
