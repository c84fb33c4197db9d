"""A kernel width for each input, by the gradient of the evidence."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from isthmus._linalg import Array

_WIDTH_STEPS = 25  # of the descent; each solves for all rows
# Where the descent begins: noise relative to the signal, and inverse width over that of the median rule.
# With more noise or a wider kernel nothing pulls at the widths, and a descent may end where all is noise.
_NOISE = 0.03
_NARROWER = 2.0
# Keeps the Cholesky factor of a Gram matrix of ones on its diagonal exact enough.
_LEAST_NOISE = 1e-7
_FARTHEST_WIDTH = np.log(1e3)  # how far a width may go from where it began


def scale_inputs(Z: Array, Y: Array, gamma: float) -> Array:
    """Return factors of the columns with which an RBF kernel of ``gamma = 0.5`` has the most evidence.

    The error of left-out rows has many local minima over widths, most of all where few of the inputs count;
    the evidence has fewer, and is cheaper.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_features)
    Y : ndarray of shape (n_samples, n_targets)
        In units of their spreads.
    gamma : float
        Inverse width of an isotropic kernel by the median rule; the descent begins near it.

    Returns
    -------
    factors : ndarray of shape (n_features,)
    """
    centred = Y - Y.mean(axis=0)
    centred = centred[:, centred.any(axis=0)]
    if not centred.size:
        return np.full(Z.shape[1], np.sqrt(2 * gamma))
    start = np.full(Z.shape[1] + 1, 0.5 * np.log(2 * _NARROWER * gamma))
    start[-1] = np.log(_NOISE)
    bounds = [(s - _FARTHEST_WIDTH, s + _FARTHEST_WIDTH) for s in start]
    bounds[-1] = (np.log(_LEAST_NOISE), start[-1] + _FARTHEST_WIDTH)
    found = minimize(
        negative_evidence, start, args=(Z, centred), jac=True, method="L-BFGS-B",
        bounds=bounds, options={"maxiter": _WIDTH_STEPS},
    )  # fmt: skip
    return np.exp(found.x[:-1])


def negative_evidence(theta: Array, Z: Array, Y: Array) -> tuple[float, Array]:
    """Return minus the logarithm of the evidence per cell of ``Y``, and its gradient.

    ``theta`` holds the logarithms of the factors of the columns and of the noise relative to the signal,
    whose variance takes its best value for each target ([RW2006]_ Eq. 5.8 and 5.9).
    """
    n, q = Y.shape
    scaled = Z * np.exp(theta[:-1])
    squares = (scaled**2).sum(axis=1)
    distances = np.maximum(squares[:, None] + squares - 2 * scaled @ scaled.T, 0.0)
    K = np.exp(-0.5 * distances)
    noise = np.exp(theta[-1])
    factor = cho_factor(K + noise * np.eye(n), lower=True, check_finite=False)
    inverse = cho_solve(factor, np.eye(n), check_finite=False)
    dual = inverse @ Y
    sums = (Y * dual).sum(axis=0)
    value = 0.5 * n * np.log(sums).sum() + q * np.log(np.diag(factor[0])).sum()
    slope = 0.5 * (q * inverse - n * (dual / sums) @ dual.T)
    weighted = slope * K
    # d K_ab / d theta_j = -(x_aj - x_bj)^2 K_ab for logarithms of the factors
    by_input = -2 * (weighted.sum(axis=1) @ scaled**2 - (scaled * (weighted @ scaled)).sum(axis=0))
    return float(value) / (n * q), np.append(by_input, noise * np.trace(slope)) / (n * q)
