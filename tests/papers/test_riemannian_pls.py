"""The paper's conjugate gradients. Oracles: the closed forms, reduced rank regression."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from isthmus import IndicatorClassifier, ManifoldPLS, ReducedRankRegression
from isthmus.papers.riemannian_pls import RiemannianPLS

SHAPES = [(60, 8, 6), (15, 40, 6)]
every_model = pytest.mark.parametrize("manifold", ["grassmann", "product"])
every_road = pytest.mark.parametrize("coordinates", ["paper", "white"])


def make(n, p, q, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(2, 1, size=(n, p))
    return X, X[:, :4] @ rng.normal(size=(4, q)) + rng.normal(-3, 1, size=(n, q))


@every_model
@pytest.mark.parametrize("shape", SHAPES)
@every_road
@pytest.mark.parametrize("alpha", [0.0, 2.0])
def test_iterations_reach_the_closed_form(manifold, shape, coordinates, alpha):
    X, Y = make(*shape)
    exact = ManifoldPLS(3, manifold=manifold, alpha=alpha).fit(X, Y)
    model = RiemannianPLS(3, manifold=manifold, coordinates=coordinates, alpha=alpha)
    for seed in range(3):
        descent = clone(model).set_params(random_state=seed).fit(X, Y)
        assert descent.n_iter_ > 1
        assert_allclose(descent.objective_, exact.objective_, rtol=1e-9)
        assert descent.objective_ <= exact.objective_ * (1 + 1e-12)
        assert_allclose(descent.coef_, exact.coef_, atol=1e-5)
        assert_allclose(descent.predict(X), exact.predict(X), atol=1e-4)


def test_iteration_that_is_cut_short_says_so():
    X, Y = make(60, 8, 6)
    with pytest.warns(UserWarning, match="did not converge"):
        RiemannianPLS(3, max_iter=2, random_state=0).fit(X, Y)


@every_road
def test_more_components_than_there_are(coordinates):
    X, Y = make(60, 8, 3)
    model = RiemannianPLS(7, coordinates=coordinates, random_state=0).fit(X, Y)
    assert model.x_rotations_.shape == (8, 3)
    assert_allclose(model.coef_, ReducedRankRegression(alpha=0).fit(X, Y).coef_, atol=1e-7)


@every_model
@every_road
@pytest.mark.parametrize("alpha", [0.0, 2.0])
def test_iterations_have_the_maps_of_all_ranks(manifold, coordinates, alpha):
    X, Y = make(60, 8, 6)
    model = RiemannianPLS(
        3, manifold=manifold, alpha=alpha, coordinates=coordinates, random_state=0
    ).fit(X, Y)
    peer = ReducedRankRegression(3, alpha=alpha).fit(X, Y)
    assert_allclose(model.coef_path_, peer.coef_path_, atol=1e-4)
    assert_allclose(model.coef_path_[-1], model.coef_, atol=1e-10)
    scores = model.transform(X) if alpha == 0.0 else None
    assert scores is None or np.allclose(scores.T @ scores, np.eye(3), atol=1e-9)


@every_road
def test_iterations_tell_of_ties(coordinates):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(20, 50)), np.eye(4)[np.repeat(np.arange(4), 5)]
    with pytest.warns(UserWarning, match="not unique. Which of them .* depends on its start"):
        RiemannianPLS(2, coordinates=coordinates, random_state=0).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RiemannianPLS(3, coordinates=coordinates, random_state=0).fit(X, Y)


def test_says_where_digits_end():
    rng = np.random.default_rng(0)
    U = np.linalg.qr(rng.normal(size=(60, 20)))[0]
    X = (U * np.logspace(0, -11, 20)) @ np.linalg.qr(rng.normal(size=(20, 20)))[0]
    Y = U @ rng.normal(size=(20, 5))
    with pytest.raises(ValueError, match=r"X has condition number .*'paper' works with X'X"):
        RiemannianPLS(2, random_state=0).fit(X, Y)


def test_classifies_as_the_closed_form_does():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 6)) + np.repeat(3 * np.eye(6)[:3], 30, axis=0)
    y = np.repeat(["a", "b", "c"], 30)
    printed = IndicatorClassifier(RiemannianPLS(2, random_state=0)).fit(X, y)
    assert (printed.predict(X) == IndicatorClassifier(ManifoldPLS(2)).fit(X, y).predict(X)).all()


def test_unknown_names():
    X, Y = make(60, 8, 6)
    with pytest.raises(ValueError, match="manifold == 'sphere'"):
        RiemannianPLS(manifold="sphere").fit(X, Y)
    with pytest.raises(ValueError, match="coordinates == 'polar'"):
        RiemannianPLS(coordinates="polar").fit(X, Y)


@parametrize_with_checks(
    [RiemannianPLS(random_state=0), RiemannianPLS(coordinates="white", random_state=0)]
)
def test_sklearn_contract(estimator, check):
    check(estimator)
