"""Long movements as sequences of primitives: segmentation, decomposition and concatenation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isthmus.applications.imitation.checks import check_non_negative, check_trajectory
from isthmus.applications.imitation.movements import (
    LAM_TIME,
    MorphableModel,
    correspondence,
    resample,
)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Segmentation:
    """A movement cut into primitives.

    Attributes
    ----------
    boundaries : ndarray of shape (n_segments + 1,)
        Samples at which segments begin and end.
    labels : ndarray of shape (n_segments,)
        Number of the template of each segment.
    cost : float
        Minimum of the criterion.
    segment_costs : ndarray of shape (n_segments,)
        What each segment contributes.
    worst_share : float
        Share of the cost of the worst segment: near one, a single segment is explained badly.
    """

    boundaries: NDArray[np.intp]
    labels: NDArray[np.intp]
    cost: float
    segment_costs: Array
    worst_share: float


def candidate_boundaries(
    trajectory: ArrayLike, *, rel: float = 0.35, gap: int = 6
) -> NDArray[np.intp]:
    """Return both ends and the local minima of speed below ``rel`` times the median speed."""
    values = check_trajectory(trajectory, "trajectory")
    speed = np.linalg.norm(np.gradient(values, axis=0), axis=1)
    slow = speed < rel * np.median(speed)
    last = len(values) - 1
    inner = np.arange(1, last)
    low = (speed[inner] <= speed[inner - 1]) & (speed[inner] <= speed[inner + 1]) & slow[inner]
    chosen = [0, last]
    for i in inner[low][np.argsort(speed[inner[low]], kind="stable")]:  # the slowest first
        if min(abs(int(i) - c) for c in chosen) >= gap:
            chosen.append(int(i))
    return np.array(sorted(chosen), dtype=np.intp)


def segment(
    trajectory: ArrayLike,
    templates: Sequence[ArrayLike],
    *,
    penalty: float = 0.01,
    rel: float = 0.35,
    gap: int = 6,
    min_length: int = 8,
    max_length: int | None = None,
    n_samples: int = 32,
    lam: float = 0.05,
) -> Segmentation:
    r"""Cut a movement at pauses so that each part looks like one of the templates.

    .. math::
        E(b) = \min_{a < b, k} E(a) + D_k(a, b) \frac{b - a}{N - 1} + \text{penalty}

    over candidate boundaries, with D the cost of the correspondence divided by the number of
    samples, both sides shifted to begin at the origin; [B2006]_ Sec. 5.2. The method needs a pause
    between primitives and at least one template a style. Free strokes between primitives belong to
    the one before them.

    Parameters
    ----------
    trajectory : array-like of shape (N, d)
        The movement.
    templates : sequence of array-like of shape (n_k, d)
        Primitives.
    penalty : float, default=0.01
        Price of a segment.
    rel, gap : float, int
        See :func:`candidate_boundaries`.
    min_length, max_length : int
        Bounds on the length of a segment in samples.
    n_samples, lam : int, float
        Samples and weight of time in the comparison.
    """
    values = check_trajectory(trajectory, "trajectory")
    penalty = check_non_negative(penalty, "penalty")
    if len(templates) < 1:
        raise ValueError("templates is empty: at least one template is needed.")
    bank = [_from_origin(resample(template, n_samples)) for template in templates]
    cuts = candidate_boundaries(values, rel=rel, gap=gap)
    longest = len(values) if max_length is None else max_length
    best = np.full(len(cuts), np.inf)
    best[0] = 0.0
    before = np.full(len(cuts), -1)
    label = np.full(len(cuts), -1)
    price = np.zeros(len(cuts))
    for j in range(1, len(cuts)):
        for i in range(j):
            length = cuts[j] - cuts[i]
            if not (min_length <= length <= longest and np.isfinite(best[i])):
                continue
            part = _from_origin(resample(values[cuts[i] : cuts[j] + 1], n_samples))
            costs = [correspondence(t, part, lam).cost / n_samples for t in bank]
            k = int(np.argmin(costs))
            own = costs[k] * length / (len(values) - 1)
            if best[i] + own + penalty < best[j]:
                best[j], before[j], label[j], price[j] = best[i] + own + penalty, i, k, own
    if not np.isfinite(best[-1]):
        raise ValueError(
            f"no admissible segmentation: candidates {cuts.tolist()} leave no way from begin to end "
            f"with segments of {min_length} to {longest} samples; raise rel or change the bounds."
        )
    return _trace(cuts, before, label, price, float(best[-1]))


def _trace(
    cuts: NDArray[np.intp], before: NDArray, label: NDArray, price: Array, cost: float
) -> Segmentation:
    j, way = len(cuts) - 1, [len(cuts) - 1]
    while j > 0:
        j = int(before[j])
        way.append(j)
    way.reverse()
    own = price[way[1:]]
    return Segmentation(
        boundaries=cuts[way],
        labels=label[way[1:]].astype(np.intp),
        cost=cost,
        segment_costs=own,
        worst_share=float(own.max() / max(own.sum(), 1e-300)),
    )


def _from_origin(values: Array) -> Array:
    return values - values[0]


# -- concatenation ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Element:
    """A movement as its two ends and what is left between them, which is zero at both ends."""

    start: Array
    end: Array
    shape: Array


def decompose(trajectory: ArrayLike) -> Element:
    """Split ``z(s) = z_norm(s) + (1 - s) start + s end``."""
    values = check_trajectory(trajectory, "trajectory")
    return Element(values[0], values[-1], values - _line(values[0], values[-1], len(values)))


def compose(element: Element) -> Array:
    """Return the movement of an element."""
    return element.shape + _line(element.start, element.end, len(element.shape))


def mix_elements(
    prototypes: Sequence[ArrayLike], weights: ArrayLike, *, lam: float = LAM_TIME
) -> Element:
    """Morph shapes, and mix begins and ends, of several movements with the same weights."""
    elements = [decompose(resample(p)) for p in prototypes]
    shape = MorphableModel([e.shape for e in elements], lam=lam).morph(weights)
    w = np.asarray(weights, dtype=np.float64)
    start = w @ np.array([e.start for e in elements])
    end = w @ np.array([e.end for e in elements])
    return Element(start, end, shape)


def concatenate(elements: Sequence[Element], *, smooth: bool = False) -> Array:
    """Join elements; at a junction the mean of an end and the next start is met.

    The result is continuous in position. ``smooth=True`` also blends the five samples around each
    junction with a moving average.
    """
    if len(elements) < 1:
        raise ValueError("elements is empty: at least one element is needed.")
    joints = [(a.end + b.start) / 2 for a, b in pairwise(elements)]
    starts = [elements[0].start, *joints]
    ends = [*joints, elements[-1].end]
    parts = [compose(Element(s, e, z.shape)) for s, e, z in zip(starts, ends, elements)]
    joined = np.concatenate([parts[0], *(part[1:] for part in parts[1:])])
    if smooth:
        at = np.cumsum([len(parts[0]) - 1, *(len(part) - 1 for part in parts[1:-1])])
        joined = _blend(joined, at if len(parts) > 1 else np.array([], dtype=int))
    return joined


def _blend(values: Array, junctions: NDArray, half: int = 2) -> Array:
    out = values.copy()
    for j in junctions:
        for i in range(max(1, j - half), min(len(values) - 1, j + half + 1)):
            reach = min(half, i, len(values) - 1 - i)
            out[i] = values[i - reach : i + reach + 1].mean(axis=0)
    return out


def _line(start: Array, end: Array, n: int) -> Array:
    s = np.linspace(0, 1, n)[:, None]
    return (1 - s) * start + s * end
