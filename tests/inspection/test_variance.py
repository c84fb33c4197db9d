"""Oracles: residuals of explicit least squares fits on the first scores, and of predict_path."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import r2_score

from isthmus import PLS, ReducedRankRegression
from isthmus.inspection import explained_variance


def shares_by_residuals(model, X_train, X, Y):
    """The definition of the docstring, with a least squares fit for every number of components."""

    def frame(A):
        return (A - model.x_mean_) / model.x_scale_

    T_train, T, Z = model.transform(X_train), model.transform(X), frame(X)
    path = model.predict_path(X).reshape(model.n_components_, len(X), -1)
    x = [(Z**2).sum()]
    y = [((Y - model.y_mean_) ** 2 / model.y_scale_**2).sum(axis=0)]
    for a in range(1, model.n_components_ + 1):
        loadings = np.linalg.lstsq(T_train[:, :a], frame(X_train), rcond=None)[0]
        x.append(((Z - T[:, :a] @ loadings) ** 2).sum())
        y.append(((Y - path[a - 1]) ** 2 / model.y_scale_**2).sum(axis=0))
    x, y = np.array(x), np.array(y)
    return -np.diff(x) / x[0], -np.diff(y.sum(axis=1)) / y[0].sum(), -np.diff(y, axis=0) / y[0]


@pytest.mark.parametrize("new", [False, True])
def test_shares_are_falls_of_the_residuals(model, data, rng, new):
    X, Y = data
    other = (X[:15] + rng.normal(size=(15, 6)), Y[:15] + 1) if new else data
    found = explained_variance(model, *other)
    x, y, targets = shares_by_residuals(model, X, *other)
    assert_allclose(found.x, x, atol=1e-12)
    assert_allclose(found.y, y, atol=1e-12)
    assert_allclose(found.y_targets, targets, atol=1e-12)
    assert_allclose(found.x.sum() + found.x_residual, 1)
    assert_allclose(found.y.sum() + found.y_residual, 1)


def test_training_shares_are_those_of_the_model(model, data):
    X, Y = data
    found = explained_variance(model, X, Y)
    assert_allclose(found.x, model.x_explained_variance_ratio_, atol=1e-12)
    assert_allclose(found.y, model.y_explained_variance_ratio_, atol=1e-12)
    r2 = r2_score(Y, model.predict(X), multioutput="raw_values")
    assert_allclose(found.y_targets.sum(axis=0), r2, atol=1e-12)


def test_weights_are_repeated_rows(model, data, rng):
    X, Y = data
    times = rng.integers(0, 4, size=len(X))
    weighted = explained_variance(model, X, Y, sample_weight=times)
    repeated = explained_variance(model, np.repeat(X, times, axis=0), np.repeat(Y, times, axis=0))
    assert_allclose(weighted.x, repeated.x, atol=1e-12)
    assert_allclose(weighted.y_targets, repeated.y_targets, atol=1e-12)


def test_one_target_and_inputs_alone(data):
    X, Y = data
    one = explained_variance(PLS(3).fit(X, Y[:, 0]), X, Y[:, 0])
    assert one.y_targets.shape == (3, 1)
    assert_allclose(one.y_targets[:, 0], one.y)
    alone = explained_variance(PLS(3).fit(X, Y[:, 0]), X)
    assert_allclose(alone.x, one.x)
    assert alone.y is None and alone.y_residual is None


def test_constant_columns_and_more_columns_than_rows(rng):
    X = rng.normal(size=(9, 20)) + 4
    Y = np.column_stack([X[:, 0] + rng.normal(size=9), np.full(9, 3.0)])
    X[:, 5] = 1e3
    found = explained_variance(PLS(8).fit(X, Y), X, Y)
    assert_allclose(found.x.sum(), 1, atol=1e-10)
    assert_allclose(found.y_targets.sum(axis=0), [1, 0], atol=1e-10)


def test_no_components_explain_nothing(data):
    found = explained_variance(ReducedRankRegression(0).fit(*data), *data)
    assert found.x.shape == found.y.shape == (0,)
    assert found.x_residual == found.y_residual == 1
