"""Stationary kernels of vectors."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import hstack, issparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import manhattan_distances

from isthmus._linalg import row_blocks
from isthmus.kernels.base import (
    TILE,
    GammaKernel,
    ProfileKernel,
    VectorKernel,
    _common_type,
    as_vectors,
)
from isthmus.kernels.sparse_rows import multiply_rows, squared_lengths

PROFILE_FLOOR = 1e-12
"""Smallest argument of a logarithm or a root, [B2006]_ Sec. 3.2.3."""


_FAR_EXPONENT = -1e4  # of half of the rows, seen from their centre: differences lose four digits


class DistanceKernel(GammaKernel, VectorKernel):
    """``exp(-gamma d(x, y)^q)``; subclasses name the distance and its power.

    Parameters
    ----------
    gamma : float or None, default=1.0
        Inverse width. None: set from the median distance when an estimator sees data.
    gamma_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
        Where an optimiser of hyperparameters may look.
    """

    has_input_gradient = True

    def diag(self, X: Any) -> NDArray:
        X = as_vectors(X)
        return np.ones(X.shape[0], dtype=X.dtype)

    def is_stationary(self) -> bool:
        return True

    def diagonal_gradient(self, Z: NDArray) -> NDArray:
        return np.zeros_like(as_vectors(Z))

    def less_one(self, X: NDArray) -> NDArray:
        """Gram matrix of float64 rows minus one, with the digits that values near one do not have."""
        A, B = self._operands(as_vectors(X), None)
        K = np.empty((len(A), len(A)))
        self._fill_exponents(A, B, K)
        K += K.T.copy()
        K /= 2
        np.fill_diagonal(K, 0.0)
        return np.asarray(np.expm1(K, out=K))

    def _fill(self, A: NDArray, B: NDArray, out: NDArray) -> None:
        self._fill_exponents(A, B, out)
        np.exp(out, out=out)

    @abstractmethod
    def _fill_exponents(self, A: NDArray, B: NDArray, out: NDArray) -> None:
        """Write ``-gamma d^q`` of two blocks of operands into ``out``."""

    def _theta_gradients(self, X: NDArray, K: NDArray) -> list[NDArray]:
        if self.hyperparameter_gamma.fixed:
            return []
        # k = exp(-gamma D): dk / dlog(gamma) = -gamma D k = k log k
        return [K * np.log(np.maximum(K, np.finfo(K.dtype).tiny))]


class EuclideanKernel(ProfileKernel, DistanceKernel):
    """``f(|x - y|^2)`` with a falling profile ``f``; its inverse is clipped to the range of ``f``."""


class RBF(EuclideanKernel):
    r"""Gaussian kernel, :math:`k(x, y) = \exp(-\gamma \|x - y\|^2)`.

    One matrix product: rows are moved to a common centre first, so that an offset common to all
    of them costs no digits, and the squared norms ride along as two more columns. Rows of a sparse
    matrix stay where they are, because moving them would fill their zeros.
    """

    takes_sparse_rows = True

    def profile(self, d: NDArray) -> NDArray:
        return np.exp(-self._known_gamma() * d)

    def profile_derivative(self, d: NDArray) -> NDArray:
        return -self._known_gamma() * self.profile(d)

    def profile_inverse(self, value: NDArray) -> NDArray:
        return -_clipped_log(value) / self._known_gamma()

    def _operands(self, X: NDArray, Y: NDArray | None) -> tuple[NDArray, NDArray]:
        gamma = self._known_gamma()
        dtype = _common_type(X, X if Y is None else Y)
        points = X if Y is None else Y
        if issparse(X) or issparse(points):
            A = _beside_norms(X, gamma, dtype, left=True)
            return A, _beside_norms(points, gamma, dtype, left=False)
        centre = points.mean(axis=0, dtype=np.float64)
        B = _with_norms(points, centre, gamma, dtype, left=False)
        # A few far rows have moved the mean away from all others
        if np.median(B[:, -1]) < _FAR_EXPONENT:
            centre = np.median(points, axis=0)
            B = _with_norms(points, centre, gamma, dtype, left=False)
        return _with_norms(X, centre, gamma, dtype, left=True), B

    def _fill_exponents(self, A: NDArray, B: NDArray, out: NDArray) -> None:
        multiply_rows(A, B, out)  # 2 g x'y - g |x|^2 - g |y|^2
        np.minimum(out, 0.0, out=out)

    def weighted_gradient(self, Z: NDArray, X: NDArray, W: NDArray) -> NDArray:
        Z, X = as_vectors(Z), as_vectors(X)
        V = W * self(Z, X)
        return 2.0 * self._known_gamma() * (V @ X - V.sum(axis=1)[:, None] * Z)


def _clipped_log(value: NDArray) -> NDArray:
    return np.log(np.clip(value, PROFILE_FLOOR, 1.0))  # sums of kernel values may leave the range


def _with_norms(X: NDArray, centre: NDArray, gamma: float, dtype: type, *, left: bool) -> NDArray:
    n, p = X.shape
    A = np.empty((n, p + 2), dtype=dtype)
    np.subtract(X, centre, out=A[:, :p], casting="same_kind")
    A[:, :p] *= np.sqrt(2.0 * gamma)
    norm, one = (p, p + 1) if left else (p + 1, p)
    A[:, norm] = -0.5 * np.einsum("ij,ij->i", A[:, :p], A[:, :p])
    A[:, one] = 1.0
    return A


def _beside_norms(X: Any, gamma: float, dtype: type, *, left: bool) -> Any:
    """The same columns of rows that stay where they are, of which one side may be dense."""
    if not issparse(X):
        return _with_norms(X, np.zeros(X.shape[1]), gamma, dtype, left=left)
    X = X.astype(dtype, copy=False) * dtype(np.sqrt(2.0 * gamma))
    norms = -0.5 * squared_lengths(X)[:, None]
    ones = np.ones((X.shape[0], 1))
    columns = [X, norms, ones] if left else [X, ones, norms]
    return hstack(columns, format="csr", dtype=dtype)


class Laplacian(DistanceKernel):
    r"""Laplacian kernel, :math:`k(x, y) = \exp(-\gamma \|x - y\|_1)`."""

    takes_sparse_rows = True

    def _fill_exponents(self, A: NDArray, B: NDArray, out: NDArray) -> None:
        sparse = issparse(A) or issparse(B)
        distances = manhattan_distances(A, B) if sparse else cdist(A, B, "cityblock")
        np.multiply(distances, -self._known_gamma(), out=out)

    def weighted_gradient(self, Z: NDArray, X: NDArray, W: NDArray) -> NDArray:
        Z, X = as_vectors(Z), as_vectors(X)
        V = -self._known_gamma() * (W * self(Z, X))
        gradient = np.empty_like(Z, dtype=V.dtype)
        # One column at a time: signs of all pairs would be t n d numbers
        for j in range(Z.shape[1]):
            gradient[:, j] = np.einsum("ti,ti->t", V, np.sign(Z[:, j, None] - X[:, j]))
        return gradient


class L2Laplacian(EuclideanKernel):
    r"""Exponential kernel, :math:`k(x, y) = \exp(-\gamma \|x - y\|_2)` (Matern with nu = 1/2)."""

    def profile(self, d: NDArray) -> NDArray:
        return np.exp(-self._known_gamma() * np.sqrt(d))

    def profile_derivative(self, d: NDArray) -> NDArray:
        gamma = self._known_gamma()
        root = gamma * np.sqrt(d)  # the floor is in units of the kernel's length
        # The derivative is infinite at 0, where the kernel has a corner; the floor keeps descents finite.
        return -0.5 * gamma**2 * np.exp(-root) / np.maximum(root, 1e-6)

    def profile_inverse(self, value: NDArray) -> NDArray:
        return (_clipped_log(value) / self._known_gamma()) ** 2

    def _fill_exponents(self, A: NDArray, B: NDArray, out: NDArray) -> None:
        np.multiply(cdist(A, B), -self._known_gamma(), out=out)

    def weighted_gradient(self, Z: NDArray, X: NDArray, W: NDArray) -> NDArray:
        Z, X = as_vectors(Z), as_vectors(X)
        gamma = self._known_gamma()
        gradient = np.empty_like(Z, dtype=np.float64)
        for rows in row_blocks(len(Z), TILE):
            D = cdist(Z[rows], X)
            # At a sample itself there is a kink; the middle of its slopes is 0.
            V = np.divide(
                -gamma * W[rows] * np.exp(-gamma * D), D, out=np.zeros_like(D), where=D > 0
            )
            gradient[rows] = V.sum(axis=1)[:, None] * Z[rows] - V @ X
        return gradient
