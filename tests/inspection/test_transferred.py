"""Oracles: the covariances written out, a transfer that is exact, planted foreign bands, and shares of good
rows of the second instrument that may be flagged."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.gaussian_process.kernels import RBF
from sklearn.pipeline import make_pipeline

from isthmus import PLS, DependencyRegressor, KernelMap, ReducedRankRegression, load, save
from isthmus.auto import MethodSearchCV
from isthmus.datasets import make_spectra
from isthmus.features import InstrumentTransfer, SavitzkyGolay
from isthmus.inspection import OutsideDomainWarning, Trusted
from isthmus.inspection.intervals import half_widths
from isthmus.inspection.transferred import standards_left_out
from isthmus.model_selection import kennard_stone

TRAIN, NEW = np.arange(90), np.arange(90, 150)


def measure(first, p=300, shift=3.0, noise=1e-3):
    """Spectra of an instrument with fewer columns, other wavelengths, a gain and more noise."""
    places = np.linspace(first.wavelengths[0], first.wavelengths[-1], p) + shift
    seen = np.array([np.interp(places, first.wavelengths, row) for row in first.data])
    return 1.05 * seen + noise * np.random.default_rng(7).standard_normal(seen.shape)


@pytest.fixture(scope="module")
def moved():
    """Primary and secondary spectra, outputs, standards, the model before and after."""
    first = make_spectra(150, random_state=0)
    X, Z, Y = first.data[:, ::2], measure(first), first.target
    rows = kennard_stone(X[TRAIN], 10)
    model = Trusted(PLS(8)).fit(X[TRAIN], Y[TRAIN])
    transfer = InstrumentTransfer().fit(Z[rows], X[rows])
    return X, Z, Y, rows, model, Trusted.after_transfer(model, transfer, Z[rows], X[rows])


def test_good_rows_of_the_second_instrument_are_inside(moved):
    """Of 60 rows at most 9 may be flagged: more are rarer than 1e-3 at a rate of 5 %."""
    _, Z, Y, _, model, after = moved
    transfer = after.estimator_[0]
    before = model.check(transfer.transform(Z[NEW]))
    assert before.outside.mean() > 0.5  # which was the trouble
    found = after.check(Z[NEW])
    assert found.outside.sum() <= 9
    assert_array_equal(found.prediction, before.prediction)
    errors, half = found.prediction - Y[NEW], (found.upper - found.lower) / 2
    inside = ~found.outside
    assert (np.abs(errors) <= half)[inside].mean() >= 0.90
    # 95 % of a normal law are within two spreads: wide, but not idle.
    assert (half[inside] <= 4 * np.sqrt((errors**2).mean(axis=0))).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_array_equal(after.predict(Z[NEW]), found.prediction)


@pytest.mark.parametrize("width", [0.01, 0.05])
def test_rows_with_a_foreign_band_are_still_flagged(moved, width):
    _, Z, _, _, _, after = moved
    at = np.linspace(0, 1, Z.shape[1])
    place = np.random.default_rng(1).uniform(0.1, 0.9, size=(len(NEW), 1))
    strength = 2 * np.median(Z[TRAIN].std(axis=0))
    foreign = Z[NEW] + strength * np.exp(-(((at - place) / width) ** 2))
    found = after.check(foreign)
    assert found.outside.mean() > 0.95
    with pytest.warns(OutsideDomainWarning, match="60 rows"):
        after.predict(foreign)
    # Rows of a third instrument are not those of the second.
    assert after.check(1.2 * Z[NEW][:, ::-1]).outside.all()


def test_errors_of_the_transfer_are_added_to_every_spread(moved):
    X, Z, _, rows, model, after = moved
    left_out = np.empty((10, X.shape[1]))
    for i in range(10):
        rest = np.delete(rows, i)
        left_out[i] = InstrumentTransfer().fit(Z[rest], X[rest]).transform(Z[rows[i : i + 1]])[0]
    assert_array_equal(standards_left_out(after.estimator_[0], Z[rows], X[rows]), left_out)
    old, new = model.domain_.parts["plane"], after.domain_.parts["plane"]
    error = (left_out - X[rows]) / old.scale
    # T2 is the squared length of scores in the inverse of variances plus mean squares of errors.
    scores = ((after.estimator_[0].transform(Z[NEW]) - old.mean) / old.scale) @ old.loadings
    errors = error @ old.loadings
    C = np.diag(1 / old.whitening.diagonal() ** 2) + errors.T @ errors / 10
    T2 = (scores * np.linalg.solve(C, scores.T).T).sum(axis=1)
    assert_allclose(new.statistics(after.estimator_[0].transform(Z[NEW]))["T2"], T2, rtol=1e-8)
    beside = ((error - errors @ old.loadings.T) ** 2).mean(axis=0)
    padded = np.pad(beside, 5, mode="edge")
    pooled = np.array([padded[j : j + 11].mean() for j in range(len(beside))])
    assert_allclose(new.noise**2, old.noise**2 + 2 * pooled, rtol=1e-8)
    # Nearest rows: the same training rows in the new metric.
    points = after.domain_.parts["neighbours"].points
    same = new.scores(new.standardise(X[TRAIN]))
    assert_allclose(points[np.argsort(points[:, 0])], same[np.argsort(same[:, 0])], atol=1e-7)
    # Intervals: squares of what the errors do to predictions beside those of rows left out.
    added = ((model.predict_rows(left_out) - model.predict_rows(X[rows])) ** 2).mean(axis=0)
    own = (model.residual_quantiles_**2).mean(axis=0)
    half = half_widths(model.domain_.scaled_errors, 90, 0.95) * np.sqrt(1 + added / own)
    found = after.check(Z[NEW])
    inside = ~found.outside
    half = half * found.error_scale[:, None]
    assert_allclose(((found.upper - found.lower) / 2)[inside], half[inside])


def test_a_transfer_without_errors_changes_nothing(moved):
    X, _, _, rows, model, _ = moved
    exact = InstrumentTransfer().fit(X[rows], X[rows])
    after = Trusted.after_transfer(model, exact, X[rows], X[rows])
    one, other = after.check(X[NEW]), model.check(X[NEW])
    assert_allclose(one.distance, other.distance, rtol=1e-5)
    assert_allclose(one.upper, other.upper, rtol=1e-6)


@pytest.mark.parametrize(
    "estimator",
    [
        make_pipeline(SavitzkyGolay(7, 2, 1), PLS(6)),
        DependencyRegressor(inputs=KernelMap(kernel=RBF(30.0)), map=ReducedRankRegression(3)),
        MethodSearchCV(methods=["pls"], treatments=None),
    ],
    ids=["pipeline", "kernel", "search"],
)
def test_every_kind_of_model_is_moved_and_saved(moved, estimator, tmp_path):
    X, Z, Y, rows, _, after = moved
    model = estimator if isinstance(estimator, MethodSearchCV) else Trusted(estimator, cv=3)
    model.fit(X[TRAIN], Y[TRAIN])
    other = Trusted.after_transfer(model, after.estimator_[0], Z[rows], X[rows])
    # A transfer adds to what is usual.
    clean = after.estimator_[0].transform(Z[NEW])
    assert (other.check(Z[NEW]).outside <= model.check(clean).outside).all()
    path = tmp_path / "moved.isthmus"
    save(other, path)
    assert_array_equal(load(path).check(Z[NEW]).distance, other.check(Z[NEW]).distance)


def test_frames_keep_their_names(moved):
    X, Z, Y, rows, _, after = moved
    names = [str(1100 + j) for j in range(X.shape[1])]
    model = Trusted(PLS(8)).fit(pd.DataFrame(X[TRAIN], columns=names), Y[TRAIN])
    second = pd.DataFrame(Z, columns=[f"c{j}" for j in range(Z.shape[1])])
    transfer = InstrumentTransfer().fit(second.iloc[rows], X[rows])
    other = Trusted.after_transfer(model, transfer, Z[rows], X[rows])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = other.check(second.iloc[NEW])
        assert_array_equal(other.predict(second.iloc[NEW]), found.prediction)
    assert_allclose(found.distance, after.check(Z[NEW]).distance)
    dead = second.iloc[NEW[:1]].copy()
    dead["c150"] += 1.0  # in the middle of 300 columns, and of 350
    assert "inputs 12" in other.check(dead).reasons[0]
    with pytest.raises(ValueError, match="feature names"):
        other.check(second.iloc[NEW].rename(columns={"c3": "x"}))


def test_what_is_missing_is_told(moved):
    X, Z, _, rows, model, after = moved
    transfer = after.estimator_[0]
    with pytest.raises(ValueError, match="minimum of 4 is required"):
        Trusted.after_transfer(model, transfer, Z[rows[:3]], X[rows[:3]])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        Trusted.after_transfer(model, transfer, Z[rows], X[rows[:9]])
    with pytest.raises(ValueError, match="that of a transfer already"):
        Trusted.after_transfer(after, transfer, Z[rows], X[rows])
