"""Choose rows that cover the data: Kennard-Stone, SPXY and duplex."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from sklearn.utils import check_consistent_length

from isthmus._linalg import Array
from isthmus._validation import check_array, check_count, check_memory


def kennard_stone(X: ArrayLike, n_samples: int, y: ArrayLike | None = None) -> NDArray:
    """Choose rows that cover the inputs evenly, [KS1969]_, or inputs and outputs (SPXY), [GALGSS2005]_.

    The two rows that are farthest apart come first, then always the row whose nearest chosen row is the
    farthest away. With ``y`` a distance is the sum of those in X and in y, each divided by its largest.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Inputs. Distances are Euclidean: columns of large variance count more, and scores of a principal
        component analysis may stand for the columns.
    n_samples : int
        Number of rows to choose.
    y : array of shape (n_samples,) or (n_samples, n_targets), default=None
        Outputs, each divided by its standard deviation.

    Returns
    -------
    chosen : ndarray of shape (n_samples,)
        Row numbers in the order of choice; the first k are the choice for k. Among equal distances the
        lower row number comes first.

    Examples
    --------
    >>> from isthmus.model_selection import kennard_stone
    >>> kennard_stone([[0.0], [1.0], [5.0], [10.0]], 3)
    array([0, 3, 2])
    """
    rows = check_array(X, dtype=np.float64)
    if y is None:
        return _cover(_distances(rows), n_samples)
    Y = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")
    check_consistent_length(rows, Y)
    Y = Y.reshape(len(Y), -1)
    spread = Y.std(axis=0)
    total = np.zeros((len(rows), len(rows)))
    for part in (rows, Y / np.where(spread > 0, spread, 1.0)):
        distances = _distances(part)
        total += distances / (distances.max() or 1.0)
    return _cover(total, n_samples)


def duplex(X: ArrayLike, n_test: int) -> tuple[NDArray, NDArray]:
    """Choose training and test rows that both cover the inputs, [S1977]_.

    The two rows farthest apart go to training, the two farthest of the others to test; then each set in
    turn takes the row that is the farthest from its own, until the test set is full.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Inputs.
    n_test : int
        Number of test rows, from 2 to half of the rows.

    Returns
    -------
    train, test : ndarray
        Row numbers; in the order of choice, and in ``train`` the rest after them.
    """
    D = _distances(check_array(X, dtype=np.float64))
    n = len(D)
    if check_count("n_test", n_test, minimum=2) > n // 2:
        raise ValueError(f"n_test == {n_test}, must be at most {n // 2}, half of the rows.")
    free = np.ones(n, dtype=bool)
    sets: list[list[int]] = [_farthest_pair(D, free), []]
    free[sets[0]] = False
    sets[1] = _farthest_pair(D, free)
    free[sets[1]] = False
    while len(sets[1]) < n_test:
        for chosen in sets:
            nearest = np.where(free, D[chosen].min(axis=0), -1.0)
            chosen.append(int(nearest.argmax()))
            free[chosen[-1]] = False
    return np.array([*sets[0], *np.flatnonzero(free)]), np.array(sets[1])


def _distances(rows: Array) -> Array:
    n = len(rows)
    check_memory(8.0 * n * n, f"the distances of {n} rows", "choose among fewer rows")
    return np.asarray(cdist(rows, rows))


def _farthest_pair(D: Array, free: NDArray) -> list[int]:
    among = np.flatnonzero(free)
    between = D[np.ix_(among, among)]
    np.fill_diagonal(between, -1.0)  # a row is no pair, even where all are equal
    return [int(among[i]) for i in np.unravel_index(between.argmax(), between.shape)]


def _cover(D: Array, n_samples: int) -> NDArray:
    n = len(D)
    if check_count("n_samples", n_samples, minimum=2) > n:
        raise ValueError(f"n_samples == {n_samples}, must be at most {n}, the number of rows.")
    chosen = _farthest_pair(D, np.ones(n, dtype=bool))
    nearest = D[chosen].min(axis=0)
    nearest[chosen] = -1.0  # equal rows have distance zero and may be chosen at last
    while len(chosen) < n_samples:
        chosen.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, D[chosen[-1]])
        nearest[chosen[-1]] = -1.0
    return np.array(chosen)
