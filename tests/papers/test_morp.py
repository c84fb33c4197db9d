"""The printed form of MORP. Oracles: kernel PCA, the primal problem of the paper, plain PCA."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh, subspace_angles
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from isthmus import MORP
from isthmus.datasets import make_curves
from isthmus.kernels import RBF
from isthmus.papers.morp import InverseMORP

X6 = np.array([[0, 0], [1, 0], [0, 1], [2, 2], [3, 1], [1, 3]], dtype=float)
Y6 = np.array([0, 0.5, 0.5, 2, 2.5, 3])


@pytest.mark.parametrize(
    ("gamma", "values", "row"),
    [
        (0.001, [3.7440729, 0.94304658], [1.00257556, 0.06394980]),
        (0.1, [3.20062988, 0.87125661], [0.92485552, 0.05306855]),
    ],
)
def test_worked_example(gamma, values, row):
    model = InverseMORP(kernel=RBF(gamma=0.5), gamma=gamma).fit(X6, np.c_[Y6, [1, 0, 1, 0, 1, 0]])
    assert_allclose(model.eigenvalues_, values, atol=6e-9)
    assert_allclose(np.abs(model.transform(X6)[0]), row, atol=6e-9)


def test_without_outputs_it_is_kernel_pca():
    X, y, _ = make_curves(150, 6, random_state=0)
    n, gamma = len(X), 0.3
    K = rbf_kernel(X, gamma=0.1)
    K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    K *= n / np.trace(K)
    values, U = (a[..., ::-1][..., :3] for a in np.linalg.eigh(K))
    scores = np.abs(U * np.sqrt(values))
    model = InverseMORP(3, RBF(gamma=0.1), beta=0.0, gamma=gamma).fit(X, y)
    assert_allclose(model.eigenvalues_, values / (1 + gamma), rtol=1e-8)
    assert_allclose(np.abs(model.transform(X)), scores / np.sqrt(1 + gamma), atol=1e-6)
    some = X[:5]  # new rows are centred by the training rows, not by themselves
    assert_allclose(model.transform(some), model.transform(X)[:5], atol=1e-12)


def test_primal_is_the_corrected_dual():
    rng = np.random.default_rng(0)
    n, p, gamma, beta = 12, 20, 0.2, 0.4
    X, Y = rng.standard_normal((n, p)), rng.standard_normal((n, 3))
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    X *= np.sqrt(n / (X**2).sum())
    Y *= np.sqrt(n / (Y**2).sum())
    model = InverseMORP(3, "linear", beta=beta, gamma=gamma).fit(X, Y)
    M = (1 - beta) * X @ X.T + beta * Y @ Y.T
    # (9) on the range of X: minimise w'(X'M^+X + gamma) w / w'X'Xw
    V = np.linalg.svd(X, full_matrices=False)[2][: n - 1].T
    A = V.T @ (X.T @ np.linalg.pinv(M, rcond=1e-10) @ X + gamma * np.eye(p)) @ V
    values, w = eigh(A, V.T @ X.T @ X @ V)
    assert_allclose(model.eigenvalues_, 1 / values[:3], rtol=1e-8)
    psi = X @ V @ w[:, :3] / np.sqrt(values[:3])
    assert_allclose(np.abs(model.transform(X)), np.abs(psi), atol=1e-8)


def test_loses_the_outputs_of_tall_inputs():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4)) * [4, 3, 2, 1]
    Y = X[:, 3:] @ rng.standard_normal((1, 2)) + 0.1 * rng.standard_normal((60, 2))
    pca = PCA(2).fit_transform(X)
    source = InverseMORP(2, "linear", beta=0.9, gamma=0.0).fit(X, Y)
    assert subspace_angles(source.transform(X), pca).max() < 1e-6  # plain PCA, whatever Y
    ridge = MORP(2, "linear", beta=0.9).fit(X, Y)
    assert subspace_angles(ridge.transform(X), pca).max() > 0.5  # finds the fourth input


def test_bad_parameters_are_named():
    X, y, _ = make_curves(30, 4, random_state=0)
    for options, match in (
        ({"beta": 1.5}, "beta == 1.5"),
        ({"gamma": 0.0, "beta": 1.0}, "gamma == 0 with beta == 1"),
        ({"n_components": 0}, "n_components == 0"),
    ):
        with pytest.raises(ValueError, match=match):
            InverseMORP(**options).fit(X, y)
    with pytest.raises(ValueError, match="y is constant"):
        InverseMORP().fit(X, np.ones(30))


@parametrize_with_checks([InverseMORP(gamma=0.1)])
def test_sklearn_contract(estimator, check):
    check(estimator)
