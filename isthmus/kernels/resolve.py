"""From what users write to kernel objects with all numbers set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS

from isthmus._linalg import Array
from isthmus.kernels.bandwidth import median_gamma, product_gamma
from isthmus.kernels.base import Kernel, check_kernel_numbers
from isthmus.kernels.composite import Constant, Power, Product, Sum, inner_kernels
from isthmus.kernels.distances import RBF, DistanceKernel, L2Laplacian, Laplacian
from isthmus.kernels.gaussian import Gaussian
from isthmus.kernels.histograms import HistogramIntersection
from isthmus.kernels.products import Cosine, Exponential, Linear, Polynomial
from isthmus.kernels.sequences.vectors import VectorSequenceKernel
from isthmus.kernels.sparse_rows import refuse_sparse
from isthmus.kernels.wrappers import Function, Metric, Precomputed

NAMES: dict[str, type[Kernel]] = {
    "rbf": RBF,
    "laplacian": Laplacian,
    "l2_laplacian": L2Laplacian,
    "polynomial": Polynomial,
    "poly": Polynomial,
    "linear": Linear,
    "cosine": Cosine,
    "exponential": Exponential,
    "histogram_intersection": HistogramIntersection,
    "precomputed": Precomputed,
}
OPEN_METRICS = {Laplacian: "cityblock", L2Laplacian: "euclidean", RBF: "sqeuclidean"}


def resolve_kernel(
    kernel: Any,
    X: Any = None,
    *,
    gamma: float | None = None,
    random_state: Any = None,
    sample_weight: Array | None = None,
    **params: Any,
) -> Any:
    """Return a kernel object with every number set; one of this package if there is an equal.

    Parameters
    ----------
    kernel : kernel object, str or callable
        A kernel object of this package or of scikit-learn's Gaussian processes; a name (``"rbf"``,
        ``"laplacian"``, ``"polynomial"``, ..., any metric of ``sklearn.metrics.pairwise_kernels``);
        a function of two samples, or one of ``sklearn.metrics.pairwise``, which keeps its own
        defaults; ``"precomputed"``.
    X : array-like or list, default=None
        Training samples, from which a ``gamma`` left at None is set by the median rule.
    gamma : float or None, default=None
        Inverse width of a kernel given by name; ignored if the kernel has none.
    random_state : int, RandomState or None, default=None
        Seed for the rows from which the median rule is computed.
    sample_weight : array of shape (n_samples,), default=None
        Weights of the samples in the median rule; None counts all alike.
    **params
        Further parameters of a kernel given by name, or arguments of a function.

    Examples
    --------
    >>> resolve_kernel("polynomial", gamma=0.5, degree=2)
    Polynomial(degree=2, gamma=0.5, coef0=1)
    """
    if isinstance(kernel, str):
        found = _by_name(kernel, gamma, params)
    else:
        found = _by_object(kernel, X, gamma, params)
    refuse_sparse(found, X)
    return _with_numbers(found, X, random_state, sample_weight)


def _by_name(name: str, gamma: float | None, params: dict[str, Any]) -> Kernel:
    if name in NAMES:
        known = NAMES[name]().get_params()
        unknown = sorted(set(params) - set(known))
        if unknown:
            raise ValueError(
                f"kernel {name!r} has no {unknown}; its parameters are {sorted(known)}."
            )
        given = {"gamma": gamma} if "gamma" in known else {}
        return NAMES[name](**(given | params))
    if name in PAIRWISE_KERNEL_FUNCTIONS:
        given = {"gamma": gamma} if name in ("sigmoid", "chi2") and gamma is not None else {}
        return Metric(name, given | params)
    raise ValueError(f"kernel == {name!r} is not known; the names are {', '.join(kernel_names())}.")


def kernel_names() -> list[str]:
    """Return the names that :func:`resolve_kernel` takes."""
    return sorted({*NAMES, *PAIRWISE_KERNEL_FUNCTIONS})


def _by_object(kernel: Any, X: Any, gamma: float | None, params: dict[str, Any]) -> Any:
    is_function = (
        not isinstance(kernel, gp.Kernel) and callable(kernel) and not isinstance(kernel, type)
    )
    if is_function and gamma is not None:
        params = {"gamma": gamma, **params}
    elif gamma is not None or (params and not is_function):
        raise ValueError(
            f"gamma and other parameters are for a kernel given by name; set them in {kernel!r}."
        )
    if isinstance(kernel, gp.Kernel):
        return _ours(clone(kernel))
    if is_function:
        for name, function in PAIRWISE_KERNEL_FUNCTIONS.items():
            if kernel is function:
                return _by_function(name, X, params)
        return Function(kernel, params or None)
    raise TypeError(
        f"kernel == {kernel!r}, must be a kernel object, a name, a function or 'precomputed'."
    )


def _by_function(name: str, X: Any, params: dict[str, Any]) -> Kernel:
    """Convert a pairwise function of scikit-learn, whose default gamma is 1 / n_columns."""
    if name in NAMES and "gamma" in NAMES[name]().get_params() and params.get("gamma") is None:
        if len(np.shape(X)) != 2:
            return Metric(name, params)
        params["gamma"] = 1.0 / np.shape(X)[1]
    return _by_name(name, None, params)


# -- scikit-learn's kernels that have an equal of ours --------------------------------------------


def _ours(kernel: Any) -> Any:
    """Convert a scikit-learn kernel to the equal kernel of this package, if there is one.

    ``kernel`` is a copy: kernels within it are replaced.
    """
    check_kernel_numbers(kernel)
    for name, inner in inner_kernels(kernel):
        setattr(kernel, name, _ours(inner))
    convert = CONVERSIONS.get(type(kernel))
    return kernel if convert is None else convert(kernel)


def _from_rbf(kernel: Any) -> Any:
    if np.ndim(kernel.length_scale):  # one length a column
        return kernel
    return RBF(0.5 / kernel.length_scale**2)


def _from_matern(kernel: Any) -> Any:
    if np.ndim(kernel.length_scale) or kernel.nu not in (0.5, np.inf):
        return kernel
    length = kernel.length_scale
    if kernel.nu == 0.5:
        return L2Laplacian(1.0 / length)
    return RBF(0.5 / length**2)


def _from_dot_product(kernel: Any) -> Kernel:
    return Polynomial(degree=1, gamma=1.0, coef0=float(kernel.sigma_0) ** 2)


def _from_pairwise(kernel: Any) -> Any:
    if not isinstance(kernel.metric, str) or kernel.metric == "precomputed":
        return kernel
    params = kernel.pairwise_kernels_kwargs or {}
    return _by_name(kernel.metric, kernel.gamma, params)


CONVERSIONS: dict[type, Callable[[Any], Any]] = {
    gp.RBF: _from_rbf,
    gp.Matern: _from_matern,
    gp.DotProduct: _from_dot_product,
    gp.PairwiseKernel: _from_pairwise,
    gp.ConstantKernel: lambda k: Constant(k.constant_value, k.constant_value_bounds),
    gp.Sum: lambda k: Sum(k.k1, k.k2),
    gp.Product: lambda k: Product(k.k1, k.k2),
    gp.Exponentiation: lambda k: Power(k.kernel, k.exponent),
}


# -- numbers that were left open ----------------------------------------------------------------


def _with_numbers(kernel: Any, X: Any, random_state: Any, weights: Array | None) -> Any:
    for part in _parts(kernel):
        check_kernel_numbers(part)
        if isinstance(part, Precomputed) and part.n_samples is None and X is not None:
            part.n_samples = int(np.shape(X)[1]) if np.ndim(X) == 2 else None
        elif getattr(part, "gamma", 1.0) is None:
            part.gamma = _open_gamma(part, X, random_state, weights)
    return kernel


def _parts(kernel: Any) -> list[Any]:
    """The kernel and all within it, inner ones first: a Gaussian measures with numbers that are set."""
    return [*(part for _, inner in inner_kernels(kernel) for part in _parts(inner)), kernel]


def _open_gamma(kernel: Any, X: Any, random_state: Any, weights: Array | None) -> float:
    if X is None:
        raise ValueError(
            f"gamma == None in {kernel!r} needs data to be set from: give X, or a number."
        )
    options: dict[str, Any] = {"random_state": random_state, "sample_weight": weights}
    if isinstance(kernel, Gaussian):
        return median_gamma(X, metric=kernel.kernel, **options)
    if isinstance(kernel, VectorSequenceKernel):
        windows = kernel.windows(X)
        if weights is not None:
            options["sample_weight"] = np.repeat(weights, [len(own) for own in windows])
        return median_gamma(np.concatenate(windows), **options)
    if isinstance(kernel, DistanceKernel):
        return median_gamma(X, metric=OPEN_METRICS[type(kernel)], **options)
    return product_gamma(X, **options)
