"""Where outputs lie, how far they spread, and how small the scale of their residuals may become.

A loss such as Huber's takes its parameter from the residuals of the fit, output by output. Three ordinary
cases have none to speak of: inputs that are many enough to interpolate, outputs most of whose values are
alike, as indicators are, and outputs that are fitted exactly.
"""

from __future__ import annotations

import numpy as np

from isthmus._linalg import Array, weighted_median
from isthmus.losses import Loss, ResidualLoss, column_medians, robust_scales

_WINSOR = 4.0  # deviations at which a copy of Y is clipped for the start
_JUMP = 0.75  # of a jump between alike values and others: 1.345 of this is one whole jump
# Of the spread of an output: an exact fit has no scale, and must not outweigh all others
_LEAST = 1e-3
_AUTO_RIDGE = 1e-6  # of the largest squared singular value, and the least share of a row left out


def middle_and_spread(Y: Array, weights: Array | None) -> tuple[Array, Array]:
    """Median and robust spread of each output; 1 for one that does not vary."""
    spread = robust_scales(Y, weights)
    return column_medians(Y, weights), np.where(spread > 0, spread, 1.0)


def winsorise(Y: Array, loss: Loss, weights: Array | None) -> Array:
    """A copy of Y for the start: outliers clipped, or the targets that suit a link function."""
    Y = np.asarray(loss.start_targets(Y), dtype=np.float64)
    if not isinstance(loss, ResidualLoss):
        return Y
    middle, spread = middle_and_spread(Y, weights)
    return np.clip(Y, middle - _WINSOR * spread, middle + _WINSOR * spread)


def ridge_residuals(
    rows: Array, squares: Array, Y: Array, easy: Array, weights: Array | None, alpha: float
) -> tuple[Array, Array]:
    r"""Residuals of the ridge without a rank constraint, and the lower bounds they give to scales, (q,).

    The ridge is fitted to ``easy``, a copy of Y without gross outliers. A scale of residuals is at least
    that of those left out, three quarters of the jumps of an output most of whose values are alike, and a
    thousandth of the spread of the output. Residuals left out have a closed form [HTF2009]_ Sec. 7.10,

    .. math::
        \frac{y_i - \hat y_i}{1 - h_i}, \qquad
        h_i = \frac1n + \sum_k \frac{z_{ik}^2}{d_k^2 + \alpha}

    in principal coordinates z. They count by the share that a fit takes out of a residual, the median of
    h: with few inputs the residuals themselves are enough.
    """
    least = np.maximum(_JUMP * _jumps(Y, weights), _LEAST * middle_and_spread(Y, weights)[1])
    if weights is not None and weights.sum() < len(Y):
        # Less than one per row: relative weights, not copies.
        common = len(Y) / float(weights.sum())
        weights = weights * common
        squares = squares * common
        alpha = alpha * common
    weight = float(len(Y)) if weights is None else float(weights.sum())
    mean = (easy.sum(axis=0) if weights is None else weights @ easy) / weight
    if not squares.size:
        return Y - mean, least
    alpha = max(alpha, _AUTO_RIDGE * float(squares[0]))
    centred = easy - mean
    cross = rows.T @ (centred if weights is None else centred * weights[:, None])
    fitted = rows @ (cross / (squares + alpha)[:, None])
    leverage = 1.0 / weight + (rows**2) @ (1.0 / (squares + alpha))
    left_out = (centred - fitted) / np.maximum(1.0 - leverage, _AUTO_RIDGE)[:, None]
    share = weighted_median(leverage, weights)
    return Y - mean - fitted, np.maximum(least, share * robust_scales(left_out, weights))


def _jumps(Y: Array, weights: Array | None) -> Array:
    """Median distance of the entries that differ from the median, if fewer than half do; else 0."""
    distances = np.abs(Y - column_medians(Y, weights))
    jumps = np.zeros(Y.shape[1])
    for j in np.flatnonzero(column_medians(distances, weights) == 0):
        differs = distances[:, j] > 0
        if differs.any():
            mass = None if weights is None else weights[differs]
            jumps[j] = weighted_median(distances[differs, j], mass)
    return jumps
