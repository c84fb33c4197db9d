"""Oracles: reduced rank regression, the generalised eigenproblem, worked numbers."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh
from sklearn.datasets import load_iris

from isthmus import ComponentSearchCV, IndicatorClassifier, ManifoldPLS, ReducedRankRegression
from isthmus.regression.manifold_pls import equalising_rotation

XA = np.array([[1, 0], [0, 1], [1, 1], [2, -1], [-1, 2]], dtype=float)
YA = np.array([[1, 2, 0], [0, 1, 1], [2, 2, 1], [3, 3, -1], [-2, 1, 3]], dtype=float)
MANIFOLDS = ["grassmann", "product"]
SHAPES = [(60, 8, 6), (15, 40, 6), (600, 200, 6), (200, 600, 6)]


def make(n, p, q, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(2, 1, size=(n, p))
    return X, X[:, :4] @ rng.normal(size=(4, q)) + rng.normal(-3, 1, size=(n, q))


def test_worked_example():
    one = ManifoldPLS(1, alpha=0.0).fit(XA, YA)
    assert_allclose(one.objective_, 24.5923704148, rtol=1e-10)
    assert_allclose(np.abs(one.x_rotations_[:, 0]), [0.4368120772, 0.0018593785], atol=1e-9)
    assert_allclose(one.coef_, ReducedRankRegression(1, alpha=0).fit(XA, YA).coef_, atol=1e-12)
    two = ManifoldPLS(2, manifold="product", alpha=0.0).fit(XA, YA)
    assert_allclose(two.objective_, 7.155417528, rtol=1e-9)
    norms = np.linalg.norm((YA - YA.mean(0)).T @ two.transform(XA), axis=0)
    assert_allclose(norms, 3.57770876, rtol=1e-8)


@pytest.mark.parametrize("manifold", MANIFOLDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_is_the_reduced_rank_optimum(manifold, shape):
    X, Y = make(*shape)
    model = ManifoldPLS(3, manifold=manifold, alpha=0.0).fit(X, Y)
    peer = ReducedRankRegression(3, alpha=0).fit(X, Y)
    assert_allclose(model.coef_, peer.coef_, rtol=1e-6, atol=1e-9)
    assert_allclose(model.coef_path_, peer.coef_path_, rtol=1e-6, atol=1e-9)
    T = model.transform(X)
    assert_allclose(T.T @ T, np.eye(3), atol=1e-9)  # W'X'XW = I
    covariance = (Y - Y.mean(0)).T @ T
    if manifold == "grassmann":
        assert_allclose(model.objective_, (covariance**2).sum(), rtol=1e-9)
    else:
        norms = np.linalg.norm(covariance, axis=0)
        assert_allclose(model.objective_, norms.sum(), rtol=1e-9)
        assert_allclose(norms, norms[0], rtol=1e-9)


def test_grassmann_solves_the_generalised_eigenproblem():
    X, Y = make(60, 8, 6)
    Xc, Yc = X - X.mean(0), Y - Y.mean(0)
    S = Xc.T @ Yc
    values = eigh(S @ S.T, Xc.T @ Xc, eigvals_only=True)[::-1]
    for c in (1, 2, 4):
        assert_allclose(
            ManifoldPLS(c, alpha=0.0).fit(X, Y).objective_, values[:c].sum(), rtol=1e-10
        )


@pytest.mark.parametrize("c", [1, 2, 3, 7])
def test_equalising_rotation(c):
    values = np.random.default_rng(c).uniform(0, 10, size=c)
    turn = equalising_rotation(values)
    assert_allclose(turn.T @ turn, np.eye(c), atol=1e-14)
    assert_allclose((turn.T @ np.diag(values) @ turn).diagonal(), values.mean(), rtol=1e-13)


def test_tied_values_need_no_rotation():
    ulps = np.array([17, 4, 16, 19, -17, -18, 0, 0, 2, 10])
    turn = equalising_rotation(1 + ulps * np.finfo(float).eps)
    assert_allclose(turn.T @ turn, np.eye(10), atol=1e-14)


def test_more_components_than_there_are():
    X, Y = make(60, 8, 3)
    model = ManifoldPLS(7, alpha=0.0).fit(X, Y)
    assert model.n_components_ == 3
    assert_allclose(model.coef_, ReducedRankRegression(alpha=0).fit(X, Y).coef_, atol=1e-7)


def test_ties_of_interpolated_classes_are_told():
    """Balanced indicators, more features than samples: every subspace of the classes is optimal."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 200)), np.repeat(np.arange(4), 5)
    with pytest.warns(UserWarning, match="not unique"):
        IndicatorClassifier(ManifoldPLS(2, alpha=0.0)).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        IndicatorClassifier(ManifoldPLS(2, alpha=1.0)).fit(X, y)


def test_classifies():
    X, y = load_iris(return_X_y=True)
    assert IndicatorClassifier(ManifoldPLS(2)).fit(X, y).score(X, y) > 0.8


def test_search_finds_its_rank():
    X, Y = make(60, 8, 6)
    ours = ComponentSearchCV(ManifoldPLS(), n_components=4, alpha=[0.0]).fit(X, Y)
    peer = ComponentSearchCV(ReducedRankRegression(), n_components=4, alpha=[0.0]).fit(X, Y)
    assert_allclose(ours.cv_results_["mean_test_score"], peer.cv_results_["mean_test_score"])


def test_unknown_names():
    with pytest.raises(ValueError, match="manifold == 'sphere'"):
        ManifoldPLS(manifold="sphere").fit(XA, YA)


@pytest.mark.filterwarnings(
    "ignore:Singular values 3 and 4 of the fit differ"
)  # under the ridge too
@pytest.mark.parametrize("p", [60, 1200], ids=["rows", "one linear system"])
def test_ties_are_broken_as_the_faintest_ridge_would(p):
    """Rows that interpolate balanced indicators: every subspace is optimal, one has small maps."""
    rng = np.random.default_rng(0)
    labels = np.arange(40) % 8
    X = rng.normal(size=(8, p))[labels] + rng.normal(size=(40, p))
    Y = np.eye(8)[labels]
    with pytest.warns(UserWarning, match="not unique. Of the directions that tie"):
        tied = ManifoldPLS(3, alpha=0.0).fit(X, Y)
    norm = np.linalg.norm(X - X.mean(axis=0), 2) ** 2
    limit = ManifoldPLS(3, alpha=1e-6 * norm).fit(X, Y)
    assert_allclose(tied.coef_, limit.coef_, atol=1e-4 * np.abs(limit.coef_).max())
    new = rng.normal(size=(8, p))[labels]
    assert_allclose(tied.predict(new), limit.predict(new), atol=1e-3)
