"""Oracles: a search on the columns of one interval, and planted columns."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus import PLS, ComponentSearchCV
from isthmus.model_selection import interval_pls
from isthmus.model_selection.spectral_intervals import IntervalPLS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 33))
Y = np.column_stack([X[:, 9] + X[:, 11], 100 * X[:, 10]]) + 0.2 * RNG.normal(size=(50, 2))


def test_an_interval_is_a_search_on_its_columns():
    found = interval_pls(X, Y, 4, n_components=5)
    assert [(part.start, part.stop) for part in found.intervals] == [
        (0, 8),
        (8, 16),
        (16, 25),
        (25, 33),
    ]
    search = ComponentSearchCV(PLS(scale="y"), n_components=5, rule="pooled_one_se").fit(
        X[:, 8:16], Y
    )
    assert_allclose(found.rmsecv[1], search.rmsecv_[search.best_index_])
    assert found.n_components[1] == search.best_params_["n_components"]
    assert found.best == slice(8, 16)
    assert interval_pls(X, Y[:, 0], 4).rmsecv.shape == (4,)
    with pytest.raises(ValueError, match="n_intervals == 34, must be at most 33"):
        interval_pls(X, Y, 34)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((PLS(), X, Y), r"X is an estimator, PLS\(\), must be an array: interval_pls\(X, y\)"),
        ((X, PLS(), Y), r"y is an estimator, PLS\(\), must be an array"),
        ((X, 5), r"y == 5, must be an array of outputs"),
    ],
)
def test_arguments_in_another_order_are_named(given, message):
    with pytest.raises(TypeError, match=message):
        interval_pls(*given)


def test_the_best_interval_weighs_outputs_alike():
    # In units of the errors with all columns the first is better, in raw units the second.
    errors = np.array([[1.0, 100.0], [2.0, 60.0]])
    found = IntervalPLS([slice(0, 1), slice(1, 2)], errors, np.array([1, 1]), errors[0], 2)
    assert found.best == slice(0, 1)
