"""Leading eigenpairs against the dense decomposition, where they are easy and where they are not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isthmus._linalg.eigen import leading_or_all_pairs, smallest_ritz_value


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


def test_the_same_matrix_gives_the_same_pairs():
    K = matrix(SPECTRA["geometric"])
    assert_array_equal(leading_or_all_pairs(K, 5)[1], leading_or_all_pairs(K, 5)[1])


def test_float32_matrices():
    K = matrix(SPECTRA["geometric"]).astype(np.float32)
    values, vectors = leading_or_all_pairs(K, 5)
    assert vectors.shape == (600, 5)
    assert_allclose(values, SPECTRA["geometric"][:5], atol=1e-5)
    assert_allclose(vectors.T @ vectors, np.eye(5), atol=1e-5)


def test_smallest_value():
    assert_allclose(
        smallest_ritz_value(matrix(np.r_[-0.5, SPECTRA["geometric"][1:]])), -0.5, rtol=0.05
    )
    assert smallest_ritz_value(matrix(SPECTRA["geometric"])) > -1e-12


@pytest.mark.parametrize("copies", [9, 20])
def test_crowded_eigenvalues_in_single_precision(copies):
    """Many copies of an eigenvalue: none of them is lost."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(520, 520)))[0]
    spectrum = np.concatenate([np.full(copies, 3.0), np.linspace(0.9, 0.0, 520 - copies)])
    K = ((Q * spectrum) @ Q.T).astype(np.float32)
    values, _ = leading_or_all_pairs(K, copies)
    assert_allclose(values[:copies], 3.0, rtol=1e-5)
