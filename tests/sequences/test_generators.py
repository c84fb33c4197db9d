"""Oracles: enumeration of all paths, brute-force probabilities, and a transducer made by hand."""

from itertools import pairwise, product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from isthmus._solvers.paths import best_paths
from isthmus.sequences import AlignedClassifier, Dictionary, JointNgrams, NeighbourAnswers
from isthmus.sequences.windows import SymbolWindows, VectorWindows

RULES = {"a": "A", "b": "b", "c": "k", "t": "t", "x": "ks", "o": "O", "h": ""}


def said(word):
    """A transducer that looks at neighbours: c before h is T, double letters are said once."""
    out = []
    for i, letter in enumerate(word):
        after, before = word[i + 1 : i + 2], word[i - 1 : i] if i else ""
        if letter == "c" and after == "h":
            out.append("T")
        elif letter == before:
            continue
        else:
            out.append(RULES[letter])
    return "".join(out)


def dictionary(n, seed, letters="abctxoh"):
    rng = np.random.default_rng(seed)
    words = []
    while len(words) < n:
        word = "".join(rng.choice(list(letters), rng.integers(3, 8)))
        if said(word):
            words.append(word)
    return words, [said(word) for word in words]


@pytest.mark.parametrize("k", [1, 3, 40])
def test_best_paths_are_those_of_enumeration(k):
    rng = np.random.default_rng(k)
    sizes = [3, 4, 2, 5]
    first = rng.normal(size=3)
    steps = [rng.normal(size=(a, b)) for a, b in pairwise(sizes)]
    steps[1][0] = -np.inf
    everything = {
        path: first[path[0]] + sum(s[a, b] for s, a, b in zip(steps, path[:-1], path[1:]))
        for path in product(*map(range, sizes))
    }
    wanted = sorted((v for v in everything.values() if np.isfinite(v)), reverse=True)[:k]
    paths, values = best_paths(first, steps, k)
    assert_allclose(values, wanted, rtol=1e-12)
    assert len({tuple(p) for p in paths}) == len(paths)
    for path, value in zip(paths, values):
        assert_allclose(everything[tuple(path)], value, rtol=1e-12)


def test_windows_have_the_symbols_around_and_the_words_through_a_place():
    words = ["abab", "bab", "abba"]
    windows = SymbolWindows(2, 3).fit(words)
    F = windows.transform(words).toarray()
    assert F.shape[0] == 11 and set(np.unique(F)) == {0.0, 1.0}

    def features(word, i):
        line = "##" + word + "##"
        window = line[i : i + 5]
        spans = [(a, 1) for a in range(5)] + [(1, 2), (2, 2), (0, 3), (1, 3), (2, 3)]
        return {(a, n, window[a : a + n]) for a, n in spans}

    everything = [features(w, i) for w in words for i in range(len(w))]
    counts = {f: sum(f in row for row in everything) for row in everything for f in row}
    kept = {f for f, c in counts.items() if c > 1}
    assert F.shape[1] == len(kept)
    shared = [[len(a & b & kept) for b in everything] for a in everything]
    assert_allclose(F @ F.T, shared)
    # A symbol that was never seen has no feature of its own, and its neighbours keep theirs.
    assert windows.transform(["z"]).toarray().sum() <= 4


def test_vector_windows_do_not_depend_on_units():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(m, 2, 3)) for m in (2, 4)]
    F = VectorWindows(1).fit(X).transform(X)
    assert F.shape == (6, 18)
    assert_allclose(F, VectorWindows(1).fit([7 * x for x in X]).transform([7 * x for x in X]))
    assert_allclose(F[0, 6:12], F[1, :6])
    assert not F[0, :6].any() and not F[1, 12:].any()


def test_the_classifier_learns_a_transducer_that_looks_at_neighbours():
    words, sounds = dictionary(400, 0)
    model = AlignedClassifier(C=10.0).fit(words, sounds)
    new, wanted = dictionary(60, 1)
    found = model.candidates(new, 5)
    assert np.mean([f[0] == w for (f, _), w in zip(found, wanted)]) >= 0.9
    for outputs, log_p in found:
        assert len(set(outputs)) == len(outputs) <= 5
        assert (np.diff(log_p) <= 0).all() and np.exp(log_p).sum() <= 1 + 1e-9
    assert model.aligned_ == 1.0 and model.certainty_ < 0


@pytest.mark.parametrize("chain", [True, False])
def test_candidates_are_the_most_probable_of_all_chains(chain):
    words, sounds = dictionary(60, 2, "abx")
    model = AlignedClassifier(C=1.0, chain=chain, prune=0.0).fit(words, sounds)
    (steps,) = model._log_probabilities(["abx"])
    assert_allclose(np.exp(steps).sum(axis=2), 1.0)
    sums = {}
    for path in product(range(steps.shape[2]), repeat=3):
        before = (-1, *path)
        value = sum(steps[i, before[i], label] for i, label in enumerate(path))
        output = "".join("".join(model.labels_[model._seen[label]]) for label in path)
        sums[output] = sums.get(output, 0.0) + np.exp(value)
    sums.pop("", None)
    found, log_p = model.candidates(["abx"], 10**4)[0]
    assert found == sorted(sums, key=lambda o: -sums[o])
    assert_allclose(np.exp(log_p), sorted(sums.values(), reverse=True), rtol=1e-9)


def test_a_chain_sees_the_chunk_before():
    """Outputs alternate whatever the input says: places alone cannot know it."""
    rng = np.random.default_rng(0)
    y = [
        "".join("uv"[(i + s) % 2] for i in range(m))
        for s, m in rng.integers((0, 3), (2, 8), (80, 2))
    ]
    X = ["a" * len(z) for z in y]
    probability = [
        np.exp(
            AlignedClassifier(C=100.0, chain=chain, window=0)
            .fit(X, y)
            .candidates(["a" * 5], 2)[0][1]
        )
        for chain in (True, False)
    ]
    assert probability[0].sum() > 0.9 and probability[1].sum() < 0.2


def test_one_to_one_needs_no_alignment_and_takes_pictures():
    rng = np.random.default_rng(1)
    shapes = rng.normal(size=(3, 4, 4))
    y = ["".join("pqr"[k] for k in rng.integers(0, 3, rng.integers(2, 6))) for _ in range(60)]
    X = [
        np.stack([shapes["pqr".index(c)] for c in z]) + rng.normal(0, 0.3, (len(z), 4, 4))
        for z in y
    ]
    model = AlignedClassifier(C=1.0).fit(X[:50], y[:50])
    assert np.isnan(model.certainty_)
    assert [found[0] for found, _ in model.candidates(X[50:], 3)] == y[50:]
    with pytest.raises(ValueError, match="must be as long"):
        AlignedClassifier().fit(X, [z + "p" for z in y])


def test_the_classifier_with_one_or_two_labels():
    only = AlignedClassifier().fit(["ab", "b"], ["pp", "p"])
    assert only.candidates(["bab"], 3)[0][0] == ["ppp"]
    two = AlignedClassifier(C=10.0).fit(["ab", "b", "a", "ba"] * 3, ["pq", "q", "p", "qp"] * 3)
    assert two.candidates(["bba"], 3)[0][0][0] == "qqp"
    with pytest.raises(ValueError, match="No output can be cut"):
        AlignedClassifier(max_chunk=1).fit(["a", "b"], ["pq", "qp"])


def test_answers_are_of_the_kind_of_the_outputs():
    words, sounds = dictionary(30, 3)
    for kind in (list, lambda z: np.array([ord(c) for c in z])):
        model = clone(AlignedClassifier(C=1.0)).fit(words, [kind(z) for z in sounds])
        answer = model.candidates(["abb"], 1)[0][0][0]
        assert type(answer) is type(kind("a"))


# -- joint n-grams -----------------------------------------------------------------------------


def test_the_joint_model_is_a_distribution_and_shrinks_to_shorter_histories():
    words, sounds = dictionary(200, 4)
    model = JointNgrams(3).fit(words, sounds)
    pairs = [p for found in model._pairs.values() for p in found] + [("", ("end",))]
    histories = [(), *list(model._totals)[:40], (("z", ("z",)), pairs[0])]
    for history in histories:
        assert_allclose(sum(model._probability(p, history) for p in pairs), 1.0, rtol=1e-9)
    unseen = model._probability(pairs[0], (("z", ("z",)), ("z", ("z",))))
    assert_allclose(unseen, model._probability(pairs[0], ()), rtol=1e-12)


def test_the_joint_model_learns_the_transducer():
    words, sounds = dictionary(400, 0)
    new, wanted = dictionary(60, 1)
    found = JointNgrams(3).fit(words, sounds).candidates(new, 3)
    assert np.mean([f[0] == w for (f, _), w in zip(found, wanted)]) >= 0.75
    assert (
        JointNgrams(1).fit(words, sounds).candidates(["zz"], 3)[0][0]
    )  # nothing known: still an answer
    with pytest.raises(ValueError, match="order == 0"):
        JointNgrams(0).fit(words, sounds)
    with pytest.raises(ValueError, match="No output has chunks"):
        JointNgrams().fit(["a"], ["abcd"])


# -- without alignment -------------------------------------------------------------------------


def test_neighbours_and_their_edits():
    X, y = ["aaaa", "aaab", "bbbb"], ["pppp", "pppq", "qqqq"]
    found, log_p = NeighbourAnswers(n_neighbours=2).fit(X, y).candidates(["aaaa"], 100)[0]
    assert found[0] == "pppp" and found[1] == "pppq" and "ppp" in found and "ppq" in found
    assert "qqqq" not in found and (np.diff(log_p) <= 0).all()
    plain = NeighbourAnswers(n_neighbours=3, edits=False).fit(X, y).candidates(["aaab"], 2)[0]
    assert plain[0] == ["pppq", "pppp"]


def test_a_dictionary_proposes_its_objects():
    X, y = ["a", "b", "c"], ["p", "q", "p"]
    assert Dictionary().fit(X, y).candidates(["a"])[0][0] == ["p", "q"]
    found, log_p = Dictionary(["x", "y"]).fit(X, y).candidates(["a"])[0]
    assert found == ["x", "y"]
    assert_allclose(log_p, np.log(0.5))
    with pytest.raises(ValueError, match="objects is empty"):
        Dictionary([]).fit(X, y)
