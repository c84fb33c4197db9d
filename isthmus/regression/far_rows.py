"""Whether new rows are like those of a fit, from what a latent-variable regression keeps of its rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.linalg import lapack

from isthmus._linalg import Array
from isthmus._validation import FAR_ROWS_ALLOWED, OutsideDomainWarning

# Ratios are of squares: half of the rows four times as far out as training rows are on average. Medians of
# random splits of 18 tables were at most 1.8, heavy tails and rare categories included.
_FAR = 16.0
_FEWEST_ROWS = 8  # a median of fewer is no statement about a table
_MOST_ROWS = 15  # that are looked at, at most, evenly spaced: enough for a median at a bounded cost
_ROUNDING = 1e-6  # of the squares of the inputs: less beside the plane says nothing


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
    if len(X) < _FEWEST_ROWS or k == 0 or n < 2 * (n_fitted + 1) or model.solver_ == "proximal":
        return
    rows = np.asarray(X[:: -(-len(X) // _MOST_ROWS)], dtype=np.float64)
    with np.errstate(all="ignore"):  # rows may be as far out as numbers go
        ratios = _ratios(model, rows)
    largest = ratios.max(axis=0)
    largest.sort()
    median = float(largest[len(rows) // 2])
    if not median > _FAR:  # neither is NaN, where numbers ended
        return
    name = ("Hotelling's T2", "the Q residual")[int(np.median(ratios, axis=1).argmax())]
    warnings.warn(
        f"the rows are not like those of the fit: half of them have at least {median:.3g} times the mean "
        f"of {name} of the training rows. Are they of the same instrument, batch and units? Predictions "
        "may be far off. isthmus.inspection.Trusted(estimator).fit(X, y) checks every row and gives "
        "reasons.",
        OutsideDomainWarning,
        stacklevel=stacklevel + 1,
    )


def _ratios(model: Any, X: Array) -> Array:
    """T2 and Q of some rows over their means at the fit, (2, n_rows); zero where a mean is not known."""
    n, k = model.n_samples_, model.n_components_
    loadings, gram = model.x_loadings_, model.score_gram_
    has_varied = np.einsum("pk,pk->p", loadings, loadings) > 0
    Z = (X - model.x_mean_) * (has_varied / model.x_scale_)
    T = Z @ model.x_rotations_
    found = np.zeros((2, len(X)))
    *_, solved, info = lapack.dposv(gram, T.T)
    if info:  # weights out of range of their squares
        return found
    # k directions were fitted to the training rows, so that their own means are too small.
    freedom = (n - 1 - k) / n
    found[0] = np.einsum("nk,kn->n", T, solved) * (model.weight_ / k * freedom)
    share = float(model.x_explained_variance_ratio_.sum())
    if share < 1:
        inner = loadings.T @ loadings
        explained = float(np.vdot(inner, gram))  # squares of all training rows
        mean = max(1 - share, _ROUNDING) * explained / (share * model.weight_)
        # ||z - P t||^2 from products: digits that cancel are below what counts as rounding.
        beside = np.einsum("np,np->n", Z, Z)
        beside += np.einsum("nk,nk->n", T, T @ inner - 2.0 * (Z @ loadings))
        found[1] = beside * (freedom / mean)
    return found
