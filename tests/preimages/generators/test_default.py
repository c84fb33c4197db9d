"""What ``DependencyRegressor`` does with sequences where the user names nothing."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator
from sklearn.linear_model import Ridge

from isthmus import DependencyRegressor, KernelMap
from isthmus.dependency.candidates import CandidateRanking
from isthmus.dependency.held_out import HeldOut, choose, middle_of_best
from isthmus.dependency.open_choice import beats, choose_open
from isthmus.kernels import PositionKernel, SequenceKernel, gram
from isthmus.kernels.gram_matrix import gram_diagonal
from isthmus.preimages import AlignedClassifier, SequenceSearch

from .test_generators import dictionary

WORDS, SOUNDS = dictionary(60, 0)
NEW, WANTED = dictionary(25, 1)


@pytest.fixture(scope="module")
def model():
    return DependencyRegressor().fit(WORDS, SOUNDS)


def test_aligned_sequences_have_candidates(model):
    assert model.search_ == "candidates"
    found = model.predict(NEW)
    outputs = KernelMap(kernel=SequenceKernel(0.3, normalise=True), preimage=SequenceSearch("beam"))
    inputs = KernelMap(kernel=SequenceKernel(0.3, normalise=True))
    by_search = DependencyRegressor(inputs, outputs=outputs).fit(WORDS, SOUNDS)
    assert by_search.search_ == "open" and by_search.candidates_ is None
    right = [
        np.mean([a == b for a, b in zip(answers, WANTED)])
        for answers in (found, by_search.predict(NEW))
    ]
    assert right[0] > right[1] + 0.1
    assert [own[0] for own in model.predict(NEW, n_best=3)] == found


def test_losses_are_distances_from_the_predicted_point(model):
    answers, losses = model.predict(NEW[:4], n_best=2, return_loss=True)
    kernel = SequenceKernel(0.3, normalise=True)
    G = model.outputs_.expand(model.predict_embedding(NEW[:4]))
    L = gram(kernel, SOUNDS)
    for own, g, loss in zip(answers, G, losses):
        direct = gram_diagonal(kernel, own) - 2 * gram(kernel, own, SOUNDS) @ g + g @ L @ g
        assert_allclose(loss, direct, atol=1e-8)
    alone, first = model.predict(NEW[:4], return_loss=True)
    assert alone == [own[0] for own in answers]
    assert_allclose(first, losses[:, 0])


def test_options_of_the_open_search_use_it(model):
    assert all(len(z) == 3 for z in model.predict(NEW[:3], sizes=[3, 3, 3]))


def test_lists_of_phonemes_are_as_good_as_strings(model):
    lists = DependencyRegressor().fit(
        [list(w) for w in WORDS], [[f"<{c}>" for c in s] for s in SOUNDS]
    )
    found = lists.predict([list(w) for w in NEW])
    assert ["".join(t[1] for t in z) for z in found] == model.predict(NEW)


def test_outputs_in_another_order_are_searched_for():
    turned = DependencyRegressor(map=Ridge(1e-3)).fit(WORDS, [s[::-1] for s in SOUNDS])
    assert turned.search_ == "open"
    assert turned.score(NEW, [s[::-1] for s in WANTED]) > 0.5


def test_outputs_as_long_as_inputs_are_compared_place_by_place():
    """Words of two letters that come in every order: a neighbour has the right ones at wrong places."""
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("abc"), 12)) for _ in range(60)]
    y = [x.translate(str.maketrans("abc", "pqr")) for x in X]
    found = DependencyRegressor().fit(X, y)
    assert found.search_ == "candidates"
    first = found.candidates_.cv_results_["generators"]
    assert first["aligned"] < 0.05 and first["neighbours"] > 0.3  # shares of wrong places
    assert found.predict(X[:3]) == y[:3]


class Shifted(BaseEstimator):
    """Answers every letter but the first ``n_wrong``, which it gets wrong, and knows no other answer."""

    def __init__(self, n_wrong):
        self.n_wrong = n_wrong

    def fit(self, X, y):
        return self

    def candidates(self, X, n_best=30):
        return [(["z" * self.n_wrong + x.upper()[self.n_wrong :]], np.zeros(1)) for x in X]


@pytest.mark.parametrize(
    ("n_wrong", "taken"),
    [((2, 1, 3), 1), ((1, 2, 3), 1), ((2, 2, 3), 2), ((3, 2, 1), None), ((2, 1, 1), None)],
)
def test_the_generator_with_fewest_wrong_places_is_taken(n_wrong, taken):
    """None: the last one, which needs no alignment, is as good as any."""
    generators = dict(zip(("aligned", "places", "neighbours"), map(Shifted, n_wrong)))
    words = [word for word in WORDS if len(word) > 3]
    kernel = SequenceKernel(0.3, normalise=True)
    found = CandidateRanking(kernel, kernel).fit(words, [w.upper() for w in words], generators)
    if taken is None:
        assert found is None
    else:
        assert found.generator_.n_wrong == taken
        length = np.mean(
            [len(words[i]) for i in HeldOut(words, words, np.arange(len(words)), 1).folds[0][1]]
        )
        wrong = found.cv_results_["generators"]
        assert_allclose([wrong[name] * length for name in generators], n_wrong)


@pytest.mark.parametrize(("gain", "taken"), [(-0.5, "first"), (0.05, "first"), (0.5, "second")])
def test_a_later_generator_must_be_better_by_a_standard_error(gain, taken):
    noise = np.tile([-1.0, 1.0], 50)  # of the difference: standard error 0.1
    base = np.arange(100.0)
    assert choose({"first": base + gain, "second": base + noise}) == taken


@pytest.mark.parametrize(
    ("losses", "best"),
    [
        ([[3.0, 2.0, 1.0], [3.0, 4.0, 5.0]], (0, 2)),  # no other is as good
        ([[1.0, 1.0, 1.0, 2.0], [2.0, 1.0, 2.0, 2.0]], (0, 1)),
        ([[2.0, 1.0, 2.0, 2.0], [2.0, 1.0, 1.0, 2.0]], (1, 2)),  # most of the second ridge
        ([[0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0]], (0, 2)),
    ],
)
def test_the_middle_of_equally_good_weights_is_taken(losses, best):
    assert middle_of_best(np.array(losses)) == best


def test_few_rows_and_vectors_have_no_candidates():
    few = DependencyRegressor(map=Ridge(1e-6)).fit(WORDS[:12], SOUNDS[:12])
    assert few.search_ == "open" and few.predict(WORDS[:2]) == SOUNDS[:2]
    sizes = few.fit(WORDS, [float(len(w)) for w in WORDS])  # the same object again
    assert sizes.search_ is None and sizes.candidates_ is None
    assert_allclose(sizes.predict(WORDS[:5]), [len(w) for w in WORDS[:5]], atol=0.1)
    numbers = sizes.fit(np.arange(12.0).reshape(6, 2), np.arange(6.0))
    assert numbers.predict(np.zeros((1, 2))).shape == (1,)


def test_reversed_words_have_an_open_search_that_knows_places():
    """Nothing aligns from left to right: candidates are wrong and words at places are right."""
    rng = np.random.default_rng(0)
    words = sorted({"".join(rng.choice(list("abcde"), rng.integers(3, 5))) for _ in range(110)})
    words = [words[i] for i in rng.permutation(len(words))[:75]]
    trial = HeldOut(words, [word[::-1] for word in words], np.arange(75), 30)
    found = choose_open(trial, DependencyRegressor)
    assert found is not None and isinstance(found.outputs.kernel, SequenceKernel)
    assert found.inputs.kernel != found.outputs.kernel and found.distances.mean() < 0.3
    assert beats(found, trial, AlignedClassifier(chain=False))


def different_words(n, seed):
    rng, found = np.random.default_rng(seed), set()
    while len(found) < n:
        found.add("".join(rng.choice(list("abcde"), rng.integers(3, 6))))
    return [sorted(found)[i] for i in rng.permutation(n)]


def reverse(words):
    return [word[::-1] for word in words]


def spell(words):
    """Other letters, of which every fifth is not heard."""
    rng, names = np.random.default_rng(0), dict(zip("abcde", "vwxyz"))
    return ["".join(names[c] if rng.random() < 0.8 else "q" for c in word) for word in words]


@pytest.mark.parametrize(
    ("outputs_of", "n", "search"), [(reverse, 45, "open"), (spell, 40, "candidates")]
)
def test_the_order_of_rows_does_not_matter(outputs_of, n, search):
    """Folds are dealt by content: kernels, generators and weights are chosen by the same rows."""
    words = different_words(80, 0)
    outputs, new = outputs_of(words[:n]), words[n : n + 20]
    answers, losses = DependencyRegressor().fit(words[:n], outputs).predict(new, return_loss=True)
    for seed in (1, 3):
        order = np.random.default_rng(seed).permutation(n)
        model = DependencyRegressor().fit([words[i] for i in order], [outputs[i] for i in order])
        assert model.search_ == search
        others, their_losses = model.predict(new, return_loss=True)
        assert_allclose(their_losses, losses, atol=1e-9)
        # Two answers with the same pieces have the same loss: rounding chooses one.
        same = [a == b for a, b in zip(answers, others)]
        assert np.mean(same) >= 0.9


def test_copies_are_held_out_together():
    words = [*WORDS[:20], *WORDS[:10], *WORDS[:10]]
    folds = HeldOut(words, words, np.arange(40), 1).folds
    assert sorted(np.concatenate([held for _, held in folds])) == list(range(40))
    for kept, held in folds:
        assert not {words[i] for i in kept} & {words[i] for i in held}
    one = HeldOut(["ab"] * 6, ["cd"] * 6, np.arange(6), 1).folds  # nothing else can be held out
    assert [len(held) for _, held in one] == [2, 2, 2]


def test_a_classifier_is_chosen_by_inputs_that_it_was_not_fitted_to():
    words = [*different_words(12, 1), *["abc"] * 8]
    labels = [np.zeros(len(word), dtype=np.int64) for word in words]
    held, kept = AlignedClassifier()._split(words, labels)
    assert len(held) and sorted([*held, *kept]) == list(range(20))
    assert not {words[i] for i in kept} & {words[i] for i in held}
    order = np.random.default_rng(0).permutation(20)
    again, _ = AlignedClassifier()._split([words[i] for i in order], [labels[i] for i in order])
    assert [words[i] for i in held] == [words[order[i]] for i in again]
    held, kept = AlignedClassifier()._split(words[-8:], labels[-8:])
    assert (len(held), len(kept)) == (2, 6)


def test_digits_keep_their_order():
    """Spoken ones come before tens and are written after them: pieces alone do not say which is first."""
    tens, ones = "ten twenty thirty forty fifty sixty seventy", "one two three four five six seven"
    pairs = [
        (one + ten, f"{j}{i}" + "0" * (i % 2))
        for i, one in enumerate(ones.split(), start=1)
        for j, ten in enumerate(tens.split(), start=1)
    ]
    pairs = [pairs[i] for i in np.random.default_rng(0).permutation(len(pairs))]
    new, truth = [x for x, _ in pairs[39:]], [y for _, y in pairs[39:]]
    model = DependencyRegressor().fit([x for x, _ in pairs[:39]], [y for _, y in pairs[:39]])
    assert model.search_ == "open" and isinstance(model.outputs_.kernel, PositionKernel)
    assert np.mean([a == b for a, b in zip(model.predict(new), truth)]) >= 0.8
    fixed = DependencyRegressor(candidates=None).fit(
        [x for x, _ in pairs[:39]], [y for _, y in pairs[:39]]
    )
    assert np.mean([a == b for a, b in zip(fixed.predict(new), truth)]) < 0.8
