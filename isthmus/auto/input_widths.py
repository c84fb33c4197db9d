"""A kernel width for each input, by the gradient of the error of left-out rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from isthmus._linalg import Array

_STEPS = 25
_N_FOLDS = 8
_LEAST_ALPHA = (
    1e-7  # keeps the Cholesky factor of a Gram matrix of ones on its diagonal exact enough
)
_FARTHEST = np.log(1e3)  # how far a width may go from where it began


def scale_inputs(
    Z: Array, Y: Array, gamma: float, alpha: float, folds: list[NDArray] | None = None
) -> Array:
    """Return factors of the columns with which an RBF kernel of ``gamma = 0.5`` predicts best.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_features)
    Y : ndarray of shape (n_samples, n_targets)
        In units of their spreads.
    gamma, alpha : float
        Width and ridge weight of an isotropic kernel, from which the descent begins.
    folds : list of ndarray, default=None
        Rows that are left out together; None takes neighbours.

    Returns
    -------
    factors : ndarray of shape (n_features,)
    """
    centred = Y - Y.mean(axis=0)
    if folds is None:
        folds = np.array_split(np.arange(len(Z)), _N_FOLDS)
    start = np.full(Z.shape[1] + 1, 0.5 * np.log(2 * gamma))
    start[-1] = np.log(max(alpha, _LEAST_ALPHA))
    bounds = [(s - _FARTHEST, s + _FARTHEST) for s in start]
    bounds[-1] = (np.log(_LEAST_ALPHA), start[-1] + _FARTHEST)
    found = minimize(
        fold_error, start, args=(Z, centred, folds), jac=True, method="L-BFGS-B",
        bounds=bounds, options={"maxiter": _STEPS},
    )  # fmt: skip
    return np.exp(found.x[:-1])


def fold_error(theta: Array, Z: Array, Y: Array, folds: list[NDArray]) -> tuple[float, Array]:
    """Return the logarithm of the squared error of left-out folds, and its gradient.

    ``theta`` holds the logarithms of the factors of the columns and of the ridge weight. With
    ``G`` the inverse of the ridged Gram matrix, the constant projected out, the error of a fold is
    ``inv(G_ff) (G y)_f``.
    """
    scaled = Z * np.exp(theta[:-1])
    squares = (scaled**2).sum(axis=1)
    distances = np.maximum(squares[:, None] + squares - 2 * scaled @ scaled.T, 0.0)
    K = np.exp(-0.5 * distances)
    n = len(Z)
    alpha = np.exp(theta[-1])
    factor = cho_factor(K + alpha * np.eye(n), lower=True, check_finite=False)
    G = cho_solve(factor, np.eye(n), check_finite=False)
    ones = G.sum(axis=0)
    G -= np.outer(ones, ones) / ones.sum()
    beta = G @ Y
    errors = np.zeros(Y.shape)
    pulls = np.zeros(Y.shape)
    slope = np.zeros((n, n))
    for fold in folds:
        block = G[np.ix_(fold, fold)]
        errors[fold] = np.linalg.solve(block, beta[fold])
        pulls[fold] = np.linalg.solve(block, errors[fold])
        slope += (G[:, fold] @ pulls[fold]) @ (G[:, fold] @ errors[fold]).T
    slope -= (G @ pulls) @ beta.T
    total = float((errors**2).sum())
    slope *= 2 / total
    weighted = slope * K
    weighted = 0.5 * (weighted + weighted.T)
    # d K_ab / d theta_j = -(x_aj - x_bj)^2 K_ab for logarithms of the factors
    sums = weighted.sum(axis=1)
    by_input = -2 * (
        sums @ scaled**2 - np.einsum("aj,ab,bj->j", scaled, weighted, scaled, optimize=True)
    )
    return np.log(total), np.append(by_input, alpha * np.trace(slope))
