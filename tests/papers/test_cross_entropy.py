"""Oracles: the numbers of the specification, all permutations, planted optima."""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isthmus.papers.kernel_dependency_thesis.cross_entropy import (
    Bernoulli,
    Categorical,
    Gaussian,
    InversionCodes,
    cross_entropy,
    decode_inversions,
    inversion_table,
)


def test_worked_examples():
    elite = np.array([[1], [1], [1], [0], [0]])  # F = 0.6
    assert_allclose(Bernoulli(np.array([0.2]), penalty=0.3).update(elite, 0.5).parameters, 0.25)
    assert_allclose(Bernoulli(np.array([0.2])).update(elite, 0.7).parameters, 0.48)
    table = inversion_table([ord(c) for c in "Kernels"])
    assert_array_equal(table, [0, 0, 2, 2, 1, 0, 0])
    assert_array_equal(decode_inversions(table)[0] + 1, [1, 2, 5, 6, 4, 3, 7])


@pytest.mark.parametrize("m", range(1, 7))
def test_inversion_tables_are_a_bijection(m):
    tables = set()
    for order in permutations(range(m)):
        table = inversion_table(order)
        assert (table <= m - 1 - np.arange(m)).all()
        places = decode_inversions(table)[0]
        rebuilt = np.empty(m, dtype=int)
        rebuilt[places] = np.arange(m)
        assert tuple(rebuilt) == order
        tables.add(tuple(table))
    assert len(tables) == len(list(permutations(range(m))))


def test_samples_of_inversion_codes_are_valid():
    rng = np.random.RandomState(0)
    codes = InversionCodes(np.full(9, 0.5)).sample(rng, 500)
    places = decode_inversions(codes)
    assert_array_equal(np.sort(places, axis=1), np.tile(np.arange(10), (500, 1)))


@pytest.mark.parametrize(
    ("family", "elite", "parameters"),
    [
        (Bernoulli(np.array([0.5, 0.5])), [[1, 0], [1, 1]], [1.0, 0.5]),
        (InversionCodes(np.array([0.5, 0.5])), [[2, 0, 0], [1, 1, 0]], [0.75, 0.5]),
        (Categorical(np.full((1, 3), 1 / 3)), [[0], [2]], [[0.5, 0.0, 0.5]]),
        (Gaussian(np.array([[0.0], [1.0]])), [[1.0], [3.0]], [[2.0], [1.0]]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_updates_are_maximum_likelihood(family, elite, parameters):
    assert_allclose(family.update(np.array(elite), 1.0).parameters, parameters)
    half = family.update(np.array(elite), 0.5).parameters
    assert_allclose(half, (np.array(parameters) + family.parameters) / 2)


def test_bernoulli_stays_within_its_noise():
    v = Bernoulli(np.array([0.5, 0.5]), noise=0.02, penalty=0.1).update(np.array([[1, 0]]), 1.0)
    assert_allclose(v.parameters, [0.95, 0.02])


def test_finds_planted_codes():
    wanted = np.random.default_rng(0).integers(0, 4, 12)
    loss = lambda codes: (codes != wanted).sum(axis=1)  # noqa: E731
    found = cross_entropy(loss, Categorical(np.full((12, 4), 0.25)), random_state=0)
    assert_array_equal(found.code, wanted)
    assert found.value == 0 and found.converged and found.n_evaluations == 200 * found.n_iter

    order = np.array([3, 1, 4, 0, 2, 5])
    loss = lambda codes: np.abs(decode_inversions(codes) - order).sum(axis=1)  # noqa: E731
    assert cross_entropy(loss, InversionCodes(np.full(5, 0.5)), random_state=0).value == 0


def test_finds_the_minimum_of_a_function_of_numbers():
    found = cross_entropy(
        lambda x: ((x - [1.0, -2.0]) ** 2).sum(axis=1),
        Gaussian(np.array([[0.0, 0.0], [3.0, 3.0]])),
        random_state=0,
    )
    assert_allclose(found.code, [1.0, -2.0], atol=1e-3)


def test_same_seed_same_search_and_best_ever_is_kept():
    drawn = []

    def loss(codes):
        values = np.random.default_rng(codes.astype(int).sum()).random(len(codes))
        drawn.append(values.min())
        return values

    a = cross_entropy(loss, Bernoulli(np.full(6, 0.5)), n_samples=20, random_state=3)
    assert a.value == min(drawn)
    b = cross_entropy(loss, Bernoulli(np.full(6, 0.5)), n_samples=20, random_state=3)
    assert_array_equal(a.code, b.code)
    assert_array_equal(a.levels, b.levels)


@pytest.mark.parametrize("bad", [{"n_samples": 0}, {"elite": 0.0}, {"smoothing": 1.5}])
def test_bad_parameters_are_named(bad):
    with pytest.raises(ValueError, match=f"{next(iter(bad))} =="):
        cross_entropy(lambda c: c.sum(axis=1), Bernoulli(np.full(2, 0.5)), **bad)
