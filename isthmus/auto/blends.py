"""Convex blends of predictions: one weight per method and target, none negative, their sum one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import nnls
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from isthmus._linalg import Array
from isthmus._validation import BaseEstimator
from isthmus.auto.methods.maps import FoundModel

_SHARED = 0.5  # how much of what decides the weights of a target is common to all targets
_PULL = 100.0  # rows that know nothing of the methods, beside those that were left out
_LEAST_BLENDED = 0.02  # weights below are set to zero
# Squared difference of two predictions, over the smaller squared error, at which methods count apart.
_VOTES_APART = 0.2


def blend_weights(
    Y: Array,
    predictions: Sequence[Array],
    weights: Array | None = None,
    *,
    share_votes: bool = True,
) -> Array:
    r"""Return the convex weights with the least squared error of left-out predictions.

    For each target

    .. math::
        w^\top S w + \frac{100}{n} \|w - v\|^2, \qquad v_m \propto \frac{\exp(-t_m^2 / 2)}{c_m},

    is minimised on the simplex, where ``S`` holds the products of the errors of the methods, in units of
    the least, and ``t`` by how many standard errors the squared error of a method is larger than the least
    in the same rows. Few rows do not decide alone: they pull towards equal weights of the methods that may
    be the best, not of all. Methods that predict nearly the same share one vote: ``c`` is their number,

    .. math::
        c_m = \sum_k \exp\Bigl(-\frac{S_{mm} + S_{kk} - 2 S_{mk}}{0.2 \min(S_{mm}, S_{kk})}\Bigr).

    Half of what decides is the mean over all targets.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_targets)
        Outputs that are unknown, NaN, do not count.
    predictions : sequence of ndarray of shape (n_samples, n_targets)
        Rows with NaN in any of them are left out; without any row the first
        method has all weight.
    weights : ndarray of shape (n_samples,), default=None
        Weight of each row.
    share_votes : bool, default=True
        Whether methods that predict nearly the same share one vote; otherwise ``c`` is one.

    Returns
    -------
    weights : ndarray of shape (n_methods, n_targets)
    """
    known = np.isfinite(Y)
    rows = np.isfinite(np.stack(predictions)).all(axis=(0, 2)) & known.any(axis=1)
    if not rows.any():
        return np.eye(len(predictions))[:, [0] * Y.shape[1]]
    known = known[rows]
    roots = 1.0 if weights is None else np.sqrt(weights[rows])[:, None]
    errors = np.stack([np.where(known, Y[rows] - part[rows], 0.0) * roots for part in predictions])
    products = np.einsum("anq,bnq->qab", errors, errors, optimize=True)
    scale = np.einsum("qaa->qa", products).min(axis=1)
    products /= np.where(scale > 0, scale, 1.0)[:, None, None]
    products = (1 - _SHARED) * products + _SHARED * products.mean(axis=0)
    pulls = _PULL / np.maximum(known.sum(axis=0), 1)
    aims = _may_be_best(errors, scale, known)
    if share_votes:
        aims /= _count_alike(products)
        aims /= aims.sum(axis=0)
    return np.column_stack(
        [_on_simplex(S, p, aim) for S, p, aim in zip(products, pulls, aims.T, strict=True)]
    )


def _may_be_best(errors: Array, scale: Array, known: NDArray) -> Array:
    """Weights (n_methods, n_targets) that fall with the paired difference to the best method.

    An output that is unknown has the mean of those that are known of its row.
    """
    counts = np.maximum(known.sum(axis=0), 1)
    squares = errors**2 / np.where(scale > 0, scale / counts, 1.0)
    of_rows = squares.sum(axis=2, keepdims=True) / known.sum(axis=1)[:, None]
    squares = (1 - _SHARED) * np.where(known, squares, of_rows) + _SHARED * of_rows
    return best_shares(squares)


def _count_alike(products: Array) -> Array:
    """Count, for each method and target, the methods that predict nearly the same, itself among them."""
    squares = np.einsum("qaa->qa", products)
    apart = np.maximum(squares[:, :, None] + squares[:, None, :] - 2 * products, 0.0)
    least = np.minimum(squares[:, :, None], squares[:, None, :])
    # Errors of zero: the same predictions are alike, others are not.
    least = np.maximum(np.maximum(least, 1e-6 * apart), np.finfo(float).tiny)
    return np.exp(-apart / (_VOTES_APART * least)).sum(axis=2).T


def best_shares(losses: Array) -> Array:
    r"""Return weights (n_methods, n_targets) in proportion to :math:`\exp(-t^2 / 2)`.

    ``t`` is by how many standard errors the mean of the losses (n_methods, n_samples, n_targets) of a
    method is larger than the least, in the same rows.
    """
    best = losses.mean(axis=1).argmin(axis=0)
    least = np.take_along_axis(losses, best[None, None, :], axis=0)[0]
    found = []
    for own in losses:
        off = own - least
        gap = off.mean(axis=0)
        # Losses that differ by a constant have no standard error: a thousand are sure enough.
        error = np.maximum(off.std(axis=0) / np.sqrt(len(off)), 1e-3 * gap)
        found.append(np.exp(-0.5 * (gap / np.maximum(error, np.finfo(float).tiny)) ** 2))
    return np.array(found) / np.sum(found, axis=0)


def _on_simplex(S: Array, pull: float, aim: Array) -> Array:
    """Minimise ``w' S w + pull |w - aim|^2`` over weights that are not negative and sum to one."""
    m = len(S)
    values, vectors = np.linalg.eigh(S)
    root = np.sqrt(np.maximum(values, 0))[:, None] * vectors.T
    # The last row holds the sum to one.
    heavy = 1e4 * np.sqrt(max(float(values[-1]), 0.0) + pull)
    rows = np.vstack([root, np.sqrt(pull) * np.eye(m), np.full((1, m), heavy)])
    found, _ = nnls(rows, np.concatenate([np.zeros(m), np.sqrt(pull) * aim, [heavy]]))
    found = np.where(found < _LEAST_BLENDED * found.max(), 0.0, found)
    return found / found.sum()


class Blend(FoundModel):
    """A convex combination of fitted models, with weights of its own for each target.

    Attributes
    ----------
    estimators_ : list of fitted estimators
    names_ : list of str
    weights_ : ndarray of shape (n_estimators, n_targets)
    """

    @classmethod
    def of(cls, estimators: list[Any], names: list[str], weights: Array, n_features: int) -> Blend:
        """Make a blend of fitted models."""
        self = cls()
        self.estimators_ = estimators
        self.names_ = names
        self.weights_ = weights
        self.n_features_in_ = n_features
        return self

    def predict(self, X: ArrayLike) -> NDArray:
        """Predict outputs."""
        check_is_fitted(self, "weights_")
        predicted = [np.asarray(model.predict(X)) for model in self.estimators_]
        flat = predicted[0].ndim == 1
        weights = self.weights_[:, 0] if flat else self.weights_
        if weights.shape[1:] != predicted[0].shape[1:]:  # one column would count for all
            raise ValueError(f"weights_ has shape {self.weights_.shape}: not those of the outputs.")
        return sum(w * p for w, p in zip(weights, predicted, strict=True))

    @property
    def coef_(self) -> Array:
        """Coefficients of the whole, where all parts are linear in the inputs."""
        return self._linear("coef_")

    @property
    def intercept_(self) -> Array:
        """Constants of the whole, where all parts are linear in the inputs."""
        return self._linear("intercept_")

    def _linear(self, name: str) -> Any:
        parts = [getattr(model, name) for model in self.estimators_]
        total: Any = 0.0
        for own, part in zip(self.weights_, parts, strict=True):
            if np.ndim(part) == 2:
                own = own[:, None]
            elif name == "coef_" or np.ndim(part) == 0:
                own = own[0]
            total = total + own * part
        return total


class Mean(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """The mean of the outputs: what a blend falls back on where inputs say nothing."""

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: Array | None = None) -> Mean:
        """Keep the means."""
        self.mean_ = np.average(np.asarray(y, dtype=np.float64), axis=0, weights=sample_weight)
        self.n_features_in_ = np.shape(X)[1]
        return self

    def predict(self, X: ArrayLike) -> NDArray:
        """Predict the means."""
        return np.tile(self.mean_, (len(np.asarray(X)), *([1] * np.ndim(self.mean_))))

    @property
    def coef_(self) -> Array:
        """Zeros."""
        return np.zeros((*np.shape(self.mean_), self.n_features_in_))

    @property
    def intercept_(self) -> Any:
        """The means."""
        return self.mean_
