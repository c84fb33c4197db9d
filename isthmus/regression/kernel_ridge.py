"""Kernel ridge regression with an intercept, solved in the dual: one Cholesky factorisation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas, lapack

from isthmus._linalg import Array


@dataclass(frozen=True)
class DualRidge:
    """The solution of ``(K + alpha W^-1) A + 1 b' = Y``, ``1'A = 0``, with the weights W of the rows.

    A prediction is ``k(x, X) @ dual_coef + intercept``. It equals ridge regression on all centred
    kernel components, whose eigenvectors are never needed.
    """

    dual_coef: Array  # A, (n, q)
    intercept: Array  # b, (q,)
    targets: Array  # Y, (n, q)
    ridge: Array  # alpha / weights, (n,)
    left_out: Array | None = None  # predictions of each row by the fit without it, if asked for

    @property
    def values(self) -> Array:
        """``K A``, the fitted values minus the intercept, (n, q)."""
        return self.targets - self.ridge[:, None] * self.dual_coef - self.intercept


def dual_ridge(
    K: Array,
    Y: Array,
    alpha: float,
    *,
    leave_one_out: bool = False,
    weights: Array | None = None,
) -> DualRidge | None:
    """Solve kernel ridge regression; None if ``K + alpha W^-1`` is not positive definite to rounding.

    ``K`` (n, n) is overwritten. ``weights`` are positive, None for ones.
    """
    n, q = Y.shape
    K = np.asarray(K, dtype=np.float64)
    ridge = np.full(n, alpha) if weights is None else alpha / weights
    K.flat[:: n + 1] += ridge
    factor, failed = lapack.dpotrf(
        K.T if K.flags.c_contiguous else K, lower=1, overwrite_a=1, clean=0
    )
    if failed:
        return None
    mean = np.average(Y, axis=0, weights=weights)  # centred outputs lose no digits to a large mean
    sides = np.empty((n, q + 1), order="F")  # solved in place: q may be n
    np.subtract(Y, mean, out=sides[:, :q])
    sides[:, q] = 1.0
    solved, _ = lapack.dpotrs(factor, sides, lower=1, overwrite_b=1)
    u = solved[:, q].copy()
    total = float(u.sum())
    offset = solved[:, :q].sum(axis=0) / total
    A = blas.dger(-1.0, u, offset, a=solved[:, :q], overwrite_a=1)  # less u times offset, in place
    intercept = mean + offset
    left_out = None
    # The residual of a left-out row is A_i / inverse_ii, with the intercept in it
    if leave_one_out:
        inverse, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
        left_out = Y - A / (inverse.diagonal() - u**2 / total)[:, None]
    return DualRidge(A, intercept, Y, ridge, left_out)
