"""Oracles: the published algorithm, component by component, and PLS itself."""

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_predict

from isthmus import PLS, ComponentSearchCV, IndicatorClassifier
from isthmus.inspection import SPlotDisplay
from isthmus.regression import OPLS

matplotlib.use("Agg")


def make(n, p, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(2, 1, size=(n, 6)) @ rng.normal(size=(6, p)) + 0.1 * rng.normal(size=(n, p))
    return X, X[:, :3] @ rng.normal(size=3) + 0.2 * rng.normal(size=n) + 5


def trygg_wold(X, y, n_orthogonal):
    """The algorithm of 2002 on centred columns: weights, scores and loadings, predictive ones first."""
    w = X.T @ y / np.linalg.norm(X.T @ y)
    orthogonal = []
    for _ in range(n_orthogonal):
        t = X @ w
        p = X.T @ t / (t @ t)
        w_o = p - (w @ p) * w
        w_o /= np.linalg.norm(w_o)
        t_o = X @ w_o
        p_o = X.T @ t_o / (t_o @ t_o)
        X = X - np.outer(t_o, p_o)
        orthogonal.append((w_o, t_o, p_o))
    t = X @ w
    columns = [(w, t, X.T @ t / (t @ t)), *orthogonal]
    return [np.column_stack(part) for part in zip(*columns, strict=True)], y @ t / (t @ t), X


@pytest.mark.parametrize("shape", [(40, 8), (20, 60), (300, 700)], ids=["tall", "wide", "dual"])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_it_is_the_published_algorithm(shape, k):
    X, y = make(*shape)
    model = OPLS(k, scale=False).fit(X, y)
    (W, T, P), slope, corrected = trygg_wold(X - X.mean(axis=0), y - y.mean(), k - 1)
    signs = np.sign((model.transform(X) * T).sum(axis=0))
    size = np.abs(T).max(axis=0)
    assert_allclose(model.transform(X) * signs / size, T / size, atol=1e-8)
    assert_allclose(model.x_loadings_ * signs, P, atol=1e-8)
    assert_allclose(model.x_weights_ * signs, W, atol=1e-8)
    assert_allclose(model.y_loadings_[0, 0] * signs[0], slope)
    assert_allclose(model.remove_orthogonal(X) - X.mean(axis=0), corrected, atol=1e-8)


@pytest.mark.parametrize("scale", [True, False, "y"])
@pytest.mark.parametrize("q", [1, 3])
def test_predictions_are_those_of_pls(scale, q):
    X, y = make(40, 12)
    Y = np.column_stack([y * (j + 1) + X[:, j] ** 2 for j in range(q)])
    weights = np.random.default_rng(0).uniform(0.5, 2, size=40)
    ours, plain = OPLS(5, scale=scale).fit(X, Y, weights), PLS(5, scale=scale).fit(X, Y, weights)
    assert_allclose(ours.predict(X), plain.predict(X), rtol=1e-10, atol=1e-10)
    assert_allclose(ours.predict_path(X), plain.predict_path(X), rtol=1e-10, atol=1e-10)
    assert ours.n_predictive_ == q


@pytest.mark.parametrize("q", [1, 2])
def test_scores_are_orthogonal_to_each_other_and_to_the_fitted_outputs(q):
    X, y = make(60, 15)
    Y = np.column_stack([y, X[:, 4]])[:, :q]
    model = OPLS(5).fit(X, Y)
    T = model.transform(X) / np.linalg.norm(model.transform(X), axis=0)
    assert_allclose(T.T @ T, np.eye(5), atol=1e-10)
    Z = (Y - Y.mean(axis=0)) / np.linalg.norm(Y - Y.mean(axis=0), axis=0)
    assert_allclose(T[:, q:].T @ Z, 0, atol=1e-10)
    fitted = model.predict(X) - Y.mean(axis=0)
    assert_allclose(T[:, :q] @ (T[:, :q].T @ fitted), fitted, atol=1e-9)
    assert_allclose(model.y_loadings_[:, q:], 0)


def test_cross_validation_is_that_of_pls():
    X, y = make(50, 10)
    searches = [ComponentSearchCV(e, n_components=5).fit(X, y) for e in (OPLS(), PLS())]
    ours, plain = (search.cv_results_["mean_test_score"] for search in searches)
    assert_allclose(ours, plain, rtol=1e-10)
    left_out = [cross_val_predict(e, X, y) for e in (OPLS(3), PLS(3))]
    assert_allclose(*left_out, rtol=1e-10)


def test_two_classes_have_one_predictive_component():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], y[50:]
    model = IndicatorClassifier(OPLS(3, scale=False)).fit(X, y)
    plain = IndicatorClassifier(PLS(3, scale=False)).fit(X, y)
    assert model.estimator_.n_predictive_ == 1
    assert_allclose(model.decision_function(X), plain.decision_function(X), atol=1e-10)
    display = SPlotDisplay.from_estimator(model.estimator_, X, names=list("abcd"))
    t = model.estimator_.transform(X)[:, 0]
    both = np.cov(t, X.T)
    assert_allclose(display.covariance, both[0, 1:])
    assert_allclose(display.correlation, np.corrcoef(t, X.T)[0, 1:])
    assert len(display.ax_.texts) == 4
    plt.close(display.figure_)


def test_a_constant_output_has_no_component():
    X, _ = make(20, 5)
    with pytest.warns(UserWarning, match="only 0 components"):
        model = OPLS(2).fit(X, np.full(20, 3.0))
    assert model.n_predictive_ == 0
    assert_allclose(model.predict(X), 3.0)
