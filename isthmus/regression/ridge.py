"""The rank-constrained optimum without a spectrum: one linear system where the ridge is safe.

A single ridge weight does not need the eigenvectors of X'X. The fit with the ridge, and the directions in
which its fitted values are largest, are all there is to the optimum.
"""

from __future__ import annotations

import numpy as np

from isthmus.linalg import EPS, Array, descending_eigh
from isthmus.regression.factors import Factors
from isthmus.regression.forms import Form, GramForm, RowForm
from isthmus.regression.spectrum import RIDGE_SAFE, lacks_digits


def ridge_optimum(
    form: Form, alpha: float, n_components: int | None
) -> tuple[Factors, Array] | None:
    r"""Factors of the best map of a rank, and all singular values of the fitted values.

    With :math:`R = (X^\top X + \alpha I)^{-1} X^\top Y` and the eigenvectors Q of the (q, q) matrix
    :math:`Y^\top X R`, largest first, the optimum is :math:`R Q_r Q_r^\top`; in the coordinates of the
    samples X'X becomes XX' and X'Y becomes Y. None where this would cost digits: without a ridge that
    lifts X'X off singularity, or where a direction that is used carries too little of the fit.
    """
    if isinstance(form, RowForm):
        return None
    is_dual = isinstance(form, GramForm)
    second = form.gram if isinstance(form, GramForm) else form.xx
    m, q = form.xy.shape
    r = q if n_components is None else min(n_components, q)
    if r == 0 or q > m or alpha <= 0 or alpha < RIDGE_SAFE * float(second.trace()):
        return None
    shifted = second.copy()
    shifted.flat[:: m + 1] += alpha
    ridge = np.linalg.solve(shifted, form.xy)
    fitted = second @ ridge if is_dual else None  # X R
    products = form.xy.T @ (ridge if fitted is None else fitted)
    squares, Q = descending_eigh((products + products.T) / 2)
    if lacks_digits(squares[:r]) or squares[r - 1] <= EPS * form.y_squares.sum():
        return None
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
    return factors, np.sqrt(np.maximum(squares, 0.0))
