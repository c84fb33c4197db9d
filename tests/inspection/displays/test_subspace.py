"""The picture of a subspace says what held-out rows say."""

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest
from matplotlib import pyplot as plt
from numpy.testing import assert_allclose
from sklearn.neighbors import KNeighborsRegressor

from isthmus.datasets import make_curves
from isthmus.inspection import SubspaceDisplay
from isthmus.projections import COIR, SIR


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def data():
    X, y, _ = make_curves(160, 6, random_state=0)
    return X, np.c_[y, X[:, 0]]


def test_training_and_held_out_rows_apart_with_r2_in_the_title(data):
    X, Y = data
    model = COIR(n_components=3, cv=None).fit(X[:120], Y[:120])
    display = SubspaceDisplay.from_estimator(
        model, X[:120], Y[:120], X[120:], Y[120:], names=["bend", "first"]
    )
    assert len(display.axes_) == 2
    near = KNeighborsRegressor(10).fit(model.transform(X[:120]), Y[:120, 1])
    expected = near.score(model.transform(X[120:]), Y[120:, 1])
    assert_allclose(display.r2[1], expected)
    assert display.axes_[1].get_title() == f"first: held-out R2 {expected:.2f}"
    drawn = display.axes_[0].collections[:2]
    assert_allclose(drawn[0].get_offsets(), model.transform(X[:120])[:, :2])
    assert_allclose(drawn[1].get_offsets(), model.transform(X[120:])[:, :2])
    assert_allclose(drawn[0].get_array(), Y[:120, 0])  # coloured by its own output
    assert drawn[0].get_clim() == drawn[1].get_clim()  # one scale for both
    labels = [text.get_text() for text in display.axes_[0].get_legend().get_texts()]
    assert labels == ["training", "held out"]


def test_without_held_out_rows_the_score_of_the_fit_is_told(data):
    X, Y = data
    model = SIR(2, cv=5).fit(X, Y[:, 0])
    title = SubspaceDisplay.from_estimator(model, X, Y[:, 0]).axes_[0].get_title()
    assert f"held-out R2 {model.held_out_score_:.2f} (cross-validated" in title
    model = SIR(2, cv=None).fit(X, Y[:, 0])
    title = SubspaceDisplay.from_estimator(model, X, Y[:, 0]).axes_[0].get_title()
    assert "not judged" in title


def test_three_dimensions_one_component_and_names(data):
    X, Y = data
    model = COIR(n_components=3, cv=None).fit(X, Y)
    display = SubspaceDisplay.from_estimator(model, X, Y, dimensions=3, outputs=[1])
    assert display.axes_[0].name == "3d" and display.names == ["y1"]
    names = np.where(Y[:, 0] > 0, "up", "down")
    one = SIR(1, cv=None).fit(X, names)
    display = SubspaceDisplay.from_estimator(one, X, names)
    assert_allclose(display.train[:, 1], 0)
    _, axes = plt.subplots(1, 2)
    assert SubspaceDisplay.from_estimator(model, X, Y, ax=axes).axes_[1] is axes[1]


def test_bad_arguments_are_named(data):
    X, Y = data
    model = SIR(2, cv=None).fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="dimensions == 4"):
        SubspaceDisplay.compute(model, X, Y, dimensions=4)
    with pytest.raises(ValueError, match="given together"):
        SubspaceDisplay.compute(model, X, Y, X)
    with pytest.raises(ValueError, match="y has 159 rows, X has 160"):
        SubspaceDisplay.compute(model, X, Y[:-1])
    _, ax = plt.subplots()
    with pytest.raises(ValueError, match="ax has 1 axes, must have 2"):
        SubspaceDisplay.from_estimator(model, X, Y, ax=ax)
