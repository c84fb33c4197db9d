"""Principal components with a ridge: all ranks and ridge weights of a fold from one eigendecomposition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from sklearn.model_selection import check_cv

from isthmus._linalg import Array
from isthmus.auto.methods.maps import MOST_RANKS, InnerSearch, LinearMap
from isthmus.auto.methods.treated import outputs_in_spreads

_ALPHAS = (0.0, *np.logspace(-12, 0, 21))  # ridge weights, relative to the largest eigenvalue
_EIGENVALUE_ROUNDING = 1e-13  # eigenvalues below, relative to the largest


class PrincipalSearch(InnerSearch):
    r"""Ridge regression on leading principal components, rank and ridge weight for each target.

    The rows enter by their Gram matrix alone, which is :math:`X A^\top A X^\top` for treated rows
    :math:`X A^\top`. With its eigenvectors and eigenvalues in the training rows of a fold the
    prediction of a row with products :math:`k` is

    .. math::
        \bar y + \sum_{i \le r} \frac{k^\top u_i \, u_i^\top Y}{d_i + \alpha},

    so that one decomposition a fold gives all ranks :math:`r` and ridge weights :math:`\alpha`.

    Parameters
    ----------
    cv : int or splitter, default=5
        Folds.

    Attributes
    ----------
    best_estimator_ : LinearMap
    best_params_ : dict
        ``n_components`` and ``alpha`` for each target.
    left_out_ : ndarray of shape (n_samples, n_targets)
        Predictions of every row without its fold.
    """

    def __init__(self, cv: Any = 5) -> None:
        self.cv = cv

    def fit(self, X: ArrayLike, y: ArrayLike) -> PrincipalSearch:
        """Choose, then fit."""
        rows, Y, unit, flat = outputs_in_spreads(X, y)
        centre = rows.mean(axis=0)
        Z = rows - centre
        products = Z @ Z.T
        folds = list(check_cv(self.cv).split(rows, Y))
        most = min(MOST_RANKS, rows.shape[1], min(len(train) for train, _ in folds) - 1)
        paths = [_Path.of(products, Y, train, test, most) for train, test in folds]
        errors = np.zeros((len(_ALPHAS), most, Y.shape[1]))
        for path, (_, test) in zip(paths, folds, strict=True):
            errors += path.squared_errors(Y[test])
        # From the largest weight down and the lowest rank up: of two that are as good the simpler.
        places = errors[::-1].reshape(-1, Y.shape[1]).argmin(axis=0)
        steps, ranks = np.divmod(places, most)
        weights = np.array(_ALPHAS)[::-1][steps]
        left_out = np.full(Y.shape, np.nan)
        for path, (_, test) in zip(paths, folds, strict=True):
            left_out[test] = path.predict(weights, ranks)
        self.left_out_ = left_out * unit
        everyone = np.arange(len(Y))
        whole = _Path.of(products, Y, everyone, everyone[:0], most)
        coef = (Z.T @ whole.dual_coef(weights, ranks)).T * unit[:, None]
        self.best_estimator_ = LinearMap.of(coef, whole.means * unit - coef @ centre, flat)
        self.best_params_ = {"n_components": ranks + 1, "alpha": weights * whole.values[0]}
        self.n_features_in_ = rows.shape[1]
        return self


@dataclass
class _Path:
    """Leading eigenvalues of the training rows, outputs and test rows in their eigenvectors."""

    values: Array
    vectors: Array
    outputs: Array
    scores: Array
    means: Array

    @classmethod
    def of(cls, products: Array, Y: Array, train: NDArray, test: NDArray, most: int) -> _Path:
        """Decompose the centred Gram matrix of the training rows."""
        own = products[np.ix_(train, train)]
        columns = own.mean(axis=0)
        centred = own - columns - columns[:, None] + columns.mean()
        values, vectors = eigh(centred, check_finite=False, driver="evd")
        values = values[: -most - 1 : -1]
        vectors = vectors[:, : -most - 1 : -1]
        means = Y[train].mean(axis=0)
        new = products[np.ix_(test, train)] - columns
        # Eigenvectors sum to zero, so that what is constant in a row of products does not count.
        return cls(values, vectors, vectors.T @ (Y[train] - means), new @ vectors, means)

    @property
    def filters(self) -> Array:
        """What each component is multiplied by, for each ridge weight, (n_alphas, most)."""
        top = max(self.values[0], np.finfo(float).tiny)
        kept = self.values > _EIGENVALUE_ROUNDING * top
        sums = np.where(kept, self.values, np.inf) + np.multiply.outer(_ALPHAS, [top])
        return 1 / sums

    def squared_errors(self, Y: Array) -> Array:
        """Sums over the test rows, (n_alphas, most, n_targets)."""
        parts = self.scores[:, :, None] * self.outputs  # (n_test, most, n_targets)
        n_alphas, most = self.filters.shape
        # A triangle of filters turns the sums over ranks into one product.
        triangle = self.filters[:, :, None] * np.tri(most).T
        flat = np.moveaxis(parts, 1, 2).reshape(-1, most) @ np.moveaxis(triangle, 1, 0).reshape(
            most, -1
        )
        off = flat.reshape(len(Y), Y.shape[1], -1) - (Y - self.means)[:, :, None]
        return np.einsum("nqg,nqg->gq", off, off).reshape(n_alphas, most, -1)

    def _coefficients(self, weights: Array, ranks: NDArray) -> Array:
        """Filtered outputs with a ridge weight and a rank for each target, (most, n_targets)."""
        rows = [_ALPHAS.index(weight) for weight in weights]
        kept = np.arange(len(self.values))[:, None] <= ranks
        return np.where(kept, self.outputs * self.filters[rows].T, 0.0)

    def predict(self, weights: Array, ranks: NDArray) -> Array:
        """Predictions of the test rows."""
        return self.means + self.scores @ self._coefficients(weights, ranks)

    def dual_coef(self, weights: Array, ranks: NDArray) -> Array:
        """Coefficients of the training rows."""
        return self.vectors @ self._coefficients(weights, ranks)
