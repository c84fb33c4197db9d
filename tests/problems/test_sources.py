"""Sources of row blocks. Oracles: the fit of all rows in memory, and the rows themselves."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import PredefinedSplit

from isthmus import (
    PCR,
    PLS,
    BayesianStiefelRegression,
    ComponentSearchCV,
    ManifoldPLS,
    Moments,
    ReducedRankRegression,
    Rows,
    StiefelRegression,
)
from isthmus.datasets import make_low_rank_regression
from isthmus.problems.streams.near_sums import near_moments
from isthmus.problems.streams.sources import BlockError, as_rows

TINY = 0.02  # MiB: blocks of some twenty rows


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(2, 1, size=(503, 6)) * [1, 2, 3, 1, 0.5, 1]
    Y = X @ rng.normal(size=(6, 3)) + rng.normal(-3, 1, size=(503, 3))
    return X, Y, rng.integers(0, 3, 503).astype(float)


def walk(X, Y, w, size):
    return lambda: (
        (X[i : i + size], Y[i : i + size], None if w is None else w[i : i + size])
        for i in range(0, len(X), size)
    )


MODELS = [PCR(3), PLS(3), ReducedRankRegression(2, alpha=0.1), ReducedRankRegression(2, alpha=3.0),
          ReducedRankRegression(3, alpha=0.1, scale=True), ManifoldPLS(2, manifold="product", alpha=0.0),
          StiefelRegression(2, alpha=0.0)]  # fmt: skip


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_fit_is_that_of_all_rows(data, model):
    X, Y, w = data
    whole = model.fit(X, Y, w)
    expected = whole.coef_, whole.intercept_, whole.n_components_, whole.x_explained_variance_ratio_
    for rows in (Rows(walk(X, Y, w, 100)), Rows.from_arrays(X, Y, w, memory=TINY)):
        found = model.fit(rows)
        assert found.n_features_in_ == 6
        for got, want in zip(
            (found.coef_, found.intercept_, found.n_components_, found.x_explained_variance_ratio_),
            expected,
        ):
            assert_allclose(got, want, rtol=1e-10, atol=1e-12)
        assert_allclose(np.concatenate(list(found.predict(rows))), found.predict(X))
        scores = [block[0] for block in found.transform(rows).blocks()]
        assert_allclose(np.concatenate(scores), found.transform(X))


AUTO = [PLS("auto"), ReducedRankRegression("auto"), ReducedRankRegression(), ManifoldPLS(2),
        StiefelRegression("auto", alpha=1e-3)]  # fmt: skip


@pytest.mark.parametrize("model", AUTO, ids=str)
def test_auto_is_a_search_over_every_fifth_row(data, model):
    X, Y, w = data
    cv = PredefinedSplit(np.arange(len(X)) % 5)
    alpha = getattr(model, "alpha", None)
    rank = {"auto": None, None: [3]}.get(model.n_components, [model.n_components])
    search = ComponentSearchCV(
        clone(model), n_components=rank, cv=cv, alpha=None if alpha == "auto" else alpha
    ).fit(X, Y, w)
    found = model.fit(Rows.from_arrays(X, Y, w, memory=TINY))
    assert found.n_components_ == search.best_estimator_.n_components_
    assert_allclose(found.coef_, search.best_estimator_.coef_, rtol=1e-10)


def test_one_output_keeps_its_shape(data):
    X, Y, _ = data
    assert PLS(2).fit(Rows.from_arrays(X, Y[:, 0])).coef_.shape == (6,)
    assert PLS(2).fit(Rows.from_arrays(X, Y[:, :1])).coef_.shape == (1, 6)
    assert PLS(2).fit(Rows(lambda: [(X, Y[:, 0])])).coef_.shape == (6,)


def test_blocks_stay_within_the_bound(data):
    X, Y, w = data
    for rows in (Rows(walk(X, Y, w, 500), memory=TINY), Rows.from_arrays(X, Y, w, memory=TINY)):
        blocks = list(rows.blocks())
        assert max(block[0].nbytes + block[1].nbytes for block in blocks) <= TINY * 2**20
        assert len(blocks) > 4
        assert_array_equal(np.vstack([block[0] for block in blocks]), X)
        assert_array_equal(np.concatenate([block[2] for block in blocks]), w)


def test_folds_are_every_kth_row_whatever_the_blocks(data):
    X, Y, w = data
    for memory in (TINY, 0.05, None):
        parts = Rows.from_arrays(X, Y, w, memory=memory).moments(4)
        for fold, part in enumerate(parts):
            kept = np.arange(fold, len(X), 4)
            kept = kept[w[kept] > 0]
            want = Moments.from_data(X[kept], Y[kept], w[kept])
            assert part.n_samples == len(kept)
            assert_allclose(part.xx, want.xx, rtol=1e-12)
            assert_allclose(part.xy, want.xy, rtol=1e-11)
            assert_allclose(part.yy, want.yy.diagonal(), rtol=1e-12)


def test_folds_by_label(data):
    X, Y, _ = data
    labels = np.random.default_rng(1).integers(0, 3, len(X))
    parts = Rows.from_arrays(X, Y, memory=TINY).moments(labels)
    for fold, part in enumerate(parts):
        want = Moments.from_data(X[labels == fold], Y[labels == fold])
        assert_allclose(part.xx, want.xx, rtol=1e-12)


def test_sparse_and_integer_blocks(data):
    X, Y, _ = data
    counts = np.where(X > 3, X, 0).astype(int)
    whole = PLS(2).fit(counts, Y).coef_
    for kind in (sparse.csr_array, sparse.csc_matrix, np.asarray):
        cut = [(kind(counts[i : i + 90]), Y[i : i + 90]) for i in range(0, 503, 90)]
        found = PLS(2).fit(Rows(partial(iter, cut)))
        assert_allclose(found.coef_, whole, rtol=1e-9)


# -- failures --------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_bad_number_names_its_block(data, value, weighted):
    X, Y, w = data
    w = w if weighted else None
    bad = X.copy()
    bad[357, 4] = value
    with pytest.raises(
        BlockError, match=r"block 3 \(rows 3\d\d to 3\d\d\): X has .* column 4"
    ) as caught:
        PLS(2).fit(Rows(walk(bad, Y, w, 100)))
    assert caught.value.block == 3
    Y = Y.copy()
    Y[0, 1] = np.nan
    with pytest.raises(ValueError, match=r"block 0 .*y has NaN in row 0 of the block, column 1"):
        PLS(2).fit(Rows(walk(X, Y, w, 100)))
    with pytest.raises(BlockError, match=r"block 3 .* column 4") as caught:
        Rows(walk(bad, X[:, :2], w, 100)).moments(4, squares=True)
    assert caught.value.walk.n_rows >= 300


def test_sums_that_overflow_are_told(data):
    X, Y, _ = data
    for size in (1e200, 1e307):  # squares overflow, or sums do
        with pytest.raises(ValueError, match="overflow: divide the columns"):
            PLS(2).fit(Rows.from_arrays(size * np.abs(X), Y))


@pytest.mark.parametrize("folds", [None, 4])
@pytest.mark.parametrize("memory", [TINY, None])
def test_a_walk_resumes_where_it_failed(data, folds, memory):
    X, Y, w = data
    fails = True

    def blocks():
        for i, block in enumerate(walk(X, Y, w, 100)()):
            if i == 3 and fails:
                raise OSError("the cable is out")
            yield block

    rows = Rows(blocks, memory=memory)
    with pytest.raises(BlockError, match=r"block 3 .*from row 300 on.* the cable is out") as caught:
        rows.moments(folds)
    fails = False
    resumed = rows.resume(caught.value).moments(folds)
    undisturbed = rows.moments(folds)
    for a, b in zip(*([m] if folds is None else m for m in (resumed, undisturbed))):
        assert_array_equal(a.xx, b.xx)
        assert_array_equal(a.xy, b.xy)
        assert a.n_samples == b.n_samples
    model = PLS(2).fit(rows.resume(caught.value)) if folds is None else None
    if model is not None:
        assert_array_equal(model.coef_, PLS(2).fit(rows).coef_)


def test_a_repaired_array_resumes(data):
    X, Y, w = data
    bad = X.copy()
    bad[300, 2] = np.nan
    with pytest.raises(BlockError) as caught:
        PLS(2).fit(Rows.from_arrays(bad, Y, w, memory=TINY))
    repaired = Rows.from_arrays(X, Y, w, memory=TINY)
    assert 0 < caught.value.walk.n_rows <= 300
    assert_array_equal(PLS(2).fit(repaired.resume(caught.value)).coef_, PLS(2).fit(repaired).coef_)
    with pytest.raises(ValueError, match="folds"):
        repaired.resume(caught.value).moments(3)


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        (lambda: iter([]), "no rows"),
        (lambda: [np.ones((3, 2))], "block 0: a block is a ndarray"),
        (lambda: [(np.ones((3, 2)), np.ones(2))], "block 0: X has 3 rows and y has 2"),
        (lambda: [(np.ones((3, 2)), np.ones(5))], "block 0: X has 3 rows and y has 5"),
        (
            lambda: [(np.ones((3, 2)), np.ones(3)), (np.ones((3, 4)), np.ones(3))],
            "block 1 .*4 features",
        ),
        (lambda: [(np.array([["a"]]), np.ones(1))], "X holds <U1"),
        (lambda: [(np.eye(9, 2),)], "no y"),
        (lambda: [(np.eye(9, 2), np.ones(9), -np.ones(9))], r"sample_weight\[0\]"),
    ],
)
def test_errors(blocks, message):
    with pytest.raises(ValueError, match=message):
        PLS(1).fit(Rows(blocks))


def test_what_does_not_take_rows_says_so(data):
    from sklearn.linear_model import Ridge

    rows = Rows.from_arrays(*data)
    with pytest.raises(TypeError, match="does not take Rows"):
        Ridge().fit(rows, data[1])
    with pytest.raises(ValueError, match="their own y"):
        PLS(2).fit(rows, data[1])
    with pytest.raises(ValueError, match="missing='em' needs all rows"):
        PLS(2, missing="em").fit(rows)
    with pytest.raises(TypeError, match="expected a callable"):
        Rows(data[0])
    assert as_rows(data[0]) is None


# -- sums ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "kind", ["plain", "drifting", "constant", "nearly dependent", "many targets", "light outlier"]
)
def test_sums_of_blocks_have_all_digits(kind, dtype):
    """Against sums in extended precision about the mean of all rows."""
    rng = np.random.default_rng(5)
    X = rng.normal(100, 1, size=(900, 5))
    Y = rng.normal(-3, 1, size=(900, 9 if kind == "many targets" else 2))
    if kind == "drifting":
        X[:, 1] = np.repeat([0, 1e4, -1e5, 1e6, 0, 1], 150) + rng.normal(size=900)
    elif kind == "constant":
        X[:, 2], Y[:, 0] = 0.1, 7
    elif kind == "nearly dependent":
        X[:, 4] = X[:, 3] + 1e-9 * rng.normal(size=900)
    X, Y = X.astype(dtype), Y.astype(dtype)
    w = rng.uniform(0.5, 2, 900)
    if kind == "light outlier":
        X[0, 1], w[0] = 1e9, 1e-25
    exact = [A.astype(np.longdouble) for A in (X, Y)]
    centred = [(A - (w @ A) / w.sum()) * np.sqrt(w.astype(np.longdouble))[:, None] for A in exact]
    want = [centred[0].T @ centred[0], centred[0].T @ centred[1], (centred[1] ** 2).sum(axis=0)]
    found = Rows.from_arrays(X, Y, w, memory=0.03).moments()
    scales = [np.sqrt(np.diag(want[0])), np.sqrt(want[2])]
    live = scales[0] > 1e-6
    units = np.where(live, scales[0], 1.0), np.where(scales[1] > 1e-6, scales[1], 1.0)
    eps = 2e-14
    assert np.abs((found.xx - want[0]) / np.outer(units[0], units[0])).max() < eps
    assert np.abs((found.xy - want[1]) / np.outer(*units)).max() < eps
    assert np.abs((found.yy - want[2]) / units[1] ** 2).max() < eps
    assert_allclose(found.x_mean, (w @ exact[0]) / w.sum(), rtol=1e-15)


def test_a_nearly_dependent_column_keeps_its_digits_out_of_core():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(600, 4))
    X[:, 3] = X[:, 2] + 1e-6 * rng.normal(size=600)
    coef = np.array([1.0, 2.0, -1e6, 1e6])
    y = X @ coef
    found = ReducedRankRegression(alpha=0.0).fit(Rows.from_arrays(X, y, memory=0.02))
    assert_allclose(found.coef_, coef, rtol=1e-6)  # X'X alone has lost them


def test_variances_that_grow_are_proved_again():
    """One direction shrinks against the variances by so much that squares no longer do."""
    rng = np.random.default_rng(7)
    base = rng.normal(size=(2000, 1))
    spread = np.geomspace(1, 1e7, 2000)[:, None]
    X = np.hstack([spread * base, spread * base + rng.normal(size=(2000, 1))])
    y = X @ [1.0, 1.0] + X[:, 1] - X[:, 0]
    found = ReducedRankRegression(alpha=0.0).fit(Rows.from_arrays(X, y, memory=0.02))
    want = ReducedRankRegression(alpha=0.0).fit(X, y)
    assert_allclose(found.coef_, want.coef_, atol=1e-8)


def test_a_posterior_is_that_of_all_rows():
    X, Y, _ = make_low_rank_regression(200, 5, 3, rank=2, noise=0.5, random_state=0)
    model = BayesianStiefelRegression(2, n_warmup=300, n_draws=500, random_state=0)
    want = model.fit(X, Y)
    mode, coef = want.coef_mode_, want.coef_
    found = model.fit(Rows.from_arrays(X, Y, memory=TINY))
    assert_allclose(found.coef_mode_, mode, atol=1e-6)
    assert_allclose(found.coef_, coef, atol=0.02)  # the same seed, chains apart by rounding
    mean, bounds = next(found.predict(Rows.from_arrays(X, Y), interval=0.9))
    assert bounds.shape == (*mean.shape, 2)
    with pytest.raises(ValueError, match="needs likelihood='gaussian'"):
        BayesianStiefelRegression(2, likelihood="laplace").fit(Rows.from_arrays(X, Y))


def test_sums_do_not_depend_on_where_rows_lie_in_memory():
    """A chunk from another process may be at an odd address, and NumPy then multiplies without BLAS."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(300, 12)), rng.normal(size=(300, 3))

    def at_an_odd_address(A):
        room = np.empty(A.nbytes + 1, dtype=np.uint8)[1:]
        found = room.view(A.dtype).reshape(A.shape)
        found[:] = A
        assert not found.flags.aligned
        return found

    one = near_moments(X, Y, None, Moments(12, 3))
    for other in (at_an_odd_address, np.asfortranarray):
        found = near_moments(other(X), other(Y), None, Moments(12, 3))
        for name in ("xx", "xy", "yy", "x_mean", "y_mean"):
            assert np.array_equal(getattr(found, name), getattr(one, name)), name
