"""Oracles: the batch fit, a stacked reduced rank regression, worked numbers, the order of the methods."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from isthmus import ReducedRankRegression, StiefelRegression
from isthmus.datasets import make_low_rank_regression
from isthmus.losses import Huber, Squared
from isthmus.regression.online import ProximalState, proximal_block, proximal_step

XA = np.array([[1, 0], [0, 1], [1, 1], [2, -1], [-1, 2]], dtype=float)
YA = np.array([[1, 2, 0], [0, 1, 1], [2, 2, 1], [3, 3, -1], [-2, 1, 3]], dtype=float)


def make(n, p=10, q=8, rank=3, seed=0):
    rng = np.random.default_rng(seed)
    coef = rng.normal(size=(q, rank)) @ rng.normal(size=(rank, p)) / np.sqrt(p)
    X = rng.normal(1, 1, size=(n, p))
    return X, X @ coef.T + rng.normal(size=(n, q)) - 2, coef


def blocks(n, seed=0):
    ends = np.sort(np.random.default_rng(seed).choice(np.arange(1, n), 12, replace=False))
    return np.split(np.arange(n), np.r_[1, 2, ends[ends > 2]])


def test_exact_mode_is_the_batch_fit_at_any_time():
    X, Y, _ = make(150)
    model, seen = StiefelRegression(3, alpha=0.5), 0
    for rows in blocks(150):
        model.partial_fit(X[rows], Y[rows])
        seen += len(rows)
        if seen > 20:
            batch = ReducedRankRegression(3, alpha=0.5).fit(X[:seen], Y[:seen])
            assert_allclose(model.coef_, batch.coef_, rtol=1e-7, atol=1e-9)
            assert_allclose(model.intercept_, batch.intercept_, rtol=1e-7)
    W = model.x_rotations_
    assert_allclose(W.T @ W, np.eye(3), atol=1e-12)
    assert np.isfinite(model.objective_)


def test_forgetting_is_a_weight_for_each_row():
    X, Y, _ = make(120)
    model, weights = StiefelRegression(3, alpha=1.0, forget=0.98), np.ones(0)
    for rows in blocks(120):
        model.partial_fit(X[rows], Y[rows])
        weights = np.r_[weights * 0.98 ** len(rows), np.ones(len(rows))]
    batch = StiefelRegression(3, alpha=1.0).fit(X, Y, sample_weight=weights)
    assert_allclose(model.coef_, batch.coef_, rtol=1e-8, atol=1e-10)


def test_worked_block():
    Xc, Yc = XA - XA.mean(0), YA - YA.mean(0)
    U, s, Vt = np.linalg.svd(ReducedRankRegression(1, alpha=0).fit(XA, YA).coef_.T)
    A0, V0 = U[:, :1] * s[0], Vt[:1].T
    A, V = proximal_block(Xc[:3], Yc[:3], A0, V0, 2.0, 1)
    expected = [
        [1.6305896526, 0.7540041144, -1.0482279333],
        [0.0659663239, 0.0305036154, -0.0424065879],
    ]
    assert_allclose(A @ V.T, expected, atol=1e-9)
    value = ((Yc[:3] - Xc[:3] @ A @ V.T) ** 2).sum() + 2 * ((A @ V.T - A0 @ V0.T) ** 2).sum()
    assert_allclose(value, 1.4438695633, rtol=1e-9)


def test_no_perturbed_map_is_better():
    X, Y, _ = make(12)
    rng = np.random.default_rng(1)
    A0, V0 = rng.normal(size=(10, 3)), rng.normal(size=(8, 3))

    def value(A, V):
        C = A @ V.T
        return ((Y - X @ C) ** 2).sum() + 5.0 * ((C - A0 @ V0.T) ** 2).sum()

    A, V = proximal_block(X, Y, A0, V0, 5.0, 3)
    best = value(A, V)
    for scale in (1e-3, 1e-1):
        for _ in range(25):
            moved = [F + scale * rng.normal(size=F.shape) for F in (A, V)]
            assert value(*moved) >= best


def test_low_rank_form_is_the_dense_one():
    """A short block in many dimensions works in its own span; the answer is that of the p x p form."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(6, 60)), rng.normal(size=(6, 5))
    state = ProximalState.empty(60, 5)
    state.A, state.V = rng.normal(size=(60, 2)), rng.normal(size=(5, 2))
    A0, V0 = state.A, state.V
    proximal_step(
        state, X, Y, None, loss=Squared(), rank=2, strength=3.0, growing=False,
        max_iter=10, tol=1e-9,
    )  # fmt: skip
    Xc, Yc = X - X.mean(0), Y - Y.mean(0)
    A, V = proximal_block(Xc, Yc, A0, V0, 3.0, 2)
    assert_allclose(state.A @ state.V.T, A @ V.T, atol=1e-11)


def test_methods_rank_as_the_theory_says():
    """Stationary: exact wins and a growing pull beats a fixed one; after a drift forgetting wins."""
    X, Y, coef = make(2000, seed=3)
    risks = {}
    options = {
        "exact": {},
        "fixed": {"online": "proximal", "pull": 10.0},
        "growing": {"online": "proximal", "pull": 1.0, "pull_growth": "linear"},
        "loose": {"online": "proximal", "pull": 1.0},
    }
    for name, extra in options.items():
        model = StiefelRegression(3, alpha=1e-6, **extra)
        for start in range(0, 2000, 20):
            model.partial_fit(X[start : start + 20], Y[start : start + 20])
        risks[name] = ((model.coef_ - coef) ** 2).sum()
    assert risks["exact"] < risks["growing"] < risks["fixed"] < risks["loose"]


def test_forgetting_follows_a_drift():
    X, Y, coef = make(1000, seed=4)
    Y[500:] = Y[500:] - 2 * (X[500:] - 1) @ coef.T  # the map changes its sign
    risks = []
    for forget in (1.0, 0.99):
        model = StiefelRegression(3, alpha=0.0, forget=forget)
        for start in range(0, 1000, 20):
            model.partial_fit(X[start : start + 20], Y[start : start + 20])
        risks.append(((model.coef_ + coef) ** 2).sum())
    assert risks[1] < 0.2 * risks[0]


def test_other_losses_go_online():
    X, Y, coef = make(1500, seed=5)
    spoilt = Y.copy()
    spoilt[np.random.default_rng(0).random(Y.shape) < 0.05] += 100
    errors = {}
    for name, loss in (("huber", Huber(1.5)), ("squared", "squared")):
        model = StiefelRegression(3, loss=loss, online="proximal", pull=200.0)
        for start in range(0, 1500, 50):
            model.partial_fit(X[start : start + 50], spoilt[start : start + 50])
        errors[name] = np.linalg.norm(model.coef_ - coef)
    assert errors["huber"] < 0.5 * errors["squared"]


def test_bad_blocks_are_refused():
    X, Y, _ = make(40)
    for online in ("exact", "proximal"):
        model = StiefelRegression(2, alpha=0.0, online=online).partial_fit(X[:1], Y[:1])
        assert np.isfinite(model.predict(X)).all()
        model.partial_fit(X[1:], Y[1:])
        with pytest.raises(ValueError, match="features"):
            model.partial_fit(X[:, :-1], Y)
        with pytest.raises(ValueError, match="targets"):
            model.partial_fit(X, Y[:, :-1])


@pytest.mark.parametrize(("rows", "directions"), [(20, 20), (120, 50)])
def test_default_pull_is_half_a_mean_direction_of_the_block(rows, directions):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(rows, 50)), rng.normal(size=(rows, 3))
    pull = 0.5 * ((X - X.mean(axis=0)) ** 2).sum() / directions
    models = [StiefelRegression(2, online="proximal", pull=g) for g in (None, pull)]
    default, given = (model.partial_fit(X, Y).coef_ for model in models)
    assert_allclose(default, given, atol=1e-12)


RESIDUAL = ["huber", "absolute", "log_cosh", "huber_rows", "quantile", "epsilon_insensitive"]


def stream(loss, X, Y, size, **options):
    model = StiefelRegression(2, loss=loss, online="proximal", **options)
    for start in range(0, len(X), size):
        model.partial_fit(X[start : start + size], Y[start : start + size])
    return model


@pytest.mark.parametrize(
    ("loss", "unit", "targets"),
    [*((loss, 1.0, 4) for loss in RESIDUAL), ("huber", 1e3, 1), ("absolute", 1e3, 1)],
)
def test_blocks_of_one_row_learn_as_well_as_those_of_two(loss, unit, targets):
    """A free intercept would take the whole row, and a row alone has no scale."""
    X, Y, _ = make_low_rank_regression(400, 6, 4, rank=2, random_state=0)
    X, Y = X + 1, unit * (Y[:, :targets] + 3)
    one, two = (stream(loss, X[:50], Y[:50], size) for size in (1, 2))
    squared = stream("squared", X[:50], Y[:50], 1)
    scores = [model.score(X[200:], Y[200:]) for model in (one, two, squared)]
    assert scores[0] > min(scores[1:]) - 0.04
    assert scores[0] > 0.9


@pytest.mark.parametrize("loss", ["logistic", "poisson"])
def test_labels_and_counts_row_by_row(loss):
    """A single label has no finite intercept of its own: blocks stay near the batch fit's."""
    rng = np.random.default_rng(0)
    X, coef = rng.normal(1, 1, size=(300, 4)), rng.normal(size=(3, 4))
    eta = 0.5 * (X - 1) @ coef.T + [-2.0, 0.0, 1.0]
    Y = (
        rng.poisson(np.exp(eta))
        if loss == "poisson"
        else rng.random(eta.shape) < 1 / (1 + np.exp(-eta))
    )
    Y = Y.astype(float)
    model = stream(loss, X[:100], Y[:100], 1, pull_growth="linear")
    batch, empty = (StiefelRegression(r, loss=loss).fit(X[:150], Y[:150]) for r in (2, 0))
    risks = [
        m.loss_.value(Y[150:], X[150:] @ m.coef_.T + m.intercept_) for m in (model, batch, empty)
    ]
    assert risks[0] < risks[1] + 0.75 * (risks[2] - risks[1])
    assert np.abs(model.intercept_ - batch.intercept_).max() < 1.5


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber"])
def test_first_row_alone_is_the_location(loss):
    X, Y, _ = make(3)
    model = StiefelRegression(2, loss=loss, online="proximal").partial_fit(X[:1], Y[:1])
    assert_allclose(model.predict(X[:1]), Y[:1], rtol=1e-6)
    assert not model.coef_.any()


@pytest.mark.parametrize("online", ["exact", "proximal"])
def test_refused_blocks_leave_no_trace(online):
    X, Y, _ = make(60)
    model = StiefelRegression(2, alpha=0.0, forget=0.9, online=online).partial_fit(X[:30], Y[:30])
    weight, coef = model.weight_, model.coef_.copy()
    for bad in ((X[:5, :-1], Y[:5]), (np.full((5, 10), np.nan), Y[:5]), (X[:5], Y[:5, :-1])):
        with pytest.raises(ValueError):
            model.partial_fit(*bad)
    if online == "exact":
        assert model.moments_.weight == 30
    model.partial_fit(X[30:], Y[30:])
    fresh = StiefelRegression(2, alpha=0.0, forget=0.9, online=online)
    fresh.partial_fit(X[:30], Y[:30])
    assert (fresh.weight_, fresh.coef_.tolist()) == (weight, coef.tolist())
    assert_allclose(model.coef_, fresh.partial_fit(X[30:], Y[30:]).coef_, atol=1e-14)


def test_proximal_mode_says_what_it_does_not_do():
    X, Y, _ = make(40)
    with pytest.raises(ValueError, match="scale == True with online == 'proximal'"):
        StiefelRegression(2, online="proximal", scale=True).partial_fit(X, Y)
    model = StiefelRegression(2, online="proximal").fit(X, Y)
    assert hasattr(model, "coef_path_") and hasattr(model, "score_gram_")
    model.partial_fit(X, Y)
    stale = ("score_gram_", "y_explained_variance_ratio_", "coef_path_", "predict_path")
    assert not any(hasattr(model, name) for name in stale)


@pytest.mark.parametrize("loss", ["squared", "huber", "logistic"])
def test_proximal_weights_are_copies(loss):
    X, Y, _ = make_low_rank_regression(30, 6, 4, rank=2, noise=0.5, random_state=0)
    Y = (Y > 0).astype(float) if loss == "logistic" else Y
    model = StiefelRegression(2, loss=loss, online="proximal", pull=1.0)
    twice = clone(model).partial_fit(np.repeat(X, 2, axis=0), np.repeat(Y, 2, axis=0))
    weighted = clone(model).partial_fit(X, Y, sample_weight=np.full(30, 2.0))
    assert_allclose(weighted.coef_, twice.coef_, atol=1e-5)


def test_a_refused_first_block_leaves_nothing():
    X, Y, _ = make_low_rank_regression(20, 6, 4, rank=2, random_state=0)
    model = StiefelRegression(2, online="proximal", loss="huber", output_weight=[1.0, 2.0])
    with pytest.raises(ValueError, match="output_weight"):
        model.partial_fit(X, Y)
    model.set_params(output_weight=None).partial_fit(X[:, :3], Y[:, :2])
    assert model.coef_.shape == (2, 3)
