"""Oracles: the least squares problem of one column, the published regression, planted instruments, corn."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import lstsq
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import PredefinedSplit
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from isthmus import PLS, ComponentSearchCV
from isthmus.datasets import load_nir
from isthmus.features import InstrumentTransfer
from isthmus.features.treatments import SavitzkyGolay
from isthmus.inspection import OutsideDomainWarning, rmse
from isthmus.kernels.distinct import deal_by_content
from isthmus.model_selection import kennard_stone
from isthmus.regression import SlopeBias, spike


@pytest.fixture
def pair():
    rng = np.random.default_rng(0)
    primary = rng.normal(3, 1, size=(12, 20))
    return 0.8 * primary + 0.1 * rng.normal(size=(12, 20)) + 1, primary


@pytest.mark.filterwarnings("ignore:the transfer explains")  # white noise is no spectrum
@pytest.mark.parametrize("window", [0, 2, 6, None])
@pytest.mark.parametrize("identity", [True, False])
def test_a_column_solves_its_own_problem(pair, window, identity):
    secondary, primary = pair
    transfer = InstrumentTransfer(window, alpha=0.3, identity=identity).fit(secondary, primary)
    A, B = secondary - secondary.mean(axis=0), primary - primary.mean(axis=0)
    for j in (0, 1, 9, 19):
        low, high = (0, 20) if window is None else (max(0, j - window), min(20, j + window + 1))
        part = A[:, low:high]
        root = np.sqrt(0.3) * np.linalg.norm(part, 2)
        gain = (A * B).sum() / (A * A).sum()
        start = gain * np.eye(20)[low:high, j] if identity else np.zeros(high - low)
        stacked = np.vstack([part, root * np.eye(high - low)])
        b = lstsq(stacked, np.r_[B[:, j], root * start])[0]
        expected = (secondary[:, low:high] - secondary[:, low:high].mean(axis=0)) @ b
        found = transfer.transform(secondary)[:, j]
        assert_allclose(found, expected + primary[:, j].mean(), atol=1e-10)
    centred = secondary - secondary.mean(axis=0)
    mapped = centred @ transfer.operator_.T + primary.mean(axis=0)
    assert_allclose(transfer.transform(secondary), mapped, atol=1e-10)


def test_standards_left_out_tell_what_a_transfer_is_worth():
    """Oracle: the same folds, refitted here; samples in another order are told."""
    rng = np.random.default_rng(1)
    primary = rng.normal(size=(10, 3)) @ rng.normal(size=(3, 30)) + 5
    secondary = 0.9 * primary + 0.05 * rng.normal(size=(10, 30)) + 1
    transfer = InstrumentTransfer().fit(secondary, primary)
    left_out, means = np.zeros((2, *primary.shape))
    for train, test in PredefinedSplit(deal_by_content(secondary, 5)).split():
        own = InstrumentTransfer().fit(secondary[train], primary[train])
        left_out[test], means[test] = own.transform(secondary[test]), primary[train].mean(axis=0)
    error, spread = (np.sqrt(((guess - primary) ** 2).mean()) for guess in (left_out, means))
    assert_allclose([transfer.error_, transfer.relative_error_], [error, error / spread])
    assert transfer.relative_error_ < 0.1
    with pytest.warns(UserWarning, match="samples in the same order"):
        InstrumentTransfer().fit(secondary[::-1], primary)
    assert np.isnan(InstrumentTransfer().fit(secondary[:2], primary[:2]).error_)


@pytest.mark.filterwarnings("ignore:the transfer explains")  # white noise is no spectrum
def test_it_is_the_published_regression_of_windows(pair):
    secondary, primary = pair
    found = InstrumentTransfer(3, alpha=0.0, n_components=2, identity=False)
    found = found.fit(secondary, primary).transform(secondary)
    for j in range(20):
        part = secondary[:, max(0, j - 3) : j + 4]
        peer = make_pipeline(PCA(2), LinearRegression()).fit(part, primary[:, j])
        assert_allclose(found[:, j], peer.predict(part), atol=1e-10)


def test_different_numbers_of_columns_and_a_single_standard(pair):
    secondary, primary = pair
    half = InstrumentTransfer(2).fit(secondary, primary[:, ::2])
    assert half.transform(secondary).shape == (12, 10)
    one = InstrumentTransfer().fit(secondary[:1], primary[:1])
    assert_allclose(one.transform(secondary), secondary - secondary[0] + primary[0])


def test_another_grid_is_interpolated():
    """Smooth curves at other places of the same range: without a word of the standards, all but met."""
    rng = np.random.default_rng(0)
    weights, centres = rng.normal(size=(30, 8)), rng.uniform(size=8)
    curves = lambda p: weights @ np.exp(-(((np.linspace(0, 1, p) - centres[:, None]) / 0.15) ** 2))  # noqa: E731
    primary = curves(100)
    for p in (37, 100, 260):
        secondary = 2.5 * curves(p) + 1
        transfer = InstrumentTransfer(5, alpha=1e6).fit(secondary[:10], primary[:10])
        assert_allclose(transfer.gain_, 0.4, rtol=0.01)
        off = transfer.transform(secondary[10:]) - primary[10:]
        assert np.abs(off).max() < 0.02 * np.abs(primary).max()


@pytest.mark.parametrize("identity", [True, False])
def test_units_do_not_matter(pair, identity):
    secondary, primary = pair
    plain = InstrumentTransfer(identity=identity).fit(secondary, primary).transform(secondary)
    scaled = InstrumentTransfer(identity=identity).fit(1e3 * secondary, 1e-2 * primary)
    assert_allclose(scaled.transform(1e3 * secondary), 1e-2 * plain)
    with pytest.raises(ValueError, match="window == -1"):
        InstrumentTransfer(-1).fit(secondary, primary)


@pytest.mark.parametrize("secondary", ["mp5", "mp6"])
def test_ten_standards_do_for_corn(secondary):
    """At most 1.3 times the error of a calibration with all rows on the other instrument."""
    derive = SavitzkyGolay(15, 2, 1)
    master = load_nir("corn", instrument="m5")
    X, Y = derive.fit_transform(master.data), master.target
    Z = derive.transform(load_nir("corn", instrument=secondary).data)
    errors = {"transfer": 0.0, "recalibration": 0.0, "none": 0.0}
    options = {"n_components": 15, "cv": 10, "rule": "pooled_one_se"}
    for seed in range(2):
        rows = np.random.default_rng(seed).permutation(80)
        train, test = rows[:60], rows[60:]
        standards = train[kennard_stone(X[train], 10)]
        transfer = InstrumentTransfer().fit(Z[standards], X[standards])
        for y in Y.T:
            model = ComponentSearchCV(PLS(scale=False), **options).fit(X[train], y[train])
            again = ComponentSearchCV(PLS(scale=False), **options).fit(Z[train], y[train])
            unit = y.std()
            moved = transfer.transform(Z[test])
            errors["transfer"] += rmse(y[test], model.predict(moved)) / unit
            errors["recalibration"] += rmse(y[test], again.predict(Z[test])) / unit
            with pytest.warns(OutsideDomainWarning, match="not like those of the fit"):
                errors["none"] += rmse(y[test], model.predict(Z[test])) / unit
    assert errors["transfer"] < 1.3 * errors["recalibration"]
    assert errors["none"] > 3 * errors["recalibration"]  # without transfer the model is useless


@parametrize_with_checks([InstrumentTransfer(), InstrumentTransfer(None)])
def test_sklearn_contract(estimator, check):
    check(estimator)


def test_slope_and_bias_undo_a_line():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 5))
    Y = X[:, :2] + 0.1 * rng.normal(size=(30, 2))
    model = PLS(3).fit(X, Y)
    moved = Y * [2.0, 0.5] + [1.0, -3.0]
    found = SlopeBias(FrozenEstimator(model)).fit(X[:8], moved[:8])
    for j in range(2):
        peer = LinearRegression().fit(model.predict(X[:8])[:, [j]], moved[:8, j])
        assert_allclose(found.predict(X)[:, j], peer.predict(model.predict(X)[:, [j]]))
    shifted = SlopeBias(model, slope=False).fit(X[:3], moved[:3])
    assert_allclose(shifted.predict(X[:3]).mean(axis=0), moved[:3].mean(axis=0))
    assert_allclose(clone(found).fit(X[:8], moved[:8]).slope_, found.slope_)
    with pytest.raises(NotFittedError, match="fitted already"):
        SlopeBias(PLS()).fit(X, Y)


def test_spiking_is_a_weighted_fit():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    both, outputs, weights = spike(X[:30], y[:30], X[30:], y[30:], share=0.25)
    assert_allclose([weights[30:].sum() / weights.sum(), weights.mean()], [0.25, 1.0])
    repeated = np.r_[np.arange(30), np.arange(30, 40)]
    assert_allclose(both, X[repeated])
    fit = PLS(2).fit(both, outputs, sample_weight=weights)
    # A share of one quarter is that of the ten rows among forty.
    assert_allclose(fit.coef_, PLS(2).fit(X, y).coef_)
    with pytest.raises(ValueError, match="X_new has 2 columns"):
        spike(X, y, X[:, :2], y)
    with pytest.raises(ValueError, match="share == 1"):
        spike(X, y, X, y, share=1)


def test_equal_predictions_determine_no_slope():
    X = np.arange(12.0).reshape(6, 2)
    model = LinearRegression().fit(X, np.column_stack([np.full(6, 3.0), X[:, 0]]))
    model.coef_[0] = 0.0
    reference = np.column_stack([X[:, 0], 2 * X[:, 0] + 1])
    found = SlopeBias(model).fit(X, reference)
    assert_allclose(found.slope_, [1.0, 2.0])
    assert_allclose(found.bias_, [X[:, 0].mean() - 3.0, 1.0], atol=1e-12)
