"""Losses of many graphs on the same nodes against one point of the feature space of a graph kernel.

A candidate is a symmetric matrix of codes: 0 where there is no edge, 1 + e where there is one of label
e. All candidates are iterated side by side; the points of the expansion are one long graph.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import Array, row_blocks
from isthmus.kernels import Graph, GraphKernel
from isthmus.kernels.graphs import as_graphs, edge_marks, pack
from isthmus.kernels.sequences import label_matrix
from isthmus.preimages.graph_rules import GraphRules

Ints = NDArray[np.int64]
System = tuple[Array, Array, Callable[[Array], Array]]
"""``M``, ``q q'`` and ``X -> sum_e P_e X P'_e^T`` of a fixed point."""
_CANDIDATE_NUMBERS = 2**17  # numbers of one block of candidates, such that it stays in the cache


class GraphTarget:
    """A point ``Psi = sum_i coef_i phi(points_i)`` and losses of graphs with given node labels.

    ``tol`` is the accuracy while searching, coarser than the kernel's own.
    """

    def __init__(
        self,
        kernel: GraphKernel,
        points: Any,
        coef: Array,
        squared_norm: float,
        node_names: list[Hashable],
        edge_names: list[Hashable],
        tol: float = 1e-5,
    ) -> None:
        self.kernel, self.tol, self.squared_norm = kernel, tol, squared_norm
        self.node_names, self.edge_names = node_names, edge_names
        graphs = as_graphs(points, "points", kernel.node_label, kernel.edge_label)
        scale = coef / np.sqrt(kernel._diagonal(graphs)) if kernel.normalise else coef
        # Codes of the candidates come first, so that both sides share them.
        frame = Graph(tuple(node_names), ((0, 0),) * len(edge_names), tuple(edge_names))
        packed = pack([frame, *graphs], kernel.edge_labels)
        n = len(node_names)
        self.labels = packed.labels[n:]
        self.steps = [P[n:, n:] for P in packed.steps[: len(edge_names)]]
        self.names = packed.node_names
        self.q = self._stops(packed.sinks[n:])
        self.weights = np.repeat(scale / packed.sizes[1:], packed.sizes[1:])
        self.alike = np.eye(len(self.names))
        if kernel.label_kernel is not None:
            self.alike = label_matrix(kernel.label_kernel, self.names, "label_kernel")
        self.edges_alike: Array | None = None  # of all labels with those of the candidates
        if kernel.edge_label_kernel is not None:
            alike = label_matrix(kernel.edge_label_kernel, packed.edge_names, "edge_label_kernel")
            self.edges_alike = alike[:, : len(edge_names)]
            self.steps = [P[n:, n:] for P in packed.steps]
        self.degrees = packed.roots[n:] ** 2
        self.n_evaluated = 0
        self.rules = GraphRules()  # graphs that are not as asked have an infinite loss

    def losses(self, codes: Ints, labels: Ints) -> Array:
        """Full losses of candidates (n, m, m) whose nodes have labels (m,) or (n, m)."""
        n, m = len(codes), codes.shape[1]
        labels = np.broadcast_to(labels, (n, m))
        values = np.full(n, np.inf)
        allowed = np.flatnonzero(self.rules.allow(codes, labels))
        self.n_evaluated += len(allowed)
        size = max(1, _CANDIDATE_NUMBERS // (m * max(len(self.labels), m)))
        for part in row_blocks(len(allowed), size):
            rows = allowed[part]
            values[rows] = self._block(codes[rows], labels[rows])
        return values

    def _block(self, codes: Ints, labels: Ints) -> Array:
        tol = self.tol * float(self.kernel.stop) ** 2
        m = codes.shape[1]
        own, cross = (self._iterate(*system, tol) for system in self._systems(codes, labels))
        norm = own.sum(axis=(1, 2)) / m**2
        inner = cross.sum(axis=2) @ self.weights / m
        if self.kernel.normalise:
            return np.maximum(1.0 - 2.0 * inner / np.sqrt(norm) + self.squared_norm, 0.0)
        return np.maximum(norm - 2.0 * inner + self.squared_norm, 0.0)

    def _systems(self, codes: Ints, labels: Ints) -> tuple[System, System]:
        """The fixed points of candidates with themselves, (n, m, m), and with all nodes of the points."""
        P, q = self._transitions(codes), self._stops((codes > 0).sum(axis=2) == 0)
        own = (
            self.alike[labels[:, :, None], labels[:, None, :]],
            q[:, :, None] * q[:, None, :],
            lambda X: self._own_step(X, P),
        )
        cross = (
            self.alike[self.labels[:, None], labels[:, None, :]],
            self.q[:, None] * q[:, None, :],
            lambda X: self._cross_step(X, P),
        )
        return own, cross

    def promising(self, code: Ints, labels: Ints, codes: Ints, keep: int) -> Ints:
        r"""Places of the ``keep`` candidates of the lowest loss to first order, seen from ``code``.

        With B the solution of the adjoint equation,
        :math:`B = M * (w s'^T) + \sum_e M * (P_e^T B P'_e)`, a change of the
        candidate's transitions changes the inner product by
        :math:`\sum_e \langle B^T P_e R, \delta P'_e \rangle`: two fixed points serve all candidates. As
        :math:`P^T = D P D^{-1}`, both are those of one operator.
        """
        G = self._slopes(code, labels)
        P = self._transitions(code[None])
        scores = np.zeros(len(codes))
        for Ge, Pe, new in zip(G, P, self._transitions(codes)):
            scores += np.einsum("nij,ij->n", new - Pe, Ge)
        return np.argsort(scores, kind="stable")[:keep]

    def _transitions(self, codes: Ints) -> list[Array]:
        share = 1.0 / np.maximum((codes > 0).sum(axis=2), 1)
        return [
            np.where(codes == e + 1, share[:, :, None], 0.0) for e in range(len(self.edge_names))
        ]

    def _slopes(self, code: Ints, labels: Ints) -> list[Array]:
        """Derivative of the loss with respect to the transitions of a candidate, one an edge label."""
        P = self._transitions(code[None])
        m = len(code)
        d = np.maximum((code > 0).sum(axis=1), 1)
        own_system, cross_system = self._systems(code[None], labels[None])
        own = self._both(own_system, np.full((m, m), 1 / m**2), np.outer(d, d))
        ends = np.repeat(self.weights[:, None] / m, m, axis=1)
        cross = self._both(cross_system, ends, np.outer(self.degrees, d))
        norm = float(own[0].sum()) / m**2
        inner = float(self.weights @ cross[0].sum(axis=1)) / m
        own_share, cross_share = 1.0, 2.0
        if self.kernel.normalise:
            own_share = inner / norm**1.5
            cross_share = 2.0 / np.sqrt(norm)
        rho = (1.0 - float(self.kernel.stop)) ** 2
        return [
            rho * (2.0 * own_share * own[1].T @ (P[e][0] @ own[0])
                   - cross_share * cross[1].T @ (self.steps[e] @ cross[0]))
            for e in range(len(self.edge_names))
        ]  # fmt: skip

    def _both(self, system: System, ends: Array, degrees: Array) -> tuple[Array, Array]:
        """Solution and adjoint solution of one fixed point."""
        (M, qq, step), tol = system, 1e-3 * float(self.kernel.stop) ** 2
        R = self._iterate(M, qq, step, tol)[0]
        size = float(np.abs(ends / degrees).max()) or 1.0
        B = self._iterate(M, (ends / degrees / size)[None], step, tol)[0]
        return R, B * degrees * size

    def _own_step(self, X: Array, P: list[Array]) -> Array:
        return sum(  # type: ignore[return-value]
            Pe @ X @ Pf.transpose(0, 2, 1) for Pe, Pf in zip(P, self._mixed(P))
        )

    def _cross_step(self, X: Array, P: list[Array]) -> Array:
        total: Any = 0.0
        n, u, m = X.shape
        for Pe, Pf in zip(self.steps, self._mixed(P)):
            flat = (X @ Pf.transpose(0, 2, 1)).transpose(1, 0, 2).reshape(u, n * m)
            total = total + (Pe @ flat).reshape(u, n, m).transpose(1, 0, 2)
        return np.asarray(total)

    def _mixed(self, P: list[Array]) -> list[Array]:
        """Transitions summed over the labels of edges, as far as each is like them."""
        if self.edges_alike is None:
            return P
        return [sum(a * Pe for a, Pe in zip(row, P)) for row in self.edges_alike]

    def _stops(self, sinks: NDArray) -> Array:
        stop = float(self.kernel.stop)
        return np.where(sinks, 1.0 if self.kernel.termination == "proper" else stop, stop)

    def _iterate(self, M: Array, qq: Array, step: Any, tol: float) -> Array:
        """Iterate all candidates side by side by Chebyshev's method, [GV1961]_: no edge is directed."""
        rho = (1.0 - float(self.kernel.stop)) ** 2
        Q = M * qq
        before, X = Q, Q + rho * M * step(Q)
        w = 1.0 / (1.0 - rho**2 / 2.0)
        for count in range(2, int(self.kernel.max_iter)):
            X, before = w * (Q + rho * M * step(X) - before) + before, X
            w = 1.0 / (1.0 - rho**2 * w / 4.0)
            if count % 4 == 0 and float(np.abs(X - before).max()) < tol:
                break
        return X

    def graph(self, code: Ints, labels: Ints) -> Graph:
        """A candidate as a graph."""
        i, j = np.nonzero(np.triu(code))
        marks = [self.edge_names[code[a, b] - 1] for a, b in zip(i, j)]
        plain = self.edge_names == [None]
        return Graph(
            tuple(self.node_names[label] for label in labels),
            tuple((int(a), int(b)) for a, b in zip(i, j)),
            None if plain else tuple(marks),
        )


def encode_graph(
    graph: Graph, use_labels: bool, node_names: list[Hashable], edge_names: list[Hashable]
) -> tuple[Ints, Ints] | None:
    """Codes and labels of a graph by the places of its labels in lists; None if it has others.

    A directed graph has no code either. ``use_labels``: whether labels of edges count.
    """
    marks = edge_marks(graph, use_labels)
    known = set(graph.labels) <= set(node_names) and set(marks) <= set(edge_names)
    if not known or graph.directed:
        return None
    code = np.zeros((graph.n_nodes, graph.n_nodes), dtype=np.int64)
    for (i, j), mark in zip(graph.edges, marks):
        code[i, j] = code[j, i] = 1 + edge_names.index(mark)
    return code, np.array([node_names.index(label) for label in graph.labels])
