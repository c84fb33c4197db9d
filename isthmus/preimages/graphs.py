"""Pre-images of labelled graphs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from isthmus._linalg import Array
from isthmus._saved import saved
from isthmus._solvers import Bernoulli, Categorical, cross_entropy
from isthmus._validation import check_count, check_flag, check_option
from isthmus.kernels import Graph, GraphKernel, as_graph, gram, greedy_pursuit
from isthmus.kernels.graphs import edge_marks
from isthmus.preimages import graph_moves as moves
from isthmus.preimages.base import RankingPreimage, rank_all, smallest
from isthmus.preimages.best_seen import BestSeen
from isthmus.preimages.graph_losses import GraphTarget, Ints, encode_graph
from isthmus.preimages.graph_rules import GraphRules
from isthmus.preimages.ngram_index import largest_remainder
from isthmus.preimages.sizes import check_sizes, mean_size, sizes_around
from isthmus.preimages.targets import Targets

METHODS = ("auto", "local", "cross_entropy", "nearest")
_KEPT_GRAPHS = 64  # graphs of a search that compete at its end
_NEAREST_GRAPHS = 3  # fitted graphs from which local search begins
_SHAKES = 40  # shaken copies of the best for each random start, if the budget allows
_ENTROPY_ROUNDS = 20  # of the cross-entropy method, for which there must be budget left
_PENALTY = 0.01  # of the cross-entropy method: weight of the prior for few edges
_DRAW_NOISE = 0.02  # and the least probability
_ENOUGH_POINTS = 1e-14  # of |Psi|^2: points that leave less of it are enough
_EXACT_GRAPH = 1e-9  # a loss below this share of |Psi|^2 is that of the pre-image itself


@saved(sizes_="m", shares_="m .")
class GraphSearch(RankingPreimage):
    r"""Search for undirected graphs near a point of the feature space of :class:`GraphKernel`.

    .. math::
        \min_z \|\Psi\|^2 - 2 \langle \Psi, \phi(z) \rangle + k(z, z)

    over the edges (and their labels) between nodes whose labels are read off the target,
    [B2006]_ Sec. 3.4.5. Graphs that the kernel cannot tell apart have the same loss: a loss of zero is
    not an isomorphism.

    Parameters
    ----------
    method : {"auto", "local", "cross_entropy", "nearest"}, default="auto"
        "cross_entropy": the method of the source, with its prior for few edges; "local": from the
        nearest fitted graphs, from random ones and from shaken copies of the best; "auto": local search,
        from the best of cross-entropy too; "nearest": the nearest fitted graph. No answer is worse than
        the nearest fitted graph, which is always among the candidates (of the sizes that are given).
    n_starts : int, default=5
        Random starts of local search; for each, up to 40 shaken copies of the best, while there is budget.
    size_window : int, default=0
        Random graphs have sizes this far around the weighted mean of the sizes of the expansion. Some of
        the shaken copies have a node more or less, unless sizes are given.
    connected : bool, default=False
        Whether answers must be in one piece.
    valences : dict, "atoms" or None, default=None
        The most bonds that nodes of each label may have, double ones counted twice; ``"atoms"`` knows the
        usual ones by symbol and charge (``"C"``, ``"N+"``). Edge labels must then be numbers or RDKit's
        names of bonds. Fitted graphs that are not as asked are no answers either.
    n_samples, max_void : int, default=200, 20
        Cross-entropy method: candidates per round, and rounds without improvement before it stops.
    max_points : int, default=12
        Number of graphs to which the expansion is reduced while searching; answers are ranked by all.
    max_evaluations : int or None, default=None
        Most graphs evaluated per target. None: 2e7 over the product of nodes, nodes of the expansion and
        edge labels, which takes some seconds.
    random_state : int, RandomState or None, default=None
        Seed for the search.
    """

    def __init__(
        self,
        method: str = "auto",
        *,
        n_starts: int = 5,
        size_window: int = 0,
        connected: bool = False,
        valences: Any = None,
        n_samples: int = 200,
        max_void: int = 20,
        max_points: int = 12,
        max_evaluations: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.method = method
        self.n_starts = n_starts
        self.size_window = size_window
        self.connected = connected
        self.valences = valences
        self.n_samples = n_samples
        self.max_void = max_void
        self.max_points = max_points
        self.max_evaluations = max_evaluations
        self.random_state = random_state

    def _prepare(self) -> None:
        check_option("method", self.method, METHODS)
        if not isinstance(self.kernel_, GraphKernel) or self.kernel_.refine:
            raise ValueError(
                f"GraphSearch works with GraphKernel(refine=0), not {self.kernel_!r}: take CandidateSearch "
                "or Nearest for other kernels of graphs."
            )
        check_count("n_starts", self.n_starts, minimum=0)
        check_count("max_points", self.max_points)
        self.graphs_ = self.kernel_._convert(self.embedding_.points_, "points")
        if any(graph.directed for graph in self.graphs_):
            raise ValueError("GraphSearch makes undirected graphs, but some points are directed.")
        self.node_names_ = list(dict.fromkeys(x for g in self.graphs_ for x in g.labels))
        marks = [mark for g in self.graphs_ for mark in edge_marks(g, self.kernel_.edge_labels)]
        self.edge_names_ = list(dict.fromkeys(marks)) or [None]
        check_flag("connected", self.connected)
        self._rules()  # says what is wrong with them
        self.sizes_ = np.array([g.n_nodes for g in self.graphs_])
        self.shares_ = np.array(
            [[g.labels.count(x) / g.n_nodes for x in self.node_names_] for g in self.graphs_]
        )
        self._matrix: Array | None = None
        self._allowed: NDArray[np.bool_] | None = None

    def _rules(self) -> GraphRules:
        return GraphRules(self.connected, self.valences, self.node_names_, self.edge_names_)

    def _allowed_objects(self) -> NDArray[np.bool_]:
        """Whether each fitted object is as asked; one with labels that no point has is not."""
        if self._allowed is None:
            graphs = self.kernel_._convert(self.objects_, "objects")
            rules = self._rules()
            codes = [self._encode(graph) for graph in graphs]
            self._allowed = np.array(
                [c is not None and rules.allow(c[0][None], c[1])[0] for c in codes]
            )
        return self._allowed

    def _encode(self, graph: Graph) -> tuple[Ints, Ints] | None:
        """Codes and labels of a graph; None if it has labels that no point has."""
        names = self.node_names_, self.edge_names_
        return encode_graph(graph, self.kernel_.edge_labels, *names)

    def _gram(self) -> Array:
        if self._matrix is None:
            self._matrix = gram(self.kernel_, self.graphs_)
        return self._matrix

    def _reduced(self, coef: Array) -> tuple[list[Graph], Array]:
        used = np.flatnonzero(np.abs(coef) > 1e-12 * np.abs(coef).max())
        if len(used) <= self.max_points:
            return [self.graphs_[i] for i in used], coef[used]
        K = self._gram()
        values = K @ coef
        pursuit = greedy_pursuit(
            lambda i: K[:, i],
            K.diagonal(),
            values[:, None],
            float(coef @ values),
            int(self.max_points),
            tol=_ENOUGH_POINTS,
        )
        return [self.graphs_[i] for i in pursuit.order], pursuit.coefficients()[:, 0]

    def _ranked(
        self, targets: Targets, n_best: int, sizes: Any = None, **options: Any
    ) -> tuple[list[Any], Array]:
        """``sizes``: for each target the size, or the sizes, that its answer may have."""
        allowed = check_sizes(sizes, len(targets))
        norms = targets.squared_norms
        fitted_losses = self._fitted_losses(targets)
        if self._rules().are_any:
            fitted_losses = np.where(self._allowed_objects(), fitted_losses, np.inf)
        near, near_losses = smallest(fitted_losses, max(n_best, 3))
        rng = check_random_state(self.random_state)
        answers = []
        losses = np.empty((len(targets), n_best))
        for t, given in enumerate(allowed):
            # The loss of objects that are not as asked is infinite.
            objects = [self.objects_[i] for i in near[t][np.isfinite(near_losses[t])]]
            fitted = [
                as_graph(g, self.kernel_.node_label, self.kernel_.edge_label) for g in objects
            ]
            if given is not None:
                fitted = [g for g in fitted if g.n_nodes in given]
            found = []
            if self.method != "nearest" and near_losses[t, 0] > _EXACT_GRAPH * norms[t]:
                search = _Search(self, targets.coef[t], float(norms[t]), fitted, rng)
                found = search.run(given, n_best)
            pool = list(dict.fromkeys([*found, *fitted]))
            if not pool:
                raise ValueError(
                    f"No graph with the requested size, valences and connectivity was found for "
                    f"target {t}."
                )
            values = targets.subset(slice(t, t + 1)).losses(pool)[0]
            order = rank_all(values, n_best)
            answers.append([pool[i] for i in order])
            losses[t] = values[order]
        return answers, losses


class _Search:
    """The search for one target."""

    def __init__(
        self, owner: GraphSearch, coef: Array, norm: float, near: list[Graph], rng: Any
    ) -> None:
        self.owner, self.coef, self.norm, self.rng = owner, coef, norm, rng
        points, weights = owner._reduced(coef)
        self.target = GraphTarget(
            owner.kernel_, points, weights, norm, owner.node_names_, owner.edge_names_
        )
        self.target.rules = owner._rules()
        codes = [owner._encode(graph) for graph in near]
        self.near = [code for code in codes if code is not None]
        self.seen = BestSeen(_KEPT_GRAPHS)
        self.goal = 1e-6 * norm
        self.any_size = True

    def run(self, given: Ints | None, n_best: int) -> list[Graph]:
        self.any_size = given is None
        sizes = self._sizes() if given is None else given
        method = self.owner.method
        if method == "cross_entropy":
            for m in sizes:
                self._cross_entropy(int(m))
        else:
            self._descend(sizes, with_cross_entropy=method == "auto")
        return [
            self.target.graph(code, labels) for _, (code, labels) in self.seen.best(max(n_best, 8))
        ]

    def _sizes(self) -> Ints:
        sizes = self.owner.sizes_
        estimate = mean_size(self.coef, sizes, [len(labels) for _, labels in self.near])
        return sizes_around(estimate, sizes, int(self.owner.size_window))

    def _labels(self, m: int) -> Ints:
        counts = largest_remainder(self.coef @ self.owner.shares_, m)
        return np.repeat(np.arange(len(counts)), counts)

    def _descend(self, sizes: Ints, with_cross_entropy: bool) -> None:
        """From the nearest fitted graphs, then from random ones and shaken copies of the best in turns."""
        for start in self.near[:_NEAREST_GRAPHS]:
            if self._improve(*start):
                return
        for round_ in range(self.owner.n_starts):
            for m in sizes:
                if self._improve(self._random_code(int(m)), self._labels(int(m))):
                    return
            if self._shake(round_):
                return
        shakes = iter(range(_SHAKES * self.owner.n_starts))
        if self._shaken_until(shakes, 0.6):
            return
        for m in sizes if with_cross_entropy else ():
            left = self.budget(int(m)) - self.target.n_evaluated
            if left >= _ENTROPY_ROUNDS * self.owner.n_samples:
                self._improve(*self._cross_entropy(int(m)))
            if self.seen.lowest <= self.goal:
                return
        self._shaken_until(shakes, 1.0)

    def _shaken_until(self, rounds: Iterator[int], share: float) -> bool:
        """Shake the best until a share of the budget is spent; whether the search is at its end."""
        for round_ in rounds:
            if self._shake(round_):
                return True
            best = self.seen.best(1)
            size = len(best[0][1][1]) if best else int(self.owner.sizes_.max())
            if self.target.n_evaluated > share * self.budget(size):
                break
        return False

    def _shake(self, round_: int) -> bool:
        """Local search from one of the best graphs, some changes away; now and then of another size."""
        best = self.seen.best(1 + round_ % 2 * 2)
        if not best:  # nothing that was looked at is as asked
            return False
        _, (code, labels) = best[self.rng.randint(len(best))]
        marks = len(self.owner.edge_names_)
        if self.any_size and round_ % 5 == 4:
            return self._improve(*moves.resized(code, labels, marks, self.rng))
        return self._improve(moves.shaken(code, 2 + round_ % 4, marks, self.rng), labels)

    def _random_code(self, m: int) -> Ints:
        density = np.mean([len(g.edges) / g.n_nodes for g in self.owner.graphs_])
        n_edges = int(np.rint(density * m))
        return moves.random_code(m, n_edges, len(self.owner.edge_names_), self.rng)

    def _improve(self, code: Ints, labels: Ints) -> bool:
        moves.note_graphs(self.seen, code[None], labels, self.target.losses(code[None], labels))
        value = moves.descend_graph(
            self.target,
            code,
            labels,
            self.seen,
            goal=self.goal,
            max_evaluations=self.budget(len(labels)),
        )
        return value <= self.goal or self.target.n_evaluated > self.budget(len(labels))

    def budget(self, m: int) -> int:
        """How many graphs of m nodes may be looked at."""
        if self.owner.max_evaluations is not None:
            return int(self.owner.max_evaluations)
        cost = m * max(len(self.target.labels), m) * len(self.owner.edge_names_)
        return max(500, int(2e7 / cost))

    def _cross_entropy(self, m: int) -> tuple[Ints, Ints]:
        owner, labels = self.owner, self._labels(m)
        i, j = np.triu_indices(m, 1)
        n_marks = len(owner.edge_names_)

        def decode(codes: Any) -> Ints:
            out = np.zeros((len(codes), m, m), dtype=np.int64)
            out[:, i, j] = out[:, j, i] = codes
            return out

        def loss(codes: Any) -> Array:
            candidates = decode(codes)
            values = self.target.losses(candidates, labels)
            moves.note_graphs(self.seen, candidates, labels, values)
            return values

        if m == 1:
            loss(np.zeros((1, 0)))
            return np.zeros((1, 1), dtype=np.int64), labels
        p = min(0.5, 2.5 / m)  # about as many edges as nodes to begin with
        family: Any = Bernoulli(np.full(len(i), p), _DRAW_NOISE, _PENALTY)
        if n_marks > 1:
            table = np.full((len(i), n_marks + 1), p / n_marks)
            table[:, 0] = 1.0 - p
            family = Categorical(table, noise=_DRAW_NOISE / n_marks)
        found = cross_entropy(
            loss,
            family,
            n_samples=owner.n_samples,
            smoothing=0.5,
            max_void=owner.max_void,
            random_state=self.rng,
        )
        return decode(found.code[None])[0], labels
