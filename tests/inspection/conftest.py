"""Data and models that every diagnostic is tried on."""

import numpy as np
import pytest

from isthmus import PCR, PLS, ReducedRankRegression

MODELS = [
    PCR(3),
    PCR(2, scale=True),
    PLS(3),
    PLS(2, scale=False),
    ReducedRankRegression(2, alpha=0.5),
    ReducedRankRegression(2, alpha=3.0, scale=True),
]


@pytest.fixture(params=range(2))
def rng(request):
    return np.random.default_rng(request.param)


@pytest.fixture
def data(rng):
    """Off-centre, with columns of unlike scale: centred or standardised data would hide errors."""
    X = rng.normal(size=(40, 6)) * [1, 2, 0.5, 1, 3, 1] + [5, -3, 0, 1, 2, 8]
    Y = X @ rng.normal(size=(6, 3)) * [1.0, 0.3, 5.0] + rng.normal(size=(40, 3)) - 7
    return X, Y


@pytest.fixture(params=MODELS, ids=repr)
def model(request, data):
    return request.param.fit(*data)


@pytest.fixture(params=["1-D", "2-D"])
def fitted(request, data):
    """Models on one target and on several, with their data."""

    def fit(estimator):
        X, Y = data
        y = Y[:, 0] if request.param == "1-D" else Y
        return estimator.fit(X, y), X, y

    return fit
