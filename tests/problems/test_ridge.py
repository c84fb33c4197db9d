"""Ridge in a feature space: predictions without a fold are those of refits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from sklearn.model_selection import KFold, TimeSeriesSplit

from isthmus.problems.ridge import RidgeSpectrum

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
