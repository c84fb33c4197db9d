"""The path of the lasso over all penalties, from corner to corner."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import Array

# What is left of a column's square beside the columns in use; below, it is a combination of them.
_COMBINED_COLUMN = 1e-10
# Straight pieces for each column; paths of tables have a few, and one that goes round in ties ends here.
_MOST_PIECES = 50


def lasso_path(gram: Array, products: Array, least: float) -> tuple[Array, Array]:
    r"""Follow :math:`\min_b \frac12 b^\top G b - c^\top b + \lambda \|b\|_1` as the penalty falls.

    With the columns ``A`` in use and their signs ``s``, the optimum is
    :math:`b_A = G_{AA}^{-1} (c_A - \lambda s)`, a straight line in :math:`\lambda` until another covariance
    :math:`c - G b` reaches the penalty or a coefficient reaches zero ([EHJT2004]_ Sec. 3.1). Each piece is
    solved for anew, so that no error is carried along. An event counts if it would break the conditions of
    the optimum just below: a column that has left, or its twin, does not come back at once.

    Parameters
    ----------
    gram, products : ndarray of shape (n_features, n_features), (n_features,)
        ``G`` and ``c``.
    least : float
        Where the path ends.

    Returns
    -------
    penalties, coef : ndarray of shape (n_corners,), (n_corners, n_features)
        The corners, penalties from the largest down.
    """
    signs = np.sign(products)
    in_use = [int(np.abs(products).argmax())]
    dependent = np.zeros(len(gram), dtype=bool)
    penalty = float(np.abs(products).max())
    penalties = [penalty]
    coefs = [np.zeros(len(gram))]
    for _ in range(_MOST_PIECES * len(gram)):
        if penalty <= least:
            break
        block = gram[np.ix_(in_use, in_use)]
        start, fall = np.linalg.solve(block, np.column_stack([products[in_use], signs[in_use]])).T
        rest = products - gram[:, in_use] @ start
        slope = gram[:, in_use] @ fall
        outside = ~dependent
        outside[in_use] = False
        joins = {sign: _first(rest, sign - slope, outside & (sign * slope < 1)) for sign in (1, -1)}
        sign = max(joins, key=lambda own: joins[own][0])
        joining, j = joins[sign]
        leaving, k = _first(start, fall, signs[in_use] * fall < 0)
        penalty = max(min(penalty, max(joining, leaving)), least)
        coef = np.zeros(len(gram))
        coef[in_use] = start - penalty * fall
        penalties.append(penalty)
        coefs.append(coef)
        if penalty == least:  # an event below it is none of the path's
            break
        if leaving > joining:
            coef[in_use.pop(k)] = 0.0
            dependent[:] = False
        else:
            beside = gram[j, j] - gram[j, in_use] @ np.linalg.solve(block, gram[in_use, j])
            if beside < _COMBINED_COLUMN * gram[j, j]:
                dependent[j] = True
            else:
                in_use.append(j)
                signs[j] = sign
    return np.array(penalties), np.array(coefs)


def _first(values: Array, slopes: Array, counts: NDArray) -> tuple[float, int]:
    """Return the largest penalty at which a line ``values - penalty slopes`` that counts is zero."""
    zeros = np.divide(values, slopes, where=counts, out=np.full(len(values), -np.inf))
    place = int(zeros.argmax())
    return float(zeros[place]), place
