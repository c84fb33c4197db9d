"""Image sets. Oracles: all pairs one by one, planted subspaces, and the ETH-80 experiment."""

import os
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import RidgeClassifier

from isthmus.papers.riemannian_pls import (
    grassmann_distance,
    grassmann_distances,
    image_set_error,
    image_set_subspaces,
)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_subspaces_are_those_the_images_were_made_of(rng):
    planted = np.linalg.qr(rng.normal(size=(3, 30, 2)))[0]
    images = np.concatenate([rng.normal(size=(12, 2)) @ basis.T for basis in planted])
    groups = np.repeat(["b", "a", "c"], 12)
    order = rng.permutation(36)
    found, names = image_set_subspaces(images[order].reshape(36, 5, 6), groups[order], 2)
    assert found.shape == (3, 30, 2)
    assert list(names) == ["a", "b", "c"]
    for subspace, basis in zip(found, planted[[1, 0, 2]]):
        assert grassmann_distance(subspace, basis) < 1e-12


def test_the_mean_image_is_a_direction_of_the_subspace(rng):
    images = 100 + rng.normal(size=(20, 9))  # centring would lose what they have in common
    subspace = image_set_subspaces(images, np.zeros(20), 1)[0][0]
    assert abs(subspace.T @ np.full((9, 1), 1 / 3)) > 0.999


def test_distances_of_all_pairs_are_those_of_each_pair(rng):
    subspaces = np.linalg.qr(rng.normal(size=(6, 15, 3)))[0]
    subspaces[5] = np.linalg.qr(subspaces[0] + 1e-10 * rng.normal(size=(15, 3)))[0]  # nearly equal
    expected = [[grassmann_distance(a, b) for b in subspaces[:4]] for a in subspaces]
    assert_allclose(grassmann_distances(subspaces, subspaces[:4]), expected, rtol=1e-9, atol=1e-14)
    everything = grassmann_distances(subspaces)
    assert_allclose(everything, everything.T, rtol=1e-6)
    assert np.diag(everything).max() < 1e-14
    assert 1e-10 < everything[0, 5] < 1e-8  # arccos alone would say 0 or 2e-8


def test_too_many_components_are_refused(rng):
    with pytest.raises(ValueError, match="n_components == 4, must be <= 3"):
        image_set_subspaces(rng.normal(size=(7, 9)), [0] * 3 + [1] * 4, 4)


def test_separable_sets_are_classified_and_unlabelled_ones_are_not(rng):
    labels = np.repeat(np.arange(4), 10)
    centres = rng.normal(size=(4, 40, 2))
    noise = rng.normal(size=(40, 40, 2))
    near = np.linalg.qr(centres[labels] + 0.2 * noise)[0]
    assert image_set_error(near, labels) == 0
    assert image_set_error(near, labels, RidgeClassifier()) == 0
    far = np.linalg.qr(noise)[0]
    assert image_set_error(far, labels) > 0.5


class IndicatorReducedRank(ClassifierMixin, BaseEstimator):
    """Reduced rank regression on class indicators: the paper's model, in six lines."""

    def __init__(self, rank=7):
        self.rank = rank

    def fit(self, X, y):
        self.classes_, codes = np.unique(y, return_inverse=True)
        Y = np.eye(len(self.classes_))[codes]
        self.means = X.mean(axis=0), Y.mean(axis=0)
        U, d, Vt = np.linalg.svd(X - self.means[0], full_matrices=False)
        kept = d > 1e-10 * d[0]
        P, s, Qt = np.linalg.svd(U[:, kept].T @ (Y - self.means[1]), full_matrices=False)
        r = self.rank
        self.map = (Vt[kept].T / d[kept]) @ (P[:, :r] * s[:r]) @ Qt[:r]
        return self

    def predict(self, X):
        return self.classes_[np.argmax((X - self.means[0]) @ self.map + self.means[1], axis=1)]


def eth80():
    folder = os.environ.get("ISTHMUS_DATA")
    if not folder:
        pytest.skip("ISTHMUS_DATA is not set: no ETH-80 images")
    path = Path(folder) / "eth80.npz"
    if not path.exists():
        pytest.skip(f"no eth80.npz in ISTHMUS_DATA={folder}")
    data = np.load(path)
    images = data["gray64"].reshape(-1, 32, 2, 32, 2).mean(axis=(2, 4))  # the paper's 32 x 32
    subspaces, objects = image_set_subspaces(images, data["object"], 7)
    first = np.unique(data["object"], return_index=True)[1]
    assert len(objects) == 80
    return subspaces, data["category"][first]


def test_eth80_published_ordering():
    # Published (Table 2): 18.75 % with 5, 1.25 % with 7 and 8 components; measured here 17.5 % and
    # 2.5 % (two sets of eighty instead of one), and 10 % for the nearest set.
    subspaces, labels = eth80()
    nearest = image_set_error(subspaces, labels)
    five, seven = (
        image_set_error(subspaces, labels, IndicatorReducedRank(rank)) for rank in (5, 7)
    )
    assert seven <= 0.0375
    assert seven < nearest < five
