"""How many landmarks a stated error takes, as seen on samples that are none."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from sklearn.utils import check_random_state

from isthmus._linalg import Array, row_blocks
from isthmus._validation import warn
from isthmus.kernels import (
    Precomputed,
    check_gram_finite,
    gram,
    gram_diagonal,
    landmark_factor,
    length,
    pivot_tol,
    select_landmarks,
    take,
)

HELD_OUT = 1000
"""Samples on which the error is estimated: a relative error of 1e-3 or 1e-1 is known to some percent."""
_HELD_SHARE = 0.2  # of the samples, where there are few
_HELD_OUT_AT_ONCE = 128  # of them at a time
_FIRST = 100  # landmarks that are tried; then twice as many each time


def choose_landmarks(
    kernel: Any,
    X: Any,
    share: float,
    selection: str,
    most: int,
    random_state: Any,
    *,
    tell: bool,
    sample_weight: Array | None = None,
) -> tuple[NDArray, float]:
    r"""Choose as few landmarks as explain a share of the trace.

    With :math:`K_{ZZ} = LL^\top` the first j of m landmarks leave
    :math:`1 - \sum_{i \le j} \|(L^{-1} K_{ZH})_i\|^2 / \mathrm{tr}(K_{HH})` of held-out samples H, so one
    factor gives the errors of all numbers up to m. Centres of k-means are as many as uniform landmarks
    need.

    Parameters
    ----------
    kernel, X, selection, random_state :
        As for ``select_landmarks``.
    share : float
        In (0, 1); one minus the relative error of the trace.
    most : int
        No more landmarks than these.
    tell : bool
        Whether to warn if the share is not reached.
    sample_weight : array of shape (n_samples,), default=None
        How much a sample counts in the trace, and how likely it is drawn; None: all alike.

    Returns
    -------
    chosen : ndarray
        As ``select_landmarks`` returns it.
    error : float
        What these landmarks leave of the trace of the held-out samples.
    """
    rng = check_random_state(random_state)
    order = rng.permutation(length(X))
    n_held = min(HELD_OUT, int(_HELD_SHARE * len(order)))
    held = np.sort(order[:n_held])
    others = np.sort(order[n_held:])
    if n_held < 2:  # too few to ask any of them
        return np.arange(len(order)), 0.0
    seed = rng.randint(np.iinfo(np.int32).max)
    drawn = "uniform" if selection == "kmeans" else selection
    limit = min(most, len(others))
    candidates = _rows(kernel, X, others)
    weights = None if sample_weight is None else sample_weight[others]
    counts = None if sample_weight is None else sample_weight[held]
    m = min(_FIRST, limit)
    while True:
        chosen = others[select_landmarks(kernel, candidates, m, drawn, seed, weights)]
        kept, errors = trace_errors(kernel, X, chosen, held, counts)
        if not len(kept):  # a kernel that is zero, of which the caller tells
            return chosen, 1.0
        enough = np.flatnonzero(errors <= 1.0 - share)
        spanned = 2 * len(kept) <= m  # the others depend on them: more would not help
        if len(enough) or spanned or m == limit:
            break
        # A last step that adds little would cost as much as the one before it.
        m = 2 * m if 3 * m <= limit else limit
    number = enough[0] + 1 if len(enough) else len(kept)
    if selection == "kmeans":
        chosen = select_landmarks(kernel, candidates, int(number), selection, seed, weights)
        errors = trace_errors(kernel, X, chosen, held, counts)[1]
        number = len(errors)
    else:
        chosen = chosen[kept[:number]]
    error = float(errors[number - 1])
    if tell and error > 1.0 - share and not len(enough) and not spanned:
        more = "there are no more samples" if limit < most else "more take too much memory or time"
        warn(
            f"{number} landmarks leave {error:.2g} of the trace of held-out samples, more than the "
            f"{1.0 - share:.2g} that were requested, and {more}. A wider kernel needs fewer.",
        )
    return chosen, error


def trace_errors(
    kernel: Any, X: Any, chosen: NDArray, held: NDArray, counts: Array | None = None
) -> tuple[NDArray, NDArray]:
    """Return the landmarks that do not depend on others, in order, and what the first 1, 2, ... leave."""
    is_matrix = isinstance(kernel, Precomputed)
    points = chosen if is_matrix or chosen.ndim == 2 else take(X, chosen)
    Kzz = X[np.ix_(chosen, chosen)] if is_matrix else gram(kernel, points)
    check_gram_finite(Kzz, kernel)
    L, kept = landmark_factor(Kzz, pivot_tol(Kzz))
    points = take(points, kept)
    explained, total = np.zeros(len(kept)), 0.0
    for rows in row_blocks(len(held), _HELD_OUT_AT_ONCE):
        some = take(X, held[rows])
        lengths = X[held[rows], held[rows]] if is_matrix else gram_diagonal(kernel, some)
        own = np.ones(length(some)) if counts is None else counts[rows]
        total += float(own @ np.asarray(lengths, dtype=np.float64))
        if not len(kept):
            continue  # SciPy 1.11 has no empty triangles
        K = gram(kernel, some, points).astype(np.float64, copy=False)
        F = solve_triangular(L, K.T, lower=True, check_finite=False)
        explained += np.einsum("ij,ij,j->i", F, F, own)
    left = 1.0 - np.cumsum(explained) / max(total, np.finfo(float).tiny)
    return kept, np.maximum(left, 0.0)


def _rows(kernel: Any, X: Any, places: NDArray) -> Any:
    """Some of the samples, as a choice among them takes them."""
    if isinstance(kernel, Precomputed):
        return X[np.ix_(places, places)]
    return take(X, places)
