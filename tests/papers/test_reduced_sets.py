"""Reduced sets of the thesis. Oracles: worked numbers, optimality conditions, ranks, direct errors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits
from sklearn.kernel_ridge import KernelRidge

from isthmus import Expansion, compress
from isthmus.compression.select import make_problem, order_points
from isthmus.kernels import RBF, Linear, gram
from isthmus.papers.kernel_dependency_thesis import (
    reduce_by_matching_pursuit,
    reduce_l0,
    reduce_l1,
)
from isthmus.papers.kernel_dependency_thesis.sparse import _shrink, l0_coefficients, l1_coefficients

X7 = np.arange(6.0)[:, None]
A7 = np.array([1.0, -1.0, 2.0, 0.5, 1.0, -0.5])[:, None]


def test_e7_l1():
    K = gram(RBF(0.25), X7)
    b = l1_coefficients(K, K @ A7, 0.5, tol=1e-13).ravel()
    assert_allclose(b, [0.35529674, 0, 0.70017416, 1.55723822, 0, 0], atol=5e-9)


def test_shrinking_is_the_proximal_map():
    rng = np.random.default_rng(5)
    for _ in range(20):
        v, t = rng.normal(size=4), rng.uniform(0, 3)

        def value(u, v=v, t=t):
            return 0.5 * ((u - v) ** 2).sum() + t * np.abs(u).max()

        best = value(_shrink(v, t))
        assert all(
            best <= value(_shrink(v, t) + 0.01 * rng.normal(size=4)) + 1e-12 for _ in range(200)
        )


def test_l1_meets_its_optimality_conditions():
    rng = np.random.default_rng(6)
    K, a = gram(RBF(0.5), rng.normal(size=(40, 2))), rng.normal(size=(40, 3))
    g = 0.5 * np.abs(K @ a).sum(axis=1).max()
    b = l1_coefficients(K, K @ a, g, tol=1e-12)
    left = np.abs(K @ (a - b)).sum(axis=1)
    used = np.abs(b).any(axis=1)
    assert 0 < used.sum() < 40
    assert_allclose(left[used], g / 2, rtol=1e-6)  # the dual norm is attained where a row is used
    assert (left[~used] <= g / 2 * (1 + 1e-6)).all()


def test_l0_without_penalty_loses_nothing_and_finds_the_rank():
    rng = np.random.default_rng(7)
    X, a = rng.normal(size=(50, 10)), rng.normal(size=(50, 1))
    K = gram(Linear(), X)
    b = l0_coefficients(K, K @ a, a, 0.0)
    assert np.count_nonzero(b) == 10
    assert_allclose(X.T @ b, X.T @ a, rtol=1e-9)


def test_l0_with_too_large_a_penalty_says_so():
    K = gram(RBF(0.25), X7)
    with pytest.warns(UserWarning, match="too large"):
        assert not l0_coefficients(K, K @ A7, A7, 1e6).any()


@pytest.mark.parametrize("reduce", [reduce_l1, reduce_l0, reduce_by_matching_pursuit])
def test_errors_are_direct(reduce):
    X, y = (a[:200] for a in load_digits(return_X_y=True))
    X = X / 16.0
    f = Expansion(X, KernelRidge(kernel="rbf", gamma=0.3).fit(X, y).dual_coef_, RBF(0.3))
    small, pursuit = reduce(f, 25)
    assert 0 < small.n_points <= 25
    rows = np.r_[X, small.points]
    a = np.r_[f.coef, -small.coef]
    left = a @ gram(RBF(0.3), rows) @ a
    K = gram(RBF(0.3), X)
    assert_allclose(pursuit.errors[-1], left / (f.coef @ K @ f.coef), rtol=1e-4)
    assert_allclose(small.intercept, f.intercept)
    # Ours is as good with as many points, and the points that are left out would be worse.
    ours = compress(f, small.n_points, refit=None).compression_.errors[-1]
    others = Expansion(X, f.coef, RBF(0.3))
    kept = {tuple(z) for z in small.points}
    index = np.array([i for i in range(200) if tuple(X[i]) not in kept])
    worse = [
        order_points(make_problem(others, None), rng.choice(index, small.n_points, replace=False))
        for rng in map(np.random.default_rng, range(5))
    ]
    assert ours <= 1.05 * pursuit.errors[-1] < min(found.errors[-1] for _, found in worse)
