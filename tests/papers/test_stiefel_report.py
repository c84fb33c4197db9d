"""The geodesic descent of the report. Oracles: the closed form, linear programs, L-BFGS."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from isthmus import PLS, StiefelRegression
from isthmus._geometry import StiefelFlow
from isthmus.losses import Huber, Squared
from isthmus.papers.stiefel_report import GeodesicStiefelRegression
from isthmus.papers.stiefel_report.geodesic import _Geodesics, _Map
from isthmus.regression.rank_descent import Penalty, RankProblem


def make(seed, condition, n=60, p=8, q=6, r=3, noise=0.1):
    """A map of rank r from inputs of a given condition number, with noise."""
    rng = np.random.default_rng(seed)
    U = np.linalg.qr(rng.normal(size=(n, p)))[0]
    X = 8 * (U * np.geomspace(1, 1 / condition, p)) @ np.linalg.qr(rng.normal(size=(p, p)))[0]
    return X, X @ rng.normal(size=(p, r)) @ rng.normal(size=(r, q)) + noise * rng.normal(
        size=(n, q)
    )


@pytest.mark.parametrize(("seed", "condition"), [(0, 1.0), (1, 1.0), (2, 10.0), (3, 10.0)])
def test_reaches_the_optimum_from_its_own_start(seed, condition):
    """In at most 1000 iterations, to 4e-6: one step length for all parts is left 6e-5 above or more."""
    X, Y = make(seed, condition)
    best = StiefelRegression(3, alpha=0.0).fit(X, Y).objective_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = GeodesicStiefelRegression(3).fit(X, Y)
    assert best * (1 - 1e-12) <= model.objective_ < best * (1 + 4e-6)
    assert model.n_iter_ <= 1000
    assert_allclose(0.5 * ((Y - model.predict(X)) ** 2).sum(), model.objective_, rtol=1e-9)
    assert np.linalg.matrix_rank(model.coef_, tol=1e-9 * np.linalg.norm(model.coef_)) == 3


@pytest.mark.parametrize("start", ["exact", "pls", "ridge"])
def test_reaches_the_closed_form_from_other_starts(start):
    X, Y = make(0, 3.0, n=80, p=6, q=4, r=2)
    exact = StiefelRegression(2, alpha=0.5).fit(X, Y)
    maps = {
        "exact": exact.coef_,
        "pls": PLS(2, scale=False).fit(X, Y).coef_,
        "ridge": Ridge(0.5).fit(X, Y).coef_,
    }
    model = GeodesicStiefelRegression(2, alpha=0.5, init=maps[start], tol=1e-12).fit(X, Y)
    assert_allclose(model.objective_, exact.objective_, rtol=1e-6)
    ridge = 0.5 * ((Y - model.predict(X)) ** 2).sum() + 0.25 * (model.coef_**2).sum()
    assert_allclose(model.objective_, ridge, rtol=1e-9)


def test_slopes_along_geodesics_are_derivatives():
    """By central differences, at step lengths that are not zero."""
    rng = np.random.default_rng(0)
    Z, Y = rng.normal(size=(30, 5)), rng.normal(size=(30, 4))
    problem = RankProblem(Z, np.ones(5), Y, None, Huber(0.5), Penalty(0.3))
    flows = StiefelFlow(5, 2), StiefelFlow(4, 2)
    W, V = (flow.geometry.random_point(rng) for flow in flows)
    curve = _Geodesics(problem, problem.loss, _Map(W, np.array([2.0, 0.7]), V, rng.normal(size=4)))
    assert_allclose(curve.at(np.zeros(4))[1], curve.slopes, rtol=1e-12)
    assert (curve.slopes < 0).all()
    lengths, h = np.array([0.02, -0.01, 0.03, 0.01]), 1e-6
    slopes = curve.at(lengths)[1]
    for j in range(4):
        e = h * np.eye(4)[j]
        difference = (curve.at(lengths + e)[0] - curve.at(lengths - e)[0]) / (2 * h)
        assert_allclose(slopes[j], difference, rtol=1e-5)


def test_steep_tangents_come_near_the_absolute_loss():
    """Full rank, one output: the optimum is that of a linear program."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.standard_t(2, size=60)
    n, k = 60, 4
    Z = np.c_[X, np.ones(n)]
    cost = np.r_[np.zeros(k), np.ones(2 * n)]
    equal = np.c_[Z, np.eye(n), -np.eye(n)]
    bounds = [(None, None)] * k + [(0, None)] * (2 * n)
    best = linprog(cost, A_eq=equal, b_eq=y, bounds=bounds).fun
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the last tangent has corners
        model = GeodesicStiefelRegression(1, loss="absolute").fit(X, y)
    assert_allclose(np.abs(y - model.predict(X)).sum(), model.objective_, rtol=1e-9)
    assert best * (1 - 1e-9) <= model.objective_ < 1.002 * best


def test_outliers_do_not_move_the_absolute_fit():
    """Table 3 of the report: the absolute fit does not move, the squared one is destroyed."""
    X, Y = make(1, 2.0, n=40, p=4, q=3, r=1)
    truth = StiefelRegression(1, alpha=0.0).fit(X, Y).coef_
    Y[3, 1] = 1000.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        absolute = GeodesicStiefelRegression(1, loss="absolute", max_iter=300).fit(X, Y)
    squared = GeodesicStiefelRegression(1).fit(X, Y)
    size = np.linalg.norm(truth)
    assert np.linalg.norm(absolute.coef_ - truth) < 0.1 * size
    assert np.linalg.norm(squared.coef_ - truth) > 0.3 * size


def test_the_start_can_lead_to_a_saddle():
    """No signal in the first inputs and outputs: the identity shrinks to the mean, which is a saddle.

    Said of the curves that the iteration follows, not of its end: rounding leaves a saddle sooner or later.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    X = np.linalg.qr(X - X.mean(axis=0))[0]
    Y = np.column_stack([np.zeros((60, 2)), X[:, [3, 4]] @ np.diag([5.0, 3.0])])
    problem = RankProblem(X, np.ones(6), Y, None, Squared(), Penalty(0.0))
    W, V, b = np.eye(6, 2), np.eye(4, 2), np.zeros(4)
    mean = 0.5 * (Y**2).sum()
    for s in (1.0, 0.5, 1e-3, 0.0):
        curve = _Geodesics(problem, problem.loss, _Map(W, np.full(2, s), V, b))
        toward = curve.directions
        for direction in (toward.W, toward.V, toward.b):  # nothing but the size of the map changes
            assert_allclose(direction, 0.0, atol=1e-13)
        assert_allclose(toward.s, -s, atol=1e-13)
        assert_allclose(curve.value, mean + s**2, rtol=1e-13)
    for angle in (0.3, 0.1, 0.03):  # lower values are as near as you like
        turned = W.copy()
        turned[[0, 3], 0] = np.cos(angle), np.sin(angle)
        out = V.copy()
        out[[0, 2], 0] = np.cos(angle), np.sin(angle)
        near = _Map(turned, np.array([angle**2, 0.0]), out, b)
        expected = mean - 5.0 * angle**2 * np.sin(angle) ** 2 + angle**4 / 2
        assert expected < mean
        assert_allclose(_Geodesics(problem, problem.loss, near).value, expected, rtol=1e-13)


def test_cut_short_says_so():
    X, Y = make(0, 1.0)
    with pytest.warns(ConvergenceWarning, match="max_iter=3 is reached"):
        GeodesicStiefelRegression(3, max_iter=3).fit(X, Y)


def test_bad_parameters_are_named():
    X, Y = make(0, 1.0)
    for options, match in (
        ({"init": "zero"}, "init == 'zero', must be 'identity' or an array"),
        ({"init": np.zeros((2, 2))}, r"init has shape \(2, 2\), expected"),
        ({"loss": "quantile"}, "has kinks and no smooth stand-in"),
        ({"n_components": 0}, "n_components == 0"),
    ):
        with pytest.raises(ValueError, match=match):
            GeodesicStiefelRegression(**options).fit(X, Y)


@parametrize_with_checks([GeodesicStiefelRegression(1)])
def test_sklearn_contract(estimator, check):
    check(estimator)
