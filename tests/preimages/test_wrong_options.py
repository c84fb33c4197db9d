"""Sizes and candidates that cannot be: every search says which entry is wrong and what is wanted."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from isthmus import DependencyRegressor, KernelMap
from isthmus.kernels import GraphKernel, PositionKernel, SequenceKernel
from isthmus.preimages import CandidateSearch, GraphSearch, PathSearch, SequenceSearch

WORDS = ["banana", "bandana", "cabana", "canada", "panama", "bahamas"]
GRAPHS = [([0, 1, k % 3], [(0, 1), (1, 2)][: 1 + k % 2]) for k in range(6)]
SEARCHES = {
    "sequences": (SequenceKernel(0.2), SequenceSearch(random_state=0), WORDS),
    "beam": (SequenceKernel(0.2), SequenceSearch("beam"), WORDS),
    "paths": (PositionKernel(width=0.5), PathSearch(), WORDS),
    "graphs": (GraphKernel(0.3), GraphSearch("local", n_starts=1, random_state=0), GRAPHS),
}
X = np.random.default_rng(0).normal(size=(6, 2))
SIZES = [
    (3, "sizes == 3, must be a list with one entry per target"),
    ("ab", "sizes == 'ab', must be a list"),
    ({}, "sizes == {}, must be a list"),
    ([1], "sizes has 1 entries, must have 2"),
    ([2, 0], r"sizes\[1\] == 0, must be an integer >= 1"),
    ([-1, 2], r"sizes\[0\] == -1, must be an integer >= 1"),
    ([2.5, 2], r"sizes\[0\] == 2.5"),
    ([None, 2], r"sizes\[0\] == None"),
    (["x", 2], r"sizes\[0\] == 'x'"),
    ([2, []], r"sizes\[1\] == \[\]"),
    ([2, [1, [2, 3]]], r"sizes\[1\] == \[1, \[2, 3\]\]"),
    ([2, [3, "a"]], r"sizes\[1\] == \[3, 'a'\]"),
    ([float("nan"), 2], r"sizes\[0\] == nan"),
    ([10**9, 2], r"sizes\[0\] == 1000000000, must be <= 100000"),
]


def fitted(kernel, search, objects):
    outputs = KernelMap(kernel=kernel, preimage=search)
    return DependencyRegressor(KernelMap(gamma=0.5), Ridge(0.1), outputs).fit(X, objects)


@pytest.mark.parametrize("name", SEARCHES)
def test_wrong_sizes(name):
    model = fitted(*SEARCHES[name])
    for sizes, message in SIZES:
        with pytest.raises(ValueError, match=message):
            model.predict(X[:2], sizes=sizes)
    found = model.predict(X[:2], sizes=[3, [2]])
    assert [z.n_nodes if name == "graphs" else len(z) for z in found] == [3, 2]


def test_wrong_candidates():
    model = fitted(SequenceKernel(0.2), CandidateSearch(), WORDS)
    for candidates, message in (
        (3, "candidates == 3, must be a list"),
        ([["ab"]], "candidates has 1 lists, must have 2"),
        ([["ab"], []], r"candidates\[1\] is empty"),
        ([[0], [99]], r"candidates\[1\] has the index 99"),
        ([[0], [1.5]], r"candidates\[1\] has something that the kernel does not take"),
        ([[object()], [0]], r"candidates\[0\] has something that the kernel does not take"),
        ([["ab"], ["ab", 3]], r"candidates\[1\] has something that the kernel does not take"),
    ):
        with pytest.raises(ValueError, match=message):
            model.predict(X[:2], candidates=candidates)
