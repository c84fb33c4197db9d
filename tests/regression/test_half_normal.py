"""Independent half normal singular values with very unequal noise, against quadrature."""

import numpy as np
import pytest

from isthmus import BayesianStiefelRegression
from isthmus._solvers.chains import bulk_ess


def posterior_by_quadrature(x, Y, variance, shape, rate):
    """Means and deviations of the two coefficients of a map of one input to two outputs.

    Half normal s and a uniform direction have the density exp(-s^2 / 2v) / s in the plane; intercept and
    noise are integrated out by hand.
    """
    x, Y = x - x.mean(), Y - Y.mean(axis=0)
    best = x @ Y / (x @ x)
    rest = ((Y - np.outer(x, best)) ** 2).sum(axis=0)
    width = np.sqrt(rest / len(x) / (x @ x))
    grids = [b + w * np.linspace(-9, 9, 601) for b, w in zip(best, width, strict=True)]
    log_density = np.zeros((601, 601))
    for j, c in enumerate(grids):
        squares = rest[j] + (x @ x) * (c - best[j]) ** 2
        along = -(shape + (len(x) - 1) / 2) * np.log(rate + squares / 2)
        log_density += along[:, None] if j == 0 else along
    s = np.hypot(*np.meshgrid(*grids, indexing="ij"))
    log_density += -(s**2) / (2 * variance) - np.log(s)
    share = np.exp(log_density - log_density.max())
    share /= share.sum()
    found = []
    for j, c in enumerate(grids):
        marginal = share.sum(axis=1 - j)
        mean = marginal @ c
        found.append((mean, np.sqrt(marginal @ (c - mean) ** 2)))
    return np.array(found)


@pytest.mark.filterwarnings("ignore:The chains have not converged")  # 1000 draws are few
def test_unequal_noise_against_quadrature():
    """Noise 0.05 and 2: R-hat was 2.7 when chains moved along singular vectors.

    Five standard errors of four means of as many normal variables: a false alarm in 4e5 runs.
    """
    rng = np.random.default_rng(0)
    x = rng.normal(size=30)
    Y = np.outer(x, [1.0, 2.0]) + rng.normal(size=(30, 2)) * [0.05, 2.0] + [3.0, -1.0]
    model = BayesianStiefelRegression(
        1,
        prior="half_normal",
        prior_variance=4.0,
        noise_prior=(1.0, 0.01),
        units="none",
        n_chains=2,
        n_warmup=300,
        n_draws=500,
        random_state=0,
    ).fit(x[:, None], Y)
    assert model.diagnostics_.rhat < 1.05
    draws = np.einsum("cdqr,cdpr->cdq", model.right_draws_, model.left_draws_)
    for j, (mean, deviation) in enumerate(posterior_by_quadrature(x, Y, 4.0, 1.0, 0.01)):
        for values, truth in (
            (draws[..., j], mean),
            ((draws[..., j] - mean) ** 2, deviation**2),
        ):
            ess = float(bulk_ess(values[..., None]).min())
            error = values.std() / np.sqrt(ess)
            assert ess > 50
            assert abs(values.mean() - truth) < 5 * error


def test_noise_that_differs_a_hundredfold():
    """Noise 0.02, 0.5 and 2: of trajectories alone 485 of 4000 draws were effective, R-hat 1.017.

    Split R-hat of 4000 draws with 2000 effective ones is 1.0005 on average; chance does not reach 1.02.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    C = rng.normal(size=(4, 2)) @ rng.normal(size=(2, 3))
    Y = X @ C + rng.normal(size=(60, 3)) * [0.02, 0.5, 2.0]
    model = BayesianStiefelRegression(2, prior="half_normal", random_state=0).fit(X, Y)
    assert model.diagnostics_.rhat < 1.02
    assert model.diagnostics_.ess_bulk > 1000
    assert model.diagnostics_.acceptance["redraw"] > 0.5
    # The truth lies within five deviations of the posterior, which are small where there is little noise.
    draws = np.einsum("cdqr,cdpr->cdqp", model.right_draws_, model.left_draws_).reshape(-1, 3, 4)
    deviations = draws.std(axis=0)
    assert (np.abs(draws.mean(axis=0) - C.T) < 5 * deviations).all()
    assert deviations[0].max() < 0.01 < deviations[2].min()
