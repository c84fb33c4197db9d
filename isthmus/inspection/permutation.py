"""Is there anything to learn at all? The whole model against shuffled outputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from numpy.random import RandomState
from numpy.typing import ArrayLike
from sklearn.model_selection import permutation_test_score
from sklearn.utils import check_scalar

from isthmus._linalg import Array
from isthmus.inspection._model import as_fitted, check_rows, check_targets
from isthmus.regression import LatentRegression


@dataclass(frozen=True)
class PermutationTest:
    """A cross-validated score among those of shuffled outputs.

    Attributes
    ----------
    score : float
    permutation_scores : ndarray of shape (n_permutations,)
    p_value : float
    """

    score: float
    permutation_scores: Array
    p_value: float


def permutation_test(
    model: LatentRegression,
    X: ArrayLike,
    y: ArrayLike,
    *,
    n_permutations: int = 999,
    cv: Any = 5,
    scoring: str | Callable | None = None,
    groups: ArrayLike | None = None,
    random_state: int | RandomState | None = None,
    n_jobs: int | None = None,
) -> PermutationTest:
    r"""Test a model by permuting the outputs ([OG2010]_).

    The rows of ``y`` are shuffled as wholes, so that the targets keep their relations to each other
    and lose those to ``X``; the model is then cross-validated again, *with* its choice of the
    number of components where it makes one. With ``N`` permutations

    .. math::
        p = \frac{1 + \#\{\text{permutations that score at least as well}\}}{1 + N}

    which is a valid p-value for any ``N``: under independence of exchangeable rows,
    :math:`P(p \le \alpha) \le \alpha`. There are no sample weights here, because rows of unequal
    weight cannot be exchanged.

    Parameters
    ----------
    model : fitted PCR, PLS, ReducedRankRegression, StiefelRegression or ManifoldPLS
        Only its parameters are used.
    X : array-like of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Outputs.
    n_permutations : int, default=999
        Number ``N``; the smallest p-value is ``1 / (N + 1)``.
    cv : int or splitter, default=5
        As in scikit-learn.
    scoring : str or callable, default=None
        As in scikit-learn; None is the mean R2 of the targets.
    groups : array-like of shape (n_samples,), default=None
        Outputs are shuffled within these groups, which a grouped ``cv`` keeps together too.
    random_state : int, RandomState instance or None, default=None
        Of the shuffling.
    n_jobs : int, default=None
        Cross-validations at a time, as in joblib.

    Returns
    -------
    test : PermutationTest

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus import PLS
    >>> from isthmus.inspection import permutation_test
    >>> rng = np.random.default_rng(0)
    >>> X, noise = rng.normal(size=(30, 50)), rng.normal(size=30)
    >>> model = PLS(3).fit(X, noise)
    >>> found = permutation_test(model, X, noise, n_permutations=19, random_state=0)
    >>> bool(model.score(X, noise) > 0.9), bool(found.p_value > 0.05)
    (True, True)
    """
    check_scalar(n_permutations, "n_permutations", Integral, min_val=1)
    X = check_rows(model, X)
    Y = as_fitted(model, check_targets(model, X, y))
    # scikit-learn's counts the unshuffled score among the permutations, as the formula does.
    result = permutation_test_score(
        model,
        X,
        Y,
        groups=groups,
        cv=cv,
        n_permutations=n_permutations,
        scoring=scoring,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    return PermutationTest(*result)
