"""Oracles: scikit-learn's PCA followed by least squares, and the closed form."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isthmus import PCR

SHAPES = [(50, 7, 3), (15, 60, 4), (500, 300, 2), (250, 900, 2)]


def make(n, p, q, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(2, 1, size=(n, p)) * (1 + np.arange(p) / p)
    return X, X[:, :3] @ rng.normal(size=(3, q)) + rng.normal(size=(n, q)) - 3


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scale", [True, False])
def test_equals_pca_and_least_squares(shape, scale):
    X, Y = make(*shape)
    steps = [StandardScaler()] if scale else []
    peer = make_pipeline(*steps, PCA(4, svd_solver="full"), LinearRegression()).fit(X, Y)
    ours = PCR(4, scale=scale).fit(X, Y)
    assert_allclose(ours.predict(X), peer.predict(X), rtol=1e-7, atol=1e-9)
    ratio = peer[-2].explained_variance_ratio_
    assert_allclose(ours.x_explained_variance_ratio_, ratio, rtol=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_equals_the_closed_form(shape):
    X, Y = make(*shape)
    U, d, Bt = np.linalg.svd(X - X.mean(0), full_matrices=False)
    expected = Bt[:3].T / d[:3] @ U[:, :3].T @ (Y - Y.mean(0))
    assert_allclose(PCR(3).fit(X, Y).coef_.T, expected, rtol=1e-8, atol=1e-12)


def test_all_components_are_minimum_norm_least_squares():
    for shape in SHAPES[:2]:
        X, Y = make(*shape)
        expected = np.linalg.pinv(X - X.mean(0)) @ (Y - Y.mean(0))
        model = PCR().fit(X, Y)
        assert_allclose(model.coef_.T, expected, rtol=1e-9, atol=1e-12)
        assert model.n_components_ == min(shape[0] - 1, shape[1])


def test_rank_of_x_is_the_limit():
    X, Y = make(50, 7, 3)
    with pytest.warns(UserWarning, match="n_components == 9, but X has rank 7"):
        assert PCR(9).fit(X, Y).n_components_ == 7


@pytest.mark.parametrize(
    ("shape", "decay", "solver"),
    [
        ((50, 7), 0, "svd"),  # small: the best road costs nothing
        ((600, 200), 0, "moments"),
        ((200, 600), 0, "dual"),
        ((600, 200), 4, "svd"),
        ((200, 600), 4, "svd"),
    ],
)
def test_road_follows_shape_and_spectrum(shape, decay, solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape) * 10.0 ** (-decay * np.arange(shape[1]) / min(shape))
    Y = X[:, :5] @ rng.normal(size=(5, 2))
    model = PCR(150 if min(shape) > 150 else 3).fit(X, Y)
    assert model.solver_ == solver


def test_signs_with_many_components_follow_the_scores():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 100)) * 1e6 + 1e9
    X = np.vstack([X, 2 * X.mean(axis=0) - X])  # every score has its opposite but for the last rows
    X[-1] += 1e6
    scores = PCR().fit(X, X[:, :2] @ [1.0, 2.0]).transform(X)
    assert scores.shape[1] == 100
    assert (scores.max(axis=0) >= -scores.min(axis=0) * (1 - 1e-9)).all()
