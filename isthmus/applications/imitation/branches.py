"""Where to begin: postures of every branch at a few samples, and the cheapest way through them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isthmus.applications.imitation.limb_task import Goal, LimbTask, solve_rows

Array = NDArray[np.float64]

SPACING = 0.25  # seconds between the samples at which all branches are looked at
N_STARTS = 10  # postures from which each of them is solved
TOO_FAST = 100.0  # price of a squared radian beyond what the speed limits allow


def starting_postures(task: LimbTask, n: int = N_STARTS) -> Array:
    """The middle of all ranges and random postures, the same ones for the same arm."""
    low, high = task.arm.limits.T
    rng = np.random.default_rng(0)
    inner = rng.uniform(0.1, 0.9, size=(n - 1, len(low)))
    return np.vstack([task.middle, low + inner * (high - low)])


def first_path(task: LimbTask, goal: Goal, dt: float, speed: Array) -> Array:
    """Return a path on one branch: solved at key samples, joined by dynamic programming, interpolated."""
    n = len(goal)
    stride = max(1, round(SPACING / dt))
    keys = np.unique(np.append(np.arange(0, n, stride), n - 1))
    starts = starting_postures(task)
    tiled = np.tile(starts, (len(keys), 1))
    states, costs = solve_rows(task, goal[keys].repeat(len(starts)), tiled, max_iter=12, tol=1e-3)
    states = states.reshape(len(keys), len(starts), -1)
    costs = costs.reshape(len(keys), len(starts))
    chosen = _cheapest_way(states, costs, np.diff(keys) * dt, speed)
    at = np.arange(n)
    return np.stack([np.interp(at, keys, column) for column in chosen.T], axis=1)


def _cheapest_way(states: Array, costs: Array, times: Array, speed: Array) -> Array:
    """Viterbi's recursion over (n_keys, n_states, n_joints)."""
    total = costs[0]
    back = np.zeros(costs.shape, dtype=np.intp)
    for k, time in enumerate(times, start=1):
        moves = np.abs(states[k][:, None] - states[k - 1][None])
        price = (moves**2).sum(axis=2)
        price += TOO_FAST * (np.maximum(moves - speed * time, 0.0) ** 2).sum(axis=2)
        ways = total[None] + price
        back[k] = ways.argmin(axis=1)
        total = ways.min(axis=1) + costs[k]
    state = int(total.argmin())
    chosen = [states[-1][state]]
    for k in range(len(costs) - 1, 0, -1):
        state = int(back[k][state])
        chosen.append(states[k - 1][state])
    return np.array(chosen[::-1])
