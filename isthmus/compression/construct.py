"""Points that may move: descent on the points from the greedy start."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from isthmus._linalg import Array
from isthmus.compression.refit import RIDGE
from isthmus.kernels import gram

_EXACT_OUTPUTS = 1e-9  # of the outputs' squares: what is left is rounding
_FLAT = 1e-5  # a step that lowers the error by less than this part of the first one is the last


def move_points(kernel: Any, start: Array, rows: Array, outputs: Array, *, max_iter: int) -> Array:
    r"""Minimise the squared error of the outputs over the points, coefficients solved for.

    .. math::
        \min_{Z}\ \min_{B, b}\ \|K_{XZ} B + 1 b' - F\|^2 + \rho \|B\|^2

    At the best coefficients the gradient with respect to a point is
    :math:`2 \sum_i (R B')_{ij} \nabla_z k(x_i, z_j)`, R the residuals; limited memory BFGS goes down
    from the points that the pursuit chose. For smooth kernels of vectors; [SMBKMRS1999]_ Sec. V.

    Parameters
    ----------
    kernel : kernel
        With gradients with respect to its inputs.
    start : array of shape (r, d)
        The points to begin with.
    rows : array of shape (n, d)
        Where the outputs are known.
    outputs : array of shape (n, p)
        The values there.
    max_iter : int
        Most steps.

    Returns
    -------
    points : array of shape (r, d)
        The points.
    """
    shape = start.shape
    # In units of the rows' spread: the solver's first step is an absolute one.
    centre = rows.mean(axis=0)
    unit = float(np.sqrt(((rows - centre) ** 2).mean())) or 1.0
    centred = outputs - outputs.mean(axis=0)

    def squared_error(flat: Array) -> tuple[float, Array]:
        Z = centre + unit * flat.reshape(shape)
        K = np.asarray(gram(kernel, rows, Z))
        F = K - K.mean(axis=0)
        A = F.T @ F
        ridge = RIDGE * float(A.trace()) / len(A) + np.finfo(float).tiny
        A[np.diag_indices_from(A)] += ridge
        B = cho_solve(cho_factor(A, overwrite_a=True), F.T @ centred)
        R = F @ B - centred
        value = float((R**2).sum()) + ridge * float((B**2).sum())
        slope = 2.0 * kernel.weighted_gradient(Z, rows, B @ R.T)
        return value, unit * slope.ravel()

    # In parts of the error at the start: the solver's tolerances are absolute below one.
    first = ((start - centre) / unit).ravel()
    scale = squared_error(first)[0]
    if scale <= _EXACT_OUTPUTS * float((centred**2).sum()):
        return start

    def objective(flat: Array) -> tuple[float, Array]:
        value, slope = squared_error(flat)
        return value / scale, slope / scale

    options = {"maxiter": max_iter, "maxfun": 2 * max_iter, "ftol": _FLAT, "gtol": 0.0}
    found = minimize(objective, first, jac=True, method="L-BFGS-B", options=options)
    return centre + unit * found.x.reshape(shape)
