"""scikit-learn's own checks of estimators, without exceptions."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from isthmus import KernelMap, Landmarks
from isthmus.features import FourierFeatures

ESTIMATORS = [
    KernelMap(),
    KernelMap("polynomial", 0.95, center=False),
    KernelMap(method="landmarks", n_landmarks=10),
    KernelMap(method="fourier", n_landmarks=10),
    Landmarks(),
    Landmarks(n_components=10, selection="kmeans"),
    Landmarks(n_components=10, selection="leverage"),
    FourierFeatures(),
]


@pytest.mark.filterwarnings("ignore:n_components == .* landmarks are more than")
@pytest.mark.filterwarnings("ignore:n_components == .* is more than the rank")
@parametrize_with_checks(ESTIMATORS)
def test_sklearn_contract(estimator, check):
    check(estimator)
