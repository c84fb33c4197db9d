"""The sign rule that every component obeys."""

import numpy as np
from numpy.testing import assert_array_equal

from isthmus._linalg import column_signs
from isthmus.kernels import Precomputed
from isthmus.projections import COIR


def test_largest_entry_becomes_positive():
    scores = np.array([[1.0, -3.0, 0.0], [-2.0, 2.0, 0.0]])
    assert_array_equal(column_signs(scores), [-1.0, -1.0, 1.0])
    assert_array_equal(column_signs(np.empty((0, 2))), [1.0, 1.0])


def test_of_a_tie_the_first_counts_whatever_rounding_says():
    for shift in (-1e-15, 0.0, 1e-15):
        scores = np.array([[-1.0, 0.5, 0.0], [1.0 + shift, -1.0, 0.0], [0.2, 1.0 + shift, 0.0]])
        assert_array_equal(column_signs(scores), [-1.0, -1.0, 1.0])


def test_a_ready_matrix_is_pairwise_however_it_is_named():
    for kernel in ("precomputed", Precomputed()):
        assert COIR(kernel=kernel).__sklearn_tags__().input_tags.pairwise
