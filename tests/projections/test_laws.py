"""Laws of the projections: units, shifts, order and copies of rows change nothing but what says so.

A projection joins by being in ``LAWFUL``. Exceptions are listed by name, with the reason.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from isthmus import projections
from isthmus.projections import COIR, KDR, MORP, SIR, KernelCCA, KernelSIR

LAWFUL = {
    "SIR": SIR(cv=5, random_state=0),
    "KernelSIR": KernelSIR(cv=5, random_state=0),
    "COIR": COIR(cv=5, random_state=0),
    "KernelCCA": KernelCCA(cv=5, random_state=0),
    "MORP": MORP(cv=5, random_state=0),
    "KDR": KDR(max_iter=0, random_state=0),
}
# Docstrings: "Several outputs are compared in their own units".
GO_BY_UNITS = {
    name: "a kernel of several outputs compares them as they are"
    for name in ("COIR", "KernelCCA", "MORP", "KDR")
}


def make(q=3, n=90, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    T = X @ rng.normal(size=(4, 2))
    Y = np.column_stack([T, np.tanh(T[:, 0])])[:, :q] + 0.2 * rng.normal(size=(n, q))
    return X, Y if q > 1 else Y[:, 0]


X, Y = make()
y = make(1)[1]
NEW = make(seed=1)[0]


def agree(a, b, tol=1e-6):
    """Coordinates of new rows, in units of their spread: each is known up to a sign of its own."""
    a, b = a / a.std(axis=0), b / b.std(axis=0)
    signs = np.sign((a * b).sum(axis=0))
    assert_allclose(a, b * signs, atol=tol)


def same(one, other, tol=1e-6, scores=True, new=NEW, new_other=NEW):
    agree(one.transform(new), other.transform(new_other), tol)
    if scores and one.held_out_scores_ is not None:
        assert_allclose(other.held_out_scores_, one.held_out_scores_, atol=1e-6)


def fit(name, A, B, **options):
    return clone(LAWFUL[name]).set_params(**options).fit(A, B)


def test_every_projection_is_here():
    assert LAWFUL.keys() == set(projections.__all__)


@pytest.mark.parametrize("name", LAWFUL)
class TestEachProjection:
    @pytest.mark.parametrize("unit", [1e-6, 1e-3, 1e3, 1e6])
    def test_the_unit_of_the_only_output(self, name, unit):
        same(fit(name, X, y), fit(name, X, unit * y))

    @pytest.mark.parametrize("unit", [1e-6, 1e6])
    def test_the_unit_of_one_of_several_outputs(self, name, unit):
        one, other = fit(name, X, Y), fit(name, X, Y * [1.0, unit, 1.0])
        if name not in GO_BY_UNITS:
            same(one, other)
            return
        assert "Several outputs are compared in their own units" in type(one).__doc__
        standard = [fit(name, X, B / B.std(axis=0)) for B in (Y, Y * [1.0, unit, 1.0])]
        same(*standard)

    @pytest.mark.parametrize("unit", [1e-4, 1e4])
    def test_the_common_unit_of_the_inputs(self, name, unit):
        same(fit(name, X, y), fit(name, unit * X, y), new_other=unit * NEW)

    def test_shifts(self, name):
        same(fit(name, X, Y), fit(name, X + 5, Y - [3, 0, 40]), tol=1e-5, new_other=NEW + 5)

    def test_the_order_of_columns(self, name):
        one, other = fit(name, X, Y), fit(name, X[:, ::-1], Y[:, [2, 0, 1]])
        same(one, other, scores=False, new_other=NEW[:, ::-1], tol=1e-5)
        if one.held_out_scores_ is not None:
            assert_allclose(other.held_out_scores_, one.held_out_scores_[[2, 0, 1]], atol=1e-6)

    def test_the_order_of_rows(self, name):
        rows = np.random.default_rng(3).permutation(len(X))
        same(fit(name, X, Y), fit(name, X[rows], Y[rows]), tol=1e-5)

    def test_every_row_twice(self, name):
        twice = np.repeat(np.arange(len(X)), 2)
        for B in (y, Y):
            same(fit(name, X, B), fit(name, X[twice], B[twice]), tol=1e-5)

    @pytest.mark.parametrize("alpha", ["auto", "cv"])
    def test_noisy_rows_in_any_order_with_weights_or_copies(self, name, alpha):
        """Fewer rows than inputs, copies among them; a common factor of weights changes nothing."""
        model = clone(LAWFUL[name])
        if alpha == "cv" and name == "KDR":
            pytest.skip("KDR has no alpha='cv'")
        model.set_params(alpha=alpha)
        rng = np.random.default_rng(6)
        A, B = rng.normal(size=(50, 60)), rng.normal(size=(50, 3))
        B += 2 * A[:, :3]
        A[40:44], B[40:43] = A[:4], B[:3]  # the last with other outputs
        counts = rng.integers(0, 3, size=50)
        order, rows = rng.permutation(50), np.repeat(np.arange(50), counts)
        new = rng.normal(size=(30, 60))
        one, weighted = clone(model).fit(A, B), clone(model).fit(A, B, sample_weight=counts)
        same(one, clone(model).fit(A[order], B[order]), 1e-5, new=new, new_other=new)
        for other in (clone(model).fit(A[rows], B[rows]),
                      clone(model).fit(A, B, sample_weight=1e-3 * counts)):  # fmt: skip
            same(weighted, other, 1e-5, new=new, new_other=new)


@pytest.mark.parametrize("name", ["SIR", "KernelSIR", "COIR", "KernelCCA", "MORP"])
def test_copies_weights_and_their_factor_choose_the_same_ridge(name):
    """Folds are given, with all copies of a row in one of them."""
    counts = np.random.default_rng(2).integers(1, 4, size=len(X))
    folds = np.arange(len(X)) % 3
    rows = np.repeat(np.arange(len(X)), counts)

    def search(places, weights):
        cv = [
            tuple(np.flatnonzero((folds[places] == k) == own) for own in (0, 1)) for k in range(3)
        ]
        model = clone(LAWFUL[name]).set_params(cv=cv, alpha="cv")
        return model.fit(X[places], y[places], sample_weight=weights)

    copies = search(rows, None)
    for factor in (1.0, 1e-5, 1e250):
        weighted = search(np.arange(len(X)), factor * counts)
        for model in (copies, weighted):
            assert len(set(model.cv_results_["mean_test_score"].round(9))) > 3
        assert_allclose(
            weighted.cv_results_["mean_test_score"],
            copies.cv_results_["mean_test_score"],
            atol=1e-8,
        )
        same(weighted, copies)
