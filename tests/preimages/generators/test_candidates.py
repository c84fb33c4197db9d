"""Oracles: losses by Gram matrices, kernel ridge by scikit-learn, planted transducers, and spies."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge, RidgeCV

from isthmus import PLS, DependencyRegressor, KernelMap, Landmarks
from isthmus.dependency.candidates import CandidateRanking
from isthmus.kernels import SequenceKernel, SpectrumKernel, gram
from isthmus.kernels.gram_matrix import gram_diagonal
from isthmus.preimages.generators import AlignedClassifier, Dictionary, LogPool, NeighbourAnswers
from isthmus.preimages.object_losses import ObjectLosses

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
        losses = ObjectLosses(kernel, SOUNDS)
        assert_allclose(losses(coef, objects), direct, atol=1e-9)
        several = losses(np.array([coef, -coef]), objects)
        assert_allclose(several, [direct, 2 * gram_diagonal(kernel, objects) - direct], atol=1e-9)


KERNEL = SequenceKernel(0.3, normalise=True)


def ranking(generator, words=WORDS, sounds=SOUNDS, kernel_y=KERNEL, **options):
    return CandidateRanking(KERNEL, kernel_y, **options).fit(words, sounds, {"given": generator})


def test_coefficients_are_those_of_kernel_ridge():
    model = ranking(AlignedClassifier(C=3.0), alphas=[0.1], weight=1.0)
    K, K_new = gram(KERNEL, WORDS), gram(KERNEL, NEW, WORDS)
    n = len(WORDS)
    H = np.eye(n) - 1 / n
    ridge = KernelRidge(alpha=0.1, kernel="precomputed").fit(H @ K @ H, H)
    direct = ridge.predict((K_new - K.mean(axis=0)) @ H) + 1 / n
    assert_allclose(model.coefficients(NEW), direct, atol=1e-8)
    found, values = model.rank(NEW[:1])[0]
    objects, log_p = model.generator_.candidates(NEW[:1], 30)[0]
    L = gram(KERNEL, objects, SOUNDS)
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
    ranking(Spy(C=1.0), words, [dict(zip(WORDS, SOUNDS))[w] for w in words], alphas=[0.1])
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
    model = DependencyRegressor(candidates=Fixed()).fit(WORDS, SOUNDS)
    assert set(model.predict(NEW)) <= {"uu", "vv", "uv"}
    results = model.candidates_.cv_results_
    assert results["covered"] == 0.0 and not results["exact"].any()


def test_the_default_takes_the_alignment_where_there_is_one():
    model = DependencyRegressor().fit(WORDS, SOUNDS)
    chosen = model.candidates_
    assert isinstance(chosen.generator_, LogPool)
    alone = [found[0] for found, _ in chosen.generator_.candidates(NEW, 1)]
    right = [
        np.mean([a == b for a, b in zip(found, WANTED)]) for found in (model.predict(NEW), alone)
    ]
    assert right[0] >= right[1] and right[0] > 0.6
    assert model.score(NEW, WANTED) > 0.7
    shown = model.predict(NEW[:2], n_best=3)
    assert [s[0] for s in shown] == model.predict(NEW[:2]) and len(shown[0]) == 3
    results = chosen.cv_results_
    at = list(results["alpha"]).index(chosen.alpha_), list(results["weight"]).index(chosen.weight_)
    assert results["loss"][at] == results["loss"].min()


def test_the_point_is_predicted_with_the_ridge_of_the_ranking():
    model = DependencyRegressor(candidates=AlignedClassifier(C=3.0)).fit(WORDS, SOUNDS)
    G = model.outputs_.expand(model.predict_embedding(NEW[:5]))
    L = gram(KERNEL, WANTED, SOUNDS)
    assert_allclose(G @ L.T, model.candidates_.coefficients(NEW[:5]) @ L.T, atol=1e-7)


def test_outputs_whose_order_is_lost_and_outputs_too_long_are_searched_for():
    """Outputs are fixed names of groups of inputs: no symbol of one belongs to a symbol of the other."""
    rng = np.random.default_rng(0)
    groups = ["aab", "ccd", "eef", "ggh"]
    names = ["ponmlk", "klmnop", "mkpoln", "nlokpm"]
    pick = rng.integers(0, 4, 80)
    X = ["".join(rng.permutation(list(groups[g] * 2))) for g in pick]
    y = [names[g] for g in pick]
    assert DependencyRegressor().fit(X, y).search_ == "open"
    by_neighbours = DependencyRegressor(candidates=NeighbourAnswers()).fit(X, y)
    assert by_neighbours.search_ == "candidates" and by_neighbours.score(X, y) > 0.99
    X = ["a", "b", "ab", "ba"] * 8
    assert DependencyRegressor().fit(X, [x * 6 for x in X]).search_ == "open"


def test_a_dictionary_is_ranked_by_kernels_alone():
    words = sorted(set(SOUNDS) | set(WANTED))
    model = ranking(Dictionary(words), alphas=[0.01])
    assert model.weight_ == 0.0
    found, values = model.rank(NEW[:1])[0]
    assert sorted(found) == words and (np.diff(values) >= 0).all()
    right = np.mean([own[0] == b for (own, _), b in zip(model.rank(NEW), WANTED)])
    assert right > 0.3  # of about 150


def test_more_answers_than_usual_can_be_asked_for():
    model = DependencyRegressor(candidates=NeighbourAnswers()).fit(WORDS, SOUNDS)
    assert len(model.predict(NEW[:1], n_best=50)[0]) == 50


def test_inputs_may_be_vectors():
    """Words of a list, from noisy measurements; the width of the kernel is set once, by the data."""
    rng = np.random.default_rng(0)
    words, places = ["bat", "cab", "tack"], np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])
    which = rng.integers(0, 3, 45)
    X = places[which] + 0.5 * rng.normal(size=(45, 2))
    model = DependencyRegressor(candidates=Dictionary(words)).fit(X, [words[k] for k in which])
    assert model.predict(places) == words
    assert model.candidates_.kernel_x.gamma > 0
    assert_allclose(model.candidates_.coefficients(places).sum(axis=1), 1.0)  # the intercept's


def test_the_scale_of_the_kernel_does_not_matter():
    words, sounds = WORDS[:40], SOUNDS[:40]
    model = ranking(AlignedClassifier(C=3.0), words, sounds, n_candidates=5)
    scaled = ranking(AlignedClassifier(C=3.0), words, sounds, KERNEL * 100.0, n_candidates=5)
    assert_allclose(scaled.weight_, 100 * model.weight_, rtol=1e-6)
    first = [[found[0] for found, _ in own.rank(NEW[:9])] for own in (model, scaled)]
    assert first[0] == first[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"candidates": "crystal ball"}, "candidates == 'crystal ball', must be 'auto', None or"),
        ({"map": PLS(3)}, r"map == PLS\(n_components=3\), must be None, Ridge or RidgeCV"),
        ({"inputs": Landmarks(5)}, "needs a KernelMap, or None, as inputs"),
        ({"outputs": KernelMap(kernel="precomputed")}, "one is 'precomputed'"),
    ],
    ids=["name", "map", "inputs", "outputs"],
)
def test_what_is_wrong_is_told(options, message):
    options = {"candidates": NeighbourAnswers(), **options}
    with pytest.raises(ValueError, match=message):
        DependencyRegressor(**options).fit(
            np.eye(30), np.eye(30) if "outputs" in options else SOUNDS[:30]
        )


def test_numbers_have_no_candidates():
    with pytest.raises(ValueError, match="needs outputs that are strings"):
        DependencyRegressor(candidates=NeighbourAnswers()).fit(WORDS, [len(w) for w in WORDS])


def test_a_wrong_number_of_answers_is_told():
    model = DependencyRegressor(map=Ridge(0.1), candidates=NeighbourAnswers()).fit(WORDS, SOUNDS)
    for wrong in (0, 2.5):
        with pytest.raises(ValueError, match=f"n_best == {wrong}"):
            model.predict(NEW, n_best=wrong)


def test_a_ridge_or_several_are_those_of_the_map():
    generator = NeighbourAnswers()
    for given, alphas in ((Ridge(0.2), [0.2]), (RidgeCV([0.2, 2.0]), [0.2, 2.0])):
        model = DependencyRegressor(map=given, candidates=generator).fit(WORDS, SOUNDS)
        assert list(model.candidates_.cv_results_["alpha"]) == alphas
    assert DependencyRegressor(map=PLS(2, scale=False)).fit(WORDS, SOUNDS).search_ == "open"
    assert DependencyRegressor(candidates=None).fit(WORDS, SOUNDS).search_ == "open"
