"""Many graphs in one: labels one after another, transitions as block-diagonal sparse matrices."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from isthmus._linalg import Array
from isthmus.kernels.graphs.graph import Graph, edge_marks

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Packed:
    """Graphs as arrays. ``steps[e]`` has the transitions along edges of label e, without stopping."""

    labels: Ints  # (n_nodes,) codes
    offsets: Ints  # (n_graphs + 1,)
    steps: list[sparse.csr_matrix]  # (n_nodes, n_nodes) each; rows sum to one over all of them
    sinks: NDArray[np.bool_]  # (n_nodes,) whether nothing leads on
    roots: Array  # (n_nodes,) square roots of the degrees, 1 at sinks
    directed: NDArray[np.bool_]  # (n_graphs,)
    node_names: list[Hashable]
    edge_names: list[Hashable]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> Ints:
        return np.diff(self.offsets)


def pack(graphs: Sequence[Graph], use_edge_labels: bool = True) -> Packed:
    """Common codes for all labels, one sparse matrix an edge label."""
    node_codes: dict[Hashable, int] = {}
    edge_codes: dict[Hashable, int] = {}
    labels = [node_codes.setdefault(x, len(node_codes)) for g in graphs for x in g.labels]
    offsets = np.concatenate([[0], np.cumsum([g.n_nodes for g in graphs])]).astype(np.int64)
    heads, tails, marks, weights = [], [], [], []
    for graph, first in zip(graphs, offsets):
        names = edge_marks(graph, use_edge_labels)
        own_weights = graph.weights or (1.0,) * len(names)
        for (i, j), name, weight in zip(graph.edges, names, own_weights):
            code = edge_codes.setdefault(name, len(edge_codes))
            both = ((i, j), (j, i)) if i != j and not graph.directed else ((i, j),)
            for head, tail in both:
                heads.append(first + head)
                tails.append(first + tail)
                marks.append(code)
                weights.append(weight)
    n = int(offsets[-1])
    rows = np.array(heads, dtype=np.int64)
    columns = np.array(tails, dtype=np.int64)
    values = np.array(weights, dtype=np.float64)
    which = np.array(marks, dtype=np.int64)
    degrees = np.bincount(rows, values, minlength=n)
    values = values / degrees[rows] if len(rows) else values
    steps = [
        sparse.csr_matrix(
            (values[which == e], (rows[which == e], columns[which == e])), shape=(n, n)
        )
        for e in range(max(len(edge_codes), 1))
    ]
    return Packed(
        np.array(labels, dtype=np.int64),
        offsets,
        steps,
        degrees == 0,
        np.sqrt(np.where(degrees == 0, 1.0, degrees)),
        np.array([g.directed for g in graphs], dtype=bool),
        list(node_codes),
        list(edge_codes) or [None],
    )
