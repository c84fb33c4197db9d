"""Outputs with holes: what to put there before a projection sees them."""

from __future__ import annotations

import numpy as np

from isthmus._linalg import Array
from isthmus._validation import warn

MISSING = ("error", "mean", "ridge", "zero")
# Weight of the ridge on coordinates of unit variance; between 5 and 20 nothing changed.
IMPUTE_RIDGE = 10.0


def fill_outputs(Y: Array, missing: str, weights: Array | None = None) -> Array:
    """Holes filled with the observed mean of their output, or with zero."""
    means = np.zeros(Y.shape[1])
    if missing == "mean":
        counts = ~np.isnan(Y) * (1.0 if weights is None else weights[:, None])
        means = (np.nan_to_num(Y) * counts).sum(axis=0) / counts.sum(axis=0)
    return np.where(np.isnan(Y), means, Y)


def fill_by_ridge(Z: Array, Y: Array, start: Array, weights: Array | None = None) -> Array:
    """Holes filled with a ridge regression of each output on coordinates, over its observed rows.

    Once: iterating to convergence was worse than one pass.
    """
    filled = start.copy()
    weights = np.ones(len(Y)) if weights is None else weights
    for j in range(Y.shape[1]):
        seen = ~np.isnan(Y[:, j])
        if seen.all():
            continue
        own = weights[seen]
        z_mean = np.average(Z[seen], axis=0, weights=own)
        y_mean = np.average(Y[seen, j], weights=own)
        A = Z[seen] - z_mean
        weighted = A * own[:, None]
        H = weighted.T @ A + IMPUTE_RIDGE * np.eye(A.shape[1])
        coef = np.linalg.solve(H, weighted.T @ (Y[seen, j] - y_mean))
        filled[~seen, j] = y_mean + (Z[~seen] - z_mean) @ coef
    return filled


def drop_empty(Y: Array) -> Array:
    """Leave out, with a warning, outputs without any observed entry."""
    empty = np.isnan(Y).all(axis=0)
    if empty.all():
        raise ValueError("y has no observed entry at all.")
    if empty.any():
        columns = ", ".join(map(str, np.flatnonzero(empty)[:10]))
        warn(
            f"{int(empty.sum())} outputs have no observed entry and are dropped: columns {columns}.",
        )
    return Y[:, ~empty]
