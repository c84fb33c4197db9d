"""Oracle: the conditions of the optimum, which a path must meet at every corner and between them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus._solvers.lasso import lasso_path

SEEDS = range(60)


def table(kind, seed):
    """Fewer and more rows than columns; indicators, which tie; twins and opposites of a column."""
    rng = np.random.default_rng(seed)
    n, p = rng.integers(3, 60), rng.integers(1, 90)
    X = rng.standard_normal((n, p)) * rng.uniform(0.3, 3, p)
    if kind == "indicators":
        X = (rng.random((n, p)) < 0.2).astype(float)
    if kind == "twins":
        X = np.hstack([X, X[:, :3], -X[:, -2:]])
    if (
        kind == "combinations"
    ):  # a column that depends on those in use is needed once one of them leaves
        X = rng.integers(-1, 2, (rng.integers(4, 9), rng.integers(6, 14))).astype(float)
        X = np.hstack([X, X[:, :2] + X[:, 2:4], X[:, :1] - X[:, 3:4]])
        n = len(X)
    X = X - X.mean(axis=0)
    y = X[:, :3] @ rng.standard_normal(X[:, :3].shape[1]) + 0.3 * rng.standard_normal(n)
    return X.T @ X / n, X.T @ (y - y.mean()) / n


def breach(gram, products, penalties, coef):
    """How far a covariance is from its penalty where a coefficient is used, and beyond it elsewhere."""
    covariances = products - coef @ gram
    used = np.abs(coef) > 1e-10 * np.abs(coef).max()
    off = np.where(
        used,
        np.abs(covariances - penalties[:, None] * np.sign(coef)),
        np.abs(covariances) - penalties[:, None],
    )
    return off.max() / np.abs(products).max()


@pytest.mark.parametrize("kind", ["normal", "indicators", "twins", "combinations"])
def test_every_point_of_the_path_is_the_optimum(kind):
    for seed in SEEDS:
        gram, products = table(kind, seed)
        least = 1e-4 * np.abs(products).max()
        if least == 0:
            continue
        penalties, coef = lasso_path(gram, products, least)
        assert penalties[-1] == least and (np.diff(penalties) <= 0).all()
        assert breach(gram, products, penalties, coef) < 1e-11, seed
        middle = (penalties[1:] + penalties[:-1]) / 2
        assert breach(gram, products, middle, (coef[1:] + coef[:-1]) / 2) < 1e-11, seed


def test_coefficients_leave_and_come_back():
    """Without steps that leave the path would be another: it has them in most tables."""
    leaves = 0
    for seed in SEEDS:
        _, coef = lasso_path(*table("normal", seed), 1e-6)
        leaves += bool(((coef[:-1] != 0) & (coef[1:] == 0)).any())
    assert leaves > len(SEEDS) / 4


def test_the_path_ends_at_least_squares():
    gram, products = table("normal", 3)
    gram, products = gram[:5, :5], products[:5]
    _, coef = lasso_path(gram, products, 0.0)
    assert_allclose(gram @ coef[-1], products, atol=1e-12)


def test_the_order_of_the_columns_does_not_matter():
    gram, products = table("normal", 7)
    order = np.random.default_rng(0).permutation(len(products))
    penalties, coef = lasso_path(gram, products, 1e-3)
    again, moved = lasso_path(gram[np.ix_(order, order)], products[order], 1e-3)
    assert_allclose(again, penalties, rtol=1e-10)
    assert_allclose(moved, coef[:, order], atol=1e-10)
