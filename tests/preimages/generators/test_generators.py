"""Oracles: enumeration of all paths, brute-force probabilities, and a transducer made by hand."""

from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from isthmus._solvers.paths import best_paths
from isthmus.preimages.generators import (
    AlignedClassifier,
    Dictionary,
    JointNgrams,
    LogPool,
    NeighbourAnswers,
)
from isthmus.preimages.generators.windows import SymbolWindows, VectorWindows

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


@pytest.mark.parametrize("chain", [True, False])
def test_candidates_are_the_most_probable_of_all_chains(chain):
    words, sounds = dictionary(60, 2, "abx")
    model = AlignedClassifier(C=1.0, chain=chain, prune=0.0).fit(words, sounds)
    places = model.places_.scores(*model._features(["abx"]))
    everything = np.arange(len(model.labels_) + 1) if chain else np.zeros(0, dtype=int)
    steps = [np.exp(place.log_probabilities(everything)) for place in places]
    for step in steps:
        assert_allclose(step.sum(axis=1), 1.0)
    sums = {}
    for path in product(*(range(len(place.labels)) for place in places)):
        labels = [place.labels[k] for place, k in zip(places, path)]
        before = [-1, *labels[:-1]] if chain else [0, 0, 0]
        value = np.prod([step[b, k] for step, b, k in zip(steps, before, path)])
        output = "".join("".join(model.labels_[label]) for label in labels)
        sums[output] = sums.get(output, 0.0) + value
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
    assert all(len(chunk) == 1 for chunk in model.labels_)
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


def test_a_chain_that_carries_errors_on_is_not_taken():
    """States that last long, seen through noise: after a wrong one the chain stays with it."""
    rng = np.random.default_rng(0)
    X, y = [], []
    for _ in range(60):
        state = np.cumsum(rng.random(80) < 0.04) % 2
        seen = np.where(rng.random(80) < 0.4, 1 - state, state)
        X.append("".join(map("ab".__getitem__, seen)))
        y.append("".join(map("pq".__getitem__, state)))
    found = {}
    for chain in (True, False, "auto"):
        model = AlignedClassifier(chain=chain, C=1.0).fit(X[:40], y[:40])
        answers = [own[0] for own, _ in model.candidates(X[40:], 1)]
        found[chain] = np.mean([a != b for z, t in zip(answers, y[40:]) for a, b in zip(z, t)])
    assert found[False] < found[True] - 0.1
    assert found["auto"] == found[False] and model.chain_ is False
    words, sounds = dictionary(30, 3)
    assert AlignedClassifier(C=1.0).fit(words, sounds).chain_  # lengths differ
    with pytest.raises(ValueError, match="chain == 'perhaps'"):
        AlignedClassifier(chain="perhaps").fit(X, y)


# -- joint n-grams -----------------------------------------------------------------------------


def test_the_joint_model_is_a_distribution_and_shrinks_to_shorter_histories():
    words, sounds = dictionary(200, 4)
    model = JointNgrams(3).fit(words, sounds)
    a = ("a", ("A",))
    for history in [(), *list(model._totals)[:40], (("z", ("z",)), a)]:
        shares = [model._probabilities(history, letter) for letter in model._places]
        assert_allclose(np.concatenate(shares).sum(), 1.0, rtol=1e-9)
    unseen = model._probabilities((("z", ("z",)), ("z", ("z",))), "a")
    assert_allclose(unseen, model._probabilities((), "a"), rtol=1e-12)


def test_the_joint_model_is_smoothed_as_kneser_and_ney_say():
    """Oracle: the formula, pair by pair, from counts made by hand."""
    words, sounds = dictionary(80, 5)
    model = JointNgrams(3).fit(words, sounds)
    begin, end = ("", ("begin",)), ("", ("end",))
    lines = [[begin, begin, *line, end] for line in model.lines_]
    grams = [tuple(line[i - 2 : i + 1]) for line in lines for i in range(2, len(line))]
    counts = {3: Counter(grams)}
    counts[2] = Counter(gram[1:] for gram in set(grams))
    counts[1] = Counter(gram[1:] for gram in counts[2])

    def direct(pair, history):
        order = len(history) + 1
        lower = direct(pair, history[1:]) if history else 1.0 / model.n_pairs_
        after = {g: c for g, c in counts[order].items() if g[:-1] == history}
        if not after:
            return lower
        once, twice = (sum(c == k for c in counts[order].values()) for k in (1, 2))
        D, total = once / (once + 2 * twice), sum(after.values())
        own = max(after.get((*history, pair), 0) - D, 0.0)
        return own / total + D * len(after) / total * lower

    for history in [(), grams[5][1:2], grams[7][:2], grams[40][:2]]:
        for letter in "abx":
            wanted = [direct(pair, history) for pair in model._places[letter]]
            assert_allclose(model._probabilities(history, letter), wanted, rtol=1e-10)


def test_joint_candidates_have_the_probability_of_all_their_chains():
    """Oracle: every chain of pairs, each after its whole history, though a beam keeps what was counted."""
    words, sounds = dictionary(60, 6)
    model = JointNgrams(4, beam_width=10**4).fit(words, sounds)
    begin, end = ("", ("begin",)), ("", ("end",))
    for word in ("abx", "xxba"):
        chances = Counter()
        for chain in product(*(model._places[letter] for letter in word)):
            line, chance = [begin] * 3, 1.0
            for letter, pair in zip([*word, end], [*chain, end]):
                place = model._places[letter][pair]
                chance *= model._probabilities(tuple(line[-3:]), letter)[place]
                line.append(pair)
            chances["".join(token for _, chunk in chain for token in chunk)] += chance
        del chances[""]
        found, log_p = model.candidates([word], 10**4)[0]
        assert_allclose(np.exp(log_p), [chances[z] for z in found], rtol=1e-9)
        assert sorted(found) == sorted(chances)


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
    with pytest.raises(ValueError, match="No output can be cut into chunks"):
        JointNgrams(max_chunk=2).fit(["a"], ["abcd"])


def test_a_pool_multiplies_probabilities():
    words, sounds = dictionary(60, 6)
    new, _ = dictionary(8, 7)
    parts = [AlignedClassifier(C=1.0), JointNgrams(3)]
    pool = LogPool(parts).fit(words, sounds)
    lists = [part.fit(words, sounds).candidates(new, 5) for part in parts]
    for t, (found, log_p) in enumerate(pool.candidates(new, 5)):
        shares = [dict(zip(own[t][0], np.exp(own[t][1]))) for own in lists]
        shares = [{z: p / sum(share.values()) for z, p in share.items()} for share in shares]
        union = {z for share in shares for z in share}
        wanted = {
            z: np.prod([share.get(z, min(share.values()) / 2) for share in shares]) ** 0.5
            for z in union
        }
        assert len(found) == min(5, len(union))
        assert_allclose(np.exp(log_p), sorted(wanted.values(), reverse=True)[:5], rtol=1e-9)
        assert_allclose([wanted[z] for z in found], np.exp(log_p), rtol=1e-9)
    with pytest.raises(ValueError, match="generators is empty"):
        LogPool([]).fit(words, sounds)


@pytest.mark.parametrize("model", [AlignedClassifier(C=1.0), JointNgrams(2), LogPool()], ids=str)
def test_empty_sequences_are_named(model):
    with pytest.raises(ValueError, match=r"X\[1\] is an empty sequence"):
        clone(model).fit(["a", ""], ["p", "q"])
    with pytest.raises(ValueError, match=r"y\[0\] is an empty sequence"):
        clone(model).fit(["a", "b"], ["", "q"])
    with pytest.raises(ValueError, match=r"X\[0\] is an empty sequence"):
        clone(model).fit(["a", "b"], ["p", "q"]).candidates([""])


def test_a_symbol_that_was_never_seen():
    """Silent where letters can be silent, else whatever is frequent; never an error."""
    words, sounds = dictionary(120, 8)
    for model in (AlignedClassifier(C=1.0), JointNgrams(3), LogPool()):
        assert model.fit(words, sounds).candidates(["a'b"], 3)[0][0][0] == "Ab"
        assert model.candidates(["''"], 3)[0][0]
    equal = AlignedClassifier(C=1.0).fit(["ab", "ba", "bb"], ["pq", "qp", "qq"])
    assert len(equal.candidates(["zzz"], 3)[0][0][0]) == 3


@pytest.mark.parametrize("n_in", [3, 60])
def test_alphabets_of_any_size_as_lists_of_tokens(n_in):
    """Tokens of several characters; every input token says zero to three of its own."""
    rng = np.random.default_rng(n_in)
    said_by = [[f"S{k}" for k in rng.integers(0, 90, rng.integers(0, 4))] for _ in range(n_in)]
    rows = [rng.integers(0, n_in, rng.integers(2, 7)) for _ in range(40 * n_in)]
    pairs = [([f"L{k}" for k in row], [s for k in row for s in said_by[k]]) for row in rows]
    X, y = map(list, zip(*[(a, b) for a, b in pairs if b]))
    model = AlignedClassifier(C=3.0).fit(X[:-30], y[:-30])
    found = [objects[0] for objects, _ in model.candidates(X[-30:], 2)]
    assert np.mean([a == b for a, b in zip(found, y[-30:])]) > 0.9


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
