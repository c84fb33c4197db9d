"""How much smaller errors become when models are fitted to all rows instead of those of a fold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isthmus._linalg import Array
from isthmus.auto.trials import Trial

_SLOW = ("trees", "boosting", "mean")  # these learn in another way than maps and kernels
_MOST_LEARNED = 0.5  # copies of rows, which leave a twin behind, are not taken for learning


def learning_factors(members: Sequence[Trial], weights: Array, trials: Sequence[Trial]) -> Array:
    """Return factors of the errors of left-out rows, one per target, for models of all rows.

    Ridge regression and kernels know the errors of rows left out one by one and in folds, both in closed
    form, and so their ratio, with all but one row and with four fifths of them. Other maps are taken to
    learn as these do, trees not at all. Factors above one are luck.

    Parameters
    ----------
    members : sequence of Trial
        What the answer is made of.
    weights : ndarray of shape (n_members, n_targets)
        Their weights, which sum to one.
    trials : sequence of Trial
        All methods.
    """
    known = {trial.rung.name: np.mean(trial.learning, axis=0) for trial in trials if trial.learning}
    n_targets = weights.shape[1]
    if not known:
        return np.ones(n_targets)
    usual = np.mean(list(known.values()), axis=0)
    factors = np.zeros(n_targets)
    for member, weight in zip(members, weights, strict=True):
        name = member.rung.name
        factors += weight * (1.0 if name in _SLOW else known.get(name, usual))
    return np.clip(factors, _MOST_LEARNED, 1.0)
