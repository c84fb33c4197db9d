"""Oracles: the stated spectrum, rank, scales and noise, read off large or noise-free samples."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isthmus.datasets import make_kappa_regression, make_low_rank_regression

MANY = 100_000  # the relative error of a sample variance is sqrt(2 / MANY), about 0.5 %


def standard_deviations(X):
    """Square roots of the eigenvalues of the covariance, largest first."""
    return np.sqrt(np.linalg.eigvalsh(np.cov(X.T))[::-1])


@pytest.mark.parametrize("collinearity", [0.0, 0.3, 1.0])
def test_low_rank_spectrum_decays_as_stated(collinearity):
    X, _, _ = make_low_rank_regression(
        MANY, 6, 2, rank=1, collinearity=collinearity, random_state=0
    )
    stated = np.exp(-collinearity * np.arange(6))
    stated *= np.sqrt(6 / (stated**2).sum())
    assert_allclose(standard_deviations(X), stated, rtol=0.02)


def test_collinear_inputs_are_mixed():
    # Without the rotation the columns would be independent and the decay no collinearity.
    X, _, _ = make_low_rank_regression(1000, 6, 2, rank=1, collinearity=1.0, random_state=0)
    off_diagonal = np.corrcoef(X.T)[~np.eye(6, dtype=bool)]
    assert np.abs(off_diagonal).max() > 0.5


@pytest.mark.parametrize("collinearity", [0.0, 0.7])
@pytest.mark.parametrize("rank", [1, 3, 4])
def test_low_rank_map_has_the_stated_rank_and_scale(rank, collinearity):
    X, Y, coef = make_low_rank_regression(
        MANY, 7, 4, rank=rank, collinearity=collinearity, noise=0.0, random_state=1
    )
    assert coef.shape == (4, 7)
    assert np.linalg.matrix_rank(coef) == rank
    assert_allclose(Y, X @ coef.T, atol=1e-12)
    assert_allclose(Y.var(axis=0).mean(), 1.0, rtol=0.02)


def test_low_rank_noise_and_bias():
    bias = [3.0, -2.0]
    X, Y, coef = make_low_rank_regression(MANY, 4, 2, rank=1, noise=0.5, bias=bias, random_state=2)
    residuals = Y - X @ coef.T
    assert_allclose(residuals.mean(axis=0), bias, atol=0.01)
    assert_allclose(residuals.std(axis=0), 0.5, rtol=0.02)
    assert abs(np.corrcoef(residuals.T)[0, 1]) < 0.02
    assert np.abs(np.corrcoef(residuals.T, X.T)[:2, 2:]).max() < 0.02


@pytest.mark.parametrize("kappa", [1, 2.5, 14])
def test_kappa_spectrum_is_that_of_the_paper(kappa):
    X, _, _ = make_kappa_regression(MANY, kappa=kappa, n_features=5, n_targets=2, random_state=0)
    stated = [np.exp(-i / 2**kappa) for i in (1, 2, 3, 4, 5)]  # counted from one
    assert_allclose(standard_deviations(X), stated, rtol=0.02)


@pytest.mark.parametrize("rank", [None, 2])
def test_kappa_map_has_the_stated_rank_and_unit_entries(rank):
    X, Y, coef = make_kappa_regression(
        20, kappa=3, rank=rank, noise=0.0, n_features=300, n_targets=250, random_state=0
    )
    assert np.linalg.matrix_rank(coef) == (rank or 250)
    assert_allclose(Y, X @ coef.T, atol=1e-10)
    assert_allclose((coef**2).mean(), 1.0, rtol=0.25)  # rank 2 has few independent factors


def test_kappa_noise_is_a_standard_deviation():
    X, Y, coef = make_kappa_regression(
        MANY, kappa=3, noise=0.1, n_features=3, n_targets=2, random_state=0
    )
    assert_allclose((Y - X @ coef.T).std(axis=0), 0.1, rtol=0.02)


def test_kappa_defaults_are_those_of_the_paper():
    X, Y, coef = make_kappa_regression(kappa=1, random_state=0)
    assert (X.shape, Y.shape, coef.shape) == ((400, 20), (400, 20), (20, 20))


MAKERS = [
    lambda seed: make_low_rank_regression(9, 5, 4, collinearity=0.2, random_state=seed),
    lambda seed: make_kappa_regression(9, kappa=2, rank=2, random_state=seed),
]


@pytest.mark.parametrize("make", MAKERS)
def test_same_seed_same_problem(make):
    first, second, other = make(3), make(3), make(4)
    for a, b, c in zip(first, second, other):
        assert_array_equal(a, b)
        assert not np.allclose(a, c)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rank": 5}, "rank == 5, must be <= 4"),
        ({"rank": 0}, "rank == 0, must be >= 1"),
        ({"noise": -1.0}, "noise == -1.0, must be >= 0"),
        ({"collinearity": -0.1}, "collinearity == -0.1, must be >= 0"),
        ({"n_samples": 0}, "n_samples == 0, must be >= 1"),
        ({"bias": [1.0, 2.0]}, r"bias.shape == \(2,\), must be \(\) or \(4,\)"),
    ],
)
def test_errors_name_the_parameter_and_the_bound(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_low_rank_regression(**{"n_samples": 9, "n_features": 5, "n_targets": 4} | arguments)


@pytest.mark.parametrize("kappa", [np.nan, np.inf, -np.inf])
def test_kappa_is_finite(kappa):
    with pytest.raises(ValueError, match=f"kappa == {kappa}, must be finite"):
        make_kappa_regression(kappa=kappa)
