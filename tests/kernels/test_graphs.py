"""Oracles: the numbers of the specification, paths enumerated, linear systems, a peer, differences."""

import os
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.svm import SVC

from isthmus.datasets import load_graphs
from isthmus.features import KernelMap, Landmarks
from isthmus.kernels import Graph, GraphKernel, WeisfeilerLehman, as_graph
from isthmus.kernels.graphs.product import Transitions
from isthmus.kernels.report import check_kernel

TRIANGLE = ([0, 0, 1], [(0, 1), (1, 2), (0, 2)])
PATH = ([0, 1, 0], [(0, 1), (1, 2)])
real_data = pytest.mark.skipif(
    not os.environ.get("ISTHMUS_DATA"), reason="ISTHMUS_DATA names no directory with the real data"
)


def random_graph(rng, directed=False, marked=True, low=1, high=6, loops=True):
    n = int(rng.integers(low, high))
    edges = {}
    for _ in range(int(rng.integers(0, 2 * n))):
        i, j = int(rng.integers(n)), int(rng.integers(n))
        if i != j or loops:
            key = (i, j) if directed else (min(i, j), max(i, j))
            edges[key] = int(rng.integers(2))
    labels = tuple(int(x) for x in rng.integers(0, 2, n))
    return Graph(labels, tuple(edges), tuple(edges.values()) if marked else None, directed)


def transitions(graph, stop, proper):
    """``P_e`` by edge label, and the stopping probabilities."""
    n = graph.n_nodes
    marks = graph.edge_labels or (None,) * len(graph.edges)
    steps = []
    for (i, j), mark in zip(graph.edges, marks):
        steps.append((i, j, mark))
        if i != j and not graph.directed:
            steps.append((j, i, mark))
    degree = np.bincount([i for i, _, _ in steps], minlength=n)
    P = {}
    for i, j, mark in steps:
        P.setdefault(mark, np.zeros((n, n)))[i, j] += (1 - stop) / degree[i]
    return P, np.where((degree == 0) & proper, 1.0, stop)


def linear_system(g, h, stop, proper=False):
    (P, q), (P2, q2) = transitions(g, stop, proper), transitions(h, stop, proper)
    M = np.array([[a == b for b in h.labels] for a in g.labels], dtype=float)
    T = sum((np.kron(P[e], P2[e]) for e in P if e in P2), np.zeros((M.size, M.size)))
    R = np.linalg.solve(np.eye(M.size) - M.ravel()[:, None] * T, (M * np.outer(q, q2)).ravel())
    return R.mean()


def spelled_paths(graph, stop, proper, longest):
    """Codes and weights of the words of all paths of up to ``longest`` nodes, every path walked."""
    P, q = transitions(graph, stop, proper)
    labels = np.array(graph.labels)
    steps = [(i, j, mark, p[i, j]) for mark, p in P.items() for i, j in np.argwhere(p)]
    steps.sort(key=lambda step: step[0])
    first = np.searchsorted([i for i, _, _, _ in steps], np.arange(graph.n_nodes + 1))
    to = np.array([j for _, j, _, _ in steps], dtype=int)
    # A step is spelled by the label of its edge (none, 0, 1) and that of its node (0, 1).
    letter = np.array([3 + 2 * (-1 if m is None else m) + labels[j] for _, j, m, _ in steps])
    chance = np.array([p for _, _, _, p in steps])
    node, word = np.arange(graph.n_nodes), 1 + labels
    weight = np.full(graph.n_nodes, 1 / graph.n_nodes)
    words, weights = [], []
    for _ in range(longest):
        words.append(word)
        weights.append(weight * q[node])
        if not steps:
            break
        ways = first[node + 1] - first[node]
        taken = np.repeat(first[node], ways) + np.arange(ways.sum())
        taken -= np.repeat(np.cumsum(ways) - ways, ways)
        word = 8 * np.repeat(word, ways) + letter[taken]
        weight = np.repeat(weight, ways) * chance[taken]
        node = to[taken]
    unique, inverse = np.unique(np.concatenate(words), return_inverse=True)
    return unique, np.bincount(inverse, np.concatenate(weights))


def same_words(a, b):
    """Sum over the words that two graphs spell of the products of their weights."""
    _, i, j = np.intersect1d(a[0], b[0], assume_unique=True, return_indices=True)
    return float(a[1][i] @ b[1][j])


@pytest.mark.parametrize(
    ("stop", "values"),
    [
        (0.1, (0.0122859670, 0.0112562541, 0.0292397661)),
        (0.5, (0.1648745520, 0.1638418079, 0.1851851852)),
    ],
)
def test_worked_example(stop, values):
    K = GraphKernel(stop)([TRIANGLE, PATH])
    assert_allclose([K[0, 1], K[0, 0], K[1, 1]], values, atol=5e-11)


def test_worked_example_with_edge_labels():
    g = ([0, 1, 0, 0], [(0, 1), (0, 2), (1, 2), (2, 3)], [1, 2, 1, 1])
    h = ([0, 1, 0], [(0, 1), (1, 2)], [1, 2])
    assert_allclose(GraphKernel(0.5)([g], [h])[0, 0], 0.1536939314, atol=5e-11)
    assert_allclose(GraphKernel(0.5, edge_labels=False)([g], [h])[0, 0], 0.1628787879, atol=5e-11)


@pytest.mark.parametrize("termination", ["constant", "proper"])
@pytest.mark.parametrize("stop", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("directed", [False, True])
def test_linear_system_on_many_random_graphs(directed, stop, termination):
    # 12 settings of 84 graphs: a thousand in all, against each other in chains.
    rng = np.random.default_rng([int(100 * stop), directed, termination == "proper"])
    graphs = [random_graph(rng, directed, marked=i % 4 > 0) for i in range(84)]
    kernel = GraphKernel(stop, termination=termination, max_iter=20000)
    K = kernel(graphs)
    for i in range(84):
        for j in (i, (i + 1) % 84, (i + 7) % 84):
            expected = linear_system(graphs[i], graphs[j], stop, termination == "proper")
            assert_allclose(K[i, j], expected, rtol=1e-8, atol=1e-14)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("termination", ["constant", "proper"])
def test_enumerated_paths_of_a_thousand_graphs(termination, directed):
    """Four settings of 250 graphs with labels of nodes and edges: each with itself and the next.

    Paths of l steps have mass (1 - stop)^l at most in either graph and end with probability 1 (constant
    termination: stop) at most: all from L steps on add (1 - stop)^(2 L) / (1 - (1 - stop)^2) at most.
    """
    rng = np.random.default_rng([5, directed, termination == "proper"])
    graphs = [random_graph(rng, directed, marked=i % 5 > 0, high=5) for i in range(250)]
    stop, longest, proper = 0.7, 8, termination == "proper"
    words = [spelled_paths(g, stop, proper, longest) for g in graphs]
    left_out = (1 - stop) ** (2 * longest) / (1 - (1 - stop) ** 2)
    left_out *= 1.0 if proper else stop**2
    assert left_out < 5e-9
    K = GraphKernel(stop, termination=termination)(graphs)
    for i in range(250):
        for j in (i, (i + 1) % 250):
            enumerated = same_words(words[i], words[j])
            assert_allclose(K[i, j], linear_system(graphs[i], graphs[j], stop, proper), rtol=1e-9)
            assert -1e-12 <= K[i, j] - enumerated <= left_out + 1e-12
    mass = np.array([weights.sum() for _, weights in words])
    assert (mass <= 1 + 1e-12).all()
    if proper:
        assert (mass >= 1 - (1 - stop) ** longest - 1e-12).all()


@pytest.mark.parametrize("on_pairs", [True, False], ids=["pairs", "matrix"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("stop", [0.02, 0.3])
def test_product_graphs_and_whole_matrices(on_pairs, directed, stop, monkeypatch):
    """Both roads, whichever the rule takes: values of linear systems, slopes of differences."""
    monkeypatch.setattr(Transitions, "is_worth_it", lambda *places: on_pairs)
    rng = np.random.default_rng(7)
    graphs = [random_graph(rng, directed) for _ in range(12)]
    graphs.insert(4, Graph((7, 7), ((0, 1),), (0,), directed))  # has no pair with any other
    kernel = GraphKernel(stop, termination="proper", tol=1e-13)
    K, slope = kernel(graphs, eval_gradient=True)
    direct = [[linear_system(g, h, stop, True) for h in graphs] for g in graphs]
    assert_allclose(K, direct, rtol=1e-9, atol=1e-15)
    assert (K[4, [*range(4), *range(5, 13)]] == 0).all()
    up, down = (
        GraphKernel(stop * f, termination="proper", tol=1e-13)(graphs) for f in (1.001, 0.999)
    )
    assert_allclose(slope[:, :, 0], (up - down) / np.log(1.001 / 0.999), rtol=1e-4, atol=1e-9)
    assert_allclose(kernel(graphs[:4], [graphs[4]]), np.zeros((4, 1)))


def test_the_order_of_the_nodes_of_large_graphs(monkeypatch):
    """Product graphs take the nodes of large graphs in an order of their own."""
    rng = np.random.default_rng(0)
    graphs = []
    for n in (90, 70, 9):
        edges = {(int(rng.integers(i)), i): int(rng.integers(2)) for i in range(1, n)}
        labels = tuple(int(x) for x in rng.integers(0, 3, n))
        graphs.append(Graph(labels, tuple(edges), tuple(edges.values())))
    found = []
    for on_pairs in (True, False):
        monkeypatch.setattr(Transitions, "is_worth_it", lambda *places, road=on_pairs: road)
        found += [GraphKernel(0.1)(graphs), GraphKernel(0.1)(graphs, graphs[:1])]
    assert_allclose(found[0], found[2], rtol=1e-12)
    assert_allclose(found[1], found[0][:, :1], rtol=1e-12)
    assert_allclose(found[3], found[1], rtol=1e-12)
    assert_allclose(found[0][0, 2], linear_system(graphs[0], graphs[2], 0.1), rtol=1e-9)


def test_directed_graphs_take_the_plain_iteration():
    ring = Graph((0, 1, 0, 1), ((0, 1), (1, 2), (2, 3), (3, 0)), None, True)
    K = GraphKernel(0.1)([ring])
    assert_allclose(K[0, 0], linear_system(ring, ring, 0.1), rtol=1e-9)


def test_rectangles_diagonal_and_order():
    rng = np.random.default_rng(1)
    graphs = [random_graph(rng, i % 3 == 0) for i in range(20)]
    kernel = GraphKernel(0.2)
    K = kernel(graphs)
    assert np.array_equal(K, K.T)
    assert_allclose(kernel(graphs[:4], graphs), K[:4], rtol=1e-9)
    assert_allclose(kernel(graphs, graphs[:4]), K[:, :4], rtol=1e-9)
    assert_allclose(kernel.diag(graphs), K.diagonal(), rtol=1e-9)
    order = rng.permutation(20)
    assert_allclose(kernel([graphs[i] for i in order]), K[np.ix_(order, order)], rtol=1e-9)


def test_graphs_that_are_one_point():
    double = (TRIANGLE[0] * 2, TRIANGLE[1] + [(i + 3, j + 3) for i, j in TRIANGLE[1]])
    ring = ([0] * 6, [(i, (i + 1) % 6) for i in range(6)])
    triangles = ([0] * 6, [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)])
    K = GraphKernel(0.1)([TRIANGLE, double])
    assert_allclose(K, K[0, 0], rtol=1e-9)
    K = GraphKernel(0.1)([ring, triangles])
    assert_allclose(K, K[0, 0], rtol=1e-9)
    assert_allclose(WeisfeilerLehman(3, normalise=True)([ring, triangles]), 1.0)


def test_one_label_in_closed_form():
    rng = np.random.default_rng(2)
    pair = []
    for n in (4, 5):
        A = np.triu(rng.random((n, n)) < 0.7, 1) + np.eye(n, k=1) > 0
        pair.append((A | A.T).astype(float))
    stop, total = 0.2, 0.0
    parts = []
    for A in pair:  # P = D^-1/2 S D^1/2, S symmetric
        d = A.sum(axis=1)
        mu, U = np.linalg.eigh(A / np.sqrt(np.outer(d, d)))
        left = U.T @ (np.full(len(A), 1 / len(A)) / np.sqrt(d))
        parts.append((mu, left * (U.T @ (stop * np.sqrt(d)))))
    (mu, c), (mu2, c2) = parts
    total = (np.outer(c, c2) / (1 - (1 - stop) ** 2 * np.outer(mu, mu2))).sum()
    assert_allclose(GraphKernel(stop)([pair[0]], [pair[1]])[0, 0], total, rtol=1e-9)


def test_isolated_nodes_stop_and_lone_labels():
    lone, pair = ([0], []), ([0, 0], [])
    for termination, q in (("constant", 0.1), ("proper", 1.0)):
        K = GraphKernel(0.1, termination=termination)([lone, pair])
        assert_allclose(K, q**2)
    assert GraphKernel()([([7], [])], [TRIANGLE])[0, 0] == 0.0  # an unseen label: no error


def test_stop_one_counts_labels():
    K = GraphKernel(1.0)([TRIANGLE, PATH])
    assert_allclose(K, [[5 / 9, 5 / 9], [5 / 9, 5 / 9]])


def test_soft_labels():
    rng = np.random.default_rng(3)
    graphs = [random_graph(rng) for _ in range(12)]
    hard = GraphKernel(0.2)(graphs)
    same = GraphKernel(
        0.2, label_kernel=lambda a, b: float(a == b), edge_label_kernel=lambda a, b: float(a == b)
    )
    assert_allclose(same(graphs), hard, rtol=1e-9)
    blind = GraphKernel(0.2, edge_label_kernel=lambda a, b: 1.0)
    assert_allclose(blind(graphs), GraphKernel(0.2, edge_labels=False)(graphs), rtol=1e-8)
    for stop in (0.02, 0.2):  # both iterations
        soft = GraphKernel(stop, label_kernel=lambda a, b: 1.0 if a == b else 0.5)(graphs)
        assert (soft >= GraphKernel(stop)(graphs) - 1e-12).all()
        assert np.linalg.eigvalsh(soft)[0] > -1e-10 * np.trace(soft)


@pytest.mark.parametrize("normalise", [False, True])
@pytest.mark.parametrize("termination", ["constant", "proper"])
def test_derivative_with_respect_to_stop(termination, normalise):
    rng = np.random.default_rng(4)
    graphs = [random_graph(rng) for _ in range(10)]
    kernel = GraphKernel(0.2, termination=termination, normalise=normalise, tol=1e-13)
    _, slope = kernel(graphs, eval_gradient=True)
    step = 1e-5
    up, down = (kernel.clone_with_theta(kernel.theta + s)(graphs) for s in (step, -step))
    assert_allclose(slope[:, :, 0], (up - down) / (2 * step), atol=1e-8)


# -- what a graph may be ----------------------------------------------------------------------


def test_all_forms_are_one_graph():
    networkx = pytest.importorskip("networkx")
    A = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    nx = networkx.Graph()
    for node, label in zip("xyz", TRIANGLE[0]):
        nx.add_node(node, label=label)
    nx.add_edges_from([("x", "y"), ("y", "z"), ("x", "z")])
    forms = [
        TRIANGLE,
        (TRIANGLE[0], [(1, 0), (0, 1), (1, 2), (2, 0)]),  # named twice, in both directions
        (TRIANGLE[0], A),
        (np.array(TRIANGLE[0]), sparse.csr_matrix(A)),
        nx,
        as_graph(TRIANGLE),
        as_graph(as_graph(TRIANGLE).to_networkx()),
    ]
    assert_allclose(GraphKernel(0.5)(forms), 0.1638418079, atol=5e-11)
    assert as_graph(np.array([[0, 1], [0, 0]])).directed
    assert as_graph(nx.to_directed()).directed


def test_weights_count_as_parallel_edges_do():
    weighted = np.array([[0, 2.0, 1.0], [2.0, 0, 0], [1.0, 0, 0]])
    K = GraphKernel(0.3)([(PATH[0], weighted)])
    P, q = 0.7 * weighted / weighted.sum(1, keepdims=True), np.full(3, 0.3)
    M = np.equal.outer(PATH[0], PATH[0]).astype(float)
    R = np.linalg.solve(
        np.eye(9) - M.ravel()[:, None] * np.kron(P, P), (M * np.outer(q, q)).ravel()
    )
    assert_allclose(K[0, 0], R.mean(), rtol=1e-9)


def test_molecules():
    chem = pytest.importorskip("rdkit.Chem")
    ethanol = as_graph(chem.MolFromSmiles("CCO"))
    assert ethanol == Graph(("C", "C", "O"), ((0, 1), (1, 2)), ("SINGLE", "SINGLE"))


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (([], []), r"X\[1\] is an empty graph"),
        (([0, 0], [(0, 2)]), r"X\[1\]: edge \(0, 2\)"),
        (np.array([[0, -1.0], [-1.0, 0]]), "must be a finite number >= 0"),
        (np.array([[0, np.nan], [1, 0]]), "must be a finite number >= 0"),
        (([0, 0, 0], [(0, 1)], [1, 2]), "1 edges, but 2 edge_labels"),
        (([0, 0], np.zeros((3, 3)).tolist()), "edge|unpack"),
        ("abc", "is not a graph"),
    ],
)
def test_bad_graphs_are_named(item, message):
    with pytest.raises(ValueError, match=message):
        GraphKernel()([TRIANGLE, item])


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (GraphKernel(0), "stop == 0"),
        (GraphKernel(tol=0), "tol == 0"),
        (GraphKernel(max_iter=0), "max_iter == 0"),
        (GraphKernel(termination="x"), "termination == 'x'"),
        (WeisfeilerLehman(-1), "n_iter == -1"),
    ],
)
def test_bad_parameters_are_named(kernel, message):
    with pytest.raises(ValueError, match=message):
        kernel([TRIANGLE])


def test_no_convergence_is_said():
    with pytest.warns(ConvergenceWarning, match="did not converge in 3 steps"):
        GraphKernel(0.01, max_iter=3)([TRIANGLE, PATH])
    report = check_kernel(GraphKernel(0.01, max_iter=3), [TRIANGLE, PATH])
    assert not report.converged and any("max_iter" in line for line in report.advice)


# -- Weisfeiler and Lehman --------------------------------------------------------------------


def test_refinement_by_hand():
    # Path 0-1-0 and triangle 0 0 1. Round 0: (2, 1), (2, 1). Round 1: ends see {1}, the middle
    # {0, 0}; in the triangle the two 0 see {0, 1} and the 1 sees {0, 0}: one label in common.
    K = WeisfeilerLehman(1)([PATH, TRIANGLE])
    assert_allclose(K, [[5 + 5, 5 + 1], [5 + 1, 5 + 5]])
    assert_allclose(WeisfeilerLehman(0)([PATH, TRIANGLE]), 5)


def test_refinement_agrees_with_a_peer():
    grakel = pytest.importorskip("grakel")
    rng = np.random.default_rng(6)
    graphs = [random_graph(rng, marked=False, low=3, high=9, loops=False) for _ in range(25)]
    graphs = [g for g in graphs if g.edges]
    peers = []
    for g in graphs:
        edges = {pair: 1 for i, j in g.edges for pair in ((i, j), (j, i))}
        for node in range(g.n_nodes):
            edges.setdefault((node, node), 0)
        peers.append(grakel.Graph(edges, node_labels=dict(enumerate(g.labels))))
    joined = [g.n_nodes == len({n for e in g.edges for n in e}) for g in graphs]
    graphs = [g for g, ok in zip(graphs, joined) if ok]
    peers = [
        grakel.Graph(
            {pair: 1 for i, j in g.edges for pair in ((i, j), (j, i))},
            node_labels=dict(enumerate(g.labels)),
        )
        for g in graphs
    ]
    peer = grakel.WeisfeilerLehman(n_iter=3, base_graph_kernel=grakel.VertexHistogram)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = peer.fit_transform(peers)
    assert_allclose(WeisfeilerLehman(3)(graphs), expected)


# -- in estimators, and on real data ----------------------------------------------------------


def test_estimators_take_graphs():
    rng = np.random.default_rng(7)
    graphs = [random_graph(rng, low=3, high=8) for _ in range(40)]
    y = np.array([sum(g.labels) / g.n_nodes for g in graphs])
    kernel = GraphKernel(0.3, normalise=True)
    X = np.empty(40, dtype=object)
    X[:] = graphs
    process = GaussianProcessRegressor(kernel, alpha=1e-4, normalize_y=True).fit(X, y)
    assert process.score(X, y) > 0.9
    assert SVC(kernel=kernel, C=100).fit(graphs, y > 0.5).score(graphs, y > 0.5) > 0.9
    scores = KernelMap(kernel=kernel, center=False).fit(graphs).transform(graphs)
    assert_allclose(scores @ scores.T, kernel(graphs), atol=1e-7)
    F = Landmarks(40, kernel, random_state=0).fit(graphs).transform(graphs)
    assert_allclose(F @ F.T, kernel(graphs), atol=1e-6)


@real_data
def test_positive_semidefinite_on_mutag():
    graphs = load_graphs("mutag").data
    for kernel in (GraphKernel(0.1, edge_labels=False), GraphKernel(0.3), WeisfeilerLehman(3)):
        K = kernel(graphs)
        assert np.linalg.eigvalsh(K)[0] > -1e-12 * np.trace(K)
