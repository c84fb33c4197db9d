"""Oracles: ridge at full rank, three independent routes, a direct search, worked numbers."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.linear_model import Ridge

from isthmus import ReducedRankRegression
from isthmus.problems import GramForm, MomentForm, RowForm
from isthmus.regression.optimum import system_optimum

XA = np.array([[1, 0], [0, 1], [1, 1], [2, -1], [-1, 2]], dtype=float)
YA = np.array([[1, 2, 0], [0, 1, 1], [2, 2, 1], [3, 3, -1], [-2, 1, 3]], dtype=float)
WORKED = [  # rank, alpha, objective, coefficients (rows of X), intercept
    (
        *(1, 0, 1.8076295852),
        [[1.646931473, 0.6896587233, -1.2265111741], [-0.0070104951, -0.0029356711, 0.0052208915]],
        [-0.1839525867, 1.3879661687, 1.5327741696],
    ),
    (
        *(1, 1, 4.6070295852),
        [[0.9576256039, 0.4132072159, -0.7572679314], [-0.5127948858, -0.221266585, 0.4055062028]],
        [0.5331015691, 1.6848356214, 1.0110570372],
    ),
    (*(2, 0, 0.8), [[2.3, 0.6, -0.4], [0.7, -0.1, 0.9]], [-1, 1.5, 0.5]),
    (
        *(2, 1, 4.3116883117),
        [[1.1558441558, 0.3896103896, -0.5194805195], [-0.2987012987, -0.2467532468, 0.6623376623]],
        [2 / 7, 12 / 7, 5 / 7],
    ),
]
SHAPES = [(40, 6, 5), (12, 30, 5), (600, 200, 6), (200, 600, 6)]


def make(n, p, q, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(2, 1, size=(n, p))
    return X, X[:, :4] @ rng.normal(size=(4, q)) + rng.normal(-3, 1, size=(n, q))


def objective(model, X, Y, alpha):
    """The criterion of the docstring, written a second time and only here."""
    error = Y - X @ model.coef_.T - model.intercept_
    return (error**2).sum() + alpha * (model.coef_**2).sum()


@pytest.mark.parametrize(("rank", "alpha", "J", "coef", "intercept"), WORKED)
def test_worked_example(rank, alpha, J, coef, intercept):
    model = ReducedRankRegression(rank, alpha=alpha).fit(XA, YA)
    assert_allclose(objective(model, XA, YA, alpha), J, rtol=1e-9)
    assert_allclose(model.coef_.T, coef, atol=1e-9)
    assert_allclose(model.intercept_, intercept, atol=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("alpha", [0.1, 10.0])
def test_full_rank_is_ridge(shape, alpha):
    X, Y = make(*shape)
    ours, peer = ReducedRankRegression(alpha=alpha).fit(X, Y), Ridge(alpha=alpha).fit(X, Y)
    assert_allclose(ours.coef_, peer.coef_, rtol=1e-8, atol=1e-10)
    more = ReducedRankRegression(99, alpha=alpha)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a rank that does not bind is no reason to warn
        assert_allclose(more.fit(X, Y).coef_, ours.coef_)
    assert more.n_components_ == min(shape[2], shape[0] - 1, shape[1])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("alpha", [0.0, 1.0, 50.0])
@pytest.mark.parametrize("r", [1, 3])
def test_three_routes_and_the_objective(shape, alpha, r):
    X, Y = make(*shape)
    ours = ReducedRankRegression(r, alpha=alpha).fit(X, Y)
    Xc, Yc = X - X.mean(0), Y - Y.mean(0)
    p, q = Xc.shape[1], Yc.shape[1]
    stacked = np.vstack([Xc, np.sqrt(alpha) * np.eye(p)])
    ridge = np.linalg.pinv(stacked, rcond=1e-11) @ np.vstack([Yc, np.zeros((p, q))])
    Q = np.linalg.svd(stacked @ ridge, full_matrices=False)[2][:r].T  # 1: project the ridge fit
    assert_allclose(ours.coef_.T, ridge @ Q @ Q.T, rtol=1e-7, atol=1e-9)
    if alpha > 0:  # 2: Cholesky of the second moments
        L = np.linalg.cholesky(Xc.T @ Xc + alpha * np.eye(p))
        P, s, Vt = np.linalg.svd(np.linalg.solve(L, Xc.T @ Yc), full_matrices=False)
        coef = np.linalg.solve(L.T, P[:, :r] * s[:r] @ Vt[:r])
        assert_allclose(ours.coef_.T, coef, rtol=1e-7, atol=1e-9)
        least = (Yc**2).sum() - (s[:r] ** 2).sum()  # 3: the value in closed form
        assert_allclose(objective(ours, X, Y, alpha), least, rtol=1e-9)


@pytest.mark.parametrize("r", [1, 2])
def test_attains_the_minimum_over_factors(r):
    X, Y = make(40, 5, 3)
    rng = np.random.default_rng(1)

    def over_factors(z):  # no eigenvectors here: an independent road to the minimum
        U, V, b = np.split(z, [5 * r, 8 * r])
        C = U.reshape(5, r) @ V.reshape(r, 3)
        return ((Y - X @ C - b) ** 2).sum() + 0.1 * (C**2).sum()

    best = min(minimize(over_factors, z).fun for z in rng.normal(size=(3, 8 * r + 3)))
    ours = ReducedRankRegression(r, alpha=0.1).fit(X, Y)
    assert_allclose(objective(ours, X, Y, 0.1), best, rtol=1e-5)


def test_no_random_map_of_the_rank_is_better():
    X, Y = make(40, 6, 5)
    rng = np.random.default_rng(2)
    ours = ReducedRankRegression(2, alpha=1.0).fit(X, Y)
    value = objective(ours, X, Y, 1.0)
    for scale in (1e-3, 1e-1, 1.0):
        for _ in range(20):
            A = ours.x_rotations_ + scale * rng.normal(size=(6, 2))
            V = ours.y_loadings_ + scale * rng.normal(size=(5, 2))
            other = ReducedRankRegression()
            other.coef_ = V @ A.T
            other.intercept_ = Y.mean(0) - other.coef_ @ X.mean(0)
            assert objective(other, X, Y, 1.0) >= value


def test_error_falls_with_rank_and_vanishes_with_alpha():
    X, Y = make(40, 6, 5)
    errors = [objective(ReducedRankRegression(r, alpha=1.0).fit(X, Y), X, Y, 1.0) for r in range(6)]
    assert (np.diff(errors) < 0).all()
    assert np.abs(ReducedRankRegression(2, alpha=1e14).fit(X, Y).coef_).max() < 1e-9


def test_recovers_a_planted_map():
    rng = np.random.default_rng(0)
    X, planted = rng.normal(2, 1, size=(40, 5)), rng.normal(size=(3, 2)) @ rng.normal(size=(2, 5))
    model = ReducedRankRegression(2, alpha=0).fit(X, X @ planted.T + 7)
    assert_allclose(model.coef_, planted, rtol=1e-9)
    assert_allclose(model.intercept_, 7, rtol=1e-9)


def test_equivariance():
    X, Y = make(40, 6, 5)
    rng = np.random.default_rng(3)
    Qx, Qy = (np.linalg.qr(rng.normal(size=(k, k)))[0] for k in (6, 5))
    model = ReducedRankRegression(
        2, alpha=0.1
    )  # chosen, it would see outputs in units of their own
    plain = clone(model).fit(X, Y)
    turned = clone(model).fit(X @ Qx, Y @ Qy)
    assert_allclose(turned.coef_, Qy.T @ plain.coef_ @ Qx, atol=1e-10)
    order = rng.permutation(40)
    assert_allclose(clone(model).fit(X[order], Y[order]).coef_, plain.coef_, atol=1e-11)
    assert_allclose(clone(model).fit(X, 3 * Y).coef_, 3 * plain.coef_, atol=1e-10)


def test_rank_zero_is_the_mean():
    X, Y = make(40, 6, 5)
    model = ReducedRankRegression(0).fit(X, Y)
    assert not model.coef_.any() and model.n_components_ == 0
    assert_allclose(model.predict(X[:2]), np.tile(Y.mean(0), (2, 1)))
    assert model.predict_path(X).shape == (0, 40, 5)


def test_one_output_caps_the_rank():
    X, Y = make(40, 6, 5)
    model = ReducedRankRegression(3, alpha=1.0).fit(X, Y[:, 0])
    assert model.n_components_ == 1
    assert_allclose(model.coef_, Ridge(alpha=1.0).fit(X, Y[:, 0]).coef_, rtol=1e-9)


def test_a_tie_is_told():
    X = np.vstack([np.eye(4), -np.eye(4)])
    with pytest.warns(UserWarning, match="is not unique"):
        ReducedRankRegression(2, alpha=0).fit(X, X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ReducedRankRegression(4, alpha=0).fit(X, X)


@pytest.mark.parametrize("alpha", [-1, np.nan, np.inf, [1.0], "large", None, True])
def test_ridge_weights_that_are_none(alpha):
    with pytest.raises(ValueError, match="alpha == "):
        ReducedRankRegression(1, alpha=alpha).fit(XA, YA)


def ill_conditioned(n, p, condition, seed=0):
    rng = np.random.default_rng(seed)
    U = np.linalg.qr(rng.normal(size=(n, p)))[0] if n > p else np.eye(n)
    V = np.linalg.qr(rng.normal(size=(p, p)))[0][: min(n, p)]
    X = (U - U.mean(0))[:, : min(n, p)] * np.geomspace(1, 1 / condition, min(n, p)) @ V
    return X, X[:, :4] @ rng.normal(size=(4, 5)) + 1e-3 * rng.normal(size=(n, 5))


@pytest.mark.parametrize("shape", [(600, 200), (200, 600)])
def test_switch_between_gram_and_svd(shape):
    """alpha >= 5e-7 ||X||^2 goes by the Gram matrix, less by X itself unless X is harmless."""
    X, Y = ill_conditioned(*shape, 1e6)
    norm = np.linalg.norm(X - X.mean(0), 2) ** 2
    gram = "moments" if shape[0] > shape[1] else "dual"
    assert ReducedRankRegression(2, alpha=6e-7 * norm).fit(X, Y).solver_ == gram
    assert ReducedRankRegression(2, alpha=1e-7 * norm).fit(X, Y).solver_ == "svd"
    assert ReducedRankRegression(2, alpha=0.0).fit(X, Y).solver_ == "svd"
    X, Y = ill_conditioned(*shape, 10.0)
    expected = gram if shape[0] > shape[1] else "svd"  # wide centred rows have one zero direction
    assert ReducedRankRegression(2, alpha=0.0).fit(X, Y).solver_ in (gram, expected)


@pytest.mark.parametrize("condition", [1e2, 1e4, 1e6, 1e8])
def test_digits_survive_bad_conditioning(condition):
    """Without a ridge the fit through X keeps eps times condition, where X'X would lose its square."""
    X, Y = ill_conditioned(600, 200, condition)
    Xc, Yc = X - X.mean(0), Y - Y.mean(0)
    U = np.linalg.qr(Xc)[0]
    P, s, Qt = np.linalg.svd(U.T @ Yc, full_matrices=False)
    expected = U @ (P[:, :2] * s[:2] @ Qt[:2])
    model = ReducedRankRegression(2, alpha=0.0).fit(X, Y)
    error = np.abs(model.predict(X) - Y.mean(0) - expected).max() / np.abs(expected).max()
    assert error < 1e-14 * condition


@pytest.mark.parametrize("shape", [(300, 12, 7), (40, 90, 7)], ids=["tall", "wide"])
@pytest.mark.parametrize("alpha", [0.0, 1e-3, 1.0, 1e6])
@pytest.mark.parametrize("rank", [1, 3, None])
def test_one_linear_system_equals_the_decomposition_of_the_rows(shape, alpha, rank):
    rng = np.random.default_rng(0)
    n, p, q = shape
    X = rng.normal(2, 1, size=(n, p)) * np.geomspace(1, 0.1, p)
    Y = X @ rng.normal(size=(p, q)) + rng.normal(size=(n, q))
    rows = RowForm.from_rows(X, Y, None, False)
    form = MomentForm.from_rows(X, Y, None, False) if p <= n else GramForm.of(rows)
    system = system_optimum(form, alpha, rank)
    if form.is_dual:
        system.lift(form.to_features)
    _, peer = ReducedRankRegression(rank, alpha=alpha)._solve(rows, rank)
    assert peer.solver == "svd"
    assert_allclose(
        system.rotations @ system.y_loadings.T,
        peer.rotations @ peer.y_loadings.T,
        rtol=1e-8,
        atol=1e-11 * abs(peer.rotations @ peer.y_loadings.T).max(),
    )
    for name in ("x_cross", "y_cross", "gram"):
        ours, theirs = (np.linalg.svd(getattr(f, name))[1] for f in (system, peer))
        assert_allclose(ours, theirs, rtol=1e-7, atol=1e-10 * theirs[0])
    gains = [(f.y_cross * f.y_loadings.T).sum(axis=1) for f in (system, peer)]
    assert_allclose(gains[0][: len(peer.gram)], gains[1])


def test_one_linear_system_is_refused_where_it_would_cost_digits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 6))
    planted = X @ rng.normal(size=(6, 1)) @ rng.normal(size=(1, 4))
    full = MomentForm.from_rows(X, X[:, :4] + rng.normal(size=(50, 4)), None, False)
    assert system_optimum(full, 1.0, 2) is not None
    assert system_optimum(full, 0.0, 2) is not None
    assert system_optimum(full, 1.0, 0) is None
    assert system_optimum(MomentForm.from_rows(X, planted, None, False), 1.0, 2) is None
    constant = MomentForm.from_rows(X, np.ones((50, 4)), None, False)
    assert system_optimum(constant, 1.0, 1) is None
    for smallest in (0.0, 1e-9, 1e-3):
        collinear = X @ np.diag([1, 1, 1, 1, 1, smallest])
        form = MomentForm.from_rows(collinear, X[:, :4] + planted, None, False)
        assert system_optimum(form, 0.0, 2) is None
        assert system_optimum(form, 1e-12, 2) is None
    wide = GramForm.from_rows(X.T @ X, X.T[:, :4], None, False)  # rank 5 of 5
    assert system_optimum(wide, 0.0, 1) is not None
    twice = GramForm.from_rows(
        np.repeat(X.T, 2, axis=0), np.repeat(X.T[:, :4], 2, axis=0), None, False
    )
    assert system_optimum(twice, 0.0, 1) is None


@pytest.mark.parametrize("shape", [(60, 9), (12, 40)], ids=["tall", "wide"])
@pytest.mark.parametrize("condition", [10.0, 1e6])
def test_the_spectrum_has_orthonormal_directions_whatever_the_condition(shape, condition):
    rng = np.random.default_rng(0)
    n, p = shape
    U, _, Vt = np.linalg.svd(rng.normal(size=shape), full_matrices=False)
    X = (U * np.geomspace(1, 1 / condition, min(shape))) @ Vt
    form = RowForm.from_rows(X, rng.normal(size=(n, 2)), None, False)
    spectrum = form.spectrum()
    k = len(spectrum.squares)
    assert k == min(n - 1, p)
    assert_allclose(spectrum.basis.T @ spectrum.basis, np.eye(k), atol=1e-9)
    T = form.X @ spectrum.basis
    assert_allclose(T.T @ T, np.diag(spectrum.squares), atol=1e-12 * spectrum.norm)


@pytest.mark.parametrize("alpha", [0.0, "auto", 1.0])
@pytest.mark.parametrize("factor", [1e-300, 1e-170, 1e160, 1e300])
@pytest.mark.parametrize("shape", [(40, 6, 3), (300, 120, 3), (30, 400, 2)])
def test_units_whose_squares_are_out_of_range(shape, factor, alpha):
    n, p, q = shape
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(n, p)), rng.normal(size=(n, q))
    plain = ReducedRankRegression(2, alpha=0.0 if alpha == 1.0 else alpha).fit(X, Y).predict(X)
    if alpha == 1.0 and factor < 1:  # beside such inputs it is infinite
        plain = np.tile(Y.mean(axis=0), (n, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = ReducedRankRegression(2, alpha=alpha).fit(X * factor, Y).predict(X * factor)
    assert_allclose(found, plain, rtol=1e-7, atol=1e-9)
