"""How small the scale of residuals may become before it says nothing about errors any more.

A loss such as Huber's takes its parameter from the residuals of the fit. Two ordinary cases have none to
speak of: inputs that are many enough to interpolate, and outputs most of whose values are alike, as
indicators are.
"""

from __future__ import annotations

import numpy as np

from isthmus.linalg import Array
from isthmus.losses import robust_scale
from isthmus.losses.scale import weighted_median

_SHARE = 0.2  # of the scale at the start: robust fits end with smaller residuals, but not at none
_JUMP = 0.75  # of a jump between alike values and others: 1.345 of this is one whole jump
_AUTO_RIDGE = 1e-6


def least_scale(
    residual: Array,
    rows: Array,
    squares: Array,
    Y: Array,
    easy: Array,
    weights: Array | None,
    alpha: float,
) -> float:
    r"""A lower bound of the scale that is followed, from the residuals of the start.

    The largest of a fifth of their own scale, the scale of leave-one-out residuals, and three quarters of
    the jumps of outputs most of whose values are alike. The ridge on ``easy``, a copy of Y without
    gross outliers, has leave-one-out residuals in closed form [HTF2009]_ Sec. 7.10,

    .. math::
        \frac{y_i - \hat y_i}{1 - h_i}, \qquad
        h_i = \frac1n + \sum_k \frac{z_{ik}^2}{d_k^2 + \alpha}

    in principal coordinates z. They count by the share that a fit takes out of a residual, the median of
    h: with few inputs the residuals themselves say it all.
    """
    least = max(_SHARE * robust_scale(residual, weights), _JUMP * _jump(Y, weights))
    if not squares.size:
        return least
    alpha = max(alpha, _AUTO_RIDGE * float(squares[0]))
    weight = float(len(Y)) if weights is None else float(weights.sum())
    total = easy.sum(axis=0) if weights is None else weights @ easy
    centred = easy - total / weight
    cross = rows.T @ (centred if weights is None else centred * weights[:, None])
    left_out = centred - rows @ (cross / (squares + alpha)[:, None])
    leverage = 1.0 / weight + (rows**2) @ (1.0 / (squares + alpha))
    left_out /= np.maximum(1.0 - leverage, _AUTO_RIDGE)[:, None]
    return max(least, weighted_median(leverage, weights) * robust_scale(left_out, weights))


def _jump(Y: Array, weights: Array | None) -> float:
    """Median distance from the median of the entries that differ from it, where most do not; else 0."""
    middle = np.array([weighted_median(column, weights) for column in Y.T])
    distances = np.abs(Y - middle).ravel()
    mass = None if weights is None else np.repeat(weights, Y.shape[1])
    differs = distances > 0
    if not differs.any() or weighted_median(distances, mass) > 0:
        return 0.0
    return weighted_median(distances[differs], None if mass is None else mass[differs])
