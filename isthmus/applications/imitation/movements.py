"""Spatio-temporal morphable models: correspondence in space and time, and mixtures of movements."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isthmus.applications.imitation.checks import check_non_negative, check_trajectory

Array = NDArray[np.float64]

# Samples to which every movement is resampled before it is compared.
N_SAMPLES = 100
# Weight of warping time beside matching places, in a movement of unit size.
LAM_TIME = 1e-3
_STEPS = ((1, 1), (1, 2), (2, 1))


@dataclass(frozen=True)
class Correspondence:
    """How one trajectory arises from another by shifts in time and in space.

    Attributes
    ----------
    tau : ndarray of shape (n,)
        Shift in time: sample t of the other corresponds to time ``t + tau`` of the reference.
    xi : ndarray of shape (n, d)
        Shift in space: ``other(t) - reference(t + tau(t))``.
    cost : float
        Sum of the local costs along the best path.
    """

    tau: Array
    xi: Array
    cost: float


def resample(trajectory: ArrayLike, n_samples: int = N_SAMPLES) -> Array:
    """Interpolate a trajectory linearly at evenly spaced times from its begin to its end."""
    values = check_trajectory(trajectory, "trajectory")
    return interpolate(values, np.linspace(0, 1, n_samples))


def interpolate(values: Array, times: Array) -> Array:
    """The rows of evenly sampled values at times in [0, 1], linearly between them."""
    grid = np.linspace(0, 1, len(values))
    return np.stack([np.interp(times, grid, column) for column in values.T], axis=1)


def correspondence(reference: ArrayLike, other: ArrayLike, lam: float = LAM_TIME) -> Correspondence:
    r"""Match two trajectories of the same length by dynamic programming.

    Minimises over strictly increasing paths with steps (1, 1), (1, 2) and (2, 1) the sum of

    .. math::
        c(i, j) = \frac{|o_i - r_j|^2}{\operatorname{var}(r) + \operatorname{var}(o)}
                  + \lambda (t_i - t_j)^2

    where a step (2, 1) also pays :math:`c(i - 1, j)`, so that the slope of :math:`t + \tau(t)` lies in
    [1/2, 2]; [B2006]_ Sec. 5.2.

    Parameters
    ----------
    reference, other : array-like of shape (n, d)
        Trajectories, evenly sampled (:func:`resample`).
    lam : float, default=1e-3
        Weight of shifts in time.
    """
    reference = check_trajectory(reference, "reference")
    other = check_trajectory(other, "other")
    lam = check_non_negative(lam, "lam")
    if reference.shape != other.shape:
        raise ValueError(
            f"reference has shape {reference.shape} and other {other.shape}: resample them to the "
            "same number of samples."
        )
    n = len(reference)
    t = np.linspace(0, 1, n)
    local = _local_costs(reference, other, lam)
    total, choice = _accumulate(local)
    s = _path(choice, n, t)
    return Correspondence(
        tau=s - t, xi=other - interpolate(reference, s), cost=float(total[n - 1, n - 1])
    )


def _local_costs(reference: Array, other: Array, lam: float) -> Array:
    """``c[i, j]`` of sample i of the other and j of the reference."""
    spread = sum(((v - v.mean(axis=0)) ** 2).sum(axis=1).mean() for v in (reference, other))
    squares = ((other[:, None] - reference[None]) ** 2).sum(axis=2)
    t = np.linspace(0, 1, len(reference))
    return squares / max(spread, 1e-300) + lam * (t[:, None] - t[None]) ** 2


def _accumulate(local: Array) -> tuple[Array, NDArray[np.int8]]:
    """Least costs of all prefixes and the last step of each, a row of ``i`` at a time."""
    n = len(local)
    total = np.full((n, n), np.inf)
    choice = np.zeros((n, n), dtype=np.int8)
    total[0, 0] = local[0, 0]
    roads = np.full((3, n), np.inf)
    for i in range(1, n):
        roads[:] = np.inf
        roads[0, 1:] = total[i - 1, :-1]
        roads[1, 2:] = total[i - 1, :-2]
        if i > 1:
            roads[2, 1:] = total[i - 2, :-1] + local[i - 1, 1:]
        choice[i] = roads.argmin(axis=0)
        total[i] = roads.min(axis=0) + local[i]
    return total, choice


def _path(choice: NDArray[np.int8], n: int, t: Array) -> Array:
    """Reference time of each sample; samples skipped by a step (2, 1) are interpolated."""
    i, j, rows, times = n - 1, n - 1, [n - 1], [t[n - 1]]
    while i > 0:
        di, dj = _STEPS[choice[i, j]]
        i, j = i - di, j - dj
        rows.append(i)
        times.append(t[j])
    return np.interp(np.arange(n), rows[::-1], times[::-1])


class MorphableModel:
    r"""Mixtures of prototypes in space and time.

    .. math::
        z(t) = r\Bigl(t + \sum_p w_p \tau_p(t)\Bigr) + \sum_p w_p \xi_p(t), \qquad \sum_p w_p = 1

    The reference r is the first prototype, with no shifts. A weight of one on a prototype returns
    it; weights outside [0, 1] make caricatures. [B2006]_ Sec. 5.2.

    Parameters
    ----------
    prototypes : sequence of array-like, each (n_p, d)
        Movements of the same kind.
    durations : array-like, default=None
        Their durations; None means one each.
    n_samples : int, default=100
        Samples to which all are brought.
    lam : float, default=1e-3
        Weight of shifts in time in the correspondence.
    """

    def __init__(
        self,
        prototypes: Sequence[ArrayLike],
        durations: ArrayLike | None = None,
        *,
        n_samples: int = N_SAMPLES,
        lam: float = LAM_TIME,
    ):
        if len(prototypes) < 1:
            raise ValueError("prototypes is empty: at least one movement is needed.")
        rows = [resample(prototype, n_samples) for prototype in prototypes]
        self.reference = rows[0]
        matches = [correspondence(self.reference, other, lam) for other in rows[1:]]
        still = Correspondence(np.zeros(n_samples), np.zeros_like(self.reference), 0.0)
        self.correspondences = [still, *matches]
        given = np.ones(len(rows)) if durations is None else np.asarray(durations, dtype=float)
        if given.shape != (len(rows),) or not (given > 0).all():
            raise ValueError(f"durations == {given}, must be {len(rows)} positive numbers.")
        self.durations = given
        self.was_repaired = False

    def morph(self, weights: ArrayLike) -> Array:
        """Return the mixture (n_samples, d); ``was_repaired`` says whether its time ran backwards.

        Where a caricature turns time back, it is replaced by its running maximum in [0, 1].
        """
        w = self._weights(weights)
        tau = sum(wi * c.tau for wi, c in zip(w, self.correspondences))
        xi = sum(wi * c.xi for wi, c in zip(w, self.correspondences))
        s = np.linspace(0, 1, len(self.reference)) + tau
        repaired = np.clip(np.maximum.accumulate(s), 0, 1)
        self.was_repaired = bool(np.abs(repaired - s).max() > 1e-12)
        if self.was_repaired:
            warnings.warn(
                "the mixture's time ran backwards or out of [0, 1] and was repaired by its running "
                "maximum: weights nearer to [0, 1] avoid this.",
                stacklevel=2,
            )
        return interpolate(self.reference, repaired) + xi

    def duration(self, weights: ArrayLike) -> float:
        """Return the mixture of the durations."""
        return float(self._weights(weights) @ self.durations)

    def _weights(self, weights: ArrayLike) -> Array:
        w = np.asarray(weights, dtype=np.float64)
        if w.shape != (len(self.correspondences),):
            raise ValueError(
                f"weights has shape {w.shape}, must be ({len(self.correspondences)},): one per "
                "prototype."
            )
        if not abs(w.sum() - 1) < 1e-9:
            raise ValueError(f"weights sum to {w.sum()}, must sum to 1.")
        return w
