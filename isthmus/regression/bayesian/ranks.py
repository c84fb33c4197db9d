"""The rank by prediction: leave-one-out scores of one posterior after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from isthmus._solvers import LeaveOneOut, psis_loo
from isthmus.problems import Frame
from isthmus.regression.bayesian.draws import ChainDraws
from isthmus.regression.bayesian.likelihoods import Likelihood
from isthmus.regression.bayesian.problem import Problem

_MOST_RANKS_RUN = 10  # each costs a run of the chains
# Rows and draws that a score is made of at most: its cost is their product.
_LOO_ROWS, _LOO_DRAWS = 1000, 1000
_PATIENCE = 2  # ranks that may fail to help before the search ends


def score_ranks(
    run: Callable[[int], list[ChainDraws]],
    score: Callable[[list[ChainDraws]], LeaveOneOut],
    largest: int,
) -> dict[int, LeaveOneOut]:
    """Scores of ranks 1, 2, ... until more have not helped for a while."""
    scores: dict[int, LeaveOneOut] = {}
    for rank in range(1, min(largest, _MOST_RANKS_RUN) + 1):
        scores[rank] = score(run(rank))
        best = max(scores, key=lambda r: scores[r].elpd)
        if rank - best >= _PATIENCE:
            break
    return scores


def smallest_good_rank(scores: dict[int, LeaveOneOut]) -> int:
    """Smallest rank whose score is within one standard error (of the difference) of the best."""
    best = max(scores, key=lambda rank: scores[rank].elpd)
    for rank, loo in scores.items():
        gap = scores[best].pointwise - loo.pointwise
        if gap.sum() <= np.sqrt(len(gap) * gap.var()):
            return rank
    return best


def leave_one_out(
    problem: Problem,
    likelihood: Likelihood,
    frame: Frame,
    X: Any,
    Y: NDArray,
    chains: list[ChainDraws],
) -> LeaveOneOut:
    """Score of chains on rows they have seen, of which (and of draws) at most a thousand are used."""
    places = np.linspace(0, X.shape[0] - 1, min(X.shape[0], _LOO_ROWS)).astype(int)
    rows = X[places].toarray() if sparse.issparse(X) else X[places]
    Z = ((rows - frame.x_mean) - frame.x_rest) / problem.x_unit
    targets = (Y[places] - frame.y_mean) / problem.y_unit
    left, right = (np.concatenate([getattr(c, n) for c in chains]) for n in ("left", "right"))
    b, noise = (np.concatenate([getattr(c, n) for c in chains]) for n in ("intercept", "noise"))
    covariances = [c.covariance for c in chains if c.covariance is not None]
    thin = np.linspace(0, len(left) - 1, min(len(left), _LOO_DRAWS)).astype(int)
    predicted = (Z @ left[thin]) @ right[thin].transpose(0, 2, 1) + b[thin][:, None]
    roots = np.linalg.cholesky(np.concatenate(covariances)[thin]) if covariances else None
    logs = likelihood.row_log_density(targets, predicted, noise[thin][:, None], roots)
    return psis_loo(logs)
