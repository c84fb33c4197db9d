"""Oracles: scipy's law, the prior itself (which the move must leave as it is), collinear columns."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import chi2, geninvgauss, kstest

from isthmus import BayesianStiefelRegression
from isthmus.datasets import make_low_rank_regression
from isthmus.regression.bayesian.orbits import draw_rebalancing, generalised_inverse_gaussian

N_DRAWS = 4000
SMALL = 1e-8  # with some forty tests a right program fails once in 2e6 runs


@pytest.mark.parametrize("p", [-6.0, -0.5, 0.0, 0.3, 2.0, 60.0])
@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (0.02, 3.0), (200.0, 5.0), (40.0, 60.0)])
def test_variates_have_the_law_of_scipy(p, a, b):
    rng = np.random.default_rng(1)
    drawn = [generalised_inverse_gaussian(p, a, b, rng) for _ in range(N_DRAWS)]
    law = geninvgauss(p, np.sqrt(a * b), scale=np.sqrt(b / a))
    assert kstest(drawn, law.cdf).pvalue > SMALL


def test_variates_where_one_term_is_nothing():
    """b = 0 is a gamma law for p > 0, a = 0 an inverse gamma law for p < 0."""
    rng = np.random.default_rng(2)
    gamma = [generalised_inverse_gaussian(2.0, 3.0, 0.0, rng) for _ in range(N_DRAWS)]
    inverse = [generalised_inverse_gaussian(-2.0, 0.0, 3.0, rng) for _ in range(N_DRAWS)]
    law = chi2(4, scale=1 / 3)
    assert kstest(gamma, law.cdf).pvalue > SMALL
    assert kstest(1 / np.array(inverse), law.cdf).pvalue > SMALL
    for p in (-0.5, 0.0, 0.5):  # nothing at all: no law, but a number
        assert np.isfinite(generalised_inverse_gaussian(p, 0.0, 0.0, rng))


@pytest.mark.parametrize("shape", [(6, 2, 2), (2, 5, 2), (3, 3, 3), (7, 1, 1)])
def test_the_prior_stays_and_so_does_the_map(shape):
    """Norms of columns stay chi-square: a wrong power in the Jacobian would show."""
    (k, q, r), precision = shape, 2.5
    rng = np.random.default_rng(3)
    left, right = np.empty((N_DRAWS, r)), np.empty((N_DRAWS, r))
    for i in range(N_DRAWS):
        A, D = (rng.standard_normal((rows, r)) / np.sqrt(precision) for rows in (k, q))
        R, c = draw_rebalancing(A, D, precision, rng)
        new_A, new_D = A @ R * c, D @ R / c
        left[i], right[i] = (new_A**2).sum(axis=0), (new_D**2).sum(axis=0)
    assert_allclose(new_A @ new_D.T, A @ D.T, atol=1e-12)
    assert kstest(precision * left[:, 0], chi2(k).cdf).pvalue > SMALL
    assert kstest(precision * right[:, 0], chi2(q).cdf).pvalue > SMALL


def test_the_balance_forgets_where_it_was():
    """From A a hundred times too large and D as much too small, one move is enough."""
    rng = np.random.default_rng(4)
    A, D = 100 * rng.standard_normal((8, 2)), rng.standard_normal((3, 2)) / 100
    ratios = []
    for _ in range(200):
        R, c = draw_rebalancing(A, D, 1.0, rng)
        ratios.append(((A @ R * c) ** 2).sum() / ((D @ R / c) ** 2).sum())
    assert 0.3 < np.median(ratios) < 10


@pytest.mark.filterwarnings(
    "ignore:The chains have not converged:sklearn.exceptions.ConvergenceWarning"
)
@pytest.mark.parametrize("likelihood", ["gaussian", "laplace"])
def test_chains_agree_on_dependent_columns(likelihood):
    """Two columns are sums of others: what the data leave open follows the balance of the factors."""
    X, Y, _ = make_low_rank_regression(300, 6, 3, rank=2, noise=0.5, random_state=0)
    X = np.column_stack([X, X[:, 0] + X[:, 1], X[:, 2] - X[:, 3]])
    model = BayesianStiefelRegression(2, likelihood=likelihood, random_state=0)
    if likelihood == "laplace":
        model.set_params(n_chains=2, n_warmup=200)
    report = model.fit(X, Y).diagnostics_
    assert report.rhat < 1.03 and report.ess_bulk > 200  # 1.05 and 8 without the move
    size = np.log(
        (model.left_draws_**2).sum(axis=(2, 3)) / (model.right_draws_**2).sum(axis=(2, 3))
    )
    assert np.abs(np.diff(size.mean(axis=1))).max() < 0.25 * size.std()
