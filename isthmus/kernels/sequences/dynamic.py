r"""The marginalised kernel of sequences by its dynamic programme, one against many.

.. math::
    R_{ij} = M(x_i, y_j) \, (q_i q_j + (1 - \lambda)^2 R_{i+1, j+1}), \qquad k = \sum R / (ab)

([B2006]_ Sec. 3.4.3 for sequences): exact in O(ab), no iteration. The loop is over the places of x; all
places of all y go side by side. It serves label kernels that are not "equal or not".
"""

from __future__ import annotations

import numpy as np

from isthmus._linalg import Array
from isthmus.kernels.sequences.encoding import Corpus, Ints


def stop_weights(lengths: Ints, width: int, stop: float, proper: bool) -> Array:
    """``q`` of every place, (n, width), zero behind the end."""
    places = np.arange(width)
    q = np.where(places < lengths[:, None], stop, 0.0)
    if proper:
        q[np.arange(len(lengths)), lengths - 1] = 1.0
    return q


def one_against_many(
    x: Ints, Y: Ints, lengths: Ints, labels: Array | None, stop: float, proper: bool
) -> Array:
    """``k(x, y)`` for the rows of a padded matrix Y, (n_Y,).

    ``labels`` is the label kernel, a matrix over the codes of the alphabet; None is equality.
    """
    qx = stop_weights(np.array([len(x)]), len(x), stop, proper)[0]
    qy = stop_weights(lengths, Y.shape[1], stop, proper)
    inside = Y >= 0
    R = np.zeros((len(Y), Y.shape[1] + 1))
    total = np.zeros(len(Y))
    for symbol, q in zip(x[::-1], qx[::-1]):
        M = (symbol == Y) if labels is None else np.where(inside, labels[symbol][Y], 0.0)
        # The shift reads the row of the next place of x before it is written over.
        R[:, :-1] = M * (q * qy + (1.0 - stop) ** 2 * R[:, 1:])
        total += R.sum(axis=1)
    return total / (len(x) * lengths)


def many_against_many(
    X: Corpus, Y: Corpus, labels: Array | None, stop: float, proper: bool
) -> Array:
    """The kernel matrix of two corpora over one alphabet, one row at a time."""
    padded, lengths = Y.padded(), Y.lengths
    rows = [
        one_against_many(X.symbols[a:b], padded, lengths, labels, stop, proper)
        for a, b in zip(X.offsets[:-1], X.offsets[1:])
    ]
    return np.array(rows)
