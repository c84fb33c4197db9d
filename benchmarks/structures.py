"""How fast are the kernels of sequences and graphs, and how often does a search find what is there?

speed   the Gram matrix of MUTAG against grakel's labelled random walk kernel (its fast method, whose
        values are off; its baseline agrees with the linear system) and against dense linear systems; growth
        with the size of graphs; batches of sequences against a linear system each; expansions
search  exact images of random sequences and graphs; targets between two automata of [B2006] Sec. 3.5;
        the cross-entropy method of the source beside

Times are ratios within one run, on one thread. A trial has "found" where the loss is zero to rounding.

    ISTHMUS_DATA=... python benchmarks/structures.py --only speed,search
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
from _common import Row, print_header, print_row, print_summary, record, seconds
from threadpoolctl import threadpool_limits

from isthmus.datasets import load_graphs
from isthmus.features import KernelMap
from isthmus.kernels import Graph, GraphKernel, SequenceKernel, as_graph
from isthmus.kernels.sequences.dynamic import many_against_many, one_against_many
from isthmus.kernels.sequences.encoding import encode
from isthmus.papers.kernel_dependency_thesis.structures import (
    automata_losses,
    graph_is_found,
    random_graph,
)
from isthmus.preimages import SequenceSearch
from isthmus.preimages.ngram_index import NgramIndex

STOP = 0.1


# -- oracles ----------------------------------------------------------------------------------


def dense_pair(g: Graph, h: Graph, stop: float) -> float:
    """One linear system of order n n'."""
    A, B = g.adjacency(), h.adjacency()
    P = (1 - stop) * A / np.maximum(A.sum(1, keepdims=True), 1)
    P2 = (1 - stop) * B / np.maximum(B.sum(1, keepdims=True), 1)
    M = np.array([[a == b for b in h.labels] for a in g.labels], dtype=float).ravel()
    T = M[:, None] * np.kron(P, P2)
    return float(np.linalg.solve(np.eye(len(M)) - T, stop**2 * M).mean())


def sequence_pair(x: str, y: str, stop: float) -> float:
    P, P2 = (1 - stop) * np.eye(len(x), k=1), (1 - stop) * np.eye(len(y), k=1)
    M = np.array([[a == b for b in y] for a in x], dtype=float).ravel()
    T = M[:, None] * np.kron(P, P2)
    return float(np.linalg.solve(np.eye(len(M)) - T, stop**2 * M).mean())


def peer_graphs(graphs: list[Graph]) -> list[Any]:
    import grakel

    return [
        grakel.Graph(
            {pair: 1 for i, j in g.edges for pair in ((i, j), (j, i))},
            node_labels=dict(enumerate(g.labels)),
        )
        for g in graphs
    ]


# -- speed ------------------------------------------------------------------------------------


def mutag_rows(repeats: int) -> list[Row]:
    from grakel.kernels import RandomWalkLabeled

    graphs = [as_graph(item) for item in load_graphs("mutag").data]
    kernel = GraphKernel(STOP, edge_labels=False)
    peers = peer_graphs(graphs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fast = lambda: RandomWalkLabeled(lamda=0.01, method_type="fast").fit_transform(peers)  # noqa: E731
        ours, theirs = np.inf, np.inf
        for _ in range(repeats):
            ours = min(ours, seconds(lambda: kernel(graphs)))
            theirs = min(theirs, seconds(fast))
    few = graphs[::9]
    pairs = [(i, j) for i in range(len(few)) for j in range(i + 1)]
    values = np.empty(len(pairs))

    def dense() -> None:
        values[:] = [dense_pair(few[i], few[j], STOP) for i, j in pairs]

    dense_time = seconds(dense) * (len(graphs) * (len(graphs) + 1) / 2) / len(pairs)
    K = kernel(few)
    difference = max(abs(K[i, j] - v) / v for (i, j), v in zip(pairs, values) if v > 0)
    return [
        Row("MUTAG Gram, walk kernel", "188 graphs", 1, 1e3 * ours, 1e3 * theirs, 1 / 6,
            peer="grakel RandomWalkLabeled fast", note=f"{theirs / ours:.1f} x; {_values_of_the_peer()}"),
        Row("MUTAG Gram, walk kernel", "188 graphs", 1, 1e3 * ours, 1e3 * dense_time, 1 / 15, difference,
            "dense linear systems", f"{dense_time / ours:.1f} x; every ninth graph, extrapolated"),
    ]  # fmt: skip


def _values_of_the_peer() -> str:
    """What its two methods say of the path a-b-c with itself, lamda 0.1."""
    from grakel.kernels import RandomWalkLabeled

    path = peer_graphs([Graph(("a", "b", "c"), ((0, 1), (1, 2)))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [
            float(RandomWalkLabeled(lamda=0.1, method_type=m).fit_transform(path)[0, 0])
            for m in ("fast", "baseline")
        ]
    A, M = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0.0]]), np.eye(3).ravel()
    T = 0.1 * M[:, None] * np.kron(A, A)
    right = float(np.linalg.solve(np.eye(9) - T, M).sum() + (1 - M).sum())
    return f"a-b-c: fast {found[0]:.8f}, baseline {found[1]:.8f}, linear system {right:.8f}"


def processor_seconds(job: Any) -> float:
    """Processor time of one call: what other programs take is not in it."""
    begin = time.process_time()
    job()
    return time.process_time() - begin


def growth_row() -> Row:
    """Time a pair at four times the nodes, over the growth of edges times nodes."""
    rng = np.random.RandomState(0)
    small, large = ([random_graph(rng, m, 3) for _ in range(6)] for m in (200, 800))
    kernel = GraphKernel(STOP)
    kernel(small)
    a, b = np.inf, np.inf
    for _ in range(3):  # in turns, so that a busy moment of the machine meets both
        a = min(a, *(processor_seconds(lambda: kernel(small)) for _ in range(3)))
        b = min(b, processor_seconds(lambda: kernel(large)))
    work = sum(len(g.edges) * g.n_nodes for g in large) / sum(
        len(g.edges) * g.n_nodes for g in small
    )
    return Row("growth with the size of graphs", "6 graphs, 200 to 800 nodes", 1, 1e3 * b,
               1e3 * a * work, 1.1, peer="edges x nodes",
               note=f"time x {b / a:.0f}, edges x nodes x {work:.0f}")  # fmt: skip


def _words(rng: Any, n: int, low: int, high: int, alphabet: str = "abcde") -> list[str]:
    return ["".join(rng.choice(list(alphabet), rng.randint(low, high + 1))) for _ in range(n)]


def sequence_rows() -> list[Row]:
    rng = np.random.RandomState(0)
    X = _words(rng, 1000, 20, 20)
    x, others = encode(X[:1], X)
    padded, lengths = others.padded(), others.lengths
    batch = lambda: one_against_many(x.symbols, padded, lengths, None, STOP, False)  # noqa: E731
    batch()
    ours = min(seconds(batch) for _ in range(5)) / len(X)
    one = min(seconds(lambda: sequence_pair(X[0], X[1], STOP)) for _ in range(3))
    direct = np.array([sequence_pair(X[0], y, STOP) for y in X[:20]])
    difference = float(np.abs(batch()[:20] / direct - 1).max())
    kernel = SequenceKernel(STOP)
    whole = min(seconds(lambda: kernel(X[:500])) for _ in range(3))
    (corpus,) = encode(X[:500])
    programme = seconds(lambda: many_against_many(corpus, corpus, None, STOP, False))
    return [
        Row("batched sequence kernel", "1000 of length 20", 1, 1e3 * ours, 1e3 * one, 1 / 500, difference,
            "linear system", f"{one / ours:.0f} x a pair"),
        Row("Gram matrix of sequences", "500 of length 20", 1, 1e3 * whole, 1e3 * programme, 1.0,
            peer="batched dynamic programme", note=f"shared n-grams, {programme / whole:.0f} x"),
    ]  # fmt: skip


def expansion_row() -> Row:
    """Losses of 1000 candidates against expansions of 50 and of 500 sequences."""
    rng = np.random.RandomState(0)
    kernel, times = SequenceKernel(STOP), {}
    candidates = _words(rng, 1000, 20, 20)
    for n in (50, 500):
        index = NgramIndex(kernel, _words(rng, n, 20, 30))
        target = index.target(rng.dirichlet(np.ones(n)), 1.0)
        corpus = index.alphabet.encode(candidates)
        padded = corpus.padded()
        target.inner(padded, corpus.lengths)
        times[n] = min(
            seconds(lambda t=target, p=padded, c=corpus: t.inner(p, c.lengths)) for _ in range(5)
        )  # type: ignore[misc]
    return Row("expansion of 500 sequences", "1000 candidates", 1, 1e3 * times[500], 1e3 * times[50], 2.0,
               peer="expansion of 50", note="independent of their number")  # fmt: skip


# -- search -----------------------------------------------------------------------------------


def share_row(
    question: str, shape: str, share: float, bound: float, took: float, note: str = ""
) -> Row:
    """A share of trials as a row: the bound over the share must be at most one."""
    ratio = bound / max(share, 1e-9)
    return Row(question, shape, 1, 1e3 * took * ratio, 1e3 * took, 1.0 if bound else np.inf,
               peer=f"found {100 * share:.0f} %", note=note)  # fmt: skip


def exact_sequences(trials: int, method: str, bound: float) -> Row:
    found, begin = 0, time.perf_counter()
    for trial in range(trials):
        rng = np.random.RandomState(trial)
        points = _words(rng, 30, 20, 20)
        kernel = SequenceKernel(STOP)
        embedding = KernelMap(kernel=kernel, center=False).fit(points)
        search = SequenceSearch(method, random_state=trial)
        search.fit(points[1:], embedding.transform(points[1:]), embedding)
        sizes = None if method == "auto" else [[20]]
        (answer,) = search.inverse_expansion(np.eye(30)[:1], sizes=sizes)
        found += answer == points[0]
    took = (time.perf_counter() - begin) / trials
    return share_row(
        f"exact sequences, {method}", "length 20, 5 symbols", found / trials, bound, took
    )


def exact_graphs(m: int, trials: int, method: str, bound: float) -> Row:
    found, begin = 0, time.perf_counter()
    for trial in range(trials):
        found += graph_is_found(m, method, trial)
    took = (time.perf_counter() - begin) / trials
    return share_row(f"exact graphs, {method}", f"{m} nodes, 3 labels", found / trials, bound, took)


def automata_rows(
    repeats: int, n_components: int | None, methods: dict[str, float], **budget: int
) -> list[Row]:
    """Loss over that of the nearest other sequence, mean over eleven places between two sequences."""
    found = [automata_losses(r, n_components, tuple(methods), **budget) for r in range(repeats)]
    rows = []
    stated = "".join(f", {name} {value}" for name, value in budget.items())
    for method, bound in methods.items():
        mean = np.mean([one[method].ratios for one in found], axis=0)
        took = np.mean([one[method].seconds for one in found])
        rows.append(
            Row(f"two automata, {method}", f"{n_components or 'all'} axes{stated}", 1,
                1e3 * took * mean.mean(), 1e3 * took, bound,
                peer=f"mean loss {mean.mean():.2f} of the nearest's",
                note="at 0, 0.1 .. 1: " + " ".join(f"{v:.2f}" for v in mean))
        )  # fmt: skip
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", default="speed,search")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--no-record", action="store_true")
    options = parser.parse_args()
    rows: list[Row] = []

    def show(more: list[Row]) -> None:
        for row in more:
            print_row(row)
        rows.extend(more)

    print_header()
    with threadpool_limits(1):
        if "speed" in options.only:
            show(mutag_rows(options.repeats))
            show([growth_row()])
            show(sequence_rows())
            show([expansion_row()])
        if "search" in options.only:
            show([exact_sequences(50, "auto", 0.95)])
            show(
                [exact_sequences(12, method, 0.0) for method in ("beam", "local", "cross_entropy")]
            )
            show([exact_graphs(10, 20, "auto", 0.95), exact_graphs(10, 20, "cross_entropy", 0.0)])
            show(automata_rows(3, 150, {"auto": 0.6, "beam": np.inf}))
            show([exact_graphs(15, 20, "auto", 0.6), exact_graphs(15, 5, "cross_entropy", 0.0)])
            show(automata_rows(3, 10, {"auto": np.inf}))
            # A fifth of the default's budget.
            show(automata_rows(1, 150, {"cross_entropy": np.inf},
                               n_samples=100, max_void=8))  # fmt: skip
    print_summary(rows)
    if not options.no_record:
        record(rows)


if __name__ == "__main__":
    main()
