"""Oracles: planted weights, the two hands themselves, durations by hand, the tip on the board."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.applications.imitation import MorphableModel
from isthmus.applications.imitation.writing import (
    cut_pauses,
    draw_letter,
    mixture_weights,
    record,
    smoothness,
    write,
)


@pytest.fixture(scope="module")
def word():
    return write("cos", caricature=0.5)


def test_a_word_is_cut_morphed_and_written(word):
    assert word.labels == ("c", "o", "s")
    assert word.done.reached.all()
    tips = word.arm.points(word.done.q)[:, 6]
    assert np.ptp(tips[:, 2]) < 2e-3  # on the board
    drawn = np.stack([tips[:, 0], -tips[:, 1]], axis=1)
    assert_allclose(drawn - drawn[0], word.path - word.path[0], atol=2e-3)


def test_durations_are_kept_and_mixed(word):
    slow, quick = (write("cos", caricature=x) for x in (0.0, 1.0))
    for letter in "cos":
        mixed = (slow.durations[letter] + quick.durations[letter]) / 2
        assert word.durations[letter] == pytest.approx(mixed, abs=1e-9)
    assert quick.duration < word.duration < slow.duration
    assert slow.durations["o"] < 1.6  # the pauses at its ends are cut


@pytest.mark.filterwarnings("ignore:the mixture's time ran backwards")
def test_letters_are_reordered_and_exaggerated():
    done = write("cos", order="soc", caricature=1.5)
    assert done.text == "soc"
    assert np.ptp(done.path[:, 0]) > 0
    assert not done.done.reached.all() or done.done.converged  # too fast is told, never hidden
    with pytest.raises(ValueError, match="letters that are not in text"):
        write("cos", order="cab")
    with pytest.raises(ValueError, match="letter 'ß' is unknown"):
        write("ß")


def test_pauses_are_cut():
    letter = draw_letter("o", "careful", 0)
    padded = np.concatenate(
        [np.repeat(letter[:1], 40, axis=0), letter, np.repeat(letter[-1:], 9, 0)]
    )
    assert len(cut_pauses(padded)) <= len(letter)
    assert_allclose(cut_pauses(padded), cut_pauses(letter), atol=1e-12)
    with pytest.raises(ValueError, match="the pen never moves"):
        cut_pauses(np.ones((5, 2)))


@pytest.mark.parametrize("weight", [-0.3, 0.0, 0.4, 1.0, 1.3])
def test_the_weights_of_a_new_movement_are_found(weight):
    pair = [draw_letter("s", hand, 0) for hand in ("careful", "quick")]
    model = MorphableModel([piece - piece[0] for piece in pair])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a caricature's time may be repaired
        mixed = model.morph([1 - weight, weight])
    assert_allclose(mixture_weights(model, mixed), [1 - weight, weight], atol=1e-3)


def test_smoothing_smooths(word):
    rough = smoothness(word, alphas=(0.0, 0.03, 0.1))
    assert rough[0.0] > rough[0.03] > rough[0.1]


def test_a_recording_rests_between_letters():
    movement, rate = record("co", "careful", 0)
    assert rate == 100
    assert len(movement) == 2 * (160 + 15)
    assert np.abs(np.diff(movement[160:175], axis=0)).max() == 0
