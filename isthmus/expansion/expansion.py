"""``Expansion``: points, coefficients, kernel and intercept, evaluated in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.gaussian_process.kernels import Kernel as GPKernel

from isthmus._linalg import Array
from isthmus._saved import saved
from isthmus.expansion.noise import without_noise
from isthmus.kernels import gram, is_precomputed, length, resolve_kernel

_KERNEL_VALUES = 2**19  # kernel values held at a time: they stay in the cache


@saved(points="n .", coef="n k|n|n", intercept="k||1", values="n k|n|n")
class Expansion:
    r"""Functions :math:`f_j(x) = \sum_i a_{ij} k(x_i, x) + b_j` that share their points.

    Parameters
    ----------
    points : array of shape (n_points, n_features) or sequence of n_points objects
        The points. With a precomputed kernel the columns of the matrix that belong to them, integers.
    coef : array of shape (n_points,) or (n_points, n_outputs)
        The coefficients; 1-D gives 1-D values.
    kernel : kernel
        A kernel object, a metric name, a function of two samples or ``"precomputed"``. Parameters left at
        None, such as the width of ``"rbf"``, are set from the points. White noise in the kernel is left
        out: it is zero between a point and any other sample.
    intercept : float or array of shape (n_outputs,), default=0.0
        The constant terms.
    values : array of the shape of ``coef``, default=None
        ``K coef``, the values at the points without the intercept, if they are already known. Not kept
        for kernels with noise.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.svm import SVR
    >>> from isthmus import Expansion
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SVR().fit(X, y)
    >>> f = Expansion.from_model(model)
    >>> bool(abs(f(X) - model.predict(X)).max() < 1e-9)
    True
    """

    def __init__(
        self,
        points: Any,
        coef: ArrayLike,
        kernel: Any,
        intercept: ArrayLike = 0.0,
        *,
        values: ArrayLike | None = None,
    ) -> None:
        self.points = points = _rows(points)
        self.coef = np.asarray(coef, dtype=np.float64)
        self.kernel = kernel
        self.intercept = np.asarray(intercept, dtype=np.float64)
        self.values = None if values is None else np.asarray(values, dtype=np.float64)
        if self.coef.ndim not in (1, 2):
            raise ValueError(f"coef has {self.coef.ndim} dimensions, must have 1 or 2.")
        if len(self.coef) != length(points):
            raise ValueError(
                f"coef has {len(self.coef)} rows, points has {length(points)}: they must agree."
            )
        if not np.isfinite(self.coef).all():
            place = tuple(int(i) for i in np.argwhere(~np.isfinite(self.coef))[0])
            raise ValueError(f"coef{list(place)} == {self.coef[place]}, must be finite.")
        self._set_kernel()

    def _set_kernel(self) -> None:
        """Set every number of the kernel once: a width taken anew at each call would follow the rows."""
        if self.is_precomputed or not self.n_points:
            return
        kernel = without_noise(self.kernel)
        if kernel is not self.kernel:
            self.values = None
        self.kernel = resolve_kernel(kernel, self.points) if _is_open(kernel) else kernel

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self.coef)

    @property
    def n_outputs(self) -> int:
        """Number of functions."""
        return 1 if self.coef.ndim == 1 else self.coef.shape[1]

    @property
    def is_precomputed(self) -> bool:
        """Whether the kernel is known as a matrix alone."""
        return is_precomputed(self.kernel)

    def __call__(self, X: Any) -> Array:
        """Values at new points, (n,) or (n, n_outputs), computed in blocks of rows.

        With a precomputed kernel ``X`` is the matrix of kernel values, new points in rows and the
        points of the original fit in columns.
        """
        return self.without_intercept(X) + self.intercept

    def without_intercept(self, X: Any) -> Array:
        """Return ``sum_i a_i k(x_i, x)``, without the intercept."""
        X = _rows(X)
        n = length(X)
        size = max(1, _KERNEL_VALUES // max(self.n_points, 1))
        values = np.empty((n, *self.coef.shape[1:]))
        for begin in range(0, n, size):
            end = min(begin + size, n)
            values[begin:end] = self.kernel_values(X[begin:end]) @ self.coef
        return values

    def kernel_values(self, X: Any) -> Array:
        """Return ``k(x, x_i)``, new points in rows and the points of the expansion in columns."""
        if not self.is_precomputed:
            if self.n_points == 0:
                return np.empty((length(X), 0))
            return np.asarray(gram(self.kernel, X, self.points))
        X = np.asarray(X)
        if X.ndim != 2 or X.shape[1] <= int(np.max(self.points, initial=-1)):
            raise ValueError(
                f"X has shape {X.shape}, must be a matrix of kernel values with the points of the "
                f"original fit in columns, more than {int(np.max(self.points, initial=-1))} of them."
            )
        return np.asarray(X[:, self.points], dtype=np.float64)

    def __repr__(self) -> str:
        return (
            f"Expansion(n_points={self.n_points}, n_outputs={self.n_outputs}, kernel={self.kernel})"
        )

    @classmethod
    def from_model(cls, model: Any) -> Expansion:
        """Collapse a fitted model.

        Parameters
        ----------
        model : fitted model
            One of ours (it has ``to_expansion``), or scikit-learn's ``SVC``, ``NuSVC``, ``SVR``,
            ``NuSVR``, ``OneClassSVM``, ``KernelRidge``, ``KernelPCA``, ``GaussianProcessRegressor`` (the
            mean) or ``GaussianProcessClassifier`` (the latent mean). Where the latter has several
            classes with kernels or points of their own, no one expansion is the model: take one of
            ``model.base_estimator_.estimators_``, or give the model to :func:`isthmus.compress`.

        Returns
        -------
        expansion : Expansion
            Its values are those of ``decision_function`` (of every pair of classes, for more than two),
            ``predict`` or ``transform``; of a :class:`~isthmus.DependencyRegressor` whose outputs have a
            kernel that is not linear, those of ``predict_embedding``.
        """
        from isthmus.expansion.models import collapse_model  # it makes objects of this class

        if isinstance(model, Expansion):
            return model
        if hasattr(model, "to_expansion"):
            expansion: Expansion = model.to_expansion()
            return expansion
        return collapse_model(model)


def _rows(X: Any) -> Any:
    """Samples that can be taken by number: data frames as arrays, sparse matrices by rows."""
    if issparse(X):
        return X.tocsr()
    return X.to_numpy() if hasattr(X, "to_numpy") else X


def _is_open(kernel: Any) -> bool:
    """Return True for names, callables and kernels with an unset gamma."""
    if not isinstance(kernel, GPKernel):
        return True
    params = kernel.get_params().items()
    return any(name.split("__")[-1] == "gamma" and value is None for name, value in params)
