"""What every supervised projection must do, looped over all of them."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from isthmus.datasets import make_curves
from isthmus.projections import COIR, KDR, MORP, SIR, KernelCCA, KernelSIR

CONTRACT = [
    SIR(),
    KernelSIR(),
    KernelSIR(alpha="cv", cv=2),
    COIR(),
    COIR(solver="features", n_landmarks=20, cv=None),
    MORP(cv=None),
    MORP(missing="ridge", cv=None),
    KernelCCA(cv=None),
    KDR(max_iter=2, tol=0.1),
]
SEEDED = {"cv": 5, "random_state": 0}
ESTIMATORS = [
    SIR(**SEEDED),
    KernelSIR(**SEEDED),
    COIR(**SEEDED),
    MORP(**SEEDED),
    KernelCCA(**SEEDED),
    KDR(max_iter=5, tol=0.1, random_state=0),
]


@parametrize_with_checks(CONTRACT)
def test_sklearn_contract(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ranks of the tiny sets of the checks
        check(estimator)


@pytest.fixture(scope="module")
def data():
    return make_curves(90, 6, random_state=0)[:2]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
class TestAll:
    def test_coordinates_of_new_rows_do_not_depend_on_their_company(self, estimator, data):
        X, y = data
        model = clone(estimator).fit(X[:60], y[:60])
        together = model.transform(X[60:])
        assert_allclose(model.transform(X[60:61]), together[:1], rtol=1e-9, atol=1e-12)
        assert_allclose(
            np.abs(model.transform(X[:60])).max(axis=0), model.transform(X[:60]).max(axis=0)
        )

    def test_round_trips(self, estimator, data):
        X, y = data
        model = clone(estimator).fit(X, y)
        copy = pickle.loads(pickle.dumps(model))
        assert_allclose(copy.transform(X), model.transform(X), rtol=0, atol=0)

    def test_frames_and_names(self, estimator, data):
        X, y = data
        frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
        model = clone(estimator).set_output(transform="pandas").fit(frame, y)
        name = type(estimator).__name__.lower()
        assert list(model.transform(frame).columns) == [f"{name}0", f"{name}1"]

    def test_in_a_pipeline_and_a_grid(self, estimator, data):
        X, y = data
        name = type(estimator).__name__.lower()
        pipe = make_pipeline(clone(estimator), KNeighborsRegressor(5))
        search = GridSearchCV(pipe, {f"{name}__n_components": [1, 2]}, cv=2).fit(X, y)
        assert np.isfinite(search.cv_results_["mean_test_score"]).all()

    def test_float32_stays(self, estimator, data):
        X, y = data
        exact = clone(estimator).fit(X, y)
        model = clone(estimator).fit(X.astype(np.float32), y)
        Z = model.transform(X.astype(np.float32))
        assert Z.dtype == np.float32
        if not isinstance(estimator, KDR):
            assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-4)

    def test_large_units(self, estimator, data):
        X, y = data
        Z = clone(estimator).fit(X, y).transform(X)
        model = clone(estimator).fit(1e8 * X, 1e8 * y)
        scale = 1e8 if isinstance(estimator, KDR) else 1.0
        assert_allclose(model.transform(1e8 * X) / scale, Z, atol=2e-5 * np.abs(Z).max())

    def test_a_constant_column_changes_nothing(self, estimator, data):
        X, y = data
        Z = clone(estimator).fit(X, y).transform(X)
        padded = np.column_stack([X, np.full(len(X), 3.0)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the rank, for SIR
            Zp = clone(estimator).fit(padded, y).transform(padded)
        assert_allclose(Zp, Z, atol=1e-7 * np.abs(Z).max())

    def test_two_rows(self, estimator):
        X, y = np.array([[0.0, 1.0], [2.0, 0.0]]), np.array([1.0, 2.0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = clone(estimator).set_params(n_components=1).fit(X, y)
        z = model.transform(X)[:, 0]
        assert z[0] != z[1] and np.isfinite(z).all()
        assert np.isnan(model.held_out_score_)  # nothing can be held out

    def test_bad_input_is_named(self, estimator, data):
        X, y = data
        model = clone(estimator)
        with pytest.raises(ValueError, match="1 sample"):
            model.fit(X[:1], y[:1])
        with pytest.raises(ValueError, match=r"X (is constant|contains)"):
            model.fit(np.ones_like(X), y)
        for constant in (1.0, 0.1):  # the mean of the second is off by rounding
            with pytest.raises(ValueError, match="y is constant"):
                model.fit(X, np.full(len(y), constant))
        with pytest.raises(ValueError, match="NaN"):
            model.fit(X, np.where(np.arange(len(y)) == 3, np.nan, y))
        with pytest.raises(ValueError, match="NaN"):
            model.fit(np.where(X == X[2, 1], np.nan, X), y)
        with pytest.raises(ValueError, match="requires y"):
            model.fit(X)
        with pytest.raises(ValueError, match="inconsistent numbers"):
            model.fit(X, y[:-1])
        for bad in (0, -1, 1.5, "three", True):
            with pytest.raises(ValueError, match="n_components =="):
                clone(model).set_params(n_components=bad).fit(X, y)

    def test_nothing_of_the_caller_changes(self, estimator, data):
        X, y = data[0].copy(), data[1].copy()
        clone(estimator).fit(X, y)
        assert_allclose(X, data[0], rtol=0)
        assert_allclose(y, data[1], rtol=0)


@pytest.mark.parametrize("estimator", [KernelSIR(), COIR(), MORP(), KernelCCA()])
def test_bad_parameters_are_named(estimator, data):
    X, y = data
    for name, value in [
        ("alpha", -1.0),
        ("alpha", "best"),
        ("alpha", True),
        ("score_scale", "big"),
        ("n_components", "cv"),
        ("solver", "fast"),
        ("cv", 1),
        ("kernel", "no such kernel"),
    ]:
        with pytest.raises(ValueError, match=f"{name} == "):
            clone(estimator).set_params(**{name: value}).fit(X, y)
    with pytest.raises(ValueError, match="n_landmarks == 0"):
        clone(estimator).set_params(solver="features", n_landmarks=0).fit(X, y)


def test_bad_parameters_of_single_projections(data):
    X, y = data
    for bad in (-0.1, 1.1, "half"):
        with pytest.raises(ValueError, match="beta == "):
            MORP(beta=bad).fit(X, y)
    with pytest.raises(ValueError, match="alpha_y == -1"):
        COIR(alpha_y=-1).fit(X, y)
    with pytest.raises(ValueError, match="solver == 'factor' needs"):
        COIR(solver="factor").fit(X, y)
    with pytest.raises(ValueError, match="every correlation is 1"):
        KernelCCA(alpha_y=0).fit(X, y)
    with pytest.raises(ValueError, match="alpha == 0"):
        KDR(alpha=0).fit(X, y)
    with pytest.raises(ValueError, match=r"n_components == 3, must be <= 2: 3 slices"):
        SIR(3, n_slices=3).fit(X, y)
    with pytest.raises(ValueError, match="needs one output"):
        SIR(slices="quantiles").fit(X, X[:, :2])


def test_precomputed_matrices_are_checked(data):
    X, y = data
    K = np.exp(-((X[:, None] - X) ** 2).sum(-1) / 10)
    model = COIR(kernel="precomputed", kernel_y="precomputed").fit(
        K, np.exp(-((y[:, None] - y) ** 2))
    )
    with pytest.raises(ValueError, match=r"shape \(3, 89\), must have 90 columns"):
        model.transform(K[:3, :-1])
    with pytest.raises(ValueError, match="must be square"):
        COIR(kernel="precomputed").fit(K[:, :-1], y)
    with pytest.raises(ValueError, match="not symmetric"):
        COIR(kernel="precomputed").fit(np.triu(K), y)
    with pytest.raises(ValueError, match=r"a precomputed output kernel must be \(90, 90\)"):
        COIR(kernel_y="precomputed").fit(X, K[:, :-1])
    with pytest.raises(ValueError, match="not positive semi-definite"):
        COIR(kernel="precomputed").fit(K - 0.5 * np.eye(len(K)), y)
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        COIR(kernel="precomputed", cv=None).fit(K - 1e-3 * np.eye(len(K)), y)


def test_more_components_than_there_are(data):
    X, y = data
    with pytest.warns(UserWarning, match="more than the rank 2: 2 components"):
        model = MORP(n_components=5, beta=1.0).fit(X, np.c_[y, y**2])
    assert model.transform(X).shape == (90, 2)
    with pytest.warns(UserWarning, match="rank"):
        assert COIR(kernel="linear", n_components=50).fit(X, y).transform(X).shape == (90, 6)
