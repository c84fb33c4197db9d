"""Oracles: planted warps, prototypes given back, words put together from known letters."""

import os

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isthmus.applications.imitation import (
    MorphableModel,
    candidate_boundaries,
    compose,
    concatenate,
    correspondence,
    decompose,
    mix_elements,
    resample,
    segment,
)
from isthmus.datasets import load_letters

real_data = pytest.mark.skipif(
    not os.environ.get("ISTHMUS_DATA"), reason="ISTHMUS_DATA names no directory with the real data"
)
T = np.linspace(0, 1, 100)


def curve(s):
    return np.stack([np.sin(2 * np.pi * s), np.cos(3 * s), s**2], axis=1)


def stroke(angle, n=60, bend=0.5):
    """A stroke that begins and ends at rest, in a direction, bent to one side."""
    s = (1 - np.cos(np.pi * np.linspace(0, 1, n))) / 2
    along, across = s, bend * np.sin(np.pi * s)
    c, w = np.cos(angle), np.sin(angle)
    return np.stack([c * along - w * across, w * along + c * across], axis=1)


def by_enumeration(local):
    """Least cost over all admissible paths, by recursion without a table."""

    def cost(i, j):
        if i == j == 0:
            return local[0, 0]
        if i <= 0 or j <= 0:
            return np.inf
        roads = [cost(i - 1, j - 1)]
        roads.append(cost(i - 1, j - 2) if j > 1 else np.inf)
        roads.append(cost(i - 2, j - 1) + local[i - 1, j] if i > 1 else np.inf)
        return min(roads) + local[i, j]

    n = len(local)
    return cost(n - 1, n - 1)


def test_dynamic_programming_finds_the_least_cost():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 9, 2))
    spread = sum(((v - v.mean(axis=0)) ** 2).sum(axis=1).mean() for v in (a, b))
    t = np.linspace(0, 1, 9)
    local = ((b[:, None] - a[None]) ** 2).sum(axis=2) / spread
    local += 0.1 * (t[:, None] - t[None]) ** 2
    assert_allclose(correspondence(a, b, lam=0.1).cost, by_enumeration(local), rtol=1e-12)


def test_a_planted_warp_is_found():
    warped = T + 0.08 * np.sin(2 * np.pi * T)
    match = correspondence(curve(T), curve(warped), lam=1e-6)
    assert np.abs(match.tau - (warped - T)).max() < 0.02
    assert np.abs(match.xi).max() < 0.06
    slope = np.diff(T + match.tau) / np.diff(T)
    assert slope.min() > 0.5 - 1e-9 and slope.max() < 2 + 1e-9


def test_the_shifts_give_the_other_trajectory_back():
    rng = np.random.default_rng(1)
    other = curve(T) + 0.1 * rng.normal(size=(100, 3)).cumsum(axis=0) / 10
    match = correspondence(curve(T), other)
    grid = np.stack([np.interp(T + match.tau, T, column) for column in curve(T).T], axis=1)
    assert_allclose(grid + match.xi, other, atol=1e-14)
    assert match.tau[0] == match.tau[-1] == 0


def test_weight_one_returns_the_prototype():
    model = MorphableModel([stroke(0), stroke(0.4, bend=0.9), stroke(-0.3)], durations=[1, 2, 4])
    for p, prototype in enumerate((stroke(0), stroke(0.4, bend=0.9), stroke(-0.3))):
        assert_allclose(model.morph(np.eye(3)[p]), resample(prototype), atol=1e-14)
    assert model.duration([0.5, 0.25, 0.25]) == 2.0
    assert not model.was_repaired


def test_caricatures_are_allowed_and_repairs_are_told():
    model = MorphableModel([curve(T), curve(T + 0.08 * np.sin(2 * np.pi * T))])
    more = model.morph([-0.5, 1.5])
    assert np.isfinite(more).all() and not model.was_repaired
    with pytest.warns(UserWarning, match="ran backwards"):
        model.morph([-9, 10])
    assert model.was_repaired


def test_halfway_lies_between():
    flat, bent = stroke(0, bend=0.2), stroke(0, bend=0.8)
    half = MorphableModel([flat, bent]).morph([0.5, 0.5])
    assert_allclose(half[:, 1].max(), 0.5, atol=0.02)


# -- segmentation -----------------------------------------------------------------------------


def test_strokes_with_pauses_are_cut_where_they_were_joined():
    bank = [stroke(0), stroke(1.5), stroke(3.0)]
    order = [0, 2, 1, 1, 0]
    word = concatenate([decompose(resample(bank[k], 50 + 10 * i)) for i, k in enumerate(order)])
    shifted = [decompose(resample(bank[k], 50 + 10 * i)) for i, k in enumerate(order)]
    ends = np.cumsum([0, *(len(e.shape) - 1 for e in shifted)])
    word = np.concatenate([[bank[0][0]], *_chained(bank, order)])
    found = segment(word, bank)
    assert_array_equal(found.labels, order)
    assert np.abs(found.boundaries - ends).max() <= 2
    assert found.cost < 0.1 and 0 < found.worst_share <= 1
    assert_allclose(found.cost, found.segment_costs.sum() + 5 * 0.01)


def _chained(bank, order):
    at, parts = np.zeros(2), []
    for i, k in enumerate(order):
        part = resample(bank[k], 50 + 10 * i)
        parts.append(part[1:] - part[0] + at)
        at = parts[-1][-1]
    return parts


def test_candidates_are_pauses_and_ends():
    word = np.concatenate([[np.zeros(2)], *_chained([stroke(0), stroke(2.0)], [0, 1])])
    assert_array_equal(candidate_boundaries(word), [0, 49, 108])


@real_data
def test_real_letters():
    """The spec's experiment: four letters, words from demonstrations that are not templates."""
    letters = load_letters()
    rng = np.random.default_rng(0)
    kinds = [0, 4, 11, 18]
    rows = {k: np.flatnonzero(letters.target == k) for k in kinds}
    bank = [letters.data[rows[k][0]] for k in kinds]
    exact = 0
    for _ in range(4):
        order = rng.integers(4, size=4)
        parts, at = [], np.zeros(2)
        for k in order:
            demo = letters.data[rng.choice(rows[kinds[k]][1:])]
            part = resample(demo, int(rng.integers(100, 300)))
            parts.append(part - part[0] + at)
            at = parts[-1][-1]
        found = segment(np.concatenate(parts), bank)
        exact += np.array_equal(found.labels, order)
    assert exact == 4


@real_data
def test_warping_real_letters_leaves_less():
    letters = load_letters()
    a, b = (resample(letters.data[i] - letters.data[i, 0]) for i in (0, 1))
    match = correspondence(a, b)
    assert (match.xi**2).sum() < 0.7**2 * ((a - b) ** 2).sum() * 1.5


# -- concatenation ----------------------------------------------------------------------------


def test_decompose_and_compose():
    element = decompose(stroke(0.7) + 3.0)
    assert_allclose(element.shape[[0, -1]], 0, atol=1e-15)
    assert_allclose(compose(element), stroke(0.7) + 3.0)


def test_concatenation_meets_in_the_middle():
    a, b = decompose(stroke(0)), decompose(stroke(1.0) + np.array([1.2, 0.4]))
    joined = concatenate([a, b])
    assert len(joined) == 119
    assert_allclose(joined[59], (a.end + b.start) / 2)
    assert_allclose(joined[[0, -1]], [a.start, b.end])
    steps = np.linalg.norm(np.diff(joined, axis=0), axis=1)
    assert steps.max() < 0.06  # no jump


def test_smoothing_changes_the_neighbourhood_of_junctions_alone():
    a, b = decompose(stroke(0)), decompose(stroke(2.0) + np.array([1.0, 0.0]))
    rough, smooth = concatenate([a, b]), concatenate([a, b], smooth=True)
    changed = np.flatnonzero(np.abs(rough - smooth).max(axis=1) > 1e-12)
    assert set(changed) <= set(range(57, 62)) and len(changed)


def test_mixing_elements():
    mixed = mix_elements([stroke(0), stroke(0) + 2.0], [0.25, 0.75])
    assert_allclose(mixed.start, [1.5, 1.5])
    assert_allclose(compose(mixed), resample(stroke(0)) + 1.5, atol=1e-12)


# -- errors -----------------------------------------------------------------------------------


def test_short_trajectories_nan_and_different_lengths_are_refused():
    with pytest.raises(ValueError, match=r"trajectory has shape \(1, 2\)"):
        resample(np.zeros((1, 2)))
    with pytest.raises(ValueError, match=r"other with shape .* NaN"):
        correspondence(curve(T), np.full((100, 3), np.nan))
    with pytest.raises(ValueError, match="resample them"):
        correspondence(curve(T), curve(T[:50]))
    with pytest.raises(ValueError, match="lam == -1"):
        correspondence(curve(T), curve(T), lam=-1)


def test_weights_must_sum_to_one():
    model = MorphableModel([stroke(0), stroke(1)])
    with pytest.raises(ValueError, match=r"weights sum to 1\.5"):
        model.morph([1.0, 0.5])
    with pytest.raises(ValueError, match="one per prototype"):
        model.morph([1.0])


def test_no_template_and_no_segmentation_are_refused():
    with pytest.raises(ValueError, match="templates is empty"):
        segment(stroke(0), [])
    with pytest.raises(ValueError, match="no admissible segmentation"):
        segment(stroke(0), [stroke(0)], max_length=20)
