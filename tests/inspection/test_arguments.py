"""What every diagnostic refuses, and what it leaves alone."""

import pickle
import re
from functools import cache

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

from isthmus import (
    PLS,
    ComponentSearchCV,
    IndicatorClassifier,
    StiefelRegression,
    inspection,
)

ASK = {
    "explained_variance": lambda m, X, Y: inspection.explained_variance(m, X, Y).y,
    "vip": lambda m, X, Y: inspection.vip(m),
    "selectivity_ratio": lambda m, X, Y: inspection.selectivity_ratio(m, X),
    "hotelling_t2": lambda m, X, Y: inspection.hotelling_t2(m, X).values,
    "q_residuals": lambda m, X, Y: inspection.q_residuals(m, X).values,
    "leverage": lambda m, X, Y: inspection.leverage(m, X),
    "coefficient_intervals": lambda m, X, Y: inspection.coefficient_intervals(m, X, Y).lower,
    "prediction_interval": lambda m, X, Y: inspection.prediction_interval(m, X, Y, X).lower,
    "permutation_test": lambda m, X, Y: (
        inspection.permutation_test(m, X, Y, n_permutations=2, random_state=0).permutation_scores
    ),
}
OF_ROWS = {name: ask for name, ask in ASK.items() if name != "vip"}
every = pytest.mark.parametrize("ask", ASK.values(), ids=ASK)
every_of_rows = pytest.mark.parametrize("ask", OF_ROWS.values(), ids=OF_ROWS)


@pytest.fixture
def rng():
    """One seed: what is refused, and what is left alone, does not depend on the numbers."""
    return np.random.default_rng(0)


def test_the_list_is_whole():
    functions = {name for name in inspection.__all__ if name.islower()}
    functions.remove("figures_of_merit")  # of predictions: asks no model
    assert functions == set(ASK)


@every
def test_frames_and_single_precision(ask, data):
    X, Y = data
    model = PLS(2).fit(X, Y)
    frames = pd.DataFrame(X, columns=list("abcdef")), pd.DataFrame(Y, columns=list("uvw"))
    named = PLS(2).fit(*frames)
    assert_allclose(ask(named, *frames), ask(model, X, Y))
    single = PLS(2).fit(X.astype(np.float32), Y.astype(np.float32))
    assert_allclose(ask(single, X.astype(np.float32), Y), ask(model, X, Y), rtol=2e-3, atol=1e-3)


@every
def test_model_and_data_are_left_alone(ask, data):
    X, Y = data
    model = PLS(2).fit(X, Y)
    before = pickle.dumps((model, X, Y))
    ask(model, X, Y)
    assert pickle.dumps((model, X, Y)) == before


@every
def test_other_models_are_refused(ask, data):
    X, Y = data
    with pytest.raises(TypeError, match="model is a LinearRegression, must be a fitted PCR, PLS"):
        ask(LinearRegression().fit(X, Y), X, Y)
    with pytest.raises(NotFittedError):
        ask(PLS(2), X, Y)


@every_of_rows
def test_bad_rows_are_refused(ask, data):
    X, Y = data
    model = PLS(2).fit(X, Y)
    with pytest.raises(ValueError, match="X has 5 features, but PLS is expecting 6"):
        ask(model, X[:, :5], Y)
    holed = X.copy()
    holed[3, 2] = np.nan
    with pytest.raises(ValueError, match=r"contains NaN\. Diagnostics take complete rows"):
        ask(model, holed, Y)


@pytest.mark.parametrize(
    "name",
    ["explained_variance", "coefficient_intervals", "prediction_interval", "permutation_test"],
)
def test_bad_outputs_are_refused(name, data):
    X, Y = data
    model = PLS(2).fit(X, Y)
    with pytest.raises(ValueError, match="y has 2 targets, the model 3"):
        ASK[name](model, X, Y[:, :2])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ASK[name](model, X, Y[:30])
    with pytest.raises(ValueError, match=r"contains NaN\. Diagnostics take complete rows"):
        ASK[name](model, X, np.where(Y == Y[0, 0], np.nan, Y))


@pytest.mark.parametrize("level", [0, 1, 95, -0.5, np.nan, "0.9", True])
def test_levels_are_probabilities(level, data):
    X, Y = data
    model = PLS(2).fit(X, Y)
    for ask in (
        lambda: inspection.hotelling_t2(model, X, level=level),
        lambda: inspection.q_residuals(model, X, level=level),
        lambda: inspection.coefficient_intervals(model, X, Y, level=level),
        lambda: inspection.prediction_interval(model, X, Y, X, level=level),
    ):
        with pytest.raises(ValueError, match=r"level == .*, must be a number between 0 and 1"):
            ask()


def test_options_are_listed(data):
    X, Y = data
    model = PLS(2).fit(X, Y)
    with pytest.raises(ValueError, match="method == 'boot', must be one of 'jackknife', 'boot"):
        inspection.coefficient_intervals(model, X, Y, method="boot")
    with pytest.raises(ValueError, match="method == 'normal', must be one of 'gaussian', 'jack"):
        inspection.prediction_interval(model, X, Y, X, method="normal")
    with pytest.raises(ValueError, match="n_resamples == 1, must be >= 2"):
        inspection.coefficient_intervals(model, X, Y, method="bootstrap", n_resamples=1)
    with pytest.raises(ValueError, match="n_probes == 0, must be >= 1"):
        inspection.prediction_interval(model, X, Y, X, n_probes=0)


def test_negative_weights_are_refused(data):
    X, Y = data
    model = PLS(2).fit(X, Y)
    weights = np.r_[-1.0, np.ones(39)]
    for ask in (
        lambda: inspection.leverage(model, X, sample_weight=weights),
        lambda: inspection.q_residuals(model, X, sample_weight=weights),
        lambda: inspection.coefficient_intervals(model, X, Y, sample_weight=weights),
    ):
        with pytest.raises(ValueError, match=r"sample_weight\[0\] == -1.0, must be >= 0"):
            ask()


@pytest.mark.filterwarnings("ignore:n_components == 2, but only 0 components exist")
def test_a_model_without_variance_to_explain(data):
    X, _ = data
    y = np.full(40, 2.5)
    model = PLS(2).fit(X, y)
    assert model.n_components_ == 0
    assert_array_equal(inspection.explained_variance(model, X, y).y, np.zeros(0))
    assert_array_equal(inspection.vip(model), np.zeros(6))
    assert_array_equal(inspection.selectivity_ratio(model, X), np.zeros(6))
    assert_array_equal(inspection.coefficient_intervals(model, X, y).upper, np.zeros(6))
    assert_array_equal(inspection.prediction_interval(model, X, y, X).upper, y)


@every
@pytest.mark.parametrize("wrapper", ["best_estimator_", "estimator_"])
def test_the_model_inside_is_pointed_at(ask, wrapper, data):
    X, Y = data
    if wrapper == "estimator_":
        holder = IndicatorClassifier(PLS(2)).fit(X, np.arange(40) % 3)
    else:
        holder = ComponentSearchCV(PLS(), n_components=2).fit(X, Y)
    with pytest.raises(TypeError, match=f"StiefelRegression or ManifoldPLS; hand in its {wrapper}"):
        ask(holder, X, Y)


LOSSES = ["squared", "huber", "absolute", "log_cosh", "logistic", "poisson"]


@cache
def of_loss(loss, online):
    """A small model and its data, fitted once for all questions."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(16, 3)) * [1, 2, 0.5] + [5, -3, 0]
    Y = X @ rng.normal(size=(3, 2)) * [1.0, 0.3] + rng.normal(size=(16, 2)) - 7
    if loss in ("logistic", "poisson"):
        Y = (Y > np.median(Y, axis=0)).astype(float)
    model = StiefelRegression(1, loss=loss, online="proximal", alpha=1.0, max_iter=3000).fit(X, Y)
    if online == "proximal":
        model.partial_fit(X, Y)
    return model, X, Y


@every
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("online", ["fit", "proximal"])
def test_every_loss_is_answered_or_told_why_not(ask, loss, online):
    model, X, Y = of_loss(loss, online)
    try:
        answer = ask(model, X, Y)
    except ValueError as error:
        by_blocks, by_link = (
            "online='proximal' keeps nothing of its rows",
            r"with (Logistic|Poisson)",
        )
        assert re.search(f"{by_blocks}|{by_link}", str(error))
        assert online == "proximal" or loss in ("logistic", "poisson")
    else:
        assert np.isfinite(answer).all()
        assert loss == "squared" or np.any(answer)


def test_link_losses_have_importances_and_intervals(data):
    X, Y = data
    labels = (Y > np.median(Y, axis=0)).astype(float)
    model = StiefelRegression(2, loss="logistic").fit(X, labels)
    assert np.isnan(model.y_explained_variance_ratio_).all()
    assert_allclose((inspection.vip(model) ** 2).mean(), 1.0)
    found = inspection.prediction_interval(model, X, labels, X[:3], method="jackknife+")
    assert_allclose(found.prediction, model.predict(X[:3]))
    assert ((found.lower <= found.prediction) & (found.prediction <= found.upper)).all()
