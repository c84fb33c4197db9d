"""Words and graphs as users bring them: columns of tables, empty ones, one symbol, graphs of two kinds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator

from isthmus import DependencyRegressor
from isthmus.kernels import from_smiles
from isthmus.preimages import LogPool

WORDS = ["cat", "cot", "cut", "bat", "but", "tack", "tock", "back", "cab", "act", "tab", "cub"]
SOUNDS = ["kAt", "kOt", "kUt", "bAt", "bUt", "tAk", "tOk", "bAk", "kAb", "Akt", "tAb", "kUb"]


def columns(kind):
    if kind == "list":
        return list
    if kind == "pandas":
        return pytest.importorskip("pandas").Series
    return lambda values: np.array(values, dtype=kind)


# -- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["list", str, object, "pandas"])
def test_words_in_any_column(kind):
    column = columns(kind)
    model = DependencyRegressor().fit(column(WORDS), column(SOUNDS))
    assert model.predict(column(["cat", "tack"])) == ["kAt", "tAk"]


def test_answers_have_the_size_that_all_outputs_have():
    """Two readings of a word were joined to one answer, and six symbols answered an unknown one."""
    model = DependencyRegressor().fit(["cat"] * 12 + WORDS, ["kAt"] * 6 + ["kEt"] * 6 + SOUNDS)
    assert model.predict(["cat"])[0] in ("kAt", "kEt")
    letters = DependencyRegressor().fit(list("abcdefghijkl"), list("ABCDEFGHIJKL"))
    with pytest.warns(UserWarning, match=r"nothing in common .* X\[1\]"):
        found = letters.predict(["a", "z"])
    assert found[0] == "A" and len(found[1]) == 1


def test_one_symbol_has_one_answer_of_each_size():
    words = ["a" * n for n in range(1, 25)]
    model = DependencyRegressor().fit(words, [word.replace("a", "b") for word in words])
    assert all(set(answer) == {"b"} for answer in model.predict(["aaa", "a" * 20]))


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([*WORDS, ""], [*SOUNDS, "x"], r"X\[12\] is an empty sequence"),
        ([*WORDS, "x"], [*SOUNDS, ""], r"y\[12\] is an empty sequence"),
        (WORDS, [*map(list, SOUNDS[1:]), []], r"y\[11\] is an empty sequence"),
        ([*WORDS[1:], None], SOUNDS, r"X\[11\] == None, must be a string"),
        (WORDS, [*SOUNDS[1:], float("nan")], r"y\[11\] == nan, must be a string"),
        (WORDS, ["k"] * 12, "y is constant, every output is 'k'"),
        ("cats", SOUNDS, "X is one string; give a list"),
        ([([0, 0], [(0, 1)])] * 11 + [None], SOUNDS, r"X\[11\] == None, must be a graph"),
        ([w.encode() for w in WORDS], SOUNDS, "X has bytes: decode them"),
        (
            [list(map(ord, w)) for w in WORDS],
            SOUNDS,
            "X has rows of different lengths.*inputs=Kern",
        ),
        (np.eye(12), [list(map(ord, w)) for w in WORDS], "y has rows of diff.*outputs=KernelMap"),
        (WORDS, [([0, 0], [(0, 1)])] * 12, "y are graphs, which have no default kernel"),
    ],
)
def test_errors_name_the_sample(X, y, message):
    with pytest.raises(ValueError, match=message):
        DependencyRegressor().fit(X, y)


def test_new_words_without_a_known_letter_are_told():
    model = DependencyRegressor().fit(WORDS, SOUNDS)
    with pytest.warns(UserWarning, match=r"1 of 2 inputs have nothing in common .* X\[1\]"):
        model.predict([WORDS[0], "\u65e5\u672c"])


class Mute(BaseEstimator):
    """A generator that has nothing to say, or too little."""

    def __init__(self, pairs=None):
        self.pairs = pairs

    def fit(self, X, y):
        return self

    def candidates(self, X, n_best=30):
        return [([], [])] * len(X) if self.pairs is None else [self.pairs]


@pytest.mark.parametrize(
    ("generator", "message"),
    [
        (Mute(), "Mute.candidates returned 0 outputs and 0 log-probabilities for input 0"),
        (Mute((["a"], [0.0])), "Mute.candidates returned 1 pairs for 4 inputs"),
        (LogPool, "candidates == .*LogPool.*, must be 'auto', None or an object"),
    ],
    ids=["nothing", "one", "class"],
)
def test_errors_of_generators(generator, message):
    with pytest.raises(ValueError, match=message):
        DependencyRegressor(candidates=generator).fit(WORDS, SOUNDS)


def test_errors_of_candidates_and_of_new_words():
    with pytest.raises(ValueError, match=r"y\[12\] is an empty sequence"):
        DependencyRegressor(candidates=LogPool()).fit([*WORDS, "x"], [*SOUNDS, ""])
    with pytest.raises(ValueError, match="X is one string; give a list of samples"):
        DependencyRegressor().fit(WORDS, SOUNDS).predict("cat")


# -- graphs ---------------------------------------------------------------------------------------


def ring(n):
    return [0] * n, [(i, (i + 1) % n) for i in range(n)]


def star(n):
    return [0] * n, [(0, i) for i in range(1, n)]


def test_tuples_and_networkx_graphs_need_no_settings():
    """One node, two parts and graphs of both kinds are among them; the number of nodes is learned."""
    networkx = pytest.importorskip("networkx")
    pairs = ([0] * 6, [(0, 1), (2, 3)])
    graphs = [*map(ring, range(3, 12)), *map(star, range(3, 12)), ([0], []), pairs]
    sizes = np.array([len(labels) for labels, _ in graphs], dtype=float)
    model = DependencyRegressor().fit(graphs, sizes)
    assert_allclose(model.predict([ring(5), ([0], []), pairs]), [5, 1, 6], atol=0.1)
    mixed = [networkx.cycle_graph(3), *graphs[1:]]
    assert_allclose(
        DependencyRegressor().fit(mixed, sizes).predict([networkx.cycle_graph(5)]),
        model.predict([ring(5)]),
        rtol=1e-10,
    )


@pytest.mark.parametrize(
    ("graph", "message"),
    [(([], []), r"X\[9\] is an empty graph"), (([0, 0], [(0, 5)]), r"X\[9\]: edge \(0, 5\)")],
)
def test_errors_name_the_graph(graph, message):
    with pytest.raises(ValueError, match=message):
        DependencyRegressor().fit([*map(ring, range(3, 12)), graph], np.arange(10.0))


def test_text_that_is_no_molecule():
    pytest.importorskip("rdkit")
    for smiles, message in (
        (["CC", "C1CC("], r"smiles\[1\] == 'C1CC\(' is not a molecule"),
        (["CC", ""], r"smiles\[1\] == '' has no atoms"),
        (None, "smiles == None, must be a list of strings"),
    ):
        with pytest.raises(ValueError, match=message):
            from_smiles(smiles)
