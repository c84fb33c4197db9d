"""Oracles: the definition of the p-value, its law under independence, a planted signal."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.model_selection import GroupKFold, KFold, cross_val_score

from isthmus import PCR, PLS
from isthmus.inspection import permutation_test


def test_p_value_is_the_share_of_shuffles_that_do_as_well(rng):
    X, Y = rng.normal(size=(30, 4)), rng.normal(size=(30, 2))
    found = permutation_test(PLS(2).fit(X, Y), X, Y, n_permutations=40, random_state=0)
    assert found.permutation_scores.shape == (40,)
    as_good = (found.permutation_scores >= found.score).sum()
    assert found.p_value == (1 + as_good) / 41


def test_score_is_that_of_cross_validation(data):
    X, Y = data
    asked = {"cv": KFold(4, shuffle=True, random_state=0), "scoring": "neg_mean_squared_error"}
    found = permutation_test(PLS(2).fit(X, Y), X, Y, n_permutations=1, **asked)
    assert_allclose(found.score, cross_val_score(PLS(2), X, Y, **asked).mean())


def test_p_values_are_uniform_without_a_relation():
    rng = np.random.default_rng(0)
    p_values = []
    for seed in range(30):
        X, Y = rng.normal(size=(20, 3)), rng.normal(size=(20, 2)) @ [[1, 0.9], [0, 0.3]]
        model = PCR(2).fit(X, Y)
        found = permutation_test(model, X, Y, n_permutations=19, cv=2, random_state=seed)
        p_values.append(found.p_value)
    # Of the twenty possible values each has the same probability; false alarms: 1e-6.
    assert stats.kstest(np.array(p_values) - rng.uniform(0, 0.05, 30), "uniform").pvalue > 1e-6


def test_a_signal_is_found(data):
    X, Y = data
    for model, y in ((PLS(2).fit(X, Y), Y), (PLS(2).fit(X, Y[:, 0]), Y[:, 0])):
        found = permutation_test(model, X, y, n_permutations=39, random_state=0)
        assert found.p_value == 1 / 40


def test_rows_of_y_are_shuffled_as_wholes(data):
    X, Y = data
    seen = []

    def spy(model, X, y):
        seen.append(y)
        return 0.0

    twins = np.column_stack([Y[:, 0], 2 * Y[:, 0]])
    permutation_test(PCR(1).fit(X, twins), X, twins, n_permutations=3, scoring=spy, cv=2)
    assert len(seen) == 8
    for y in seen:
        assert_array_equal(y[:, 1], 2 * y[:, 0])


def test_same_seed_same_answer(data):
    X, Y = data
    model = PLS(1).fit(X, Y)
    first, second, other = (
        permutation_test(model, X, Y, n_permutations=3, random_state=seed).permutation_scores
        for seed in (0, 0, 1)
    )
    assert_array_equal(first, second)
    assert not np.allclose(first, other)


def test_shuffling_within_groups(data):
    X, Y = data
    groups = np.arange(40)  # every row its own group: nothing can move
    found = permutation_test(
        PLS(2).fit(X, Y), X, Y, n_permutations=5, groups=groups, cv=GroupKFold(4)
    )
    assert_allclose(found.permutation_scores, found.score)
    assert found.p_value == 1


def test_number_of_permutations_is_checked(data):
    with pytest.raises(ValueError, match="n_permutations == 0, must be >= 1"):
        permutation_test(PLS(2).fit(*data), *data, n_permutations=0)
