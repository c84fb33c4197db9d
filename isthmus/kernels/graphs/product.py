r"""The product graph of one graph and a column of others: walks on it are pairs of walks that agree.

With labels that agree or do not, R of the fixed point ``R = Q + M * sum_e P_e R P'_e^T`` is zero wherever
the labels of two nodes differ, [B2006]_ Sec. 3.4.3. Only the other pairs of nodes are kept, one number
each, and the operator is one sparse matrix: a transition for every two transitions whose ends and edge
have the same labels. Sparse graphs of several labels have few of these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from isthmus._linalg import Array
from isthmus.kernels.graphs.packed import Packed

Ints = NDArray[np.int64]
_MOST = 2**23  # transitions of a product graph, 16 bytes each while it is made


class Transitions:
    """Transitions by their kind: labels of both ends and of the edge.

    ``heads``, ``tails``, ``values`` and ``kinds`` have one entry a transition, those of a node together and
    in the order of the nodes; ``labels`` are codes of the nodes below ``n_labels``.
    """

    def __init__(self, packed: Packed) -> None:
        self.labels, self.n_labels = packed.labels, len(packed.node_names)
        parts = [P.tocoo() for P in packed.steps]
        heads, tails, values = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("row", "col", "data")
        )
        marks = np.repeat(np.arange(len(parts)), [part.nnz for part in parts])
        order = np.argsort(heads, kind="stable")  # those of a node together
        self.heads, self.tails, self.values = heads[order], tails[order], values[order]
        ends = self.labels[self.heads] * self.n_labels + self.labels[self.tails]
        names, self.kinds = np.unique(ends * len(parts) + marks[order], return_inverse=True)
        self.n_kinds = len(names)
        counts = np.bincount(heads, minlength=len(self.labels))
        self.first = np.concatenate([[0], np.cumsum(counts)])

    def of_kind(self, a: int, b: int) -> Ints:
        """How many transitions of each kind nodes ``a .. b - 1`` have."""
        return np.bincount(self.kinds[self.first[a] : self.first[b]], minlength=self.n_kinds)

    def by_kind(self, a: int, b: int, place: NDArray) -> tuple[NDArray, NDArray, Array]:
        """Places of heads and of tails, and values, of nodes ``a .. b - 1``, kind after kind."""
        own = slice(self.first[a], self.first[b])
        order = np.argsort(self.kinds[own], kind="stable")
        heads, tails = self.heads[own][order] - a, self.tails[own][order] - a
        return place[heads], place[tails], self.values[own][order]

    def is_worth_it(self, a: int, b: int, c: int, d: int) -> bool:
        """Whether a step on the product graph costs less than two products with whole matrices.

        The weights are measured; they were right for graphs of 12 to 400 nodes with 1 to 5 labels and 2 to
        8 neighbours, all but one kind.
        """
        rows = self.of_kind(a, b)
        columns = self.of_kind(c, d)
        labels = self.labels
        pairs = np.bincount(labels[a:b], minlength=self.n_labels) @ np.bincount(
            labels[c:d], minlength=self.n_labels
        )
        both = float(rows @ columns)
        n, m = b - a, d - c
        whole = 0.5 * (float(rows.sum()) * m + float(columns.sum()) * n) + 6.0 * n * m
        return both + 5.0 * float(pairs) <= whole and both <= _MOST


@dataclass
class Pairs:
    """Pairs of nodes with the same label, and the operator on numbers that belong to them.

    The pairs of a node of the column of graphs stand together, in the order of these nodes; ``inner`` are
    the nodes of the one graph, label after label.
    """

    inner: Ints
    sizes: Ints  # how many pairs the nodes of the column have
    first: Ints  # where in ``inner`` those begin that go with a node of the column
    starts: NDArray  # where the pairs of a node of the column begin
    T: sparse.csr_matrix  # the operator

    def __len__(self) -> int:
        return int(self.T.shape[0])

    def spread(self, rows: Array, columns: Array, what: Any) -> Array:
        """``what(rows_i, columns_j)`` for all pairs (i, j)."""
        shift = np.repeat(self.starts - self.first, self.sizes)
        j = self.inner[np.arange(len(self)) - shift]
        return np.asarray(what(np.repeat(rows, self.sizes), columns[j]))

    def sums(self, R: Array, nodes: Ints) -> Array:
        """Sums over graphs that begin with these nodes; zero where a graph has no pair."""
        begin = self.starts[nodes]
        empty = np.diff(begin, append=len(R)) == 0
        return np.where(empty, 0.0, np.add.reduceat(np.append(R, 0.0), begin))


def product_graph(
    steps: Transitions, rows: tuple[int, int], columns: tuple[int, int], scale: float
) -> Pairs:
    """Nodes ``rows`` of some graphs against the nodes ``columns`` of one."""
    (a, b), (c, d) = rows, columns
    labels, own = steps.labels[a:b], steps.labels[c:d]
    counts = np.bincount(own, minlength=steps.n_labels)
    begin = np.cumsum(counts) - counts
    inner = np.argsort(own, kind="stable")
    rank = np.empty(d - c, dtype=np.int32)
    rank[inner] = np.arange(d - c) - begin[own[inner]]
    sizes = counts[labels]
    starts = (np.cumsum(sizes) - sizes).astype(np.int32)
    T = _joint(steps, rows, columns, (starts, rank), int(sizes.sum()))
    T.data *= scale
    return Pairs(inner, sizes, begin[labels], starts, T)


def _joint(
    steps: Transitions,
    rows: tuple[int, int],
    columns: tuple[int, int],
    places: tuple[NDArray, NDArray],
    n: int,
) -> sparse.csr_matrix:
    """All pairs of transitions of the same kind; a pair of nodes stands at the sum of two places."""
    heads, tails, values = steps.by_kind(*rows, places[0])
    own_heads, own_tails, own_values = steps.by_kind(*columns, places[1])
    many = steps.of_kind(*rows)
    few = steps.of_kind(*columns)
    sizes = many * few
    total = int(sizes.sum())
    i = np.empty(total, np.int32)
    j = np.empty(total, np.int32)
    value = np.empty(total)
    ends = np.cumsum(many)
    own_ends = np.cumsum(few)
    at = 0
    for kind in np.flatnonzero(sizes):
        shape = (int(many[kind]), int(few[kind]))
        A = slice(ends[kind] - shape[0], ends[kind])
        B = slice(own_ends[kind] - shape[1], own_ends[kind])
        part = slice(at, at + shape[0] * shape[1])
        np.add(heads[A, None], own_heads[B], out=i[part].reshape(shape))
        np.add(tails[A, None], own_tails[B], out=j[part].reshape(shape))
        np.multiply(values[A, None], own_values[B], out=value[part].reshape(shape))
        at = part.stop
    T = sparse.coo_matrix((value, (i, j)), shape=(n, n))
    T.has_canonical_format = True  # no pair of transitions comes twice: nothing is to be summed
    return T.tocsr()
