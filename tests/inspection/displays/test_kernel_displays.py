"""Oracles: the numbers drawn are those of the compression path and of the pre-images themselves."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_diabetes, load_digits
from sklearn.svm import SVR

from isthmus import KernelMap, compress
from isthmus.inspection import CompressionDisplay, PreimageDisplay
from isthmus.preimages import Learned, Nearest


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True)


def test_compression_curve(diabetes):
    X, y = diabetes
    model = SVR().fit(X[:300], y[:300])
    small = compress(model, 30, validation=(X[300:], y[300:]))
    display = CompressionDisplay.from_estimator(small, X)
    curve, _, validation = display.ax_.lines[:3]
    assert_allclose(curve.get_ydata(), small.compression_.output_errors[1:])
    assert_allclose(validation.get_ydata(), small.compression_.validation_errors)
    sizes, ratios = display.speed
    assert sizes[-1] == small.compression_.n_points and ratios[0] > 1
    plain = CompressionDisplay.compute(compress(model, 10, refit=None))
    assert_allclose(plain.errors, compress(model, 10, refit=None).compression_.errors)
    assert plain.speed is None and plain.validation is None and plain.ax_ is None
    figure, ax = plt.subplots()
    assert plain.plot(ax).ax_ is ax and plain.figure_ is figure


def test_only_compressed_models_have_a_curve(diabetes):
    with pytest.raises(ValueError, match=r"SVR was not compressed"):
        CompressionDisplay.compute(SVR().fit(*diabetes))


def test_gallery():
    X = load_digits().data[:150]
    embedding = KernelMap(20)
    methods = {"learned": Learned(), "nearest": Nearest()}
    display = PreimageDisplay.from_estimator(embedding, X, X[:4], methods)
    assert display.axes_.shape == (3, 4)
    shown = display.axes_[1, 2].images[0].get_array()
    assert_allclose(shown, methods["learned"].inverse(embedding.transform(X[:4]))[2].reshape(8, 8))
    assert display.axes_[2, 3].get_xlabel() == f"{display.losses['nearest'][3]:.2g}"
    with pytest.raises(ValueError, match="64 pixels"):
        PreimageDisplay.compute(embedding, X, X[:4], methods, shape=(5, 5))
    bare = PreimageDisplay({"a": np.zeros((2, 6))}, (2, 3)).plot()
    assert bare.axes_.shape == (1, 2)
