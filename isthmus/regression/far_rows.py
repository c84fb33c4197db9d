"""Whether new rows are like those of a fit, from what a latent-variable regression keeps of its rows."""

from __future__ import annotations

import warnings
from math import sqrt
from typing import Any

import numpy as np
from scipy.linalg import lapack

from isthmus._linalg import Array
from isthmus._validation import FAR_ROWS_ALLOWED, OutsideDomainWarning

# Ratios are of squares: half of the rows four times as far out as training rows are on average. Medians of
# random splits of 18 tables were at most 1.8, heavy tails and rare categories included.
_FAR_MEDIAN = 16.0
_FEWEST_OF_TABLE = 8  # a median of fewer is no statement about a table
# Looked at, at most, evenly spaced: enough for a median at a bounded cost
_ROWS_LOOKED_AT = 15
_NO_SQUARES_BESIDE = 1e-6  # of the squares of the inputs: less beside the plane says nothing


def warn_if_far(model: Any, X: Array, stacklevel: int) -> None:
    """Warn if rows as a whole lie far from those of the fit: spectra of another instrument, other units.

    Rows one by one, with limits and reasons, are what ``isthmus.inspection.Trusted`` is for, which fits
    several times. This costs a fit nothing, and a prediction about a tenth of a millisecond.
    """
    if FAR_ROWS_ALLOWED.get():
        return
    n, k = model.n_samples_, model.n_components_
    # A map with nearly as many numbers in a direction as rows fits these far better than any others.
    n_fitted = X.shape[1] if model._inverts_covariance else k
    if len(X) < _FEWEST_OF_TABLE or k == 0 or n < 2 * (n_fitted + 1) or model.solver_ == "proximal":
        return
    rows = X[:: -(-len(X) // _ROWS_LOOKED_AT)]
    n_far = len(rows) - len(rows) // 2  # as many are at least as far out as the median
    with np.errstate(all="ignore"):  # rows may be as far out as numbers go
        T, weighted, residuals = _products(model, rows)
        if np.vdot(T, weighted) + np.vdot(residuals, residuals) <= _FAR_MEDIAN * n_far:
            return  # so many far rows would have a larger sum
        ratios = _row_sums(T, weighted, residuals)
    median = float(np.sort(ratios.max(axis=0))[-n_far])
    if not median > _FAR_MEDIAN:  # neither is NaN, where numbers ended
        return
    name = ("Hotelling's T2", "the Q residual")[int(np.median(ratios, axis=1).argmax())]
    warnings.warn(
        f"the rows are not like those of the fit: half of them have at least {median:.3g} times the mean "
        f"of {name} of the training rows, and {_farthest_column(model, rows)}. Are they of the same "
        "instrument, batch and units? Predictions may be far off. "
        "isthmus.inspection.Trusted(estimator).fit(X, y) checks every row and gives reasons.",
        OutsideDomainWarning,
        stacklevel=stacklevel + 1,
    )


def _farthest_column(model: Any, X: Array) -> str:
    """The column that is farthest from its mean in one of the rows, and by how many deviations."""
    scale, loadings = model.x_scale_, model.x_loadings_
    with np.errstate(all="ignore"):  # rows may be as far out as numbers go
        if (scale == scale[0]).all():
            # Columns in their units: what is explained, and a share of the rest.
            gram = model.score_gram_ / model.weight_
            explained = np.einsum("jk,kl,jl->j", loadings, gram, loadings)
            share = float(model.x_explained_variance_ratio_.sum())
            scale = scale * np.sqrt(explained + explained.mean() * max(1 / share - 1, 0.0))
        off = np.abs(X - model.x_mean_) / np.where(loadings.any(axis=1), scale, np.inf)
    off = np.nan_to_num(off).max(axis=0)
    j = int(off.argmax())
    name = getattr(model, "feature_names_in_", range(len(off)))[j]
    return f"column {name!r} is up to {off[j]:.3g} standard deviations from its mean"


def _products(model: Any, X: Array) -> tuple[Array, Array, Array]:
    """Scores, scores over their covariance and residuals: their products are T2 and Q, over the means of
    these at the fit; zeros where a mean is not known.
    """
    n, k = model.n_samples_, model.n_components_
    loadings, gram = model.x_loadings_, model.score_gram_
    Z = X - model.x_mean_
    Z /= model.x_scale_
    if not loadings.all():
        Z *= loadings.any(axis=1)  # columns that did not vary
    T = Z @ model.x_rotations_
    *_, solved, info = lapack.dposv(gram, T.T)
    if info:  # weights out of range of their squares
        return T, np.zeros_like(T), np.zeros_like(Z)
    # k directions were fitted to the training rows, so that their own means are too small.
    freedom = (n - 1 - k) / n
    solved *= model.weight_ / k * freedom
    share = float(model.x_explained_variance_ratio_.sum())
    if share >= 1:
        return T, solved.T, np.zeros_like(Z)
    explained = float(np.vdot(loadings.T @ loadings, gram))  # squares of all training rows
    mean = max(1 - share, _NO_SQUARES_BESIDE) * explained / (share * model.weight_)
    Z -= T @ loadings.T
    Z *= sqrt(freedom / mean)
    return T, solved.T, Z


def _row_sums(T: Array, weighted: Array, residuals: Array) -> Array:
    """T2 and Q of each row, (2, n_rows)."""
    return np.array([(T * weighted).sum(axis=1), (residuals * residuals).sum(axis=1)])
