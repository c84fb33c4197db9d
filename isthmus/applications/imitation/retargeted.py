"""What comes out of a retargeted clip: postures, errors, and which moment of the clip each shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

REACHED_ANGLE = np.radians(2.0)
REACHED_TIP = 1e-3


@dataclass(frozen=True)
class Retargeted:
    """A movement of the arm that can be executed, and how near it comes to the person's.

    Attributes
    ----------
    q : ndarray of shape (n, n_joints)
        Postures; no sample exceeds a limit of position, speed or acceleration.
    dt : float
        Seconds between samples.
    errors : dict of str to ndarray of shape (n,)
        Angles in radians of ``upper``, ``fore``, ``hand``, ``palm`` and ``normal`` to the person's, and the
        distance of the ``tip`` from its target in metres; the parts that were asked for, and always
        ``upper`` and ``fore``.
    reached : ndarray of bool, shape (n,)
        Whether the arm is within 2 degrees and 1 mm of what was asked for.
    reachable : ndarray of bool, shape (n,)
        Whether any posture inside the position limits that was found is. False: the sample is
        approached as near as the solver got. True but not reached: a limit of speed or acceleration, the
        smoothing, or a compromise between objectives.
    converged : bool
        Whether the solver ended because its steps had become small.
    n_iter : int
        Its iterations.
    clock : ndarray of shape (n,)
        The moment of the clip, in seconds of the person, that each sample shows.
    """

    q: Array
    dt: float
    errors: dict[str, Array]
    reached: NDArray[np.bool_]
    reachable: NDArray[np.bool_]
    converged: bool
    n_iter: int
    clock: Array

    @property
    def slowdown(self) -> float:
        """How many times the person's time the whole movement takes."""
        return float(self.dt * (len(self.q) - 1) / (self.clock[-1] - self.clock[0]))

    @property
    def pace(self) -> Array:
        """How many times slower than the person each interval is played, (n - 1,)."""
        return self.dt / np.maximum(np.diff(self.clock), 1e-9 * self.dt)

    @property
    def velocity(self) -> Array:
        """Joint velocities between samples, (n - 1, n_joints)."""
        return np.diff(self.q, axis=0) / self.dt

    @property
    def acceleration(self) -> Array:
        """Joint accelerations, (n - 2, n_joints)."""
        return np.diff(self.q, n=2, axis=0) / self.dt**2

    @property
    def jerk(self) -> Array:
        """Third derivatives, (n - 3, n_joints)."""
        return np.diff(self.q, n=3, axis=0) / self.dt**3


def is_within(errors: Mapping[str, ArrayLike], asked: list[str]) -> NDArray[np.bool_]:
    """Whether all parts that were asked for are within 2 degrees and 1 mm."""
    bounds = {"tip": REACHED_TIP}
    within = [np.asarray(errors[name]) <= bounds.get(name, REACHED_ANGLE) for name in asked]
    return np.all(within, axis=0)
