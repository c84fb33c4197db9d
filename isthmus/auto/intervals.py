"""How far from a prediction an output may lie, from the errors of rows left out."""

from __future__ import annotations

import numpy as np

from isthmus._linalg import Array

_MOST_QUANTILES = 2000


def sorted_errors(errors: Array) -> Array:
    """Sorted absolute errors of each target, thinned where there are very many."""
    levels = np.linspace(0, 1, min(len(errors), _MOST_QUANTILES))
    if np.isnan(errors).any():
        return np.nanquantile(errors, levels, axis=0, method="higher")
    return np.quantile(errors, levels, axis=0, method="higher")


def half_widths(errors: Array, n_samples: int, level: float) -> Array:
    """Half the width of an interval that holds a new output with the given probability.

    Parameters
    ----------
    errors : ndarray of shape (m, n_targets)
        What :func:`sorted_errors` made of the errors of ``n_samples`` rows.
    n_samples : int
    level : float

    Returns
    -------
    widths : ndarray of shape (n_targets,)
        Infinite where there are too few rows for the level.
    """
    if not 0 < level < 1:
        raise ValueError(f"level == {level!r}, must be a number between 0 and 1, such as 0.95.")
    rank = int(np.ceil(level * (n_samples + 1) - 1e-9))
    if rank > n_samples:
        return np.full(errors.shape[1], np.inf)
    place = (rank - 1) / max(n_samples - 1, 1) * (len(errors) - 1)
    return errors[int(np.ceil(place - 1e-9))]
