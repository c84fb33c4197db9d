"""Stability selection: how often each input is chosen when half of the rows are left out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state

from isthmus._linalg import Array
from isthmus._validation import check_array, check_count


def selection_frequencies(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    n_subsamples: int = 50,
    random_state: Any = None,
) -> Array:
    """Compute how often each input is selected in random halves of the rows, [MB2010]_.

    Inputs above a threshold between 0.6 and 0.9 are stable. The two halves of a split are both used.

    Parameters
    ----------
    estimator : estimator with ``selected_`` or ``coef_`` once fitted
        ``SparseFactors``, or a lasso of scikit-learn.
    X : array of shape (n_samples, n_features)
        Inputs.
    y : array of shape (n_samples,) or (n_samples, n_targets)
        Outputs.
    n_subsamples : int, default=50
        Number of halves; pairs of complementary halves, [SS2013]_.
    random_state : int, RandomState or None, default=None
        Seed of the halves.

    Returns
    -------
    frequencies : ndarray of shape (n_features,)
        Shares between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.model_selection import selection_frequencies
    >>> from isthmus.regression import SparseFactors
    >>> X = np.random.default_rng(0).normal(size=(80, 6))
    >>> y = X[:, 1] - X[:, 4]
    >>> selection_frequencies(SparseFactors(penalty=0.5), X, y, n_subsamples=4, random_state=0)
    array([0., 1., 0., 0., 1., 0.])
    """
    check_count("n_subsamples", n_subsamples, minimum=2)
    rows = check_array(X, dtype=np.float64)
    Y = np.asarray(y)
    rng = check_random_state(random_state)
    counts, n_fits = np.zeros(rows.shape[1]), 0
    for _ in range((n_subsamples + 1) // 2):
        order = rng.permutation(len(rows))
        half = len(rows) // 2
        for part in (order[:half], order[half : 2 * half]):
            counts += _selected(clone(estimator).fit(rows[part], Y[part]))
            n_fits += 1
    return counts / n_fits


def _selected(model: Any) -> Array:
    chosen = getattr(model, "selected_", None)
    if chosen is None:
        chosen = (np.atleast_2d(model.coef_) != 0).any(axis=0)
    return np.asarray(chosen, dtype=float)
