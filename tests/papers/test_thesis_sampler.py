"""Parameters of the thesis' sampler; its law is tested beside the others in tests/regression."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from isthmus.datasets import make_low_rank_regression
from isthmus.papers.kernel_dependency_thesis import MetropolisedGibbsRegression


@pytest.mark.filterwarnings("ignore:The chains have not converged")
@parametrize_with_checks([MetropolisedGibbsRegression(1, n_chains=2, n_warmup=30, n_draws=60)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior": "normal"}, "prior == 'normal'"),
        ({"prior": "jeffreys"}, "no proper posterior"),
        ({"n_components": 3, "prior": "matrix_normal"}, "does not mix"),
        ({"n_draws": 0}, "n_draws == 0"),
    ],
)
def test_bad_parameters_are_refused(options, message):
    X, Y, _ = make_low_rank_regression(30, 4, 3, rank=1, random_state=0)
    with pytest.raises(ValueError, match=message):
        MetropolisedGibbsRegression(**{"n_components": 1, **options}).fit(X, Y)


@pytest.mark.filterwarnings("ignore:The chains have not converged")
def test_acceptance_is_told_for_every_part_and_seeds_repeat():
    X, Y, coef = make_low_rank_regression(60, 4, 3, rank=1, noise=0.3, random_state=0)
    short = {"n_chains": 2, "n_warmup": 400, "n_draws": 400, "random_state": 0}
    first = MetropolisedGibbsRegression(1, **short).fit(X, Y)
    assert set(first.diagnostics_.acceptance) == {"V", "W", "s"}
    assert all(0.1 < share < 0.7 for share in first.diagnostics_.acceptance.values())
    assert np.abs(first.coef_ - coef).max() < 0.3 * np.abs(coef).max()
    again = MetropolisedGibbsRegression(1, **short).fit(X, Y)
    np.testing.assert_array_equal(first.left_draws_, again.left_draws_)
    assert "sampler" not in first.get_params() and first.sampler_ == "metropolised gibbs"
