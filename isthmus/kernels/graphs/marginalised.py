"""The marginalised kernel of graphs."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from isthmus.kernels.graphs import iteration
from isthmus.kernels.graphs.graph import Graph, as_graphs
from isthmus.kernels.graphs.packed import Packed, pack
from isthmus.kernels.sequences.labels import label_matrix
from isthmus.kernels.structured import StoppedKernel
from isthmus.linalg import Array

# Numbers of X iterated at once: they stay in the cache, and are too few for BLAS to start threads.
_CACHED = 2**14


class GraphKernel(StoppedKernel):
    r"""Marginalised kernel: the probability that two random walks meet the same labels.

    A walk begins at any node, goes on along a random edge with probability :math:`1 - \lambda` and stops
    with :math:`\lambda`, [KTI2003]_, [B2006]_ Sec. 3.4.3. With P the transitions (rows sum to
    :math:`1 - \lambda`), :math:`M_{ij}` = 1 where labels agree, q the stopping and s the starting
    probabilities,

    .. math::
        R = M * q q'^T + \sum_e M * (P_e R P_e'^T), \qquad k = s^T R s',

    one term an edge label. Two graphs that colour refinement cannot tell apart are one point: a graph
    and two copies of it, a ring of six and two rings of three.

    Parameters
    ----------
    stop : float, default=0.1
        Stopping probability :math:`\lambda`, 0 < stop <= 1. With 1 only the shares of labels count.
        Small values look far; the fixed point exists for all.
    termination : {"constant", "proper"}, default="constant"
        Stopping at a node without an edge that leads on: "constant" as everywhere, "proper" surely.
    edge_labels : bool, default=True
        Whether labels of edges count where graphs have them.
    label_kernel, edge_label_kernel : callable, default=None
        How alike two labels are, symmetric, between 0 and 1 and positive semi-definite; None: equal
        or not.
    normalise : bool, default=False
        Whether every graph is given length one.
    node_label, edge_label : str, default="label"
        Attributes of networkx graphs in which labels are kept.
    tol : float, default=1e-10
        The iteration stops when no entry of R changes by more than ``tol * stop**2``.
    max_iter : int, default=1000
        Most steps of the iteration; not reaching ``tol`` is a ``ConvergenceWarning``.
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
        if not self.tol > 0:
            raise ValueError(f"tol == {self.tol}, must be > 0.")
        if self.max_iter < 1:
            raise ValueError(f"max_iter == {self.max_iter}, must be >= 1.")

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
        return pack(X, self.edge_labels)

    def _symmetric(self, X: list[Graph], slope: bool = False) -> tuple[Array, Array | None]:
        # Large graphs first: the columns of X that they make wide are then many but short.
        order = np.argsort([-graph.n_nodes for graph in X], kind="stable")
        packed, n = self._pack([X[i] for i in order]), len(X)
        work = _Work(self, packed)
        K, dK = np.empty((n, n)), np.empty((n, n)) if slope else None
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
class _Work:
    """One graph after another against a range of the packed graphs."""

    kernel: GraphKernel
    packed: Packed

    def __post_init__(self) -> None:
        kernel, packed = self.kernel, self.packed
        self.alike = self._table(kernel.label_kernel, packed.node_names, "label_kernel")
        self.edges_alike = self._table(
            kernel.edge_label_kernel, packed.edge_names, "edge_label_kernel"
        )
        self.q = np.full(len(packed.labels), float(kernel.stop))
        if kernel.termination == "proper":
            self.q[packed.sinks] = 1.0
        self.starts = packed.starts
        self.worst: tuple[float, int] | None = None
        self._rows: tuple[int, int, list[sparse.csr_matrix]] | None = None

    @staticmethod
    def _table(kernel: Any, names: list[Any], what: str) -> Array | None:
        return None if kernel is None else label_matrix(kernel, names, what)

    def column(
        self, i: int, first: int, last: int, slope: bool = False
    ) -> tuple[Array, Array | None]:
        """Kernel of graph i with graphs ``first .. last - 1``, and the slope in ``log stop``."""
        parts = [self._part(i, a, b, slope) for a, b in self._ranges(i, first, last)]
        values = np.concatenate([value for value, _ in parts])
        return values, np.concatenate([dk for _, dk in parts if dk is not None]) if slope else None

    def _ranges(self, i: int, first: int, last: int) -> list[tuple[int, int]]:
        """Runs of graphs whose part of X stays in the cache."""
        sizes, width = self.packed.sizes, int(self.packed.sizes[i])
        cuts, total = [first], 0
        for j in range(first, last):
            if total and (total + int(sizes[j])) * width > _CACHED:
                cuts.append(j)
                total = 0
            total += int(sizes[j])
        return list(pairwise([*cuts, last]))

    def _part(self, i: int, first: int, last: int, slope: bool) -> tuple[Array, Array | None]:
        packed = self.packed
        a, b = int(packed.offsets[first]), int(packed.offsets[last])
        c, d = int(packed.offsets[i]), int(packed.offsets[i + 1])
        M = self._matches(a, b, c, d)
        Q = M * np.outer(self.q[a:b], self.q[c:d])
        op = self._operator(M, a, b, c, d)
        directed = bool(packed.directed[first:last].any() or packed.directed[i])
        R = self._solve(op, Q, M, directed, (a, b, c, d))
        sums = self._sums(R, first, last, i)
        if not slope:
            return sums, None
        # (I - T) dR = dQ + dT R, and T is proportional to (1 - stop)^2: dT R = -2/(1 - stop) (R - Q).
        lam = float(self.kernel.stop)
        free = (self.q[a:b] == lam).astype(float)[:, None] + (self.q[c:d] == lam)
        dR = self._solve(
            op, free * Q - 2.0 * lam / (1.0 - lam) * (R - Q), M, directed, (a, b, c, d)
        )
        return sums, self._sums(dR, first, last, i)

    def _matches(self, a: int, b: int, c: int, d: int) -> Array:
        rows, columns = self.packed.labels[a:b], self.packed.labels[c:d]
        if self.alike is None:
            return (rows[:, None] == columns).astype(np.float64)
        return self.alike[rows[:, None], columns]

    def _operator(self, M: Array, a: int, b: int, c: int, d: int) -> Any:
        rows = self._row_steps(a, b)
        columns = [P[c:d, c:d] for P in self.packed.steps]
        scale = (1.0 - float(self.kernel.stop)) ** 2
        return iteration.Operator(M, rows, columns, self.edges_alike, scale)

    def _row_steps(self, a: int, b: int) -> list[sparse.csr_matrix]:
        if self._rows is None or self._rows[:2] != (a, b):  # the same for all of a rectangle
            self._rows = (a, b, [P[a:b, a:b] for P in self.packed.steps])
        return self._rows[2]

    def _solve(
        self, op: Any, Q: Array, M: Array, directed: bool, places: tuple[int, int, int, int]
    ) -> Array:
        stop, max_iter = float(self.kernel.stop), int(self.kernel.max_iter)
        tol = self.kernel.tol * stop**2
        if directed:
            found = iteration.plain(op, Q, tol, max_iter)
        elif stop >= iteration.CG_BELOW:
            found = iteration.chebyshev(op, Q, (1.0 - stop) ** 2, tol, max_iter)
        else:
            a, b, c, d = places
            roots = np.outer(self.packed.roots[a:b], self.packed.roots[c:d])
            scale = np.where(M > 0, roots / np.sqrt(np.where(M > 0, M, 1.0)), 0.0)
            found = iteration.conjugate_gradients(op, Q, scale, tol, max_iter)
        if not found.converged and (self.worst is None or found.change > self.worst[0]):
            self.worst = (found.change, found.n_iter)
        return found.value

    def _sums(self, R: Array, first: int, last: int, i: int) -> Array:
        packed = self.packed
        begin = packed.offsets[first:last] - packed.offsets[first]
        along = R @ np.full(R.shape[1], 1.0 / R.shape[1])
        a, b = packed.offsets[first], packed.offsets[last]
        return np.add.reduceat(self.starts[a:b] * along, begin)

    def warn(self) -> None:
        """Say once how far the worst of the iterations was from its end."""
        if self.worst is not None:
            change, steps = self.worst
            warnings.warn(
                f"The graph kernel did not converge in {steps} steps: the last change was {change:.2g}, "
                f"tol * stop**2 is {self.kernel.tol * self.kernel.stop**2:.2g}. Raise max_iter or stop.",
                ConvergenceWarning,
                stacklevel=5,
            )
