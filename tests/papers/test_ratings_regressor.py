"""Oracles: kernel ridge by scikit-learn, the normal law's conditional mean, planted tables of low rank."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import r2_score
from sklearn.model_selection import PredefinedSplit
from sklearn.utils.estimator_checks import parametrize_with_checks

from isthmus.kernels import gram
from isthmus.kernels.distinct import deal_by_content
from isthmus.papers.morp import RatingsRegressor
from isthmus.problems.missing import expected_moments


@parametrize_with_checks([RatingsRegressor()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def planted(rng, n_items=40, n_users=120, rank=3, noise=0.5):
    """Ratings of low rank that features of the items explain in part, with half of them missing."""
    latent = rng.normal(size=(n_items, rank))
    X = np.hstack([latent + 0.5 * rng.normal(size=latent.shape), rng.normal(size=(n_items, 2))])
    Y = latent @ rng.normal(size=(rank, n_users)) + rng.normal(size=n_users) + 5.0
    Y += noise * rng.normal(size=Y.shape)
    return X, Y, rng.random(Y.shape) < 0.5


def error(found, wanted, where):
    return np.sqrt(((found - wanted)[where] ** 2).mean())


def test_gaps_are_filled_better_than_by_means():
    rng = np.random.default_rng(0)
    X, Y, gaps = planted(rng)
    new = np.zeros_like(gaps)
    new[-8:] = True
    table = np.where(gaps | new, np.nan, Y)
    model = RatingsRegressor().fit(X, table)
    assert_allclose(model.user_means_, np.nanmean(table, axis=0))
    assert_allclose(model.item_means_[:-8], np.nanmean(table[:-8], axis=1))
    assert np.isnan(model.item_means_[-8:]).all()
    seen = ~(gaps | new)
    assert_allclose(model.completed_[seen], Y[seen])
    assert_allclose(model.completed_[-8:], model.predict(X[-8:]))
    known = gaps & ~new
    both = model.user_means_ + model.item_means_[:, None] - np.nanmean(table)
    assert 2 <= model.n_components_ <= 8
    assert error(model.completed_, Y, known) < 0.5 * error(both, Y, known)
    assert error(model.completed_, Y, known) < 1.7 * 0.5  # the noise itself is 0.5
    by_user = np.broadcast_to(model.user_means_, Y.shape)
    assert error(model.completed_, Y, new) < 0.8 * error(by_user, Y, new)


def test_gaps_have_the_conditional_mean_of_the_normal_law():
    rng = np.random.default_rng(1)
    X, Y, gaps = planted(rng, 8, 60)
    table = np.where(gaps & (rng.random(gaps.shape) < 0.4), np.nan, Y)
    model = RatingsRegressor(2, tol=1e-8, max_iter=1000).fit(X, table)
    _, law = expected_moments(table.T, np.zeros((60, 0)), None, n_latent=2, max_iter=1000, tol=1e-8)
    mean = law.offset + law.scale * law.mean
    C = law.loadings @ law.loadings.T + law.noise_variance * np.eye(8)
    C *= np.outer(law.scale, law.scale)
    for user in range(0, 60, 7):
        gone = np.isnan(table[:, user])
        rest = table[~gone, user] - mean[~gone]
        wanted = mean[gone] + C[np.ix_(gone, ~gone)] @ np.linalg.solve(
            C[np.ix_(~gone, ~gone)], rest
        )
        assert_allclose(model.completed_[gone, user], wanted, atol=1e-8)


def test_without_gaps_it_is_kernel_ridge_with_an_intercept():
    rng = np.random.default_rng(2)
    X, Y, _ = planted(rng, 25, 6)
    model = RatingsRegressor(alpha=0.3).fit(X[:20], Y[:20])
    K, new = gram(model.kernel_, X[:20]), gram(model.kernel_, X[20:], X[:20])
    H = np.eye(20) - 1 / 20
    ridge = KernelRidge(alpha=0.3, kernel="precomputed").fit(H @ K @ H, H @ Y[:20])
    wanted = ridge.predict((new - K.mean(axis=0)) @ H) + Y[:20].mean(axis=0)
    assert_allclose(model.predict(X[20:]), wanted, atol=1e-8)
    assert model.n_components_ == 0 and np.isnan(model.noise_variance_)
    assert_allclose(model.score(X[20:], Y[20:]), r2_score(Y[20:], wanted))
    holes = np.where(rng.random((5, 6)) < 0.3, np.nan, Y[20:])
    assert np.isfinite(model.score(X[20:], holes))


def test_errors_of_held_out_items_are_those_of_fits_without_them():
    """Brute force: the whole estimator is fitted anew without the items of a fold."""
    rng = np.random.default_rng(4)
    X, Y, gaps = planted(rng, 14, 30)
    table = np.where(gaps & (rng.random(gaps.shape) < 0.6), np.nan, Y)
    model = RatingsRegressor(2, cv=3).fit(X, table)
    errors = np.zeros(len(model.alphas_))
    for rest, held in PredefinedSplit(deal_by_content(X, 3)).split():
        for k, alpha in enumerate(model.alphas_):
            part = RatingsRegressor(2, kernel=model.kernel_, alpha=alpha).fit(X[rest], table[rest])
            errors[k] += np.nansum((part.predict(X[held]) - table[held]) ** 2)
    assert_allclose(model.cv_errors_, errors / np.isfinite(table).sum(), rtol=1e-8)
    assert model.alpha_ == model.alphas_[errors.argmin()]


def test_features_that_tell_nothing_do_no_harm():
    """The best is then the mean of the user; the choice among thirteen weights costs a few per cent."""
    ratios = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        _, Y, gaps = planted(rng, 30, 40)
        X = rng.normal(size=(30, 5))
        table = np.where(gaps, np.nan, Y)
        table[-6:] = np.nan
        model = RatingsRegressor(3).fit(X, table)
        new = np.zeros_like(gaps)
        new[-6:] = True
        by_user = np.broadcast_to(np.nanmean(table, axis=0), Y.shape)
        ratios.append(error(model.completed_, Y, new) / error(by_user, Y, new))
    assert np.mean(ratios) < 1.05


def test_one_user_silent_users_and_unrated_items():
    rng = np.random.default_rng(3)
    X, Y, gaps = planted(rng, 20, 10)
    y = np.where(gaps[:, 0], np.nan, Y[:, 0])
    alone = RatingsRegressor().fit(X, y)
    assert alone.completed_.shape == (20,) and alone.predict(X).shape == (20,)
    assert_allclose(alone.completed_[~gaps[:, 0]], y[~gaps[:, 0]])
    table = np.where(gaps, np.nan, Y)
    table[:, 4] = np.nan  # has rated nothing: an average user
    model = RatingsRegressor(2).fit(X, table)
    others = np.delete(model.completed_, 4, axis=1)
    assert_allclose(model.completed_[:, 4], others.mean(axis=1), atol=0.5)
    assert np.isfinite(model.completed_).all()


@pytest.mark.parametrize(
    ("options", "y", "message"),
    [
        ({"n_components": 0}, None, "n_components == 0"),
        ({"alpha": -1.0}, None, "alpha == -1.0"),
        ({"cv": 1}, None, "cv == 1"),
        ({}, np.full((4, 2), np.nan), "fewer than two items"),
        ({}, np.full((4, 2), np.inf), "infinity"),
    ],
)
def test_what_is_wrong_is_told(options, y, message):
    y = np.arange(8.0).reshape(4, 2) if y is None else y
    with pytest.raises(ValueError, match=message):
        RatingsRegressor(**options).fit(np.arange(8.0).reshape(4, 2), y)


@pytest.mark.parametrize("seed", range(5))
def test_features_that_do_not_vary_have_a_ridge_weight_of_their_own(seed):
    """The trace of the centred kernel is rounding there, of either sign."""
    rng = np.random.default_rng(seed)
    X = 1 / 3 + 1e-17 * rng.normal(size=(30, 3))
    Y = rng.normal(size=(30, 4))
    model = RatingsRegressor(kernel="linear").fit(X, Y)
    assert (model.alphas_ > 0).all()
    assert_allclose(model.predict(X), np.tile(Y.mean(axis=0), (30, 1)), atol=1e-6)
