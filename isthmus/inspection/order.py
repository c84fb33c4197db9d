"""Whether errors follow the order of the rows: neighbours alike, or a trend from first to last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from isthmus._linalg import Array

FALSE_ALARMS = 0.001  # share of tables without an order of which it is said that they have one
_FEWEST_TO_ORDER = 20  # below, the normal law of the ratio is too rough


@dataclass(frozen=True)
class Order:
    """What the errors of rows left out in shuffled folds tell of the order of the rows.

    Attributes
    ----------
    is_seen : bool
        Whether neighbouring rows have similar errors.
    sorted_by : int or None
        An output that only rises or only falls from the first row to the last. A prediction lies nearer
        to the mean than the output, so that a table sorted by one has similar errors in neighbours too: an
        order that is none of time, and in which later rows lie beyond all outputs before them.
    has_classes : bool
        Whether no output has more than two values: classes may come one after the other.
    """

    is_seen: bool
    sorted_by: int | None
    has_classes: bool

    @classmethod
    def of(cls, Y: Array, left_out: Array) -> Order:
        """Look at outputs and at their predictions in shuffled folds, (n_samples, n_targets) each."""
        sorted_by = next((j for j, column in enumerate(Y.T) if _is_sorted(column)), None)
        has_classes = all(len(np.unique(column[np.isfinite(column)])) <= 2 for column in Y.T)
        return cls(neighbour_p_value(Y - left_out) < FALSE_ALARMS, sorted_by, has_classes)

    @property
    def asks_for_time(self) -> bool:
        """Whether later rows should be predicted from earlier ones in the folds."""
        return self.is_seen and self.sorted_by is None and not self.has_classes

    def notice(self, names: Sequence[str], scores: tuple[float, float] | None = None) -> str:
        """Return a sentence on the order, empty if none is seen.

        ``scores`` are of folds in time and of shuffled ones, if both were run.
        """
        if not self.is_seen:
            return ""
        if self.sorted_by is not None:
            return (
                f"the rows are sorted by {names[self.sorted_by]}: neighbouring rows have similar errors. "
                "Shuffled folds are right if new rows come in no order. For batches give groups "
                "(--groups), for an order of time cv='time' (--cv time)."
            )
        if scores is None:
            return (
                "the rows look ordered: neighbouring rows have similar errors, and the folds separate "
                "them. New batches or later rows will be predicted worse than cross-validation shows. "
                "Give groups (--groups), or cv='time' (--cv time)."
            )
        return (
            "the rows look ordered: neighbouring rows have similar errors. Score and intervals are "
            f"therefore of later rows predicted from earlier ones: score {scores[0]:.3f}, "
            f"{scores[1]:.3f} in shuffled folds. If new rows come later, give cv='time' (--cv time); for "
            "batches give groups (--groups); cv=5 (--cv 5) keeps shuffled folds."
        )


def _is_sorted(column: Array) -> bool:
    steps = np.diff(column[np.isfinite(column)])
    return bool(steps.any() and ((steps >= 0).all() or (steps <= 0).all()))


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
    if n < _FEWEST_TO_ORDER:
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
