"""Whether errors follow the order of the rows: neighbours alike, or a trend from first to last."""

from __future__ import annotations

import numpy as np
from scipy import stats

from isthmus._linalg import Array

_FEWEST_ROWS = 20  # below, the normal law of the ratio is too rough


def neighbour_p_value(residuals: Array) -> float:
    r"""Return the probability that neighbouring residuals are so alike by chance.

    The rank form of von Neumann's ratio, :math:`\sum (R_{i+1} - R_i)^2 / \sum (R_i - \bar R)^2`, has mean 2
    and a known variance if every order of the rows is equally likely, [BAR1982]_, whatever the law of the
    residuals. Of several outputs the least probability counts, times their number.

    Parameters
    ----------
    residuals : ndarray of shape (n_samples, n_targets)
        In the order of the rows; rows with NaN are left out.

    Returns
    -------
    p_value : float
        1 for fewer than 20 rows.
    """
    residuals = residuals[np.isfinite(residuals).all(axis=1)]
    n = len(residuals)
    if n < _FEWEST_ROWS:
        return 1.0
    ranks = stats.rankdata(residuals, axis=0)
    spread = ((ranks - ranks.mean(axis=0)) ** 2).sum(axis=0)
    varies = spread > 0
    if not varies.any():
        return 1.0
    ratio = (np.diff(ranks, axis=0) ** 2).sum(axis=0)[varies] / spread[varies]
    variance = 4 * (n - 2) * (5 * n**2 - 2 * n - 9) / (5 * n * (n + 1) * (n - 1) ** 2)
    least = float(stats.norm.cdf((ratio - 2) / np.sqrt(variance)).min())
    return min(1.0, len(ratio) * least)


def trend_p_value(residuals: Array) -> float:
    """Return the probability of such a trend over the order of the rows by chance (Kendall's tau).

    Parameters
    ----------
    residuals : ndarray of shape (n_samples,)
        In the order of the rows; NaN are left out.

    Returns
    -------
    p_value : float
        1 where there is nothing to see: fewer than 4 rows, or all residuals the same.
    """
    known = residuals[np.isfinite(residuals)]
    if len(known) < 4 or np.ptp(known) == 0:
        return 1.0
    return float(stats.kendalltau(np.arange(len(known)), known).pvalue)
