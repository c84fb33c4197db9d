"""Oracles: the diagnostics themselves, scikit-learn's searches, what matplotlib was given."""

import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline

from isthmus import (
    PLS,
    ComponentSearchCV,
    IndicatorClassifier,
    MethodSearchCV,
    ReducedRankRegression,
)
from isthmus.datasets import make_low_rank_regression
from isthmus.features import SavitzkyGolay
from isthmus.inspection import (
    CoefficientsDisplay,
    ComponentCurveDisplay,
    ExplainedVarianceDisplay,
    LoadingsDisplay,
    ParityDisplay,
    ScoresDisplay,
    SPlotDisplay,
    VIPDisplay,
    explained_variance,
    hotelling_t2,
    q_residuals,
    vip,
)
from isthmus.regression import OPLS

matplotlib.use("Agg")
X, Y, _ = make_low_rank_regression(60, 8, 3, rank=2, noise=0.4, random_state=0)
MODEL = PLS(3).fit(X, Y)


@pytest.fixture(autouse=True)
def close_figures():
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


def drawn(display):
    display.figure_.canvas.draw()
    assert display.ax_.figure is display.figure_
    return display.ax_


def test_component_curve_shows_the_scores_of_the_search():
    search = ComponentSearchCV(PLS(), n_components=6, rule="one_se").fit(X, Y)
    display = ComponentCurveDisplay.from_estimator(search)
    assert_array_equal(display.n_components, range(1, 7))
    assert_allclose(display.score, search.cv_results_["mean_test_score"])
    splits = np.array([search.cv_results_[f"split{i}_test_score"] for i in range(5)])
    assert_allclose(display.standard_error, splits.std(axis=0, ddof=1) / np.sqrt(5))
    assert display.chosen == search.best_params_["n_components"]
    line = drawn(display).lines[0]
    assert_allclose(line.get_ydata(), display.score)


def test_component_curve_takes_the_best_ridge_of_each_rank():
    search = ComponentSearchCV(ReducedRankRegression(), alpha=[0.1, 10, 1000]).fit(X, Y)
    display = ComponentCurveDisplay.compute(search)
    means = search.cv_results_["mean_test_score"].reshape(3, 3)
    assert_allclose(display.score, means.max(axis=0))
    with pytest.raises(TypeError, match="must be a fitted search over n_components"):
        ComponentCurveDisplay.compute(MODEL)


def test_component_curve_of_a_search_over_methods():
    search = MethodSearchCV("pls", cv=3).fit(X, Y)
    display = ComponentCurveDisplay.from_estimator(search)
    assert display.chosen == search.best_params_["n_components"]
    drawn(display)


def test_scores_and_limits():
    display = ScoresDisplay.from_estimator(MODEL, X, color=Y[:, 0])
    assert_allclose(display.scores, MODEL.transform(X)[:, :2])
    assert_allclose(display.t2.values, hotelling_t2(MODEL, X, training=True).values)
    expected = hotelling_t2(MODEL, X, training=True).outlying | q_residuals(MODEL, X).outlying
    assert_array_equal(display.outlying, expected)
    drawn(display)
    many = np.random.default_rng(0).normal(size=(4000, 8))
    two = PLS(2).fit(many, many[:, :2])
    wide = ScoresDisplay.compute(two, many, training=True)
    inside = ((wide.scores / wide.radii) ** 2).sum(axis=1) < 1  # the ellipse holds 95 %
    assert abs(inside.mean() - 0.95) < 5 * np.sqrt(0.95 * 0.05 / 4000)  # false alarms: 6e-7


def test_scores_of_one_component():
    display = ScoresDisplay.from_estimator(PLS(1).fit(X, Y), X)
    assert_array_equal(display.scores[:, 1], 0)
    drawn(display)


def test_loadings_are_lines_over_numbers_and_bars_over_names():
    curve = LoadingsDisplay.from_estimator(MODEL, names=[str(1000 + 10 * j) for j in range(8)])
    assert_allclose(curve.loadings, MODEL.x_loadings_.T)
    ax = drawn(curve)
    assert_allclose(ax.lines[0].get_xdata(), 1000 + 10 * np.arange(8))
    assert not ax.patches
    bars = drawn(LoadingsDisplay.from_estimator(MODEL, names=list("abcdefgh"), n_shown=2))
    assert len(bars.patches) == 16
    assert [label.get_text() for label in bars.get_xticklabels()] == list("abcdefgh")
    side = LoadingsDisplay.compute(MODEL, side="y")
    assert_allclose(side.loadings, MODEL.y_loadings_.T)
    with pytest.raises(ValueError, match="side == 'z'"):
        LoadingsDisplay.compute(MODEL, side="z")


def test_vip():
    display = VIPDisplay.from_estimator(MODEL)
    assert_allclose(display.importance, vip(MODEL))
    heights = [patch.get_height() for patch in drawn(display).patches]
    assert_allclose(heights, vip(MODEL))


def test_parity():
    display = ParityDisplay.from_estimator(MODEL, X, Y, target=1, name="fat")
    assert_allclose(display.r2, 1 - display.residual.var() / Y[:, 1].var(), atol=1e-9)
    assert_allclose(display.rmse, np.sqrt(((Y - MODEL.predict(X))[:, 1] ** 2).mean()))
    points = drawn(display).collections[0].get_offsets()
    assert_allclose(points, np.column_stack([Y[:, 1], MODEL.predict(X)[:, 1]]))
    rest = ParityDisplay.from_predictions(Y, MODEL.predict(X), kind="residuals")
    assert_allclose(drawn(rest).collections[0].get_offsets()[:, 1], (Y - MODEL.predict(X))[:, 0])
    with pytest.raises(ValueError, match="they must be the same"):
        ParityDisplay.compute(Y, Y[:, :1])
    with pytest.raises(ValueError, match="kind == 'pie'"):
        display.plot(kind="pie")


def test_explained_variance():
    display = ExplainedVarianceDisplay.from_estimator(MODEL, X, Y)
    assert_allclose(display.y, explained_variance(MODEL, X, Y).y)
    assert_allclose(ExplainedVarianceDisplay.compute(MODEL).y, display.y, atol=1e-10)
    assert_allclose(drawn(display).lines[0].get_ydata(), np.cumsum(display.x))


def test_given_axes_are_used():
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2)
    display = VIPDisplay.from_estimator(MODEL, ax=axes[1])
    assert display.ax_ is axes[1] and display.figure_ is figure


def test_matplotlib_is_imported_when_something_is_drawn():
    code = (
        "import sys, isthmus.inspection as p; from isthmus import PLS; import numpy as np; "
        "p.VIPDisplay.compute(PLS(1).fit(np.eye(5), np.arange(5.0))); "
        "assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("kind", ["search", "classifier", "pipeline"])
def test_a_model_within_another_is_drawn(kind):
    """Every picture of a wrapped model is that of the model inside."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 12)).cumsum(axis=1)
    y = (X[:, 3] > 0).astype(int) if kind == "classifier" else X[:, 3] + rng.normal(size=40)
    wrapped = {
        "search": ComponentSearchCV(OPLS(), n_components=[2], cv=3),
        "classifier": IndicatorClassifier(OPLS(2)),
        "pipeline": make_pipeline(SavitzkyGolay(5), OPLS(2)),
    }[kind].fit(X, y)
    Z = wrapped[0].transform(X) if kind == "pipeline" else X
    part = wrapped[-1] if kind == "pipeline" else getattr(
        wrapped, "best_estimator_" if kind == "search" else "estimator_"
    )  # fmt: skip
    names = list("abcdefghijkl")
    for display, rows, known in (
        (VIPDisplay, (), {"names": names}),
        (LoadingsDisplay, (), {"names": names}),
        (ExplainedVarianceDisplay, (), {}),
        (ScoresDisplay, (X,), {}),
        (SPlotDisplay, (X,), {"names": names}),
    ):
        ours = display.compute(wrapped, *rows, **known)
        peer = display.compute(part, *(Z for _ in rows), **known)
        for name, value in vars(peer).items():
            if isinstance(value, np.ndarray):
                assert_array_equal(getattr(ours, name), value)
    found = CoefficientsDisplay.compute(wrapped).coefficients
    A = wrapped[0].operator_ if kind == "pipeline" else np.eye(12)
    assert_allclose(found, np.atleast_2d(part.coef_) @ A)


def test_names_of_an_s_plot_are_not_written_over_each_other():
    """Neighbouring wavelengths have all but equal places: one name stands for them."""
    at = np.repeat([-1.0, 0.1, 2.0], 4) + 1e-3 * np.tile(np.arange(4), 3)
    display = SPlotDisplay(at, at / 2, names=[f"n{j}" for j in range(12)]).plot()
    assert sorted(text.get_text() for text in display.ax_.texts) == ["n0", "n11", "n7"]


def test_a_model_without_coefficients_is_refused():
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(TypeError, match="KNeighborsRegressor, which has no coefficients"):
        CoefficientsDisplay.compute(KNeighborsRegressor().fit(X, X))
