"""How far from a prediction an output may lie, from the errors of rows left out."""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus._linalg import Array
from isthmus.inspection._model import check_level
from isthmus.inspection.trust import Trust

_MOST_QUANTILES = 2000  # kept of the errors: more would only make files larger


def sorted_errors(errors: Array) -> Array:
    """Sorted absolute errors of each target, thinned where there are very many; unknown ones are NaN."""
    levels = np.linspace(0, 1, min(len(errors), _MOST_QUANTILES))[:, None]
    last = np.maximum(np.isfinite(errors).sum(axis=0) - 1, 0)
    # The next larger error, but 0.1 * 30 is to be 3, not a hair more.
    places = np.ceil(levels * last - 1e-9).astype(int)
    return np.take_along_axis(np.sort(errors, axis=0), places, axis=0)


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
    check_level(level)
    rank = int(np.ceil(level * (n_samples + 1) - 1e-9))
    if rank > n_samples:
        return np.full(errors.shape[1], np.inf)
    place = (rank - 1) / max(n_samples - 1, 1) * (len(errors) - 1)
    return errors[int(np.ceil(place - 1e-9))]


def error_scale(statistics: dict[str, Array], n_rows: Any, mean_q: float) -> Array:
    r"""How large errors of rows are expected to be, up to a factor that the errors themselves tell.

    .. math::
        s^2 = 1 + \frac1n + \frac{T^2}{n - 1} + \frac{Q}{\bar Q}

    The noise of the outputs, the leverage of the row as in the intervals of linear regression, and what is
    beside the plane of the training rows, in its mean over rows left out.

    Parameters
    ----------
    statistics : dict
        T2 and Q of the rows; either may be missing.
    n_rows : int or ndarray
        Number of rows that the plane was made of.
    mean_q : float
    """
    with np.errstate(over="ignore"):  # rows may be as far out as numbers go
        squares = 1 + 1 / n_rows + statistics.get("T2", 0.0) / np.maximum(n_rows - 1, 1)
        if "Q" in statistics and mean_q > 0:
            squares = squares + statistics["Q"] / mean_q
    return np.asarray(np.sqrt(np.minimum(squares, np.finfo(float).max)))


def widen(widths: Array, trust: Trust, extent: Array | None) -> Array:
    """Half widths (n_samples, n_targets) of rows that may lie outside of the domain.

    They grow by the distance of the row, which is 1 at the limit. Bounds that lie, in the mean of the
    outputs, farther apart than all outputs of the fit say nothing that was not known before; outside of the
    domain, where even that range is not sure to hold, all bounds of the row are withheld: infinite. Not
    output by output: the distance does not tell which of them a change of the inputs hits.

    Parameters
    ----------
    widths : ndarray of shape (n_targets,) or (n_samples, n_targets)
        Before the distance counts.
    trust : Trust
        Of the rows.
    extent : ndarray of shape (n_targets,) or None
        Range of each output at the fit, largest minus smallest; None withholds nothing.
    """
    wider = widths * np.maximum(trust.distance, 1.0)[:, None]
    if extent is None:
        return wider
    varies = extent > 0
    share = (2 * wider[:, varies] / extent[varies]).mean(axis=1) if varies.any() else 0.0
    return np.where((trust.outside & (share > 1))[:, None], np.inf, wider)
