"""Oracles: small files written here, the planted plane, and what is known of the real sets."""

import os

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isthmus.datasets import (
    load_multilabel,
    load_silhouette_pose,
    load_statue_face_pose,
    make_curves,
)

real_data = pytest.mark.skipif(
    not os.environ.get("ISTHMUS_DATA"), reason="ISTHMUS_DATA names no directory with the real data"
)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("ISTHMUS_DATA", str(tmp_path))
    return tmp_path


def test_curves_depend_on_two_directions():
    X, y, directions = make_curves(50, 6, noise=0.0, random_state=0)
    a, b = np.sqrt(2) * X @ directions.T[:, 0], np.sqrt(2) * X @ directions.T[:, 1]
    assert_allclose(y, np.sign(a) * np.log(np.abs(b + 5)))
    assert_allclose(directions @ directions.T, np.eye(2), atol=1e-15)
    again = make_curves(50, 6, noise=0.0, random_state=0)
    assert_array_equal(again[0], X)


def test_curves_along_drawn_directions():
    X, y, directions = make_curves(5000, directions="random", random_state=0)
    assert_allclose(np.linalg.norm(directions, axis=1), 1)
    assert np.abs(directions).min() > 0  # all inputs count
    assert np.corrcoef(np.sign(X @ directions[0]), y)[0, 1] > 0.6  # the sign is rarely noise
    with pytest.raises(ValueError, match="directions == 'none'"):
        make_curves(10, directions="none")


def test_curves_with_noise_outputs():
    X, Y, _ = make_curves(4000, noise_outputs=4, random_state=0)
    plain = make_curves(4000, random_state=0)
    assert Y.shape == (4000, 5) and X.shape == (4000, 15)
    assert_array_equal(Y[:, 0], plain[1])
    assert np.abs(np.corrcoef(Y.T)[0, 1:]).max() < 0.06
    assert_allclose(Y[:, 1:].std(axis=0), 1, atol=0.05)
    with pytest.raises(ValueError, match="n_features == 3"):
        make_curves(10, 3)


def test_silhouettes_are_put_together(place):
    np.savez(
        place / "silhouette_pose.npz",
        X_train=np.ones((3, 2), np.float32),
        Y_train=np.zeros((3, 4), np.float32),
        X_test=2 * np.ones((1, 2), np.float32),
        Y_test=np.ones((1, 4), np.float32),
    )
    bunch = load_silhouette_pose()
    assert_array_equal(bunch.data[:, 0], [1, 1, 1, 2])
    assert_array_equal(bunch.train_index, [0, 1, 2])
    assert_array_equal(bunch.sequence, [0, 0, 0, -1])
    assert bunch.data.dtype == bunch.target.dtype == np.float64


def test_statue_has_three_angles(place):
    np.savez(
        place / "statue_face_pose.npz",
        images=np.full((2, 3, 3), 0.5, np.float16),
        pan=np.array([1.0, 2.0]),
        tilt=np.array([3.0, 4.0]),
        light=np.array([5.0, 6.0]),
    )
    bunch = load_statue_face_pose()
    assert_array_equal(bunch.target, [[1, 3, 5], [2, 4, 6]])
    assert bunch.data.shape == (2, 9) and bunch.target_names == ["pan", "tilt", "light"]


def test_multilabel_rows_and_names(place):
    np.savez(
        place / "multilabel.npz",
        emotions_X=np.ones((4, 2), np.float32),
        emotions_Y=np.array([[0, 1]] * 4, np.uint8),
        emotions_label_names=np.array(["calm", "loud"]),
        emotions_n_train=np.array(3),
    )
    bunch = load_multilabel("emotions")
    assert bunch.target_names == ["calm", "loud"]
    assert_array_equal(bunch.train_index, [0, 1, 2])
    assert_array_equal(bunch.target[0], [0, 1])
    with pytest.raises(ValueError, match="name == 'birds'"):
        load_multilabel("birds")


@real_data
def test_real_silhouettes():
    bunch = load_silhouette_pose()
    assert bunch.data.shape == (2345, 100) and bunch.target.shape == (2345, 63)
    assert_allclose(bunch.data.sum(axis=1), 100, rtol=1e-3)
    assert (bunch.target.std(axis=0) == 0).sum() == 6
    assert_array_equal(np.bincount(bunch.sequence[:1927]), [100, 236, 69, 66, 1060, 238, 158])
    # A new sequence begins with a jump.
    steps = np.linalg.norm(np.diff(bunch.target[:1927], axis=0), axis=1)
    breaks = np.flatnonzero(np.diff(bunch.sequence[:1927]))
    assert np.median(steps[breaks]) > 5 * np.median(steps)


@real_data
def test_real_statue():
    bunch = load_statue_face_pose()
    assert bunch.images.shape == (698, 32, 32)
    assert 0 <= bunch.data.min() and bunch.data.max() <= 1
    assert_allclose(bunch.target.mean(axis=0), 0, atol=1e-6)
    assert_allclose(bunch.target.std(axis=0), 1, atol=1e-2)


@real_data
@pytest.mark.parametrize(
    ("name", "shape", "labels", "train"),
    [
        ("scene", (2407, 294), 6, 1211),
        ("yeast", (2417, 103), 14, 1500),
        ("emotions", (593, 72), 6, 391),
        ("corel5k", (5000, 499), 374, 4500),
    ],
)
def test_real_labels(name, shape, labels, train):
    bunch = load_multilabel(name)
    assert bunch.data.shape == shape and bunch.target.shape == (shape[0], labels)
    assert set(np.unique(bunch.target)) == {0, 1}
    assert len(bunch.train_index) == train and len(bunch.target_names) == labels
    for part in ("Origin:", "Terms:", "Cite:"):
        assert part in bunch.DESCR
