"""Probabilities and covariances of compressed models, against the models that had them."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_blobs, make_moons
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.metrics import log_loss
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.svm import SVC

from isthmus import compress
from isthmus.compression.probabilities import from_latent, from_pairs
from isthmus.persistence import load, save


@pytest.fixture(scope="module")
def two_classes():
    X, y = make_moons(260, noise=0.3, random_state=0)
    return X[:160], y[:160], X[160:], y[160:]


@pytest.fixture(scope="module")
def three_classes():
    X, y = make_blobs(300, centers=3, cluster_std=2.5, random_state=1)
    return X[:180], y[:180], X[180:], y[180:]


def machine(X, y, **options):
    with warnings.catch_warnings():  # probability= is to go from scikit-learn
        warnings.simplefilter("ignore", FutureWarning)
        return SVC(probability=True, random_state=0, **options).fit(X, y)


def test_the_mean_of_a_sigmoid():
    means, spreads = np.array([-3.0, 0.2, 5.0]), np.array([0.1, 2.0, 6.0])

    def weighted(f, m, s):
        return expit(f) * norm.pdf(f, m, s)

    expected = [
        quad(weighted, m - 12 * s, m + 12 * s, (m, s), limit=200)[0] for m, s in zip(means, spreads)
    ]
    assert_allclose(from_latent(means, spreads), expected, atol=1e-8)


def test_pairs_that_agree_are_coupled_exactly():
    p = np.array([0.5, 0.3, 0.2])
    pairs = np.array([p[0] / (p[0] + p[1]), p[0] / (p[0] + p[2]), p[1] / (p[1] + p[2])])
    values = np.log(pairs / (1 - pairs))[None]
    assert_allclose(from_pairs(values, -np.ones(3), np.zeros(3), 3), p[None], rtol=1e-10)


class TestMachines:
    def test_two_classes(self, two_classes, tmp_path):
        X, y, X_test, y_test = two_classes
        model = machine(X, y)
        whole = compress(model, len(model.support_))
        assert_allclose(whole.predict_proba(X_test), model.predict_proba(X_test), atol=5e-3)
        small = compress(model, 15)
        assert log_loss(y_test, small.predict_proba(X_test)) < 1.05 * log_loss(
            y_test, model.predict_proba(X_test)
        )
        save(small, tmp_path / "small.isthmus")
        again = load(tmp_path / "small.isthmus")
        assert_array_equal(again.predict_proba(X_test), small.predict_proba(X_test))

    def test_three_classes(self, three_classes):
        X, y, X_test, y_test = three_classes
        model = machine(X, y)
        whole = compress(model, len(model.support_)).predict_proba(X_test)
        exact = model.predict_proba(X_test)  # libsvm iterates to 0.005 / 3
        assert_allclose(whole, exact, atol=5e-3)
        small = compress(model, 20).predict_proba(X_test)
        assert_allclose(small.sum(axis=1), 1.0)
        assert log_loss(y_test, small) < 1.05 * log_loss(y_test, exact)

    def test_only_those_that_had_them(self, two_classes):
        assert not hasattr(compress(SVC().fit(*two_classes[:2]), 10), "predict_proba")


class TestProcesses:
    @pytest.mark.parametrize("kernel", [1.5 * RBF(0.8), 1.5 * RBF(0.8) + WhiteKernel(0.1)])
    def test_two_classes(self, two_classes, kernel, tmp_path):
        X, y, X_test, y_test = two_classes
        model = GaussianProcessClassifier(kernel, optimizer=None).fit(X, y)
        exact = model.predict_proba(X_test)
        assert_allclose(compress(model, len(X)).predict_proba(X_test), exact, atol=2e-3)
        small = compress(model, 25)
        assert_allclose(small.predict_proba(X_test), exact, atol=0.05)
        assert log_loss(y_test, small.predict_proba(X_test)) < 1.02 * log_loss(y_test, exact)
        save(small, tmp_path / "small.isthmus")
        again = load(tmp_path / "small.isthmus")
        assert_array_equal(again.predict_proba(X_test), small.predict_proba(X_test))

    @pytest.mark.parametrize("optimizer", [None, "fmin_l_bfgs_b"])
    def test_three_classes(self, three_classes, optimizer):
        X, y, X_test, _ = three_classes
        model = GaussianProcessClassifier(1.0 * RBF(2.0), optimizer=optimizer).fit(X, y)
        exact = model.predict_proba(X_test)
        assert_allclose(compress(model, len(X)).predict_proba(X_test), exact, atol=5e-3)
        assert_allclose(compress(model, 40).predict_proba(X_test), exact, atol=0.05)

    def test_between_pairs_there_are_none(self, three_classes):
        X, y, _, _ = three_classes
        model = GaussianProcessClassifier(RBF(2.0), multi_class="one_vs_one", optimizer=None)
        assert not hasattr(compress(model.fit(X, y), 20), "predict_proba")

    def test_far_from_all_rows_nothing_is_known(self, two_classes):
        X, y, _, _ = two_classes
        model = GaussianProcessClassifier(4.0 * RBF(0.8), optimizer=None).fit(X, y)
        # The refit on outputs may leave an intercept; the prior has none.
        far = compress(model, 25, refit=None).predict_proba(np.array([[100.0, 100.0]]))
        assert_allclose(far, 0.5, atol=1e-6)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("ensemble", [True, False])
def test_calibrated_classifiers(two_classes, method, ensemble):
    X, y, X_test, _ = two_classes
    model = CalibratedClassifierCV(SVC(), method=method, ensemble=ensemble, cv=3).fit(X, y)
    small = compress(model, 20)
    assert type(small) is CalibratedClassifierCV
    assert all(part.estimator.expansion_.n_points <= 20 for part in small.calibrated_classifiers_)
    assert_allclose(small.predict_proba(X_test), model.predict_proba(X_test), atol=0.15)
    assert np.mean(small.predict(X_test) == model.predict(X_test)) > 0.97
    parts = model.calibrated_classifiers_
    assert all(isinstance(part.estimator, SVC) for part in parts)  # the original is as it was


def test_one_against_the_rest(three_classes):
    X, y, X_test, _ = three_classes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        model = OneVsRestClassifier(SVC(probability=True, random_state=0)).fit(X, y)
    small = compress(model, 40)
    assert_allclose(small.predict_proba(X_test), model.predict_proba(X_test), atol=0.06)
    pairs = OneVsOneClassifier(SVC()).fit(X, y)
    assert not hasattr(compress(pairs, 20), "predict_proba")


class TestCovariances:
    @pytest.mark.parametrize("q", [1, 2])
    def test_all_points_are_exact(self, q):
        rng = np.random.default_rng(0)
        X, X_test = rng.normal(size=(60, 2)), rng.normal(size=(15, 2))
        Y = np.sin(X @ rng.normal(size=(2, q))) + 0.1 * rng.normal(size=(60, q))
        Y = Y[:, 0] if q == 1 else Y * [1.0, 10.0]
        kernel = 1.0 * RBF(1.0) + WhiteKernel(0.05)
        model = GaussianProcessRegressor(kernel, normalize_y=True, optimizer=None).fit(X, Y)
        exact = model.predict(X_test, return_cov=True)[1]
        found = compress(model, 60).predict(X_test, return_cov=True)[1]
        assert_allclose(found, exact, rtol=1e-4, atol=1e-5 * np.abs(exact).max())
        small = compress(model, 25)
        deviations = small.predict(X_test, return_std=True)[1]
        covariances = small.predict(X_test, return_cov=True)[1]
        diagonal = np.einsum("ii...->i...", covariances)
        assert_allclose(np.sqrt(diagonal), deviations, rtol=1e-8)

    def test_one_or_the_other(self):
        X = np.linspace(0, 1, 20)[:, None]
        model = compress(GaussianProcessRegressor(alpha=0.1).fit(X, X[:, 0]), 5)
        with pytest.raises(RuntimeError, match="cannot both be True"):
            model.predict(X, return_std=True, return_cov=True)
