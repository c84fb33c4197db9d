"""Where to begin: postures of every branch at a few samples, and the cheapest way through them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isthmus.applications.imitation.limb_task import Goal, LimbTask, solve_rows

Array = NDArray[np.float64]

SPACING = 0.8  # radians (or metres) by which the goal moves between samples with all branches
N_STARTS = 16  # postures from which each of them is solved
MOVE = 0.1  # price of a squared radian, against 1 for a squared radian of direction in one sample
TOO_FAST = (
    3.0  # price of a squared radian beyond what the speed limits allow: the arm is late, not lost
)


def starting_postures(task: LimbTask, n: int = N_STARTS) -> Array:
    """The middle of all ranges and random postures, the same ones for the same arm."""
    low, high = task.arm.limits.T
    rng = np.random.default_rng(0)
    inner = rng.uniform(0.1, 0.9, size=(n - 1, len(low)))
    return np.vstack([task.middle, low + inner * (high - low)])


def first_path(task: LimbTask, goal: Goal, dt: float, speed: Array) -> Array:
    """Return a path on one branch: solved at key samples, joined by dynamic programming, interpolated."""
    n = len(goal)
    keys = _key_samples(goal)
    starts = starting_postures(task)
    tiled = np.tile(starts, (len(keys), 1))
    states, costs = solve_rows(task, goal[keys].repeat(len(starts)), tiled, max_iter=10, tol=1e-3)
    states = states.reshape(len(keys), len(starts), -1)
    costs = costs.reshape(len(keys), len(starts)) * (
        n / len(keys)
    )  # each stands for its neighbours
    chosen = _cheapest_way(states, costs, np.diff(keys) * dt, speed)
    at = np.arange(n)
    return np.stack([np.interp(at, keys, column) for column in chosen.T], axis=1)


def _key_samples(goal: Goal) -> NDArray[np.intp]:
    """Samples between which directions and tip have moved by about the same, both ends included."""
    parts = [x for x in (goal.upper, goal.fore, goal.tip) if x is not None]
    moved = sum(np.linalg.norm(np.diff(x, axis=0), axis=1) for x in parts)
    way = np.concatenate([[0.0], np.cumsum(moved)])
    marks = np.searchsorted(way, np.arange(0.0, way[-1], SPACING))
    return np.unique(np.append(marks, [0, len(way) - 1])).astype(np.intp)


def _cheapest_way(states: Array, costs: Array, times: Array, speed: Array) -> Array:
    """Viterbi's recursion over (n_keys, n_states, n_joints)."""
    total = costs[0]
    back = np.zeros(costs.shape, dtype=np.intp)
    for k, time in enumerate(times, start=1):
        moves = np.abs(states[k][:, None] - states[k - 1][None])
        price = MOVE * (moves**2).sum(axis=2)
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
