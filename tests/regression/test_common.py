"""What every latent regression must do, looped over all of them: contract, weights, shapes, edges."""

import pickle
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from isthmus import (
    PCR,
    PLS,
    ComponentSearchCV,
    IndicatorClassifier,
    ManifoldPLS,
    ReducedRankRegression,
    StiefelRegression,
)
from isthmus.regression import OPLS

ESTIMATORS = [
    PLS(3),
    PLS(3, scale=False),
    PLS(3, algorithm="simpls"),
    PLS(3, algorithm="kernel"),
    OPLS(3),
    PCR(3),
    PCR(3, scale=True),
    ReducedRankRegression(2, alpha=0.5),
    ReducedRankRegression(2, alpha=0.0),
    ReducedRankRegression(2, alpha=0.5, scale=True),
    ManifoldPLS(2, alpha=0.0),
    ManifoldPLS(2, manifold="product", alpha=0.0),
    StiefelRegression(2, alpha=0.5),
]
CONTRACT = [
    PLS(),
    PLS(algorithm="simpls"),
    PLS(algorithm="kernel"),
    PLS("auto"),
    PLS(missing="em"),
    OPLS(),
    PCR(),
    PCR(missing="em"),
    ReducedRankRegression(),
    ReducedRankRegression("auto"),
    ReducedRankRegression(missing="em"),
    ManifoldPLS(),
    ManifoldPLS(manifold="product"),
    StiefelRegression(),
    StiefelRegression(1, loss="huber"),
    StiefelRegression("auto", loss="huber"),
    StiefelRegression(2, online="proximal"),
    ComponentSearchCV(StiefelRegression()),
    ComponentSearchCV(PLS()),
    ComponentSearchCV(PCR(), rule="one_se"),
    ComponentSearchCV(ReducedRankRegression()),
    IndicatorClassifier(),
    IndicatorClassifier(PLS("auto")),
    IndicatorClassifier(PLS()),
    IndicatorClassifier(OPLS()),
    IndicatorClassifier(ReducedRankRegression()),
]
SHAPES = {"tall": (60, 6, 4), "wide": (12, 40, 4), "square": (9, 9, 3)}
every = pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)


@parametrize_with_checks(CONTRACT)
def test_scikit_learn_contract(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tiny data have fewer components than asked for
        check(estimator)


@pytest.fixture
def estimator_copy(estimator):
    return clone(estimator)


def make(shape, seed=0):
    n, p, q = SHAPES[shape]
    rng = np.random.default_rng(seed)
    X = rng.normal(2, 1, size=(n, p)) * (1 + rng.random(p))
    return X, X[:, :3] @ rng.normal(size=(3, q)) + 0.3 * rng.normal(size=(n, q)) - 3


@every
@pytest.mark.parametrize("shape", SHAPES)
def test_the_pieces_fit_together(estimator, shape):
    X, Y = make(shape)
    model = clone(estimator).fit(X, Y)
    n, p, q = SHAPES[shape]
    T = model.transform(X)
    assert_allclose(model.predict(X), X @ model.coef_.T + model.intercept_, atol=1e-9)
    assert_allclose(model.predict_path(X)[-1], model.predict(X), atol=1e-10)
    assert_allclose(model.coef_path_[-1], model.coef_, atol=1e-10)
    assert model.coef_.shape == (q, p) and model.coef_path_.shape == (model.n_components_, q, p)
    assert_allclose(T.T @ T, model.score_gram_, atol=1e-9 * np.abs(T).max() ** 2 * n)
    assert_allclose(model.fit_transform(X, Y), T)
    # loadings are the least squares ones, and so is the reconstruction
    Z = (X - model.x_mean_) / model.x_scale_
    assert_allclose(model.x_loadings_.T, np.linalg.lstsq(T, Z, rcond=None)[0], atol=1e-8)
    assert_allclose(
        model.inverse_transform(T), T @ model.x_loadings_.T * model.x_scale_ + X.mean(0)
    )
    assert_allclose(np.linalg.norm(model.x_weights_, axis=0), 1.0)
    # the sign rule
    assert (T[np.abs(T).argmax(axis=0), range(T.shape[1])] > 0).all()
    # y scores are coordinates along the loadings
    U = model.y_scores(Y)
    standard = (Y - model.y_mean_) / model.y_scale_
    expected = np.linalg.lstsq(model.y_loadings_, standard.T, rcond=None)[0].T
    assert_allclose(U, expected, atol=1e-9)


@every
@pytest.mark.parametrize("shape", SHAPES)
def test_a_path_is_a_fit_of_every_rank(estimator, shape):
    X, Y = make(shape)
    path = clone(estimator).fit(X, Y).predict_path(X)
    for r, predicted in enumerate(path, start=1):
        shorter = clone(estimator).set_params(n_components=r).fit(X, Y)
        assert_allclose(shorter.predict(X), predicted, atol=1e-9)


@every
@pytest.mark.parametrize("shape", SHAPES)
def test_explained_variance_is_what_a_reconstruction_explains(estimator, shape):
    X, Y = make(shape)
    model = clone(estimator).fit(X, Y)
    Z, V = (X - model.x_mean_) / model.x_scale_, (Y - model.y_mean_) / model.y_scale_
    T = model.transform(X)
    for r in range(1, model.n_components_ + 1):
        rest = Z - T[:, :r] @ np.linalg.lstsq(T[:, :r], Z, rcond=None)[0]
        share = 1 - (rest**2).sum() / (Z**2).sum()
        assert_allclose(model.x_explained_variance_ratio_[:r].sum(), share, atol=1e-10)
        rest = V - T[:, :r] @ model.y_loadings_[:, :r].T
        share = 1 - (rest**2).sum() / (V**2).sum()
        assert_allclose(model.y_explained_variance_ratio_[:r].sum(), share, atol=1e-10)


@every
@pytest.mark.parametrize("shape", SHAPES)
def test_weights_are_repeated_rows(estimator, shape):
    X, Y = make(shape)
    counts = np.arange(len(X)) % 3 + (shape == "square")
    weighted = clone(estimator).fit(X, Y, sample_weight=counts)
    repeated = clone(estimator).fit(np.repeat(X, counts, axis=0), np.repeat(Y, counts, axis=0))
    assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-8, atol=1e-10)
    assert_allclose(weighted.transform(X), repeated.transform(X), rtol=1e-7, atol=1e-9)
    assert_allclose(weighted.x_explained_variance_ratio_, repeated.x_explained_variance_ratio_)


@every
def test_blocks_are_one_fit(estimator):
    X, Y = make("tall")
    batch = clone(estimator).fit(X, Y, sample_weight=np.arange(60) + 1.0)
    blocks = clone(estimator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the first blocks have fewer components
        for rows in np.split(np.arange(60), [1, 3, 20, 21]):
            blocks.partial_fit(X[rows], Y[rows], sample_weight=rows + 1.0)
    assert_allclose(blocks.coef_, batch.coef_, rtol=1e-7, atol=1e-9)
    assert_allclose(blocks.intercept_, batch.intercept_, rtol=1e-7)
    assert blocks.moments_.n_samples == 60


@every
@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csc_matrix])
def test_sparse_is_dense(estimator, container):
    X, Y = make("tall")
    X = np.where(np.abs(X) < 2.5, 0.0, X)
    dense, thin = clone(estimator).fit(X, Y), clone(estimator).fit(container(X), Y)
    assert_allclose(thin.coef_, dense.coef_, rtol=1e-8, atol=1e-10)
    assert_allclose(thin.predict(container(X)), dense.predict(X), rtol=1e-8)
    assert_allclose(
        np.abs(thin.transform(container(X))), np.abs(dense.transform(X)), rtol=1e-7, atol=1e-9
    )


@every
def test_one_output_may_be_flat(estimator):
    X, Y = make("tall")
    flat, column = clone(estimator).fit(X, Y[:, 0]), clone(estimator).fit(X, Y[:, :1])
    assert flat.coef_.shape == (6,) and np.ndim(flat.intercept_) == 0
    assert flat.predict(X).shape == (60,) and column.predict(X).shape == (60, 1)
    assert flat.predict_path(X).shape == (flat.n_components_, 60)
    assert_allclose(flat.predict(X), column.predict(X)[:, 0])
    assert_allclose(flat.predict(X), X @ flat.coef_.T + flat.intercept_)
    assert flat.y_scores(Y[:, 0]).shape == (60, flat.n_components_)


@every
def test_float32_is_computed_in_float64(estimator):
    X, Y = (A.astype(np.float32) for A in make("tall"))
    single = clone(estimator).fit(X, Y)
    double = clone(estimator).fit(X.astype(np.float64), Y.astype(np.float64))
    assert_allclose(single.coef_, double.coef_, rtol=1e-9)
    assert single.predict(X).dtype == single.transform(X).dtype == np.float32
    assert single.predict_path(X).dtype == np.float32


@every
def test_caller_keeps_the_data(estimator):
    X, Y = make("tall")
    X.flags.writeable = Y.flags.writeable = False
    clone(estimator).fit(X, Y, sample_weight=np.ones(60)).predict(X)


# -- scale, constancy, collinearity -----------------------------------------------------------


@every
@pytest.mark.parametrize("factor", [1e-150, 1e-8, 1e8, 1e150])
def test_units_do_not_matter(estimator, factor):
    X, Y = make("tall")
    estimator = clone(estimator)
    plain = clone(estimator).fit(X, Y)
    if getattr(estimator, "alpha", 0) and not estimator.scale:
        estimator.set_params(alpha=estimator.alpha * factor**2)
        if not 0 < estimator.alpha < np.inf:
            pytest.skip("alpha itself is out of range")
    scaled = estimator.fit(X * factor, Y)
    assert_allclose(scaled.predict(X * factor), plain.predict(X), rtol=1e-8)
    scaled = clone(estimator).fit(X * factor, Y * factor)
    assert_allclose(scaled.predict(X * factor) / factor, plain.predict(X), rtol=1e-8)


@every
def test_a_mean_far_away_costs_nothing(estimator):
    X, Y = make("tall")
    offset = 2.0**30  # exact: the shifted data are the same data
    X = np.round(X * 2**10) / 2**10
    plain, far = clone(estimator).fit(X, Y), clone(estimator).fit(X + offset, Y)
    assert_allclose(far.coef_, plain.coef_, rtol=1e-9, atol=1e-11)
    assert_allclose(far.predict(X + offset), plain.predict(X), rtol=1e-8)


@every
@pytest.mark.parametrize("constant", [0.0, 0.1, 1e9])
def test_constant_columns(estimator, constant):
    X, Y = make("tall")
    wider = np.insert(X, 2, constant, axis=1)
    model, plain = clone(estimator).fit(wider, Y), clone(estimator).fit(X, Y)
    assert (model.coef_[:, 2] == 0).all()
    assert_allclose(np.delete(model.coef_, 2, axis=1), plain.coef_, rtol=1e-9)
    taller = np.insert(Y, 1, constant, axis=1)
    model = clone(estimator).fit(X, taller)
    assert (model.coef_[1] == 0).all()
    assert_allclose(model.predict(X)[:, 1], constant)
    assert_allclose(np.delete(model.predict(X), 1, axis=1), plain.predict(X), rtol=1e-9)


@every
def test_outputs_that_do_not_vary(estimator):
    X, _ = make("tall")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="n_components")
        model = clone(estimator).fit(X, np.full((60, 2), 0.3))
    assert not model.coef_.any()
    assert_allclose(model.predict(X), 0.3)
    if not isinstance(model, PCR):
        assert model.n_components_ == 0
        assert model.transform(X).shape == (60, 0)


@every
def test_inputs_that_do_not_vary(estimator):
    Y = make("tall")[1]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="n_components")
        model = clone(estimator).fit(np.full((60, 3), 0.7), Y)
    assert model.n_components_ == 0
    assert_allclose(model.predict(np.zeros((2, 3))), np.tile(Y.mean(0), (2, 1)))


@every
def test_collinear_inputs_give_the_minimum_norm(estimator):
    X, Y = make("tall")
    double = np.hstack([X, X])
    model = clone(estimator).fit(double, Y)
    halves = model.coef_[:, :6], model.coef_[:, 6:]
    assert_allclose(halves[0], halves[1], rtol=1e-6, atol=1e-10)


@every
def test_more_features_than_samples_stay_in_the_row_space(estimator):
    X, Y = make("wide")
    if estimator.scale:
        pytest.skip("scaled columns have another row space")
    model = clone(estimator).fit(X, Y)
    centred = X - X.mean(0)
    null = np.eye(40) - np.linalg.pinv(centred) @ centred
    assert np.abs(model.coef_ @ null).max() < 1e-12 * np.abs(model.coef_).max() * 40


@every
@pytest.mark.parametrize("size", [1e-13, 1e-9, 1e-5])
def test_outputs_that_all_but_coincide(estimator, size):
    X, Y = make("tall")
    rng = np.random.default_rng(1)
    Y = np.outer(Y[:, 0], [1.0, 2.0, -1.0, 3.0]) + size * rng.normal(size=(60, 4))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="n_components")
        model = clone(estimator).set_params(n_components=4).fit(X, Y)
    assert np.isfinite(model.x_loadings_).all() and np.isfinite(model.coef_).all()
    assert (model.x_explained_variance_ratio_ > -1e-9).all()
    assert model.x_explained_variance_ratio_.sum() < 1 + 1e-9


@every
def test_two_rows_are_enough_and_one_is_not(estimator):
    X, Y = make("wide")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="n_components")
        model = clone(estimator).fit(X[:2], Y[:2])
        assert model.n_components_ == 1 and np.isfinite(model.predict(X)).all()
    with pytest.raises(ValueError, match="1 sample"):
        clone(estimator).fit(X[:1], Y[:1])
    with pytest.raises(ValueError, match="1 sample"):
        clone(estimator).fit(X[:3], Y[:3], sample_weight=[0, 1, 0])


@pytest.mark.parametrize(
    "estimator",
    [
        PLS(5),
        PCR(5),
        ReducedRankRegression(2),
        ManifoldPLS(2),
        StiefelRegression(2),
        PLS("auto"),
        PLS("auto", scale=False),
        ComponentSearchCV(ReducedRankRegression(scale=True)),
    ],
    ids=str,
)
def test_very_many_features_need_little_memory(estimator):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(50, 100_000)), rng.normal(size=(50, 3))
    tracemalloc.start()
    try:
        predicted = estimator.fit(X, Y).predict(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert predicted.shape == (50, 3)
    assert peak < 200e6  # X itself is 40 MB; 100 000 squared would be 80 GB


# -- refusals ---------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_no_numbers(estimator, bad):
    X, Y = make("tall")
    for A, B, w in ((X.copy(), Y, None), (X, Y.copy(), None), (X, Y, np.ones(60))):
        (A if A is not X else B if B is not Y else w)[3] = bad
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            clone(estimator).fit(A, B, sample_weight=w)


@every
def test_what_does_not_fit_is_refused(estimator):
    X, Y = make("tall")
    model = clone(estimator)
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, Y[:-1])
    with pytest.raises(ValueError, match="dim 3"):
        model.fit(X, Y[:, :, None])
    with pytest.raises(ValueError, match=r"must be >= 0"):
        model.fit(X, Y, sample_weight=-np.ones(60))
    with pytest.raises(ValueError, match="zero"):
        model.fit(X, Y, sample_weight=np.zeros(60))
    model.fit(X, Y)
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :-1])
    with pytest.raises(ValueError, match="columns of scores"):
        model.inverse_transform(np.zeros((2, 99)))
    with pytest.raises(ValueError, match="targets"):
        model.y_scores(np.zeros((2, 99)))
    stream = clone(estimator).partial_fit(X, Y)
    with pytest.raises(ValueError, match="features"):
        stream.partial_fit(X[:, :-1], Y)
    with pytest.raises(ValueError, match="targets"):
        stream.partial_fit(X, Y[:, :-1])


@every
@pytest.mark.parametrize("rank", [-1, 1.5, True, "three", np.nan, [2]])
def test_ranks_that_are_none(estimator, rank):
    with pytest.raises(ValueError, match="n_components == "):
        clone(estimator).set_params(n_components=rank).fit(*make("tall"))


@every
def test_unknown_options(estimator):
    if "missing" not in estimator.get_params():
        pytest.skip("takes no missing values")
    with pytest.raises(ValueError, match="missing == 'drop', must be one of 'error', 'em'"):
        clone(estimator).set_params(missing="drop").fit(*make("tall"))


# -- in company -------------------------------------------------------------------------------


@every
def test_in_pipelines_and_searches(estimator):
    X, Y = make("tall")
    pipe = make_pipeline(StandardScaler(), clone(estimator), LinearRegression()).fit(X, Y)
    assert pipe.predict(X).shape == Y.shape
    search = GridSearchCV(clone(estimator), {"n_components": [1, 2]}, cv=3).fit(X, Y)
    assert search.best_params_["n_components"] in (1, 2)
    assert cross_val_predict(clone(estimator), X, Y, cv=3).shape == Y.shape


def test_pls_before_least_squares_is_pls():
    X, Y = make("tall")
    pipe = make_pipeline(PLS(3), LinearRegression()).fit(X, Y)
    assert_allclose(pipe.predict(X), PLS(3).fit(X, Y).predict(X))


@every
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames(estimator, frame):
    X, Y = make("tall")
    names = [f"x{i}" for i in range(6)]
    table = frame({name: X[:, i] for i, name in enumerate(names)})
    targets = frame({f"y{i}": Y[:, i] for i in range(4)})
    model = clone(estimator).fit(table, targets)
    assert list(model.feature_names_in_) == names
    assert_allclose(model.predict(table), clone(estimator).fit(X, Y).predict(X))
    output = "pandas" if frame is pd.DataFrame else "polars"
    scores = clone(estimator).set_output(transform=output).fit(table, targets).transform(table)
    assert isinstance(scores, frame)
    prefix = type(estimator).__name__.lower()
    assert list(scores.columns) == [f"{prefix}{i}" for i in range(model.n_components_)]
    assert list(scores.columns) == list(model.get_feature_names_out())


@every
def test_round_trips(estimator):
    X, Y = make("tall")
    model = clone(estimator).fit(X, Y)
    assert_allclose(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X), rtol=0)


def test_model_with_gaps_round_trips():
    X, Y = make("tall")
    X[3, 2] = np.nan
    model = PLS(2, missing="em").fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    assert_allclose(again.predict(X), model.predict(X), rtol=0)


def test_stream_round_trips():
    X, Y = make("tall")
    model = PLS(2).partial_fit(X[:30], Y[:30])
    again = pickle.loads(pickle.dumps(model)).partial_fit(X[30:], Y[30:])
    assert_allclose(again.coef_, PLS(2).fit(X, Y).coef_, rtol=1e-8)


@every
def test_metadata_routing_of_weights(estimator):
    X, Y = make("tall")
    weights = np.where(np.arange(60) < 30, 1.0, 5.0)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = clone(estimator).set_fit_request(sample_weight=True)
        routed.set_score_request(sample_weight=True)
        pipe = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), routed)
        fitted = pipe.fit(X, Y, sample_weight=weights)
        scores = cross_validate(routed, X, Y, cv=3, params={"sample_weight": weights})
    by_hand = clone(estimator).fit(StandardScaler().fit_transform(X), Y, sample_weight=weights)
    assert_allclose(fitted[-1].coef_, by_hand.coef_)
    assert np.isfinite(scores["test_score"]).all()
