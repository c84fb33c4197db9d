"""Laws of generators of candidates: the order of the pairs and the names of the symbols decide nothing.

A generator joins by being in ``GENERATORS``. Exceptions are listed by name, with the reason.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from isthmus.dependency.candidates import CandidateRanking
from isthmus.kernels import SequenceKernel
from isthmus.preimages import generators
from isthmus.preimages.generators import (
    AlignedClassifier,
    Dictionary,
    JointNgrams,
    LogPool,
    NeighbourAnswers,
)

GENERATORS = [
    AlignedClassifier(C=1.0),
    AlignedClassifier(C=(0.01, 0.1, 1.0, 10.0), chain="auto"),
    JointNgrams(3),
    LogPool([JointNgrams(2), NeighbourAnswers()]),
    NeighbourAnswers(),
    Dictionary(),
]
# Where more candidates are as probable as the last that is asked for, the first found are returned.
N_BEST = 5
OF_ATOMS = {"MoleculeLibrary": "its symbols are elements, which have masses: test_molecules.py"}
RULES = {"a": "A", "b": "b", "c": "k", "t": "t", "x": "ks", "o": "O"}
OTHER_INPUTS = dict(zip("abctxo", "qmzwde"))
OTHER_OUTPUTS = dict(zip("AbktsO", "Zyxwvu"))


def pairs(n=40, seed=0):
    rng = np.random.default_rng(seed)
    words = ["".join(rng.choice(list(RULES), rng.integers(3, 6))) for _ in range(n)]
    return words, ["".join(RULES[letter] for letter in word) for word in words]


WORDS, SAID = pairs()
NEW = pairs(8, seed=1)[0]


def renamed(words, names):
    return ["".join(names[letter] for letter in word) for word in words]


def proposed(generator, words, said, new):
    """Candidates of each new word with their probabilities."""
    found = clone(generator).fit(words, said).candidates(new, N_BEST)
    return [dict(zip(map("".join, answers), np.exp(logs))) for answers, logs in found]


def assert_same(found, expected):
    for some, others in zip(found, expected, strict=True):
        # Of candidates that are equally probable, others may be listed last.
        last = min(others.values())
        surely = {answer: p for answer, p in others.items() if p > last * (1 + 1e-6)}
        assert surely.keys() <= some.keys()
        assert_allclose([some[answer] for answer in surely], list(surely.values()), rtol=1e-4)
        assert_allclose(sorted(some.values()), sorted(others.values()), rtol=1e-4)


@pytest.mark.parametrize("generator", GENERATORS, ids=lambda g: type(g).__name__)
class TestEachGenerator:
    def test_the_order_of_pairs(self, generator):
        order = np.random.default_rng(2).permutation(len(WORDS))
        shuffled = [WORDS[i] for i in order], [SAID[i] for i in order]
        expected = proposed(generator, WORDS, SAID, NEW)
        assert_same(proposed(generator, *shuffled, NEW), expected)

    def test_the_names_of_symbols(self, generator):
        found = proposed(
            generator,
            renamed(WORDS, OTHER_INPUTS),
            renamed(SAID, OTHER_OUTPUTS),
            renamed(NEW, OTHER_INPUTS),
        )
        expected = [
            dict(zip(renamed(answers, OTHER_OUTPUTS), answers.values()))
            for answers in proposed(generator, WORDS, SAID, NEW)
        ]
        assert_same(found, expected)


def test_answers_of_a_ranking_do_not_depend_on_order_or_names():
    def answers(words, said, new):
        kernel = SequenceKernel(0.3, normalise=True)
        ranking = CandidateRanking(kernel, kernel, [0.1], weight=0.1)
        ranking.fit(words, said, {"given": JointNgrams(2)})
        return ["".join(found[0]) for found, _ in ranking.rank(new)]

    expected = answers(WORDS, SAID, NEW)
    order = np.random.default_rng(3).permutation(len(WORDS))
    assert answers([WORDS[i] for i in order], [SAID[i] for i in order], NEW) == expected
    other = renamed(WORDS, OTHER_INPUTS), renamed(SAID, OTHER_OUTPUTS), renamed(NEW, OTHER_INPUTS)
    assert answers(*other) == renamed(expected, OTHER_OUTPUTS)


def test_every_generator_is_here():
    classes = {
        name for name in generators.__all__ if hasattr(getattr(generators, name), "candidates")
    }
    assert classes - {"Generator"} - set(OF_ATOMS) == {type(g).__name__ for g in GENERATORS}
