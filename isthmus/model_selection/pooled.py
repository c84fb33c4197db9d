"""The number of components by the errors of all left-out rows together, and rules against too many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from isthmus._linalg import Array
from isthmus.problems import Split
from isthmus.regression import best_index, least_cost_index, simplest

POOLED_RULES = ("pooled", "pooled_one_se", "randomization")
COST_RULE = "cost"  # what "auto" stands for
FOLD_ERRORS = "pooled errors"  # name of a score that no user sees
REFITTED = (
    "rule == {!r} is not available where every candidate is refitted: use a named scoring, and weights for "
    "fit and score alike, or the rules 'best' and 'one_se'."
)
_RANDOMIZATION_LEVEL = 0.01  # of the randomization test, as in R's pls


@dataclass(frozen=True)
class PooledErrors:
    """Errors of rows that were left out, averaged over the splits that left them out."""

    relative: Array  # (n_candidates, n_rows): squares in units of the outputs' variances
    weights: Array  # (n_rows,), sum to one
    rmsecv: Array  # (n_candidates, q), in units


@dataclass(frozen=True)
class FoldErrors:
    """Mean squared errors of each fold, in units of the outputs' variances, and the folds' weights."""

    errors: Array  # (n_candidates, n_splits)
    shares: Array  # (n_splits,)
    n_targets: int

    @classmethod
    def taken_from(
        cls, scores: dict[str, Array], shares: Array, n_targets: int
    ) -> FoldErrors | None:
        """Take the errors out of a table of scores; None if they were not asked for."""
        explained = scores.pop(FOLD_ERRORS, None)
        if explained is None:
            return None
        return cls(1 - explained.reshape(-1, len(shares)), shares, n_targets)


def choose(
    rule: str,
    scores: Array,
    left_out: PooledErrors | FoldErrors | None,
    ranks: Sequence[int],
    alphas: Sequence[Any],
) -> int:
    """Return the candidate that a rule takes, by errors of rows left out or by scores of the folds."""
    if isinstance(left_out, FoldErrors):
        errors, shares = left_out.errors, left_out.shares
        return least_cost_index(errors, shares, ranks, alphas, left_out.n_targets)
    if left_out is not None:
        return choose_pooled(left_out, ranks, alphas, rule)
    return best_index(scores, ranks, alphas, rule)


def resolve_rule(rule: str, scoring: Any, refit: Any, by_refits: bool) -> str:
    """Return the rule that "auto" stands for: least cost, unless the user names a score of their own."""
    if rule == "auto":
        if by_refits or scoring is not None or callable(refit):
            return "best"
        return COST_RULE
    if by_refits and rule in POOLED_RULES:
        raise ValueError(REFITTED.format(rule))
    return rule


def pool(
    squares: list[Array], splits: Sequence[Split], weights: Array | None, Y: NDArray
) -> PooledErrors:
    """Return the pooled errors of squared errors by split, each (n_alphas, n_ranks, n_test, q)."""
    n, q = Y.shape
    n_candidates = squares[0].shape[0] * squares[0].shape[1]
    total = np.zeros((n_candidates, n, q))
    counts = np.zeros(n)
    for split, part in zip(splits, squares, strict=True):
        total[:, split.test] += part.reshape(n_candidates, -1, q)
        counts[split.test] += 1
    tested = counts > 0
    total = total[:, tested] / counts[tested, None]
    w = np.ones(tested.sum()) if weights is None else weights[tested]
    seen = ~np.isnan(Y[tested])  # a missing target has no error
    shares = seen * w[:, None] / (seen * w[:, None]).sum(axis=0)
    total = np.where(seen, total, 0.0)
    mean_squares = np.einsum("cnq,nq->cq", total, shares)
    centred = np.where(seen, Y[tested], 0.0)
    centred = np.where(seen, centred - (shares * centred).sum(axis=0), 0.0)
    variances = (shares * centred**2).sum(axis=0)
    varies = variances > 0
    # An output counts by its share of each row, so that the weighted sum over rows is the pooled error.
    relative = total[:, :, varies] * (shares / (w / w.sum())[:, None])[:, varies]
    relative = (relative / variances[varies]).mean(axis=2) if varies.any() else total.mean(axis=2)
    return PooledErrors(relative, w / w.sum(), np.sqrt(mean_squares))


def choose_pooled(
    pooled: PooledErrors, ranks: Sequence[int], alphas: Sequence[Any], rule: str
) -> int:
    """Return the chosen candidate of a flattened (alpha, rank) grid.

    The randomization test flips the signs of the differences :math:`d_i` between the squared errors of a
    candidate and of the best: their sum then has mean zero and variance :math:`\\sum d_i^2`. Its normal
    limit stands in for drawn signs, so that the choice needs no seed.
    """
    means = pooled.relative @ pooled.weights
    if np.isnan(means).all():
        raise ValueError("every candidate has a pooled error of NaN, so that none can be chosen.")
    best = int(np.nanargmin(means))
    if rule == "pooled":
        return best
    if rule == "pooled_one_se":
        spread = pooled.weights * (pooled.relative[best] - means[best])
        n = len(spread)
        error = np.sqrt(n / max(n - 1, 1)) * np.linalg.norm(spread)
        return simplest(np.flatnonzero(means <= means[best] + error), ranks, alphas)
    steps = pooled.weights * (pooled.relative - pooled.relative[best])
    return simplest(np.flatnonzero(sign_test(steps) > _RANDOMIZATION_LEVEL), ranks, alphas)


def sign_test(differences: Array) -> Array:
    """Return the probability that random signs give a sum at least as large, for each row."""
    lengths = np.linalg.norm(differences, axis=1)
    sums = differences.sum(axis=1)
    return ndtr(-np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0))
