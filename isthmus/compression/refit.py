"""Coefficients that fit the outputs on the training rows, for every size at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr, solve_triangular

from isthmus.compression.pursuit import back_to_points
from isthmus.linalg import Array

_RIDGE = 1e-10  # of the mean squared column


@dataclass
class OutputFit:
    """Triangular system whose leading blocks are the least squares fits with 0, 1, .., r points."""

    R: Array  # (r + 1, r + 1), the first column is the constant
    QtC: Array  # (r + 1, p)
    errors: Array  # (r + 1,): squared errors with 0, .., r points over those of the best constant
    triangle: Array  # (r, r) Cholesky factor of the points

    def coefficients(self, size: int) -> tuple[Array, Array]:
        """Coefficients (size, p) of the first ``size`` points and intercepts (p,)."""
        T = solve_triangular(self.R[: size + 1, : size + 1], self.QtC[: size + 1])
        return back_to_points(self.triangle[:size, :size], T[1:]), T[0]


def fit_outputs(
    blocks: Iterable[tuple[Array, Array]], triangle: Array, T: Array, *, in_basis: bool = False
) -> OutputFit:
    """Least squares of outputs on kernel values, [B2006]_ Sec. 4.3 corrected.

    The coefficients of the nearest functions only interpolate at the chosen points; these fit the
    values at all rows. The kernel values are first turned into the orthonormal basis of the chosen
    images, in which the problem is well conditioned; rows come in blocks and are forgotten.

    Parameters
    ----------
    blocks : iterable of (kernel values (m, r), outputs (m, p))
        Rows; the points in columns, in the order in which they were chosen.
    triangle : array of shape (r, r)
        Lower Cholesky factor of the kernel matrix of the points.
    T : array of shape (r, p)
        The nearest functions in that basis. A tiny ridge pulls towards them, not towards zero, so
        that a compression that loses nothing changes nothing.
    in_basis : bool, default=False
        Whether the blocks hold the orthonormal basis already, not kernel values.

    Returns
    -------
    fit : OutputFit
        The fits of all sizes.
    """
    r = len(triangle)
    kept: Array | None = None
    for values, outputs in blocks:
        F = solve_triangular(triangle, values.T, lower=True).T if r and not in_basis else values
        rows = np.hstack([np.ones((len(F), 1)), F, outputs])
        kept = rows if kept is None else np.vstack([kept, rows])
        if len(kept) > kept.shape[1]:
            kept = qr(kept, mode="r", overwrite_a=True, check_finite=False)[0][: kept.shape[1]]
    assert kept is not None
    p = kept.shape[1] - r - 1
    scale = float((kept[:, 1 : r + 1] ** 2).sum()) / max(r, 1)
    ridge = np.zeros((r, kept.shape[1]))
    ridge[:, 1 : r + 1] = np.sqrt(_RIDGE * scale) * np.eye(r)
    ridge[:, r + 1 :] = np.sqrt(_RIDGE * scale) * T
    R = qr(np.vstack([kept, ridge]), mode="r", check_finite=False)[0]
    R = np.vstack([R, np.zeros((max(0, r + 1 - len(R)), R.shape[1]))])
    QtC = R[: r + 1, r + 1 :]
    rest = float((R[r + 1 :, r + 1 :] ** 2).sum()) if p else 0.0
    gains = (QtC[1:] ** 2).sum(axis=1)
    squared = rest + np.concatenate([np.cumsum(gains[::-1])[::-1], [0.0]])
    total = squared[0] if squared[0] > 0 else 1.0
    return OutputFit(R[: r + 1, : r + 1], QtC, squared / total, triangle)
