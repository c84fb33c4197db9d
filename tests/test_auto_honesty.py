"""Scores of blends beside fresh rows; models that saw neither of two folds; columns with long tails."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from isthmus import PLS, MethodSearchCV
from isthmus.auto.blend_trial import BlendTrial
from isthmus.auto.blends import blend_weights
from isthmus.auto.methods.kernel_search import KernelSearch
from isthmus.auto.methods.pls_stack import pls_paths
from isthmus.auto.methods.tails import TailScaler
from isthmus.auto.problem import Problem, Rung
from isthmus.auto.trials import Trial

ALPHAS = (0.1, 3.0, 30.0, 300.0)


class Quick:
    """Ridge regression without checks, which take longer than sixteen rows."""

    def __init__(self, alpha):
        self.alpha = alpha

    def fit(self, X, y):
        self.means = X.mean(axis=0), y.mean()
        Z = X - self.means[0]
        self.coef = np.linalg.solve(
            Z.T @ Z + self.alpha * np.eye(X.shape[1]), Z.T @ (y - self.means[1])
        )
        return self

    def predict(self, X):
        return (X - self.means[0]) @ self.coef + self.means[1]


RUNGS = [
    Rung(f"ridge {alpha}", "", lambda problem, alpha=alpha: Quick(alpha), "", "", "", ())
    for alpha in ALPHAS
]


def fold_optimism(seed, n=16, n_fresh=150):
    """By how much the error of a blend in its folds is smaller than that of the same blends in fresh rows.

    The same difference of the methods themselves, which are judged without any choice, is taken off: luck
    of the rows is common to both.
    """
    draw = np.random.default_rng(seed)
    A = draw.normal(size=(n + n_fresh, 8))
    b = A @ draw.normal(size=8) / np.sqrt(8) + draw.normal(size=n + n_fresh)
    X, y, fresh, truth = A[:n], b[:n], A[n:], b[n:]
    splits = list(KFold(5, shuffle=True, random_state=0).split(X))
    trials = [Trial(rung, X, y, splits, Problem(n, 8, 1)) for rung in RUNGS]
    models = [[Quick(alpha).fit(X[train], y[train]) for train, _ in splits] for alpha in ALPHAS]
    for trial, own in zip(trials, models, strict=True):
        for (_, test), model in zip(splits, own, strict=True):
            trial.predictions[test, 0] = model.predict(X[test])
        trial.fit_seconds[:] = 0.0
    blend = BlendTrial(RUNGS[0], X, y, splits, Problem(n, 8, 1))
    seen = blend._seen(trials, np.inf, True)
    blend._seen = lambda *given: seen  # once for both
    blend.blend(trials)
    gap = control = 0.0
    for i, (train, test) in enumerate(splits):
        weights = blend_weights(y[train, None], [part[train] for part in seen[i]])[:, 0]
        new = np.array([own[i].predict(fresh) for own in models])
        gap += np.mean((y[test] - blend.predictions[test, 0]) ** 2) - np.mean(
            (truth - weights @ new) ** 2
        )
        left_out = np.array([trial.predictions[test, 0] for trial in trials])
        control += np.mean((y[test] - left_out) ** 2) - np.mean((truth - new) ** 2)
    return (control - gap) / len(splits)


def test_few_rows_do_not_flatter_a_blend():
    """The optimism over 500 draws of 16 rows is at most four standard errors.

    A fair score fails once in 30 000 times. Weights from models that saw the fold are 5.0 standard errors
    away: their error is a twelfth too small.
    """
    found = np.array([fold_optimism(seed) for seed in range(1000, 1500)])
    assert found.mean() < 4.0 * found.std(ddof=1) / np.sqrt(len(found))


def test_pairs_are_predicted_by_models_that_saw_neither_fold():
    """Outputs of a fold are spoilt: what its weights are found from does not move."""
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=(30, 3)), draw.normal(size=30)
    splits = list(KFold(4, shuffle=True, random_state=0).split(X))
    for i, (train, test) in enumerate(splits):
        spoilt = y.copy()
        spoilt[test] += 100.0
        a, b = (
            Trial(RUNGS[1], X, own, splits, Problem(30, 3, 1)).without_pairs()
            for own in (y, spoilt)
        )
        assert_allclose(a[i][train], b[i][train], rtol=1e-12)
        assert np.isnan(a[i][test]).all()
        other = splits[i - 1][1]
        rest = np.setdiff1d(train, other)
        peer = Ridge(ALPHAS[1]).fit(X[rest], y[rest]).predict(X[other])
        assert_allclose(a[i][other, 0], peer, rtol=1e-12)


def test_no_time_for_pairs_is_no_matter():
    draw = np.random.default_rng(1)
    X = draw.normal(size=(30, 3))
    y = X[:, 0] + draw.normal(size=30)
    splits = list(KFold(4, shuffle=True, random_state=0).split(X))
    trials = [Trial(rung, X, y, splits, Problem(30, 3, 1)) for rung in RUNGS[:2]]
    for trial in trials:
        trial.run(lambda *told: None, np.inf)
    blend = BlendTrial(RUNGS[0], X, y, splits, Problem(30, 3, 1))
    blend.blend(trials, limit=-np.inf)
    train, test = splits[0]
    weights = blend_weights(y[train, None], [trial.predictions[train] for trial in trials])
    expected = sum(w * trial.predictions[test] for w, trial in zip(weights, trials, strict=True))
    assert_allclose(blend.predictions[test], expected, rtol=1e-12)


@pytest.mark.parametrize("keep", [True, False])
def test_an_interrupt_of_pairs_keeps_the_blend(keep, monkeypatch):
    def interrupt(trial):
        raise KeyboardInterrupt

    monkeypatch.setattr(Trial, "without_pairs", interrupt)
    draw = np.random.default_rng(2)
    X = draw.normal(size=(30, 3))
    search = MethodSearchCV(["pls", "ridge"], cv=3)
    if keep:
        assert search.fit(X, X[:, 0]).predict(X).shape == (30,)
        return
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, X[:, 0], on_interrupt="raise")


# -- long tails ----------------------------------------------------------------------------------


def test_tails_are_bent_in():
    """By hand; any units, copies in place of weights, and a column whose median distance is zero."""
    draw = np.random.default_rng(3)
    A = np.exp(1.5 * draw.normal(size=(41, 4)))
    A[:, 3] = np.arange(41) % 10 == 0
    found = TailScaler().fit_transform(A)
    centre = np.median(A, axis=0)
    unit = np.median(np.abs(A - centre), axis=0)
    unit[3] = A[:, 3].std()
    bent = np.arcsinh((A - centre) / unit)
    assert_allclose(found, (bent - bent.mean(axis=0)) / bent.std(axis=0), rtol=1e-12)
    assert_allclose(TailScaler().fit_transform(5 - 1e3 * A), -found, rtol=1e-9, atol=1e-12)
    counts = draw.integers(1, 4, size=41)
    weighted = TailScaler().fit(A[:, :3], sample_weight=counts).transform(A[:, :3])
    copied = TailScaler().fit(np.repeat(A[:, :3], counts, axis=0)).transform(A[:, :3])
    assert_allclose(weighted, copied, rtol=1e-10)


def test_kernels_bend_tails_where_that_helps():
    """The output goes by the logarithm of an input with a long tail, or by the input itself."""
    draw = np.random.default_rng(4)
    A = np.exp(1.5 * draw.normal(size=(80, 2)))
    for y, kind in ((np.log(A[:, 0]), TailScaler), (A[:, 0], StandardScaler)):
        search = KernelSearch(tails=True).fit(A, y)
        assert isinstance(search.best_estimator_[0], kind)
        plain = KernelSearch().fit(A, y)
        assert np.mean((y - search.left_out_[:, 0]) ** 2) <= np.mean(
            (y - plain.left_out_[:, 0]) ** 2
        )


# -- partial least squares of all folds ------------------------------------------------------------


@pytest.mark.parametrize("stacked", [1, 10**6])
def test_folds_at_once_are_those_one_by_one(stacked, monkeypatch):
    """`PLS` for each training set; one of them has fewer components than asked for."""
    monkeypatch.setattr("isthmus.auto.methods.pls_stack._STACKED_ROWS", stacked)
    draw = np.random.default_rng(5)
    Z = draw.normal(size=(20, 6)) * np.logspace(0, -4, 6) + 3
    Z[:5, 3:] = 0.0
    Y = Z[:, :2] @ draw.normal(size=(2, 3)) + 0.1 * draw.normal(size=(20, 3))
    trains = [np.arange(20), np.arange(4, 20), np.arange(5)]
    news = [Z[:4], Z[:3], Z[6:8] * [1, 1, 1, 0, 0, 0]]
    for train, new, path in zip(trains, news, pls_paths(Z, Y, trains, news, 5), strict=True):
        most = 3 if len(train) == 5 else 5
        peer = np.asarray(PLS(most, scale=False).fit(Z[train], Y[train]).predict_path(new))
        assert path.shape == (5, len(new), 3)
        assert_allclose(path[:most], peer, rtol=1e-7)
        assert_allclose(path[most:], np.tile(peer[-1], (5 - most, 1, 1)), rtol=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_components_of_rounding_errors_are_none(seed):
    """Inputs of rank two, and a spectrum that falls by 1e10: the path ends in least squares."""
    draw = np.random.default_rng(seed)
    Z = draw.normal(size=(20, 2)) @ draw.normal(size=(2, 6)) + 3
    Y = draw.normal(size=(20, 2))
    path = pls_paths(Z, Y, [np.arange(20)], [Z], 5)[0]
    peer = LinearRegression().fit(Z[:, :2], Y).predict(Z[:, :2])
    assert_allclose(path[1:], np.tile(peer, (4, 1, 1)), atol=1e-9)
    Q = np.linalg.qr(draw.normal(size=(30, 6)))[0]
    Z = Q * np.logspace(0, -10, 6)
    Y = draw.normal(size=(30, 2))
    path = pls_paths(Z, Y, [np.arange(30)], [Z], 6)[0]
    peer = LinearRegression().fit(Q, Y).predict(Q)
    assert_allclose(path[-1], peer, atol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_weights_of_a_stack_stay_orthogonal(seed):
    """Fifteen inputs with a spectrum that falls by 1e11, in a stack: all components are least squares."""
    draw = np.random.default_rng(seed)
    Q = draw.normal(size=(60, 15))
    Q = np.linalg.qr(Q - Q.mean(axis=0))[0]
    Z = (Q * np.logspace(0, -11, 15)) @ np.linalg.qr(draw.normal(size=(15, 15)))[0]
    Y = Q @ draw.normal(size=(15, 2))
    rows = np.arange(60)
    for path in pls_paths(Z, Y, [rows, rows], [Z, Z], 15):
        assert_allclose(path[-1], Y, atol=1e-4 * np.abs(Y).max())
