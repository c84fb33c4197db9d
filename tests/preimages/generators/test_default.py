"""What ``DependencyRegressor`` does with sequences where the user names nothing."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge

from isthmus import DependencyRegressor, KernelMap
from isthmus.kernels import SequenceKernel, gram
from isthmus.kernels.gram import gram_diagonal
from isthmus.preimages import SequenceSearch

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


def test_few_rows_and_vectors_have_no_candidates():
    few = DependencyRegressor(map=Ridge(1e-6)).fit(WORDS[:12], SOUNDS[:12])
    assert few.search_ == "open" and few.predict(WORDS[:2]) == SOUNDS[:2]
    sizes = few.fit(WORDS, [float(len(w)) for w in WORDS])  # the same object again
    assert sizes.search_ is None and sizes.candidates_ is None
    assert_allclose(sizes.predict(WORDS[:5]), [len(w) for w in WORDS[:5]], atol=0.1)
    numbers = sizes.fit(np.arange(12.0).reshape(6, 2), np.arange(6.0))
    assert numbers.predict(np.zeros((1, 2))).shape == (1,)
