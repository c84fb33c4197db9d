"""Oracles: Beer and Lambert without scatter, the places of the bands, a calibration and its transfer."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline

from isthmus import PLS
from isthmus.datasets import make_spectra
from isthmus.datasets.spectra import BANDS
from isthmus.features import InstrumentTransfer, NormalVariate
from isthmus.inspection import OutsideDomainWarning, figures_of_merit, rmse
from isthmus.model_selection import kennard_stone


def test_without_scatter_and_noise_absorbances_are_linear_but_for_temperature():
    found = make_spectra(40, scatter=0.0, noise=0.0, random_state=0)
    rest = found.data - 0.3 - found.target / 100 @ found.pure
    # What is left is the shift of the water bands: one direction.
    strengths = np.linalg.svd(rest, compute_uv=False)
    assert strengths[1] < 1e-10 * strengths[0] or strengths[0] < 1e-10
    assert_array_equal(found.wavelengths, np.arange(1100, 2500, 2))


@pytest.mark.parametrize("k", range(4))
def test_peaks_are_where_the_handbooks_have_them(k):
    found = make_spectra(2, random_state=0)
    name = found.target_names[k]
    strongest = max((band for band in BANDS[name] if band[0] > 1100), key=lambda band: band[1])
    assert abs(found.wavelengths[found.pure[k].argmax()] - strongest[0]) <= 4


def test_both_instruments_measure_the_same_samples():
    first, second = (
        make_spectra(60, instrument=i, random_state=3) for i in ("primary", "secondary")
    )
    assert_array_equal(first.target, second.target)
    assert 0.005 < np.abs(first.data - second.data).mean() < 0.2
    assert_array_equal(first.data, make_spectra(60, random_state=3).data)


def errors_with_and_without_transfer(seed):
    first, second = (
        make_spectra(120, instrument=i, random_state=seed) for i in ("primary", "secondary")
    )
    model = make_pipeline(NormalVariate(), PLS(9, scale="y")).fit(
        first.data[:80], first.target[:80]
    )
    figures = figures_of_merit(first.target[80:], model.predict(first.data[80:]))
    assert figures.rpd.min() > 3
    standards = kennard_stone(first.data[:80], 10)
    transfer = InstrumentTransfer().fit(second.data[standards], first.data[standards])
    with warnings.catch_warnings():  # most draws tell that the instrument is another
        warnings.simplefilter("ignore", OutsideDomainWarning)
        plain = rmse(second.target[80:], model.predict(second.data[80:]))
    moved = rmse(second.target[80:], model.predict(transfer.transform(second.data[80:])))
    assert_allclose(first.target.mean(axis=0), [12, 11, 6, 60], atol=1.5)
    return moved, plain


def test_a_calibration_predicts_and_can_be_transferred():
    # One draw in which an output happens to need no transfer decides nothing.
    found = [errors_with_and_without_transfer(seed) for seed in range(5)]
    moved, plain = np.mean(found, axis=0)
    assert (moved < 0.75 * plain).all()
