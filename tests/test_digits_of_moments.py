"""How many digits moments keep: the backward error of least squares, in units of eps.

The backward error of coefficients C is the smallest relative change of X for which C is the exact least
squares solution. Residuals are formed in extended precision from exactly centred rows.
"""

import pickle
import warnings
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from isthmus import (
    PCR,
    PLS,
    ComponentSearchCV,
    ManifoldPLS,
    Moments,
    ReducedRankRegression,
    StiefelRegression,
)
from isthmus._linalg import EPS

pytestmark = pytest.mark.skipif(
    np.finfo(np.longdouble).eps > 1e-18, reason="no extended precision here"
)
# Moments that are summed as squares are as good as X perturbed by 3200 eps at most; rows better.
BOUND = 2.0**12
CONDITIONS = [1.0, 1e2, 1e3, 1e4, 1e6, 1e8, 1e10, 1e12, 1e14]
LEAST_SQUARES = [PCR(), ReducedRankRegression(alpha=0.0), PCR(scale=True)]
NESTED = [
    ManifoldPLS(2, alpha=0.0),
    ReducedRankRegression(2, alpha=0.0),
    ReducedRankRegression(2, alpha=1e-12),
    StiefelRegression(2, alpha=0.0),
    PCR(4),
]


def ill_conditioned(condition, n=48, p=6, q=3, mean=0.0, seed=0):
    """Rows with a spectrum that falls to 1 / condition, in general position, on a grid around the mean."""
    rng = np.random.default_rng(seed)
    k = min(n, p)
    U = np.linalg.qr(rng.normal(size=(n, k)))[0]
    V = np.linalg.qr(rng.normal(size=(p, k)))[0]
    X = (U * np.geomspace(1.0, 1.0 / condition, k)) @ V.T
    if mean:  # so that the shift is exact
        X = np.round(X * 2.0**18) / 2.0**18
    Y = X @ (V / np.geomspace(1.0, 1.0 / condition, k)) @ rng.normal(size=(k, q))
    Y += 0.1 * rng.normal(size=(n, q))
    return X + mean, Y


def centred(A, w):
    """Rows less their weighted mean in rational arithmetic, rounded to extended precision."""
    return _centred(A.tobytes(), A.shape, np.asarray(w, dtype=float).tobytes())


@lru_cache(maxsize=2)
def _centred(data, shape, weights):
    rows = [[Fraction(v) for v in row] for row in np.frombuffer(data).reshape(shape)]
    w = [Fraction(v) for v in np.frombuffer(weights)]
    mean = [sum(a * b for a, b in zip(w, column)) / sum(w) for column in zip(*rows)]
    exact = [[_longdouble(v - m) for v, m in zip(row, mean)] for row in rows]
    return np.array(exact, dtype=np.longdouble)


def _longdouble(value):
    high = float(value)
    return np.longdouble(high) + np.longdouble(float(value - Fraction(high)))


def backward_error(coef, X, Y, w=None, norm=None):
    """The largest over the outputs, after [KW1997]; ``norm`` is that of X unless given."""
    w = np.ones(len(X)) if w is None else w
    root = np.sqrt(np.asarray(w, dtype=np.longdouble))[:, None]
    A, B = np.split(root * centred(np.hstack([X, Y]), w), [X.shape[1]], axis=1)
    R = B - A @ coef.T.astype(np.longdouble)
    d, Vt = np.linalg.svd(A.astype(float), full_matrices=False)[1:]
    Z = Vt @ (A.T @ R).astype(float)
    lengths, rests = (coef**2).sum(axis=1), (R**2).sum(axis=0).astype(float)
    errors = np.sqrt((Z**2 / (np.outer(d**2, lengths) + rests)).sum(axis=0))
    return errors.max() / (np.linalg.norm(A.astype(float)) if norm is None else norm)


def fitted_by_blocks(estimator, X, Y, size, weights=None):
    model = type(estimator)(**estimator.get_params())
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="n_components")  # of the first blocks
        for start in range(0, X.shape[0], size):
            rows = slice(start, start + size)
            w = None if weights is None else weights[rows]
            model.partial_fit(X[rows], Y[rows], sample_weight=w)
    return model


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("estimator", LEAST_SQUARES, ids=str)
def test_blocks_have_the_backward_error_of_a_fit(estimator, condition):
    X, Y = ill_conditioned(condition)
    for size in (1, 7, 100):
        model = fitted_by_blocks(estimator, X, Y, size)
        assert backward_error(model.coef_, X, Y) <= BOUND * EPS
    thin = type(estimator)(**estimator.get_params()).fit(sparse.csr_array(X), Y)
    assert backward_error(thin.coef_, X, Y) <= BOUND * EPS


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("factor", [1e-300, 1.0, 1e300])
def test_weighted_blocks(condition, factor):
    X, Y = ill_conditioned(condition)
    w = np.random.default_rng(1).uniform(0.1, 4.0, size=len(X)) * factor
    for size in (1, 7, 100):
        model = fitted_by_blocks(PCR(), X, Y, size, w)
        assert backward_error(model.coef_, X, Y, w / factor) <= BOUND * EPS
    for model in (PCR().fit(X, Y, w), PCR().fit(sparse.csr_array(X), Y, w)):
        assert backward_error(model.coef_, X, Y, w / factor) <= BOUND * EPS


@pytest.mark.parametrize("mean", [2.0**10, 2.0**33])
@pytest.mark.parametrize("condition", [1.0, 1e3, 1e5])
def test_means_far_away(mean, condition):
    X, Y = ill_conditioned(condition, mean=mean)
    for size in (1, 7, 100):
        model = fitted_by_blocks(PCR(), X, Y, size)
        assert backward_error(model.coef_, X, Y) <= BOUND * EPS


@pytest.mark.parametrize("condition", CONDITIONS)
def test_fewer_rows_than_features(condition):
    """The minimum norm solution: it interpolates, from within the span of the rows."""
    X, Y = ill_conditioned(condition, n=6, p=12)
    A, B = (centred(M, np.ones(6)).astype(float) for M in (X, Y))
    span = np.linalg.svd(A)[2][:5]
    for size in (1, 4):
        coef = fitted_by_blocks(PCR(), X, Y, size).coef_
        size_of_fit = np.linalg.norm(A) * np.linalg.norm(coef)
        missed = np.linalg.norm(B - A @ coef.T)
        if condition < 1e12:  # beyond that the last direction is one of rounding errors
            assert missed <= BOUND * EPS * size_of_fit
        outside = np.linalg.norm(coef - coef @ span.T @ span)
        assert outside <= BOUND * EPS * condition * np.linalg.norm(coef)


@pytest.mark.parametrize("estimator", NESTED, ids=str)
@pytest.mark.parametrize("condition", [1.0, 1e3, 1e6, 1e9, 1e12])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_and_sparse_rows_fit_what_a_fit_does(estimator, condition, dtype):
    if condition == 1.0 and isinstance(estimator, PCR):
        pytest.skip("no direction is the first")
    X, Y = (A.astype(dtype) for A in ill_conditioned(condition))
    whole = type(estimator)(**estimator.get_params()).fit(X, Y)
    thin = type(estimator)(**estimator.get_params()).fit(sparse.csr_array(X), Y)
    Z = X.astype(float) - X.mean(axis=0, dtype=float)
    spread = np.linalg.norm(Y - Y.mean(axis=0))
    for model in (fitted_by_blocks(estimator, X, Y, 7), thin):
        difference = np.linalg.norm(Z @ (model.coef_ - whole.coef_).T) / spread
        # Rows that are kept have the digits of a fit; squares, which may serve up to here, the bound's.
        assert difference <= (BOUND if condition <= 1e4 else 100.0) * EPS * condition


@pytest.mark.parametrize("estimator", [ManifoldPLS(2, alpha=0.0), PLS(8), PCR()], ids=str)
def test_columns_that_differ_by_a_million(estimator):
    """A cut of squared singular values at 1e-10 dropped real directions here: 0.53 instead of 1."""
    rng = np.random.default_rng(0)
    U = np.linalg.qr(rng.normal(size=(200, 8)))[0]
    scales = np.logspace(0, -6, 8)
    X = U * scales * 20
    Y = X @ (rng.normal(size=(8, 2)) / scales[:, None]) @ rng.normal(size=(2, 5))
    Y += 0.01 * rng.normal(size=(200, 5))
    whole = estimator.fit(X, Y)
    score, coef = whole.score(X, Y), whole.coef_
    assert score > 0.9999
    for size in (7, 200):
        blocks = fitted_by_blocks(estimator, X, Y, size)
        assert_allclose(blocks.score(X, Y), score, rtol=1e-12)
        assert_allclose(blocks.coef_, coef, rtol=1e-8, atol=1e-12 * np.abs(coef).max())
    assert_allclose(estimator.fit(sparse.csr_array(X), Y).score(X, Y), score, rtol=1e-12)


# -- the algebra of sets of rows, with all digits ---------------------------------------------


def least_squares(moments):
    p = len(moments.xx)
    R, T = np.split(moments.factor, [p], axis=1)
    return np.linalg.lstsq(R, T, rcond=len(R) * EPS)[0].T


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("seed", range(3))
def test_any_tree_of_merges_is_one_sum(condition, seed):
    X, Y = ill_conditioned(condition)
    rng = np.random.default_rng(seed)
    w = rng.uniform(0.1, 4.0, size=len(X))
    cuts = np.sort(rng.choice(np.arange(1, len(X)), size=rng.integers(1, 12), replace=False))
    parts = [
        Moments.from_data(X[rows], Y[rows], w[rows])
        for rows in np.split(rng.permutation(len(X)), cuts)
    ]
    while len(parts) > 1:  # any two, in any order
        left, right = (parts.pop(rng.integers(len(parts))) for _ in range(2))
        parts.append(pickle.loads(pickle.dumps(left.merge(right))))
    assert backward_error(least_squares(parts[0]), X, Y, w) <= BOUND * EPS
    assert parts[0].factor.shape == (6, 9) and not np.tril(parts[0].factor[:, :6], -1).any()


@pytest.mark.parametrize("condition", CONDITIONS)
def test_discounted_rows_are_weighted_rows(condition):
    X, Y = ill_conditioned(condition)
    moments = Moments(6, 3)
    for row in range(0, 48, 6):
        moments.discount(0.9).update(X[row : row + 6], Y[row : row + 6])
    weights = 0.9 ** (7 - np.arange(48) // 6)
    assert backward_error(least_squares(moments), X, Y, weights) <= BOUND * EPS


@pytest.mark.parametrize("condition", CONDITIONS)
def test_subtract_keeps_the_digits_of_the_whole(condition):
    X, Y = ill_conditioned(condition, n=60)
    whole = Moments.from_data(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rest = whole.subtract(Moments.from_data(X[:15], Y[:15]))
    norm = np.sqrt(np.trace(whole.xx))
    assert backward_error(least_squares(rest), X[15:], Y[15:], norm=norm) <= BOUND * EPS


def test_subtract_says_how_many_digits_are_left():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 4)), rng.normal(size=(40, 2))
    X[:20, 1] *= 1e6  # nearly all of what varies along one column
    whole = Moments.from_data(X, Y)
    with pytest.warns(UserWarning, match=r"about [34] of 16 digits are left; compute it from"):
        rest = whole.subtract(Moments.from_data(X[:20], Y[:20]))
    assert_allclose(rest.xx[1, 1], Moments.from_data(X[20:]).xx[1, 1], rtol=1e-3)
    Y[:20, 0] *= 1e6
    with pytest.warns(UserWarning, match=r"about [34] of 16 digits are left"):
        Moments.from_data(X[:, :1], Y).subtract(Moments.from_data(X[:20, :1], Y[:20]))


def test_the_factor_of_squares_alone_says_so():
    X, Y = ill_conditioned(1e6)
    squares = Moments.squares_of(X, Y, None, full_yy=True)
    with pytest.warns(UserWarning, match=r"about [0-4] of 16 digits are left; sum the rows"):
        R = squares.factor[:, :6]
    assert_allclose(R.T @ R, squares.xx, atol=1e-13)


def test_well_conditioned_rows_are_summed_as_squares():
    """No decomposition a block, whatever its size: rows are kept only until there are enough."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(2, 1, size=(100, 10)), rng.normal(size=(100, 2))
    for size in (1, 7, 100):
        blocks = ((X[i : i + size], Y[i : i + size]) for i in range(0, 100, size))
        moments = Moments.from_blocks(blocks)
        assert moments._rows is None
        assert backward_error(least_squares(moments), X, Y) <= BOUND * EPS
    far = moments.copy().update(np.full((1, 10), 1e9), np.ones((1, 2)))
    assert far._rows is not None  # one row that dwarfs all others


def test_rows_that_grow_a_little_at_a_time_are_noticed():
    """No block doubles a variance, but all of them together leave little of the other directions."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 4)), rng.normal(size=(40, 2))
    moments = Moments.from_data(X, Y)
    assert moments._rows is None
    for step in range(70):
        row = np.full((1, 4), 1.3**step) + rng.normal(size=(1, 4))
        moments.update(row, np.ones((1, 2)))
        X, Y = np.vstack([X, row]), np.vstack([Y, np.ones((1, 2))])
    assert backward_error(least_squares(moments), X, Y) <= BOUND * EPS


def test_folds_of_sparse_rows_have_all_digits():
    X, Y = ill_conditioned(1e8)
    for estimator in (ManifoldPLS(alpha=0.0), ReducedRankRegression(alpha=0.0), PCR()):
        dense = ComponentSearchCV(estimator, cv=4).fit(X, Y)
        thin = ComponentSearchCV(estimator, cv=4).fit(sparse.csr_array(X), Y)
        ours, theirs = (s.cv_results_["mean_test_score"] for s in (thin, dense))
        assert_allclose(ours, theirs, rtol=1e-6, atol=1e-7)


# -- weights ----------------------------------------------------------------------------------

WEIGHTED = [
    PLS(3),
    PCR(3, scale=True),
    ReducedRankRegression(2, alpha=0.5),
    ReducedRankRegression(2, alpha=0.5, scale=True),
    ReducedRankRegression(2, alpha=0.5, scale=True, missing="em"),
    ManifoldPLS(2, alpha=0.0, scale=True),
    StiefelRegression(2, alpha=0.5, scale=True),
]


@pytest.mark.parametrize("estimator", WEIGHTED, ids=str)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_a_common_factor_of_the_weights_divides_the_ridge(estimator, container):
    """And changes nothing else: as for scikit-learn's Ridge, all weights c times are alpha / c."""
    rng = np.random.default_rng(0)
    X = rng.normal(2, 1, size=(60, 6))
    Y = X[:, :3] @ rng.normal(size=(3, 4)) + 0.3 * rng.normal(size=(60, 4))
    w = rng.uniform(size=60)
    w /= w.sum()
    if estimator.missing == "em":
        if container is sparse.csr_array:
            pytest.skip("sparse rows have no gaps")
        X[3, 2] = np.nan
    rows = container(X)
    alpha = getattr(estimator, "alpha", None)
    model = type(estimator)(**estimator.get_params())
    plain = model.fit(rows, Y, sample_weight=w).predict(rows)
    scales = model.x_scale_
    # The sum of the weights is one to rounding on either side, two and less, and far away.
    for factor in (1 - 2 * EPS, 1 + 2 * EPS, 1.5, 2.5, 60.0, 1e-300, 1e-150, 1e150, 1e300):
        if isinstance(alpha, float):
            model.set_params(alpha=alpha * factor)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            scaled = model.fit(rows, Y, sample_weight=w * factor)
        assert_allclose(scaled.predict(rows), plain, rtol=1e-9)
        assert_allclose(scaled.weight_, w.sum() * factor)
        assert_allclose(scaled.x_scale_, scales, rtol=0.5)  # one row for the mean, more or less
        if model.missing == "error":
            blocks = fitted_by_blocks(model, rows, Y, 25, w * factor)
            assert_allclose(blocks.predict(rows), plain, rtol=1e-9)


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("factor", [1 + 2 * EPS, 1e-300, 1e300])
def test_a_search_with_relative_weights(scale, factor):
    rng = np.random.default_rng(0)
    X = rng.normal(2, 1, size=(60, 6))
    Y = X[:, :3] @ rng.normal(size=(3, 4)) + 0.3 * rng.normal(size=(60, 4))
    w = rng.uniform(size=60)
    w /= w.sum()
    searches = [
        ComponentSearchCV(ReducedRankRegression(scale=scale), cv=4).fit(X, Y, sample_weight=v)
        for v in (w, w * factor)
    ]
    scores = [s.cv_results_["mean_test_score"] for s in searches]
    assert_allclose(scores[1], scores[0], rtol=1e-8)
    assert searches[1].score(X, Y) > 0.8
    assert_allclose(searches[1].predict(X), searches[0].predict(X), rtol=1e-8)


def test_the_ridge_on_scaled_columns_is_that_of_scikit_learn():
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng(0)
    X, Y = rng.normal(2, 3, size=(20, 4)), rng.normal(size=(20, 2))
    ours = ReducedRankRegression(alpha=5.0, scale=True).fit(X, Y)
    peer = make_pipeline(StandardScaler(), Ridge(5.0)).fit(X, Y)
    assert_allclose(ours.predict(X), peer.predict(X), rtol=1e-11)
    assert_allclose(ours.x_scale_, X.std(axis=0, ddof=1))  # as PLSRegression has it


def test_what_cannot_be_squared_is_refused():
    X, Y = ill_conditioned(1.0)
    model = PCR().partial_fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="too large for sums of squares"):
            model.partial_fit(X * 1e10, Y, sample_weight=np.full(48, 1e300))
        assert model.moments_.n_samples == 48 and np.isfinite(model.moments_.xx).all()
        with pytest.raises(ValueError, match="too small for sums of squares"):
            PCR().partial_fit(X * 1e-10, Y, sample_weight=np.full(48, 1e-300))
