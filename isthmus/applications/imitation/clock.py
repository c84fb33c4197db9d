"""A person's clock that runs slower where the arm's limits bind, and only there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline, PchipInterpolator
from scipy.ndimage import maximum_filter1d, uniform_filter1d

Array = NDArray[np.float64]

RESERVE = (
    0.97  # share of a limit that the slower clock asks for: the solver has the rest to smooth in
)
_NEIGHBOURS = 3  # intervals over which the pace may change
_MOST_ROUNDS = 200  # of slowing down for accelerations


def interval_times(q: Array, dt: float, velocity: Array, acceleration: Array) -> Array:
    """Return the seconds that each interval of a path needs within the limits, at least ``dt``, (n - 1,).

    Speeds say it at once. For accelerations, which depend on neighbours, both intervals of a sample are
    made longer until all samples keep them.
    """
    way = np.diff(q, axis=0)
    times = np.maximum(dt, (np.abs(way) / (RESERVE * velocity)).max(axis=1))
    times = even_pace(times)
    if not np.isfinite(acceleration).any() or len(way) < 2:
        return times
    for _ in range(_MOST_ROUNDS):
        speed = way / times[:, None]
        rate = np.abs(np.diff(speed, axis=0)) * 2 / (times[1:] + times[:-1])[:, None]
        over = (rate / (RESERVE * acceleration)).max(axis=1)
        if not (over > 1.0).any():
            break
        longer = np.sqrt(np.clip(over, 1.0, 1.5))  # both speeds and their spacing change
        times[1:] *= longer
        times[:-1] *= longer
    return times


def even_pace(times: Array) -> Array:
    """Let the pace change over a few intervals; no interval becomes shorter."""
    widest = maximum_filter1d(times, _NEIGHBOURS, mode="nearest")
    return uniform_filter1d(widest, _NEIGHBOURS, mode="nearest")


def read_clock(times: Array, dt: float) -> Array:
    """Return where in the clip, counted in its samples, an arm is at 0, dt, 2 dt, ... (n_out,)."""
    at = np.concatenate([[0.0], np.cumsum(times)])
    n_out = int(np.ceil(at[-1] / dt - 1e-6)) + 1
    moments = np.linspace(0.0, at[-1], n_out)  # a little less than dt apart: slower, never faster
    return np.clip(PchipInterpolator(at, np.arange(len(at)))(moments), 0.0, len(at) - 1.0)


def sampled(values: Array, places: Array) -> Array:
    """Return rows between samples: a cubic spline through all of them."""
    if len(values) < 4:
        at = np.arange(len(values))
        return np.stack([np.interp(places, at, column) for column in values.T], axis=1)
    return CubicSpline(np.arange(len(values)), values)(places)
