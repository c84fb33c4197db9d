"""How much of the inputs and of the outputs each component explains, on any data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from isthmus._linalg import Array
from isthmus.inspection._model import (
    check_rows,
    check_targets,
    has_link,
    orthonormal_scores,
    row_weights,
    standardise,
)
from isthmus.regression import LatentRegression


@dataclass(frozen=True)
class ExplainedVariance:
    """Shares of variance; those of the components and the residual sum to one.

    Attributes
    ----------
    x, y : ndarray of shape (n_components,)
        Share of each component in the inputs and in the outputs; ``y`` is None without outputs.
    x_residual, y_residual : float
        What all components together leave unexplained.
    y_targets : ndarray of shape (n_components, n_targets)
        The shares in each target alone. Column sums are the ``r2_score`` of the targets where the
        data are those of the fit.
    """

    x: Array
    x_residual: float
    y: Array | None = None
    y_residual: float | None = None
    y_targets: Array | None = None


def explained_variance(
    model: LatentRegression,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
) -> ExplainedVariance:
    r"""Return the share of the variance of ``X`` and ``y`` that each further component explains.

    With the residual sums of squares :math:`R_a` of the model with ``a`` components, about the
    means and in the scales of the training data, component ``a`` has the share

    .. math::
        \frac{R_{a-1} - R_a}{R_0}

    Inputs are reconstructed by the loadings of the first ``a`` scores, outputs are predicted by the
    first ``a`` components. On the training data these are ``x_explained_variance_ratio_`` and
    ``y_explained_variance_ratio_``; on other data a share can be negative, where a component does
    harm. The means are the model's own there too, so that :math:`R_0` belongs to the model without
    components.

    Parameters
    ----------
    model : fitted PCR, PLS, ReducedRankRegression, StiefelRegression or ManifoldPLS
    X : array-like of shape (n_samples, n_features)
        Any rows, those of the fit or new ones.
    y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
        Their outputs; None explains the inputs alone.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row.

    Returns
    -------
    shares : ExplainedVariance
        A column without variance has share 0.

    Examples
    --------
    >>> from isthmus import PLS
    >>> from isthmus.datasets import make_low_rank_regression
    >>> from isthmus.inspection import explained_variance
    >>> X, Y, _ = make_low_rank_regression(200, 8, 4, rank=2, noise=0.3, random_state=0)
    >>> model = PLS(2).fit(X[:100], Y[:100])
    >>> explained_variance(model, X[100:], Y[100:]).y.round(2)
    array([0.73, 0.07])
    """
    X = check_rows(model, X)
    Z = standardise(model, X)
    weights = row_weights(sample_weight, X)
    T = Z @ model.x_rotations_
    S = orthonormal_scores(model, T)
    # Along orthonormal scores the loadings of a components are the first a of all.
    L = np.linalg.cholesky(model.score_gram_) if model.n_components_ else np.zeros((0, 0))
    x = _shares(_gains(S, model.x_loadings_ @ L, Z, weights).sum(axis=1), weights @ Z**2)
    if y is None:
        return ExplainedVariance(x, 1 - x.sum())
    if has_link(model):
        raise ValueError(
            f"y with {model.loss_!r}: the map predicts through a link and explains no share of the "
            "variance of y; leave y out for the shares of X, or compare values of the loss."
        )
    # In the scales of the fit: outputs in small units would not count otherwise.
    Y = (check_targets(model, X, y) - model.y_mean_) / model.y_scale_
    gains = _gains(T, model.y_loadings_, Y, weights)
    squares = weights @ Y**2
    shares = _shares(gains.sum(axis=1), squares)
    targets = np.divide(gains, squares, out=np.zeros_like(gains), where=squares > 0)
    return ExplainedVariance(x, 1 - x.sum(), shares, 1 - shares.sum(), targets)


def _gains(T: Array, loadings: Array, Z: Array, weights: Array) -> Array:
    """By how much each further column of ``T loadings'`` lowers the squares of each column of Z."""
    weighted = (T * weights[:, None]).T
    gram = weighted @ T
    # |z - sum of a|^2 - |z - sum of a - 1|^2, written with the Gram matrix of the scores.
    earlier_and_own = 2 * np.tril(gram, -1) + np.diag(gram.diagonal())
    B = loadings.T  # (k, columns of Z)
    return B * (2 * weighted @ Z - earlier_and_own @ B)


def _shares(gains: Array, squares: Array) -> Array:
    total = squares.sum()
    return gains / total if total > 0 else np.zeros_like(gains)
