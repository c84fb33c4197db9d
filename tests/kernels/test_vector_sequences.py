"""Sequences of vectors: the sum written out, ends, widths, and the default call that uses it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime

from isthmus import DependencyRegressor, KernelMap
from isthmus.kernels import SequenceKernel, VectorSequenceKernel, gram, median_gamma
from isthmus.kernels.resolve import resolve_kernel
from isthmus.preimages import AlignedClassifier, NeighbourAnswers

rng = np.random.default_rng(0)
FRAMES = [rng.normal(size=(n, 2)) for n in (3, 1, 4, 2)]
GAMMA = 0.3


def written_out(x, y, reach):
    """The sum of the docstring, index by index."""

    def at(sequence, i):
        return sequence[min(max(i, 0), len(sequence) - 1)]

    return sum(
        np.exp(
            -GAMMA
            * sum(((at(x, i + d) - at(y, i + d)) ** 2).sum() for d in range(-reach, reach + 1))
        )
        for i in range(min(len(x), len(y)))
    )


@pytest.mark.parametrize("reach", [0, 1, 2])
@pytest.mark.parametrize("normalise", [False, True])
def test_it_is_the_sum_over_common_places(reach, normalise):
    kernel = VectorSequenceKernel(GAMMA, reach=reach, normalise=normalise)
    expected = np.array([[written_out(x, y, reach) for y in FRAMES] for x in FRAMES])
    if normalise:
        lengths = np.sqrt([len(x) for x in FRAMES])
        expected /= np.outer(lengths, lengths)
    assert_allclose(gram(kernel, FRAMES), expected, rtol=1e-12)
    assert_allclose(gram(kernel, FRAMES[:3], FRAMES[1:]), expected[:3, 1:], rtol=1e-12)


def test_pictures_are_vectors_and_an_offset_does_not_matter():
    kernel = VectorSequenceKernel(GAMMA)
    pictures = [x.reshape(-1, 1, 2) for x in FRAMES]
    assert_allclose(gram(kernel, pictures), gram(kernel, FRAMES), rtol=1e-12)
    assert_allclose(gram(kernel, [x + 7.0 for x in FRAMES]), gram(kernel, FRAMES), rtol=1e-9)


@pytest.mark.parametrize("normalise", [False, True])
def test_slopes_with_respect_to_the_width(normalise):
    kernel = VectorSequenceKernel(GAMMA, normalise=normalise)
    K, slopes = kernel(FRAMES, eval_gradient=True)
    assert_allclose(K, kernel(FRAMES), rtol=1e-12)
    expected = approx_fprime(
        kernel.theta, lambda theta: kernel.clone_with_theta(theta)(FRAMES).ravel(), 1e-7
    )
    assert_allclose(slopes.reshape(-1, 1), expected, atol=1e-6)


def test_an_open_width_is_the_median_rule_of_the_windows():
    open_kernel = VectorSequenceKernel(reach=0)
    weights = np.array([1.0, 2.0, 1.0, 3.0])
    found = resolve_kernel(open_kernel, FRAMES, sample_weight=weights)
    rows = np.concatenate(FRAMES)
    expected = median_gamma(rows, sample_weight=np.repeat(weights, [3, 1, 4, 2]))
    assert_allclose(found.gamma, expected, rtol=1e-12)
    assert open_kernel.gamma is None
    scaled = resolve_kernel(VectorSequenceKernel(), [1e3 * x for x in FRAMES])
    plain = resolve_kernel(VectorSequenceKernel(), FRAMES)
    assert_allclose(scaled.gamma, 1e-6 * plain.gamma, rtol=1e-9)


@pytest.mark.parametrize(
    ("samples", "match"),
    [
        ([FRAMES[0], np.zeros(3)], r"X\[1\] has shape \(3,\), must be an array with one vector"),
        ([FRAMES[0], np.zeros((0, 2))], r"X\[1\] has shape \(0, 2\)"),
        ([FRAMES[0], np.zeros((3, 5))], r"X\[1\] has 5 numbers per place, X\[0\] has 2"),
        ([FRAMES[0], np.full((2, 2), np.nan)], r"X\[1\] has NaN"),
    ],
)
def test_other_samples_are_refused_by_their_number(samples, match):
    with pytest.raises(ValueError, match=match):
        VectorSequenceKernel(1.0)(samples)


# -- the default call --------------------------------------------------------------------------

LETTERS = "abcd"
SHAPES = 2.0 * np.eye(len(LETTERS), 6)


def written(word, noise, draw):
    shapes = np.array([SHAPES[LETTERS.index(letter)] for letter in word])
    return shapes + noise * draw.normal(size=shapes.shape)


def some_words(n, draw):
    return ["".join(draw.choice(list(LETTERS), size=draw.integers(3, 6))) for _ in range(n)]


def test_letters_are_read_without_settings():
    """New words of known letters: places are classified; the neighbours' words are mostly wrong.

    Shapes are nine standard deviations of the noise apart.
    """
    draw = np.random.default_rng(1)
    words = some_words(60, draw)
    pictures = [written(word, 0.3, draw) for word in words]
    model = DependencyRegressor().fit(pictures[:40], words[:40])
    assert isinstance(model.candidates_.generator_, AlignedClassifier)
    assert model.predict(pictures[40:]) == words[40:]
    column = np.empty(40, dtype=object)
    column[:] = pictures[:40]
    again = DependencyRegressor().fit(column, words[:40])
    assert again.predict(pictures[40:]) == words[40:]


def test_a_few_words_in_bad_writing_are_their_neighbours():
    """Letters are hard to read; words, of which there are four, are not: 0.85 to 1 right in eight draws."""
    draw = np.random.default_rng(2)
    words = [("abcda", "dcbad", "bbacc", "cadab")[i % 4] for i in range(80)]
    pictures = [written(word, 1.2, draw) for word in words]
    model = DependencyRegressor().fit(pictures[:60], words[:60])
    assert isinstance(model.candidates_.generator_, NeighbourAnswers)
    assert np.mean([a == b for a, b in zip(model.predict(pictures[60:]), words[60:])]) > 0.7


def test_what_has_no_default_is_named():
    words = some_words(4, np.random.default_rng(3))
    with pytest.raises(ValueError, match="y are sequences of vectors, which have no pre-image"):
        DependencyRegressor().fit(words, FRAMES)
    with pytest.raises(ValueError, match=r"X\[0\] is a list of lists of numbers: give an array"):
        DependencyRegressor().fit([x.tolist() for x in FRAMES], words)
    outputs = KernelMap(kernel=VectorSequenceKernel(), preimage="nearest")
    inputs = KernelMap(kernel=SequenceKernel(0.3, normalise=True))
    found = DependencyRegressor(inputs, outputs=outputs).fit(words, FRAMES).predict(words)
    assert all(any(np.array_equal(answer, x) for x in FRAMES) for answer in found)
