"""Laws of compression and of kernel dependency estimation: units, shifts and orders.

A model joins by being in ``MODELS``. Exceptions are listed by name, with the reason.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import KernelPCA
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.svm import SVC, OneClassSVM

from isthmus import DependencyRegressor, KernelMap, compress
from isthmus.compression.arguments import METHODS
from isthmus.regression import PLS, ReducedRankRegression

MODELS = {
    "KernelRidge": KernelRidge(kernel="rbf", gamma=0.3, alpha=0.1),
    "dual": DependencyRegressor(KernelMap(), Ridge(0.1)),
    "reduced rank": DependencyRegressor(KernelMap(), ReducedRankRegression(2, alpha=0.1)),
    "pls": DependencyRegressor(KernelMap(n_components=20), PLS(2, scale=False)),
    "reduced rank, scaled": DependencyRegressor(
        KernelMap(), ReducedRankRegression(2, alpha=0.1), scale_y=True
    ),
    "pls, scaled": DependencyRegressor(
        KernelMap(n_components=20), PLS(2, scale=False), scale_y=True
    ),
}
SHARE_BETWEEN_OUTPUTS = {
    "reduced rank": "directions of the outputs are found in their units: scale_y=True",
    "pls": "covariances with the outputs are in their units: scale_y=True",
}
NO_CONSTANT = {"KernelRidge": "scikit-learn's has no constant term"}
# compress: "Several outputs count by their sizes". With scale_y=True they have one size.
COUNT_BY_SIZE = {"KernelRidge", "dual", "reduced rank", "pls"}


def make(seed=0, n=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    T = np.tanh(X @ rng.normal(size=(3, 2)))
    return X, T @ rng.normal(size=(2, 3)) + 0.1 * rng.normal(size=(n, 3))


X, Y = make()
NEW = make(1)[0]


def predicted(name, A, B, new):
    return MODELS[name].fit(A, B).predict(new)


@pytest.mark.parametrize("name", MODELS)
class TestEachModel:
    @pytest.mark.parametrize("unit", [1e-6, 1e-3, 1e3, 1e6])
    def test_the_unit_of_one_output(self, name, unit):
        factor = np.array([1.0, unit, 1.0])
        one, other = predicted(name, X, Y, NEW), predicted(name, X, Y * factor, NEW) / factor
        if name in SHARE_BETWEEN_OUTPUTS:
            assert np.abs(one - other).max() > 1e-3  # else it need not be listed
        else:
            assert_allclose(other, one, atol=1e-8)

    def test_shifts_orders_and_the_unit_of_the_inputs(self, name):
        one = predicted(name, X, Y, NEW)
        rows = np.random.default_rng(3).permutation(len(X))
        assert_allclose(predicted(name, X[rows], Y[rows], NEW), one, atol=1e-8)
        assert_allclose(
            predicted(name, X[:, ::-1], Y[:, ::-1], NEW[:, ::-1])[:, ::-1], one, atol=1e-8
        )
        assert_allclose(predicted(name, X + 4, Y, NEW + 4), one, atol=1e-8)
        if name in NO_CONSTANT:
            return
        assert_allclose(predicted(name, 100 * X, Y, 100 * NEW), one, atol=1e-8)
        shift = np.array([7.0, 0.0, -9.0])
        assert_allclose(predicted(name, X, Y + shift, NEW) - shift, one, atol=1e-8)

    @pytest.mark.parametrize("method", [m for m in METHODS if m != "landmarks"])
    def test_compressed(self, name, method):
        """One factor for all outputs, and a shift of the inputs; where listed not one for each."""
        size = None if method == "rank" else 12
        fits = {}
        for key, factor, shift in (
            ("as it is", 1.0, 0.0),
            ("all", 1e4, 0.0),
            ("one", np.array([1.0, 1e4, 1.0]), 0.0),
            ("shift", 1.0, 5.0),
        ):
            model = MODELS[name].fit(X + shift, Y * factor)
            small = compress(model, size, method=method, max_iter=10)
            fits[key] = small.compression_.n_points, small.predict(NEW + shift) / factor
        same = ["all", "shift"] if name in COUNT_BY_SIZE else ["all", "shift", "one"]
        for key in same:
            assert fits[key][0] == fits["as it is"][0]
            assert_allclose(fits[key][1], fits["as it is"][1], atol=1e-4)


def test_scaled_outputs_are_those_of_a_fit_to_scaled_outputs():
    unit = Y.std(axis=0)
    for map_ in (Ridge(0.1), ReducedRankRegression(2, alpha=0.1)):
        scaled = DependencyRegressor(KernelMap(), map_, scale_y=True).fit(X, Y * [1, 1e3, 1])
        plain = DependencyRegressor(KernelMap(), map_).fit(X, Y / unit)
        truth = plain.predict(NEW) * unit * [1, 1e3, 1]
        assert_allclose(scaled.predict(NEW), truth, rtol=1e-9)
        assert_allclose(scaled.predict_embedding(NEW), truth, rtol=1e-9)
        assert_allclose(scaled.to_expansion()(NEW), truth, rtol=1e-9)
        assert_allclose(scaled.with_expansion(scaled.to_expansion()).predict(NEW), truth, rtol=1e-9)
        inner = scaled.with_inner_expansion(scaled.inner_expansion())
        assert_allclose(inner.predict(NEW), truth, rtol=1e-9)


def test_objects_and_kernels_of_outputs_have_no_scale():
    with pytest.raises(ValueError, match="scale_y == True is for outputs without a kernel"):
        DependencyRegressor(outputs=KernelMap(), scale_y=True).fit(X, Y)
    with pytest.raises(ValueError, match="scale_y == 'yes', must be True or False"):
        DependencyRegressor(scale_y="yes").fit(X, Y)


def decisions(kind, unit, shift, order):
    """What a compressed machine says of new rows, fitted in other units and another order."""
    gamma = 0.3 / unit**2
    A, labels = (unit * X + shift)[order], (Y[:, 0] > np.median(Y[:, 0]))[order]
    new = unit * NEW + shift
    if kind == "transformer":
        coordinates = compress(KernelPCA(2, kernel="rbf", gamma=gamma).fit(A), 15).transform(new)
        return np.abs(coordinates)  # an axis may point either way
    model = (
        SVC(gamma=gamma, tol=1e-10) if kind == "classifier" else OneClassSVM(gamma=gamma, tol=1e-10)
    )
    return compress(model.fit(A, labels), 15).decision_function(new)


@pytest.mark.parametrize("kind", ["classifier", "detector", "transformer"])
def test_decisions_do_not_depend_on_units_shifts_or_order(kind):
    everything = np.arange(len(X))
    expected = decisions(kind, 1.0, 0.0, everything)
    tolerance = (
        1e-5 * np.abs(expected).max()
    )  # libsvm stops at 1e-10, and other points are then chosen
    assert_allclose(decisions(kind, 1e3, 0.0, everything), expected, atol=tolerance)
    assert_allclose(decisions(kind, 1.0, 40.0, everything), expected, atol=tolerance)
    order = np.random.default_rng(5).permutation(len(X))
    assert_allclose(decisions(kind, 1.0, 0.0, order), expected, atol=tolerance)
