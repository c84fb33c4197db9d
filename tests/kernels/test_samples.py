"""Which samples are rows of numbers, asked of kernels and of samples of every kind."""

import numpy as np
import pytest

from isthmus.kernels import RBF, Function, Precomputed, SequenceKernel
from isthmus.kernels.samples import looks_like_vectors, needs_vectors, takes_vectors

TABLE = np.eye(3)
NOT_TABLES = [["ab", "ba"], [{"a": 1}], [[1, 2], [1]], np.arange(3), [], [1.0, 2.0], [("a", "b")]]


def dot(a, b):
    return 0.0


@pytest.mark.parametrize("kernel", ["rbf", "precomputed", RBF(), Precomputed()], ids=repr)
def test_kernels_of_vectors(kernel):
    assert needs_vectors(kernel) and takes_vectors(kernel) and takes_vectors(kernel, ["ab"])


@pytest.mark.parametrize("X", [TABLE, TABLE.tolist(), [(1, 2), (3, 4)], list(TABLE)], ids=repr)
def test_functions_go_by_their_samples(X):
    for kernel in (dot, Function(dot)):
        assert not needs_vectors(kernel) and takes_vectors(kernel, X)
    assert looks_like_vectors(X) and not takes_vectors(SequenceKernel(), X)


@pytest.mark.parametrize("X", NOT_TABLES, ids=repr)
def test_what_is_no_table(X):
    assert not looks_like_vectors(X) and not takes_vectors(dot, X)
