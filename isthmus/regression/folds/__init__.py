"""Maps fitted without each fold, for much less than a fit a fold.

What a training fold needs to know of its rows is what is left of the whole when the held-out rows
are taken away: moments where p <= n, a part of one Gram matrix where n < p. Centring and scaling
are redone inside each fold. Where taking away would cost digits, the fold is fitted from its rows.

=====================  ========================================================
``split.py``           rows and splits
``path.py``            the predictions of a fold with every number of components, and their errors
``scores.py``          their scores
``refit.py``           every fold from its own rows
``by_moments.py``      tall data; many small folds of PLS as one stack
``by_gram.py``         wide data
``by_expectation.py``  missing values: one model of the gaps a fold
=====================  ========================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scipy import sparse

from isthmus.problems.forms import GramForm, MomentForm
from isthmus.problems.splits import Rows, Split
from isthmus.regression.folds.by_gram import GramFolds
from isthmus.regression.folds.by_moments import MomentFolds
from isthmus.regression.folds.refit import Folds, Task


def fold_tasks(
    estimator: Any, rows: Rows, splits: Sequence[Split], n_components: int, alphas: list
) -> list[Task]:
    """Pieces of work that yield ``(split, paths)``, one path for each ridge weight."""
    n, p = rows.shape
    kind = MomentForm if sparse.issparse(rows.X) else estimator._fold_form(n, p, n_components)
    if kind is MomentForm:
        folds: Folds = MomentFolds(estimator, rows, n_components, alphas)
    elif kind is GramForm:
        folds = GramFolds(estimator, rows, n_components, alphas)
    else:
        folds = Folds(estimator, rows, n_components, alphas)
    return folds.tasks(splits)
