"""Oracle: coefficients of measured columns predict what the pipeline predicts."""

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isthmus import PLS, ComponentSearchCV
from isthmus.features import Detrend, NormalVariate, SavitzkyGolay
from isthmus.inspection import CoefficientsDisplay

matplotlib.use("Agg")
RNG = np.random.default_rng(0)
X = pd.DataFrame(
    RNG.normal(size=(30, 25)).cumsum(axis=1), columns=[str(1100 + 2 * j) for j in range(25)]
)
Y = X.to_numpy()[:, [3, 12]] + 0.1 * RNG.normal(size=(30, 2))


@pytest.mark.parametrize(
    "model",
    [
        PLS(3),
        make_pipeline(SavitzkyGolay(7, 2, 1), PLS(3)),
        make_pipeline(Detrend(1), SavitzkyGolay(5), StandardScaler(), PLS(3)),
        ComponentSearchCV(make_pipeline(SavitzkyGolay(7, 2, 1), PLS()), n_components=4),
    ],
    ids=["pls", "derivative", "three", "search"],
)
def test_coefficients_are_those_of_the_measured_columns(model):
    model.fit(X, Y)
    display = CoefficientsDisplay.from_estimator(model, targets=["a", "b"], names=list(X.columns))
    assert display.measured
    change = RNG.normal(size=(5, 25))
    first, moved = model.predict(X[:5]), model.predict(X[:5] + change)
    assert_allclose(moved - first, change @ display.coefficients.T, atol=1e-9)
    assert_allclose(display.ax_.lines[0].get_xdata(), 1100 + 2 * np.arange(25))
    plt.close(display.figure_)


def test_behind_a_correction_of_rows_they_are_those_of_the_treated_curve():
    model = make_pipeline(NormalVariate(), PLS(2)).fit(X, Y)
    display = CoefficientsDisplay.compute(model)
    assert not display.measured
    assert_allclose(display.coefficients, model[-1].coef_)
