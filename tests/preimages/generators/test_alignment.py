"""Oracles: enumeration of all alignments, a hand-made transducer, and the law that EM never falls."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.preimages.generators import align

# A transducer made by hand: what every letter says, with probabilities.
TRANSDUCER = {
    "a": {("A",): 0.7, ("E",): 0.3},
    "b": {("b",): 1.0},
    "c": {("k",): 0.8, ("s",): 0.2},
    "h": {(): 0.6, ("h",): 0.4},
    "x": {("k", "s"): 1.0},
    "e": {(): 0.5, ("i",): 0.5},
}


def spoken(n, rng, size=(2, 9)):
    """Words, what the transducer makes of them, and the chunks that it used."""
    words, chunks = [], []
    while len(words) < n:
        word = "".join(rng.choice(list(TRANSDUCER), rng.integers(*size)))
        said = []
        for letter in word:
            ways = list(TRANSDUCER[letter])
            said.append(ways[rng.choice(len(ways), p=list(TRANSDUCER[letter].values()))])
        if any(said):
            words.append(word)
            chunks.append(said)
    return words, ["".join("".join(c) for c in row) for row in chunks], chunks


def cuts(word, output, longest=2):
    """All ways to cut an output into one chunk per letter."""
    for sizes in product(range(longest + 1), repeat=len(word)):
        if sum(sizes) == len(output):
            ends = np.cumsum(sizes)
            yield [tuple(output[e - s : e]) for s, e in zip(sizes, ends)]


def likelihood(word, output, p):
    return sum(
        np.prod([p.get((a, c), 0.0) for a, c in zip(word, way)]) for way in cuts(word, output)
    )


def test_one_step_of_em_is_that_of_enumeration():
    words, outputs, _ = spoken(12, np.random.default_rng(0), (2, 5))
    counts = {}
    for word, output in zip(words, outputs):
        ways = list(cuts(word, output))  # all equally likely at the start
        for way in ways:
            for pair in zip(word, way):
                counts[pair] = counts.get(pair, 0.0) + 1.0 / len(ways)
    totals = {a: sum(v for (b, _), v in counts.items() if b == a) for a in "abchxe"}
    found = align(words, outputs, max_iter=1).probabilities
    assert set(found) == set(counts)
    for pair, value in counts.items():
        assert_allclose(found[pair], value / totals[pair[0]], rtol=1e-10)


def test_the_likelihood_is_that_of_enumeration_and_never_falls():
    words, outputs, _ = spoken(30, np.random.default_rng(1), (2, 6))
    history = align(words, outputs, max_iter=8, tol=-np.inf).log_likelihoods
    assert (np.diff(history) >= -1e-9).all()
    before = align(words, outputs, max_iter=7, tol=-np.inf).probabilities
    direct = sum(np.log(likelihood(w, o, before)) for w, o in zip(words, outputs))
    assert_allclose(history[7], direct, rtol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_finds_the_transducer(seed):
    words, outputs, chunks = spoken(400, np.random.default_rng(seed))
    found = align(words, outputs)
    assert all(
        tuple("".join("".join(c) for c in row)) == tuple(o) for row, o in zip(found.chunks, outputs)
    )
    # "ch" and "cx" leave open who says k; 95 % of the places are sure.
    places = [a == b for row, own in zip(chunks, found.chunks) for a, b in zip(row, own)]
    assert np.mean(places) > 0.95
    for letter, ways in TRANSDUCER.items():
        for chunk, share in ways.items():
            assert abs(found.probabilities[letter, chunk] - share) < 0.12


def test_the_alignment_is_the_most_probable_of_all():
    words, outputs, _ = spoken(40, np.random.default_rng(2), (2, 6))
    found = align(words, outputs)
    for word, output, own in zip(words, outputs, found.chunks):
        values = [
            np.prod([found.probabilities[a, c] for a, c in zip(word, way)])
            for way in cuts(word, output)
        ]
        assert_allclose(
            np.prod([found.probabilities[a, c] for a, c in zip(word, own)]), max(values), rtol=1e-9
        )


def test_outputs_that_are_too_long_have_no_alignment():
    found = align(["ab", "a", "b", "a"], ["AB", "ABC", "B", "A"])
    assert found.chunks[1] is None and found.chunks[0] == [("A",), ("B",)]
    assert align(["a"], ["ABC"]).chunks == [None]
    assert align(["ab", "a"], ["AB", "ABC"], max_chunk=3).chunks[1] == [("A", "B", "C")]
    with pytest.raises(ValueError, match="max_chunk == 0, must be >= 1"):
        align(["ab"], ["AB"], max_chunk=0)


def test_long_sequences_do_not_underflow_and_order_does_not_matter():
    rng = np.random.default_rng(3)
    words, outputs, _ = spoken(3, rng, (300, 320))
    found = align(words, outputs, max_iter=2)
    assert np.isfinite(found.log_likelihoods).all()
    order = [2, 0, 1]
    again = align([words[i] for i in order], [outputs[i] for i in order], max_iter=2)
    assert_allclose(found.log_likelihoods, again.log_likelihoods, rtol=1e-10)


def test_tokens_of_any_kind():
    words, outputs, _ = spoken(20, np.random.default_rng(4))
    strings = align(words, outputs)
    lists = align([list(w) for w in words], [np.array([ord(c) for c in o]) for o in outputs])
    for a, b in zip(strings.chunks, lists.chunks):
        assert [tuple(map(ord, c)) for c in a] == [tuple(map(int, c)) for c in b]
