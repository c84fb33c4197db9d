"""Oracles: statsmodels for least squares, the ridge hat matrix, a Jacobian taken output by output,
an explicit loop for the jackknife+, and coverage by simulation."""

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.base import clone

from isthmus import PCR, PLS, ReducedRankRegression
from isthmus.inspection import prediction_interval
from isthmus.inspection._linearised import Probes, linearise

LEAST_SQUARES = [PCR(), PLS(6), PLS(6, scale=False), ReducedRankRegression(alpha=0.0)]


@pytest.mark.parametrize("estimator", LEAST_SQUARES, ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_full_rank_is_the_interval_of_least_squares(estimator, weighted, level, fitted, rng):
    model, X, y = fitted(estimator)
    # Weights that sum to n: statsmodels counts rows where we count weight.
    weights = rng.uniform(0.2, 3, size=len(X)) if weighted else np.ones(len(X))
    weights *= len(X) / weights.sum()
    new = X[:7] + rng.normal(size=(7, 6))
    found = prediction_interval(
        model.fit(X, y, sample_weight=weights), X, y, new, level=level, sample_weight=weights
    )
    assert_allclose(found.degrees_of_freedom, 7, rtol=1e-6)
    for j, target in enumerate(y.reshape(len(X), -1).T):
        peer = sm.WLS(target, sm.add_constant(X), weights=weights).fit()
        frame = peer.get_prediction(sm.add_constant(new, has_constant="add"))
        bounds = frame.conf_int(obs=True, alpha=1 - level)
        assert_allclose(found.lower.reshape(7, -1)[:, j], bounds[:, 0], rtol=1e-5)
        assert_allclose(found.upper.reshape(7, -1)[:, j], bounds[:, 1], rtol=1e-5)


def test_ridge_is_the_interval_of_its_hat_matrix(data, rng):
    X, Y = data
    y, new = Y[:, 1], X[:5] + rng.normal(size=(5, 6))
    found = prediction_interval(ReducedRankRegression(alpha=30.0).fit(X, y), X, y, new)
    Xc = X - X.mean(axis=0)
    smoother = np.linalg.solve(Xc.T @ Xc + 30 * np.eye(6), Xc.T)
    H, H_new = 1 / 40 + Xc @ smoother, 1 / 40 + (new - X.mean(axis=0)) @ smoother
    left = ((np.eye(40) - H) ** 2).sum()
    reach = stats.t.ppf(0.975, left) * np.sqrt(
        ((y - H @ y) ** 2).sum() / left * (1 + (H_new**2).sum(axis=1))
    )
    assert_allclose(found.degrees_of_freedom, np.trace(H))
    assert_allclose(found.upper - found.prediction, reach)
    assert_allclose(found.prediction, H_new @ y)


def jacobian(estimator, X, Y, new):
    """Change of new predictions with every single output, (new, target, row, target)."""
    J = np.empty((len(new), Y.shape[1], *Y.shape))
    for i, j in np.ndindex(Y.shape):
        ahead, behind = Y.copy(), Y.copy()
        ahead[i, j] += 1e-4
        behind[i, j] -= 1e-4
        ahead, behind = (clone(estimator).fit(X, A).predict(new) for A in (ahead, behind))
        J[:, :, i, j] = (ahead - behind) / 2e-4
    return J


@pytest.mark.parametrize(
    "estimator", [PCR(3), PLS(2, scale=False), ReducedRankRegression(2, alpha=1.0)], ids=repr
)
def test_linearisation_is_the_jacobian_taken_output_by_output(estimator, data):
    X, Y = data
    new = X[:4] + 1
    model = estimator.fit(X, Y)
    found = linearise(model, X, Y, np.ones(40), Probes(1000, 0, None))
    J = jacobian(estimator, X, Y, X)
    assert_allclose(found.dof, np.einsum("ijij->j", J), rtol=1e-5)
    errors = np.sqrt(((Y - model.predict(X)) ** 2).mean(axis=0))
    assert_allclose(found.error_scale, errors)
    variance = (jacobian(estimator, X, Y, new) ** 2 @ errors**2).sum(axis=-1)
    moved = sum(((new - X.mean(axis=0)) @ slope.T) ** 2 for slope in found.slopes)
    assert_allclose(moved + errors**2 / 40, variance, rtol=1e-5)


def test_random_directions_come_near_all_of_them(data):
    X, Y = data
    model = PLS(2).fit(X, Y)
    exact = prediction_interval(model, X, Y, X)
    probed = prediction_interval(model, X, Y, X, n_probes=17, random_state=0)  # of 18
    assert not np.allclose(probed.upper, exact.upper, rtol=1e-9)
    assert_allclose(probed.upper - probed.lower, exact.upper - exact.lower, rtol=0.1)
    fits = [linearise(model, X, Y, np.ones(40), Probes(6, seed, None)) for seed in range(80)]
    assert_allclose(np.mean([fit.dof for fit in fits], axis=0), exact.degrees_of_freedom, rtol=0.1)
    everywhere = linearise(model, X, Y, np.ones(40), Probes(18, 0, None))
    squares = np.mean([(fit.slopes**2).sum(axis=0) for fit in fits], axis=0)
    assert_allclose(squares.sum(), (everywhere.slopes**2).sum(), rtol=0.1)


@pytest.mark.parametrize("estimator", [PLS(5), ReducedRankRegression(alpha=1.0)], ids=repr)
def test_coverage_where_components_are_no_degrees_of_freedom(estimator):
    # Scores taken as given and one degree of freedom a component would hold 78 and 71 %.
    rng = np.random.default_rng(0)
    loadings, coef = rng.normal(size=(2, 40)), rng.normal(size=2)

    def draw(n):
        T = rng.normal(size=(n, 2))
        return T @ loadings + 0.3 * rng.normal(size=(n, 40)) + 5, T @ coef + rng.normal(size=n)

    held = []
    for _ in range(12):
        (X, y), (X_new, y_new) = draw(60), draw(300)
        found = prediction_interval(estimator.fit(X, y), X, y, X_new)
        held.append(((found.lower < y_new) & (y_new < found.upper)).mean())
    error = np.std(held, ddof=1) / np.sqrt(len(held))
    # Between 0.93 and 0.98 as measured over many seeds; eight errors of twelve draws (Student): 1e-6.
    assert 0.93 - 8 * error < np.mean(held) < 0.98 + 8 * error


@pytest.mark.parametrize("estimator", [PLS(2), ReducedRankRegression(1, alpha=2.0)])
def test_jackknife_plus_is_the_explicit_loop(estimator, fitted, rng):
    model, X, y = fitted(estimator)
    new = X[:3] + rng.normal(size=(3, 6))
    found = prediction_interval(model, X, y, new, level=0.9, method="jackknife+")
    low, high = [], []
    for i in range(40):
        rows = [j for j in range(40) if j != i]
        fit = clone(estimator).fit(X[rows], y[rows])
        error = np.abs(y[i] - fit.predict(X[i : i + 1])[0])
        low.append(fit.predict(new) - error)
        high.append(fit.predict(new) + error)
    # ceil(0.9 * 41) = 37th smallest and floor(0.1 * 41) = 4th smallest, counted from one
    assert_allclose(found.upper, np.sort(high, axis=0)[36])
    assert_allclose(found.lower, np.sort(low, axis=0)[3])
    assert_allclose(found.prediction, model.predict(new))


def test_jackknife_plus_covers_whatever_the_errors():
    rng = np.random.default_rng(0)
    held = []
    for _ in range(100):
        X = rng.normal(size=(230, 5))
        y = X[:, 0] + rng.exponential(size=230) * np.abs(X[:, 1])  # skew, unequal variances
        model = PLS(2).fit(X[:30], y[:30])
        found = prediction_interval(model, X[:30], y[:30], X[30:], level=0.9, method="jackknife+")
        held.append(((found.lower <= y[30:]) & (y[30:] <= found.upper)).mean())
    error = np.std(held, ddof=1) / np.sqrt(len(held))
    assert abs(np.mean(held) - 0.9) < 0.01 + 5.2 * error  # false alarms: 1e-6 (Student)


@pytest.mark.parametrize(("n", "bounded"), [(19, True), (18, False)])
def test_jackknife_plus_needs_rows_for_its_level(n, bounded, rng):
    X = rng.normal(size=(n, 2))
    model = PLS(1).fit(X, X[:, 0])
    found = prediction_interval(model, X, X[:, 0], X, level=0.95, method="jackknife+")
    assert np.isfinite(found.upper).all() == bounded
    assert np.isfinite(found.lower).all() == bounded


def test_no_components_is_the_interval_of_the_mean(data):
    X, Y = data
    found = prediction_interval(ReducedRankRegression(0).fit(X, Y), X, Y, X[:2])
    reach = stats.t.ppf(0.975, 39) * Y.std(axis=0, ddof=1) * np.sqrt(1 + 1 / 40)
    assert_allclose(found.upper, np.tile(Y.mean(axis=0) + reach, (2, 1)))


@pytest.mark.parametrize("method", ["gaussian", "jackknife+"])
def test_constant_target_has_no_width(method, data, rng):
    X, Y = data
    for constant in rng.normal(size=5) * 1e6:
        Y = np.column_stack([Y[:, 0], np.full(40, constant)])
        weights = rng.uniform(0.5, 2, size=40)  # their mean is off by a unit in the last place
        model = PLS(2).fit(X, Y, sample_weight=weights)
        found = prediction_interval(model, X, Y, X, method=method, sample_weight=weights)
        assert_allclose(found.lower[:, 1], constant, rtol=1e-14)
        assert_allclose(found.upper[:, 1], constant, rtol=1e-14)
        alone = PLS(2).fit(X, Y[:, 0], sample_weight=weights)
        peer = prediction_interval(alone, X, Y[:, 0], X, method=method, sample_weight=weights)
        assert_allclose(found.upper[:, 0], peer.upper, rtol=1e-6)


def test_spent_degrees_of_freedom_are_an_error(rng):
    X = rng.normal(size=(10, 30))
    y = rng.normal(size=10)
    model = PCR().fit(X, y)
    with pytest.raises(ValueError, match=r"Target 0 uses 10.0 of 10 degrees of freedom"):
        prediction_interval(model, X, y, X)
    assert (prediction_interval(model, X, y, X, level=0.8, method="jackknife+").upper > y).any()


def test_a_fraction_of_a_degree_of_freedom_is_an_error():
    # Student's quantile for it is 1e100 and more: a ridge that all but interpolates leaves 0.002.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 60)), rng.normal(size=20)
    norm = np.linalg.norm(X - X.mean(axis=0), 2) ** 2
    model = ReducedRankRegression(alpha=1e-6 * norm).fit(X, y)
    left = linearise(model, X, y[:, None], np.ones(20), Probes(100, 0, None)).residual_dof[0]
    assert 0 < left < 1e-3
    with pytest.raises(ValueError, match="less than one is left to estimate the noise"):
        prediction_interval(model, X, y, X)


def test_no_fit_leaves_less_than_least_squares():
    """A component that noise decides on has a Jacobian that spends more than there is."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    y = X @ [1.0, 1.0, 1.0, 1.0] + 0.5 * rng.normal(size=30)
    # Inputs that are nearly white: the second component hangs on a thread.
    Q = np.linalg.qr(X - X.mean(axis=0))[0] * [1.0, 1.001, 0.999, 1.002]
    model = PLS(2, scale=False).fit(Q, y)
    fit = linearise(model, Q, y[:, None], np.ones(30), Probes(100, 0, None))
    assert fit.dof[0] > 5
    assert fit.residual_dof[0] >= 25 - 1e-9
    assert np.isfinite(prediction_interval(model, Q, y, Q).upper).all()


@pytest.mark.parametrize("method", ["gaussian", "jackknife+"])
@pytest.mark.parametrize(
    "model",
    [PLS(3), PCR(3), ReducedRankRegression(2, scale=True), ReducedRankRegression()],
    ids=repr,
)
@pytest.mark.parametrize(
    "units", [[1.0, 1e6, 1e-6], [1e200, 1e200, 1e200], [1e-200, 1e-200, 1e-200]]
)
def test_the_units_of_outputs_are_those_of_their_intervals(model, method, units, rng):
    """Differences of refits have a step in the units of each output."""
    X = rng.normal(size=(30, 5))
    Y = X @ rng.normal(size=(5, 3)) + rng.normal(size=(30, 3)) + [0.0, 5.0, -3.0]
    new = rng.normal(size=(4, 5))
    plain, other = (
        prediction_interval(clone(model).fit(X, B), X, B, new, method=method)
        for B in (Y, Y * units)
    )
    for bound in ("lower", "upper"):
        assert_allclose(getattr(other, bound) / units, getattr(plain, bound), rtol=1e-5, atol=1e-6)
    if method == "gaussian":
        assert_allclose(other.degrees_of_freedom, plain.degrees_of_freedom, rtol=1e-6)


def test_rounding_of_the_level_takes_no_further_row(rng):
    """0.56 times 25 is 14.000000000000002 in float64, and the bound is the 14th error, not the 15th."""
    X = rng.normal(size=(24, 3))
    y = X[:, 0] + rng.normal(size=24)
    model = PLS(2).fit(X, y)
    bounds = [
        prediction_interval(model, X, y, X[:5], level=level, method="jackknife+").upper
        for level in (0.5599, 0.56, 0.5601)
    ]
    assert_allclose(bounds[0], bounds[1], rtol=0)
    assert (bounds[2] > bounds[1]).all()
