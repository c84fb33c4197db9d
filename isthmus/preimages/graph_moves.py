"""Neighbours of a graph, and descent among them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import Array
from isthmus.preimages.best_seen import BestSeen
from isthmus.preimages.sequence_moves import substitutions

Ints = NDArray[np.int64]
_MOST_STEPS = 100  # of one descent
_SCREEN = 24  # changes of one kind that are evaluated, the best to first order


def flips(code: Ints, n_marks: int) -> Ints:
    """Every pair of nodes joined, parted, or joined by an edge of another label."""
    m = len(code)
    i, j = np.triu_indices(m, 1)
    out = []
    for value in range(n_marks + 1):
        differ = code[i, j] != value
        part = np.repeat(code[None], int(differ.sum()), axis=0)
        rows = np.arange(len(part))
        part[rows, i[differ], j[differ]] = part[rows, j[differ], i[differ]] = value
        out.append(part)
    return np.concatenate(out)


def moved_ends(code: Ints) -> Ints:
    """One end of every edge moved to every node that is free."""
    m, out = len(code), []
    for i, j in np.argwhere(code):
        if i == j:
            continue
        for k in range(m):
            if k not in (i, j) and code[i, k] == 0:
                new = code.copy()
                new[i, j] = new[j, i] = 0
                new[i, k] = new[k, i] = code[i, j]
                out.append(new)
    return np.array(out, dtype=np.int64).reshape(-1, m, m)


def crossed_pairs(code: Ints) -> Ints:
    """Two edges a-b, c-d become a-d, c-b: degrees stay as they are."""
    m, out = len(code), []
    edges = [(i, j) for i, j in np.argwhere(np.triu(code, 1))]
    for x, (a, b) in enumerate(edges):
        for c, d in edges[x + 1 :]:
            for p, r in (((c, d)), ((d, c))):
                if len({a, b, p, r}) == 4 and code[a, r] == 0 and code[p, b] == 0:
                    new = code.copy()
                    new[a, b] = new[b, a] = new[p, r] = new[r, p] = 0
                    new[a, r] = new[r, a] = code[a, b]
                    new[p, b] = new[b, p] = code[p, r]
                    out.append(new)
    return np.array(out, dtype=np.int64).reshape(-1, m, m)


def swapped_labels(code: Ints, labels: Ints) -> Ints:
    """Two nodes of different labels change places."""
    m, out = len(code), []
    for i in range(m):
        for j in range(i + 1, m):
            if labels[i] != labels[j]:
                order = np.arange(m)
                order[[i, j]] = j, i
                out.append(code[np.ix_(order, order)])
    return np.array(out, dtype=np.int64).reshape(-1, m, m)


def descend_graph(
    target: Any,
    code: Ints,
    labels: Ints,
    seen: BestSeen,
    *,
    goal: float,
    max_evaluations: int,
) -> float:
    """Go to the best neighbour, small changes first, until none is better or the goal is met.

    Returns the loss that was reached. Of a ring with more than 24 graphs those most promising to
    first order are looked at.
    """
    n_marks = len(target.edge_names)
    n_labels = len(target.node_names)
    value = float(target.losses(code[None], labels)[0])
    for _ in range(_MOST_STEPS):
        better = False
        for codes, tags in _rings(code, labels, n_marks, n_labels):
            allowed = target.rules.allow(codes, tags)
            codes = codes[allowed]
            tags = tags if tags is labels else tags[allowed]
            if not len(codes):
                continue
            if len(codes) > _SCREEN and tags is labels and target.edges_alike is None:
                codes = codes[target.promising(code, labels, codes, _SCREEN)]
            values = target.losses(codes, tags)
            note_graphs(seen, codes, tags, values)
            best = int(values.argmin())
            if values[best] < value * (1.0 - 1e-9):
                code = codes[best]
                value = float(values[best])
                better = True
                labels = tags[best] if tags.ndim == 2 else tags
                break
        if not better or value <= goal or target.n_evaluated > max_evaluations:
            break
    return value


def _rings(code: Ints, labels: Ints, n_marks: int, n_labels: int) -> Any:
    yield flips(code, n_marks), labels
    yield moved_ends(code), labels
    yield swapped_labels(code, labels), labels
    if n_labels > 1:
        tags = substitutions(labels, n_labels)
        yield np.broadcast_to(code, (len(tags), *code.shape)), tags
    yield crossed_pairs(code), labels


def shaken(code: Ints, n_moves: int, n_marks: int, rng: Any) -> Ints:
    """A graph some random changes away: edges moved, pairs flipped."""
    code, m = code.copy(), len(code)
    for _ in range(n_moves):
        edges = np.argwhere(np.triu(code, 1))
        if len(edges) and m > 2 and rng.random_sample() < 0.7:
            i, j = edges[rng.randint(len(edges))][:: rng.choice([-1, 1])]
            k = rng.randint(m)
            if k not in (i, j) and code[i, k] == 0:
                code[i, k] = code[k, i] = code[i, j]
                code[i, j] = code[j, i] = 0
        elif m > 1:
            i, j = rng.choice(m, 2, replace=False)
            code[i, j] = code[j, i] = 0 if code[i, j] else 1 + rng.randint(n_marks)
    return code


def resized(code: Ints, labels: Ints, n_marks: int, rng: Any) -> tuple[Ints, Ints]:
    """A node more, or one of those with the fewest edges less."""
    m = len(code)
    if m > 2 and rng.random_sample() < 0.5:
        degrees = (code > 0).sum(axis=1)
        keep = np.arange(m) != rng.choice(np.flatnonzero(degrees == degrees.min()))
        return code[np.ix_(keep, keep)], labels[keep]
    new = np.zeros((m + 1, m + 1), dtype=np.int64)
    new[:m, :m] = code
    joined = rng.randint(m)
    new[joined, m] = new[m, joined] = 1 + rng.randint(n_marks)
    return new, np.append(labels, labels[rng.randint(m)])


def random_code(m: int, n_edges: int, n_marks: int, rng: Any) -> Ints:
    """A random tree and some edges more."""
    code = np.zeros((m, m), dtype=np.int64)
    order = rng.permutation(m)
    for place in range(1, m):
        a = order[place]
        b = order[rng.randint(place)]
        code[a, b] = code[b, a] = 1 + rng.randint(n_marks)
    for _ in range(max(0, n_edges - (m - 1))):
        if m > 1:
            a, b = rng.choice(m, 2, replace=False)
            code[a, b] = code[b, a] = 1 + rng.randint(n_marks)
    return code


def note_graphs(seen: BestSeen, codes: Ints, labels: Ints, losses: Array) -> None:
    """Take note of graphs, (n, m, m); their labels are (m,) for all of them, or (n, m)."""
    seen.add(losses, lambda row: (codes[row], labels if labels.ndim == 1 else labels[row]))
