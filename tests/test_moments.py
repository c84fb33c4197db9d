"""Oracles: rational arithmetic, NumPy's covariance, and the algebra of sets of rows."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from isthmus import Moments

OFFSETS = [0.0, 1.0, 1e8]


def exact(X, Y, w):
    """Centred weighted moments in rational arithmetic: no rounding at all."""
    X, Y, w = ([[Fraction(v) for v in row] for row in np.column_stack([A])] for A in (X, Y, w))
    X, Y, w = np.array(X), np.array(Y), np.array(w)[:, 0]
    X = X - (w[:, None] * X).sum(0) / w.sum()
    Y = Y - (w[:, None] * Y).sum(0) / w.sum()
    return tuple((A.T.dot(w[:, None] * B)).astype(float) for A, B in ((X, X), (X, Y), (Y, Y)))


def assert_same(moments, other, rtol=1e-12):
    for name in ("xx", "xy", "yy"):
        ours, theirs = getattr(moments, name), getattr(other, name)
        assert_allclose(ours, theirs, rtol=0, atol=rtol * np.abs(theirs).max())
    assert_allclose(moments.x_mean, other.x_mean, rtol=1e-15, atol=1e-15)
    assert_allclose(moments.y_mean, other.y_mean, rtol=1e-15, atol=1e-15)
    assert_allclose(moments.weight, other.weight, rtol=1e-14)
    assert moments.n_samples == other.n_samples


@pytest.fixture(params=OFFSETS)
def data(request):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90, 4)) + request.param * np.array([1.0, -2.0, 0.5, 3.0])
    Y = X[:, :2] + rng.normal(size=(90, 2)) - request.param
    return X, Y, rng.uniform(0.5, 2.0, size=90)


def test_equal_rational_arithmetic(data):
    moments = Moments.from_data(*data)
    for ours, truth in zip((moments.xx, moments.xy, moments.yy), exact(*data), strict=True):
        assert_allclose(ours, truth, rtol=0, atol=1e-14 * np.abs(truth).max())


def test_unweighted_equal_numpy(data):
    X, Y, _ = data
    moments = Moments.from_data(X, Y)
    truth = np.cov(np.hstack([X, Y]).T, ddof=0) * len(X)
    assert_allclose(moments.xx, truth[:4, :4], rtol=1e-7)
    assert_allclose(moments.xy, truth[:4, 4:], rtol=1e-7)
    assert moments.weight == len(X)


def test_blocks_in_any_order_are_the_whole(data):
    X, Y, w = data
    whole = Moments.from_data(X, Y, w)
    order = np.random.default_rng(0).permutation(len(X))
    pieces = np.array_split(order, [1, 2, 30, 31, 77])
    updated = Moments(4, 2)
    for rows in pieces:
        updated.update(X[rows], Y[rows], w[rows])
    assert_same(updated, whole)
    assert_same(Moments.from_blocks((X[r], Y[r], w[r]) for r in pieces), whole)
    left = Moments.from_data(X[:50], Y[:50], w[:50])
    right = Moments.from_data(X[50:], Y[50:], w[50:])
    assert_same(left.merge(right), whole)
    assert_same(right.merge(left), whole)
    assert left.n_samples == 50  # merging changes neither


def test_subtract_undoes_merge(data):
    X, Y, w = data
    whole, part = Moments.from_data(X, Y, w), Moments.from_data(X[:60], Y[:60], w[:60])
    assert_same(whole.subtract(part), Moments.from_data(X[60:], Y[60:], w[60:]))
    nothing = whole.subtract(whole)
    assert nothing.n_samples == 0 and not nothing.xx.any()


def test_weights_are_repetitions(data):
    X, Y, _ = data
    counts = np.arange(len(X)) % 4
    weighted = Moments.from_data(X, Y, counts)
    repeated = Moments.from_data(np.repeat(X, counts, axis=0), np.repeat(Y, counts, axis=0))
    weighted.n_samples = repeated.n_samples
    assert_same(weighted, repeated)


@pytest.mark.parametrize("density", [0.01, 0.5])
@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_is_dense(density, container):
    X = sparse.random(200, 30, density=density, random_state=np.random.default_rng(1))
    Y = np.random.default_rng(2).normal(size=(200, 2)) + 5
    w = np.random.default_rng(4).uniform(size=200)
    assert_same(Moments.from_data(container(X), Y, w), Moments.from_data(X.toarray(), Y, w))


@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_rows_with_columns_far_from_zero(weighted):
    """Columns without zeros, constant ones among them, and outputs with means 1e8 times their spreads."""
    rng = np.random.default_rng(0)
    X = sparse.random(500, 400, density=0.005, random_state=rng).toarray()
    X[:, :3] = np.array([1e8, 1e3, -20.0]) + rng.normal(size=(500, 3))
    X[:, 3] = 7.3
    Y = rng.normal(size=(500, 2)) + 1e8
    w = rng.uniform(size=500) if weighted else None
    found = Moments.from_data(sparse.csr_array(X), Y, w)
    expected = Moments.from_data(X, Y, w)
    assert_same(found, expected)
    spreads = np.sqrt(expected.xx.diagonal())
    assert (np.abs(found.xx - expected.xx) <= 1e-11 * np.outer(spreads, spreads) + 1e-20).all()
    assert_allclose(
        found.mean_difference(expected)[0], 0, atol=1e-11
    )  # means have more digits than 16
    half = Moments.from_data(sparse.csr_array(X[:200]), Y[:200], None if w is None else w[:200])
    rest = Moments.from_data(X[200:], Y[200:], None if w is None else w[200:])
    assert_same(half.merge(rest), expected)


def test_float32_is_summed_in_float64():
    X = (np.random.default_rng(0).normal(size=(5000, 3)) + 1e3).astype(np.float32)
    moments = Moments.from_data(X, X[:, 0])
    assert moments.xx.dtype == np.float64
    assert_allclose(moments.xx, np.cov(X.T.astype(np.float64), ddof=0) * 5000, rtol=1e-11)


def test_variances_alone_for_many_targets():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(1, 1, size=(40, 3)), rng.normal(2, 1, size=(40, 50))
    full = Moments.from_data(X, Y)
    lean = Moments.squares_of(X, Y, None)
    assert_allclose(lean.yy, full.yy.diagonal(), rtol=1e-12)
    assert_allclose(lean.xy, full.xy, atol=1e-12)
    halves = [Moments.squares_of(X[s], Y[s], None) for s in np.split(np.arange(40), 2)]
    assert_allclose(halves[0].merge(halves[1]).yy, full.yy.diagonal(), rtol=1e-12)


@pytest.mark.parametrize("x_mean", [0.0, 1.0, 5.0])
@pytest.mark.parametrize("y_mean", [0.0, 1e8])
def test_rows_that_need_no_centring_are_exact_too(x_mean, y_mean):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(x_mean, 1, size=(300, 3)), rng.normal(y_mean, 1, size=(300, 2))
    X[:, 2] += 0.01 * np.arange(300)  # and a trend, which a sample of rows must not miss
    moments = Moments.from_data(X, Y)
    for ours, truth in zip(
        (moments.xx, moments.xy, moments.yy), exact(X, Y, np.ones(300)), strict=True
    ):
        assert_allclose(ours, truth, rtol=0, atol=1e-13 * np.abs(truth).max())


def test_a_misleading_sample_is_noticed():
    X = np.full((640, 1), 1e6)
    X[::10] = np.random.default_rng(0).normal(size=(64, 1))  # the sample sees these rows alone
    X += 1e-3 * np.random.default_rng(1).normal(size=X.shape)
    truth = exact(X, X, np.ones(640))[0]
    assert_allclose(Moments.from_data(X).xx, truth, rtol=1e-12)


def test_bad_input_is_refused():
    whole = Moments.from_data(np.eye(3), np.ones(3))
    with pytest.raises(ValueError, match="2 features and 0 targets do not go"):
        whole.merge(Moments.from_data(np.eye(2)))
    with pytest.raises(ValueError, match="n_samples=4"):
        whole.subtract(Moments.from_data(np.ones((4, 3)), np.ones(4)))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        Moments.from_data(np.eye(3), np.ones(2))
    with pytest.raises(ValueError, match="blocks is empty"):
        Moments.from_blocks([])
    with pytest.raises(ValueError, match=r"sample_weight\[1\] == -1.0, must be >= 0"):
        Moments.from_data(np.eye(2), np.ones(2), [1, -1])
    with pytest.raises(MemoryError, match="GiB"):
        Moments(10**8)


# -- sums seen from a point near the mean ------------------------------------------------------


@pytest.mark.parametrize("full_yy", [True, False])
@pytest.mark.parametrize("n_targets", [1, 6], ids=["few targets", "many targets"])
@pytest.mark.parametrize("far", ["nowhere", "everywhere", "but for the first rows"])
def test_squares_of_rows_are_those_about_their_mean(far, n_targets, full_yy):
    """In extended precision; a point four deviations from the mean may cost 1e-14 of the squares."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(900, 4)), rng.normal(size=(900, n_targets))
    weights = rng.uniform(0.5, 2.0, size=900)
    if far == "everywhere":
        X, Y = X + 1e6, Y - 1e6
    elif (
        far == "but for the first rows"
    ):  # which hardly count: their mean is no point for the others
        X[256:] += 1e6
        weights[:256] *= 1e-14
    for given in (None, weights):
        w = np.ones(900, dtype=np.longdouble) if given is None else given.astype(np.longdouble)
        A, B = X.astype(np.longdouble), Y.astype(np.longdouble)
        A, B = A - (w @ A) / w.sum(), B - (w @ B) / w.sum()
        found = Moments.squares_of(X, Y, given, full_yy)
        x_size, y_size = (float(np.sqrt((w[:, None] * C**2).sum())) for C in (A, B))
        wanted = (A.T @ (w[:, None] * C) for C in (A, B))
        for ours, theirs, size in zip((found.xx, found.xy), wanted, (x_size, y_size), strict=True):
            assert_allclose(ours, theirs.astype(float), rtol=0, atol=1e-13 * x_size * size)
        yy = (B.T @ (w[:, None] * B)).astype(float)
        assert_allclose(found.yy, yy if full_yy else yy.diagonal(), rtol=0, atol=1e-13 * y_size**2)
