"""Linear maps with few inputs: the lasso, its whole path in closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import check_cv

from isthmus._linalg import Array
from isthmus._solvers import lasso_path
from isthmus.auto.clock import check_time
from isthmus.auto.methods.maps import InnerSearch, LinearMap
from isthmus.auto.methods.treated import outputs_in_spreads

# Weights of the penalty, relative to the least that leaves no input in; the largest leaves none in a fold.
_PENALTIES = np.logspace(0.25, -4, 52)


class SparseSearch(InnerSearch):
    r"""The lasso: least squares with a penalty on the sum of the absolute coefficients.

    Where few of many inputs count, as of the indicators of a category, ridge regression and kernels give
    all of them a part. The path over all penalties is a broken line ([EHJT2004]_), which is followed
    exactly from corner to corner (``isthmus/_solvers/lasso.py``), so that neither the order of the columns
    nor where an iteration stops says anything. Each target has a penalty of its own, the one with the
    least error of left-out rows.

    Parameters
    ----------
    cv : int or splitter, default=5
        Folds.

    Attributes
    ----------
    best_estimator_ : LinearMap
    best_params_ : dict
        ``penalty`` of each target, relative to the least that leaves no input in.
    """

    def __init__(self, cv: Any = 5) -> None:
        self.cv = cv

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: Array | None = None) -> SparseSearch:
        """Choose, then fit."""
        rows, Y, unit, flat = outputs_in_spreads(X, y)
        weights = np.ones(len(rows)) if sample_weight is None else sample_weight
        centre = np.average(rows, axis=0, weights=weights)
        spread = np.sqrt(np.average((rows - centre) ** 2, axis=0, weights=weights))
        Z = (rows - centre) / np.where(spread > 0, spread, 1.0)
        means = np.average(Y, axis=0, weights=weights)
        covariances = (Z * weights[:, None]).T @ (Y - means) / weights.sum()
        penalties = np.abs(covariances).max(axis=0)[:, None] * _PENALTIES
        errors = np.zeros(penalties.shape)
        for train, test in check_cv(self.cv).split(Z, Y):
            coef, constant = _paths(Z[train], Y[train], weights[train], penalties)
            off = Y[test].T[:, None, :] - coef @ Z[test].T - constant[:, :, None]
            errors += off**2 @ weights[test]
        best = errors.argmin(axis=1)  # of two that are as good the larger
        coef, constant = _paths(Z, Y, weights, penalties)
        targets = np.arange(len(best))
        scaled = coef[targets, best] * unit[:, None] / np.where(spread > 0, spread, 1.0)
        self.best_estimator_ = LinearMap.of(
            scaled, constant[targets, best] * unit - scaled @ centre, flat
        )
        self.best_params_ = {"penalty": _PENALTIES[best]}
        self.n_features_in_ = rows.shape[1]
        return self


def _paths(Z: Array, Y: Array, weights: Array, penalties: Array) -> tuple[Array, Array]:
    """Coefficients (n_targets, n_penalties, n_features) and constants (n_targets, n_penalties)."""
    share = weights / weights.sum()
    centre, means = share @ Z, share @ Y
    rows = (Z - centre) * np.sqrt(share)[:, None]
    gram = rows.T @ rows
    products = rows.T @ (np.sqrt(share)[:, None] * (Y - means))
    coef = np.stack(
        [_path(gram, own, steps) for own, steps in zip(products.T, penalties, strict=True)]
    )
    return coef, means[:, None] - coef @ centre


def _path(gram: Array, products: Array, penalties: Array) -> Array:
    """Coefficients at penalties that fall, between the corners of the path."""
    check_time()
    if not np.any(products):
        return np.zeros((len(penalties), len(gram)))
    corners, found = lasso_path(gram, products, penalties[-1])
    # From the smallest up, as interpolation wants them; beyond both ends the path stays where it is.
    corners, found = corners[::-1], found[::-1]
    places = np.clip(np.searchsorted(corners, penalties), 1, len(corners) - 1)
    low, high = corners[places - 1], corners[places]
    part = np.clip((penalties - low) / np.where(high > low, high - low, 1.0), 0.0, 1.0)[:, None]
    return (1 - part) * found[places - 1] + part * found[places]
