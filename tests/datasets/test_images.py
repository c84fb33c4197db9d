"""Oracles: small files written here, and what is known of the real pictures where present."""

import os

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isthmus.datasets import DatasetNotFoundError, load_faces, load_objects, load_usps

USPS_TRAIN = [1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644]
USPS_TEST = [359, 264, 198, 166, 200, 160, 170, 147, 166, 177]
LOADERS = {
    "yale": lambda: load_faces("yale"),
    "orl": lambda: load_faces("orl"),
    "cbcl": lambda: load_faces("cbcl"),
    "coil20": lambda: load_objects("coil20"),
    "eth80": lambda: load_objects("eth80"),
    "usps": load_usps,
}
SHAPES = {
    "yale": (165, 64, 64),
    "orl": (400, 112, 92),
    "cbcl": (2429, 19, 19),
    "coil20": (1440, 32, 32),
    "eth80": (3280, 64, 64),
    "usps": (9298, 16, 16),
}
CLASS_SIZES = {
    "yale": [11] * 15,
    "orl": [10] * 40,
    "coil20": [72] * 20,
    "eth80": [410] * 8,
    "usps": [a + b for a, b in zip(USPS_TRAIN, USPS_TEST)],
}
real_data = pytest.mark.skipif(
    not os.environ.get("ISTHMUS_DATA"), reason="ISTHMUS_DATA names no directory with the real data"
)


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Empty data and cache directories."""
    data, cache = tmp_path / "data", tmp_path / "cache"
    data.mkdir()
    cache.mkdir()
    monkeypatch.setenv("ISTHMUS_DATA", str(data))
    monkeypatch.setenv("ISTHMUS_CACHE", str(cache))
    return data, cache


def bytes_from_zero(*shape):
    return np.arange(np.prod(shape), dtype=np.uint8).reshape(shape)


def eth80_arrays():
    return {
        "gray64": bytes_from_zero(2, 64, 64),
        "category": np.array([0, 1], dtype=np.uint8),
        "category_names": np.array(["apple", "car"]),
        "object": np.array([0, 10], dtype=np.uint8),
        "polar_deg": np.array([0, 90], dtype=np.int16),
        "azimuth_deg": np.array([0, 338], dtype=np.int16),
    }


def test_faces_are_scaled_to_one(places):
    pixels = bytes_from_zero(3, 10, 9)
    np.savez(places[0] / "orl_faces.npz", images=pixels, subject=np.uint8([0, 0, 1]))
    bunch = load_faces("orl")
    assert bunch.images.shape == (3, 10, 9) and bunch.data.shape == (3, 90)
    assert_array_equal(bunch.data[1, 2 * 9 + 3], pixels[1, 2, 3] / 255)
    assert np.shares_memory(bunch.data, bunch.images)
    assert_array_equal(bunch.target, [0, 0, 1])
    assert bunch.data.dtype == np.float64 and bunch.target.dtype == np.intp


def test_sixteenths_of_grey_levels_and_angles(places):
    pixels = np.full((2, 32, 32), 4080, dtype=np.uint16)
    pixels[1] = 1
    np.savez(
        places[0] / "coil20.npz",
        images16=pixels,
        object=np.uint8([0, 19]),
        angle_deg=np.int16([0, 355]),
    )
    bunch = load_objects("coil20")
    assert_array_equal(bunch.data[:, 7], [1.0, 1 / 4080])
    assert_array_equal(bunch.target, bunch.object)
    assert_array_equal(bunch.angle_deg, [0.0, 355.0])


def test_digits_keep_their_customary_scale_and_split(places):
    X = np.tile(np.int16([-1000, 1000]), (3, 128))
    np.savez(
        places[0] / "usps.npz",
        X_train=X[:2],
        y_train=np.uint8([6, 5]),
        X_test=X[2:],
        y_test=np.uint8([9]),
    )
    bunch = load_usps()
    assert_array_equal(bunch.images[0, 0, :2], [-1.0, 1.0])
    assert_array_equal(bunch.target, [6, 5, 9])
    assert_array_equal(bunch.train_index, [0, 1])


def test_masks_come_on_request_only(places):
    arrays = eth80_arrays()
    np.savez(places[0] / "eth80.npz", **arrays)
    assert "masks" not in load_objects("eth80")
    with pytest.raises(DatasetNotFoundError):  # this file has none
        load_objects("eth80", masks=True)
    mask64 = np.zeros((2, 64, 8), dtype=np.uint8)
    mask64[0, 5, 1] = 0b10000000
    np.savez(places[0] / "eth80.npz", **arrays, mask64=mask64)
    masks = load_objects("eth80", masks=True).masks
    assert masks.shape == (2, 64, 64) and masks.dtype == bool
    assert_array_equal(np.argwhere(masks), [[0, 5, 8]])


def test_a_file_without_the_arrays_is_passed_over(places):
    data, cache = places
    np.savez(data / "eth80.npz", images=bytes_from_zero(2, 4, 4))
    np.savez(cache / "eth80.npz", **eth80_arrays())
    bunch = load_objects("eth80")
    assert bunch.target_names == ["apple", "car"]
    assert_array_equal(bunch.polar_deg, [0.0, 90.0])


def test_absence_names_the_file_and_no_prefix(places):
    with pytest.raises(DatasetNotFoundError, match=r"holds yale_faces\.npz, or put") as caught:
        load_faces("yale")
    assert all(str(place) in str(caught.value) for place in places)


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="name == 'ar', must be one of 'yale', 'orl', 'cbcl'"):
        load_faces("ar")
    with pytest.raises(ValueError, match="name == 'coil', must be one of 'coil20', 'eth80'"):
        load_objects("coil")
    with pytest.raises(ValueError, match="coil20 has no masks"):
        load_objects("coil20", masks=True)


def correlation(a, b):
    return np.corrcoef(a.ravel(), b.ravel())[0, 1]


@real_data
@pytest.mark.parametrize("name", list(LOADERS))
def test_real_pictures(name):
    bunch = LOADERS[name]()
    assert bunch.images.shape == SHAPES[name]
    assert_array_equal(bunch.data, bunch.images.reshape(len(bunch.images), -1))
    low = -1.0 if name == "usps" else 0.0
    assert bunch.data.min() >= low and 0.95 < bunch.data.max() <= 1.0
    # Neighbouring pixels are alike both ways: a wrong width or a shuffled array fails.
    images = bunch.images - bunch.images.mean(axis=0)
    assert correlation(images[:, 1:], images[:, :-1]) > 0.6
    assert correlation(images[:, :, 1:], images[:, :, :-1]) > 0.6
    if name in CLASS_SIZES:
        assert_array_equal(np.bincount(bunch.target), CLASS_SIZES[name])
    else:
        assert bunch.target is None
    for part in ("Origin:", "Terms:", "Cite:"):
        assert part in bunch.DESCR


@real_data
def test_real_faces_of_one_person_are_alike():
    for name in ("yale", "orl"):
        bunch = load_faces(name)
        means = np.stack([bunch.data[bunch.target == k].mean(axis=0) for k in set(bunch.target)])
        distances = ((bunch.data[:, None] - means) ** 2).sum(axis=2)
        assert (distances.argmin(axis=1) == bunch.target).mean() > 0.8


@real_data
def test_real_conditions_of_yale():
    bunch = load_faces("yale")
    assert bunch.condition_names[0] == "centerlight" and len(bunch.condition_names) == 11
    assert_array_equal(bunch.condition, np.tile(np.arange(11), 15))
    left, right = (
        bunch.images[bunch.condition == bunch.condition_names.index(light)].mean(axis=0)
        for light in ("leftlight", "rightlight")
    )
    # The light moves from one half of the picture to the other.
    assert abs((left - right)[:, :32].mean() - (left - right)[:, 32:].mean()) > 0.2


@real_data
def test_real_views_go_round():
    bunch = load_objects("coil20")
    assert_array_equal(bunch.angle_deg.reshape(20, 72), np.tile(np.arange(0, 360, 5), (20, 1)))
    views = bunch.data.reshape(20, 72, -1)
    step = np.linalg.norm(views - np.roll(views, 1, axis=1), axis=2)
    quarter = np.linalg.norm(views - np.roll(views, 18, axis=1), axis=2)
    assert (step.mean(axis=1) < 0.7 * quarter.mean(axis=1)).all()
    assert (step[:, 0] < quarter.mean(axis=1)).all()  # from 355 degrees to 0


@real_data
def test_real_outlines_and_angles_of_eth80():
    bunch = load_objects("eth80", masks=True)
    assert_array_equal(np.bincount(bunch.object), [41] * 80)
    assert_array_equal(bunch.object // 10, bunch.target)
    assert bunch.target_names[0] == "apple" and len(bunch.target_names) == 8
    assert bunch.polar_deg.min() == 0 and bunch.polar_deg.max() == 90
    assert 0 <= bunch.azimuth_deg.min() and bunch.azimuth_deg.max() < 360
    # The middle of every picture is object, its corners are not.
    assert bunch.masks[:, 32, 32].mean() > 0.95
    assert bunch.masks[:, [0, 0, -1, -1], [0, -1, 0, -1]].mean() < 0.01


@real_data
def test_real_split_of_digits():
    bunch = load_usps()
    assert_array_equal(np.bincount(bunch.target[bunch.train_index]), USPS_TRAIN)
    assert_array_equal(bunch.train_index, np.arange(7291))
    assert bunch.data[:, 0].mean() < -0.9  # the corner is background
