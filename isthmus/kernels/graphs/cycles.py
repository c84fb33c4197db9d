"""Kernel of cycles: rings of nodes by the labels that are met around them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator

import numpy as np
from scipy import sparse

from isthmus._validation import check_count
from isthmus.kernels.graphs.features import FeatureKernel
from isthmus.kernels.graphs.graph import Graph, edge_marks

Around = list[list[tuple[int, int]]]


class Cycles(FeatureKernel):
    r"""Inner product of the counts of simple cycles, the part of cyclic patterns in [HGW2004]_.

    .. math::
        k(G, G') = \sum_{c} n_c(G) \, n_c(G'),

    where a cycle c of at most ``max_length`` nodes counts by the labels of its nodes and edges in their
    order, whichever node comes first and, in undirected graphs, whichever way it is walked. Walks and
    refined labels cannot tell a ring of six from two rings of three; this kernel tells nothing else, so it
    is best added to another: ``WeisfeilerLehman(normalise=True) + Cycles(normalise=True)``. A graph without
    cycles is like nothing, not even itself. The number of cycles may grow exponentially with their length
    in dense graphs.

    Parameters
    ----------
    max_length : int, default=6
        Most nodes of a cycle, at least 3.
    edge_labels : bool, default=True
        Whether labels of edges count where graphs have them.
    normalise : bool, default=False
        Whether to normalise every graph to unit length.
    node_label, edge_label : str, default="label"
        Attributes of networkx graphs in which labels are kept.
    """

    def __init__(
        self,
        max_length: int = 6,
        *,
        edge_labels: bool = True,
        normalise: bool = False,
        node_label: str = "label",
        edge_label: str = "label",
    ) -> None:
        self.max_length = max_length
        self.edge_labels = edge_labels
        self.normalise = normalise
        self.node_label = node_label
        self.edge_label = edge_label

    def _check(self) -> None:
        check_count("max_length", self.max_length, minimum=3)

    def _features(self, graphs: list[Graph]) -> sparse.csr_matrix:
        codes: dict[Hashable, int] = {}  # of labels of nodes and of edges
        kinds: dict[tuple[int, ...], int] = {}
        rows, columns, counts = [], [], []
        for row, graph in enumerate(graphs):
            labels = [codes.setdefault((0, label), len(codes)) for label in graph.labels]
            around = self._around(graph, codes)
            found = Counter(
                (
                    graph.directed,
                    *_one_name([labels[node] for node in nodes], marks, graph.directed),
                )
                for nodes, marks in _cycles(around, int(self.max_length), graph.directed)
            )
            for kind, count in found.items():
                rows.append(row)
                columns.append(kinds.setdefault(kind, len(kinds)))
                counts.append(float(count))
        shape = (len(graphs), max(len(kinds), 1))
        return sparse.csr_matrix((np.array(counts), (rows, columns)), shape=shape)

    def _around(self, graph: Graph, codes: dict[Hashable, int]) -> Around:
        """For every node its neighbours and the codes of the edges to them; loops make no cycle."""
        around: Around = [[] for _ in graph.labels]
        for (i, j), label in zip(graph.edges, edge_marks(graph, self.edge_labels)):
            mark = codes.setdefault((1, label), len(codes))
            if i != j:
                around[i].append((j, mark))
                if not graph.directed:
                    around[j].append((i, mark))
        return around


def _cycles(around: Around, most: int, directed: bool) -> Iterator[tuple[list[int], list[int]]]:
    """Each simple cycle once: its nodes from the smallest on, and the marks of the edges behind them."""
    for first in range(len(around)):
        stack: list[tuple[list[int], list[int], set[int]]] = [([first], [], {first})]
        while stack:
            nodes, marks, seen = stack.pop()
            for node, mark in around[nodes[-1]]:
                if node == first and len(nodes) > 2:
                    if directed or nodes[1] < nodes[-1]:  # one of two ways
                        yield nodes, [*marks, mark]
                elif node > first and node not in seen and len(nodes) < most:
                    stack.append(([*nodes, node], [*marks, mark], seen | {node}))


def _one_name(labels: list[int], marks: list[int], directed: bool) -> tuple[int, ...]:
    """The smallest of the names that a cycle has from each of its nodes, both ways."""
    names = []
    back = (labels[::-1], [*marks[-2::-1], marks[-1]])
    for nodes, edges in [(labels, marks)] if directed else [(labels, marks), back]:
        both = [code for pair in zip(nodes, edges) for code in pair]
        names += [tuple(both[2 * k :] + both[: 2 * k]) for k in range(len(nodes))]
    return min(names)
