"""The marginalised kernel of graphs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from isthmus._linalg import Array
from isthmus._validation import check_count, check_number, warn
from isthmus.kernels.graphs import iteration
from isthmus.kernels.graphs.graph import Graph, as_graphs
from isthmus.kernels.graphs.packed import Packed, pack
from isthmus.kernels.graphs.product import Transitions, product_graph
from isthmus.kernels.graphs.weisfeiler_lehman import refine_labels
from isthmus.kernels.sequences.labels import label_matrix
from isthmus.kernels.structured import StoppedKernel

# Numbers of X iterated at once: they stay in the cache, and are too few for BLAS to start threads.
_ITERATED_NUMBERS = 2**14
_CACHED_PAIRS = 2**16  # the same for product graphs, of which many pairs of nodes are no part


class GraphKernel(StoppedKernel):
    r"""Marginalised kernel: the probability that two random walks meet the same labels.

    A walk begins at any node, goes on along a random edge with probability :math:`1 - \lambda` and stops
    with :math:`\lambda`, [KTI2003]_, [B2006]_ Sec. 3.4.3. With P the transitions (rows sum to
    :math:`1 - \lambda`), :math:`M_{ij}` = 1 where labels agree, q the stopping and s the starting
    probabilities,

    .. math::
        R = M * q q'^T + \sum_e M * (P_e R P_e'^T), \qquad k = s^T R s',

    with one term per edge label. Graphs that colour refinement does not distinguish have the same image:
    a graph and two copies of it, a ring of six and two rings of three.

    Walks of plain labels say little about their surroundings: a walker meets the same few atoms in most
    molecules and often turns back to where it came from. With ``refine=1`` a label is that of the node
    together with those of its neighbours, the enrichment of labels of [MUAPV2004]_: walks that agree
    have then passed the same branches. It is faster too, because fewer pairs of nodes agree.

    Parameters
    ----------
    stop : float, default=0.1
        Stopping probability :math:`\lambda`, 0 < stop <= 1. With 1 only the shares of labels count.
        Small values count long walks.
    refine : int, default=0
        Rounds of Weisfeiler-Lehman refinement of the node labels before the walks. Only where
        ``label_kernel`` is None. ``GraphSearch`` needs 0: a change of one edge would change many labels.
    termination : {"constant", "proper"}, default="constant"
        Stopping at a node without an outgoing edge: "constant" with the same probability as elsewhere,
        "proper" with probability one.
    edge_labels : bool, default=True
        Whether labels of edges count where graphs have them.
    label_kernel, edge_label_kernel : callable, default=None
        Similarity of two labels, symmetric, between 0 and 1 and positive semi-definite; None: equal
        or not.
    normalise : bool, default=False
        Whether to normalise every graph to unit length.
    node_label, edge_label : str, default="label"
        Attributes of networkx graphs in which labels are kept.
    tol : float, default=1e-10
        The iteration stops when no entry of R changes by more than ``tol * stop**2``.
    max_iter : int, default=1000
        Most iterations; a ``ConvergenceWarning`` tells that ``tol`` was not reached.
    stop_bounds : pair of float or "fixed", default=(1e-2, 0.999)
        Bounds of ``stop`` for a Gaussian process that tunes it.

    Examples
    --------
    >>> from isthmus.kernels import GraphKernel
    >>> triangle = ([0, 0, 1], [(0, 1), (1, 2), (0, 2)])
    >>> path = ([0, 1, 0], [(0, 1), (1, 2)])
    >>> GraphKernel(stop=0.5)([triangle], [path, triangle]).round(8)
    array([[0.16487455, 0.16384181]])
    """

    def __init__(
        self,
        stop: float = 0.1,
        *,
        refine: int = 0,
        termination: str = "constant",
        edge_labels: bool = True,
        label_kernel: Any = None,
        edge_label_kernel: Any = None,
        normalise: bool = False,
        node_label: str = "label",
        edge_label: str = "label",
        tol: float = 1e-10,
        max_iter: int = 1000,
        stop_bounds: Any = (1e-2, 0.999),
    ) -> None:
        self.stop = stop
        self.refine = refine
        self.termination = termination
        self.edge_labels = edge_labels
        self.label_kernel = label_kernel
        self.edge_label_kernel = edge_label_kernel
        self.normalise = normalise
        self.node_label = node_label
        self.edge_label = edge_label
        self.tol = tol
        self.max_iter = max_iter
        self.stop_bounds = stop_bounds

    def _check(self) -> None:
        super()._check()
        check_number("tol", self.tol, "> 0", strict=True)
        check_count("max_iter", self.max_iter)
        check_count("refine", self.refine, minimum=0)
        if self.refine and self.label_kernel is not None:
            raise ValueError(
                f"refine == {self.refine} needs label_kernel=None: refined labels are equal or not."
            )

    def _convert(self, X: Any, name: str) -> list[Graph]:
        return as_graphs(X, name, self.node_label, self.edge_label)

    def _matrix(self, X: list[Graph], Y: list[Graph] | None) -> Array:
        if Y is None:
            return self._symmetric(X)[0]
        # The loop is over the smaller side, the other lies in one long column.
        if len(Y) > len(X):
            return self._rectangle(Y, X).T
        return self._rectangle(X, Y)

    def _diagonal(self, X: list[Graph]) -> Array:
        packed = self._pack(X)
        work = _Work(self, packed)
        values = [work.column(i, i, i + 1)[0][0] for i in range(len(X))]
        work.warn()
        return np.array(values)

    def _matrix_and_slopes(self, X: list[Graph]) -> tuple[Array, Array]:
        K, slope = self._symmetric(X, slope=True)
        assert slope is not None
        return K, slope[:, :, None]

    def _pack(self, X: list[Graph]) -> Packed:
        refined = refine_labels(X, int(self.refine), self.edge_labels) if self.refine else X
        return pack(refined, self.edge_labels)

    def _symmetric(self, X: list[Graph], slope: bool = False) -> tuple[Array, Array | None]:
        # By size: copies of a graph are then iterated together, and agree to the last digits.
        order = np.argsort([-graph.n_nodes for graph in X], kind="stable")
        work = _Work(self, self._pack([X[i] for i in order]))
        n = len(X)
        K = np.empty((n, n))
        dK = np.empty((n, n)) if slope else None
        for i in range(n):
            values, slopes = work.column(i, i, n, slope)
            K[order[i:], order[i]] = K[order[i], order[i:]] = values
            if dK is not None:
                dK[order[i:], order[i]] = dK[order[i], order[i:]] = slopes
        work.warn()
        return K, dK

    def _rectangle(self, X: list[Graph], Y: list[Graph]) -> Array:
        work = _Work(self, self._pack([*X, *Y]))
        K = np.empty((len(X), len(Y)))
        for j in range(len(Y)):
            K[:, j] = work.column(len(X) + j, 0, len(X))[0]
        work.warn()
        return K


@dataclass
class _System:
    """``R = Q + T R`` of graph i and a run of others, and how to read the kernel off R."""

    step: iteration.Step
    Q: Array
    directed: bool
    roots: Any  # the symmetric form is ``roots T / roots``; called where it is wanted
    free: Any  # how many of the two stopping probabilities are ``stop``; called where it is wanted
    sums: Any


@dataclass
class _Work:
    """One graph after another against a range of the packed graphs."""

    kernel: GraphKernel
    packed: Packed

    def __post_init__(self) -> None:
        kernel, packed = self.kernel, self.packed
        self.alike: Array | None = None
        if kernel.label_kernel is not None:
            self.alike = label_matrix(kernel.label_kernel, packed.node_names, "label_kernel")
        self.edges_alike: Array | None = None
        if kernel.edge_label_kernel is not None:
            names = packed.edge_names
            self.edges_alike = label_matrix(kernel.edge_label_kernel, names, "edge_label_kernel")
        self.q = np.full(len(packed.labels), float(kernel.stop))
        if kernel.termination == "proper":
            self.q[packed.sinks] = 1.0
        self.free = (self.q == float(kernel.stop)).astype(float)
        self.worst: tuple[float, int] | None = None
        hard = self.alike is None and self.edges_alike is None
        self.transitions = Transitions(packed) if hard else None

    def column(
        self, i: int, first: int, last: int, slope: bool = False
    ) -> tuple[Array, Array | None]:
        """Kernel of graph i with graphs ``first .. last - 1``, and the slope in ``log stop``."""
        parts = [self._solved(system, slope) for system in self._systems(i, first, last)]
        values = np.concatenate([value for value, _ in parts])
        return values, np.concatenate([dk for _, dk in parts if dk is not None]) if slope else None

    def _systems(self, i: int, first: int, last: int) -> Iterator[_System]:
        """On product graphs where a step on them is the faster one, else on whole matrices."""
        for a, b in self._runs(i, first, last, _CACHED_PAIRS):
            places = self._places(i, a, b)
            if self.transitions is not None and self.transitions.is_worth_it(*places):
                yield self._on_pairs(i, a, b)
            else:
                yield from (
                    self._on_matrix(i, c, d) for c, d in self._runs(i, a, b, _ITERATED_NUMBERS)
                )

    def _runs(self, i: int, first: int, last: int, most: int) -> list[tuple[int, int]]:
        """Runs of graphs whose part of X stays in the cache."""
        offsets, cuts = self.packed.offsets, [first]
        room = most // int(self.packed.sizes[i])
        while cuts[-1] < last:
            fit = int(np.searchsorted(offsets, offsets[cuts[-1]] + room, side="right")) - 1
            cuts.append(min(max(fit, cuts[-1] + 1), last))
        return list(pairwise(cuts))

    def _places(self, i: int, first: int, last: int) -> tuple[int, int, int, int]:
        """The nodes of a run of graphs, and those of graph i."""
        offsets = self.packed.offsets
        return int(offsets[first]), int(offsets[last]), int(offsets[i]), int(offsets[i + 1])

    def _directed(self, i: int, first: int, last: int) -> bool:
        return bool(self.packed.directed[first:last].any() or self.packed.directed[i])

    def _on_pairs(self, i: int, first: int, last: int) -> _System:
        packed, transitions, stop = self.packed, self.transitions, float(self.kernel.stop)
        assert transitions is not None
        a, b, c, d = self._places(i, first, last)
        pairs = product_graph(transitions, (a, b), (c, d), (1.0 - stop) ** 2)
        sizes = packed.sizes[first:last]
        return _System(
            pairs.T.dot,
            pairs.spread(self.q[a:b], self.q[c:d], np.multiply),
            self._directed(i, first, last),
            lambda: pairs.spread(packed.roots[a:b], packed.roots[c:d], np.multiply),
            lambda: pairs.spread(self.free[a:b], self.free[c:d], np.add),
            lambda R: pairs.sums(R, packed.offsets[first:last] - a) / (sizes * (d - c)),
        )

    def _on_matrix(self, i: int, first: int, last: int) -> _System:
        packed = self.packed
        a, b, c, d = self._places(i, first, last)
        M = self._matches(a, b, c, d)
        rows = [P[a:b, a:b] for P in packed.steps]
        columns = [P[c:d, c:d] for P in packed.steps]
        scale = (1.0 - float(self.kernel.stop)) ** 2

        def roots() -> Array:
            outer = np.outer(packed.roots[a:b], packed.roots[c:d])
            return np.where(M > 0, outer / np.sqrt(np.where(M > 0, M, 1.0)), 0.0)

        return _System(
            iteration.make_step(M, rows, columns, self.edges_alike, scale),
            M * np.outer(self.q[a:b], self.q[c:d]),
            self._directed(i, first, last),
            roots,
            lambda: np.add.outer(self.free[a:b], self.free[c:d]),
            lambda R: self._sums(R, first, last),
        )

    def _matches(self, a: int, b: int, c: int, d: int) -> Array:
        rows, columns = self.packed.labels[a:b], self.packed.labels[c:d]
        if self.alike is None:
            return (rows[:, None] == columns).astype(np.float64)
        return self.alike[rows[:, None], columns]

    def _solved(self, system: _System, slope: bool) -> tuple[Array, Array | None]:
        R = self._solve(system, system.Q)
        if not slope:
            return system.sums(R), None
        # (I - T) dR = dQ + dT R, and T is proportional to (1 - stop)^2: dT R = -2/(1 - stop) (R - Q).
        lam = float(self.kernel.stop)
        change = system.free() * system.Q - 2.0 * lam / (1.0 - lam) * (R - system.Q)
        return system.sums(R), system.sums(self._solve(system, change))

    def _solve(self, system: _System, Q: Array) -> Array:
        stop = float(self.kernel.stop)
        max_iter = int(self.kernel.max_iter)
        tol = self.kernel.tol * stop**2
        if system.directed:
            found = iteration.plain(system.step, Q, tol, max_iter)
        else:
            found = iteration.conjugate_gradients(system.step, Q, system.roots(), tol, max_iter)
        if not found.converged and (self.worst is None or found.change > self.worst[0]):
            self.worst = (found.change, found.n_iter)
        return found.value

    def _sums(self, R: Array, first: int, last: int) -> Array:
        begin = self.packed.offsets[first:last] - self.packed.offsets[first]
        return np.add.reduceat(R.mean(axis=1), begin) / self.packed.sizes[first:last]

    def warn(self) -> None:
        """Say once how far the worst of the iterations was from its end."""
        if self.worst is not None:
            change, steps = self.worst
            warn(
                f"The graph kernel did not converge in {steps} steps: the last change was {change:.2g}, "
                f"tol * stop**2 is {self.kernel.tol * self.kernel.stop**2:.2g}. Raise max_iter or stop.",
                ConvergenceWarning,
            )
