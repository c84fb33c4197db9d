"""Oracles: the definitions by brute force, and hand-made lines."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.spatial.distance import pdist, squareform

from isthmus.model_selection import duplex, kennard_stone

X = np.random.default_rng(0).normal(size=(25, 4))
Y = np.random.default_rng(1).normal(size=(25, 2)) * [1.0, 100.0]


def covering(D, k):
    i, j = max(((i, j) for i in range(len(D)) for j in range(i)), key=lambda pair: D[pair])
    chosen = sorted([i, j])
    while len(chosen) < k:
        rest = [r for r in range(len(D)) if r not in chosen]
        chosen.append(max(rest, key=lambda r: min(D[r, c] for c in chosen)))
    return chosen


def test_kennard_stone_by_brute_force():
    assert_array_equal(kennard_stone(X, 9), covering(squareform(pdist(X)), 9))
    assert_array_equal(kennard_stone(X, 25)[:9], kennard_stone(X, 9))
    assert sorted(kennard_stone(np.zeros((4, 1)), 4)) == [0, 1, 2, 3]


def test_spxy_by_brute_force():
    parts = [squareform(pdist(part)) for part in (X, Y / Y.std(axis=0))]
    assert_array_equal(kennard_stone(X, 9, Y), covering(sum(D / D.max() for D in parts), 9))
    assert_array_equal(kennard_stone(X, 9, Y), kennard_stone(7 * X, 9, Y * [5.0, 0.1] + 3))


def take_in_turn(points, n_test):
    """The algorithm of Snee (1977) point by point, with lists in place of matrices."""

    def distance(a, b):
        return sum((x - y) ** 2 for x, y in zip(points[a], points[b], strict=True)) ** 0.5

    def farthest_pair():
        pairs = [(a, b) for a in left for b in left if a < b]
        return max(pairs, key=lambda pair: distance(*pair))

    left, train, test = list(range(len(points))), [], []
    for chosen in (train, test):
        chosen.extend(farthest_pair())
        left = [r for r in left if r not in chosen]
    while len(test) < n_test:
        for chosen in (train, test):
            best = max(left, key=lambda r: min(distance(r, c) for c in chosen))
            chosen.append(best)
            left.remove(best)
    return [*train, *left], test


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("n", "n_test"), [(4, 2), (9, 4), (12, 3), (12, 6)])
def test_duplex_by_brute_force(seed, n, n_test):
    points = np.random.default_rng(seed).normal(3, 1, size=(n, 3)) * [1.0, 5.0, 0.2]
    for ours, literal in zip(duplex(points, n_test), take_in_turn(points, n_test), strict=True):
        assert_array_equal(ours, literal)


def test_duplex_gives_both_sets_the_ends():
    line = np.array([[0.0], [1.0], [2.0], [5.0], [8.0], [9.0], [10.0]])
    train, test = duplex(line, 3)
    assert_array_equal(train, [0, 6, 3, 4])  # 0 and 10, then 5; the rest
    assert_array_equal(test, [1, 5, 2])  # 1 and 9, then 2 or 8, which are as far
    train, test = duplex(X, 8)
    assert_array_equal(sorted([*train, *test]), range(25))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: kennard_stone(X, 26), "n_samples == 26, must be at most 25"),
        (lambda: kennard_stone(X, 1, Y), "n_samples == 1"),
        (lambda: duplex(X, 13), "n_test == 13, must be at most 12"),
    ],
)
def test_errors_say_how_many(call, message):
    with pytest.raises(ValueError, match=message):
        call()
