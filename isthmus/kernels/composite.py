"""Sums, products, powers and normalised kernels: the protocol's algebra, with input gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.gaussian_process.kernels import (
    ConstantKernel,
    Exponentiation,
    Hyperparameter,
    KernelOperator,
)
from sklearn.gaussian_process.kernels import Kernel as GPKernel
from sklearn.gaussian_process.kernels import Product as GPProduct
from sklearn.gaussian_process.kernels import Sum as GPSum

from isthmus._saved import saved
from isthmus.kernels.base import Kernel, as_vectors
from isthmus.kernels.normalising import (
    inverse_root,
    normalise_gradient,
    normalise_matrix,
    normalise_square,
)
from isthmus.kernels.sparse_rows import takes_sparse_rows

FOREIGN_PSD = "sklearn.gaussian_process.kernels"


def is_psd(kernel: GPKernel) -> bool:
    """Whether every Gram matrix of the kernel is known to be positive semi-definite."""
    known = getattr(kernel, "positive_semidefinite", None)
    if known is not None:
        return bool(known)
    return type(kernel).__module__ == FOREIGN_PSD and type(kernel).__name__ != "PairwiseKernel"


def inner_kernels(kernel: Any) -> list[tuple[str, Any]]:
    """Return the kernels that a kernel is computed from, with the names of the attributes they are in."""
    return [
        (name, getattr(kernel, name)) for name in ("k1", "k2", "kernel") if hasattr(kernel, name)
    ]


class Constant(Kernel, ConstantKernel):
    """The same value for every pair: the weight of a kernel in a product, an offset in a sum."""

    has_input_gradient = True
    takes_sparse_rows = True
    __repr__ = ConstantKernel.__repr__
    is_stationary = ConstantKernel.is_stationary

    @property
    def positive_semidefinite(self) -> bool:  # type: ignore[override]
        return self.constant_value >= 0

    def weighted_gradient(self, Z: NDArray, X: NDArray, W: NDArray) -> NDArray:
        return np.zeros_like(as_vectors(Z))

    def diagonal_gradient(self, Z: NDArray) -> NDArray:
        return np.zeros_like(as_vectors(Z))


class _OfOthers(Kernel):
    """A kernel computed from others: what it can do is what all of them can."""

    @property
    def has_input_gradient(self) -> bool:  # type: ignore[override]
        return all(getattr(k, "has_input_gradient", False) for _, k in inner_kernels(self))

    @property
    def positive_semidefinite(self) -> bool:  # type: ignore[override]
        return all(is_psd(kernel) for _, kernel in inner_kernels(self))

    @property
    def takes_sparse_rows(self) -> bool:  # type: ignore[override]
        return all(takes_sparse_rows(kernel) for _, kernel in inner_kernels(self))


class _Pair(_OfOthers):
    """What sums and products share."""

    k1: Any
    k2: Any
    _combine: np.ufunc
    is_stationary = KernelOperator.is_stationary

    def _scale_and_kernel(self) -> tuple[float, GPKernel] | None:
        """A constant of the pair and the other kernel: no matrix is needed for the constant."""
        if isinstance(self.k1, ConstantKernel):
            return self.k1.constant_value, self.k2
        if isinstance(self.k2, ConstantKernel):
            return self.k2.constant_value, self.k1
        return None

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        if eval_gradient:
            return super().__call__(X, Y, eval_gradient=True)
        scaled = self._scale_and_kernel()
        K = (self.k1 if scaled is None else scaled[1])(X, Y)
        return self._combine(K, self.k2(X, Y) if scaled is None else scaled[0], out=K)


class Sum(_Pair, GPSum):
    """``k1(x, y) + k2(x, y)``."""

    __repr__ = GPSum.__repr__
    _combine = np.add

    def weighted_gradient(self, Z: NDArray, X: NDArray, W: NDArray) -> NDArray:
        return self.k1.weighted_gradient(Z, X, W) + self.k2.weighted_gradient(Z, X, W)

    def diagonal_gradient(self, Z: NDArray) -> NDArray:
        return self.k1.diagonal_gradient(Z) + self.k2.diagonal_gradient(Z)


class Product(_Pair, GPProduct):
    """``k1(x, y) k2(x, y)``."""

    __repr__ = GPProduct.__repr__
    _combine = np.multiply

    def weighted_gradient(self, Z: NDArray, X: NDArray, W: NDArray) -> NDArray:
        first = self.k1.weighted_gradient(Z, X, W * self.k2(Z, X))
        return first + self.k2.weighted_gradient(Z, X, W * self.k1(Z, X))

    def diagonal_gradient(self, Z: NDArray) -> NDArray:
        d1 = self.k1.diag(Z)[:, None]
        d2 = self.k2.diag(Z)[:, None]
        return self.k1.diagonal_gradient(Z) * d2 + d1 * self.k2.diagonal_gradient(Z)


class Power(_OfOthers, Exponentiation):
    """``k(x, y) ** exponent``; positive semi-definite for whole exponents."""

    __repr__ = Exponentiation.__repr__
    is_stationary = Exponentiation.is_stationary

    @property
    def positive_semidefinite(self) -> bool:  # type: ignore[override]
        return is_psd(self.kernel) and self.exponent >= 0 and self.exponent == int(self.exponent)

    def weighted_gradient(self, Z: NDArray, X: NDArray, W: NDArray) -> NDArray:
        outer = self.exponent * self.kernel(Z, X) ** (self.exponent - 1)
        return self.kernel.weighted_gradient(Z, X, W * outer)

    def diagonal_gradient(self, Z: NDArray) -> NDArray:
        outer = self.exponent * self.kernel.diag(Z) ** (self.exponent - 1)
        return outer[:, None] * self.kernel.diagonal_gradient(Z)


class OverKernel(_OfOthers):
    """A kernel computed from another one, ``kernel``, whose hyperparameters it shows as its own."""

    kernel: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        params = super().get_params()
        if deep:
            params.update((f"kernel__{k}", v) for k, v in self.kernel.get_params().items())
        return params

    @property
    def hyperparameters(self) -> list[Hyperparameter]:
        inner = [
            Hyperparameter(f"kernel__{h.name}", h.value_type, h.bounds, h.n_elements)
            for h in self.kernel.hyperparameters
        ]
        return [*super().hyperparameters, *inner]

    @property
    def requires_vector_input(self) -> bool:
        return bool(self.kernel.requires_vector_input)

    def is_stationary(self) -> bool:
        return bool(self.kernel.is_stationary())


class Normalised(OverKernel):
    r"""A kernel at unit length, :math:`k(x, y) / \sqrt{k(x, x) k(y, y)}`.

    Objects of any size weigh the same. An object with ``k(x, x) = 0`` is like none, not even
    itself.

    Parameters
    ----------
    kernel : kernel
        The kernel to be normalised, of vectors or of any other objects.
    """

    def __init__(self, kernel: Any):
        self.kernel = kernel

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        if eval_gradient:
            return normalise_gradient(*self.kernel(X, eval_gradient=True))
        K = self.kernel(X, Y)
        if Y is None:
            return normalise_square(K)
        return normalise_matrix(K, self.kernel.diag(X), self.kernel.diag(Y))

    def diag(self, X: Any) -> NDArray:
        d = self.kernel.diag(X)
        return (d > 0).astype(d.dtype)

    def weighted_gradient(self, Z: NDArray, X: NDArray, W: NDArray) -> NDArray:
        lengths = inverse_root(self.kernel.diag(Z))
        V = W * lengths[:, None] * inverse_root(self.kernel.diag(X))
        stretch = (V * self.kernel(Z, X)).sum(axis=1) * lengths**2
        direct = self.kernel.weighted_gradient(Z, X, V)
        return direct - 0.5 * stretch[:, None] * self.kernel.diagonal_gradient(Z)

    def diagonal_gradient(self, Z: NDArray) -> NDArray:
        return np.zeros_like(as_vectors(Z))


@saved(mean="c|-", scale="c|c")
class Standardised(OverKernel):
    """A kernel of rows of numbers minus ``mean`` (None: as they are), divided by ``scale``.

    Parameters
    ----------
    kernel : kernel
        The kernel of the standardised rows.
    mean : ndarray of shape (n_features,) or None
        None where rows are sparse.
    scale : ndarray of shape (n_features,)
        Positive numbers.
    """

    def __init__(self, kernel: Any, mean: NDArray | None, scale: NDArray):
        self.kernel = kernel
        self.mean = mean
        self.scale = scale

    def standardise(self, X: Any) -> Any:
        """Return the rows that the kernel sees, of the type that they have."""
        X = as_vectors(X)
        if X.shape[1:] != self.scale.shape:  # one column would count for all
            raise ValueError(f"rows have {X.shape[1]} numbers, must have {len(self.scale)}.")
        if issparse(X) and self.mean is None:
            return csr_array(X.multiply(1.0 / self.scale)).astype(X.dtype, copy=False)
        rows = X.toarray() if issparse(X) else X
        rows = rows if self.mean is None else rows - self.mean
        return np.asarray(rows / self.scale, dtype=X.dtype)

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        rows = self.standardise(X)
        return self.kernel(rows, None if Y is None else self.standardise(Y), eval_gradient)

    def diag(self, X: Any) -> NDArray:
        return np.asarray(self.kernel.diag(self.standardise(X)))

    def weighted_gradient(self, Z: NDArray, X: NDArray, W: NDArray) -> NDArray:
        rows = self.standardise(Z), self.standardise(X)
        return np.asarray(self.kernel.weighted_gradient(*rows, W) / self.scale)

    def diagonal_gradient(self, Z: NDArray) -> NDArray:
        return np.asarray(self.kernel.diagonal_gradient(self.standardise(Z)) / self.scale)
