"""Laws of units at the ends of float64: the same map, or an error that says what to multiply by."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus import (
    PCR,
    PLS,
    BayesianStiefelRegression,
    DependencyRegressor,
    KernelMap,
    ManifoldPLS,
    MethodSearchCV,
    ReducedRankRegression,
    StiefelRegression,
)
from isthmus.features import InstrumentTransfer
from isthmus.kernels import RBF, median_gamma
from isthmus.projections import SIR, KernelSIR
from isthmus.regression import OPLS, BlockRidge, MultiblockPLS, SequentialPLS, SparseFactors

BLOCKS = [[0, 1], [2, 3]]
ESTIMATORS = [
    PLS(2),
    PCR(2),
    ReducedRankRegression(1),
    StiefelRegression(1),
    StiefelRegression(1, loss="huber"),
    ManifoldPLS(1),
    BayesianStiefelRegression(1, random_state=0),
    OPLS(),
    SparseFactors(),
    BlockRidge(BLOCKS),
    MultiblockPLS(BLOCKS),
    MultiblockPLS(BLOCKS, scale=False),
    SequentialPLS(BLOCKS),
    SequentialPLS(BLOCKS, scale=False),
    DependencyRegressor(),
    DependencyRegressor(KernelMap()),
]


def name(estimator):
    return f"{type(estimator).__name__}-{len(repr(estimator))}"


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(1.0, 1.0, size=(60, 4))
    return X, X @ rng.normal(size=(4, 2)) + 0.1 * rng.normal(size=(60, 2))


@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1e200, 1e300])
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name)
def test_outputs_in_any_unit(estimator, unit, data):
    X, Y = data
    expected = estimator.fit(X, Y).predict(X)
    assert_allclose(estimator.fit(X, Y * unit).predict(X) / unit, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1e200, 1e300])
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name)
def test_inputs_in_any_unit(estimator, unit, data):
    X, Y = data
    # Their ridge weights and kernel widths are squares of the unit of X, which float64 cannot hold.
    if isinstance(estimator, BlockRidge) or getattr(estimator, "inputs", None) is not None:
        with pytest.raises(ValueError, match="multiply X by"):
            estimator.fit(X * unit, Y)
        return
    expected = estimator.fit(X, Y).predict(X)
    assert_allclose(estimator.fit(X * unit, Y).predict(X * unit), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("unit", [1e-300, 1e-160, 1e160, 1e300])
@pytest.mark.parametrize("estimator", [MultiblockPLS(BLOCKS), SequentialPLS(BLOCKS)], ids=name)
def test_one_scaled_column_in_any_unit(estimator, unit, data):
    X, Y = data
    units = np.array([1.0, 1.0, unit, 1.0])
    expected = estimator.fit(X, Y).predict(X)
    assert_allclose(estimator.fit(X * units, Y).predict(X * units), expected, rtol=1e-9)


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_weighted_outputs_in_any_unit(unit, data):
    X, Y = data
    weights = np.linspace(1.0, 2.0, len(X))
    model = DependencyRegressor(scale_y=True)
    expected = model.fit(X, Y, sample_weight=weights).predict(X)
    found = model.fit(X, Y * unit, sample_weight=weights).predict(X) / unit
    assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_a_search_says_what_to_multiply_by(unit, data):
    with pytest.raises(ValueError, match="multiply y by"):
        MethodSearchCV(methods=["pls"], cv=3).fit(data[0], data[1] * unit)


def test_a_search_refuses_outputs_that_are_constant(data):
    with pytest.raises(ValueError, match="y is constant"):
        MethodSearchCV(methods=["pls"], cv=3).fit(data[0], np.full(60, 7.0))


def test_a_constant_output_among_others_is_predicted(data):
    X, Y = data
    search = MethodSearchCV(methods=["pls"], cv=3).fit(X, np.column_stack([Y, np.full(60, 7.0)]))
    assert_allclose(search.predict(X)[:, 2], 7.0)


def test_widths_that_float64_cannot_hold(data):
    with pytest.raises(ValueError, match=r"1e200.*multiply X by 1e-200"):
        median_gamma(data[0] * 1e200)
    kernel = RBF(median_gamma(data[0] * 1e90))
    assert_allclose(kernel(data[0] * 1e90), RBF(median_gamma(data[0]))(data[0]), rtol=1e-9)


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_projections_name_the_power_of_ten(unit, data):
    X, Y = data
    for projection in (SIR(1), KernelSIR(1)):
        with pytest.raises(ValueError, match="multiply X by"):
            projection.fit(X * unit, Y[:, 0])


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_a_transfer_names_the_power_of_ten(unit, data):
    """Squares of 1e-200 are zero: the spectra of the secondary instrument would not count."""
    X = data[0]
    for rows, spectra in ((X * unit, X), (X, X * unit)):
        with pytest.raises(ValueError, match=r"multiply [Xy] by"):
            InstrumentTransfer().fit(rows, spectra)


@pytest.mark.parametrize("shape", [(2000, 60), (200, 400)])
@pytest.mark.parametrize("exponent", [-300, 300])
def test_lost_digits_are_seen_in_any_units(shape, exponent):
    n, p = shape
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p)) * np.logspace(0, -6, p)  # more than X'X has digits for
    Y = X @ rng.normal(size=(p, 3)) + rng.normal(size=(n, 3))
    model = ReducedRankRegression(2, alpha=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.fit(X, Y).solver_ == "svd"
        assert model.fit(X * 2.0**exponent, Y).solver_ == "svd"
