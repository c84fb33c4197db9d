r"""Moves along the factors of one map.

``A G`` and ``D G^{-T}`` are factors of the same map for every invertible G, and the data cannot tell
them apart. Sweeps that draw A given D and D given A follow this orbit in small steps, since each factor
tells the other its scale: where few directions of the inputs carry information (collinear columns), the
balance of the two is what mixes slowest, and with it all that the prior decides. Here the balance is
drawn from its own law given the map.
"""

from __future__ import annotations

from collections.abc import Callable
from math import cosh, exp, expm1, log, log1p, sinh, sqrt

import numpy as np

from isthmus._linalg import Array

_SMALL_WITH_SQUARE = 1e-100  # its square is still a number


def draw_rebalancing(
    A: Array, D: Array, precision: float, rng: np.random.Generator
) -> tuple[Array, Array]:
    r"""A reflection R and factors c such that ``A R diag(c)``, ``D R / c`` have the law of A, D.

    No law here feels a reflection. Under the normal prior with precision :math:`\lambda`, with the
    Jacobian :math:`\prod c_i^{k - q}` of the action (A has k rows, D has q) and the invariant measure
    :math:`\prod dc_i / c_i` ([LS2000]_), the factors are independent given the map:

    .. math::
        p(c_i^2 = x) \propto x^{(k - q)/2 - 1}
        \exp\{-\tfrac{\lambda}{2} (\|a_i\|^2 x + \|d_i\|^2 / x)\}

    with :math:`a_i, d_i` the reflected columns: generalised inverse Gaussian laws.
    """
    u = rng.standard_normal((A.shape[1],))
    reflection = np.multiply.outer(u, u * (-2 / (u @ u)))
    reflection.flat[:: len(u) + 1] += 1
    left, right = A @ reflection, D @ reflection
    a = np.add.reduce(left * left).tolist()
    d = np.add.reduce(right * right).tolist()
    order = (len(A) - len(D)) / 2
    squares = [
        generalised_inverse_gaussian(order, precision * x, precision * y, rng) for x, y in zip(a, d)
    ]
    return reflection, np.sqrt(squares)


def generalised_inverse_gaussian(p: float, a: float, b: float, rng: np.random.Generator) -> float:
    r"""A variate with density :math:`\propto x^{p-1} e^{-(a x + b / x) / 2}`, a, b > 0.

    By rejection from a flat middle and exponential tails in log x, [D2014]_.
    """
    a, b = max(a, _SMALL_WITH_SQUARE), max(b, _SMALL_WITH_SQUARE)
    order, omega = abs(p), sqrt(a * b)
    alpha = omega * omega / (sqrt(omega * omega + order * order) + order)  # sqrt(..) - order
    mode = (order + sqrt(omega * omega + order * order)) / omega
    x = mode * exp(_draw_log_ratio(alpha, order, rng))
    return sqrt(b / a) * (x if p >= 0 else 1 / x)


def _draw_log_ratio(alpha: float, order: float, rng: np.random.Generator) -> float:
    """Log of the variate over its mode: log density -alpha (cosh t - 1) - order (e^t - t - 1)."""

    def log_density(t: float) -> float:
        return -alpha * (cosh(t) - 1) - order * (expm1(t) - t)

    def slope(t: float) -> float:
        return -alpha * sinh(t) - order * expm1(t)

    right, left = _shoulders(alpha, order, log_density)
    fall_right = -log_density(right)
    fall_left = -log_density(-left)
    width_right = -1 / slope(right)
    width_left = 1 / slope(-left)
    end_right = right - width_right * fall_right
    end_left = left - width_left * fall_left
    middle = end_left + end_right
    total = width_left + middle + width_right
    while True:
        where, v, height = rng.random(3).tolist()
        where *= total
        if where < middle:
            t, bound = middle * v - end_left, 0.0
        elif where < middle + width_right:
            t = end_right - width_right * log1p(-v)
            bound = -fall_right - (t - right) / width_right
        else:
            t = -end_left + width_left * log1p(-v)
            bound = -fall_left + (t + left) / width_left
        if log(1 - height) + bound <= log_density(t):
            return t


def _shoulders(
    alpha: float, order: float, log_density: Callable[[float], float]
) -> tuple[float, float]:
    """Distances from the mode, to the right and left, at which the density is about exp(-1) of it."""
    fall = -log_density(1.0)
    if 0.5 <= fall <= 2:
        right = 1.0
    elif fall > 2:
        right = sqrt(2 / (alpha + order))
    else:
        right = log(4 / (alpha + 2 * order))
    fall = -log_density(-1.0)
    if 0.5 <= fall <= 2:
        left = 1.0
    elif fall > 2:
        left = sqrt(4 / (alpha * cosh(1) + order))
    else:
        left = log1p((1 + sqrt(1 + 2 * alpha)) / alpha)
        left = min(1 / order, left) if order else left
    return right, left
