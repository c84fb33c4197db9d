"""Block Lanczos against the dense decomposition, where it is easy and where it is not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isthmus.linalg.eigen import (
    Tridiagonal,
    block_lanczos,
    leading_or_all_pairs,
    smallest_ritz_value,
)


def matrix(values, seed=0):
    n = len(values)
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0]
    K = (Q * values) @ Q.T
    return 0.5 * (K + K.T)


SPECTRA = {
    "geometric": 0.95 ** np.arange(600),
    "flat": 1 + 0.5 * np.linspace(1, 0, 600) ** 2,
    "low rank": np.r_[np.arange(5, 0, -1.0), np.zeros(595)],
    "identity": np.ones(600),
    "clusters": np.repeat([9.0, 5.0, 1.0, 0.01], 150),
    "indefinite": np.linspace(2, -1, 600),
}


@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("r", [1, 12, 40])
def test_leading_pairs(name, r):
    values = SPECTRA[name]
    K = matrix(values)
    found, vectors = leading_or_all_pairs(K, r)
    assert_allclose(found[:r], np.sort(values)[::-1][:r], atol=1e-11)
    U = vectors[:, :r]
    assert_allclose(U.T @ U, np.eye(r), atol=1e-11)
    assert np.linalg.norm(K @ U - U * found[:r], axis=0).max() < 1e-11


def test_restarts_converge():
    K = matrix(1 + 0.5 * np.linspace(1, 0, 600) ** 2)
    found = block_lanczos(K, 5, limit=10**6)
    assert found is not None
    assert_allclose(found[0], np.linalg.eigvalsh(K)[::-1][:5], atol=1e-12)


def test_it_gives_up_in_time():
    assert block_lanczos(matrix(np.linspace(2, 1, 600)), 60, limit=100) is None


def test_the_same_matrix_gives_the_same_pairs():
    K = matrix(SPECTRA["geometric"])
    assert_array_equal(block_lanczos(K, 5)[1], block_lanczos(K, 5)[1])


def test_float32_matrices():
    K = matrix(SPECTRA["geometric"]).astype(np.float32)
    values, vectors = block_lanczos(K, 5)
    assert_allclose(values, SPECTRA["geometric"][:5], atol=1e-5)
    assert_allclose(vectors.T @ vectors, np.eye(5), atol=1e-10)


def test_smallest_value():
    assert_allclose(
        smallest_ritz_value(matrix(np.r_[-0.5, SPECTRA["geometric"][1:]])), -0.5, rtol=0.05
    )
    assert smallest_ritz_value(matrix(SPECTRA["geometric"])) > -1e-12


@pytest.mark.parametrize("idle", [0, 1])
@pytest.mark.parametrize("n", [2, 3, 40, 65, 150])
def test_tridiagonal_form(n, idle):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n + 3, n))
    A = X.T @ X
    A[:1, 1:] *= 1 - idle  # what does not meet needs no reflection
    A[1:, :1] *= 1 - idle
    M = rng.normal(size=(n, 5))
    form = Tridiagonal(A)
    T = np.diag(form.diagonal) + np.diag(form.off, 1) + np.diag(form.off, -1)
    Q = form.back(np.eye(n))
    assert_allclose(Q @ Q.T, np.eye(n), atol=1e-14)
    assert_allclose(Q @ T @ Q.T, A, atol=1e-13 * np.abs(A).max())
    assert_allclose(form.into(M), Q.T @ M, atol=1e-13)
    assert_allclose(form.times(M), T @ M, atol=1e-12)
    assert_allclose(form.extremes(), np.linalg.eigvalsh(A)[[0, -1]], rtol=1e-10)
    assert_allclose((T + 0.5 * np.eye(n)) @ form.solve(0.5, M), M, atol=1e-12)
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        form.solve(-2.0 * float(np.trace(A)), M)


@pytest.mark.parametrize("copies", [9, 20])
def test_crowded_eigenvalues_in_single_precision(copies):
    """More copies of an eigenvalue than a block has columns: none of them is lost."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(520, 520)))[0]
    spectrum = np.concatenate([np.full(copies, 3.0), np.linspace(0.9, 0.0, 520 - copies)])
    K = ((Q * spectrum) @ Q.T).astype(np.float32)
    values, _ = leading_or_all_pairs(K, copies)
    assert_allclose(values[:copies], 3.0, rtol=1e-5)
