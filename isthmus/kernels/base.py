"""What every kernel offers: scikit-learn's protocol, and gradients with respect to the inputs."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.gaussian_process.kernels import Hyperparameter
from sklearn.gaussian_process.kernels import Kernel as GPKernel

from isthmus._linalg import row_blocks
from isthmus._validation import check_number
from isthmus.kernels.sparse_rows import refuse_sparse

TILE, WIDE_TILE = 256, 1536
"""Rows of the strips in which a square Gram matrix is filled, and rows and columns of the tiles of
others: small enough for the cache, large enough for fast products."""


class Kernel(GPKernel):
    """Base of the kernels: scikit-learn's Gaussian-process kernel with gradients in the inputs.

    ``k(X, Y)``, ``k.diag(X)``, ``k1 + k2``, ``k1 * k2``, ``k ** 2``, hyperparameters with bounds
    and ``theta`` are scikit-learn's protocol, so that kernels of both sides work on both sides.
    Beyond it, ``positive_semidefinite`` says whether every Gram matrix is known to be so, and
    kernels with ``has_input_gradient`` give gradients with respect to the samples; those with
    ``takes_sparse_rows`` take rows of a sparse matrix and never make a dense copy of them.
    """

    has_input_gradient: bool = False
    positive_semidefinite: bool = True
    takes_sparse_rows: bool = False

    def weighted_gradient(self, Z: NDArray, X: NDArray, W: NDArray) -> NDArray:
        """Return the gradient of ``sum_i W[t, i] k(x_i, z_t)`` by ``z_t``, one row each (t, d)."""
        raise NotImplementedError(f"{self!r} has no gradient with respect to its inputs.")

    def diagonal_gradient(self, Z: NDArray) -> NDArray:
        """Return the gradient of ``k(z_t, z_t)`` with respect to ``z_t``, one row each (t, d)."""
        raise NotImplementedError(f"{self!r} has no gradient with respect to its inputs.")

    def is_stationary(self) -> bool:
        return False

    def __add__(self, b: Any) -> Kernel:
        return _combination("Sum", self, b)

    def __radd__(self, b: Any) -> Kernel:
        return _combination("Sum", b, self)

    def __mul__(self, b: Any) -> Kernel:
        return _combination("Product", self, b)

    def __rmul__(self, b: Any) -> Kernel:
        return _combination("Product", b, self)

    def __pow__(self, b: Any) -> Kernel:
        from isthmus.kernels.composite import Power

        return Power(self, b)

    def __repr__(self) -> str:
        params = self.get_params(deep=False)
        shown = (f"{k}={_short(v)}" for k, v in params.items() if not k.endswith("_bounds"))
        return f"{type(self).__name__}({', '.join(shown)})"


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"<{value.size} numbers>"
    return f"{value:.3g}" if isinstance(value, float) else repr(value)


def _combination(name: str, a: Any, b: Any) -> Kernel:
    from isthmus.kernels import composite  # composites are kernels themselves

    pair = (k if isinstance(k, GPKernel) else composite.Constant(k) for k in (a, b))
    result: Kernel = getattr(composite, name)(*pair)
    return result


# Numbers of kernels, ours and scikit-learn's.
_BOUNDS = {
    "gamma": "> 0 and finite, or None: set from the data",
    **dict.fromkeys(("length_scale", "alpha", "periodicity", "nu"), "> 0 and finite"),
    **dict.fromkeys(("coef0", "sigma_0", "noise_level"), ">= 0 and finite"),
    **dict.fromkeys(("constant_value", "exponent"), "finite"),
}


def check_kernel_numbers(kernel: GPKernel) -> None:
    """Check the numbers of one kernel, not of those within it; None is a gamma that is left open."""
    params = kernel.get_params(deep=False)
    if "metric" in params:  # one of scikit-learn's by name, which may have other constants
        params = {"gamma": (params.get("params") or params).get("gamma")}
    for name, value in params.items():
        if name not in _BOUNDS or (name == "gamma" and value is None):
            continue
        bound = _BOUNDS[name]
        for number in value if np.ndim(value) == 1 and name == "length_scale" else [value]:
            if bound == "finite" and isinstance(number, Real):
                number = abs(number)
            if name != "nu" or number != np.inf:  # Matern with an infinite nu is a Gaussian
                check_number(name, number, bound, strict=bound.startswith("> 0"))


class GammaKernel(Kernel):
    """A kernel with one positive number, ``gamma``, that may be left open until data are seen."""

    def __init__(self, gamma: float | None = 1.0, gamma_bounds: Any = (1e-5, 1e5)):
        self.gamma = gamma
        self.gamma_bounds = gamma_bounds

    @property
    def hyperparameter_gamma(self) -> Hyperparameter:
        return free("gamma", self.gamma, self.gamma_bounds)

    def _known_gamma(self) -> float:
        """``gamma`` as a float, or an error that says what to do."""
        value: Any = self.gamma
        if value is None:
            raise ValueError(
                f"gamma == None in {type(self).__name__}: the estimators of isthmus set it from the data. "
                "To call the kernel itself, and elsewhere, give a number, such as "
                "median_gamma(X, metric=...)."
            )
        check_kernel_numbers(self)
        return float(value)


class VectorKernel(Kernel):
    """A kernel between rows of numbers, whose Gram matrix is filled tile by tile.

    Subclasses give ``_operands`` (what is computed once for all tiles), ``_fill`` (one tile, in
    place) and ``diag``; those with hyperparameters give ``_theta_gradients`` too.
    """

    def __init__(self) -> None:
        """No parameters; scikit-learn requires the method."""

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        """Gram matrix of ``X`` and ``Y`` (``X`` itself where None), float32 if both are."""
        if eval_gradient and Y is not None:
            raise ValueError("eval_gradient=True needs Y=None: the gradient is that of k(X, X).")
        X = as_vectors(X)
        Y = None if Y is None else as_vectors(Y)
        refuse_sparse(self, X)
        refuse_sparse(self, Y)
        if Y is not None and Y.shape[1] != X.shape[1]:
            raise ValueError(f"X has {X.shape[1]} columns, Y has {Y.shape[1]}: they must agree.")
        K = self._gram(X, Y)
        if eval_gradient:
            return K, _stack(self._theta_gradients(X, K), K)
        return K

    def _gram(self, X: NDArray, Y: NDArray | None) -> NDArray:
        A, B = self._operands(X, Y)
        K: NDArray = np.empty(
            (A.shape[0], B.shape[0]), dtype=_common_type(X, X if Y is None else Y)
        )
        if Y is None:
            self._fill_symmetric(A, B, K)
            np.fill_diagonal(K, self.diag(X))
            return K
        for rows in row_blocks(A.shape[0], WIDE_TILE):
            for columns in row_blocks(B.shape[0], WIDE_TILE):
                self._fill(A[rows], B[columns], K[rows, columns])
        return K

    def _fill_symmetric(self, A: NDArray, B: NDArray, K: NDArray) -> None:
        """The lower half tile by tile, and its mirror image: symmetric to the last digit."""
        for rows in row_blocks(A.shape[0], TILE):
            for columns in row_blocks(rows.stop, 3 * TILE):
                self._fill(A[rows], B[columns], K[rows, columns])
            K[: rows.start, rows] = K[rows, : rows.start].T
            corner = K[rows, rows]
            corner[...] = np.tril(corner) + np.tril(corner, -1).T

    def _operands(self, X: NDArray, Y: NDArray | None) -> tuple[NDArray, NDArray]:
        dtype = _common_type(X, X if Y is None else Y)
        A: NDArray = X.astype(dtype, copy=False)
        return A, A if Y is None else Y.astype(dtype, copy=False)

    @abstractmethod
    def _fill(self, A: NDArray, B: NDArray, out: NDArray) -> None:
        """Write the kernel of two blocks of operands into ``out``."""

    def _theta_gradients(self, X: NDArray, K: NDArray) -> list[NDArray]:
        """Derivatives of ``K`` with respect to the logarithms of the free hyperparameters."""
        return []


class ProfileKernel(VectorKernel):
    """A function ``f`` of one number, its profile, with what pre-images need of it."""

    @abstractmethod
    def profile(self, t: NDArray) -> NDArray:
        """Apply ``f``, in place if possible."""

    @abstractmethod
    def profile_derivative(self, t: NDArray) -> NDArray:
        """Return the derivative of ``f``."""

    @abstractmethod
    def profile_inverse(self, value: NDArray) -> NDArray:
        """Return the number with this value of ``f``; ValueError if ``f`` has no inverse."""


def as_vectors(X: Any) -> NDArray:
    """Rows of floating point numbers, float32 kept; a sparse matrix by rows."""
    X = X.tocsr() if issparse(X) else np.asarray(X)
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    return X if X.ndim == 2 else np.atleast_2d(X)


def free(name: str, value: float | None, bounds: Any) -> Hyperparameter:
    """A positive hyperparameter; one that is 0 or left open has no logarithm and is fixed."""
    return Hyperparameter(name, "numeric", bounds if value else "fixed")


def _common_type(X: NDArray, Y: NDArray) -> type:
    return np.float32 if X.dtype == Y.dtype == np.float32 else np.float64


def _stack(gradients: list[NDArray], K: NDArray) -> NDArray:
    return np.dstack(gradients) if gradients else np.empty((*K.shape, 0))
