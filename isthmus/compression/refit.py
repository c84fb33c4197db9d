"""Coefficients that fit the outputs on the training rows, for every size at once, and their ridge."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, solve_triangular

from isthmus._linalg import Array
from isthmus.kernels import back_to_points

RIDGE = 1e-10  # of the mean squared column: points alike would make the system singular
_WEIGHTS = np.geomspace(1e-6, 10.0, 15)  # of the mean squared column
_BETTER = 0.98  # a ridge must lower the error of left-out rows by two per cent to be taken
_LOSSLESS = 1e-6  # of the outputs' squares: a fit as good as that is left as it is
_SPANNED = 1e-8  # of its squared length: a row with less left is one of the points
_FEWEST_ROWS, _MOST_ROWS = 20, 1024  # left-out rows, by which the ridge is chosen


@dataclass
class OutputFit:
    """Triangular system whose leading blocks are the least squares fits with 0, 1, .., r points."""

    R: Array  # (r + 1, r + 1), the first column is the constant
    QtC: Array  # (r + 1, p)
    errors: Array  # (r + 1,): squared errors with 0, .., r points over those of the best constant
    triangle: Array  # (r, r) Cholesky factor of the points
    unseen: tuple[Array, Array] | None = None  # basis and outputs of rows that are no points
    weights: dict[int, float] = field(default_factory=dict)  # ridge of the sizes asked for so far

    def coefficients(self, size: int) -> tuple[Array, Array]:
        """Coefficients (size, p) of the first ``size`` points and intercepts (p,)."""
        R, right = self.R[: size + 1, : size + 1], self.QtC[: size + 1]
        weight = self.ridge(size)
        if weight:
            penalty = np.sqrt(weight) * np.eye(size + 1)[1:]
            system = np.vstack([np.hstack([R, right]), np.hstack([penalty, 0.0 * right[1:]])])
            system = qr(system, mode="r", overwrite_a=True, check_finite=False)[0]
            R = system[: size + 1, : size + 1]
            right = system[: size + 1, size + 1 :]
        T = solve_triangular(R, right)
        return back_to_points(self.triangle[:size, :size], T[1:]), T[0]

    def ridge(self, size: int) -> float:
        r"""Weight of :math:`\sum_j |\hat w_j|^2` with which left-out rows are met best; 0 where none helps.

        The points were chosen because they matter, so a fit of the outputs of a model that follows noise
        relies on them too much. The error of leaving out a row, in closed form, tells: at rows
        that are no points, since at the points it is as small as the choice made it.
        """
        if self.unseen is None or not size or self.errors[size] <= _LOSSLESS:
            return 0.0
        if size not in self.weights:
            weights, errors = self.left_out(size)
            best = int(np.argmin(errors))
            is_better = errors[best] < _BETTER * errors[0]
            self.weights[size] = float(weights[best]) if is_better else 0.0
        return self.weights[size]

    def left_out(self, size: int) -> tuple[Array, Array]:
        """Ridge weights, the first of them zero, and the squared errors of rows left out with each."""
        R = self.R[1 : size + 1, 1 : size + 1]  # of the centred basis
        values, vectors = np.linalg.eigh(R.T @ R)
        scale = float(values.sum()) / size
        values = np.maximum(values, RIDGE * scale)
        assert self.unseen is not None
        rows, outputs = self.unseen
        mean = self.R[0, 1 : size + 1] / self.R[0, 0]
        constant = self.QtC[0] / self.R[0, 0]
        A = (rows[:, :size] - mean) @ vectors
        b = vectors.T @ (R.T @ self.QtC[1 : size + 1])
        weights = np.concatenate([[0.0], _WEIGHTS * scale])
        errors = []
        for weight in weights:
            left = outputs - constant - A @ (b / (values + weight)[:, None])
            leverage = 1.0 / self.R[0, 0] ** 2 + A**2 @ (1.0 / (values + weight))
            # A row that the fit reproduces whatever it is has no residual to divide.
            free = np.maximum(1.0 - leverage, 1e-12)
            errors.append(float(((left / free[:, None]) ** 2).sum()))
        return weights, np.array(errors)


def fit_outputs(
    blocks: Iterable[tuple[Array, Array]],
    triangle: Array,
    T: Array,
    *,
    lengths: Array | None = None,
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
    lengths : array of shape (n,), default=None
        ``k(x, x)`` of all rows. It tells which rows are none of the points; by these the ridge is
        chosen. None: no ridge.

    Returns
    -------
    fit : OutputFit
        The fits of all sizes.
    """
    r = len(triangle)
    kept: Array | None = None
    seen, parts = 0, []
    for values, outputs in blocks:
        F = solve_triangular(triangle, values.T, lower=True).T if r else values
        if lengths is not None:
            some = _no_points(F, lengths[seen : seen + len(F)], len(F) / len(lengths))
            parts.append((F[some], outputs[some]))
            seen += len(F)
        rows = np.hstack([np.ones((len(F), 1)), F, outputs])
        kept = rows if kept is None else np.vstack([kept, rows])
        if len(kept) > kept.shape[1]:
            kept = qr(kept, mode="r", overwrite_a=True, check_finite=False)[0][: kept.shape[1]]
    assert kept is not None
    p = kept.shape[1] - r - 1
    scale = float((kept[:, 1 : r + 1] ** 2).sum()) / max(r, 1)
    ridge = np.zeros((r, kept.shape[1]))
    ridge[:, 1 : r + 1] = np.sqrt(RIDGE * scale) * np.eye(r)
    ridge[:, r + 1 :] = np.sqrt(RIDGE * scale) * T
    R = qr(np.vstack([kept, ridge]), mode="r", check_finite=False)[0]
    R = np.vstack([R, np.zeros((max(0, r + 1 - len(R)), R.shape[1]))])
    QtC = R[: r + 1, r + 1 :]
    rest = float((R[r + 1 :, r + 1 :] ** 2).sum()) if p else 0.0
    gains = (QtC[1:] ** 2).sum(axis=1)
    squared = rest + np.concatenate([np.cumsum(gains[::-1])[::-1], [0.0]])
    total = squared[0] if squared[0] > 0 else 1.0
    fit = OutputFit(R[: r + 1, : r + 1], QtC, squared / total, triangle)
    if sum(len(part[0]) for part in parts) >= _FEWEST_ROWS:
        fit.unseen = np.vstack([part[0] for part in parts]), np.vstack([part[1] for part in parts])
    return fit


def _no_points(F: Array, lengths: Array, share: float) -> NDArray:
    """Rows whose images the points do not span, thinned evenly to a share of ``_MOST_ROWS``."""
    outside = lengths - np.einsum("ij,ij->i", F, F) > _SPANNED * lengths
    rows = np.flatnonzero(outside)
    most = int(np.ceil(share * _MOST_ROWS))
    if len(rows) <= most:
        return rows
    return rows[np.linspace(0, len(rows) - 1, most).astype(np.intp)]
