"""Oracles of averaged numbers of components: the formula, refits, and a batch that nobody has seen."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.model_selection import KFold

from isthmus import PLS
from isthmus.auto.builders import TREATED_PROCESS_ROWS
from isthmus.auto.ladder import rungs_for
from isthmus.auto.methods.kernel_search import KernelSearch
from isthmus.auto.methods.treated import PathSearch, TreatedSearch, default_treatments
from isthmus.auto.problem import Problem
from isthmus.datasets import load_nir

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 6)) @ rng.normal(size=(6, 6))
Y = X @ rng.normal(size=(6, 2)) + rng.normal(size=(30, 2))
FOLDS = list(KFold(5, shuffle=True, random_state=1).split(X))


def test_averages_are_those_of_refitted_maps():
    search = PathSearch(cv=FOLDS).fit(X, Y)
    unit = Y.std(axis=0)
    left_out = np.zeros((6, *Y.shape))
    for r in range(6):
        for train, test in FOLDS:
            part = PLS(r + 1, scale=False).fit(X[train], Y[train] / unit)
            left_out[r, test] = part.predict(X[test])
    errors = ((left_out - Y / unit) ** 2).mean(axis=1)
    weights = errors ** (-30 / 2) * np.exp(-0.5 * np.arange(6))[:, None]
    weights /= weights.max(axis=0)
    weights[weights < 0.01] = 0.0
    weights /= weights.sum(axis=0)
    fitted = [PLS(r + 1, scale=False).fit(X, Y / unit).predict(X) for r in range(6)]
    assert ((weights > 0).sum(axis=0) > 1).all()  # else there would be no average
    assert_allclose(search.predict(X), unit * np.einsum("rq,rnq->nq", weights, fitted), rtol=1e-7)
    assert_allclose(search.left_out_, unit * np.einsum("rq,rnq->nq", weights, left_out), rtol=1e-7)
    assert_allclose(search.best_params_["n_components"], weights.argmax(axis=0) + 1)


@pytest.mark.parametrize(("n", "rank"), [(38, 6), (400, 20)])
def test_a_second_dip_counts_where_the_rows_are_sure_of_it(n, rank):
    errors = np.full(25, 2.0)
    errors[5], errors[19] = 1.0, 0.8
    squares = np.tile(errors[:, None, None], (1, n, 1))
    weights = PathSearch()._rank_weights(squares)
    assert weights[:, 0].argmax() + 1 == rank and weights[rank - 1, 0] > 0.9


def test_fewest_components_within_one_standard_error():
    squares = np.abs(np.random.default_rng(1).normal(size=(4, 50, 1)))
    squares[0] += 5.0
    squares[2] = squares[1] - 0.01  # the best by less than the rows scatter
    weights = PathSearch(rule="one_se")._rank_weights(squares)
    assert_allclose(weights[:, 0], [0, 1, 0, 0])


def test_a_second_batch_of_dough_is_predicted():
    """Trained on the first batch, judged on the second: published PLS has 0.58 and 0.38.

    The ranks with the least error of left-out rows, 19 to 25 of 38 rows, have 1.2 and 2.1.
    """
    dough = load_nir("dough")
    A, B = dough.data[:, 140:-49:2], dough.target
    train = np.delete(dough.train_index, 22)
    test = np.delete(np.setdiff1d(np.arange(len(A)), dough.train_index), 20)
    folds = KFold(5, shuffle=True, random_state=0)
    search = TreatedSearch(PathSearch(), default_treatments(), cv=folds).fit(A[train], B[train])
    errors = ((search.predict(A[test]) - B[test]) ** 2).mean(axis=0)
    assert (errors < [0.2, 0.9, 0.5, 0.1]).all()


@pytest.mark.parametrize("n", [TREATED_PROCESS_ROWS - 1, TREATED_PROCESS_ROWS])
def test_processes_on_treated_curves_need_rows(n):
    curves = Problem(n, 200, 1, scale=False, treatments=default_treatments())
    names = [rung.name for rung in rungs_for("auto", curves)]
    assert "process" in names and ("treated_process" in names) == (n >= 100)
    assert "treated_process" not in [rung.name for rung in rungs_for("auto", Problem(n, 20, 1))]


@pytest.mark.parametrize(
    ("n", "twice", "varies"), [(49, False, False), (49, True, False), (50, False, True)]
)
def test_widths_per_input_need_fifty_rows_that_differ(n, twice, varies):
    """One input of four counts: a width for each finds it wherever it is allowed."""
    draw = np.random.default_rng(2)
    A = draw.normal(size=(n, 4))
    b = np.sin(3 * A[:, 0])
    A, b = (np.vstack([A, A]), np.tile(b, 2)) if twice else (A, b)
    scaler = KernelSearch("rbf", cv=5).fit(A, b).best_estimator_[0]
    factors = A.std(axis=0) / scaler.scale_
    assert (factors[0] > 3 * factors[1:].max()) == varies
