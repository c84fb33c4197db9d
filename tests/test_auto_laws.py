"""Laws of the ladder: units, order and names of columns and rows decide nothing.

A rung joins by being in ``LADDER``. What is checked of each: the settings it chooses, the R2 of each output
in rows left out, and its predictions. Exceptions are listed by name, with the reason.
"""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold

from isthmus import ComponentSearchCV, MethodSearchCV, fit_auto
from isthmus.auto.ladder import LADDER
from isthmus.auto.methods.kernel_search import KernelSearch
from isthmus.auto.methods.stages import RobustSearch
from isthmus.auto.problem import Problem
from isthmus.regression import ReducedRankRegression

UNITS = [1e-6, 1e-3, 1e3, 1e6]
RUNGS = {rung.name: rung for rung in LADDER}
# Relative to the spread of an output; iterations stop at 1e-7 of their objective, and so do not end at the
# same digit from other rounding.
CLOSED, ITERATED = 1e-8, 1e-5
# With fewer rows than columns errors of wide kernels tie up to rounding, and their ridge weights differ.
LOOSE = dict.fromkeys(("kernel", "rough_kernel", "chain"), 0.01)
LOOSE |= dict.fromkeys(("process", "treated_process", "log_process"), 1e-3)  # means over all noises
# What does not obey, and why.
COUNTS_TWINS = {
    "process": "the evidence of twice as many rows is the more certain",
    "treated_process": "the evidence of twice as many rows is the more certain",
    "log_process": "the evidence of twice as many rows is the more certain",
    "trees": "a leaf has a least number of rows",
    "boosting": "a leaf has a least number of rows",
}
KNOWS_ZERO = {"log_process": "logarithms are of ratios, which a shift changes"}
TAKES_NO_WEIGHTS = {"stiefel": "a robust loss is fitted without weights"}


def make(n=48, p=4, q=3, seed=0):
    """A map of rank two, bent, with noise that differs by output, and a few wild cells."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    Z = X @ rng.normal(size=(p, 2))
    Y = np.column_stack([Z, np.sin(Z)]) @ rng.normal(size=(4, q)) + 3
    Y += [0.1, 0.5, 0.2] * rng.normal(size=Y.shape)
    Y[::16] += 6 * rng.normal(size=Y[::16].shape)
    return X, Y


X, Y = make()
FOLDS = [(train, test) for train, test in KFold(4).split(X)]
TEST = make(seed=1)[0]


def rung_fit(name, scale, A, B, folds=FOLDS):
    """A rung as the ladder builds it, with the folds given."""
    problem = Problem(len(A), A.shape[1], B.shape[1], scale=scale, cv=folds)
    return RUNGS[name].build(problem).fit(A, B)


def outputs_for(name):
    """The outputs, or positive ones for a rung that takes no others."""
    return np.exp(Y / 5) if name in KNOWS_ZERO else Y


@cache
def as_it_is(name, scale):
    return rung_fit(name, scale, X, outputs_for(name))


def tolerance(name):
    return ITERATED if name == "stiefel" else CLOSED


def settings(search):
    """Choices that no unit may move; a ridge weight is relative to the inputs, which are the same."""
    return search.best_params_


def assert_same_settings(a, b, rtol=1e-6, skip=()):
    assert a.keys() == b.keys()
    for key in a.keys() - set(skip):
        assert_allclose(a[key], b[key], rtol=rtol, err_msg=key)


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("name", RUNGS)
class TestEachRung:
    @pytest.mark.parametrize("unit", UNITS)
    def test_the_unit_of_one_output(self, name, scale, unit):
        Y = outputs_for(name)
        factor = np.array([1.0, unit, 1.0])
        one, other = as_it_is(name, scale), rung_fit(name, scale, X, Y * factor)
        assert_same_settings(settings(one), settings(other))
        spread = Y.std(axis=0)
        difference = (other.predict(TEST) / factor - one.predict(TEST)) / spread
        assert np.abs(difference).max() < tolerance(name)
        fitted = [
            r2_score(Y * f, m.predict(X), multioutput="raw_values")
            for m, f in ((one, 1), (other, factor))
        ]
        assert_allclose(fitted[0], fitted[1], atol=1e-6)

    def test_the_common_unit_of_the_inputs(self, name, scale):
        Y = outputs_for(name)
        one, other = as_it_is(name, scale), rung_fit(name, scale, 1e4 * X, Y)
        # Without scaling a ridge weight is in squared units of X and a kernel's width in their inverse.
        assert_same_settings(
            settings(one), settings(other), skip=() if scale else ("alpha", "gamma")
        )
        difference = (other.predict(1e4 * TEST) - one.predict(TEST)) / Y.std(axis=0)
        assert np.abs(difference).max() < tolerance(name)

    def test_shifts_shift(self, name, scale):
        if name in KNOWS_ZERO:
            pytest.skip(KNOWS_ZERO[name])
        shift = np.array([50.0, 0.0, 3.0])
        one, other = as_it_is(name, scale), rung_fit(name, scale, X + 7, Y - shift)
        assert_same_settings(settings(one), settings(other))
        difference = (other.predict(TEST + 7) + shift - one.predict(TEST)) / Y.std(axis=0)
        assert np.abs(difference).max() < tolerance(name)

    def test_every_row_twice(self, name, scale):
        if name in COUNTS_TWINS:
            pytest.skip(COUNTS_TWINS[name])
        twice = np.repeat(np.arange(len(X)), 2)
        folds = [tuple(np.flatnonzero(np.isin(twice, part)) for part in fold) for fold in FOLDS]
        one, other = as_it_is(name, scale), rung_fit(name, scale, X[twice], Y[twice], folds)
        assert_same_settings(settings(one), settings(other), skip=("alpha",))
        if "alpha" in settings(one):  # a ridge weight counts rows
            assert_allclose(settings(other)["alpha"], 2 * settings(one)["alpha"], rtol=0.05)
        difference = (other.predict(TEST) - one.predict(TEST)) / Y.std(axis=0)
        assert np.abs(difference).max() < tolerance(name)

    @pytest.mark.parametrize("what", ["inputs", "outputs", "rows"])
    def test_another_order(self, name, scale, what):
        Y = outputs_for(name)
        rng = np.random.default_rng(3)
        inputs, outputs, rows = np.arange(X.shape[1]), np.arange(Y.shape[1]), np.arange(len(X))
        for order, chosen in ((inputs, "inputs"), (outputs, "outputs"), (rows, "rows")):
            if what == chosen:
                rng.shuffle(order)
        place = np.argsort(rows)
        folds = [(place[train], place[test]) for train, test in FOLDS]
        one = as_it_is(name, scale)
        other = rung_fit(name, scale, X[rows][:, inputs], Y[rows][:, outputs], folds)
        by_output = {key: value for key, value in settings(one).items()}
        for key, value in by_output.items():
            if np.size(value) == Y.shape[1]:  # a choice for each output
                by_output[key] = value[outputs]
        assert_same_settings(by_output, settings(other))
        difference = other.predict(TEST[:, inputs]) - one.predict(TEST)[:, outputs]
        assert np.abs(difference / Y.std(axis=0)[outputs]).max() < tolerance(name)


def noisy(name):
    """Fewer rows than columns, much noise, and copies among the rows, one with other outputs."""
    rng = np.random.default_rng(7)
    A = rng.normal(size=(60, 70))
    B = A[:, :2] @ rng.normal(size=(2, 3)) + 2 * rng.normal(size=(60, 3))
    A[50:55], B[50:54] = A[:5], B[:4]
    return A, np.exp(B / 5) if name in KNOWS_ZERO else B, 0.5 * rng.normal(size=(30, 70))


@pytest.mark.parametrize("name", RUNGS)
def test_noisy_rows_in_any_order_with_weights_or_copies(name):
    """Folds, outer and inner, are the search's own; iterated choices end within their tolerance."""
    A, B, new = noisy(name)
    rng = np.random.default_rng(8)
    order, counts = rng.permutation(60), rng.integers(0, 3, size=60)
    copies = rng.permutation(np.repeat(np.arange(60), counts))

    def answer(A, B, weights=None):
        search = MethodSearchCV([name]).fit(A, B, sample_weight=weights)
        return np.append(search.predict(new), search.best_score_)

    assert_allclose(
        answer(A[order], B[order]), answer(A, B), rtol=0, atol=LOOSE.get(name, ITERATED)
    )
    if name in TAKES_NO_WEIGHTS:
        return
    weighted = answer(A, B, counts * 1.0)
    for other, exempt in (((A, B, counts * 1e-4), ()), ((A[copies], B[copies]), COUNTS_TWINS)):
        if name not in exempt:
            assert_allclose(answer(*other), weighted, rtol=0, atol=LOOSE.get(name, ITERATED))


# -- the whole ladder ----------------------------------------------------------------------------


def fold_scores(search):
    results = search.cv_results_
    return np.array([results[f"split{i}_test_score"] for i in range(search.n_splits_)])


def output_scores(search, B):
    done = np.isfinite(search.cv_predictions_).all(axis=1)
    return r2_score(B[done], search.cv_predictions_[done], multioutput="raw_values")


@pytest.fixture(scope="module")
def whole():
    return MethodSearchCV(cv=FOLDS[:2], scale=True).fit(X, Y)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_the_choice_of_a_method_knows_no_units(whole, unit):
    factor = np.array([1.0, 1.0, unit])
    other = MethodSearchCV(cv=FOLDS[:2], scale=True).fit(X, Y * factor)
    assert other.best_method_ == whole.best_method_
    # Widths per input are iterated, and the weights of methods that nearly agree follow the last digits.
    assert_same_settings(whole.best_params_, other.best_params_, rtol=100 * ITERATED)
    assert_allclose(fold_scores(other), fold_scores(whole), atol=ITERATED)
    assert_allclose(output_scores(other, Y * factor), output_scores(whole, Y), atol=ITERATED)


def test_the_choice_of_a_method_knows_no_order_of_columns(whole):
    other = MethodSearchCV(cv=FOLDS[:2], scale=True).fit(X[:, ::-1], Y[:, [2, 0, 1]])
    assert other.best_method_ == whole.best_method_
    assert_same_settings(whole.best_params_, other.best_params_, rtol=100 * ITERATED)
    assert_allclose(fold_scores(other), fold_scores(whole), atol=ITERATED)
    shown = output_scores(other, Y[:, [2, 0, 1]]), output_scores(whole, Y)[[2, 0, 1]]
    assert_allclose(*shown, atol=ITERATED)


def test_the_choice_of_a_method_knows_no_order_of_rows():
    one = MethodSearchCV().fit(X, Y)
    order = np.random.default_rng(4).permutation(len(X))
    other = MethodSearchCV().fit(X[order], Y[order])
    assert other.best_method_ == one.best_method_
    assert_allclose(fold_scores(other), fold_scores(one), atol=10 * ITERATED)


def test_names_of_columns_say_nothing():
    """But that they are numbers in order, by which a curve is known: ``scale="auto"`` says so."""
    names = [list("abcd"), ["zz", "y1", "x", "w"]]
    fits = [
        fit_auto(
            pd.DataFrame(X, columns=own),
            pd.DataFrame(Y, columns=own[:3]),
            cv=3,
            methods=["pls", "ridge"],
        )
        for own in names
    ]
    assert fits[0].best_method_ == fits[1].best_method_
    assert_allclose(fold_scores(fits[0]), fold_scores(fits[1]), rtol=0)


def test_few_rows_are_scored_without_units():
    """Fewer than twenty rows: the inner folds go by squared errors, of two or three rows each."""
    A, B = X[:16], Y[:16]
    for name in ("pls", "reduced_rank"):
        fits = [
            RUNGS[name].build(Problem(16, 4, 3, scale=True)).fit(A, B * [1, 1, u]) for u in (1, 1e5)
        ]
        assert_same_settings(settings(fits[0]), settings(fits[1]))
        assert_allclose(fits[0].best_score_, fits[1].best_score_)


def test_a_kernel_rung_finds_both_outputs_whatever_their_units():
    """The case that was found: one output times a thousand, and the other was lost."""
    rng = np.random.default_rng(0)
    A = rng.uniform(-2, 2, size=(120, 2))
    B = np.column_stack([np.sin(2 * A[:, 0]) * A[:, 1], np.cos(3 * A[:, 0])])
    B += 0.05 * rng.normal(size=B.shape)
    scores = []
    for factor in ([1, 1], [1, 1000], [1000, 1]):
        search = MethodSearchCV("kernel", cv=3).fit(A, B * factor)
        scores.append(output_scores(search, B * factor))
    assert min(scores[0]) > 0.85
    assert_allclose(scores[1], scores[0], atol=1e-6)
    assert_allclose(scores[2], scores[0], atol=1e-6)


@pytest.mark.parametrize("search", [RobustSearch(cv=FOLDS), KernelSearch(cv=FOLDS)], ids=repr)
def test_searches_of_one_output(search):
    """Vectors and columns are one thing, and so are their units."""
    flat, column = search.fit(X, Y[:, 0]).predict(TEST), search.fit(X, Y[:, :1]).predict(TEST)
    assert flat.shape == (len(TEST),)
    assert_allclose(np.ravel(column), flat, rtol=1e-6)
    assert_allclose(search.fit(X, 1e6 * Y[:, 0]).predict(TEST), 1e6 * flat, rtol=1e-4)


def test_leave_one_out_knows_no_units():
    grid = {"n_components": 3, "alpha": [0.01, 1.0, 100.0], "cv": len(X)}
    fits = [
        ComponentSearchCV(ReducedRankRegression(scale="y"), **grid).fit(X, Y * [1, 1, u])
        for u in (1, 1e6)
    ]
    assert fits[0].best_params_ == fits[1].best_params_
    assert_allclose(fits[0].best_score_, fits[1].best_score_, rtol=1e-9)


@pytest.mark.parametrize("method", ["kernel", "pls", "ridge"])
def test_a_category_of_one_row_alone_is_not_known_without_it(method):
    """As if categories were encoded inside the folds: the column says nothing about its only row."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    y = np.sin(2 * X[:, 0]) + X[:, 1]
    alone = np.zeros((40, 1))
    alone[7] = 1.0
    plain, wide = (
        MethodSearchCV(methods=method, cv=5, random_state=0, verbose=0).fit(rows, y)
        for rows in (X, np.hstack([X, alone]))
    )
    assert_allclose(wide.cv_predictions_[7], plain.cv_predictions_[7], rtol=1e-7)
