"""scikit-learn's own checks of estimators, without exceptions."""

from inspect import signature

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from isthmus import COIR, MORP, DependencyRegressor, KernelCCA, KernelMap, KernelSIR, Landmarks
from isthmus.features import FourierFeatures
from isthmus.kernels import RBF, SequenceKernel

ESTIMATORS = [
    KernelMap(),
    KernelMap(0.95, "polynomial", center=False),
    KernelMap(solver="landmarks", n_landmarks=10),
    KernelMap(solver="fourier", n_landmarks=10),
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


@pytest.mark.parametrize(
    "make", [KernelMap, Landmarks, FourierFeatures, KernelSIR, COIR, KernelCCA, MORP]
)
class TestOrder:
    def test_the_number_is_first_and_the_kernel_second(self, make):
        names = list(signature(make).parameters)
        assert names[:2] == ["n_components", "kernel"]
        assert set(names).isdisjoint(
            {"degree", "coef0", "kernel_params", "gamma_y", "method", "scale"}
        )

    @pytest.mark.parametrize(
        "kernel",
        ["rbf", "precomputed", RBF(0.5), rbf_kernel],
        ids=["name", "precomputed", "object", "function"],
    )
    def test_a_kernel_in_the_first_place_is_refused_with_what_to_write(self, make, kernel):
        X = np.random.default_rng(0).normal(size=(20, 3))
        with pytest.raises(ValueError, match=rf"Write {make.__name__}\(kernel="):
            make(kernel).fit(X, X[:, 0])


def test_a_dependency_names_the_stage_with_a_misplaced_kernel():
    for options in (
        {"inputs": KernelMap(SequenceKernel())},
        {"outputs": KernelMap(SequenceKernel())},
    ):
        X = [[0.0], [1.0], [2.0]] if "outputs" in options else ["ab", "ba", "aa"]
        y = ["ab", "ba", "aa"] if "outputs" in options else [0.0, 1.0, 2.0]
        with pytest.raises(ValueError, match=r"Write KernelMap\(kernel="):
            DependencyRegressor(**options).fit(X, y)
