"""Law: every road to a map has the digits that its data have, or says how many it has.

Oracle: the same maps in extended precision (benchmarks/_extended.py), and how far one unit in the last
place of the data moves them. docs/accuracy.md is the table of the same figures.
"""

import importlib.util
import sys
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import KFold

from isthmus import PCR, PLS, ManifoldPLS, Moments, ReducedRankRegression, StiefelRegression
from isthmus.problems import CheckedRows, GramForm, MomentForm, RowForm, Split
from isthmus.problems.rows import off
from isthmus.regression.crossval import fold_tasks

_FILE = Path(__file__).parents[1] / "benchmarks" / "_extended.py"
_SPEC = importlib.util.spec_from_file_location("_extended", _FILE)
extended = importlib.util.module_from_spec(_SPEC)
sys.modules["_extended"] = extended  # its dataclasses look themselves up
_SPEC.loader.exec_module(extended)

pytestmark = pytest.mark.skipif(not extended.HAS_EXTENDED, reason="no extended precision here")

ROWS, GRAM = 100.0, 1000.0
"""Largest backward errors in units of eps: from rows, and where a Gram matrix may be used."""

RIDGE = 3e4
"""The same for a ridge of 1e-6 ||X||^2 with n < p, from the Gram matrix whatever the condition of X.

Its rounding errors, a few eps ||X||^2, are divided by the ridge. Moments go on with the rows there."""

K = 6
CONDITIONS = [1e0, 1e2, 1e4, 1e8, 1e11, 1e14]
SHAPES = {"tall": (30, 8, 2), "one output": (30, 8, 1), "wide": (10, 24, 2)}
MODELS = {
    "PCR": (PCR(K), extended.pcr(K)),
    "NIPALS": (PLS(K, algorithm="nipals", scale=False), extended.pls(K)),
    "NIPALS, all": (PLS(None, algorithm="nipals", scale=False), extended.pcr(24)),
    "SIMPLS": (PLS(K, algorithm="simpls", scale=False), extended.pls(K, simpls=True)),
    "SIMPLS, all": (PLS(None, algorithm="simpls", scale=False), extended.pcr(24)),
    "kernel PLS": (PLS(K, algorithm="kernel", scale=False), extended.pls(K)),
    "scaled PLS": (PLS(K), extended.pls(K)),
    "reduced rank": (ReducedRankRegression(1, alpha=0.0), extended.reduced_rank(1)),
    "ridge": (ReducedRankRegression(), extended.reduced_rank(9, 1e-6)),
    "Stiefel": (StiefelRegression(1, alpha=0.0), extended.reduced_rank(1)),
    "manifold PLS": (ManifoldPLS(1, alpha=0.0), extended.reduced_rank(1)),
}


@cache
def problem(shape, condition, mean=0.0, weights=None):
    X, Y = extended.falling_spectrum(*SHAPES[shape], condition, mean=mean)
    if weights is not None:
        spread = 10.0 ** np.random.default_rng(1).uniform(-2, 2, len(X))
        weights = weights * spread
    return extended.Problem(X, Y, weights)


@cache
def reference(name, *arguments):
    estimator, exact = MODELS[name]
    return problem(*arguments).reference(exact, estimator.scale)


def error_of(name, fit, *arguments):
    """Backward error of what ``fit`` makes of an unfitted model; zero if digits were warned of."""
    model, data = clone(MODELS[name][0]), problem(*arguments)
    if name == "ridge":
        w = np.ones(len(data.X)) if data.weights is None else data.weights
        centred = np.sqrt(w)[:, None] * (data.X - np.average(data.X, axis=0, weights=w))
        model.set_params(alpha=1e-6 * np.linalg.norm(centred, 2) ** 2)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        fit(model, data)
    if any("digits" in str(warning.message) for warning in said):
        return 0.0
    predictions = model.predict(data.X).reshape(data.Y.shape)
    return reference(name, *arguments).error(predictions, np.atleast_2d(model.coef_).T)


# -- roads ------------------------------------------------------------------------------------


def from_form(form):
    def fit(model, data):
        model._cheapest_form = lambda *_: form
        model.fit(data.X, data.Y, sample_weight=data.weights)

    return fit


def weights_of(data, rows):
    return None if data.weights is None else data.weights[rows]


def add_rows(model, data, rows):
    model.partial_fit(data.X[rows], data.Y[rows], weights_of(data, rows))


def from_blocks(model, data):
    for rows in np.array_split(np.arange(len(data.X)), 4):
        add_rows(model, data, rows)


def from_merged(model, data):
    first, middle, last = np.array_split(np.arange(len(data.X)), 3)
    add_rows(model, data, first)
    part = Moments.from_data(data.X[middle], data.Y[middle], weights_of(data, middle))
    model.moments_ = model.moments_.merge(part)
    add_rows(model, data, last)


def from_subtracted(model, data):
    """CheckedRows of the same kind are taken in, and away again."""
    first, last = np.array_split(np.arange(len(data.X)), 2)
    extra = data.X[first][::-1] * [[-1.0]], data.Y[first] + 1.0, weights_of(data, first)
    add_rows(model, data, first)
    model.partial_fit(*extra)
    model.moments_ = model.moments_.subtract(Moments.from_data(*extra))
    add_rows(model, data, last)


def from_sparse(model, data):
    model.fit(sparse.csr_array(data.X), data.Y, sample_weight=data.weights)


MOMENT_ROADS = {
    "blocks": from_blocks,
    "merged": from_merged,
    "subtracted": from_subtracted,
    "sparse": from_sparse,
}


# -- the law ----------------------------------------------------------------------------------


@pytest.mark.parametrize("condition", CONDITIONS, ids="{:.0e}".format)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", MODELS)
def test_rows(name, shape, condition):
    assert error_of(name, from_form(RowForm), shape, condition) < ROWS


@pytest.mark.parametrize("condition", CONDITIONS, ids="{:.0e}".format)
@pytest.mark.parametrize(("shape", "form"), [("tall", MomentForm), ("wide", GramForm)])
@pytest.mark.parametrize("name", [name for name in MODELS if "SIMPLS" not in name])
def test_gram_matrices(name, shape, form, condition):
    bound = RIDGE if (name, shape) == ("ridge", "wide") else GRAM
    assert error_of(name, from_form(form), shape, condition) < bound


@pytest.mark.parametrize("road", MOMENT_ROADS)
@pytest.mark.parametrize("condition", CONDITIONS, ids="{:.0e}".format)
@pytest.mark.parametrize("shape", ["tall", "wide"])
@pytest.mark.parametrize("name", MODELS)
def test_moments(name, shape, condition, road):
    # Rows that were taken away again leave their rounding errors in the sums.
    tiny_ridge = (name, shape, road) == ("ridge", "wide", "subtracted")
    bound = RIDGE if tiny_ridge else GRAM
    assert error_of(name, MOMENT_ROADS[road], shape, condition) < bound


@pytest.mark.parametrize("mean", [1e5, 1e10])
@pytest.mark.parametrize("road", ["rows", "blocks", "merged"])
@pytest.mark.parametrize("name", MODELS)
def test_far_means(name, road, mean):
    fit = from_form(RowForm) if road == "rows" else MOMENT_ROADS[road]
    assert error_of(name, fit, "tall", 10.0, mean) < GRAM


@pytest.mark.parametrize("weights", [1e-300, 1.0, 1e300])
@pytest.mark.parametrize("road", ["rows", "blocks", "merged"])
@pytest.mark.parametrize("name", [name for name in MODELS if name != "ridge"])
def test_weights(name, road, weights):
    fit = from_form(RowForm) if road == "rows" else MOMENT_ROADS[road]
    assert error_of(name, fit, "tall", 1e2, 0.0, weights) < GRAM


@pytest.mark.parametrize("form", [RowForm, MomentForm, GramForm])
@pytest.mark.parametrize("condition", [1e2, 1e8, 1e14], ids="{:.0e}".format)
@pytest.mark.parametrize("shape", ["tall", "wide"])
@pytest.mark.parametrize("name", ["PCR", "NIPALS", "SIMPLS", "scaled PLS", "reduced rank"])
def test_folds(name, shape, condition, form):
    """What a search predicts for the rows it leaves out is what the other rows say."""
    if name == "SIMPLS" and form is GramForm:
        pytest.skip("kernel PLS is NIPALS")
    estimator, exact = clone(MODELS[name][0]), MODELS[name][1]
    data = problem(shape, condition)
    splits = [Split(*split, len(data.X)) for split in KFold(5).split(data.X)]
    estimator._fold_form = lambda *_: form
    alphas = [0.0] if estimator._ridge_path else [None]
    rows = CheckedRows(data.X, data.Y, None)
    tasks = fold_tasks(estimator, rows, splits, estimator.n_components, alphas)
    seen = 0
    for i, (path,) in (found for task in tasks for found in task()):
        if i:
            continue  # one fold tells as much as five
        train, test = splits[i].train, splits[i].test
        left = extended.Problem(data.X[train], data.Y[train])
        truth = left.reference(exact, estimator.scale, at=data.X[test])
        assert truth.error(path.predict(estimator.n_components)) < GRAM
        seen += 1
    assert seen == 1


# -- the cases that led to it -----------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["nipals", "simpls", "kernel"])
def test_fourteen_components_of_a_vandermonde_matrix(algorithm):
    x = np.linspace(0, 1, 60)
    X, y = np.vander(x, 15, increasing=True)[:, 1:], np.sin(8 * x)
    with pytest.warns(UserWarning, match="only 1[0-3] components exist"):
        model = PLS(14, algorithm=algorithm).fit(X, y)
    assert model.score(X, y) > 1 - 1e-9


@pytest.mark.parametrize("algorithm", ["nipals", "simpls", "kernel"])
@pytest.mark.parametrize("condition", [1e8, 1e10])
def test_all_components_are_least_squares(algorithm, condition):
    X, Y = extended.falling_spectrum(200, 30, 2, condition)
    model = PLS(None, algorithm=algorithm, scale=False).fit(X, Y)
    A = np.column_stack([X, np.ones(200)])
    truth = A @ np.linalg.lstsq(A, Y, rcond=1e-15)[0]
    assert model.n_components_ == 30
    assert np.abs(model.predict(X) - truth).max() < 10 * condition * extended.EPS


def test_a_form_says_that_it_lacks_digits():
    model = PLS(8, scale=False)
    for condition, has_digits in [(1e8, False), (1e4, False), (10.0, True)]:
        data = problem("tall", condition)
        form = MomentForm.from_rows(data.X, data.Y, None, False)
        assert (model._solve(form, 8)[0] is form) == has_digits
        exact = form.exactly()
        assert model._solve(exact, 8)[0] is exact


@pytest.mark.parametrize("algorithm", ["nipals", "simpls"])
def test_scores_are_orthogonal_whatever_the_condition(algorithm):
    data = problem("tall", 1e11)
    model = PLS(8, algorithm=algorithm, scale=False)
    _, factors = model._solve(RowForm.from_rows(data.X, data.Y, None, False), 8)
    T = factors.scores / np.linalg.norm(factors.scores, axis=0)
    assert np.abs(T.T @ T - np.eye(8)).max() < 1e-13


def test_a_vector_that_all_but_vanishes_is_made_orthogonal_twice():
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(30, 5)))[0].T
    v = rng.normal(size=5) @ basis + 1e-10 * rng.normal(size=30)
    left, overlaps = off(v, basis)
    assert np.abs(basis @ left).max() < 1e-14 * np.linalg.norm(left)  # 1e-6 after one round
    assert np.abs(left + overlaps @ basis - v).max() < 1e-14
