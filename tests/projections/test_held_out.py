"""Held-out scores: a refit in every fold is the oracle; noise scores nothing.

False alarms: a score of pure noise has mean -0.1 or so (the variance of ten neighbours' mean) and the bound
is three standard errors of SEEDS draws above zero, more than six above that mean: below 1e-6 for each.
With half as many draws, where a ridge is chosen in each, it is more than five: below 1e-3 (Student's t, 5).
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.model_selection import PredefinedSplit
from sklearn.neighbors import KNeighborsRegressor, NearestNeighbors

from isthmus import projections
from isthmus.features import Landmarks
from isthmus.kernels import RBF
from isthmus.kernels.distinct import deal_by_content
from isthmus.projections import COIR, KDR, MORP, SIR, KernelCCA, KernelSIR, held_out
from isthmus.projections.held_out import KernelJudge, VectorJudge, judged_rows

SEEDS = 12
FOLDS = {"cv": 5, "random_state": 0}


def make(n, seed=0, p=5):
    """Two outputs that bend, one of noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(1, 1, size=(n, p))
    t = X @ rng.normal(size=(p, 2))
    Y = np.column_stack([np.tanh(t[:, 0]), t[:, 1], rng.normal(size=n)])
    return X, Y + 0.3 * rng.normal(size=Y.shape)


def classes(Y):
    return np.digitize(Y[:, 1], np.quantile(Y[:, 1], [0.2, 0.4, 0.6, 0.8])).astype(float)


def dealt(X):
    return PredefinedSplit(deal_by_content(X, 5)).split()


def without_folds(model):
    """The model with the ridge weight of all rows, which folds keep as they keep kernel widths."""
    own = {"alpha": model.alpha_} if model.alpha == "auto" and not isinstance(model, KDR) else {}
    return clone(model).set_params(cv=None, **own)


def refitted(model, X, Y, rows=None, folds_of=None):
    """Scores of each output: a fit without each fold, neighbours among its rows."""
    scores = []
    for rest, test in dealt(X if folds_of is None else folds_of):
        train, test = (
            part if rows is None else np.intersect1d(part, rows) for part in (rest, test)
        )
        fold = without_folds(model).fit(X[rest], Y[rest])
        near = KNeighborsRegressor(10).fit(fold.transform(X[train]), Y[train])
        guess = near.predict(fold.transform(X[test]))
        scores.append(np.atleast_1d(r2_score(Y[test], guess, multioutput="raw_values")))
    return np.mean(scores, axis=0)


SMALL = [
    COIR(gamma=0.1, kernel_y=RBF(0.5), **FOLDS),
    COIR(kernel="linear", kernel_y="linear", **FOLDS),
    KernelCCA(gamma=0.1, kernel_y=RBF(0.5), **FOLDS),
    MORP(gamma=0.1, n_components=3, **FOLDS),
]
LINEAR = [
    COIR(kernel="linear", kernel_y="linear", **FOLDS),
    MORP(kernel="linear", **FOLDS),
    KernelCCA(kernel="linear", kernel_y="linear", **FOLDS),
]


@pytest.mark.parametrize("model", SMALL, ids=repr)
def test_500_rows_are_refits(model):
    X, Y = make(500)
    model = clone(model).fit(X, Y)
    assert_allclose(model.held_out_scores_, refitted(model, X, Y), atol=1e-8)
    assert_allclose(model.held_out_score_, model.held_out_scores_.mean(), rtol=1e-12)
    assert model.held_out_scores_[1] > 0.4 and abs(model.held_out_scores_[2]) < 0.3


@pytest.mark.parametrize(
    "model", [SIR(slices="classes", **FOLDS), KernelSIR(gamma=0.1, alpha=0.3, **FOLDS)], ids=repr
)
def test_500_rows_in_classes_are_refits(model):
    X, Y = make(500)
    y = classes(Y)
    assert_allclose(clone(model).fit(X, y).held_out_scores_, refitted(model, X, y), atol=1e-8)


@pytest.mark.parametrize("n", [70, 300])
def test_kdr_is_refits(n):
    X, Y = make(n)
    model = KDR(2, gamma=0.1, kernel_y=RBF(0.5), max_iter=2, tol=0.5, **FOLDS).fit(X, Y)
    assert_allclose(model.held_out_scores_, refitted(model, X, Y), atol=1e-8)


@pytest.mark.parametrize("n", [5000, 20_000])
@pytest.mark.parametrize("model", LINEAR, ids=repr)
def test_many_rows_are_refits(model, n):
    X, Y = make(n)
    model = clone(model).fit(X, Y)
    assert_allclose(model.held_out_scores_, refitted(model, X, Y), atol=1e-8)


@pytest.mark.parametrize("n", [5000, 20_000])
def test_many_rows_in_slices_are_refits(n):
    X, Y = make(n)
    y = classes(Y)
    model = SIR(slices="classes", **FOLDS).fit(X, y)
    assert_allclose(model.held_out_scores_, refitted(model, X, y), atol=1e-8)


@pytest.mark.parametrize("n", [5000, 20_000])
def test_many_rows_by_landmarks_are_refits(n):
    """On the features of the landmarks it is the linear method, which is refitted."""
    X, Y = make(n)
    y = classes(Y)
    options = {"n_landmarks": 25, "selection": "uniform", **FOLDS}
    model = KernelSIR(gamma=0.1, alpha=3.0, **options).fit(X, y)
    F = Landmarks(25, model.kernel_, selection="uniform", random_state=0).fit_transform(X)
    assert_allclose(model.held_out_scores_, refitted(SIR(alpha=3.0), F, y, folds_of=X), atol=1e-8)


@pytest.mark.parametrize("n", [5000, 20_000])
@pytest.mark.parametrize("name", ["COIR", "KernelCCA", "MORP"])
def test_every_kernel_method_by_landmarks_is_refits(name, n):
    X, Y = make(n)
    linear = {} if name == "MORP" else {"kernel_y": "linear"}
    method = getattr(projections, name)
    model = method(gamma=0.1, n_landmarks=25, selection="uniform", **linear, **FOLDS).fit(X, Y)
    assert model.solver_ == "features"
    F = Landmarks(25, model.kernel_, selection="uniform", random_state=0).fit_transform(X)
    again = method(kernel="linear", alpha=model.alpha_, **linear)
    oracle = refitted(again, F, Y, folds_of=X)
    assert_allclose(model.held_out_scores_, oracle, atol=1e-8)


def test_more_rows_are_judged_by_a_sample_of_all_folds(monkeypatch):
    monkeypatch.setattr(held_out, "SCORE_ROWS", 1000)
    X, Y = make(5000)
    rows = judged_rows(5000, 0)
    counts = np.bincount(deal_by_content(X, 5)[rows])
    # Hypergeometric, 200 +- 11.3 each: six deviations.
    assert len(rows) == len(set(rows)) == 1000 and np.abs(counts - 200).max() < 68
    model = COIR(kernel="linear", kernel_y="linear", **FOLDS).fit(X, Y)
    assert_allclose(model.held_out_scores_, refitted(model, X, Y, rows), atol=1e-8)


WEIGHTED = [
    *SMALL,
    SIR(slices="classes", **FOLDS),
    KernelSIR(gamma=0.1, alpha=0.3, **FOLDS),
    KDR(2, gamma=0.1, kernel_y=RBF(0.5), max_iter=2, tol=0.5, **FOLDS),
    MORP(gamma=0.1, missing="ridge", alpha=1.2, **FOLDS),
]


@pytest.mark.parametrize("model", WEIGHTED, ids=repr)
def test_weighted_rows_are_weighted_refits(model):
    """Neighbours and held-out rows count by their weights, and every fit of a fold has them."""
    X, Y = make(70 if isinstance(model, KDR) else 200)
    Y = classes(Y)[:, None] if isinstance(model, (SIR, KernelSIR)) else Y
    w = np.random.default_rng(3).uniform(0.2, 3.0, size=len(X))
    y = Y[:, 0] if Y.shape[1] == 1 else Y
    fitted = clone(model).fit(X, y, sample_weight=w)
    scores = []
    for train, test in dealt(X):
        fold = without_folds(fitted).fit(X[train], y[train], sample_weight=w[train])
        search = NearestNeighbors(n_neighbors=10).fit(fold.transform(X[train]))
        near = train[search.kneighbors(fold.transform(X[test]), return_distance=False)]
        guess = [np.average(Y[rows], axis=0, weights=w[rows]) for rows in near]
        own = {"sample_weight": w[test], "multioutput": "raw_values"}
        scores.append(r2_score(Y[test], guess, **own))
    assert_allclose(fitted.held_out_scores_, np.mean(scores, axis=0), atol=1e-8)


# -- holes ---------------------------------------------------------------------------------------


def with_holes(Y, share, seed=0):
    return np.where(np.random.default_rng(seed).random(Y.shape) < share, np.nan, Y)


@pytest.mark.parametrize("solver", ["auto", "features"])
@pytest.mark.parametrize("missing", ["mean", "ridge", "zero"])
def test_holes_are_filled_by_training_rows_and_never_scored(missing, solver):
    X, Y = make(120)
    holes = with_holes(Y, 0.5)
    options = {"n_landmarks": 200, "selection": "uniform"} if solver == "features" else {}
    options |= {"alpha": 1.2, **FOLDS}
    model = MORP(gamma=0.1, missing=missing, solver=solver, **options).fit(X, holes)
    scores = []
    for train, test in dealt(X):
        fold = clone(model).set_params(cv=None).fit(X[train], holes[train])
        search = NearestNeighbors(n_neighbors=10).fit(fold.transform(X[train]))
        near = search.kneighbors(fold.transform(X[test]), return_distance=False)
        guess = np.nanmean(holes[train][near], axis=1)  # none of them is all NaN, as it happens
        seen = ~np.isnan(holes[test])
        scores.append([r2_score(holes[test][s, j], guess[s, j]) for j, s in enumerate(seen.T)])
    assert_allclose(model.held_out_scores_, np.mean(scores, axis=0), atol=1e-6)


def test_a_precomputed_kernel_with_holes():
    X, Y = make(90)
    holes = with_holes(Y, 0.4)
    K = np.exp(-0.1 * ((X[:, None] - X) ** 2).sum(axis=2))
    folds = list(dealt(X))
    ours = MORP(kernel="precomputed", missing="ridge", cv=folds, random_state=0).fit(K, holes)
    same = MORP(gamma=0.1, missing="ridge", cv=folds, random_state=0).fit(X, holes)
    assert_allclose(ours.held_out_scores_, same.held_out_scores_, atol=1e-6)


# -- noise ---------------------------------------------------------------------------------------

OF_NOISE = {
    "SIR": SIR(**FOLDS),
    "KernelSIR": KernelSIR(**FOLDS),
    "COIR": COIR(**FOLDS),
    "KernelCCA": KernelCCA(**FOLDS),
    "MORP": MORP(**FOLDS),
    "KDR": KDR(max_iter=3, tol=0.5, **FOLDS),
}


def test_every_projection_is_asked():
    assert OF_NOISE.keys() == set(projections.__all__)


def not_positive(models, holes=0.0):
    scores = []
    for seed, model in enumerate(models):
        rng = np.random.default_rng(seed)
        X, Y = rng.normal(size=(80, 4)), rng.normal(size=(80, 3))
        scores.append(model.fit(X, with_holes(Y, holes, seed) if holes else Y).held_out_score_)
    return np.mean(scores) <= 3 * np.std(scores, ddof=1) / np.sqrt(len(scores)), np.mean(scores)


@pytest.mark.parametrize("name", OF_NOISE)
def test_noise_scores_nothing(name):
    good, mean = not_positive([clone(OF_NOISE[name]) for _ in range(SEEDS)])
    assert good, mean


CHOSEN = [model for name, model in OF_NOISE.items() if name != "KDR"]  # which has no alpha="cv"


@pytest.mark.parametrize(
    "model", [*CHOSEN, MORP(missing="ridge", **FOLDS)], ids=lambda model: type(model).__name__
)
def test_noise_scores_nothing_where_the_ridge_is_chosen_by_it(model):
    holes = 0.7 if getattr(model, "missing", "error") == "ridge" else 0.0
    models = [clone(model).set_params(alpha="cv") for _ in range(SEEDS // 2)]
    good, mean = not_positive(models, holes=holes)
    assert good, mean


@pytest.mark.parametrize("missing", ["mean", "ridge", "zero"])
def test_noise_with_holes_scores_nothing(missing):
    good, mean = not_positive([MORP(missing=missing, **FOLDS) for _ in range(SEEDS)], holes=0.7)
    assert good, mean


def test_a_good_output_among_noise_is_seen_and_decides():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    Y = rng.normal(size=(300, 20))
    Y[:, 0] = 2 * X[:, 0] + 0.5 * rng.normal(size=300)
    model = COIR(1, "linear", kernel_y="linear", alpha="cv", **FOLDS).fit(X, Y)
    assert model.held_out_scores_[0] > 0.5 and model.held_out_score_ < 0.05
    table = model.cv_results_
    assert_allclose(table["mean_test_score"], table["output_test_scores"].mean(axis=1))
    assert model.held_out_scores_[0] == table["output_test_scores"][:, 0].max()


@pytest.mark.parametrize("kind", [VectorJudge, KernelJudge])
def test_rows_count_by_their_weights_and_copies_are_one_neighbour(kind, monkeypatch):
    monkeypatch.setattr(held_out, "N_NEIGHBOURS", 3)
    rng = np.random.default_rng(0)
    Y, Z = rng.normal(size=(14, 2)), rng.normal(size=(14, 2))
    Z[6], Y[6] = Z[1], Y[1]  # a copy in another place
    Z[[2, 7]] = 50.0  # the same inputs with other outputs are no copies
    counts = rng.integers(1, 4, size=14)
    train, test = np.arange(9), np.arange(9, 14)

    def judge(rows, weights):
        what = Y[rows] if kind is VectorJudge else Y[rows] @ Y[rows].T
        return kind(what, weights).merge_copies(Z[rows])

    groups = judge(np.arange(14), counts).groups
    assert groups[1] == groups[6] and len(set(groups)) == 13
    weighted = judge(np.arange(14), counts).scores(Z, train, test)
    halved = judge(np.arange(14), counts / 2).scores(Z, train, test)
    rows = np.repeat(np.arange(14), counts)
    both = (np.flatnonzero(np.isin(rows, part)) for part in (train, test))
    repeated = judge(rows, None).scores(Z[rows], *both)
    assert_allclose(weighted, repeated, rtol=1e-12)
    assert_allclose(weighted, halved, rtol=1e-12)
    # By hand: the three nearest of eight different samples, row 1 with the weight of its copy.
    sums = counts.astype(float)
    sums[1] += sums[6]
    known = np.delete(train, 6)
    distances = np.linalg.norm(Z[test, None] - Z[known], axis=2)
    near = known[np.argsort(distances, axis=1)[:, :3]]
    assert (near == 1).any()
    guess = np.array([np.average(Y[n], axis=0, weights=sums[n]) for n in near])
    each = "raw_values" if kind is VectorJudge else "variance_weighted"
    oracle = r2_score(Y[test], guess, sample_weight=counts[test], multioutput=each)
    assert_allclose(weighted, oracle, rtol=1e-12)


@pytest.mark.parametrize("output", ["vectors", "kernel"])
def test_a_sample_of_an_exact_fit_is_judged_by_its_own_outputs(monkeypatch, output):
    monkeypatch.setattr(held_out, "SCORE_ROWS", 120)
    X, Y = make(200)
    rows = judged_rows(200, 0)
    if output == "vectors":
        model = KernelSIR(kernel="linear", alpha=1.0, solver="dense", slices="classes", **FOLDS)
        y = classes(Y)
        model.fit(X, y)
        oracle = refitted(SIR(alpha=1.0, slices="classes", **FOLDS), X, y, rows)
        assert_allclose(model.held_out_scores_, oracle, atol=1e-8)
    else:
        model = COIR(kernel="linear", kernel_y="precomputed", solver="dense", alpha=1.0, **FOLDS)
        model.fit(X, Y[:, :2] @ Y[:, :2].T)
        assert model.held_out_score_ > 0.5  # outputs of other rows: below zero


@pytest.mark.parametrize("order", [1, -1])
def test_one_input_with_two_outputs_at_the_last_neighbour_counts_with_both(order):
    """Their distances differ by rounding at most, which must not decide which of them counts."""
    Z = np.concatenate([np.linspace(0.1, 0.9, 9), [1.0, 1.0 + 1e-15], [0.0, 0.05]])[:, None]
    outputs = np.concatenate([np.zeros(9), [3.0, 9.0][::order], [1.0, 2.0]])[:, None]
    judge = VectorJudge(outputs)
    found = judge.scores(Z, np.arange(11), np.array([11, 12]))
    guess = 12.0 / 11.0
    assert_allclose(found, 1 - ((1 - guess) ** 2 + (2 - guess) ** 2) / 0.5)
