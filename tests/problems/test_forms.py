"""Every form of a problem gives the same answers, folds too, and says where it lacks digits."""

import os
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.model_selection import KFold

import isthmus
from isthmus import PLS
from isthmus.problems import CheckedRows, GramForm, MomentForm, RowForm, Split
from isthmus.problems.blocks import BlockMoments
from isthmus.problems.gram import Centre

FORMS = [RowForm, MomentForm, GramForm]


def data(n=40, p=6, q=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(2.0, 1.0, size=(n, p)) * np.geomspace(1, 5, p)
    return X, X @ rng.normal(size=(p, q)) + rng.normal(size=(n, q)), rng.uniform(0.5, 2.0, n)


def standardised(X, Y, weights, scale):
    """The problem by its definition."""
    w = np.ones(len(X)) if weights is None else weights
    out = []
    for A, is_scaled in ((X, scale is True), (Y, bool(scale))):
        Z = A - w @ A / w.sum()
        if is_scaled:
            Z = Z / np.sqrt(w @ Z**2 / (w.sum() - 1))
        out.append(Z * np.sqrt(w)[:, None])
    return out


@pytest.mark.parametrize("kind", FORMS)
@pytest.mark.parametrize("scale", [True, False, "y"])
@pytest.mark.parametrize("shape", [(40, 6), (9, 25)], ids=["tall", "wide"])
@pytest.mark.parametrize("weighted", [False, True])
def test_answers_are_those_of_the_definition(kind, scale, shape, weighted):
    X, Y, weights = data(*shape)
    weights = weights if weighted else None
    Z, T = standardised(X, Y, weights, scale)
    form = kind.from_rows(X, Y, weights, scale)
    close = {"rtol": 1e-9, "atol": 1e-9 * np.abs(Z.T @ T).max()}
    cross = form.to_features(form.xy)
    assert_allclose(cross, Z.T @ T, **close)
    assert_allclose(form.to_features(form.product(form.xy)), Z.T @ (Z @ cross), rtol=1e-8)
    assert_allclose(form.inner(form.xy, form.xy), cross.T @ cross, rtol=1e-9)
    assert_allclose(form.x_squares, (Z**2).sum(axis=0))
    assert_allclose(form.y_squares, (T**2).sum(axis=0))
    d = np.linalg.svd(Z, compute_uv=False)[: form.n_directions]
    spectrum = form.spectrum()
    assert_allclose(spectrum.squares[: len(d)], d**2, rtol=1e-8)
    alpha = 0.1 * d[0] ** 2
    ridge = form.solve(alpha)
    if kind is RowForm:
        assert ridge is None
    else:
        H = Z.T @ Z + alpha * np.eye(Z.shape[1])
        assert_allclose(form.to_features(ridge), np.linalg.solve(H, Z.T @ T), rtol=1e-8)


@pytest.mark.parametrize("kind", FORMS)
@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("shape", [(40, 6), (12, 25)], ids=["tall", "wide"])
@pytest.mark.parametrize("weighted", [False, True])
def test_what_is_left_without_a_fold_is_the_problem_of_the_training_rows(
    kind, scale, shape, weighted
):
    X, Y, weights = data(*shape)
    weights = weights if weighted else None
    splits = [Split(train, test, len(X)) for train, test in KFold(4).split(X)]
    folds = kind.folds(CheckedRows(X, Y, weights), scale, splits)
    for split in splits:
        form = folds.without(split)
        fresh = RowForm.from_rows(*CheckedRows(X, Y, weights).take(split.train), scale)
        for name in ("y_mean", "y_scale", "x_scale"):
            assert_allclose(getattr(form.frame, name), getattr(fresh.frame, name), rtol=1e-10)
        A = form.xy[:, :2]
        directions = fresh.xy[:, :2]
        scores = fresh.frame.x(X[split.test]) @ directions
        assert_allclose(
            form.coordinates(split.test) @ A, scores, rtol=1e-7, atol=1e-8 * abs(scores).max()
        )
        exact = form.exactly()
        assert_allclose(exact.X, fresh.X, atol=1e-12)
        assert_allclose(exact.coordinates(split.test) @ directions, scores)


@pytest.mark.parametrize("kind", FORMS)
@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("shape", [(40, 6), (12, 25)], ids=["tall", "wide"])
@pytest.mark.parametrize("columns", [slice(None), slice(2, 3)], ids=["all", "one"])
def test_a_fold_without_the_row_that_held_all_variance_keeps_its_digits(
    kind, scale, shape, columns
):
    """Less the outlier, sums of squares would be the rounding errors of what it was."""
    X, Y, _ = data(*shape)
    X[0, columns] *= 1e8
    Y[0] *= 1e8
    splits = [Split(train, test, len(X)) for train, test in KFold(4).split(X)]
    form = kind.folds(CheckedRows(X, Y, None), scale, splits).without(splits[0])
    fresh = RowForm.from_rows(X[splits[0].train], Y[splits[0].train], None, scale)
    k = fresh.n_directions
    squares = fresh.spectrum().squares[:k]
    assert_allclose(form.spectrum().squares[:k], squares, rtol=1e-8)
    assert_allclose(form.y_squares, fresh.y_squares, rtol=1e-8)
    assert_allclose(form.frame.y_mean, fresh.frame.y_mean, rtol=1e-6)


def test_a_form_that_lacks_digits_says_so_and_gives_one_that_has_them():
    rng = np.random.default_rng(0)
    U, V = (np.linalg.qr(rng.normal(size=(n, 6)))[0] for n in (40, 6))
    for smallest, has_digits in [(0.1, True), (1e-6, False)]:
        X = (U * [1, 1, 1, 1, 1, smallest]) @ V.T
        for kind in (MomentForm, GramForm):
            form = kind.from_rows(X, X[:, :2], None, False)
            assert form.spectrum().has_digits(6) == has_digits
            assert form.spectrum().has_digits(5)
            assert form.spectrum().has_digits(6, alpha=1.0)
        assert (MomentForm.from_rows(X, X[:, :2], None, False).solve(0.0) is not None) == has_digits
        assert form.exactly().spectrum().has_digits(6)


@pytest.mark.parametrize("condensed", ["sparse", "moments"])
def test_few_rows_stand_for_all_but_are_nobody_s_scores(condensed):
    X, Y, _ = data(300, 5)
    if condensed == "sparse":
        form = RowForm.from_rows(sparse.csr_array(X), Y, None, True)
    else:
        form = MomentForm.from_moments(isthmus.Moments.from_data(X, Y), True).exactly()
    plain = RowForm.from_rows(X, Y, None, True)
    assert form.is_condensed and not plain.is_condensed
    assert len(form.X) <= 2 * 5
    assert_allclose(form.X.T @ form.X, plain.X.T @ plain.X, atol=1e-9)
    assert PLS()._solve(form, 2)[1].scores is None
    assert PLS()._solve(plain, 2)[1].scores.shape == (300, 2)


def test_a_gram_matrix_seen_from_the_mean_of_some_rows():
    X, _, weights = data(20, 7)
    rows, others = np.arange(3, 15), np.arange(15, 20)
    mean = weights[rows] @ X[rows] / weights[rows].sum()
    centre = Centre(X @ X.T, rows, weights[rows])
    assert_allclose(centre.inside, (X[rows] - mean) @ (X[rows] - mean).T, atol=1e-9)
    assert_allclose(centre.coordinates(others), (X[others] - mean) @ (X[rows] - mean).T, atol=1e-9)


def test_one_walk_over_blocks_gives_the_moments_without_any_fold():
    X, Y, _ = data(50, 4)
    folds = np.random.default_rng(1).integers(0, 3, 50)
    blocks = ((slice(s, s + 20), X[s : s + 20], Y[s : s + 20]) for s in range(0, 50, 20))
    found = BlockMoments(blocks, folds, np.array([2, 19, 20, 49]))
    assert_allclose(found.sample, X[[2, 19, 20, 49]])
    for k in range(3):
        left = isthmus.Moments.from_data(X[folds != k], Y[folds != k])
        assert_allclose(found.without(k).xx, left.xx, atol=1e-9)
        assert_allclose(found.without(k).y_mean, left.y_mean)


# -- the way of one datum ---------------------------------------------------------------------


def journey(call):
    """Distinct functions of the package, by file, that a call visits."""
    root, seen = os.path.dirname(isthmus.__file__), set()

    def note(frame, event, argument):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(root):
            seen.add((code.co_filename, code.co_qualname))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return seen


@pytest.mark.parametrize(
    ("shape", "n_functions", "n_files"),
    [((60, 12), 25, 5), ((2000, 60), 46, 10), ((40, 3000), 33, 8)],
    ids=["rows", "moments", "Gram matrix"],
)
def test_a_fit_visits_few_functions_in_few_files(shape, n_functions, n_files):
    X, Y, _ = data(*shape)
    model = PLS(3)
    model.fit(X, Y)  # imports
    seen = journey(lambda: model.fit(X, Y))
    assert len(seen) <= n_functions
    assert len({file for file, _ in seen}) <= n_files
