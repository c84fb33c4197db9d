"""Shape contexts and their codebook: a silhouette as a histogram."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

Array = NDArray[np.float64]

# Rings are equal steps of the logarithm of the distance, so that near points count in finer rings.
N_RINGS, N_SECTORS, RING_STEP = 5, 6, 0.3


def shape_contexts(points: ArrayLike) -> Array:
    r"""Return the log-polar histograms of the other points around each point, (n, 30).

    Distances are divided by their mean; ring :math:`k = \lfloor \log(1 + d) / 0.3 \rfloor`, sector
    :math:`\lfloor \theta / (\pi/3) \rfloor` with the angle counted upwards from +x, bin ``6 k + sector``.
    Points beyond the last ring are dropped. Invariant to shifts and scales; [B2006]_ Sec. 6.1.1.

    Parameters
    ----------
    points : array-like of shape (n, 2)
        Pixels (x, y), y downwards.
    """
    points = np.asarray(points, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2 or len(points) < 2:
        raise ValueError(
            f"points has shape {points.shape}, must be (n, 2) with n >= 2 edge points."
        )
    n = len(points)
    dx = points[None, :, 0] - points[:, None, 0]
    dy = points[:, None, 1] - points[None, :, 1]  # rows count downwards
    distance = np.hypot(dx, dy)
    mean = distance.sum() / (n * (n - 1))
    if not mean > 0:
        raise ValueError(f"all {n} edge points coincide: they have no shape.")
    ring = np.floor(np.log1p(distance / mean) / RING_STEP).astype(int)
    sector = np.floor(np.mod(np.arctan2(dy, dx), 2 * np.pi) / (np.pi / 3)).astype(int) % N_SECTORS
    n_bins = N_RINGS * N_SECTORS
    place = np.where(ring < N_RINGS, N_SECTORS * ring + sector, n_bins)
    np.fill_diagonal(place, n_bins)  # a point does not see itself
    flat = place + (n_bins + 1) * np.arange(n)[:, None]
    counts = np.bincount(flat.ravel(), minlength=n * (n_bins + 1))
    return counts.reshape(n, n_bins + 1)[:, :n_bins].astype(np.float64)


class Codebook:
    """Typical shape contexts: the smallest balls in L1 that cover a sample with few centres.

    Parameters
    ----------
    centres : array-like of shape (n_centres, 30)
        The contexts.
    """

    def __init__(self, centres: ArrayLike):
        self.centres = np.asarray(centres, dtype=np.float64)

    @classmethod
    def fit(
        cls,
        contexts: ArrayLike,
        *,
        max_centres: int = 80,
        n_sample: int = 2000,
        random_state: Any = None,
    ) -> Codebook:
        """Choose centres greedily; the radius is the least that needs at most ``max_centres``."""
        contexts = np.asarray(contexts, dtype=np.float64)
        rng = np.random.default_rng(random_state)
        if len(contexts) > n_sample:
            contexts = contexts[rng.choice(len(contexts), size=n_sample, replace=False)]
        distances = cdist(contexts, contexts, "cityblock")
        low, high = 0.0, float(distances.max()) + 1.0
        best = _cover(distances, high)
        while high - low > 0.5:  # counts: distances are whole numbers
            middle = (low + high) / 2
            chosen = _cover(distances, middle, max_centres)
            if chosen is None:
                low = middle
            else:
                high, best = middle, chosen
        assert best is not None
        return cls(contexts[best])

    def histogram(self, contexts: ArrayLike) -> Array:
        """Count how often each centre is the nearest in L1, (n_centres,)."""
        nearest = cdist(contexts, self.centres, "cityblock").argmin(axis=1)
        return np.bincount(nearest, minlength=len(self.centres)).astype(np.float64)


def _cover(distances: Array, radius: float, at_most: int | None = None) -> list[int] | None:
    """Centres of a greedy cover, or None where more than ``at_most`` are needed."""
    near = distances <= radius
    open_ = np.ones(len(near), dtype=bool)
    gain = near.sum(axis=1)
    centres: list[int] = []
    while open_.any():
        if at_most is not None and len(centres) == at_most:
            return None
        best = int(gain.argmax())
        centres.append(best)
        newly = near[best] & open_
        open_ &= ~near[best]
        gain = gain - near[:, newly].sum(axis=1)
    return centres
