"""Oracles: losses by Gram matrices, kernel ridge by scikit-learn, planted transducers, and spies."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, clone
from sklearn.kernel_ridge import KernelRidge

from isthmus.dependency import CandidateRegressor
from isthmus.kernels import SequenceKernel, SpectrumKernel, gram
from isthmus.kernels.gram import gram_diagonal
from isthmus.preimages.object_losses import ObjectLosses
from isthmus.sequences import AlignedClassifier, Dictionary, LogPool, NeighbourAnswers

from .test_generators import dictionary

WORDS, SOUNDS = dictionary(90, 0)
NEW, WANTED = dictionary(40, 1)


@pytest.mark.parametrize(
    "kernel", [SequenceKernel(0.3, normalise=True), SequenceKernel(0.2), SpectrumKernel(2)], ids=str
)
def test_losses_are_those_of_gram_matrices(kernel):
    coef = np.random.default_rng(0).normal(size=len(SOUNDS))
    for objects in (WANTED, [*WANTED[:3], "zzz"]):  # the last has a symbol that no point has
        direct = gram_diagonal(kernel, objects) - 2 * gram(kernel, objects, SOUNDS) @ coef
        assert_allclose(ObjectLosses(kernel, SOUNDS)(coef, objects), direct, atol=1e-9)


def test_coefficients_are_those_of_kernel_ridge():
    model = CandidateRegressor(AlignedClassifier(C=3.0), alpha=0.1, weight=1.0).fit(WORDS, SOUNDS)
    K, K_new = gram(model.kernel_x_, WORDS), gram(model.kernel_x_, NEW, WORDS)
    n = len(WORDS)
    H = np.eye(n) - 1 / n
    ridge = KernelRidge(alpha=0.1, kernel="precomputed").fit(H @ K @ H, H)
    direct = ridge.predict((K_new - K.mean(axis=0)) @ H) + 1 / n
    assert_allclose(model.coefficients(NEW), direct, atol=1e-8)
    found, values = model.rank(NEW[:1])[0]
    objects, log_p = model.generator_.candidates(NEW[:1], 30)[0]
    L = gram(model.kernel_y_, objects, SOUNDS)
    wanted = 1 - 2 * L @ direct[0] - log_p
    assert_allclose(values, np.sort(wanted), atol=1e-8)
    assert found == [objects[i] for i in np.argsort(wanted, kind="stable")]


class Spy(AlignedClassifier):
    """Remembers what every fit has seen, and whom it was asked about."""

    log: list = []

    def fit(self, X, y):
        self._own = set(X)
        return super().fit(X, y)

    def candidates(self, X, n_best=30):
        Spy.log.append((self._own, set(X)))
        return super().candidates(X, n_best)


def test_no_generator_proposes_for_rows_that_it_has_seen():
    Spy.log.clear()
    words = sorted(set(WORDS))
    CandidateRegressor(Spy(C=1.0), alpha=0.1).fit(
        words, [dict(zip(WORDS, SOUNDS))[w] for w in words]
    )
    assert len(Spy.log) == 3
    assert all(not seen & asked for seen, asked in Spy.log)
    assert set().union(*(asked for _, asked in Spy.log)) == set(words)


class Fixed(BaseEstimator):
    """Proposes the same wrong answers whatever it was fitted to."""

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def candidates(self, X, n_best=30):
        return [(["uu", "vv", "uv"], np.log([0.5, 0.3, 0.2])) for _ in X]


def test_the_true_answer_is_never_added():
    model = CandidateRegressor(Fixed()).fit(WORDS, SOUNDS)
    assert set(model.predict(NEW)) <= {"uu", "vv", "uv"}
    assert model.cv_results_["covered"] == 0.0 and not model.cv_results_["exact"].any()


def test_the_default_takes_the_alignment_where_there_is_one():
    model = CandidateRegressor().fit(WORDS, SOUNDS)
    assert isinstance(model.generator_, LogPool)
    alone = [found[0] for found, _ in model.generator_.candidates(NEW, 1)]
    right = [
        np.mean([a == b for a, b in zip(found, WANTED)]) for found in (model.predict(NEW), alone)
    ]
    assert right[0] >= right[1] and right[0] > 0.6
    assert model.score(NEW, WANTED) > 0.7
    shown = model.predict(NEW[:2], n_best=3)
    assert [s[0] for s in shown] == model.predict(NEW[:2]) and len(shown[0]) == 3
    results = model.cv_results_
    at = list(results["alpha"]).index(model.alpha_), list(results["weight"]).index(model.weight_)
    assert results["loss"][at] == results["loss"].min()


def test_the_default_takes_neighbours_where_order_is_lost():
    """Outputs are fixed names of groups of inputs: no symbol of one belongs to a symbol of the other."""
    rng = np.random.default_rng(0)
    groups = ["aab", "ccd", "eef", "ggh"]
    names = ["ponmlk", "klmnop", "mkpoln", "nlokpm"]
    pick = rng.integers(0, 4, 80)
    X = ["".join(rng.permutation(list(groups[g] * 2))) for g in pick]
    model = CandidateRegressor().fit(X, [names[g] for g in pick])
    assert model.score(X, [names[g] for g in pick]) > 0.99


def test_outputs_too_long_to_align_have_neighbours():
    X = ["a", "b", "ab", "ba"] * 3
    model = CandidateRegressor(kernel=SequenceKernel(0.5)).fit(X, [x * 6 for x in X])
    assert isinstance(model.generator_, NeighbourAnswers)
    assert model.predict(["ab"]) == ["ab" * 6]


def test_a_dictionary_is_ranked_by_kernels_alone():
    words = sorted(set(SOUNDS) | set(WANTED))
    model = CandidateRegressor(Dictionary(words), alpha=0.01, weight=0.0).fit(WORDS, SOUNDS)
    found, values = model.rank(NEW[:1])[0]
    assert sorted(found) == words and (np.diff(values) >= 0).all()
    right = np.mean([a == b for a, b in zip(model.predict(NEW), WANTED)])
    assert right > 0.3  # of about 150


def test_inputs_may_be_vectors():
    """Words of a list, from noisy measurements; the width of the kernel is set once, by the data."""
    rng = np.random.default_rng(0)
    words, places = ["bat", "cab", "tack"], np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])
    which = rng.integers(0, 3, 45)
    X = places[which] + 0.5 * rng.normal(size=(45, 2))
    for generator in (Dictionary(words), "auto"):
        model = CandidateRegressor(generator, kernel="rbf").fit(X, [words[k] for k in which])
        assert model.predict(places) == words
        assert model.kernel_x_.gamma > 0
        assert_allclose(model.coefficients(places).sum(axis=1), 1.0)  # the intercept's


def test_the_scale_of_the_kernel_does_not_matter():
    words, sounds = WORDS[:40], SOUNDS[:40]
    options = {"generator": AlignedClassifier(C=3.0), "n_candidates": 5}
    model = CandidateRegressor(**options).fit(words, sounds)
    big = SequenceKernel(0.3, normalise=True) * 100.0
    scaled = CandidateRegressor(**options, kernel_y=big).fit(words, sounds)
    assert_allclose(scaled.weight_, 100 * model.weight_, rtol=1e-6)
    assert scaled.predict(NEW[:9]) == model.predict(NEW[:9])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weight": -1.0}, "weight == -1.0"),
        ({"n_candidates": 0}, "n_candidates == 0"),
        ({"cv": 1}, "cv == 1"),
        ({"alpha": 0.0}, "alpha == 0.0"),
        ({"generator": "crystal ball"}, "generator == 'crystal ball'"),
    ],
)
def test_what_is_wrong_is_told(options, message):
    with pytest.raises(ValueError, match=message):
        CandidateRegressor(**options).fit(WORDS, SOUNDS)
    model = clone(CandidateRegressor(NeighbourAnswers(), alpha=0.1, weight=0.0)).fit(WORDS, SOUNDS)
    with pytest.raises(ValueError, match="n_best == 0"):
        model.predict(NEW, n_best=0)
