"""Kernels of the dot product, ``f(x'y)``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.gaussian_process.kernels import Hyperparameter

from isthmus._validation import check_count
from isthmus.kernels.base import GammaKernel, ProfileKernel, VectorKernel, as_vectors, free
from isthmus.kernels.distances import PROFILE_FLOOR
from isthmus.kernels.sparse_rows import multiply_rows, squared_lengths, unit_rows


class DotProductKernel(ProfileKernel):
    """``k(x, y) = f(x'y)``, with the slope and the inverse of ``f`` for pre-images."""

    has_input_gradient = True
    takes_sparse_rows = True

    def _fill(self, A: NDArray, B: NDArray, out: NDArray) -> None:
        multiply_rows(A, B, out)
        values = self.profile(out)
        if values is not out:
            out[...] = values

    def diag(self, X: Any) -> NDArray:
        return self.profile(squared_lengths(as_vectors(X)))

    def weighted_gradient(self, Z: NDArray, X: NDArray, W: NDArray) -> NDArray:
        Z, X = as_vectors(Z), as_vectors(X)
        return (W * self.profile_derivative(Z @ X.T)) @ X

    def diagonal_gradient(self, Z: NDArray) -> NDArray:
        Z = as_vectors(Z)
        return 2.0 * self.profile_derivative(np.einsum("ij,ij->i", Z, Z))[:, None] * Z


class Linear(DotProductKernel):
    """``k(x, y) = x'y``: the space of the inputs itself."""

    def profile(self, t: NDArray) -> NDArray:
        return t

    def profile_derivative(self, t: NDArray) -> NDArray:
        return np.ones_like(t)

    def profile_inverse(self, value: NDArray) -> NDArray:
        return value


class Polynomial(GammaKernel, DotProductKernel):
    r"""Polynomial kernel, :math:`k(x, y) = (\gamma x^\top y + c_0)^d`.

    Parameters
    ----------
    degree : int, default=3
        Degree ``d``.
    gamma : float or None, default=1.0
        Weight of the dot product. None: one over the median squared norm of the data.
    coef0 : float, default=1.0
        Constant ``c_0 >= 0``.
    gamma_bounds, coef0_bounds : pair of floats or "fixed"
        Where an optimiser of hyperparameters may look.
    """

    def __init__(
        self,
        degree: int = 3,
        gamma: float | None = 1.0,
        coef0: float = 1.0,
        gamma_bounds: Any = (1e-5, 1e5),
        coef0_bounds: Any = (1e-5, 1e5),
    ):
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.gamma_bounds = gamma_bounds
        self.coef0_bounds = coef0_bounds

    @property
    def hyperparameter_coef0(self) -> Hyperparameter:
        return free("coef0", self.coef0, self.coef0_bounds)

    def profile(self, t: NDArray) -> NDArray:
        gamma, degree, coef0 = self._check_parameters()
        base = t * gamma
        base += coef0
        return _power(base, degree)

    def profile_derivative(self, t: NDArray) -> NDArray:
        gamma, degree, coef0 = self._check_parameters()
        return degree * gamma * _power(t * gamma + coef0, degree - 1)

    def profile_inverse(self, value: NDArray) -> NDArray:
        gamma, degree, coef0 = self._check_parameters()
        if degree % 2 == 0:
            raise ValueError(
                f"degree == {degree}: an even power loses the sign of the dot product."
            )
        return (np.sign(value) * np.abs(value) ** (1.0 / degree) - coef0) / gamma

    def _theta_gradients(self, X: NDArray, K: NDArray) -> list[NDArray]:
        gamma, _, coef0 = self._check_parameters()
        products = X @ X.T
        slope = self.profile_derivative(products)
        gradients = []  # in the order of scikit-learn: by name
        if not self.hyperparameter_coef0.fixed:
            gradients.append(slope * (coef0 / gamma))
        if not self.hyperparameter_gamma.fixed:
            gradients.append(slope * products)
        return gradients

    def _check_parameters(self) -> tuple[float, int, float]:
        degree = check_count("degree", self.degree)
        return self._known_gamma(), degree, float(self.coef0)


def _power(base: NDArray, degree: int) -> NDArray:
    """Integer power by products: ``**`` calls the slow general power from the third on."""
    if degree == 0:
        return np.ones_like(base)
    result = base.copy() if degree > 1 else base
    for bit in bin(degree)[3:]:
        result *= result
        if bit == "1":
            result *= base
    return result


class Exponential(GammaKernel, DotProductKernel):
    r"""Exponential of the dot product, :math:`k(x, y) = \exp(\gamma x^\top y)`.

    Parameters
    ----------
    gamma : float or None, default=1.0
        Weight of the dot product. None: one over the median squared norm of the data.
    gamma_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
        Where an optimiser of hyperparameters may look.
    """

    def profile(self, t: NDArray) -> NDArray:
        return np.exp(self._known_gamma() * t)

    def profile_derivative(self, t: NDArray) -> NDArray:
        return self._known_gamma() * self.profile(t)

    def profile_inverse(self, value: NDArray) -> NDArray:
        # A sum of kernel values that is no image may be negative.
        return np.log(np.maximum(value, PROFILE_FLOOR)) / self._known_gamma()

    def _theta_gradients(self, X: NDArray, K: NDArray) -> list[NDArray]:
        return [] if self.hyperparameter_gamma.fixed else [K * np.log(K)]


class Cosine(VectorKernel):
    r"""Cosine of the angle, :math:`k(x, y) = x^\top y / (\|x\| \|y\|)`; 0 with a row of zeros."""

    has_input_gradient = True
    takes_sparse_rows = True

    def _operands(self, X: NDArray, Y: NDArray | None) -> tuple[NDArray, NDArray]:
        A, B = super()._operands(X, Y)
        unit = unit_rows(A)
        return unit, unit if Y is None else unit_rows(B)

    def _fill(self, A: NDArray, B: NDArray, out: NDArray) -> None:
        multiply_rows(A, B, out)

    def diag(self, X: Any) -> NDArray:
        X = as_vectors(X)
        return (squared_lengths(X) > 0).astype(X.dtype)

    def weighted_gradient(self, Z: NDArray, X: NDArray, W: NDArray) -> NDArray:
        Z, X = as_vectors(Z), as_vectors(X)
        norms = np.linalg.norm(Z, axis=1)[:, None]
        radial = (W * self(Z, X)).sum(axis=1)[:, None] * unit_rows(Z)
        return np.divide(W @ unit_rows(X) - radial, norms, out=np.zeros_like(Z), where=norms > 0)

    def diagonal_gradient(self, Z: NDArray) -> NDArray:
        return np.zeros_like(as_vectors(Z))
