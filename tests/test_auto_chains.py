"""Chains of targets: refitting as the oracle, no row sees itself, and no optimism in noise."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, TimeSeriesSplit

from isthmus.auto.methods.chains import _WEIGHTS, Chain, _features
from isthmus.auto.methods.kernel_search import KernelSearch
from isthmus.problems.ridge import RidgeSpectrum

rng = np.random.default_rng(0)
N = 40
X = rng.normal(size=(N, 3))
Y = np.column_stack([X[:, 0], np.sin(X[:, 0]), X[:, 1]]) + 0.3 * rng.normal(size=(N, 3))
K = np.exp(-cdist(X, X))
ALPHA = np.array([0.1, 1.0, 0.1])
FOLDS = list(KFold(4, shuffle=True, random_state=0).split(X))


def predict(K, targets, train, test):
    """Kernel ridge with a free constant, a ridge weight for each target."""
    found = np.empty((len(test), targets.shape[1]))
    for j, alpha in enumerate(ALPHA):
        n = len(train)
        A = np.ones((n + 1, n + 1))
        A[:n, :n] = K[np.ix_(train, train)] + alpha * np.eye(n)
        A[n, n] = 0
        solved = np.linalg.solve(A, np.append(targets[train, j], 0.0))
        found[:, j] = K[np.ix_(test, train)] @ solved[:n] + solved[n]
    return found


def second_step(features, targets, weight):
    """Ridge regression of the errors on what was predicted."""
    return Ridge(alpha=weight * len(features)).fit(features, targets - features)


def test_both_steps_leave_a_fold_out():
    tried = np.empty((len(_WEIGHTS), N, 3))
    first = np.empty((N, 3))
    for train, test in FOLDS:
        features = np.full((N, 3), np.nan)
        for part, inner in FOLDS:
            if inner is not test:
                features[inner] = predict(K, Y, np.intersect1d(train, part), inner)
        first[test] = predict(K, Y, train, test)
        for k, weight in enumerate(_WEIGHTS):
            step = second_step(features[train], Y[train], weight)
            tried[k, test] = first[test] + step.predict(first[test])
    errors = np.array([np.mean((Y - found) ** 2, axis=0) for found in [first, *tried]])
    best = errors.argmin(axis=0)
    assert (best > 0).any()  # there is something to correct
    chain = Chain(RidgeSpectrum.of_gram(K), ALPHA, Y, FOLDS)
    for j in range(3):
        expected = first if best[j] == 0 else tried[best[j] - 1]
        assert_allclose(chain.left_out[:, j], expected[:, j], rtol=1e-8)
        if best[j]:
            step = second_step(first, Y, _WEIGHTS[best[j] - 1])
            assert_allclose(chain.matrix[:, j] - np.eye(3)[j], step.coef_[j], atol=1e-9)
            assert_allclose(chain.constant[j], step.intercept_[j], atol=1e-9)


@pytest.mark.parametrize(
    "folds", [FOLDS, list(TimeSeriesSplit(3).split(X))], ids=["k-fold", "time"]
)
def test_what_trains_the_second_step_has_not_seen_the_fold(folds):
    spectrum = RidgeSpectrum.of_gram(K)
    for k, (train, test) in enumerate(folds):
        spoilt = Y.copy()
        spoilt[test] = 1e3
        one, other = (
            _features(spectrum, ALPHA, T, folds, spectrum.left_out_each(T, folds, ALPHA))[k][train]
            for T in (Y, spoilt)
        )
        assert_allclose(one, other, rtol=1e-9)
        assert np.isfinite(one).all(axis=1).sum() > 5 or k == 0


def test_the_model_is_the_corrected_prediction():
    plain = KernelSearch("l2_laplacian").fit(X, Y)
    chained = KernelSearch("l2_laplacian", chain=True).fit(X, Y)
    first, corrected = plain.predict(X + 0.1), chained.predict(X + 0.1)
    assert np.abs(corrected - first).max() > 1e-4
    design = np.column_stack([first, np.ones(N)])  # a linear map of what was predicted
    fitted = design @ np.linalg.lstsq(design, corrected, rcond=None)[0]
    assert_allclose(corrected, fitted, atol=1e-8)
    errors = [((Y - search.left_out_) ** 2).mean(axis=0) for search in (plain, chained)]
    assert (errors[1] <= errors[0]).all()


def test_a_target_with_much_noise_is_corrected_by_one_with_little():
    """Fresh rows without noise: the error falls by more than half in nine of ten draws."""
    ratios = []
    for seed in range(10):
        draw = np.random.default_rng(seed)
        A = draw.normal(size=(160, 3))
        signal = np.sin(2 * A[:, 0]) + A[:, 1] * A[:, 2]
        B = np.column_stack([signal, signal]) + draw.normal(size=(160, 2)) * [0.05, 1.5]
        errors = [
            np.mean((search.fit(A[:80], B[:80]).predict(A[80:])[:, 1] - signal[80:]) ** 2)
            for search in (KernelSearch("rbf"), KernelSearch("rbf", chain=True))
        ]
        ratios.append(errors[1] / errors[0])
    assert np.median(ratios) < 0.7


def test_noise_is_not_corrected_into_signal():
    """The share of variance of left-out noise that chains add, over eight draws.

    A draw has mean 0.006, from the choice between eleven weights, and deviation 0.005 (sixteen draws), so
    that the mean of eight exceeds 0.016 with odds below 1e-6.
    """
    added = []
    for seed in range(8):
        draw = np.random.default_rng(seed)
        A, B = draw.normal(size=(60, 4)), draw.normal(size=(60, 15))
        plain, chained = (
            KernelSearch("l2_laplacian", chain=chain).fit(A, B).left_out_ for chain in (False, True)
        )
        added.append((np.mean((B - plain) ** 2) - np.mean((B - chained) ** 2)) / B.var())
    assert np.mean(added) < 0.016


def test_many_folds_are_left_alone():
    folds = [(np.delete(np.arange(N), i), np.array([i])) for i in range(N)]
    chain = Chain(RidgeSpectrum.of_gram(K), ALPHA, Y, folds)
    assert_array_equal(chain.matrix, np.eye(3))
