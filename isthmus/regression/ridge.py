"""The rank-constrained optimum without a spectrum: one linear system where that keeps its digits.

A single ridge weight does not need the eigenvectors of X'X. The fit with the ridge, and the directions in
which its fitted values are largest, are all there is to the optimum.
"""

from __future__ import annotations

import numpy as np

from isthmus.linalg import EPS, Array
from isthmus.linalg.eigen import descending_eigh
from isthmus.problems.forms import Form, GramForm, RowForm
from isthmus.problems.spectrum import RIDGE_SAFE, SPECTRUM_SAFE, lacks_digits, tie_breaking
from isthmus.regression.factors import Factors

# Random right-hand sides that ask how large the inverse is, and steps that find the norm.
_PROBES, _POWER_STEPS = 8, 4


def ridge_optimum(
    form: Form, alpha: float, n_components: int | None
) -> tuple[Factors, Array] | None:
    r"""Factors of the best map of a rank, and all singular values of the fitted values.

    With :math:`R = (X^\top X + \alpha I)^{-1} X^\top Y` and the eigenvectors Q of the (q, q) matrix
    :math:`Y^\top X R`, largest first, the optimum is :math:`R Q_r Q_r^\top`; in the coordinates of the
    samples X'X becomes XX' and X'Y becomes Y. None where this would cost digits: where X'X is far from
    orthogonal and no ridge mends that, or where a direction that is used carries too little of the fit.
    """
    if isinstance(form, RowForm):
        return None
    is_dual = isinstance(form, GramForm)
    second = form.gram if isinstance(form, GramForm) else form.xx
    m, q = form.xy.shape
    r = q if n_components is None else min(n_components, q)
    if r == 0 or q > m:
        return None
    ridge = _solve(second, form.xy, alpha, is_dual)
    if ridge is None:
        return None
    fitted = second @ ridge if is_dual else None  # X R
    products = form.xy.T @ (ridge if fitted is None else fitted)
    squares, Q = descending_eigh((products + products.T) / 2)
    if lacks_digits(squares[:r]) or squares[r - 1] <= EPS * form.y_squares.sum():
        return None
    sigma = np.sqrt(np.maximum(squares, 0.0))

    def norms(block: slice) -> Array:
        maps = ridge @ Q[:, block]
        return maps.T @ (maps if fitted is None else fitted @ Q[:, block])

    found = tie_breaking(sigma, r, norms)
    if found is not None:
        Q[:, found[0]] = Q[:, found[0]] @ found[1]
    Q = Q[:, :r]
    rotations = ridge @ Q
    x_cross = second @ rotations if fitted is None else fitted @ Q
    factors = Factors(
        rotations=rotations,
        y_loadings=Q,
        weights=None,
        x_cross=x_cross,
        y_cross=(rotations if fitted is None else x_cross).T @ form.xy,
        gram=(rotations if fitted is None else x_cross).T @ x_cross,
        solver="dual" if is_dual else "moments",
    )
    return factors, sigma


def _solve(second: Array, cross: Array, alpha: float, is_dual: bool) -> Array | None:
    """(X'X + alpha I)^-1 X'Y, or its like with XX'; None where X'X has lost the digits for that."""
    m, trace = len(second), float(second.trace())
    shifted = second.copy()
    shifted.flat[:: m + 1] += alpha
    if alpha > 0 and alpha >= RIDGE_SAFE * trace:
        return np.asarray(np.linalg.solve(shifted, cross), dtype=np.float64)
    if is_dual:
        # Centred rows sum to zero, and so do those of Y: along that direction any matrix will do.
        if np.abs(second.sum(axis=1)).max() > m * EPS * trace:
            return None  # weighted rows, which depend in another way
        shifted += trace / m**2
    probes = np.random.default_rng(0).normal(size=(m, _PROBES))
    try:
        solved = np.linalg.solve(shifted, np.hstack([cross, probes]))
    except np.linalg.LinAlgError:
        return None
    # The mean square over the probes is the sum of 1/d^4, at least that of the smallest d.
    inverse_norm = np.sqrt((solved[:, -_PROBES:] ** 2).sum() / _PROBES)
    x = probes[:, 0]
    for _ in range(_POWER_STEPS):
        x = shifted @ (x / np.linalg.norm(x))
    safe = np.linalg.norm(x) * inverse_norm * SPECTRUM_SAFE < 1.0
    return np.asarray(solved[:, :-_PROBES], dtype=np.float64) if safe else None
