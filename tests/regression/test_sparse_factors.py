"""Oracles: plain proximal gradients, MultiTaskLasso, the gap written a second time, planted inputs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso, MultiTaskLasso
from sklearn.utils.estimator_checks import parametrize_with_checks

from isthmus import PLS
from isthmus.datasets import make_spectra
from isthmus.model_selection import selection_frequencies
from isthmus.regression import SparseFactors, sparse_factors
from isthmus.regression.sparse_factors import _newton_step


def make(n=50, p=30, q=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(2, 1, size=(n, p)) + 0.5 * rng.normal(size=(n, 1))
    B = rng.normal(size=(3, 2)) @ rng.normal(size=(2, q))
    return X, X[:, [2, 9, 17]] @ B + 0.3 * rng.normal(size=(n, q)) - 4


def standard(rows):
    return (rows - rows.mean(axis=0)) / rows.std(axis=0)


def proximal_gradient(X, Y, penalty, n_steps=20_000):
    A, step = np.zeros((X.shape[1], Y.shape[1])), 1 / np.linalg.norm(X, 2) ** 2
    for _ in range(n_steps):
        A = A - step * X.T @ (X @ A - Y)
        lengths = np.linalg.norm(A, axis=1, keepdims=True)
        A = A * np.maximum(0, 1 - step * penalty / np.maximum(lengths, 1e-300))
    return A


def test_full_rank_is_the_group_lasso_of_other_solvers():
    X, Y = make()
    Z, S = standard(X), standard(Y)
    model = SparseFactors(penalty=0.2, tol=1e-10).fit(X, Y)
    penalty = 0.2 * np.linalg.norm(Z.T @ S, axis=1).max()
    slow = proximal_gradient(Z, S, penalty, 5000)
    found = (model.coef_ / Y.std(axis=0)[:, None]).T * X.std(axis=0)[:, None]
    assert_allclose(found, slow, atol=1e-6)
    peer = MultiTaskLasso(penalty / len(Z), tol=1e-10, max_iter=100_000).fit(Z, S)
    assert_allclose(found, peer.coef_.T, atol=1e-6)
    assert_array_equal(model.selected_, (slow != 0).any(axis=1))


def test_the_gap_bounds_the_distance_from_the_minimum():
    X, Y = make()
    Z, S = standard(X), standard(Y)
    model = SparseFactors(penalty=0.1, tol=1e-3, n_penalties=6).fit(X, Y)
    assert model.gap_path_.max() <= 1e-3
    largest = np.linalg.norm(Z.T @ S, axis=1).max()

    def value(A, penalty):
        return 0.5 * ((S - Z @ A) ** 2).sum() + penalty * np.linalg.norm(A, axis=1).sum()

    for share, coef, gap in zip(model.penalties_, model.coef_path_, model.gap_path_, strict=True):
        A = (coef / Y.std(axis=0)[:, None]).T * X.std(axis=0)[:, None]
        best = value(proximal_gradient(Z, S, share * largest, 3000), share * largest)
        excess = (value(A, share * largest) - best) / (0.5 * (S**2).sum())
        assert -1e-9 <= excess <= gap + 1e-12
    assert not model.coef_path_[0].any()  # the largest penalty uses no input


@pytest.mark.parametrize("seed", [0, 1])
def test_low_rank_is_a_stationary_pair(seed):
    """A solves its lasso for V, V is the best for A, and no start of an alternation is better."""
    X, Y = make(seed=seed)
    Z, S = standard(X), standard(Y)
    model = SparseFactors(2, penalty=0.15, tol=1e-9).fit(X, Y)
    B = (model.coef_ / Y.std(axis=0)[:, None]).T * X.std(axis=0)[:, None]
    assert np.linalg.matrix_rank(B, tol=1e-8) == 2
    V = np.linalg.svd(B)[2][:2].T
    start = np.linalg.svd(S)[2][:2].T
    penalty = 0.15 * np.linalg.norm(Z.T @ S @ start, axis=1).max()
    # A row of B has the length of its row of A, whatever the basis of V.
    assert_allclose(B @ V @ V.T, B, atol=1e-8)
    assert_allclose(proximal_gradient(Z, S @ V, penalty, 5000) @ V.T, B, atol=1e-5)
    left, _, right = np.linalg.svd(S.T @ Z @ B @ V, full_matrices=False)
    assert_allclose(left @ right, V, atol=1e-4)
    full = SparseFactors(4, penalty=0.15, tol=1e-9).fit(X, Y)
    assert_allclose(full.coef_, SparseFactors(penalty=0.15, tol=1e-9).fit(X, Y).coef_)


def test_sparse_pls_predicts_the_scores_of_pls():
    X, Y = make()
    Z, S = standard(X), standard(Y)
    model = SparseFactors(2, factor="pls", penalty=0.2, tol=1e-10).fit(X, Y)
    T = PLS(2, scale=False).fit(Z, S).transform(Z)
    A = proximal_gradient(Z, T, 0.2 * np.linalg.norm(Z.T @ T, axis=1).max(), 5000)
    B = A @ np.linalg.lstsq(Z @ A, S, rcond=None)[0]
    found = (model.coef_ / Y.std(axis=0)[:, None]).T * X.std(axis=0)[:, None]
    assert_allclose(found, B, atol=1e-6)
    nearly_dense = SparseFactors(2, factor="pls", penalty=1e-5, tol=1e-9).fit(X, Y)
    plain = PLS(2).fit(X, Y)
    assert_allclose(nearly_dense.predict(X), plain.predict(X), atol=1e-3 * Y.std())


def test_planted_inputs_are_found_and_units_do_not_matter():
    X, Y = make(80)
    model = SparseFactors(2, penalty=0.3).fit(X, Y)
    assert_array_equal(np.flatnonzero(model.selected_), [2, 9, 17])
    units = np.geomspace(1e-3, 1e3, 30)
    moved = SparseFactors(2, penalty=0.3).fit(X * units + 5, Y * 1e4)
    assert_allclose(moved.predict(X * units + 5), 1e4 * model.predict(X), rtol=1e-5)


def test_stable_inputs_are_the_planted_ones():
    X, Y = make(80)
    often = selection_frequencies(
        SparseFactors(2, penalty=0.3), X, Y, n_subsamples=10, random_state=0
    )
    assert (often[[2, 9, 17]] == 1).all()
    assert np.delete(often, [2, 9, 17]).max() < 0.6
    again = selection_frequencies(
        SparseFactors(2, penalty=0.3), X, Y, n_subsamples=10, random_state=0
    )
    assert_array_equal(often, again)
    lasso = selection_frequencies(Lasso(0.5), X, Y[:, 0], n_subsamples=4, random_state=0)
    assert lasso.shape == (30,) and lasso.max() <= 1


@pytest.mark.parametrize("q", [1, 3])
def test_newton_steps_solve_the_quadratic_model_of_the_objective(q):
    """Slopes and second derivatives by finite differences of the objective itself."""
    rng = np.random.default_rng(q)
    X, Y, A, penalty = (
        rng.normal(size=(9, 4)),
        rng.normal(size=(9, q)),
        rng.normal(size=(4, q)),
        0.7,
    )

    def value(z):
        B = z.reshape(A.shape)
        return 0.5 * ((Y - X @ B) ** 2).sum() + penalty * np.sqrt((B**2).sum(axis=1)).sum()

    unit, width = np.eye(4 * q), 1e-4
    slope = [
        (value(A.ravel() + width * e) - value(A.ravel() - width * e)) / width / 2 for e in unit
    ]
    bend = [
        [
            sum(
                s * t * value(A.ravel() + width * (s * e + t * f)) for s in (-1, 1) for t in (-1, 1)
            )
            / (2 * width) ** 2
            for e in unit
        ]
        for f in unit
    ]
    step = _newton_step(X, Y - X @ A, penalty, A)
    assert_allclose(step.ravel(), -np.linalg.solve(bend, slope), atol=1e-5)


def test_columns_that_are_nearly_equal_need_few_sweeps():
    """Raw spectra took coordinate descent 116 000 sweeps on 60 rows of 700 columns, with extrapolation."""
    spectra = make_spectra(40, random_state=0)
    X, Y = standard(spectra.data[:, ::5]), standard(spectra.target)
    model = SparseFactors(penalty=0.1).fit(X, Y)
    assert model.n_iter_ < 2000
    penalty = 0.1 * np.linalg.norm(X.T @ Y, axis=1).max()
    A = model.coef_.T  # the gap, once more
    residual = Y - X @ A
    dual = residual * min(1, penalty / np.linalg.norm(X.T @ residual, axis=1).max())
    primal = 0.5 * (residual**2).sum() + penalty * np.linalg.norm(A, axis=1).sum()
    gap = primal - 0.5 * (Y**2).sum() + 0.5 * ((Y - dual) ** 2).sum()
    assert_allclose(model.gap_path_[-1], gap / (0.5 * (Y**2).sum()), atol=1e-9)
    assert model.gap_path_.max() <= 1e-4


def test_a_fit_cut_short_says_so():
    X, Y = make()
    with pytest.warns(ConvergenceWarning, match="the duality gap is"):
        SparseFactors(penalty=1e-4, n_penalties=1, max_iter=1, tol=1e-12).fit(X, Y)
    with pytest.raises(ValueError, match="penalty == 0"):
        SparseFactors(penalty=0).fit(X, Y)


@pytest.mark.parametrize("rank, factor", [(None, "reduced_rank"), (2, "reduced_rank"), (2, "pls")])
@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_columns_does_not_matter(rank, factor, seed):
    """Sweeps go through the columns in order and stop within ``tol``; Newton's steps end at one point."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 60))
    Y = X[:, :4] @ rng.normal(size=(4, 5)) + 0.5 * rng.normal(size=(40, 5))
    model = SparseFactors(rank, factor=factor)
    path = model.fit(X, Y).coef_path_
    order = rng.permutation(60)
    found = model.fit(X[:, order], Y).coef_path_
    assert_allclose(found, path[:, :, order], atol=1e-6 * np.abs(path).max())


def test_directions_that_no_input_has_yet_stay_as_they_were():
    """While A has one dimension, the second column of V is free: rounding sent the path two ways."""
    rng = np.random.default_rng(0)
    rng.normal(size=(60 * 8 + 8 * 2 + 60 * 2))
    X = rng.normal(size=(60, 30))
    Y = X[:, :4] @ rng.normal(size=(4, 3)) + 0.5 * rng.normal(size=(60, 3))
    path = SparseFactors(2).fit(X, Y).coef_path_
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(30)
        found = SparseFactors(2).fit(X[:, order], Y).coef_path_
        assert_allclose(found, path[:, :, order], atol=1e-6)


@pytest.mark.parametrize("size", np.arange(1, 30) * 1e-17)
def test_a_row_that_is_all_but_zero_is_no_error(size):
    """Its second derivatives are so large that nothing is left of the others: sweeps go on from there."""
    X, Y, A = np.ones((4, 1)), np.ones((4, 2)), np.full((1, 2), size)
    polished = sparse_factors._polish(X, Y, 1.0, A)
    before, after = (sparse_factors._objective(Y - X @ B, B, 1.0) for B in (A, polished))
    assert after <= before


class Halves(BaseEstimator):
    """Selects its only column if it is fitted to twenty rows."""

    def fit(self, X, y):
        self.selected_ = np.array([len(X) == 20])
        return self


def test_halves_have_the_same_size():
    """Of an odd number of rows one is left out: an input is not chosen more often by the larger half."""
    X = np.arange(41.0)[:, None]
    assert selection_frequencies(Halves(), X, X[:, 0], n_subsamples=6, random_state=0) == 1.0


@parametrize_with_checks([SparseFactors(), SparseFactors(factor="pls")])
def test_sklearn_contract(estimator, check):
    check(estimator)
