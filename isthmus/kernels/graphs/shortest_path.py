"""Shortest-path kernel: pairs of nodes by their labels and their distance."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from isthmus.kernels.graphs.features import FeatureKernel
from isthmus.kernels.graphs.graph import Graph

Indices = NDArray[np.int64]


class ShortestPath(FeatureKernel):
    r"""Inner product of the counts of shortest paths, [BK2005]_.

    A path counts by the labels of its two ends and its length,

    .. math::
        k(G, G') = \sum_{a, b} \sum_{l \ge 1} n_{abl}(G) \, n_{abl}(G'),

    with the number :math:`n_{abl}` of ordered pairs of different nodes that have the labels a and b
    and are l edges apart. Labels and weights of edges do not count, and nodes that are not connected
    make no pair. A graph of one node has no path: it is like nothing, not even itself.

    Parameters
    ----------
    normalise : bool, default=False
        Whether to normalise every graph to unit length.
    node_label : str, default="label"
        Attribute of networkx graphs in which labels are kept.
    """

    def __init__(self, *, normalise: bool = False, node_label: str = "label") -> None:
        self.normalise = normalise
        self.node_label = node_label

    def _features(self, graphs: list[Graph]) -> sparse.csr_matrix:
        codes: dict[Hashable, int] = {}
        rows, paths = [], []
        for row, graph in enumerate(graphs):
            labels = np.array([codes.setdefault(label, len(codes)) for label in graph.labels])
            first, second, length = _paths(graph)
            paths.append(np.stack([labels[first], labels[second], length]))
            rows.append(np.full(len(length), row))
        first, second, length = np.concatenate(paths, axis=1)
        # One number for each kind: to sort numbers is much faster than to sort triples.
        keys = (first * len(codes) + second) * (length.max(initial=0) + 1) + length
        kinds, columns = np.unique(keys, return_inverse=True)
        places = (np.concatenate(rows), columns)
        return sparse.csr_matrix((np.ones(len(keys)), places), shape=(len(graphs), len(kinds)))


def _paths(graph: Graph) -> tuple[Indices, Indices, Indices]:
    """First nodes, last nodes and lengths of the shortest paths between different nodes."""
    n = graph.n_nodes
    ends = np.array(graph.edges, dtype=np.int64).reshape(-1, 2)
    steps = sparse.csr_matrix((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    distances = csgraph.shortest_path(steps, directed=graph.directed, unweighted=True)
    first, second = np.nonzero(np.isfinite(distances) & (distances > 0))
    lengths = distances[first, second].astype(np.int64)
    return first.astype(np.int64), second.astype(np.int64), lengths
