"""Laws of treatments, transfers and kernels: what must not change when units, order or copies change.

A treatment joins by being in ``TREATMENTS``, with the power of the unit of its curves in its answers;
a kernel of vectors by being in ``KERNELS``. ``test_laws.py`` has the regressions on top of kernel maps.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from isthmus import features
from isthmus.features import (
    Absorbance,
    Baseline,
    BlockTreatments,
    Detrend,
    GapDerivative,
    InstrumentTransfer,
    NormalVariate,
    SavitzkyGolay,
    ScatterCorrection,
    Whittaker,
)
from isthmus.kernels import (
    RBF,
    Cosine,
    Exponential,
    Gaussian,
    HistogramIntersection,
    L2Laplacian,
    Laplacian,
    Linear,
    Metric,
    Normalised,
    Polynomial,
    gram,
)

# Answers to curves in another unit: times its first power, or none.
TREATMENTS = [
    (SavitzkyGolay(), 1),
    (SavitzkyGolay(derivative=1), 1),
    (GapDerivative(), 1),
    (Detrend(), 1),
    (Whittaker(), 1),
    (NormalVariate(), 0),
    (ScatterCorrection(), 1),
    (ScatterCorrection(2), 1),
    (Baseline(), 1),
    (BlockTreatments([slice(0, 15), slice(15, 30)], [NormalVariate(), None]), 0),
]
SHIFTED = {Absorbance: "a unit of reflectances is a constant of absorbances"}
TRANSFERS = [
    InstrumentTransfer(),
    InstrumentTransfer(identity=False),
    InstrumentTransfer(None),
    InstrumentTransfer(2, identity=False, alpha=0.0, n_components=2),
]
# Kernels, the power of the unit of the inputs that their values have, and the one of a width that is given.
KERNELS = [
    (RBF(gamma=0.1), 0, -2),
    (Laplacian(gamma=0.1), 0, -1),
    (L2Laplacian(gamma=0.1), 0, -1),
    (Gaussian(Linear(), gamma=0.1), 0, -2),
    (Exponential(gamma=0.01), 0, -2),
    (Polynomial(gamma=0.1), 0, -2),
    (Polynomial(gamma=0.1, coef0=0), 6, 0),
    (Linear(), 2, 0),
    (Cosine(), 0, 0),
    (Normalised(Linear()), 0, 0),
    (HistogramIntersection(), 1, 0),
    (Metric("additive_chi2"), 1, 0),
]


def curves(seed=0, n=20, p=30):
    """Positive curves with peaks of different heights on sloping ground, below one."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 1, p)
    peaks = np.exp(-((t - rng.uniform(0.2, 0.8, size=(3, 1))) ** 2) / 0.02)
    heights, ground = rng.uniform(0.05, 0.2, size=(n, 3)), rng.uniform(0.1, 0.2, size=(n, 1))
    return heights @ peaks + ground * (1 + 0.3 * t) + 0.002 * rng.random((n, p))


X, NEW = curves(), curves(1)


@pytest.mark.parametrize(("treatment", "power"), TREATMENTS, ids=str)
class TestEachTreatment:
    @pytest.mark.parametrize("unit", [1e-6, 1e-3, 1e3, 1e6])
    def test_units(self, treatment, power, unit):
        plain = clone(treatment).fit(X).transform(NEW)
        scaled = clone(treatment).fit(unit * X).transform(unit * NEW)
        assert_allclose(scaled / unit**power, plain, rtol=1e-8, atol=1e-8 * np.abs(plain).max())

    def test_rows(self, treatment, power):
        """Their order and copies among those fitted change nothing, and each is treated alone."""
        plain = clone(treatment).fit(X).transform(NEW)
        atol = 1e-10 * np.abs(plain).max()
        for rows in (np.random.default_rng(0).permutation(len(X)), np.repeat(np.arange(len(X)), 2)):
            assert_allclose(clone(treatment).fit(X[rows]).transform(NEW), plain, atol=atol)
        one_by_one = [clone(treatment).fit(X).transform(NEW[[i]])[0] for i in range(len(NEW))]
        assert_allclose(one_by_one, plain, atol=atol)


def test_absorbances_are_shifted_by_units():
    plain, scaled = Absorbance().fit_transform(X), Absorbance().fit_transform(X / 100)
    assert_allclose(scaled, plain + 2, rtol=1e-12)


@pytest.mark.parametrize("transfer", TRANSFERS, ids=str)
class TestEachTransfer:
    def moved(self, transfer, primary=1.0, secondary=1.0, shift=0.0, rows=slice(None)):
        """New rows of the second instrument, which sees all through a slope and a blur."""

        def blurred(curves):
            return 0.9 * curves + 0.05 * np.roll(curves, 1, axis=1) + 0.1

        model = clone(transfer).fit(secondary * blurred(X)[rows] + shift, primary * X[rows])
        return model.transform(secondary * blurred(NEW) + shift) / primary

    @pytest.mark.parametrize("unit", [1e-6, 1e6])
    def test_units(self, transfer, unit):
        plain = self.moved(transfer)
        assert_allclose(self.moved(transfer, unit, unit), plain, rtol=1e-6)
        if not transfer.identity:  # else a spectrum stays as it is, in its own units
            assert_allclose(self.moved(transfer, 1.0, unit), plain, rtol=1e-6)

    def test_shifts_and_rows(self, transfer):
        plain = self.moved(transfer)
        assert_allclose(self.moved(transfer, shift=3.0), plain, rtol=1e-6)
        for rows in (np.random.default_rng(0).permutation(len(X)), np.repeat(np.arange(len(X)), 2)):
            assert_allclose(self.moved(transfer, rows=rows), plain, rtol=1e-8)


@pytest.mark.parametrize(("kernel", "power", "width"), KERNELS, ids=str)
class TestEachKernel:
    def test_orders(self, kernel, power, width):
        K = gram(kernel, X, NEW)
        rows, columns = np.random.default_rng(0).permutation(len(X)), np.arange(X.shape[1])[::-1]
        assert_allclose(gram(kernel, X[rows], NEW), K[rows], rtol=1e-12)
        assert_allclose(gram(kernel, X[:, columns], NEW[:, columns]), K, rtol=1e-10)
        assert_allclose(gram(kernel, NEW, X), K.T, rtol=1e-12)

    @pytest.mark.parametrize("unit", [1e-3, 1e3])
    def test_units(self, kernel, power, width, unit):
        K, given = gram(kernel, X, NEW), clone(kernel)
        if width:
            given = given.set_params(gamma=kernel.get_params()["gamma"] * unit**width)
        assert_allclose(gram(given, unit * X, unit * NEW) / float(unit) ** power, K, rtol=1e-9)


def test_every_treatment_is_here():
    on_trial = {type(model) for model, _ in TREATMENTS} | set(SHIFTED)
    on_trial |= {type(model) for model in TRANSFERS}
    # Maps of kernels are on trial with a regression on top, in test_laws.py.
    maps = {"KernelMap", "Landmarks", "FourierFeatures"}
    assert {kind.__name__ for kind in on_trial} == set(features.__all__) - maps
