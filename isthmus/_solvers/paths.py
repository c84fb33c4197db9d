"""The k best paths through a chain of labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import Array

Ints = NDArray[np.int64]


def best_paths(first: Array, steps: list[Array], k: int) -> tuple[list[Ints], Array]:
    """Find the k paths of largest sum: Viterbi's recursion with the k best per label.

    Parameters
    ----------
    first : array of shape (n_labels_0,)
        Values of the labels of the first place.
    steps : list of arrays of shape (n_labels_i, n_labels_{i+1})
        Value of every label of the next place after every label of this one.
    k : int
        Number of paths.

    Returns
    -------
    paths : list of at most k integer arrays
        Labels of all places, best path first.
    values : array
        Their sums. Paths of value minus infinity are left out.
    """
    values = first[:, None]  # (labels, paths that end there), best first
    history: list[tuple[Ints, Ints]] = []
    for step in steps:
        n_ranks = values.shape[1]
        ways = (values[:, :, None] + step[:, None, :]).reshape(-1, step.shape[1])
        kept = min(k, len(ways))
        best = _largest(ways, kept)
        values = np.take_along_axis(ways, best, axis=0).T
        history.append((best.T // n_ranks, best.T % n_ranks))
    flat = values.ravel()
    ends = _largest(flat[:, None], min(k, len(flat)))[:, 0]
    ends = ends[np.isfinite(flat[ends])]
    paths = []
    for end in ends:
        label, rank = divmod(int(end), values.shape[1])
        path = [label]
        for labels, ranks in reversed(history):
            label, rank = int(labels[label, rank]), int(ranks[label, rank])
            path.append(label)
        paths.append(np.array(path[::-1], dtype=np.int64))
    return paths, flat[ends]


def _largest(values: Array, k: int) -> Ints:
    """Places of the k largest of every column, in order, ties by place."""
    if 4 * k < len(values):  # the k largest first; ties at the edge are decided by place, too
        edge = np.partition(values, len(values) - k, axis=0)[len(values) - k]
        masked = np.where(values >= edge, values, -np.inf)
        candidates = np.flatnonzero((values >= edge).any(axis=1))
        order = np.argsort(-masked[candidates], axis=0, kind="stable")[:k]
        return candidates[order]
    return np.argsort(-values, axis=0, kind="stable")[:k]
