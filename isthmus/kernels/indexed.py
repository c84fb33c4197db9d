"""Objects by number: for estimators that take nothing but tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus._linalg import Array
from isthmus.kernels.base import Kernel


class Indexed(Kernel):
    """A kernel of the row numbers of a list of objects.

    Some estimators, such as scikit-learn's ``KernelRidge``, require a table of numbers as X. Give
    them ``[[0], [1], ...]`` and this kernel; ``X[i, 0]`` is then the number of an object.

    Parameters
    ----------
    kernel : kernel object
        A kernel of the objects.
    objects : sequence of objects
        All objects, of training and test.

    Examples
    --------
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> from isthmus.kernels import Indexed, SequenceKernel
    >>> words = ["low", "lower", "high", "higher"]
    >>> model = KernelRidge(kernel=Indexed(SequenceKernel(normalise=True), words))
    >>> model.fit([[0], [2]], [-1.0, 1.0]).predict([[1], [3]]).round(1)
    array([-0.3,  0.4])
    """

    def __init__(self, kernel: Any, objects: Any) -> None:
        self.kernel = kernel
        self.objects = objects

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; the list of objects counts as one."""
        return {"kernel": self.kernel, "objects": self.objects}

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        if Y is None:
            return self.kernel(self._take(X), eval_gradient=eval_gradient)
        return self.kernel(self._take(X), self._take(Y))

    def diag(self, X: Any) -> Array:
        return np.asarray(self.kernel.diag(self._take(X)))

    @property
    def theta(self) -> Array:
        return np.asarray(self.kernel.theta)

    @theta.setter
    def theta(self, value: Array) -> None:
        self.kernel.theta = value

    @property
    def bounds(self) -> Array:
        return np.asarray(self.kernel.bounds)

    @property
    def hyperparameters(self) -> list[Any]:
        found: list[Any] = self.kernel.hyperparameters
        return found

    def __repr__(self) -> str:
        return f"Indexed({self.kernel!r}, {len(self.objects)} objects)"

    def _take(self, X: Any) -> list[Any]:
        numbers = np.asarray(X, dtype=np.float64).reshape(len(X), -1)
        if numbers.shape[1] != 1 or not np.array_equal(numbers, np.rint(numbers)):
            raise ValueError("X must have one column of row numbers of objects.")
        index = numbers[:, 0].astype(int)
        if index.min() < 0 or index.max() >= len(self.objects):
            raise ValueError(
                f"row numbers from {index.min()} to {index.max()}, must be within the "
                f"{len(self.objects)} objects."
            )
        return [self.objects[i] for i in index]
