"""Oracles: scikit-learn at tight tolerance, textbook NIPALS and SIMPLS, conjugate gradients, Krylov."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.cross_decomposition import PLSRegression
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import PredefinedSplit

from isthmus import PLS, ReducedRankRegression
from isthmus.kernels.distinct import deal_by_content
from isthmus.problems import RowForm

XA = np.array([[1, 0], [0, 1], [1, 1], [2, -1], [-1, 2]], dtype=float)
YA = np.array([[1, 2, 0], [0, 1, 1], [2, 2, 1], [3, 3, -1], [-2, 1, 3]], dtype=float)
SHAPES = [(50, 7, 3), (40, 12, 1), (15, 60, 4), (20, 20, 2), (30, 5, 9), (300, 260, 60)]
ROADS = ["nipals", "kernel", "auto"]


def make(n, p, q, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(2, 1, size=(n, p)) * (1 + rng.random(p))
    return X, X[:, :3] @ rng.normal(size=(3, q)) + rng.normal(size=(n, q)) - 3


def textbook_nipals(X, Y, k):
    """Deflate X, take exact singular vectors: the definition, and nothing clever."""
    X, Y, W, P, Q = X - X.mean(0), Y - Y.mean(0), [], [], []
    for _ in range(k):
        w = np.linalg.svd(X.T @ Y, full_matrices=False)[0][:, 0]
        t = X @ w
        P.append(X.T @ t / (t @ t))
        Q.append(Y.T @ t / (t @ t))
        W.append(w)
        X = X - np.outer(t, P[-1])
    W, P, Q = (np.array(A).T for A in (W, P, Q))
    return W @ np.linalg.solve(P.T @ W, Q.T)


def textbook_simpls(X, Y, k):
    X, Y = X - X.mean(0), Y - Y.mean(0)
    S, R, Q, P = X.T @ Y, [], [], []
    for _ in range(k):
        r = np.linalg.svd(S, full_matrices=False)[0][:, 0]
        t = X @ r
        r, t = r / np.linalg.norm(t), t / np.linalg.norm(t)
        P.append(X.T @ t)
        R.append(r)
        Q.append(Y.T @ t)
        V = np.linalg.qr(np.array(P).T)[0]
        S = X.T @ Y - V @ (V.T @ (X.T @ Y))
    return np.array(R).T @ np.array(Q)


@pytest.mark.parametrize("algorithm", ROADS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scale", [True, False])
def test_equals_scikit_learn(shape, algorithm, scale):
    X, Y = make(*shape)
    ours = PLS(4, algorithm=algorithm, scale=scale).fit(X, Y)
    peer = PLSRegression(4, scale=scale, tol=1e-15, max_iter=100_000).fit(X, Y)
    assert_allclose(ours.predict(X), peer.predict(X), atol=2e-6)
    assert_allclose(ours.coef_, peer.coef_, atol=1e-6)
    assert_allclose(np.abs(ours.transform(X)), np.abs(peer.transform(X)), atol=1e-5)
    assert_allclose(np.abs(ours.x_weights_), np.abs(peer.x_weights_), atol=1e-6)
    assert_allclose(np.abs(ours.x_rotations_), np.abs(peer.x_rotations_), atol=1e-6)
    assert_allclose(np.abs(ours.x_loadings_), np.abs(peer.x_loadings_), atol=1e-6)
    assert_allclose(np.abs(ours.y_loadings_), np.abs(peer.y_loadings_), atol=1e-6)
    peer_scores = (Y - Y.mean(0)) / ours.y_scale_ @ peer.y_rotations_
    assert_allclose(np.abs(ours.y_scores(Y)), np.abs(peer_scores), atol=1e-4)


def test_defaults_are_scikit_learns():
    ours, theirs = PLS().get_params(), PLSRegression().get_params()
    assert all(ours[name] == theirs[name] for name in ("n_components", "scale", "max_iter", "tol"))


@pytest.mark.parametrize("algorithm", ROADS)
@pytest.mark.parametrize("shape", SHAPES)
def test_equals_the_textbook(shape, algorithm):
    X, Y = make(*shape)
    ours = PLS(4, algorithm=algorithm, scale=False).fit(X, Y)
    assert_allclose(ours.coef_.T, textbook_nipals(X, Y, 4), rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize("shape", SHAPES)
def test_simpls_equals_the_textbook(shape):
    X, Y = make(*shape)
    ours = PLS(4, algorithm="simpls", scale=False).fit(X, Y)
    assert_allclose(ours.coef_.T, textbook_simpls(X, Y, 4), rtol=1e-7, atol=1e-10)


def test_simpls_is_nipals_for_one_output_or_one_component():
    X, Y = make(50, 7, 3)
    for k, y in ((4, Y[:, 0]), (1, Y)):
        pair = [PLS(k, algorithm=a).fit(X, y).coef_ for a in ("simpls", "nipals")]
        assert_allclose(*pair, rtol=1e-11)
    different = [PLS(3, algorithm=a).fit(X, Y).coef_ for a in ("simpls", "nipals")]
    assert np.abs(different[0] - different[1]).max() > 1e-4


@pytest.mark.parametrize("k", range(1, 7))
def test_one_output_is_conjugate_gradients(k):
    X, y = make(60, 10, 1)
    Xc, yc = X - X.mean(0), y[:, 0] - y.mean()
    f, r = np.zeros(10), Xc.T @ yc
    d = r.copy()
    for _ in range(k):
        Hd = Xc.T @ (Xc @ d)
        step = (r @ r) / (d @ Hd)
        f, r_new = f + step * d, r - step * Hd
        d, r = r_new + (r_new @ r_new) / (r @ r) * d, r_new
    assert_allclose(PLS(k, scale=False).fit(X, y[:, 0]).coef_, f, rtol=1e-10)


def test_all_components_are_least_squares():
    X, Y = make(50, 7, 3)
    ours = PLS(None).fit(X, Y)
    assert ours.n_components_ == 7
    assert_allclose(ours.predict(X), LinearRegression().fit(X, Y).predict(X), rtol=1e-10)


def test_never_below_the_reduced_rank_optimum():
    X, Y = make(50, 7, 5)
    for r in (1, 2, 3):
        pls, best = PLS(r, scale=False), ReducedRankRegression(r, alpha=0)
        errors = [((Y - m.fit(X, Y).predict(X)) ** 2).sum() for m in (pls, best)]
        assert errors[0] > errors[1]


def test_weights_and_scores_are_orthogonal():
    X, Y = make(80, 15, 3)
    model = PLS(6).fit(X, Y)
    T = model.transform(X)
    gram = T.T @ T
    assert_allclose(model.x_weights_.T @ model.x_weights_, np.eye(6), atol=1e-12)
    assert_allclose(gram - np.diag(np.diag(gram)), 0, atol=1e-10 * gram.max())


def test_worked_example():
    one = PLS(1, scale=False).fit(XA, YA)
    expected = [
        [0.8327545022, 0.3636884374, -0.674293195],
        [-0.771717626, -0.3370318344, 0.624870766],
    ]
    assert_allclose(one.coef_.T, expected, atol=1e-9)
    assert_allclose(np.abs(one.x_weights_[:, 0]), [0.7334758, 0.67971557], atol=1e-8)
    for algorithm in ("nipals", "simpls", "kernel"):
        two = PLS(2, scale=False, algorithm=algorithm).fit(XA, YA)
        assert_allclose(two.coef_.T, [[2.3, 0.6, -0.4], [0.7, -0.1, 0.9]], atol=1e-12)
        assert_allclose(two.intercept_, [-1, 1.5, 0.5], atol=1e-12)


@pytest.mark.parametrize("algorithm", ["nipals", "simpls", "kernel"])
def test_no_more_components_than_there_are(algorithm):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 8))
    Y = X @ rng.normal(size=(8, 2)) + rng.normal(size=(40, 2))
    with pytest.warns(UserWarning, match="n_components == 5, but only 3 components exist"):
        model = PLS(5, algorithm=algorithm).fit(X, Y)
    assert model.n_components_ == 3 and model.coef_path_.shape[0] == 3
    assert_allclose(model.predict(X), LinearRegression().fit(X, Y).predict(X), atol=1e-9)


@pytest.mark.parametrize("algorithm", ["nipals", "simpls", "kernel"])
@pytest.mark.parametrize("big", [1, 60], ids=["small", "moments or Gram"])
@pytest.mark.parametrize(
    ("shape", "rank", "related", "found", "why"),
    [
        ((40, 5), 5, 5, 5, "X has 5 columns"),
        ((6, 20), 20, 20, 5, "6 rows minus their mean have no more than 5 directions"),
        ((6, 5), 5, 5, 5, "X has 5 columns"),
        ((40, 9), 3, 3, 3, "X has rank 3"),
        ((40, 9), 9, 2, 2, "the rest of X has no covariance with y"),
    ],
)
def test_why_there_are_no_more_components(shape, rank, related, found, why, big, algorithm):
    n, p = shape
    # More rows of a tall table, or columns of a wide one, that leave its rank and the reason as they are.
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, p))
    Y = rng.normal(size=(n, 2))
    if related < rank:  # centred columns of equal length: y is of the first alone
        X = np.linalg.qr(X - X.mean(axis=0))[0]
        Y = X[:, :related] @ rng.normal(size=(related, 2))
    if p < n:
        X, Y = np.tile(X, (big, 1)), np.tile(Y, (big, 1))
    elif rank == p:
        X = np.tile(X, (1, big))
    with pytest.warns(UserWarning, match=f"only {found} components exist: {why}. Kept {found}."):
        PLS(30, algorithm=algorithm, scale=related == rank).fit(X, Y)


# -- which road, and how many digits ----------------------------------------------------------


def longdouble_path(X, y, k):
    """PLS1 in extended precision: fitted values of 1..k components."""
    X, y = (A.astype(np.longdouble) for A in (X, y))
    X, y, fitted, total = X - X.mean(0), y - y.mean(), [], 0
    for _ in range(k):
        w = X.T @ y
        t = X @ (w / np.sqrt(w @ w))
        total = total + t * ((t @ y) / (t @ t))
        X = X - np.outer(t, (t @ X) / (t @ t))
        fitted.append(total)
    return np.array(fitted, dtype=float)


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="no extended precision here")
@pytest.mark.parametrize("shape", [(900, 90), (70, 1200)], ids=["tall", "wide"])
@pytest.mark.parametrize("decay", [0, 2, 5, 9])
def test_digits_survive_a_falling_spectrum(shape, decay):
    n, p = shape
    rng = np.random.default_rng(1)
    spectrum = 10.0 ** (-decay * np.arange(p) / (min(n, p) / 3))
    X = (rng.normal(size=(n, p)) * spectrum) @ np.linalg.qr(rng.normal(size=(p, p)))[0]
    y = X @ rng.normal(size=p) + 0.05 * X.std() * rng.normal(size=n)
    truth = longdouble_path(X, y, 20)
    model = PLS(20, scale=False).fit(X, y)
    error = np.abs(model.predict_path(X) - y.mean() - truth).max() / np.abs(truth).max()
    assert error < 1e-8
    fast = "moments" if n > p else "dual"
    assert model.solver_ == ("rows" if decay >= 5 else fast)


@pytest.mark.parametrize(
    ("shape", "k", "solver"),
    [
        ((30, 6), 2, "rows"),
        ((2000, 50), 5, "moments"),
        ((60, 3000), 5, "dual"),
        ((400, 400), 2, "rows"),
    ],
)
def test_form_is_chosen_by_shape(shape, k, solver):
    X, Y = make(*shape, 2)
    assert PLS(k).fit(X, Y).solver_ == solver


def test_roads_agree_on_larger_data():
    for shape in ((2000, 60, 3), (70, 2000, 3)):
        X, Y = make(*shape)
        fast, rows = PLS(8).fit(X, Y), PLS(8)
        rows._cheapest_form = lambda *_: RowForm
        rows.fit(X, Y)
        assert fast.solver_ != rows.solver_ == "rows"
        assert_allclose(fast.coef_, rows.coef_, rtol=1e-8, atol=1e-11)
        assert_allclose(fast.x_weights_, rows.x_weights_, atol=1e-9)
        assert_allclose(fast.x_rotations_, rows.x_rotations_, atol=1e-9)
        assert_allclose(fast.x_loadings_, rows.x_loadings_, atol=1e-9)


def test_weighted_wide_data_keep_the_sign_rule():
    X, Y = make(70, 2000, 3)
    weights = np.random.default_rng(0).uniform(0.01, 5, size=70)
    T = PLS(4).fit(X, Y, sample_weight=weights).transform(X)
    assert (T[np.abs(T).argmax(axis=0), range(4)] > 0).all()


def test_unknown_algorithm():
    with pytest.raises(ValueError, match="algorithm == 'power', must be one of"):
        PLS(algorithm="power").fit(XA, YA)


def test_auto_is_the_search():
    from isthmus import ComponentSearchCV

    X, Y = make(60, 12, 2)
    folds = PredefinedSplit(deal_by_content(X, 5))
    model, search = PLS("auto").fit(X, Y), ComponentSearchCV(PLS(), cv=folds).fit(X, Y)
    assert model.n_components_ == search.best_params_["n_components"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_allclose(model.coef_, search.best_estimator_.coef_)


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("mean", [0.0, 2.0, 50.0])
def test_rows_that_are_not_copied_give_the_same_fit(mean, scale):
    """Wide rows with small means are used as they are: only products with them are centred."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3000)) * rng.uniform(0.8, 2.0, 3000) + mean
    Y = X[:, :5] @ rng.normal(size=(5, 3)) + rng.normal(size=(400, 3))
    X[:, 7] = 0.0  # never varies
    described = RowForm.from_rows(X, Y, None, scale)
    assert (described.factor is not None) == (mean < 4)
    Z = X - X.mean(axis=0)
    Z /= np.where(Z.any(axis=0), Z.std(axis=0, ddof=1), 1.0) if scale else 1.0
    r, T = rng.normal(size=3000), rng.normal(size=(400, 2))
    assert_allclose(described.times(r), Z @ r, atol=1e-11)
    assert_allclose(described.along(T), T.T @ Z, atol=1e-11)
    assert_allclose(described.X, Z, atol=1e-12)
    assert_allclose(described.times(r), Z @ r, atol=1e-11)
    model = PLS(6, scale=scale).fit(X, Y)
    whole = PLS(6, scale=scale).fit(X, Y, sample_weight=np.ones(len(X)))  # weights need a copy
    assert model.solver_ == "rows"
    assert_allclose(model.coef_, whole.coef_, atol=1e-13 * np.abs(whole.coef_).max() * 10)
    assert_allclose(model.predict(X), whole.predict(X), atol=1e-11)
