"""Oracles: the plain fit where nothing is missing, a direct Gaussian likelihood, conditional means."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold

import isthmus.problems.gaps as gaps_module
import isthmus.problems.missing as missing_module
from isthmus import PCR, PLS, ComponentSearchCV, Moments, ReducedRankRegression
from isthmus._linalg import orthonormal_basis
from isthmus.problems import RowForm
from isthmus.problems.missing import expected_moments

ESTIMATORS = [PLS(2, missing="em"), PCR(2, missing="em"), ReducedRankRegression(2, missing="em")]


def low_rank(n=300, p=20, q=5, latent=4, seed=0):
    rng = np.random.default_rng(seed)
    E = rng.normal(size=(n, latent))
    X = E @ rng.normal(size=(latent, p)) + 0.1 * rng.normal(size=(n, p)) + 3
    Y = E @ rng.normal(size=(latent, q)) + 0.1 * rng.normal(size=(n, q)) - 1
    return X, Y


def with_gaps(A, share, seed=0):
    holes = np.random.default_rng(seed).random(A.shape) < share
    return np.where(holes, np.nan, A)


def em(X, Y, **options):
    options = {"n_latent": 4, "max_iter": 500, "tol": 1e-9, **options}
    return expected_moments(X, Y, options.pop("weights", None), **options)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_nothing_missing_is_the_plain_fit(estimator):
    X, Y = low_rank(60, 6, 3, 2)
    plain = type(estimator)(2).fit(X, Y)
    assert_allclose(estimator.fit(X, Y).coef_, plain.coef_, rtol=1e-9)
    assert estimator.n_iter_ == 1


def test_likelihood_never_falls_and_is_the_gaussian_one():
    X, Y = low_rank(80, 5, 2, 2)
    X, Y = with_gaps(X, 0.3), with_gaps(Y, 0.3, 1)
    _, model = em(X, Y, n_latent=2)
    history = np.array(model.log_likelihood)
    assert len(history) > 3 and model.converged
    assert (np.diff(history) >= -1e-9 * abs(history[-1])).all()
    Z = (np.hstack([X, Y]) - model.offset) / model.scale
    C = model.loadings @ model.loadings.T + model.noise_variance * np.eye(7)
    direct = 0.0
    for z in Z:
        o = ~np.isnan(z)
        if o.any():
            direct += multivariate_normal(model.mean[o], C[np.ix_(o, o)]).logpdf(z[o])
    assert_allclose(history[-1], direct, rtol=1e-6)


def test_likelihood_of_the_first_step_counts_the_shift_of_the_means():
    """Gaps that are not at random move the means: the law of the first step is not centred at the rows."""
    X, Y = low_rank(60, 6, 2, 2)
    X[X[:, 0] > 3.5, 1] = np.nan
    with pytest.warns(ConvergenceWarning):
        first = em(X, Y, n_latent=2, max_iter=1)[1]
    Z = (np.hstack([X, Y]) - first.offset) / first.scale
    filled, missing = np.nan_to_num(Z), np.isnan(Z[:, 1])

    def law(mean, S):
        values, vectors = np.linalg.eigh(S)
        noise = values[:-2].mean()
        return mean, (vectors[:, -2:] * (values[-2:] - noise)) @ vectors[:, -2:].T + noise * np.eye(
            8
        )

    # The start: of rows with means in their gaps, then of conditional means, exact for one gap in a row.
    mean, C = law(filled.mean(axis=0), np.cov(filled.T, bias=True))
    others = np.delete(np.arange(8), 1)
    slope = np.linalg.solve(C[np.ix_(others, others)], C[others, 1])
    filled[missing, 1] = mean[1] + (filled[missing][:, others] - mean[others]) @ slope
    S = np.cov(filled.T, bias=True)
    S[1, 1] += missing.mean() * (C[1, 1] - C[1, others] @ slope)
    mean, C = law(filled.mean(axis=0), S)
    noise = np.linalg.eigvalsh(C)[0]
    direct = sum(
        multivariate_normal(mean[o], C[np.ix_(o, o)]).logpdf(z[o]) for z, o in zip(Z, ~np.isnan(Z))
    )
    assert noise > missing_module._MOMENT_NOISE
    assert_allclose(first.log_likelihood[0], direct, rtol=1e-9)


def test_moments_are_the_expected_ones():
    """The second moments hold the conditional covariance that imputation forgets."""
    X, Y = low_rank(400, 6, 2, 2)
    gappy = with_gaps(X, 0.4)
    moments, _ = em(gappy, Y, n_latent=2)
    truth = Moments.from_data(X, Y)
    assert_allclose(np.diag(moments.xx), np.diag(truth.xx), rtol=0.05)
    mean_filled = np.where(np.isnan(gappy), np.nanmean(gappy, axis=0), gappy)
    shrunk = Moments.from_data(mean_filled, Y)
    assert (np.diag(shrunk.xx) < 0.8 * np.diag(truth.xx)).all()  # the control is far off


def test_correction_matters_in_noise():
    """With strong noise, filled values alone understate the variance; the expected moments do not."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(3000, 4)), rng.normal(size=(3000, 1))
    gappy = with_gaps(X, 0.5)
    moments, model = em(gappy, Y, n_latent=1)
    filled = Moments.from_data(model.filled(gappy), Y)
    assert_allclose(np.diag(moments.xx) / 3000, 1.0, atol=0.1)
    assert (np.diag(filled.xx) / 3000 < 0.7).all()


def test_leading_pairs_are_enough(monkeypatch):
    """Wide covariances are not decomposed in every step; the model is that of those which are."""
    X, Y = low_rank(60, 30, 3, 2)
    X, Y = with_gaps(X, 0.2), with_gaps(Y, 0.1, 1)
    whole, whole_model = em(X, Y, n_latent=3)
    monkeypatch.setattr(missing_module, "_ALL_PAIRS", 5)
    monkeypatch.setattr(missing_module, "_SPARE_PAIRS", 3)
    leading, model = em(X, Y, n_latent=3)
    assert_allclose(leading.xx, whole.xx, rtol=1e-6, atol=1e-6 * abs(whole.xx).max())
    assert_allclose(leading.xy, whole.xy, rtol=1e-6, atol=1e-6 * abs(whole.xy).max())
    assert_allclose(model.log_likelihood[-1], whole_model.log_likelihood[-1], rtol=1e-9)


def test_dimensions_that_are_found_after_wide_rows_without_gaps():
    """A start that leaves dimensions out asks for more of them when nothing has been filled yet."""
    rng = np.random.default_rng(360)
    E = rng.normal(size=(60, 6))
    X = E @ rng.normal(size=(6, 300)) + 1e-6 * rng.normal(size=(60, 300))
    Y = E @ rng.normal(size=(6, 3))
    X[:3, :2] = np.nan
    model = PCR(5, missing="em").fit(X, Y).missing_model_
    assert model.converged
    assert_allclose(model.filled(X)[3:], X[3:])


@pytest.mark.parametrize("block", [2**20, 40])
@pytest.mark.parametrize("order, many", [(16, 0), (16, 8), (0, 0)], ids=["swept", "both", "LAPACK"])
@pytest.mark.parametrize("c", [0, 1, 3, 9])
def test_gaps_given_the_rest_row_by_row(monkeypatch, block, order, many, c):
    """Every way to invert, every number of gaps, shared patterns: the normal law written row by row."""
    monkeypatch.setattr(gaps_module, "_INVERTED_ENTRIES", block)
    monkeypatch.setattr(gaps_module, "_SWEPT_ORDER", order)
    monkeypatch.setattr(gaps_module, "_SWEPT_MANY", many)
    rng = np.random.default_rng(c)
    d, n = 10, 120
    W, noise = rng.normal(size=(d, c)), 0.3
    C = W @ W.T + noise * np.eye(d)
    missing = rng.random((n, d)) < rng.random(n)[:, None]
    missing[:3], missing[3:6] = True, False
    missing[50:] = missing[rng.integers(0, 50, size=70)]
    R, weights = np.where(missing, 0.0, rng.normal(size=(n, d))), rng.random(n)
    filled, covariance, log_det, squares = R.copy(), np.zeros((d, d)), 0.0, 0.0
    for r, u, w in zip(filled, missing, weights):
        o = ~u
        K = np.linalg.solve(C[np.ix_(o, o)], C[np.ix_(o, u)])
        r[u] = r[o] @ K
        covariance[np.ix_(u, u)] += w * (C[np.ix_(u, u)] - C[np.ix_(u, o)] @ K)
        log_det += w * (np.linalg.slogdet(C[np.ix_(o, o)])[1] - np.linalg.slogdet(C)[1])
        squares += w * (r[o] @ np.linalg.solve(C[np.ix_(o, o)], r[o]))
    mean = rng.normal(size=d)
    Z = np.where(missing, np.nan, R + mean)
    found = gaps_module.Gaps(missing).fill(Z, mean, gaps_module.Normal(W, noise), weights)
    R = Z - mean
    assert_allclose(R, filled, atol=1e-10)
    assert_allclose(found[0].dense(), covariance, atol=1e-10)
    assert_allclose(found[0].diagonal(), covariance.diagonal(), atol=1e-10)
    V = rng.normal(size=(d, 2))
    assert_allclose(found[0].times(V), covariance @ V, atol=1e-10)
    assert_allclose(found[0].within(V), V.T @ covariance @ V, atol=1e-10)
    assert_allclose(found[1], log_det, rtol=1e-10)
    normal = gaps_module.Normal(W, noise)
    assert_allclose(weights @ normal.squares(R, may_cancel=False), squares, rtol=1e-10)
    assert_allclose(weights @ normal.squares(R, may_cancel=True), squares, rtol=1e-10)


def test_filled_is_the_conditional_mean():
    X, Y = low_rank(200, 5, 2, 2)
    _, model = em(with_gaps(X, 0.2), Y, n_latent=2)
    new = X[:1].copy()
    new[0, [1, 3]] = np.nan
    C = (model.loadings @ model.loadings.T + model.noise_variance * np.eye(7))[:5, :5]
    o, u = [0, 2, 4], [1, 3]
    z = ((X[:1] - model.offset[:5]) / model.scale[:5])[0]
    conditional = model.mean[u] + C[np.ix_(u, o)] @ np.linalg.solve(
        C[np.ix_(o, o)], z[o] - model.mean[o]
    )
    expected = conditional * model.scale[u] + model.offset[u]
    assert_allclose(model.filled(new)[0, u], expected, rtol=1e-9)
    assert_allclose(model.filled(new)[0, o], X[0, o])


@pytest.mark.parametrize("share", [0.05, 0.1, 0.3])
def test_beats_mean_filling(share):
    """The table of the method: R2 on complete test rows stays where the complete data put it."""
    X, Y = low_rank(500)
    gappy_X, gappy_Y = with_gaps(X[:300], share), with_gaps(Y[:300], share, 1)
    ours = PLS(4, missing="em").fit(gappy_X, gappy_Y).score(X[300:], Y[300:])
    filled = [np.where(np.isnan(A), np.nanmean(A, axis=0), A) for A in (gappy_X, gappy_Y)]
    assert ours > PLS(4).fit(X[:300], Y[:300]).score(X[300:], Y[300:]) - 0.003
    assert ours > PLS(4).fit(*filled).score(X[300:], Y[300:])


def test_new_rows_may_have_gaps():
    X, Y = low_rank(400)
    model = PLS(4, missing="em").fit(with_gaps(X[:300], 0.1), Y[:300])
    gappy = with_gaps(X[300:], 0.2, 5)
    assert model.score(gappy, Y[300:]) > 0.95
    assert np.isfinite(model.transform(gappy)).all()


def test_weights_are_repetitions():
    X, Y = low_rank(40, 5, 2, 2)
    X = with_gaps(X, 0.2)
    counts = 1 + np.arange(40) % 3
    weighted, _ = em(X, Y, weights=counts.astype(float), n_latent=2)
    repeated, _ = em(np.repeat(X, counts, axis=0), np.repeat(Y, counts, axis=0), n_latent=2)
    assert_allclose(weighted.xx, repeated.xx, rtol=1e-6)
    assert_allclose(weighted.xy, repeated.xy, rtol=1e-5, atol=1e-5)


def test_constant_column_with_gaps_has_no_say():
    X, Y = low_rank(50, 4, 2, 2)
    X[:, 2] = 7.0
    X = with_gaps(X, 0.2)
    model = PLS(2, missing="em").fit(X, Y)
    assert (model.coef_[:, 2] == 0).all()
    assert_allclose(model.missing_model_.filled(X)[:, 2], 7.0)


def test_rounding_of_a_mean_is_no_variance():
    """The mean of equal numbers is not quite that number: what is left is not scaled to unit variance."""
    X, Y = low_rank(61, 6, 2, 2)
    constants = np.array([0.1, 0.3, 1.1, -7.7, 1e5 / 3])
    gappy = with_gaps(np.hstack([X, np.tile(constants, (61, 1))]), 0.2)
    _, model = em(gappy, Y, n_latent=2)
    assert model.live[:6].all() and not model.live[6:11].any()
    assert_allclose(model.filled(gappy)[:, 6:], np.tile(constants, (61, 1)), rtol=1e-14)


def test_what_cannot_be_done_is_said():
    X, Y = low_rank(30, 4, 2, 2)
    gappy = with_gaps(X, 0.2)
    with pytest.raises(ValueError, match="missing='em'"):
        PLS(2).fit(gappy, Y)
    with pytest.raises(ValueError, match="missing='em'"):
        PLS(2).fit(X, with_gaps(Y, 0.2))
    with pytest.raises(ValueError, match="missing='em'"):
        PLS(2).fit(X, Y).predict(gappy)
    never = X.copy()
    never[:, 1] = np.nan
    with pytest.raises(ValueError, match="column 1 of X is never observed"):
        PLS(2, missing="em").fit(never, Y)
    with pytest.raises(ValueError, match="infinity"):
        PLS(2, missing="em").fit(np.where(np.isnan(gappy), np.inf, X), Y)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        PLS(2, missing="em", max_iter=2, tol=1e-14).fit(gappy, Y)
    empty = gappy.copy()
    empty[3], target = np.nan, Y.copy()
    target[3] = np.nan
    with pytest.warns(UserWarning, match="1 rows have no observed entry"):
        PLS(2, missing="em").fit(empty, target)
    assert not hasattr(PLS(2, missing="em"), "partial_fit")


def test_converges_without_a_warning_on_clean_low_rank_data():
    X, Y = low_rank(100, 8, 2, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PLS(2, missing="em").fit(with_gaps(X, 0.1), Y)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_blocks_after_a_fit_with_gaps_forget_the_gaps(estimator):
    X, Y = low_rank(60, 6, 3, 2)
    model = clone(estimator)
    if hasattr(model, "alpha"):
        model.set_params(alpha=0.1)  # blocks take numbers
    model.fit(with_gaps(X, 0.1), Y).set_params(missing="error")
    plain = clone(model).partial_fit(X, Y)
    assert_allclose(model.partial_fit(X, Y).predict(X), plain.predict(X), rtol=0)
    with pytest.raises(ValueError, match="missing='em'"):
        model.predict(with_gaps(X, 0.1))
    with pytest.raises(ValueError, match="missing='em'"):
        model.partial_fit(with_gaps(X, 0.1), Y)
    model.predict(sparse.csr_array(X))  # as after any fit without gaps


@pytest.mark.parametrize("seed", [7, 11, 12])
def test_few_rows_end_in_no_bare_error(seed):
    """More components than so few rows tell of: rounding may leave a covariance indefinite."""
    rng = np.random.default_rng(seed)
    for n in (7, 10, 10, 10):
        X = rng.normal(size=(n, 5))
        y = X[:, 0] + 0.1 * rng.normal(size=n)
        X[rng.random(X.shape) < 0.08] = np.nan
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert np.isfinite(PLS(3, missing="em").fit(X, y).predict(X)).all()


# -- one model of the gaps, and what it must not depend on -----------------------------------------


def test_the_model_knows_nothing_of_the_components():
    X, Y = low_rank(120, 8, 3, 3)
    X, Y = with_gaps(X, 0.1), with_gaps(Y, 0.1, 1)
    models = [PLS(1), PLS(4), PCR(2), ReducedRankRegression(None), PLS(3, scale=False)]
    fills = [clone(m).set_params(missing="em").fit(X, Y).missing_model_.filled(X) for m in models]
    for fill in fills[1:]:
        assert_allclose(fill, fills[0], rtol=0)


@pytest.mark.parametrize("latent", [0, 2, 5])
@pytest.mark.parametrize("n, p", [(400, 12), (60, 150)])
def test_latent_dimensions_are_found(latent, n, p):
    """As many as there are, where they stand out, in columns of the same signal and the same noise."""
    rng = np.random.default_rng(latent)
    W = rng.choice([-1.0, 1.0], size=(p + 2, latent))
    Z = rng.normal(size=(n, latent)) @ W.T + rng.normal(size=(n, p + 2))
    _, model = em(with_gaps(Z[:, :p], 0.05), Z[:, p:], n_latent=None, tol=1e-6)
    assert model.loadings.shape[1] == latent


@pytest.mark.parametrize("copies", [1, 2])
def test_latent_dimensions_are_at_most_half_of_the_different_rows(copies):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(21, 15)) @ rng.normal(size=(15, 62)) + 1e-3 * rng.normal(size=(21, 62))
    Z[0, 0] = np.nan
    Z = np.vstack([Z] * copies)
    assert em(Z[:, :60], Z[:, 60:], n_latent=None, tol=1e-6)[1].loadings.shape[1] == 10


@pytest.mark.parametrize(
    "model",
    [PCR(10), PCR(), ReducedRankRegression(2), ReducedRankRegression(alpha=0.0), PLS(8)],
    ids=str,
)
@pytest.mark.parametrize("n_gappy", [5, 120])
def test_the_form_of_the_expected_moments_does_not_matter(model, n_gappy, monkeypatch):
    """Of enough rows, the second moments are decomposed; rows that stand for them have all digits."""
    X, Y = low_rank(130, 120, 3, 3)
    X[:, :n_gappy] = with_gaps(X[:, :n_gappy], 0.2)
    model = clone(model).set_params(missing="em").fit(X, Y)
    assert model.solver_ in ("moments", "svd", "rows")
    monkeypatch.setattr(type(model), "_cheapest_form", lambda *shape: RowForm)
    exact = clone(model).fit(X, Y)
    assert exact.solver_ in ("svd", "rows")
    assert_allclose(model.coef_, exact.coef_, rtol=0, atol=1e-7 * abs(exact.coef_).max())
    moments, _ = em(X, Y, n_latent=None, tol=1e-6)
    rows, _ = moments.few_rows()
    assert_allclose(rows.T @ rows, moments.xx, atol=1e-9 * abs(moments.xx).max())


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("n_gappy", [5, 60])
def test_rows_fewer_than_columns_are_solved_in_their_span(scale, n_gappy):
    """Principal components, ridge and the first PLS weight of V'(X'X + C)V, from dense matrices."""
    X, Y = low_rank(20, 60, 3, 3)
    X[:, :n_gappy] = with_gaps(X[:, :n_gappy], 0.1)
    X[:, 3], Y[4, 1], w = 2.0, np.nan, 1.0 + np.arange(20) % 3
    expected, _ = em(X, Y, weights=w, n_latent=None, tol=1e-6)
    live = expected.live
    rows, gaps = np.zeros((20, 63)), np.zeros((63, 63))
    rows[:, live], gaps[np.ix_(live, live)] = expected.rows, expected.gaps.dense()
    second = (rows.T @ rows + gaps) * np.outer(expected.units, expected.units)
    units = np.sqrt(second.diagonal() / (w.sum() - 1)) if scale else np.ones(63)
    units[3] = 1.0
    second /= np.outer(units, units)
    V = np.linalg.svd(rows[:, :60] * expected.units[:60] / units[:60])[2][:19].T
    inside, cross = V.T @ second[:60, :60] @ V, V.T @ second[:60, 60:]
    values, vectors = np.linalg.eigh(inside)
    top = vectors[:, -5:]
    maps = {
        PCR(5): V @ (top / values[-5:]) @ top.T @ cross,
        ReducedRankRegression(alpha=0.1): V @ np.linalg.solve(inside + 0.1 * np.eye(19), cross),
        PLS(1): V @ np.linalg.svd(cross)[0][:, :1],
    }
    for model, right in maps.items():
        options = {"missing": "em", "scale": scale}
        if scale and isinstance(model, ReducedRankRegression):  # a ridge on population deviations
            options["alpha"] = 0.1 * w.sum() / (w.sum() - 1)
        model.set_params(**options).fit(X, Y, sample_weight=w)
        assert not model.coef_[:, 3].any()
        found = (model.coef_ / units[60:, None]).T * units[:60, None]
        if isinstance(model, PLS):
            found = model.x_weights_
            right = right * np.sign(found[0] * right[0])
        assert_allclose(found, right, atol=1e-9 * abs(right).max())


@pytest.mark.parametrize("fall", [0.0, 3.0, 7.0])
def test_moments_along_the_span_are_those_of_its_rows(fall):
    """Where the spectrum falls, rows are asked for: the components are those of the filled rows."""
    rng = np.random.default_rng(0)
    n, p = 20, 40
    X = rng.normal(size=(n, 15)) * np.logspace(0, -fall, 15) @ rng.normal(size=(15, p)) + 1.0
    Y = X[:, :2] + 0.1 * rng.normal(size=(n, 2))
    X[0, 0] = np.nan
    form, _ = PCR(14, missing="em")._expected_form(X, Y, None, 14)
    rows = form.exactly()
    scale = np.sqrt(np.outer(form.xx.diagonal(), form.xx.diagonal())).max()
    assert_allclose(rows.X.T @ rows.X, form.xx, atol=1e-12 * scale)
    assert_allclose(rows.X.T @ rows.Y, form.xy, atol=1e-12 * np.abs(form.xy).max())
    assert_allclose(rows.basis.T @ rows.basis, np.eye(rows.basis.shape[1]), atol=1e-10)
    solved, factors = PCR(14)._solve(form, 14)
    assert (solved is form) == (fall == 0.0)
    singular = np.linalg.svd(rows.X, compute_uv=False)[:14]
    assert_allclose(np.sqrt(factors.gram.diagonal()), singular, rtol=1e-9)


@pytest.mark.parametrize("fall", [0.0, 3.0, 6.0, 12.0, 20.0])
def test_an_orthonormal_basis_is_one(fall):
    """Once or twice by Cholesky factors or, where these lack digits, by reflections."""
    rng = np.random.default_rng(1)
    A = rng.normal(size=(60, 12)) @ np.diag(np.logspace(0, -fall, 12)) @ rng.normal(size=(12, 12))
    Q, R = orthonormal_basis(A)
    assert_allclose(Q.T @ Q, np.eye(12), atol=1e-11)
    assert_allclose(Q @ R, A, atol=1e-13 * np.abs(A).max())
    assert (np.tril(R, -1) == 0.0).all()


@pytest.mark.parametrize("alphas", [None, [0.0, 1.0]], ids=["PCR", "ridge"])
def test_folds_of_wide_rows_with_gaps_equal_refits(alphas):
    X, Y = low_rank(40, 120, 3, 3)
    X = with_gaps(X, 0.1)
    model = PCR(missing="em") if alphas is None else ReducedRankRegression(missing="em")
    grid = {} if alphas is None else {"alpha": alphas}
    search = ComponentSearchCV(model, n_components=[1, 3], cv=KFold(3), **grid).fit(X, Y)
    for i, (train, test) in enumerate(KFold(3).split(X)):
        for j, candidate in enumerate(search.cv_results_["params"]):
            refit = clone(model).set_params(**candidate).fit(X[train], Y[train])
            score = r2_score(Y[test], refit.predict(X[test]))
            assert_allclose(search.cv_results_[f"split{i}_test_score"][j], score, rtol=1e-8)


LAWS = {
    "units": lambda X, Y, w: (X * np.logspace(-6, 6, X.shape[1]), Y * [1e3, 1e-3, 1.0], w),
    "shift": lambda X, Y, w: (X + np.arange(X.shape[1]), Y - 100.0, w),
    "inputs": lambda X, Y, w: (X[:, ::-1], Y, w),
    "outputs": lambda X, Y, w: (X, Y[:, ::-1], w),
    "rows": lambda X, Y, w: (X[::-1], Y[::-1], w[::-1]),
    "copies": lambda X, Y, w: (np.vstack([X, X]), np.vstack([Y, Y]), np.append(w, w)),
    "weights": lambda X, Y, w: (X, Y, w * 1e-3),
    "repeats": lambda X, Y, w: (X.repeat(w.astype(int), 0), Y.repeat(w.astype(int), 0), None),
}


@pytest.mark.parametrize("n, p, share", [(150, 8, 0.05), (150, 8, 0.5), (40, 120, 0.1)])
@pytest.mark.parametrize("law", LAWS)
def test_laws(law, n, p, share):
    """Fills follow units, shifts and orders, to the digits that an iteration keeps, and nothing else."""
    X, Y = low_rank(n, p, 3, 3, seed=1)
    X, Y = with_gaps(X, share), with_gaps(Y, share, 1)
    w = 1.0 + np.arange(n) % 3
    plain, changed = em(X, Y, weights=w, n_latent=None, tol=1e-6), LAWS[law](X, Y, w)
    other = em(*changed[:2], weights=changed[2], n_latent=None, tol=1e-6)
    fills = plain[1].filled(X)
    expected, _, _ = LAWS[law](fills, Y, w)
    assert_allclose(other[1].filled(changed[0]), expected, rtol=1e-7, atol=1e-7)
    assert other[1].loadings.shape == plain[1].loadings.shape
    assert other[1].n_iter == plain[1].n_iter


def test_columns_that_depend_on_each_other():
    """Shares that sum to one: the noise falls to its floor, the likelihood rises, nothing is lost."""
    rng = np.random.default_rng(0)
    kind = np.eye(4)[rng.integers(0, 4, size=300)]
    X = np.hstack([kind, rng.normal(size=(300, 3))])
    Y = X[:, [0]] - X[:, [5]] + 0.1 * rng.normal(size=(300, 1))
    gappy = with_gaps(X, 0.05)
    _, model = em(gappy, Y, n_latent=None, tol=1e-6)
    history = np.array(model.log_likelihood)
    # At its floor the noise is 1.5e-8 of the variances.
    assert model.converged and (np.diff(history) >= -1e-9 * abs(history[-1])).all()
    alone = (
        np.isnan(gappy[:, :4]).sum(axis=1) == 1
    )  # one of the four is missing: the others tell it
    assert_allclose(model.filled(gappy)[alone, :4], X[alone, :4], atol=1e-3)


@pytest.mark.parametrize("n, p", [(40, 8), (20, 40)])
@pytest.mark.parametrize("model", [PLS(2), PCR(2), ReducedRankRegression(2, alpha="auto")], ids=str)
def test_units_at_the_ends_of_float64(model, n, p):
    X, Y = low_rank(n, p, 2, 2)
    X = with_gaps(X, 0.05)
    model = clone(model).set_params(missing="em")
    plain = model.fit(X, Y).predict(X)
    search = ComponentSearchCV(clone(model), n_components=[1, 2], cv=3).fit(X, Y)
    for unit in (1e-300, 1e300):
        assert_allclose(model.fit(X * unit, Y).predict(X * unit), plain, rtol=1e-7)
        assert_allclose(model.fit(X, Y * unit).predict(X) / unit, plain, rtol=1e-7)
        if isinstance(model, ReducedRankRegression):
            continue  # ridge weights in units of 1e600 are no numbers
        again = clone(search).fit(X * unit, Y * unit)
        found, right = (s.cv_results_["mean_test_score"] for s in (again, search))
        assert_allclose(found, right, rtol=1e-6)


@pytest.mark.parametrize("model", ESTIMATORS, ids=str)
def test_inputs_that_are_constant_and_have_gaps(model):
    X = np.full((20, 30), 7.0)
    X[3, 3], y = np.nan, np.arange(20.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no components
        assert_allclose(clone(model).fit(X, y).predict(X), 9.5)


def test_rows_of_which_nothing_is_seen_are_filled_with_means():
    X, Y = low_rank(80, 5, 2, 2)
    model = PLS(2, missing="em").fit(with_gaps(X, 0.2), Y)
    empty = np.full((2, 5), np.nan)
    gaps = model.missing_model_
    assert_allclose(gaps.filled(empty), np.tile((gaps.mean * gaps.scale + gaps.offset)[:5], (2, 1)))
    assert np.isfinite(model.predict(empty)).all()


@pytest.mark.parametrize("p", [3, 12])
def test_columns_none_of_which_varies(p):
    X, y = np.ones((6, p)), np.full(6, 2.0)
    X[2, 1] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer components
        assert_allclose(PLS(1, missing="em").fit(X, y).predict(X), 2.0)


class Steps:
    """Likelihoods of an iteration whose changes shrink by a factor, from a thousandth of the whole."""

    n_seen = 1
    missing = np.array([True])

    def __init__(self, factor):
        self.factor, self.change, self.value = factor, 1e-3, -1.0

    def expect(self):
        self.value += self.change
        self.change *= self.factor
        return self.value

    def maximise(self):
        pass


@pytest.mark.parametrize(
    ("factor", "n_iter"),
    # By a tenth: after a change of 1e-5 all further steps add 1.1e-6. By nine tenths they add nine times
    # the last change, and the last change itself decides: 1e-3 * 0.9**k <= 2e-6 for k = 59.
    [(0.1, 3), (0.9, 60)],
)
def test_iterations_stop_by_what_further_ones_would_add(factor, n_iter):
    history, converged = missing_module._iterate(Steps(factor), 100, 2e-6)
    assert converged
    assert len(history) == n_iter


@pytest.mark.parametrize(("share", "n_latent"), [(1.0, 1), (0.5, 2)])
def test_a_dimension_is_cheaper_where_less_is_observed(share, n_latent):
    # The second dimension gains 0.17 a row; its three parameters cost 0.23 a row, 0.12 with half observed.
    n, d = 50, 4
    work = missing_module._Work.__new__(missing_module._Work)
    work.Z, work.n_different, work.weight, work.n_seen = np.zeros((n, d)), n, n, share * n * d
    assert work._n_latent(np.array([10.0, 2.0, 1.0]), 14.0) == n_latent
