"""scikit-learn's fitted models as expansions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.decomposition import KernelPCA
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Kernel as GPKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from sklearn.utils.validation import check_is_fitted

from isthmus._linalg import Array
from isthmus.expansion.expansion import Expansion
from isthmus.kernels import Kernel, resolve_kernel

_DENSE_BYTES = 2**26  # of a dense copy of sparse points


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


def collapse_model(model: Any) -> Expansion:
    """The expansion of a fitted model of scikit-learn."""
    for kind, collapse in _COLLAPSE.items():
        if isinstance(model, kind):
            # An unfitted Gaussian process predicts its prior, so it must be asked for what a fit leaves.
            check_is_fitted(model, "X_train_" if kind is GaussianProcessRegressor else None)
            return collapse(model)
    if is_latent_binary(model):
        return _latent(model)
    names = ", ".join(kind.__name__ for kind in _COLLAPSE)
    raise TypeError(
        f"{type(model).__name__} is not a known kernel model: give an Expansion, a model "
        f"with to_expansion(), or one of {names}."
    )


def _named(kernel: Any, gamma: float | None, model: Any, X: Any) -> Any:
    """A kernel by scikit-learn's name, with its numbers."""
    if kernel == "precomputed":
        return "precomputed"
    if not isinstance(kernel, str):
        return resolve_kernel(kernel, X)
    gamma = 1.0 / X.shape[1] if gamma is None else gamma
    names = {"poly": ("degree", "coef0"), "polynomial": ("degree", "coef0"), "sigmoid": ("coef0",)}
    numbers = {name: getattr(model, name) for name in names.get(kernel, ())}
    return resolve_kernel(kernel, X, gamma=gamma, **numbers)


def _dense(X: Any) -> Any:
    return X.toarray() if hasattr(X, "toarray") else X


def _points(X: Any) -> Any:
    """Points of a model; sparse ones stay sparse where a dense copy would be large."""
    is_large = issparse(X) and 8.0 * X.shape[0] * X.shape[1] > _DENSE_BYTES
    return X.tocsr() if is_large else _dense(X)


def _svm(model: Any) -> Expansion:
    gamma = getattr(model, "_gamma", None)
    points = _points(model.support_vectors_)
    kernel = model.kernel
    if callable(kernel):  # support vectors are not kept: the rows of the fit are
        points = np.asarray(model._BaseLibSVM__Xfit)[model.support_]
        kernel = kernel if isinstance(kernel, GPKernel) else MatrixFunction(kernel)
    if isinstance(kernel, str) and kernel == "precomputed":
        points = model.support_
    coef = _dense(model.dual_coef_).T
    if isinstance(model, (SVC, NuSVC)) and len(model.classes_) > 2:
        coef = _pairs_of_classes(model)
        intercept = model.intercept_
    else:
        # scikit-learn turns the sign of its private copy for two classes; these are the public ones.
        coef, intercept = coef[:, 0], model.intercept_[0]
    return Expansion(points, coef, _named(kernel, gamma, model, points), intercept)


def _pairs_of_classes(model: Any) -> Array:
    """Coefficients of each pair of classes, (n_support, n_pairs), from libsvm's packed ones.

    A support vector of class i has its coefficient against class j in row ``j - 1`` (j > i) or ``j``.
    """
    packed = _dense(model.dual_coef_)
    n_classes = len(model.classes_)
    ends = np.concatenate([[0], np.cumsum(model.n_support_)])
    columns = []
    for i in range(n_classes):
        for j in range(i + 1, n_classes):
            column = np.zeros(packed.shape[1])
            column[ends[i] : ends[i + 1]] = packed[j - 1, ends[i] : ends[i + 1]]
            column[ends[j] : ends[j + 1]] = packed[i, ends[j] : ends[j + 1]]
            columns.append(column)
    return np.array(columns).T


def _with_params(model: Any, points: Any) -> Any:
    """The kernel of a model; a function with the arguments that the model gives it."""
    if callable(model.kernel) and model.kernel_params:
        return resolve_kernel(model.kernel, points, **model.kernel_params)
    return model.kernel


def _kernel_ridge(model: Any) -> Expansion:
    if isinstance(model.kernel, str) and model.kernel == "precomputed":
        return Expansion(np.arange(len(model.dual_coef_)), model.dual_coef_, "precomputed")
    points = _points(model.X_fit_)
    kernel = _named(_with_params(model, points), model.gamma, model, points)
    return Expansion(points, model.dual_coef_, kernel)


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
    points = np.arange(len(axes)) if precomputed else _points(model.X_fit_)
    kernel = _with_params(model, points)
    kernel = _named(kernel, getattr(model, "gamma_", None), model, points)
    return Expansion(points, coef, kernel, intercept, values=values)


def _gp_regressor(model: Any) -> Expansion:
    alpha = model.alpha_
    mean = np.asarray(model._y_train_mean, dtype=np.float64)
    alpha = alpha * (model._y_train_std if alpha.ndim == 1 else np.atleast_1d(model._y_train_std))
    kernel = resolve_kernel(model.kernel_, model.X_train_)
    if alpha.ndim == 2 and alpha.shape[1] > 1:
        return Expansion(model.X_train_, alpha, kernel, mean)
    # One column of outputs is predicted as a flat array.
    return Expansion(model.X_train_, alpha.ravel(), kernel, float(mean.ravel()[0]))


def _gp_classifier(model: Any) -> Expansion:
    if model.n_classes_ == 2:
        return _latent(model.base_estimator_)
    if not has_common_expansion(model):
        raise ValueError(
            "The classes have kernels or points of their own, so no one expansion is this "
            "GaussianProcessClassifier: collapse each of model.base_estimator_.estimators_, or fit with "
            "optimizer=None and multi_class='one_vs_rest'. isthmus.compress takes the model as it is."
        )
    parts = [_latent(binary) for binary in model.base_estimator_.estimators_]
    coef = np.stack([part.coef for part in parts], axis=1)
    return Expansion(parts[0].points, coef, parts[0].kernel)


def has_common_expansion(model: Any) -> bool:
    """Whether the classes of a Gaussian process share their points and their kernel."""
    if model.n_classes_ == 2:
        return True
    kernels = [binary.kernel_ for binary in model.base_estimator_.estimators_]
    alike = all(kernel == kernels[0] for kernel in kernels)
    return alike and model.multi_class == "one_vs_rest"


def is_latent_binary(model: Any) -> bool:
    """Whether a model is the part of a Gaussian process that tells two classes apart."""
    return all(hasattr(model, name) for name in ("X_train_", "y_train_", "pi_", "kernel_"))


def _latent(binary: Any) -> Expansion:
    kernel = resolve_kernel(binary.kernel_, binary.X_train_)
    return Expansion(binary.X_train_, binary.y_train_ - binary.pi_, kernel)


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
