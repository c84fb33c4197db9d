"""Which inputs matter: variable importance in projection, and the selectivity ratio."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from isthmus._linalg import EPS, Array, power_of_two
from isthmus.inspection._model import (
    as_fitted,
    check_batch,
    check_model,
    check_rows,
    coef_2d,
    has_link,
    row_weights,
    standardise,
)
from isthmus.regression import LatentRegression


def vip(model: LatentRegression) -> Array:
    r"""Compute the variable importance in projection.

    .. math::
        \mathrm{VIP}_j = \sqrt{p \,\frac{\sum_a v_a w_{ja}^2}{\sum_a v_a}}

    with the unit weight vectors :math:`w_a` of the components and the share :math:`v_a` of the
    outputs' variance that each explains ([W1993]_, [CJ2005]_). The squares have mean one, so
    inputs above one matter more than the average. It looks at the weights of the components, not
    at the sign or size of coefficients: an input that the later components correct can score high.

    Parameters
    ----------
    model : fitted PCR, PLS, ReducedRankRegression, StiefelRegression or ManifoldPLS
        The definition is customary for PLS; for the others ``x_weights_`` are the directions whose
        scores predict. With a logistic or Poisson loss :math:`v_a` is the component's share in the
        variance of the linear predictor.

    Returns
    -------
    importance : ndarray of shape (n_features,)
        Zero everywhere for a model that explains nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus import PLS
    >>> from isthmus.inspection import vip
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> vip(PLS(2).fit(X, X[:, 1] - X[:, 2])).round(1)
    array([0.1, 1.4, 1.5, 0. ])
    """
    check_model(model)
    check_batch(model, "the variance of the outputs over the training rows is needed")
    if has_link(model):  # outputs have no variance on the scale of the map: that of their predictor
        shares = model.score_gram_.diagonal() * (model.y_loadings_**2).sum(axis=0)
    else:
        shares = np.maximum(model.y_explained_variance_ratio_, 0.0)
    if shares.sum() == 0:
        return np.zeros(model.n_features_in_)
    return np.sqrt(model.n_features_in_ * (model.x_weights_**2 @ (shares / shares.sum())))


def selectivity_ratio(
    model: LatentRegression, X: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> Array:
    r"""Compute explained over residual variance of each input along the prediction of each target.

    The inputs are projected on the one direction that matters for the target ("target
    projection", [KK1989]_), the normalised coefficients :math:`b`:

    .. math::
        t = Z b / \|b\|, \qquad p_j = z_j^\top t / t^\top t, \qquad
        \mathrm{SR}_j = \frac{p_j^2\, t^\top t}{\|z_j\|^2 - p_j^2\, t^\top t}

    with ``Z`` the inputs in the model's means and scales ([RK2009]_). On the training rows this is
    :math:`r^2 / (1 - r^2)`, ``r`` the correlation of an input with the prediction.

    Parameters
    ----------
    model : fitted PCR, PLS, ReducedRankRegression, StiefelRegression or ManifoldPLS
    X : array-like of shape (n_samples, n_features)
        The rows of the fit, or others from the same source.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row.

    Returns
    -------
    ratio : ndarray of shape (n_features,) or (n_targets, n_features)
        In the shape of ``coef_``. 0 for a constant input and for a target without coefficients,
        infinite for an input that is the prediction itself.
    """
    X = check_rows(model, X)
    Z = standardise(model, X)
    weights = row_weights(sample_weight, X)
    squares = weights @ Z**2
    squares[squares <= _rounding(model, weights.sum())] = 0.0
    rows = [_one_ratio(Z, b, squares, weights) for b in coef_2d(model) * model.x_scale_]
    return as_fitted(model, np.array(rows).T).T


def _one_ratio(Z: Array, b: Array, squares: Array, weights: Array) -> Array:
    t = Z @ (b / power_of_two(b))  # squares of huge or tiny numbers leave the range of numbers
    length = weights @ t**2
    if length == 0:
        return np.zeros(len(b))
    # Rounding must not explain more than there is.
    explained = np.minimum((Z.T @ (weights * t)) ** 2 / length, squares)
    residual = squares - explained
    # Rounding would otherwise make a huge finite ratio of an infinite one.
    exact = residual <= 4 * EPS * squares
    ratio = np.divide(explained, residual, out=np.full(len(b), np.inf), where=~exact)
    ratio[squares == 0] = 0.0
    return ratio


def _rounding(model: LatentRegression, weight: float) -> Array:
    """Sum of squares that rounding of the mean alone leaves in a constant column."""
    return weight * (8 * EPS * model.x_mean_ / model.x_scale_) ** 2
