"""Oracles: the operator of a linear treatment, polynomials, scipy, closed forms of the corrections."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.utils.estimator_checks import parametrize_with_checks

from isthmus.features.treatments import (
    Absorbance,
    Baseline,
    Detrend,
    GapDerivative,
    NormalVariate,
    SavitzkyGolay,
    ScatterCorrection,
    Whittaker,
)

LINEAR = [SavitzkyGolay(), SavitzkyGolay(9, 2, 1), GapDerivative(3), Detrend(2), Whittaker(50.0)]
ROWS = np.random.default_rng(0).normal(size=(6, 30)) + 3
T = np.linspace(0, 1, 30)


@pytest.mark.parametrize("treatment", LINEAR, ids=repr)
def test_the_operator_is_the_treatment(treatment):
    fitted = treatment.fit(ROWS)
    assert_allclose(ROWS @ fitted.operator_.T, fitted.transform(ROWS), atol=1e-12)


def test_polynomials_are_kept_derived_and_removed():
    line, square = 2 + 3 * T, T**2
    step = T[1] - T[0]
    rows = np.stack([line, square])
    assert_allclose(SavitzkyGolay(7, 2).fit_transform(rows), rows, atol=1e-12)
    slopes = SavitzkyGolay(7, 2, 1).fit_transform(rows) / step
    assert_allclose(slopes, np.stack([np.full(30, 3.0), 2 * T]), atol=1e-10)
    assert_allclose(GapDerivative(2).fit_transform(rows)[0] / step, 3.0)
    assert_allclose(Detrend(2).fit_transform(rows), 0, atol=1e-12)
    assert_allclose(Whittaker(1e3).fit_transform(line[None]), line[None], atol=1e-8)


def test_whittaker_solves_its_equations():
    D = np.diff(np.eye(30), 2, axis=0)
    expected = np.linalg.solve(np.eye(30) + 7.0 * D.T @ D, ROWS.T).T
    assert_allclose(Whittaker(7.0).fit_transform(ROWS), expected)


def test_corrections_of_rows_undo_offset_and_slope():
    base = np.sin(5 * T) + 2
    rows = np.stack([a + b * base for a, b in ((0, 1), (3, 0.5), (-1, 4))])
    assert_allclose(np.ptp(NormalVariate().fit_transform(rows), axis=0), 0, atol=1e-12)
    corrected = ScatterCorrection().fit_transform(rows)
    assert_allclose(corrected, np.tile(rows.mean(axis=0), (3, 1)), atol=1e-12)
    assert_allclose(Absorbance().fit_transform([[0.1, 1.0], [0.01, 1e-9]]), [[1, 0], [2, 6]])


def test_extended_scatter_correction_undoes_scale_and_polynomial():
    base = np.sin(9 * T) + 2
    rows = np.stack([b * base + c + d * T + e * T**2 for b, c, d, e in np.eye(4) + 0.5])
    found = ScatterCorrection(2).fit_transform(rows)
    assert_allclose(found, np.tile(rows.mean(axis=0), (4, 1)), atol=1e-10)


@pytest.mark.parametrize("degree", [0, 2])
def test_scatter_correction_is_a_regression_on_the_reference_and_powers(degree):
    fitted = ScatterCorrection(degree).fit(ROWS)
    design = np.column_stack([fitted.reference_, *(T**k for k in range(degree + 1))])
    for row, treated in zip(ROWS, fitted.transform(ROWS), strict=True):
        slopes = np.linalg.lstsq(design, row, rcond=None)[0]
        expected = fitted.reference_ + (row - design @ slopes) / slopes[0]
        assert_allclose(treated, expected, atol=1e-8)


def test_the_baseline_meets_its_equations_and_lies_below_peaks():
    places = np.linspace(0, 1, 200)
    slow = 3 + 2 * places - places**2
    peaks = np.exp(-((places - 0.3) ** 2) / 2e-4) + 2 * np.exp(-((places - 0.7) ** 2) / 2e-4)
    treated = Baseline(1e4, 1e-3).fit_transform((slow + peaks)[None])[0]
    assert_allclose(treated, peaks, atol=0.05)  # peaks of height 1 and 2
    row, D = ROWS[0], np.diff(np.eye(30), 2, axis=0)
    z = row - Baseline(10.0, 0.1).fit_transform(row[None])[0]
    W = np.diag(np.where(row > z, 0.1, 0.9))
    assert_allclose((W + 10 * D.T @ D) @ z, W @ row, atol=1e-10)


def test_the_reference_is_that_of_the_training_rows():
    fitted = ScatterCorrection().fit(ROWS[:3])
    assert_allclose(fitted.reference_, ROWS[:3].mean(axis=0))
    assert_allclose(fitted.transform(ROWS)[:3], fitted.transform(ROWS[:3]))


@pytest.mark.parametrize(
    ("treatment", "message"),
    [
        (SavitzkyGolay(8), "window == 8, must be odd"),
        (SavitzkyGolay(5, 2, 3), "derivative == 3"),
        (GapDerivative(0), "gap == 0"),
        (Whittaker(-1.0), "strength == -1.0"),
        (Baseline(asymmetry=1.0), "asymmetry == 1.0"),
        (ScatterCorrection(-1), "degree == -1"),
    ],
)
def test_errors_name_the_parameter(treatment, message):
    with pytest.raises(ValueError, match=message):
        treatment.fit(ROWS)


CORRECTIONS = [
    NormalVariate(),
    ScatterCorrection(),
    ScatterCorrection(2),
    Baseline(),
    Absorbance(),
]


@parametrize_with_checks([*LINEAR, *CORRECTIONS])
def test_sklearn_contract(estimator, check):
    check(estimator)
