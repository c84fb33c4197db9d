"""Ridge in a feature space: predictions without a fold are those of refits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from sklearn.model_selection import KFold, TimeSeriesSplit

from isthmus.problems.ridge import Distinct, RidgeSpectrum

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4)) + 2
Y = np.column_stack([np.sin(X[:, 0]) * X[:, 1], X[:, 2] ** 2]) + 0.1 * rng.normal(size=(60, 2)) - 3
WEIGHTS = rng.uniform(0.5, 2, 60)
FOLDS = list(KFold(5, shuffle=True, random_state=0).split(X))
# Every row is left out once, and some rows are neither fitted nor tested in a fold.
EMBARGO = [(np.setdiff1d(train, [0, 1, 59]), test) for train, test in FOLDS]


def refitted(K, targets, folds, alpha, weights):
    """Kernel ridge with a free constant in every fold, by the equations with a multiplier."""
    weights = weights * (len(K) / weights.sum())
    predicted = np.full(targets.shape, np.nan)
    for train, test in folds:
        n = len(train)
        A = np.zeros((n + 1, n + 1))
        A[:n, :n] = K[np.ix_(train, train)] + alpha * np.diag(1 / weights[train])
        A[n, :n] = A[:n, n] = 1
        solved = np.linalg.solve(A, np.vstack([targets[train], np.zeros((1, targets.shape[1]))]))
        predicted[test] = K[np.ix_(test, train)] @ solved[:n] + solved[n]
    return predicted


@pytest.mark.parametrize("weights", [np.ones(60), WEIGHTS], ids=["even", "weighted"])
@pytest.mark.parametrize(
    "folds", [FOLDS, EMBARGO, list(TimeSeriesSplit(3).split(X))], ids=["k-fold", "embargo", "time"]
)
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_left_out_predictions_are_those_of_refitting(weights, folds, kernel):
    K = X @ X.T if kernel == "linear" else np.exp(-0.3 * cdist(X, X, "sqeuclidean"))
    spectra = [RidgeSpectrum.of_gram(K, weights)]
    if kernel == "linear":
        spectra.append(RidgeSpectrum.of_rows(X, weights))
    for spectrum in spectra:
        alphas = spectrum.alphas[8::3]
        for alpha, found in zip(alphas, spectrum.left_out(Y, folds, alphas), strict=True):
            assert_allclose(found, refitted(K, Y, folds, alpha, weights), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("weights", [np.ones(60), WEIGHTS], ids=["even", "weighted"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_rows_left_out_singly_are_those_of_refitting(weights, kernel):
    """A ridge weight for each target."""
    K = X @ X.T if kernel == "linear" else np.exp(-0.3 * cdist(X, X, "sqeuclidean"))
    singly = [(np.setdiff1d(np.arange(60), [i]), np.array([i])) for i in range(60)]
    alpha = np.array([0.01, 3.0])
    found = RidgeSpectrum.of_gram(K, weights).left_out_singly(Y, alpha)
    for j in range(2):
        wanted = refitted(K, Y[:, [j]], singly, alpha[j], weights)
        assert_allclose(found[:, [j]], wanted, rtol=1e-8)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["even", "weighted"])
def test_the_best_weight_is_that_of_rows_left_out_with_their_residuals(weights):
    spectrum = RidgeSpectrum.of_rows(X, weights)
    w = np.ones(60) if weights is None else weights
    off = {a: Y - spectrum.left_out_singly(Y, np.full(Y.shape[1], a)) for a in spectrum.alphas}
    alpha, residuals = spectrum.best_singly(Y, spectrum.alphas)
    assert alpha == min(off, key=lambda a: (w @ off[a] ** 2).sum())
    assert_allclose(residuals, off[alpha], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_copies_are_one_row_with_their_weight_and_mean(weighted):
    groups = np.array([4, 0, 4, 2, 0, 0, 7, 2])
    w = np.arange(1.0, 9.0) if weighted else None
    values = np.random.default_rng(0).normal(size=(8, 2))
    found = Distinct(groups, w)
    assert found.places.tolist() == [0, 1, 3, 6]
    for place, weight, mean in zip(found.places, found.weights, found.means(values), strict=True):
        copies = groups == groups[place]
        own = np.ones(8) if w is None else w
        assert weight == own[copies].sum()
        assert_allclose(mean, np.average(values[copies], axis=0, weights=own[copies]))
    assert_allclose(found.for_all(values[found.places])[[2, 4, 5, 7]], values[[0, 1, 1, 3]])
    some = Distinct(groups, w, 2)
    assert len(set(groups[some.places])) == len(some.weights) == 2
    order = np.array([5, 3, 7, 0, 1, 2, 6, 4])
    again = Distinct(groups[order], None if w is None else w[order], 2)
    assert (groups[order][again.places] == groups[some.places]).all()
    assert_allclose(again.means(values[order]), some.means(values))
