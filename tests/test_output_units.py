"""One output 1e10, 1e14 or 1e200 times as large as another: each keeps its digits, or a warning tells.

Oracles: the fit of outputs in like units, times the units, where outputs do not count by their variance;
for a rank below the number of outputs the limit of a large ratio, in which the large output takes one
direction of the fitted values and the small ones share what is left; a line through two points.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LinearRegression

from isthmus import (
    PCR,
    PLS,
    ComponentSearchCV,
    ManifoldPLS,
    ReducedRankRegression,
    StiefelRegression,
)
from isthmus._linalg.graded import graded_svd, graded_units
from isthmus.regression import (
    OPLS,
    BlockRidge,
    MultiblockPLS,
    SequentialPLS,
    SlopeBias,
    SparseFactors,
)
from isthmus.regression.crossval import default_alphas

BLOCKS = [[0, 1], [2, 3]]
# Estimators without a rank constraint, or with outputs in units of their own, and their relative error.
FREE = {
    "rrr": (ReducedRankRegression(), 1e-11),
    "rrr alpha": (ReducedRankRegression(alpha=1.0), 1e-11),
    "rrr 0": (ReducedRankRegression(alpha=0.0), 1e-11),
    "rrr scaled": (ReducedRankRegression(2, scale=True), 1e-11),
    "rrr em": (ReducedRankRegression(missing="em"), 1e-9),
    "stiefel": (StiefelRegression(), 1e-11),
    "grassmann": (ManifoldPLS(3), 1e-11),
    "product": (ManifoldPLS(3, manifold="product"), 1e-11),
    "huber": (StiefelRegression(loss="huber"), 1e-8),
    "huber of rank 2": (StiefelRegression(2, loss="huber"), 1e-6),
    "absolute": (StiefelRegression(loss="absolute"), 1e-4),
    "pcr": (PCR(3), 1e-11),
    "pcr auto": (PCR("auto"), 1e-11),
    "pls": (PLS(3), 1e-11),
    "pls auto": (PLS("auto"), 1e-11),
    "opls": (OPLS(3), 1e-11),
    "search": (ComponentSearchCV(PLS(), n_components=3, cv=3), 1e-11),
    "block ridge": (BlockRidge(BLOCKS), 1e-6),
    "multiblock": (MultiblockPLS(BLOCKS), 1e-11),
    "sequential": (SequentialPLS(BLOCKS), 1e-11),
    "sparse factors": (SparseFactors(1), 1e-6),
}
UNITS = {
    "1e10": (1.0, 1.0, 1e10),
    "1e14": (1.0, 1e14, 1.0),
    "1e-14": (1e-14, 1.0, 1.0),
    "1e200": (1.0, 1.0, 1e200),
    "1e-200": (1.0, 1e-200, 1.0),
    "three": (1e-200, 1.0, 1e200),
}


def make(n, p, q=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(2.0, 1.0, size=(n, p))
    return X, X[:, :4] @ rng.normal(size=(4, q)) + 0.1 * rng.normal(size=(n, q)) - 3.0


def relative_error(got, expected):
    return np.abs(got - expected).max() / expected.std(axis=0).min()


@pytest.mark.parametrize("units", UNITS.values(), ids=UNITS)
@pytest.mark.parametrize("name", FREE)
def test_every_output_keeps_its_digits(name, units):
    estimator, tolerance = FREE[name]
    X, Y = make(40, 4)
    units = np.array(units)
    expected = estimator.fit(X, Y).predict(X)
    got = estimator.fit(X, Y * units).predict(X) / units
    assert relative_error(got, expected) < tolerance


@pytest.mark.parametrize("units", UNITS.values(), ids=UNITS)
@pytest.mark.parametrize("shape", [(15, 40), (300, 80), (80, 300)])
def test_no_shape_costs_digits(shape, units):
    """Rows, moments and the Gram matrix, each with its own way to the optimum."""
    X, Y = make(*shape)
    units = np.array(units)
    for estimator in (ReducedRankRegression(), ReducedRankRegression(scale="y"), PLS(3), PCR(3)):
        expected = estimator.fit(X, Y).predict(X)
        got = estimator.fit(X, Y * units).predict(X) / units
        assert relative_error(got, expected) < 1e-9, estimator


@pytest.mark.parametrize("name", ["1e10", "1e14", "1e-14"])
def test_blocks_and_sparse_rows(name):
    X, Y = make(60, 5)
    units = np.array(UNITS[name])
    expected = ReducedRankRegression(alpha=0.1).fit(X, Y).predict(X)
    streamed = ReducedRankRegression(alpha=0.1)
    for rows in (slice(0, 25), slice(25, 60)):
        streamed.partial_fit(X[rows], Y[rows] * units)
    assert relative_error(streamed.predict(X) / units, expected) < 1e-9
    scarce = ReducedRankRegression(alpha=0.1).fit(sparse.csr_array(X), Y * units)
    assert relative_error(scarce.predict(X) / units, expected) < 1e-9


@pytest.mark.parametrize("unit", [1e10, 1e14, 1e200, 1e300])
@pytest.mark.parametrize("alpha", [0.0, 3.0])
@pytest.mark.parametrize("shape", [(60, 5), (15, 40), (300, 80)])
@pytest.mark.parametrize("kind", [ReducedRankRegression, StiefelRegression, ManifoldPLS])
def test_below_full_rank_small_outputs_share_what_the_large_one_leaves(kind, shape, alpha, unit):
    X, Y = make(*shape, q=4)
    expected = limit(X, Y, alpha, 2)
    got = kind(2, alpha=alpha).fit(X, Y * [1.0, unit, 1.0, 1.0]).predict(X)
    got[:, 1] /= unit
    assert relative_error(got, expected) < 1e-9


def limit(X, Y, alpha, rank, large=1):
    """Fitted values of rank ``rank`` if one output counts infinitely more than the others."""
    n, p = X.shape
    Z = np.vstack([X - X.mean(axis=0), np.sqrt(alpha) * np.eye(p)])
    targets = np.vstack([Y - Y.mean(axis=0), np.zeros((p, Y.shape[1]))])
    fitted = Z @ np.linalg.lstsq(Z, targets, rcond=None)[0]
    first = fitted[:, [large]] / np.linalg.norm(fitted[:, large])
    small = fitted.copy()
    small[:, large] = 0.0
    left = small - first @ (first.T @ small)
    basis = np.hstack([first, np.linalg.svd(left, full_matrices=False)[0][:, : rank - 1]])
    return (basis @ (basis.T @ fitted))[:n] + Y.mean(axis=0)


def test_the_factors_of_a_map_keep_the_digits_too():
    X, Y = make(60, 5)
    units = np.array([1.0, 1e14, 1.0])
    expected = LinearRegression().fit(X, Y).predict(X)
    for estimator in (
        ReducedRankRegression(alpha=0),
        StiefelRegression(alpha=0),
        ManifoldPLS(alpha=0),
    ):
        model = estimator.fit(X, Y * units)
        shown = model.transform(X) @ model.y_loadings_.T * model.y_scale_ + model.y_mean_
        assert relative_error(shown / units, expected) < 1e-10, estimator
        assert relative_error(model.predict_path(X)[-1] / units, expected) < 1e-10, estimator


def test_equal_large_outputs_do_not_hide_a_small_one():
    """Their difference is a direction of rounding errors that are larger than the small output."""
    X, Y = make(60, 5)
    both = np.column_stack([1e17 * Y[:, 0], 1e17 * Y[:, 0], Y[:, 1]])
    model = ReducedRankRegression(alpha=0.0).fit(X, both)
    assert model.n_components_ == 2
    got = model.predict(X)
    expected = LinearRegression().fit(X, Y).predict(X)
    assert relative_error(got[:, [0, 2]] / [1e17, 1.0], expected[:, :2]) < 1e-10


def test_a_graded_decomposition_is_one():
    """Every column of the product to its own rounding, orthonormal factors, falling singular values."""
    rng = np.random.default_rng(0)
    for scales in ([1.0, 1e14, 1.0], [1e-30, 1.0, 1e5, 1e40], 10.0 ** np.arange(12)):
        A = rng.normal(size=(15, len(scales))) * scales
        U, s, Vt = graded_svd(A, np.linalg.norm(A, axis=0))
        error = np.linalg.norm((U * s) @ Vt - A, axis=0) / np.linalg.norm(A, axis=0)
        assert error.max() < 1e-14
        assert_allclose(U.T @ U, np.eye(len(scales)), atol=1e-13)
        assert_allclose(Vt @ Vt.T, np.eye(len(scales)), atol=1e-13)
        assert (np.diff(s) < 0).all()


def test_units_keep_the_order_of_sizes():
    sizes = np.array([1e-250, 3.0, 0.0, 1e200, 5.0])
    scaled = sizes / graded_units(sizes[None])
    assert (np.argsort(scaled) == np.argsort(sizes)).all()
    assert scaled[3] / scaled[4] == pytest.approx(2.0**60, rel=1.0)
    assert scaled[4] / scaled[1] == pytest.approx(5.0 / 3.0)
    assert (graded_units(np.array([[1e-90, 0.0, 1e90]])) == 1.0).all()


@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1e200, 1e300])
def test_a_corrected_model_in_any_unit(unit):
    X, Y = make(40, 4)
    y = Y[:, 0]
    model = PLS(3).fit(X, y * unit)
    reference = 2.0 * model.predict(X[:5]) + unit
    corrected = SlopeBias(model).fit(X[:5], reference)
    assert corrected.slope_ == pytest.approx(2.0)
    assert corrected.bias_ / unit == pytest.approx(1.0)
    assert SlopeBias(model).fit(X[:5], reference / unit).slope_ * unit == pytest.approx(2.0)


# -- inputs -----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e-160, 1e-200, 1e160, 1e200])
@pytest.mark.parametrize("estimator", [PLS(1), PCR(1), ReducedRankRegression(scale=True)], ids=str)
def test_a_column_whose_squares_vanish_is_told(estimator, size):
    """Beside a column of 1e200 the others are too small, and the other way round."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(30, 4)) + 1, rng.normal(size=(30, 2))
    X[:, 0] *= size
    with pytest.warns(UserWarning, match="squares underflow"):
        clone(estimator).fit(X, Y)


@pytest.mark.parametrize("units", [(1.0, 1e-200), (1e-200, 1.0)])
def test_blocks_of_rows_too_small_for_their_squares_are_told(units):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(30, 4)) + 1, rng.normal(size=(30, 2))
    with pytest.warns(UserWarning, match="squares underflow"):
        PCR(2).partial_fit(X * units[0], Y * units[1])


@pytest.mark.parametrize("constant", [0.0, 1e-120, 1.0, 1e120])
def test_constant_columns_are_no_cause_for_alarm(constant):
    """Warnings are errors here. Deviations of 1e-130 still have their squares."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(30, 4)), rng.normal(size=(30, 2))
    X[:, 0], X[:, 1] = constant, 1e-130 * X[:, 1]
    PLS(2).fit(X if constant < 1e100 else X[:, [0, 2, 3]], Y)


@pytest.mark.parametrize("shape", [(40, 6), (12, 30)])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("unit", [1e-150, 1e-120, 1e120, 1e150])
def test_default_ridge_weights_have_the_units_of_squared_inputs(shape, scale, unit):
    X = np.random.default_rng(0).normal(size=shape) + 1
    alphas = np.array(default_alphas(X, None, scale))
    found = np.array(default_alphas(X * unit, None, scale))
    assert_allclose(found, alphas if scale else alphas * unit * unit, rtol=1e-6)
    assert_allclose(default_alphas(sparse.csr_array(X * unit), None, scale), found, rtol=1e-6)


@pytest.mark.parametrize("unit", [1e-150, 1e150])
def test_a_search_chooses_the_same_ridge_in_any_unit_of_the_inputs(unit):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 6)) + 0.3 * rng.normal(size=(40, 6))
    Y = X @ rng.normal(size=(6, 2)) + 2 * rng.normal(size=(40, 2))
    search = ComponentSearchCV(ReducedRankRegression())
    plain = search.fit(X, Y)
    ridge, predicted = plain.best_params_["alpha"], plain.predict(X)
    search.fit(X * unit, Y)
    assert ridge > 0
    assert_allclose(search.best_params_["alpha"], ridge * unit * unit, rtol=1e-6)
    assert_allclose(search.predict(X * unit), predicted, rtol=1e-6)


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_ridge_weights_out_of_range_are_told(unit):
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.warns(UserWarning, match="Divide X by a constant"):
        default_alphas(X * unit, None, False)
    default_alphas(X * unit, None, True)  # scaled inputs have no units
