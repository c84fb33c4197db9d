"""What a kernel model collapses into once fitted: ``f(x) = sum_i a_i k(x_i, x) + b``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.decomposition import KernelPCA
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Product, Sum, WhiteKernel
from sklearn.gaussian_process.kernels import Kernel as GPKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from sklearn.utils.validation import check_is_fitted

from isthmus.kernels import Kernel, gram, resolve_kernel
from isthmus.kernels.wrappers import is_precomputed
from isthmus.linalg import Array

_BLOCK = 2**19  # kernel values held at a time: they stay in the cache


class Expansion:
    r"""Functions :math:`f_j(x) = \sum_i a_{ij} k(x_i, x) + b_j` that share their points.

    Parameters
    ----------
    points : array of shape (n_points, n_features) or sequence of n_points objects
        The points. With a precomputed kernel the columns of the matrix that belong to them, integers.
    coef : array of shape (n_points,) or (n_points, n_outputs)
        The coefficients; 1-D gives 1-D values.
    kernel : kernel
        The kernel, with all its numbers set, a metric name, a callable or ``"precomputed"``.
    intercept : float or array of shape (n_outputs,), default=0.0
        The constant terms.
    values : array of the shape of ``coef``, default=None
        ``K coef``, the values at the points without the intercept, where they are known without
        computing ``K``.

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
        self.points = points
        self.coef = np.asarray(coef, dtype=np.float64)
        self.kernel = kernel
        self.intercept = np.asarray(intercept, dtype=np.float64)
        self.values = None if values is None else np.asarray(values, dtype=np.float64)
        if self.coef.ndim not in (1, 2):
            raise ValueError(f"coef has {self.coef.ndim} dimensions, must have 1 or 2.")
        if len(self.coef) != len(points):
            raise ValueError(
                f"coef has {len(self.coef)} rows, points has {len(points)}: they must agree."
            )
        if not np.isfinite(self.coef).all():
            place = tuple(int(i) for i in np.argwhere(~np.isfinite(self.coef))[0])
            raise ValueError(f"coef{list(place)} == {self.coef[place]}, must be finite.")

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
        """``sum_i a_i k(x_i, x)`` alone."""
        n, size = len(X), max(1, _BLOCK // max(self.n_points, 1))
        values = np.empty((n, *self.coef.shape[1:]))
        for begin in range(0, n, size):
            end = min(begin + size, n)
            values[begin:end] = self.kernel_values(X[begin:end]) @ self.coef
        return values

    def kernel_values(self, X: Any) -> Array:
        """``k(x, x_i)`` for new points in rows and the points in columns."""
        if not self.is_precomputed:
            if self.n_points == 0:
                return np.empty((len(X), 0))
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
            classes with kernels of their own, one of ``model.base_estimator_.estimators_``.

        Returns
        -------
        expansion : Expansion
            Its values are those of ``decision_function`` (of every pair of classes, for more than two),
            ``predict`` or ``transform``.
        """
        if isinstance(model, Expansion):
            return model
        if hasattr(model, "to_expansion"):
            expansion: Expansion = model.to_expansion()
            return expansion
        for kind, collapse in _COLLAPSE.items():
            if isinstance(model, kind):
                check_is_fitted(model)
                return collapse(model)
        if all(hasattr(model, name) for name in ("X_train_", "y_train_", "pi_", "kernel_")):
            return _latent(model)  # one class against the rest, inside a Gaussian process
        names = ", ".join(kind.__name__ for kind in _COLLAPSE)
        raise TypeError(
            f"{type(model).__name__} is no kernel model that is known here: give an Expansion, a model "
            f"with to_expansion(), or one of {names}."
        )


class MatrixFunction(Kernel):
    """A function of two matrices, as ``SVC(kernel=function)`` takes it, as a kernel.

    Parameters
    ----------
    function : callable
        ``function(X, Y)`` returns the Gram matrix.
    """

    positive_semidefinite = False

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self.function = function

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        K = np.asarray(self.function(X, X if Y is None else Y))
        return (K, np.empty((*K.shape, 0))) if eval_gradient else K

    def diag(self, X: Any) -> Array:
        return np.array([self(x[None])[0, 0] for x in np.asarray(X)])

    def is_stationary(self) -> bool:
        return False


# -- scikit-learn's models ---------------------------------------------------------------------


def _named(kernel: Any, gamma: float | None, model: Any, X: Any) -> Any:
    """A kernel by scikit-learn's name, with its numbers."""
    if kernel == "precomputed":
        return "precomputed"
    if not isinstance(kernel, str):
        return resolve_kernel(kernel, X)
    gamma = 1.0 / X.shape[1] if gamma is None else gamma
    return resolve_kernel(kernel, X, gamma=gamma, degree=model.degree, coef0=model.coef0)


def _dense(X: Any) -> Any:
    return X.toarray() if hasattr(X, "toarray") else X


def _svm(model: Any) -> Expansion:
    gamma = getattr(model, "_gamma", None)
    points = _dense(model.support_vectors_)
    kernel = model.kernel
    if callable(kernel):  # support vectors are not kept: the rows of the fit are
        points = np.asarray(model._BaseLibSVM__Xfit)[model.support_]
        kernel = kernel if isinstance(kernel, GPKernel) else MatrixFunction(kernel)
    if isinstance(kernel, str) and kernel == "precomputed":
        points = model.support_
    coef = _dense(model.dual_coef_).T
    if isinstance(model, (SVC, NuSVC)) and len(model.classes_) > 2:
        coef, intercept = _pairs_of_classes(model), model.intercept_
    else:
        # scikit-learn turns the sign of its private copy for two classes; these are the public ones.
        coef, intercept = coef[:, 0], model.intercept_[0]
    return Expansion(points, coef, _named(kernel, gamma, model, points), intercept)


def _pairs_of_classes(model: Any) -> Array:
    """Coefficients of each pair of classes, (n_support, n_pairs), from libsvm's packed ones.

    A support vector of class i has its coefficient against class j in row ``j - 1`` (j > i) or ``j``.
    """
    packed, n_classes = _dense(model.dual_coef_), len(model.classes_)
    ends = np.concatenate([[0], np.cumsum(model.n_support_)])
    columns = []
    for i in range(n_classes):
        for j in range(i + 1, n_classes):
            column = np.zeros(packed.shape[1])
            column[ends[i] : ends[i + 1]] = packed[j - 1, ends[i] : ends[i + 1]]
            column[ends[j] : ends[j + 1]] = packed[i, ends[j] : ends[j + 1]]
            columns.append(column)
    return np.array(columns).T


def _kernel_ridge(model: Any) -> Expansion:
    if isinstance(model.kernel, str) and model.kernel == "precomputed":
        return Expansion(np.arange(len(model.dual_coef_)), model.dual_coef_, "precomputed")
    points = _dense(model.X_fit_)
    kernel = model.kernel
    if callable(kernel) and model.kernel_params:
        kernel = resolve_kernel(kernel, points, kernel_params=model.kernel_params)
    return Expansion(points, model.dual_coef_, _named(kernel, model.gamma, model, points))


def _kernel_pca(model: Any) -> Expansion:
    positive = model.eigenvalues_ > 0
    axes = np.zeros_like(model.eigenvectors_)
    axes[:, positive] = model.eigenvectors_[:, positive] / np.sqrt(model.eigenvalues_[positive])
    centre = model._centerer
    coef = axes - axes.mean(axis=0)
    intercept = (centre.K_fit_all_ - centre.K_fit_rows_) @ axes
    # Training scores are K coef + intercept: no kernel value is needed.
    values = axes * model.eigenvalues_ - intercept
    precomputed = isinstance(model.kernel, str) and model.kernel == "precomputed"
    points = np.arange(len(axes)) if precomputed else _dense(model.X_fit_)
    kernel = _named(model.kernel, getattr(model, "gamma_", None), model, points)
    return Expansion(points, coef, kernel, intercept, values=values)


def _gp_regressor(model: Any) -> Expansion:
    scale, mean = model._y_train_std, model._y_train_mean
    alpha = (
        model.alpha_ * scale if np.ndim(model.alpha_) == 1 else model.alpha_ * np.atleast_1d(scale)
    )
    kernel = resolve_kernel(_without_noise(model.kernel_), model.X_train_)
    mean = np.asarray(mean, dtype=np.float64)
    return Expansion(
        model.X_train_, alpha, kernel, mean if alpha.ndim == 2 else float(mean.ravel()[0])
    )


def _gp_classifier(model: Any) -> Expansion:
    base = model.base_estimator_
    if model.n_classes_ == 2:
        return _latent(base)
    if model.multi_class != "one_vs_rest":
        raise ValueError("multi_class == 'one_vs_one' has no common points: use 'one_vs_rest'.")
    parts = [_latent(binary) for binary in base.estimators_]
    if any(str(part.kernel) != str(parts[0].kernel) for part in parts):
        raise ValueError(
            "The classes have kernels of their own, so there is no common expansion: collapse each of "
            "model.base_estimator_.estimators_, or fit with optimizer=None."
        )
    return Expansion(
        parts[0].points, np.stack([part.coef for part in parts], axis=1), parts[0].kernel
    )


def _latent(binary: Any) -> Expansion:
    kernel = resolve_kernel(_without_noise(binary.kernel_), binary.X_train_)
    return Expansion(binary.X_train_, binary.y_train_ - binary.pi_, kernel)


def _without_noise(kernel: Any) -> Any:
    """The kernel between different points: white noise is left out of sums."""
    if isinstance(kernel, Sum):
        parts = [k for k in (kernel.k1, kernel.k2) if not isinstance(k, WhiteKernel)]
        parts = [_without_noise(k) for k in parts]
        return parts[0] + parts[1] if len(parts) == 2 else parts[0]
    if (
        isinstance(kernel, Product)
        and isinstance(kernel.k2, Sum)
        and isinstance(kernel.k1, ConstantKernel)
    ):
        return kernel.k1 * _without_noise(kernel.k2)
    return kernel


_COLLAPSE: dict[type, Callable[[Any], Expansion]] = {
    SVC: _svm,
    NuSVC: _svm,
    SVR: _svm,
    NuSVR: _svm,
    OneClassSVM: _svm,
    KernelRidge: _kernel_ridge,
    KernelPCA: _kernel_pca,
    GaussianProcessRegressor: _gp_regressor,
    GaussianProcessClassifier: _gp_classifier,
}
