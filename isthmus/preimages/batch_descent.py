"""Many small minimisations at once: limited memory BFGS in a box, one step of all of them a call."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import Array

Objective = Callable[[Array, NDArray], tuple[Array, Array]]

_BATCH_PAIRS = 8  # pairs of step and change of gradient
_BACKTRACKS = 25  # halvings take a step below the rounding of float32
_ARMIJO = 1e-4  # share of the promised decrease that a step must reach
_SETTLED_SLOPE = 1e3  # times tol: a slope below it, with no decrease to be found, has settled


def minimise_batch(
    objective: Objective,
    start: Array,
    lower: Array,
    upper: Array,
    max_iter: int,
    tol: float,
) -> tuple[Array, Array, NDArray]:
    """Minimise independent smooth functions, each over its own row, within a box.

    Two-metric projection, [B1982]_: entries that sit at a bound and would leave the box are held, the
    others take a quasi-Newton step, which is projected back and halved until the value falls enough.

    Parameters
    ----------
    objective : callable
        ``objective(Z, rows)`` gives values (m,) and gradients (m, d) at the points ``Z`` (m, d) of
        the problems ``rows`` (m,).
    start : array of shape (t, d)
        One start a problem.
    lower, upper : arrays of shape (d,)
        The box; infinite where there is none.
    max_iter : int
        Most steps.
    tol : float
        A problem has settled when no entry of its projected gradient is larger.

    Returns
    -------
    points, values, settled : arrays of shape (t, d), (t,), (t,)
        The points reached, their values, and which of them have settled.
    """
    Z = np.clip(start, lower, upper)
    rows = np.arange(len(Z))
    value, gradient = objective(Z, rows)
    values = value.copy()
    settled = np.zeros(len(Z), dtype=bool)
    pairs: list[tuple[Array, Array]] = []
    for iteration in range(max_iter + 1):
        size = np.abs(np.clip(Z[rows] - gradient, lower, upper) - Z[rows]).max(axis=1)
        settled[rows[size <= tol]] = True
        keep = size > tol
        rows, value, gradient = rows[keep], value[keep], gradient[keep]
        pairs = [(s[keep], y[keep]) for s, y in pairs]
        if not len(rows) or iteration == max_iter:
            break
        here = Z[rows]
        held = ((here <= lower) & (gradient > 0)) | ((here >= upper) & (gradient < 0))
        free_gradient = np.where(held, 0.0, gradient)
        direction = _direction(free_gradient, pairs, ~held)
        trial, new_value, new_gradient, found = _search(
            objective, rows, here, value, free_gradient, direction, (lower, upper)
        )
        Z[rows], values[rows] = trial, new_value
        pairs = [*pairs[-(_BATCH_PAIRS - 1) :], (trial - here, new_gradient - gradient)]
        if not found.all():  # no smaller value to be found: rounding, where the slope is small too
            settled[rows[~found]] = size[keep][~found] <= _SETTLED_SLOPE * tol
            rows = rows[found]
            new_value = new_value[found]
            new_gradient = new_gradient[found]
            pairs = [(s[found], y[found]) for s, y in pairs]
        value, gradient = new_value, new_gradient
    return Z, values, settled


def _direction(gradient: Array, pairs: list[tuple[Array, Array]], free: Array) -> Array:
    """Two-loop recursion on the free entries; a pair without positive curvature is passed over."""
    q, steps = gradient.copy(), []
    gamma = None
    for s, y in reversed(pairs):
        s = np.where(free, s, 0.0)
        y = np.where(free, y, 0.0)
        curvature = (s * y).sum(axis=1)
        good = curvature > 1e-12 * np.sqrt((s**2).sum(axis=1) * (y**2).sum(axis=1))
        rho = np.where(good, 1.0 / np.where(good, curvature, 1.0), 0.0)
        if gamma is None:
            squared = (y**2).sum(axis=1)
            gamma = np.where(
                good & (squared > 0), curvature / np.where(squared > 0, squared, 1.0), np.nan
            )
        a = rho * (s * q).sum(axis=1)
        q -= a[:, None] * y
        steps.append((s, y, rho, a))
    length = np.maximum(np.sqrt((gradient**2).sum(axis=1)), np.finfo(float).tiny)
    first = np.minimum(1.0, 1.0 / length)
    q *= (first if gamma is None else np.where(np.isnan(gamma), first, gamma))[:, None]
    for s, y, rho, a in reversed(steps):
        q += (a - rho * (y * q).sum(axis=1))[:, None] * s
    direction = -np.where(free, q, 0.0)
    uphill = (direction * gradient).sum(axis=1) >= 0
    direction[uphill] = -gradient[uphill]
    return direction


def _search(
    objective: Objective,
    rows: NDArray,
    here: Array,
    value: Array,
    gradient: Array,
    direction: Array,
    box: tuple[Array, Array],
) -> tuple[Array, Array, Array, NDArray]:
    """Halve the projected steps of those problems whose value has not fallen enough."""
    step = np.ones(len(rows))
    trial = np.clip(here + direction, *box)
    new_value, new_gradient = objective(trial, rows)
    for _ in range(_BACKTRACKS):
        wanted = value + _ARMIJO * ((trial - here) * gradient).sum(axis=1)
        bad = ~(new_value <= wanted)
        if not bad.any():
            break
        step[bad] *= 0.5
        trial[bad] = np.clip(here[bad] + step[bad, None] * direction[bad], *box)
        new_value[bad], new_gradient[bad] = objective(trial[bad], rows[bad])
    else:
        bad = ~(new_value <= value + _ARMIJO * ((trial - here) * gradient).sum(axis=1))
    trial[bad] = here[bad]
    new_value[bad] = value[bad]
    return trial, new_value, new_gradient, ~bad
