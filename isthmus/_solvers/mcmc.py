"""Markov chain Monte Carlo on the geometries that are handed to it.

``hmc_step`` follows geodesics with momentum, ``DualAveraging`` finds step lengths during warm-up. A
``Flow`` is what Hamiltonian dynamics needs of one curved or flat part of the variables; those of
the Stiefel manifold and of flat space are in ``isthmus._geometry``.

>>> import numpy as np
>>> from isthmus._geometry import Stiefel, StiefelFlow
>>> from isthmus._solvers import hmc_step
>>> rng, F = np.random.default_rng(0), np.diag([3.0, 1.0, 0.0])[:, :2]
>>> def log_density(parts):  # matrix Langevin
...     return float((F * parts[0]).sum()), [F]
>>> point, flows = [Stiefel(3, 2).random_point(rng)], [StiefelFlow(3, 2)]
>>> value, gradient = log_density(point)
>>> draws = []
>>> for _ in range(500):
...     step = hmc_step(log_density, flows, point, value, gradient, step=0.3, n_steps=5, rng=rng)
...     point, value, gradient = step.point, step.log_density, step.gradient
...     draws.append(point[0])
>>> bool(np.mean(draws, axis=0)[0, 0] > 0.5)  # near the mode
True
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from isthmus._linalg import Array

Parts = list[Array]
LogDensity = Callable[[Parts], tuple[float, Parts]]

DIVERGENT = 1000.0
"""Energy error above which the integrator has left the trajectory."""


class Flow(Protocol):
    """One part of the variables: velocities, their energy, and free motion."""

    def velocity(self, point: Array, rng: np.random.Generator) -> Array:
        """Return a random velocity, Gaussian in the metric."""

    def energy(self, point: Array, velocity: Array) -> float:
        """Return the kinetic energy, half the squared length."""

    def force(self, point: Array, euclidean: Array) -> Array:
        """Return the change of velocity in unit time under a gradient of partial derivatives."""

    def move(self, point: Array, velocity: Array, time: float) -> tuple[Array, Array]:
        """Return point and velocity after free motion along the geodesic."""


@dataclass(frozen=True)
class Transition:
    """What one step of a sampler did."""

    point: Parts
    log_density: float
    gradient: Parts
    accept: float  # probability with which the end was accepted
    divergent: bool


def hmc_step(
    log_density: LogDensity,
    flows: Sequence[Flow],
    point: Parts,
    value: float,
    gradient: Parts,
    *,
    step: float,
    n_steps: int,
    rng: np.random.Generator,
) -> Transition:
    r"""One step of geodesic Hamiltonian Monte Carlo, [BG2013]_ Algorithm 1.

    Half a kick, motion along the geodesic, half a kick, ``n_steps`` times; the end is accepted with
    probability :math:`\min(1, e^{H_0 - H_1})`. The density is with respect to the Riemannian volume,
    which on the Stiefel manifold is the uniform measure.
    """
    start, slopes = point, gradient
    velocities = [flow.velocity(x, rng) for flow, x in zip(flows, point)]
    energy = value - _kinetic(flows, point, velocities)
    new_value = value
    with np.errstate(over="ignore", invalid="ignore"):  # of a trajectory that is lost, and refused
        for _ in range(n_steps):
            velocities = _kick(flows, point, velocities, slopes, step / 2)
            moved = [flow.move(x, v, step) for flow, x, v in zip(flows, point, velocities)]
            point = [x for x, _ in moved]
            velocities = [v for _, v in moved]
            new_value, slopes = log_density(point)
            if not (np.isfinite(new_value) and all(np.isfinite(g).all() for g in slopes)):
                new_value = -np.inf
                break
            velocities = _kick(flows, point, velocities, slopes, step / 2)
        gain = new_value - _kinetic(flows, point, velocities) - energy
    if not np.isfinite(gain):
        gain = -np.inf
    accept = float(np.exp(min(0.0, gain)))
    if rng.random() < accept:
        return Transition(point, new_value, slopes, accept, False)
    return Transition(start, value, gradient, accept, gain < -DIVERGENT)


def _kinetic(flows: Sequence[Flow], point: Parts, velocities: Parts) -> float:
    return sum(flow.energy(x, v) for flow, x, v in zip(flows, point, velocities))


def _kick(
    flows: Sequence[Flow], point: Parts, velocities: Parts, slopes: Parts, time: float
) -> Parts:
    return [
        v + time * flow.force(x, slope)
        for flow, x, v, slope in zip(flows, point, velocities, slopes)
    ]


@dataclass
class DualAveraging:
    """Step length whose mean acceptance is ``target``, [HG2014]_ Sec. 3.2."""

    step: float
    target: float = 0.8
    gamma: float = 0.05
    t0: float = 10.0
    kappa: float = 0.75
    count: int = 0
    error: float = 0.0
    log_average: float = 0.0
    centre: float = field(init=False)

    def __post_init__(self) -> None:
        self.centre = float(np.log(10 * self.step))

    def update(self, accept: float) -> None:
        """Take in the acceptance probability of a step of warm-up."""
        self.count += 1
        share = 1 / (self.count + self.t0)
        self.error += share * (self.target - accept - self.error)
        log_step = self.centre - np.sqrt(self.count) / self.gamma * self.error
        weight = self.count**-self.kappa
        self.log_average += weight * (log_step - self.log_average)
        self.step = float(np.exp(log_step))

    def settle(self) -> float:
        """The step length to keep after warm-up."""
        if self.count:
            self.step = float(np.exp(self.log_average))
        return self.step


def metropolis_accepts(gain: float, rng: np.random.Generator) -> tuple[bool, float]:
    """Whether a proposal whose log density (with its Hastings term) is higher by ``gain`` is taken."""
    accept = float(np.exp(min(0.0, gain))) if not np.isnan(gain) else 0.0
    return bool(rng.random() < accept), accept


def warmup_windows(n_warmup: int) -> list[int]:
    """Steps of warm-up after which variances are estimated afresh: ever longer windows."""
    if n_warmup < 40:
        return []
    first = n_warmup // 8
    ends = []
    width = max(10, n_warmup // 10)
    while first + width < 0.9 * n_warmup:
        first += width
        ends.append(first)
        width *= 2
    if ends:
        ends[-1] = int(0.9 * n_warmup)
    return ends
