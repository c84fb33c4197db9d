"""Oracles: the bordered linear system in full, and refits without each row."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.kernels import RBF
from isthmus.regression.kernel_ridge import dual_ridge


@pytest.fixture(params=range(3))
def data(request):
    rng = np.random.default_rng(request.param)
    return RBF(0.2)(rng.normal(2, 1, size=(25, 3))), rng.normal(-3, 1, size=(25, 2))


def bordered(K, Y, alpha):
    """``(K + alpha I) A + 1 b' = Y``, ``1'A = 0`` as one system of n + 1 equations."""
    n = len(K)
    system = np.ones((n + 1, n + 1))
    system[:n, :n] = K + alpha * np.eye(n)
    system[n, n] = 0.0
    solved = np.linalg.solve(system, np.vstack([Y, np.zeros(Y.shape[1])]))
    return solved[:n], solved[n]


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 100.0])
def test_it_solves_the_bordered_system(data, alpha):
    K, Y = data
    A, b = bordered(K, Y, alpha)
    found = dual_ridge(K.copy(), Y, alpha)
    assert_allclose(found.dual_coef, A, rtol=1e-8, atol=1e-10)
    assert_allclose(found.intercept, b, rtol=1e-9)
    assert_allclose(found.values, K @ A, rtol=1e-8, atol=1e-10)
    assert found.left_out is None


def test_left_out_predictions_are_those_of_refits(data):
    K, Y = data
    found = dual_ridge(K.copy(), Y, 0.3, leave_one_out=True)
    for i in range(len(K)):
        rest = np.delete(np.arange(len(K)), i)
        A, b = bordered(K[np.ix_(rest, rest)], Y[rest], 0.3)
        assert_allclose(found.left_out[i], K[i, rest] @ A + b, rtol=1e-8)


def test_a_large_mean_costs_no_digits(data):
    K, Y = data
    plain, moved = dual_ridge(K.copy(), Y, 0.3), dual_ridge(K.copy(), Y + 2.0**30, 0.3)
    assert_allclose(moved.dual_coef, plain.dual_coef, atol=1e-6)


def test_a_ridge_below_rounding_of_a_singular_matrix_is_told():
    K = np.ones((4, 4)) - 1e-3 * np.eye(4)
    assert dual_ridge(K, np.eye(4), 1e-12) is None


@pytest.mark.parametrize("order", ["C", "F"])
def test_it_is_solved_in_place(order):
    """With as many outputs as rows, every array is as large as K: only the solution is new."""
    n = 300
    rng = np.random.default_rng(0)
    K = np.asarray(RBF(0.2)(rng.normal(size=(n, 3))), order=order)
    Y = np.asarray(rng.normal(size=(n, n)), order=order)
    tracemalloc.start()
    try:
        found = dual_ridge(K, Y, 1.0)
        kept, peak = (size / (8 * n * n) for size in tracemalloc.get_traced_memory())
    finally:
        tracemalloc.stop()
    assert found.dual_coef.shape == (n, n)
    assert kept < 1.1 and peak < 1.5
