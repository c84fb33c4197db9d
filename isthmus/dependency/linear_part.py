"""What phi and T are together where both are linear: one ridge problem, or two factors."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.multioutput import MultiOutputRegressor
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from isthmus._linalg import ROUNDING, Array
from isthmus._validation import check_memory, warn
from isthmus.expansion import Expansion
from isthmus.features import NO_DIFFERENCE, KernelMap, is_affordable
from isthmus.kernels import gram, is_precomputed, length
from isthmus.regression import DualRidge, ReducedRankRegression, dual_ridge

_LINEAR_TOL = 1e-6  # relative difference to the map's own predictions
_NO_SPREAD = 1e-6  # of ridge or trace: with less than this nothing but the mean is left


def solve_dual(
    inputs: Any,
    map_: Any,
    X: Any,
    Psi: Array,
    *,
    leave_one_out: bool,
    weights: Array | None = None,
) -> tuple[Any, DualRidge] | None:
    """Return the kernel and the solution of phi and T as one ridge problem; None if they are not one.

    They are if the map of the inputs keeps every component of a centred, exact kernel map.
    """
    alpha = ridge_weight(map_)
    if type(inputs) is not KernelMap or alpha is None:
        return None
    if inputs.n_components is not None or not inputs.center:
        return None
    if inputs.solver not in ("auto", "exact"):
        return None
    n, q = Psi.shape
    n_bytes = 8.0 * (2.0 * n * n + 7.0 * n * q)
    what = f"Ridge regression of {n} rows on {q} outputs"
    if inputs.solver == "auto":
        factor = 1.0 if leave_one_out else 1.0 / 3.0  # n^3: Cholesky factor and inverse, or factor
        operations = factor * float(n) ** 3 + 2.0 * n * n * q
        if not is_affordable(operations, n_bytes, what):
            return None
    else:
        check_memory(n_bytes, what, "KernelMap(solver='landmarks') takes n x n_landmarks numbers.")
    kernel = inputs._resolve(X, weights)
    if not getattr(kernel, "positive_semidefinite", False):
        return None  # the kernel map handles negative eigenvalues
    K = gram(kernel, X, n_jobs=inputs.n_jobs)
    _check_differences(kernel, K, alpha)
    solved = dual_ridge(K, Psi, alpha, leave_one_out=leave_one_out, weights=weights)
    return None if solved is None else (kernel, solved)


def _check_differences(kernel: Any, K: Array, alpha: float) -> None:
    """Refuse a kernel that is constant up to rounding; warn if the ridge leaves nothing but the mean."""
    n = len(K)
    trace = float(K.trace(dtype=np.float64))
    spread = trace - n * float(K.mean(dtype=np.float64))
    if spread <= 8.0 * n * float(np.finfo(K.dtype).eps) * float(np.abs(K.diagonal()).max()):
        raise ValueError(NO_DIFFERENCE.format(kernel=repr(kernel)))
    if spread < _NO_SPREAD * min(alpha, trace):  # predictions vary by less than this fraction
        warn(
            f"The samples differ so little for {kernel!r} that the ridge weight {alpha:g} leaves nothing "
            f"but the mean: the trace of the centred kernel matrix is {spread:.2g}. Scale the samples, "
            "or take a narrower kernel or a smaller weight.",
        )


def embed_inputs(inputs: Any, map_: Any, X: Any, weights: Array | None = None) -> tuple[Any, Array]:
    """Fit phi and return it with its coordinates; landmarks may follow from the ridge weight of T."""
    if type(inputs) is KernelMap:
        alpha = ridge_weight(map_)
        found = inputs._fit_ridge_landmarks(X, alpha, weights)
        if found is not None:
            return found[0], found[1].astype(np.float64, copy=False)
        return inputs, np.asarray(inputs._fit(X, alpha, weights))
    if weights is None or not has_fit_parameter(inputs, "sample_weight"):
        return inputs, inputs.fit_transform(X)  # without weights, or it does not learn by them
    return inputs, inputs.fit(X, sample_weight=weights).transform(X)


def can_be_weighted(inputs: Any, map_: Any) -> bool:
    """Whether phi and T learn from weights as they do from copies, which a precomputed kernel keeps.

    None stands for one of the default maps, which all take weights.
    """
    is_weighted = type(inputs) is KernelMap and not is_precomputed(inputs.kernel)
    return is_weighted and (map_ is None or has_fit_parameter(map_, "sample_weight"))


def fit_map(map_: Any, Phi: Array, Psi: Array, weights: Array | None) -> Any:
    """Fit T, with weights where there are any."""
    if weights is None:
        return map_.fit(Phi, Psi)
    if not has_fit_parameter(map_, "sample_weight"):
        raise TypeError(
            f"sample_weight is given, and the map {type(map_).__name__} does not take it: use Ridge, or a "
            "regression of isthmus."
        )
    return map_.fit(Phi, Psi, sample_weight=weights)


def scales_columns(map_: Any, inputs: Any) -> bool:
    """Whether a map would divide coordinates of a kernel by their standard deviations."""
    return isinstance(inputs, KernelMap) and map_.get_params(deep=False).get("scale") is True


def in_kernel_units(map_: Any, inputs: Any, outputs: Any) -> Any:
    """Return the map, told to leave the columns as they are where they are coordinates of a kernel.

    Their standard deviations fall to those of rounding errors. Divided by them, all directions would count
    alike: of n samples that fill n - 1 directions in both spaces, PLS would find every direction equally
    good and take one that the last digit decides. Kernel PLS, [RT2001]_, has no such step.
    """
    is_kernel = isinstance(inputs, KernelMap) or outputs is not None
    if is_kernel and map_.get_params(deep=False).get("scale", False):
        return clone(map_).set_params(scale=False)
    return map_


def for_all_outputs(map_: Any, n_outputs: int) -> Any:
    """Return a regressor of several outputs, made of one per output if need be."""
    single = n_outputs > 1 and not get_tags(map_).target_tags.multi_output
    return MultiOutputRegressor(map_) if single else map_


def join_stages(inputs: Any, map_: Any, Phi: Array) -> tuple[Expansion, Array | None, Array] | None:
    """Return the expansion, output loadings and intercept of phi and T; None if T is not linear."""
    if not hasattr(inputs, "collapse") or getattr(inputs, "solver_", "") == "fourier":
        return None
    factors = map_factors(map_)
    if factors is None:
        return None
    W, V, intercept = factors
    rows = Phi[:5]
    linear = rows @ W @ (np.eye(W.shape[1]) if V is None else V.T) + intercept
    direct = np.asarray(map_.predict(rows)).reshape(linear.shape)
    if np.abs(linear - direct).max() > _LINEAR_TOL * max(float(np.abs(direct).max()), 1e-300):
        return None
    coef, offset = inputs.collapse(W)
    values = Phi @ W - offset if length(inputs.points_) == len(Phi) else None
    return Expansion(inputs.points_, coef, inputs.kernel_, offset, values=values), V, intercept


def ridge_weights(map_: Any) -> tuple[float, ...]:
    """Return the weight of a ridge regression, or those that it chooses from; none if it is no ridge."""
    if type(map_) is RidgeCV:
        alphas = np.atleast_1d(np.asarray(map_.alphas, dtype=np.float64))
        if map_.fit_intercept and (alphas > 0).all():
            return tuple(map(float, alphas))
        return ()
    alpha = None if map_ is None else ridge_weight(map_)
    return () if alpha is None else (alpha,)


def ridge_weight(map_: Any) -> float | None:
    """Return the weight of a map that is plain ridge regression with an intercept; None otherwise."""
    if type(map_) is Ridge:
        plain = map_.fit_intercept and not map_.positive and np.ndim(map_.alpha) == 0
        return float(map_.alpha) if plain and map_.alpha > 0 else None
    if type(map_) is ReducedRankRegression:
        plain = map_.n_components is None and not map_.scale and map_.missing == "error"
        number = isinstance(map_.alpha, int | float) and map_.alpha > 0
        return float(map_.alpha) if plain and number else None
    return None


def map_factors(map_: Any) -> tuple[Array, Array | None, Array] | None:
    """Return ``W, V, b`` of a linear map ``Phi @ W @ V' + b`` with orthonormal V; None if it is not one."""
    if not hasattr(map_, "coef_") or np.ndim(map_.coef_) not in (1, 2):
        return None
    coef = np.atleast_2d(np.asarray(map_.coef_, dtype=np.float64))
    # What it predicts at zero: some keep the constant of centred features.
    intercept = np.asarray(map_.predict(np.zeros((1, coef.shape[1]))), dtype=np.float64).ravel()
    rank = np.shape(getattr(map_, "x_rotations_", coef.T))[1]
    factors = _two_factors(coef, rank) if rank < min(coef.shape) else None
    W, V = (coef.T, None) if factors is None else factors
    return W, V, intercept


def _two_factors(coef: Array, rank: int) -> tuple[Array, Array] | None:
    """Return ``W, V`` with ``coef.T == W V'``, V orthonormal, from ``coef`` times random columns.

    The factors that a map keeps are those of scaled features and targets; these hold whatever the scaling.
    """
    columns = np.random.default_rng(0).normal(size=(coef.shape[1], rank))
    V = np.linalg.qr(coef @ columns)[0]
    W = coef.T @ V
    scale = float(np.abs(coef).max(initial=0.0))
    exact = np.allclose(W @ V.T, coef.T, rtol=1e-10, atol=ROUNDING * scale)
    return (W, V) if exact else None
