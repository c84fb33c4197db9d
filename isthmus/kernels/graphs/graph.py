"""Labelled graphs, and the many ways to hand one over."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse


@dataclass(frozen=True)
class Graph:
    """A graph with labels on its nodes and, where given, on its edges.

    Attributes
    ----------
    labels : tuple
        One label per node; nodes are numbered from 0.
    edges : tuple of pairs of int
        An undirected edge is named once; a loop joins a node with itself.
    edge_labels : tuple or None
        One label per edge.
    directed : bool
        Whether an edge leads only from its first node to its second.
    weights : tuple of float or None
        Positive weights of the edges; None: all one.

    Examples
    --------
    >>> from isthmus.kernels import Graph
    >>> Graph(("C", "O"), ((0, 1),)).n_nodes
    2
    """

    labels: tuple[Hashable, ...]
    edges: tuple[tuple[int, int], ...] = ()
    edge_labels: tuple[Hashable, ...] | None = None
    directed: bool = False
    weights: tuple[float, ...] | None = None

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.labels)

    def adjacency(self) -> np.ndarray:
        """Return the weighted adjacency matrix, (n_nodes, n_nodes)."""
        A = np.zeros((self.n_nodes, self.n_nodes))
        weights = self.weights or (1.0,) * len(self.edges)
        for (i, j), weight in zip(self.edges, weights):
            A[i, j] = weight
            if not self.directed:
                A[j, i] = weight
        return A

    def to_networkx(self) -> Any:
        """Convert to networkx; labels become the attribute ``label`` of nodes and edges."""
        try:
            import networkx
        except ImportError as error:
            raise ImportError(
                "to_networkx needs networkx: pip install 'isthmus[graphs]'."
            ) from error
        graph = networkx.DiGraph() if self.directed else networkx.Graph()
        for node, label in enumerate(self.labels):
            graph.add_node(node, label=label)
        for index, (i, j) in enumerate(self.edges):
            attributes = {} if self.edge_labels is None else {"label": self.edge_labels[index]}
            graph.add_edge(i, j, **attributes)
        return graph


def as_graphs(
    X: Any, name: str = "X", node_label: str = "label", edge_label: str = "label"
) -> list[Graph]:
    """A list of :class:`Graph`, none of them empty."""
    if isinstance(X, Graph) or hasattr(X, "is_directed"):
        raise ValueError(f"{name} is one graph; give a list of graphs.")
    graphs = []
    for index, item in enumerate(X):
        try:
            graph = as_graph(item, node_label, edge_label)
        except ValueError as error:
            raise ValueError(f"{name}[{index}]: {error}") from None
        if graph.n_nodes == 0:
            raise ValueError(f"{name}[{index}] is an empty graph; leave it out.")
        graphs.append(graph)
    if not graphs:
        raise ValueError(f"{name} is empty: at least one graph is needed.")
    return graphs


def edge_marks(graph: Graph, use_labels: bool) -> tuple[Hashable, ...]:
    """The label of every edge; None where a graph has no labels or they do not count."""
    if use_labels and graph.edge_labels is not None:
        return graph.edge_labels
    return (None,) * len(graph.edges)


def are_graphs(samples: Any) -> bool:
    """Return whether all can be nothing but graphs: Graph, networkx, RDKit or tuples with edges."""
    return isinstance(samples, (list, tuple)) and len(samples) > 0 and all(map(_is_graph, samples))


def _is_graph(item: Any) -> bool:
    if isinstance(item, Graph) or hasattr(item, "is_directed") or hasattr(item, "GetAtoms"):
        return True
    # (labels, edges[, edge_labels]): a row of numbers or of words has no pairs of integers in it.
    if not isinstance(item, tuple) or len(item) not in (2, 3):
        return False
    labels, edges = item[:2]
    if not isinstance(labels, (list, tuple, np.ndarray)):
        return False
    if isinstance(edges, np.ndarray) or sparse.issparse(edges):
        return edges.ndim == 2
    return isinstance(edges, (list, tuple)) and all(
        isinstance(edge, (list, tuple)) and len(edge) == 2 for edge in edges
    )


def as_graph(item: Any, node_label: str = "label", edge_label: str = "label") -> Graph:
    """Turn one of these into a :class:`Graph`:

    - a :class:`Graph`;
    - a networkx graph, labels in the attributes ``node_label`` and ``edge_label``;
    - an RDKit molecule: atomic symbols with their charges (``"N+"``), and bond types;
    - ``(labels, edges)`` or ``(labels, edges, edge_labels)``, undirected; edges may be an adjacency
      matrix;
    - an adjacency matrix, dense or sparse: all nodes alike, directed where it is not symmetric.
    """
    if isinstance(item, Graph):
        return item
    if hasattr(item, "is_directed") and hasattr(item, "nodes"):
        return _from_networkx(item, node_label, edge_label)
    if hasattr(item, "GetAtoms"):
        return _from_rdkit(item)
    if sparse.issparse(item) or (isinstance(item, np.ndarray) and item.ndim == 2):
        return _from_adjacency([0] * item.shape[0], item)
    if isinstance(item, (tuple, list)) and len(item) in (2, 3):
        return _from_parts(*item)
    raise ValueError(
        f"a {type(item).__name__} is not a graph: give a Graph, a networkx graph, an RDKit molecule, "
        "(labels, edges), (labels, edges, edge_labels) or an adjacency matrix."
    )


def _from_parts(labels: Any, edges: Any, edge_labels: Any = None) -> Graph:
    labels = tuple(_plain(label) for label in labels)
    if sparse.issparse(edges) or _is_adjacency(edges, len(labels)):
        if edge_labels is not None:
            raise ValueError("edge_labels go with a list of edges, not with an adjacency matrix.")
        return _from_adjacency(labels, edges)
    pairs = [(int(i), int(j)) for i, j in edges]
    for i, j in pairs:
        if not (0 <= i < len(labels) and 0 <= j < len(labels)):
            raise ValueError(f"edge ({i}, {j}) is outside of the {len(labels)} nodes.")
    marks: Sequence[Hashable] | None = None
    if edge_labels is not None:
        marks = [_plain(label) for label in edge_labels]
        if len(marks) != len(pairs):
            raise ValueError(f"{len(pairs)} edges, but {len(marks)} edge_labels.")
    return _undirected(labels, pairs, marks)


def _is_adjacency(edges: Any, n_nodes: int) -> bool:
    """An (n, n) array with n != 2 is one; (2, 2) is where it is of floats or has a zero row sum."""
    if not isinstance(edges, np.ndarray) or edges.shape != (n_nodes, n_nodes):
        return False
    return n_nodes != 2 or edges.dtype.kind in "fb"


def _undirected(
    labels: tuple[Hashable, ...],
    pairs: Iterable[tuple[int, int]],
    marks: Sequence[Hashable] | None,
) -> Graph:
    """Each undirected edge once, smaller node first, however often it was named."""
    if marks is None:
        unique = dict.fromkeys((min(i, j), max(i, j)) for i, j in pairs)
        return Graph(labels, tuple(unique))
    marked = dict.fromkeys((min(i, j), max(i, j), mark) for (i, j), mark in zip(pairs, marks))
    return Graph(labels, tuple((i, j) for i, j, _ in marked), tuple(mark for _, _, mark in marked))


def _from_adjacency(labels: Sequence[Hashable], A: Any) -> Graph:
    if A.shape != (len(labels), len(labels)):
        raise ValueError(
            f"the adjacency matrix has shape {A.shape}, {len(labels)} labels are given."
        )
    dense = np.asarray(A.todense() if sparse.issparse(A) else A, dtype=np.float64)
    bad = ~np.isfinite(dense) | (dense < 0)
    if bad.any():
        i, j = np.argwhere(bad)[0]
        raise ValueError(f"adjacency[{i}, {j}] == {dense[i, j]}, must be a finite number >= 0.")
    directed = not np.array_equal(dense, dense.T)
    places = np.argwhere(dense if directed else np.triu(dense))
    weights = dense[places[:, 0], places[:, 1]]
    return Graph(
        tuple(labels),
        tuple((int(i), int(j)) for i, j in places),
        None,
        directed,
        None if (weights == 1.0).all() else tuple(weights.tolist()),
    )


def _from_networkx(graph: Any, node_label: str, edge_label: str) -> Graph:
    number = {node: index for index, node in enumerate(graph.nodes)}
    labels = tuple(_plain(graph.nodes[node].get(node_label, 0)) for node in graph.nodes)
    pairs, marks, weights = [], [], []
    for a, b, attributes in graph.edges(data=True):
        pairs.append((number[a], number[b]))
        marks.append(_plain(attributes.get(edge_label)))
        weights.append(float(attributes.get("weight", 1.0)))
    if not all(0.0 < weight < np.inf for weight in weights):
        raise ValueError(f"an edge has weight {min(weights)}, must be a finite number > 0.")
    return Graph(
        labels,
        tuple(pairs),
        None if all(mark is None for mark in marks) else tuple(marks),
        bool(graph.is_directed()),
        None if all(weight == 1.0 for weight in weights) else tuple(weights),
    )


def _from_rdkit(molecule: Any) -> Graph:
    from isthmus.kernels.graphs.molecules import atom_label

    labels = tuple(atom_label(atom) for atom in molecule.GetAtoms())
    bonds = list(molecule.GetBonds())
    pairs = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in bonds]
    return _undirected(labels, pairs, [str(bond.GetBondType()) for bond in bonds])


def _plain(label: Any) -> Hashable:
    """A label that can be compared: NumPy's numbers are equal to Python's, arrays become tuples."""
    if isinstance(label, np.generic):
        plain: Hashable = label.item()
        return plain
    if isinstance(label, (list, np.ndarray)):
        return tuple(_plain(part) for part in label)
    hashable: Hashable = label
    return hashable
