"""Weisfeiler-Lehman kernels: counts of refined labels, and assignments of nodes by them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics.pairwise import manhattan_distances

from isthmus._linalg import Array
from isthmus._validation import check_count
from isthmus.kernels.graphs.features import FeatureKernel
from isthmus.kernels.graphs.graph import Graph, as_graphs, edge_marks
from isthmus.kernels.structured import StructuredKernel


class RefinementKernel(FeatureKernel):
    """Inner product of features to which every node adds one in each round of refinement."""

    def __init__(
        self,
        n_iter: int = 3,
        *,
        edge_labels: bool = True,
        normalise: bool = False,
        node_label: str = "label",
        edge_label: str = "label",
    ) -> None:
        self.n_iter = n_iter
        self.edge_labels = edge_labels
        self.normalise = normalise
        self.node_label = node_label
        self.edge_label = edge_label

    @abstractmethod
    def _columns(self, rows: NDArray[np.int64], colours: NDArray[np.int64]) -> NDArray[np.int64]:
        """The feature that each node counts in, from the numbers of its graph and its colour."""

    def _check(self) -> None:
        check_count("n_iter", self.n_iter, minimum=0)

    def _features(self, graphs: list[Graph]) -> sparse.csr_matrix:
        sizes = [graph.n_nodes for graph in graphs]
        rows = np.repeat(np.arange(len(graphs)), sizes)
        parts = []
        for colours in colour_rounds(graphs, int(self.n_iter), self.edge_labels):
            columns = self._columns(rows, colours)
            shape = (len(graphs), int(columns.max()) + 1)
            parts.append(sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape))
        return sparse.csr_matrix(sparse.hstack(parts))


class WeisfeilerLehman(RefinementKernel):
    r"""Inner product of the counts of all labels that refinement makes, [SSLMB2011]_ Sec. 3.2.

    In each round the new label of a node is its old one with the multiset of those of its neighbours
    (and of the edges to them),

    .. math::
        k(G, G') = \sum_{h=0}^{H} \sum_{c} n_c^{(h)}(G) \, n_c^{(h)}(G').

    Cost is linear in the number of edges: a fast alternative to :class:`GraphKernel`.

    Parameters
    ----------
    n_iter : int, default=3
        Rounds H of refinement; 0 counts the labels as they are.
    edge_labels : bool, default=True
        Whether labels of edges count where graphs have them.
    normalise : bool, default=False
        Whether to normalise every graph to unit length.
    node_label, edge_label : str, default="label"
        Attributes of networkx graphs in which labels are kept.
    """

    def _columns(self, rows: NDArray[np.int64], colours: NDArray[np.int64]) -> NDArray[np.int64]:
        return colours


class WeisfeilerLehmanAssignment(RefinementKernel):
    r"""Best assignment of the nodes of two graphs by their refined labels, [KGW2016]_.

    Two nodes are as alike as the number of rounds, the start included, in which their labels agree.
    Each node is assigned to one of the other graph or to none, such that the sum is largest. Because
    labels that differ never agree again, the largest sum is an intersection of histograms,

    .. math::
        k(G, G') = \sum_{h=0}^{H} \sum_{c} \min \bigl( n_c^{(h)}(G), n_c^{(h)}(G') \bigr),

    and the kernel is positive semi-definite. Frequent labels weigh less than in
    :class:`WeisfeilerLehman`, which multiplies the counts; the cost is the same.

    Parameters
    ----------
    n_iter : int, default=3
        Rounds H of refinement; 0 counts the labels as they are.
    edge_labels : bool, default=True
        Whether labels of edges count where graphs have them.
    normalise : bool, default=False
        Whether to normalise every graph to unit length.
    node_label, edge_label : str, default="label"
        Attributes of networkx graphs in which labels are kept.
    """

    def _columns(self, rows: NDArray[np.int64], colours: NDArray[np.int64]) -> NDArray[np.int64]:
        # The j-th node of a colour in its graph counts in the feature (colour, j): the inner product
        # of such unary codes is the smaller count.
        order = np.lexsort((colours, rows))
        changes = (np.diff(rows[order]) != 0) | (np.diff(colours[order]) != 0)
        starts = np.flatnonzero(np.r_[True, changes])
        places = np.empty_like(colours)
        places[order] = np.arange(len(order)) - np.repeat(
            starts, np.diff(np.r_[starts, len(order)])
        )
        keys = colours * (places.max() + 1) + places
        return np.unique(keys, return_inverse=True)[1]


class WeisfeilerLehmanWasserstein(StructuredKernel):
    r"""One minus the Wasserstein distance of the nodes of two graphs by their refined labels, [TGLRB2019]_.

    Two nodes are as far apart as the share of the rounds, the start included, in which their labels
    differ. Each graph spreads a mass of one evenly over its nodes; W is the least mean distance over which
    the mass of one is moved to be that of the other. Because labels that differ never agree again, the
    distance is that of a tree, and

    .. math::
        k(G, G') = 1 - W(G, G') = \frac{1}{H + 1} \sum_{h=0}^{H} \sum_{c} \min \Bigl(
        \frac{n_c^{(h)}(G)}{|G|}, \frac{n_c^{(h)}(G')}{|G'|} \Bigr),

    without any transport to be solved for. The squared distance of this kernel is 2 W: the kernel
    :math:`\exp(-\lambda W)` of the paper is ``Gaussian(WeisfeilerLehmanWasserstein(H), lambda / 2)``.
    Graphs are compared by the shares of their labels, whatever their sizes.

    Parameters
    ----------
    n_iter : int, default=3
        Rounds H of refinement; 0 compares the labels as they are.
    edge_labels : bool, default=True
        Whether labels of edges count where graphs have them.
    node_label, edge_label : str, default="label"
        Attributes of networkx graphs in which labels are kept.
    """

    normalise = False  # every graph has length one

    def __init__(
        self,
        n_iter: int = 3,
        *,
        edge_labels: bool = True,
        node_label: str = "label",
        edge_label: str = "label",
    ) -> None:
        self.n_iter = n_iter
        self.edge_labels = edge_labels
        self.node_label = node_label
        self.edge_label = edge_label

    def _check(self) -> None:
        check_count("n_iter", self.n_iter, minimum=0)

    def _convert(self, X: Any, name: str) -> list[Graph]:
        return as_graphs(X, name, self.node_label, self.edge_label)

    def _matrix(self, X: list[Graph], Y: list[Graph] | None) -> Array:
        counted = WeisfeilerLehman(self.n_iter, edge_labels=self.edge_labels)
        graphs = X if Y is None else [*X, *Y]
        sizes = np.array([graph.n_nodes for graph in graphs], dtype=np.float64)
        shares = sparse.diags(1.0 / sizes) @ counted._features(graphs)
        left = shares[: len(X)]
        right = shares if Y is None else shares[len(X) :]
        apart = manhattan_distances(left.tocsr(), right.tocsr()) / (2.0 * (self.n_iter + 1))
        return np.maximum(1.0 - apart, 0.0)

    def _diagonal(self, X: list[Graph]) -> Array:
        return np.ones(len(X))


def colour_rounds(
    graphs: list[Graph], n_iter: int, edge_labels: bool = True
) -> Iterator[NDArray[np.int64]]:
    """Colours of all nodes of all graphs, as they are and after each round of refinement."""
    codes: dict[Hashable, int] = {}
    colours = [codes.setdefault(label, len(codes)) for graph in graphs for label in graph.labels]
    yield np.array(colours)
    neighbours = _neighbours(graphs, edge_labels)
    for _ in range(n_iter):
        names: dict[Hashable, int] = {}
        colours = [
            names.setdefault(
                (colour, tuple(sorted((mark, colours[node]) for mark, node in around))), len(names)
            )
            for colour, around in zip(colours, neighbours)
        ]
        yield np.array(colours)


def refine_labels(graphs: list[Graph], n_iter: int, edge_labels: bool = True) -> list[Graph]:
    """Return the graphs with the colours of the last round as labels; comparable within this list only."""
    *_, colours = colour_rounds(graphs, n_iter, edge_labels)
    ends = np.cumsum([graph.n_nodes for graph in graphs])
    return [
        replace(graph, labels=tuple(own.tolist()))
        for graph, own in zip(graphs, np.split(colours, ends[:-1]))
    ]


def _neighbours(graphs: list[Graph], edge_labels: bool) -> list[list[tuple[int, int]]]:
    """For every node the codes of its edges and the nodes they lead to."""
    marks: dict[Hashable, int] = {}
    around: list[list[tuple[int, int]]] = [[] for graph in graphs for _ in graph.labels]
    first = 0
    for graph in graphs:
        for (i, j), name in zip(graph.edges, edge_marks(graph, edge_labels)):
            mark = marks.setdefault(name, len(marks))
            around[first + i].append((mark, first + j))
            if i != j and not graph.directed:
                around[first + j].append((mark, first + i))
        first += graph.n_nodes
    return around
