"""How far rows lie from the domain of a model, and what that is worth saying."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from isthmus._linalg import Array
from isthmus._validation import OutsideDomainWarning as OutsideDomainWarning

# Distances are squared lengths, as T2 and Q are: three times as far from the training rows as the limit.
FAR_DISTANCE = 9.0
_FEWEST_MOVED = 8  # of which a shift of the whole is told
INSIDE_LEVEL = 0.95  # share of ordinary rows inside
_RARE_COUNT = 0.01  # so many rows outside are told if chance alone takes them there less often
RARE_SHIFT = 0.001  # a shift is told if chance alone gives it less often


@dataclass(frozen=True)
class Trust:
    """How far rows lie from the domain of a model.

    Attributes
    ----------
    distance : ndarray of shape (n_samples,)
        The largest of a row's statistics, each divided by its limit, as squared lengths: above 1 is
        outside.
    outside : ndarray of shape (n_samples,), bool
    reasons : list of str
        What is unusual in a row outside; empty for the others.
    causes : list of str
        The statistic that is the farthest beyond its limit; empty for rows inside.
    usual : ndarray or None
        Sorted distances of training rows that were left out, for comparison.
    error_scale : ndarray or None
        How large an error of a row is expected to be beside those of others, from its leverage and its Q.
    prediction, lower, upper : ndarray or None
        Predictions of the rows and their bounds, where the model was asked for them.
    """

    distance: Array
    outside: NDArray
    reasons: list[str]
    causes: list[str]
    usual: Array | None = None
    error_scale: Array | None = None
    prediction: Any = None
    lower: Any = None
    upper: Any = None

    @property
    def shift_p_value(self) -> float:
        """Probability that rows of the same kind lie so far out as a whole, see :func:`shift_p_value`."""
        return shift_p_value(self.distance, self.usual)

    @property
    def is_news(self) -> bool:
        """Whether more rows are outside than chance takes there, or some far out, or all have moved."""
        n = int(self.outside.sum())
        rare = stats.binom.sf(n - 1, len(self.outside), 1 - INSIDE_LEVEL) < _RARE_COUNT
        return bool(rare or (self.distance > FAR_DISTANCE).any() or self.shift_p_value < RARE_SHIFT)

    def summary(self) -> str:
        """Return sentences: how many rows are outside and why most of them, and if all have moved."""
        causes = Counter(filter(None, self.causes))
        return tell_outside(len(self.distance), causes, self.shift_p_value)


def shift_p_value(distance: Array, usual: Array | None) -> float:
    """Return the probability that the rows of one table lie so far out by chance.

    The rank test of Mann and Whitney against training rows that were left out. It sees a batch whose rows
    are each within the limits and all at one end of them. 1 for fewer than eight rows.
    """
    if usual is None or len(distance) < _FEWEST_MOVED or len(usual) < _FEWEST_MOVED:
        return 1.0
    finite = np.minimum(np.nan_to_num(distance, nan=np.inf), np.finfo(float).max)
    return float(stats.mannwhitneyu(finite, usual, alternative="greater").pvalue)


def tell_outside(
    n_rows: int, causes: Counter[str], shift: float = 1.0, n_outside: int | None = None
) -> str:
    """Return the sentences for so many rows; causes are those of the rows outside, or of the first."""
    n = causes.total() if n_outside is None else n_outside
    share = f"{n} of {n_rows} rows ({100 * n / n_rows:.1f} %)" if n else f"None of {n_rows} rows"
    told = f"{share} {'is' if n < 2 else 'are'} outside the domain of the training rows"
    if n:
        cause, most = causes.most_common(1)[0]
        of = "all" if most == n else "most" if causes.total() < n else f"{most}"
        article = "" if cause.startswith("Hotelling") else "the "
        which = "" if n == 1 else f"{of} of them "
        told += f", {which}because of {article}{cause}"
    if shift >= RARE_SHIFT:
        return f"{told}."
    told += f". As a whole they lie farther out than the training rows (p = {shift:.1g})"
    if n < n_rows:
        told += ", so that errors may be larger and intervals too narrow, inside the domain too"
    return f"{told}."
