"""Laws of pre-images of vectors: units, shifts, order and copies of the fitted objects decide nothing.

A method joins by being in ``METHODS``, with how far its answers may move, as a part of their range.
"""

import numpy as np
import pytest
from sklearn.base import clone

from isthmus import KernelMap, preimages
from isthmus.preimages import (
    CandidateSearch,
    Distance,
    Exact,
    FixedPoint,
    Gradient,
    Learned,
    Nearest,
    Preimage,
)

# Iterations stop at 1e-6 of the scale of the data.
METHODS = [
    (Learned(random_state=0), 1e-6),
    (FixedPoint(), 1e-4),
    (Gradient(), 1e-3),
    (Distance(), 1e-6),
    (Nearest(), 1e-12),
]
# "exact" is for kernels of the inner product, which have an origin.
POLYNOMIAL = (Exact(), 1e-6)
STRUCTURED = {
    "GraphSearch": "test_graphs.py",
    "PathSearch": "test_paths.py",
    "SequenceSearch": "test_sequences.py",
}


def make(seed=0, n=40):
    rng = np.random.default_rng(seed)
    T = rng.normal(size=(n, 2))
    return np.column_stack([T, np.sin(T)]) @ rng.normal(size=(4, 3)) + 2


Y, NEW = make(), make(1, 10)


def answers(method, objects, targets, kernel="rbf"):
    embedding = KernelMap(kernel=kernel, preimage=clone(method)).fit(objects)
    return embedding.inverse_transform(embedding.transform(targets))


def same(found, expected, tolerance):
    assert (np.abs(found - expected).max(axis=0) <= tolerance * np.ptp(expected, axis=0)).all()


@pytest.mark.parametrize(("method", "tolerance"), METHODS, ids=str)
class TestEachMethod:
    @pytest.mark.parametrize("unit", [1e-6, 1e6])
    def test_units_and_shifts(self, method, tolerance, unit):
        expected = answers(method, Y, NEW)
        same(answers(method, unit * Y, unit * NEW) / unit, expected, tolerance)
        same(answers(method, Y + 50, NEW + 50) - 50, expected, tolerance)

    def test_order_of_columns(self, method, tolerance):
        found = answers(method, Y[:, ::-1], NEW[:, ::-1])[:, ::-1]
        same(found, answers(method, Y, NEW), tolerance)

    def test_order_of_objects(self, method, tolerance):
        rows = np.random.default_rng(3).permutation(len(Y))
        same(answers(method, Y[rows], NEW), answers(method, Y, NEW), tolerance)


def test_exact_answers():
    method, tolerance = POLYNOMIAL
    expected = answers(method, Y, NEW, "polynomial")
    same(expected, NEW, 1e-6)
    same(answers(method, 1e3 * Y, 1e3 * NEW, "polynomial") / 1e3, expected, tolerance)
    same(answers(method, Y[::-1], NEW, "polynomial"), expected, tolerance)
    same(answers(method, Y[:, ::-1], NEW[:, ::-1], "polynomial")[:, ::-1], expected, tolerance)


def test_the_best_of_given_objects():
    candidates = make(2, 30)
    expected = answers(CandidateSearch(candidates), Y, NEW)
    same(answers(CandidateSearch(candidates[::-1]), Y[::-1], NEW), expected, 1e-12)
    same(answers(CandidateSearch(1e3 * candidates), 1e3 * Y, 1e3 * NEW) / 1e3, expected, 1e-12)


def test_every_method_is_here():
    kinds = {
        name
        for name, kind in vars(preimages).items()
        if isinstance(kind, type) and issubclass(kind, Preimage)
    }
    on_trial = {type(method).__name__ for method, _ in [*METHODS, POLYNOMIAL]} | {"CandidateSearch"}
    assert kinds - {"Preimage"} - set(STRUCTURED) == on_trial
