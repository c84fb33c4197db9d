"""Oracles of the lasso and of logarithms: conditions of the optimum, other solvers, exact laws."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Lasso
from sklearn.model_selection import KFold

from isthmus import MethodSearchCV, load, save
from isthmus.auto.ladder import rungs_for
from isthmus.auto.methods.logarithms import LogScaler, LogSearch, want_logarithms
from isthmus.auto.methods.sparse import _PENALTIES, SparseSearch, _paths
from isthmus.auto.problem import Problem

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 12)) * np.logspace(-2, 2, 12) + 3
Y = np.column_stack([X[:, 0] * 100 - X[:, 4], X[:, 3]]) + 0.3 * rng.normal(size=(40, 2))
FOLDS = list(KFold(4, shuffle=True, random_state=1).split(X))


@pytest.mark.parametrize("n", [8, 40])
def test_the_path_is_optimal_at_every_penalty(n):
    """Covariances of the residuals are the penalty where a coefficient is not zero, and below elsewhere."""
    Z = (X[:n] - X[:n].mean(axis=0)) / X[:n].std(axis=0)
    weights = np.random.default_rng(1).uniform(0.5, 2, n)
    share = weights / weights.sum()
    B = Y[:n] / Y[:n].std(axis=0)
    penalties = np.tile(2.0 * _PENALTIES, (2, 1))
    coef, constant = _paths(Z, B, weights, penalties)
    fitted = coef @ Z.T + constant[:, :, None]
    off = B.T[:, None, :] - fitted
    assert_allclose(off @ share, 0, atol=1e-12)
    slopes = (off * share) @ (Z - share @ Z)
    used = coef != 0
    assert used.any(axis=(0, 1)).all() or n == 8
    wanted = penalties[:, :, None] * np.sign(coef)
    assert_allclose(slopes[used], wanted[used], atol=1e-9)
    assert (np.abs(slopes) <= penalties[:, :, None] + 1e-9).all()


def test_penalties_are_those_with_the_least_error_of_refits():
    search = SparseSearch(FOLDS).fit(X, Y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    for j, y in enumerate((Y / Y.std(axis=0)).T):
        top = np.abs(Z.T @ (y - y.mean())).max() / len(y)
        errors = []
        for penalty in _PENALTIES:
            model = Lasso(top * penalty, tol=1e-10, max_iter=100_000)
            errors.append(
                sum(((y[b] - model.fit(Z[a], y[a]).predict(Z[b])) ** 2).sum() for a, b in FOLDS)
            )
        best = _PENALTIES[int(np.argmin(errors))]
        assert search.best_params_["penalty"][j] == best
        refitted = Lasso(top * best, tol=1e-10, max_iter=100_000).fit(Z, y).predict(Z)
        assert_allclose(search.predict(X)[:, j] / Y[:, j].std(), refitted, atol=1e-4)


def test_weights_of_a_lasso_are_copies():
    """Half of the rows weigh ten times as much, and follow another map than the rest."""
    counts = np.where(np.arange(len(X)) % 2, 1, 10)
    B = np.where(counts[:, None] == 1, 5 * rng.normal(size=Y.shape), Y)
    copies = np.repeat(np.arange(len(X)), counts)
    folds = [tuple(np.flatnonzero(np.isin(copies, part)) for part in fold) for fold in FOLDS]
    weighted = SparseSearch(FOLDS).fit(X, B, sample_weight=0.1 * counts)
    copied = SparseSearch(folds).fit(X[copies], B[copies])
    assert_allclose(weighted.predict(X), copied.predict(X), rtol=1e-6)


def test_indicators_of_single_rows_do_not_hide_a_sum():
    """As a table whose rows have names: an indicator for each, beside two columns that tell all."""
    A = np.hstack([rng.normal(size=(36, 4)), np.eye(36)])
    search = MethodSearchCV(["ridge", "lasso"], cv=4).fit(A, A[:, 0] + A[:, 1])
    scores = dict(zip(search.cv_results_["method"], search.cv_results_["mean_test_score"]))
    assert scores["lasso"] > 0.999 and scores["ridge"] < 0.97
    assert search.best_score_ > 0.999


@pytest.mark.parametrize(
    ("shape", "options", "wanted"),
    [
        ((40, 40, 1), {}, {"lasso"}),
        ((40, 39, 1), {}, set()),  # no more inputs than rows
        ((40, 60, 10), {}, set()),  # too many paths
        ((40, 60, 1), {"treatments": {"none": None}}, set()),
        ((40, 5, 1), {"positive": True}, {"log_process"}),
        ((1001, 5, 1), {"positive": True}, set()),
    ],
)
def test_where_they_are_tried(shape, options, wanted):
    tried = {rung.name for rung in rungs_for("auto", Problem(*shape, **options))}
    assert tried & {"lasso", "log_process"} == wanted


def test_a_constant_output_and_constant_inputs_have_no_part():
    A = np.column_stack([X[:, :2], np.ones(40)])
    search = SparseSearch(FOLDS).fit(A, np.column_stack([Y[:, 0], np.full(40, 5.0)]))
    assert_allclose(search.predict(A)[:, 1], 5.0)
    assert search.best_estimator_.coef_[0, 2] == 0


# -- logarithms --------------------------------------------------------------------------------


def powers(n, seed=0):
    draw = np.random.default_rng(seed)
    A = np.exp(draw.normal(size=(n, 2)) * [1.5, 0.5])
    return A, 7 * A[:, 0] ** 0.8 / A[:, 1]


def test_products_of_powers_go_on_beyond_the_training_rows():
    A, b = powers(40)
    far = A * [10.0, 1.0]
    beyond = 7 * far[:, 0] ** 0.8 / far[:, 1]
    keep = np.log(beyond) < np.log(b).max() + np.log(b).std()
    found = LogSearch().fit(A, b).predict(far)
    assert keep.sum() > 30
    assert_allclose(found[keep], beyond[keep], rtol=0.01)
    # No prediction lies more than a deviation of the logarithms beyond the largest output.
    assert found.max() <= 1.01 * b.max() * np.exp(np.log(b).std())


def test_the_factor_has_the_least_squared_error():
    A, b = powers(60)
    B = np.column_stack([b, 2 * b]) * np.exp(0.5 * rng.normal(size=(60, 2)))
    weights = rng.uniform(0.5, 2, 60)
    search = LogSearch().fit(A, B, sample_weight=weights)
    off = weights[:, None] * (B - search.predict(A)) * search.predict(A)
    assert_allclose(off.sum(axis=0) / (weights @ B**2), 0, atol=1e-12)


def test_a_logarithm_goes_on_along_its_tangent():
    A = np.column_stack([[1.0, 10, 100], [-1.0, 0, 1], [4.0, 4, 4]])
    scaler = LogScaler().fit(A)
    assert_allclose(scaler.low_, [1, 0, 4])
    back = scaler.transform(A) * scaler.scale_ + scaler.mean_
    assert_allclose(back, np.column_stack([np.log(A[:, 0]), A[:, 1], [0, 0, 0]]), atol=1e-15)
    below = scaler.transform([[0.0, 0, 4], [-3, 0, 4]]) * scaler.scale_ + scaler.mean_
    assert_allclose(below[:, 0], [-1, -4])
    counts = np.array([1, 2, 3])
    copied = LogScaler().fit(np.repeat(A, counts, axis=0))
    assert_allclose(LogScaler().fit(A, sample_weight=counts).transform(A), copied.transform(A))


def test_when_logarithms_are_tried(tmp_path):
    assert want_logarithms(np.array([[1.0, 5], [3.0, 5]]))
    assert not want_logarithms(np.array([[1.0, 5], [2.9, 5]]))
    assert not want_logarithms(np.array([[0.0, 5], [3.0, 50]]))
    A, b = powers(30)
    search = MethodSearchCV(["ridge", "log_process"], cv=3, random_state=0).fit(A, b)
    assert search.best_estimator_.weights_[-1, 0] > 0.9
    save(search, tmp_path / "model.isthmus")
    assert_allclose(load(tmp_path / "model.isthmus").predict(A), search.predict(A), rtol=1e-12)
    refused = MethodSearchCV(["ridge", "log_process"], cv=3, random_state=0).fit(A, b - b.mean())
    assert "positive" in refused.cv_results_["status"][1]
