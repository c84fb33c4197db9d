"""What the kernels of sequences and of graphs share: the protocol, normalisation, gradients."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Hyperparameter

from isthmus._linalg import Array
from isthmus._validation import check_number, check_option
from isthmus.kernels.base import Kernel
from isthmus.kernels.normalising import normalise_gradient, normalise_matrix, normalise_square


class StructuredKernel(Kernel):
    r"""A kernel of objects that are not vectors.

    A subclass turns objects into its own form (``_convert``) and computes matrices of them; with
    ``normalise=True`` every object has length one,

    .. math::
        \bar k(x, y) = k(x, y) / \sqrt{k(x, x) k(y, y)}.

    An object whose own kernel is zero stays at zero: it is like nothing, not even itself.
    """

    normalise: bool

    # -- what a subclass says ------------------------------------------------------------------

    @abstractmethod
    def _convert(self, X: Any, name: str) -> Any:
        """Objects in the kernel's own form; errors name the index of the object."""

    @abstractmethod
    def _matrix(self, X: Any, Y: Any | None) -> Array:
        """Kernel values of converted objects; ``Y`` None means X with itself."""

    @abstractmethod
    def _diagonal(self, X: Any) -> Array:
        """``k(x, x)`` of converted objects."""

    def _matrix_and_slopes(self, X: Any) -> tuple[Array, Array]:
        """Kernel values and their derivatives with respect to theta, (n, n, n_theta)."""
        raise NotImplementedError

    def _check(self) -> None:
        """Refuse parameters that have no meaning."""

    # -- the protocol --------------------------------------------------------------------------

    def __call__(self, X: Any, Y: Any | None = None, eval_gradient: bool = False) -> Any:
        """Return the kernel matrix of two lists of objects.

        Parameters
        ----------
        X, Y : sequence of objects
            ``Y`` None means X with itself.
        eval_gradient : bool, default=False
            Whether to return the derivative with respect to the logarithms of the free
            hyperparameters too; only without Y.

        Returns
        -------
        K : array of shape (n_X, n_Y)
            Kernel values.
        K_gradient : array of shape (n_X, n_X, n_theta)
            Only with ``eval_gradient=True``.
        """
        self._check()
        if eval_gradient:
            if Y is not None:
                raise ValueError("Gradient can only be evaluated when Y is None.")
            return self._with_gradient(self._convert(X, "X"))
        rows = self._convert(X, "X")
        columns = None if Y is None else self._convert(Y, "Y")
        K = self._matrix(rows, columns)
        if not self.normalise:
            return K
        if columns is None:
            return normalise_square(K)
        return normalise_matrix(K, self._diagonal(rows), self._diagonal(columns))

    def diag(self, X: Any) -> Array:
        """Return ``k(x, x)`` of every object, (n_X,)."""
        self._check()
        values = self._diagonal(self._convert(X, "X"))
        return (values > 0).astype(np.float64) if self.normalise else values

    @property
    def requires_vector_input(self) -> bool:
        """Lists of objects are taken."""
        return False

    def _with_gradient(self, X: Any) -> tuple[Array, Array]:
        if self.n_dims == 0:
            K = self._matrix(X, None)
            slopes = np.empty((len(K), len(K), 0))
        else:
            K, slopes = self._matrix_and_slopes(X)
        return normalise_gradient(K, slopes) if self.normalise else (K, slopes)


class StoppedKernel(StructuredKernel):
    """A kernel of walks that stop: ``stop`` is its one hyperparameter."""

    stop: float
    stop_bounds: Any
    termination: str

    @property
    def hyperparameter_stop(self) -> Hyperparameter:
        return Hyperparameter("stop", "numeric", self.stop_bounds)

    def _check(self) -> None:
        check_number("stop", self.stop, "> 0 and <= 1", high=1.0, strict=True)
        check_option("termination", self.termination, ("constant", "proper"))
