"""Assignment and shortest-path kernels: worked examples, brute force, a peer, laws, real molecules."""

import itertools
import os
import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linear_sum_assignment, linprog
from sklearn.base import clone
from sklearn.svm import SVC

from isthmus.datasets import load_graphs
from isthmus.features import KernelMap
from isthmus.kernels import (
    Cycles,
    Gaussian,
    Graph,
    ShortestPath,
    WeisfeilerLehman,
    WeisfeilerLehmanAssignment,
    WeisfeilerLehmanWasserstein,
    gram,
)
from isthmus.kernels.graphs.weisfeiler_lehman import colour_rounds
from isthmus.kernels.report import check_kernel
from isthmus.persistence import load, save

TRIANGLE = ([0, 0, 1], [(0, 1), (1, 2), (0, 2)])
PATH = ([0, 1, 0], [(0, 1), (1, 2)])
KERNELS = [
    WeisfeilerLehman(2),
    WeisfeilerLehmanAssignment(2),
    WeisfeilerLehmanAssignment(2, normalise=True),
    ShortestPath(),
    ShortestPath(normalise=True),
    WeisfeilerLehmanWasserstein(2),
    Cycles(5),
]


def random_graph(rng, directed=False, low=1, high=9, loops=True):
    """Two labels of nodes and of edges; parts that are not connected, and loops, occur."""
    n = int(rng.integers(low, high))
    edges = {}
    for _ in range(int(rng.integers(0, 2 * n))):
        i, j = (int(x) for x in rng.integers(0, n, 2))
        if i != j or loops:
            edges[(i, j) if directed else (min(i, j), max(i, j))] = int(rng.integers(2))
    labels = tuple(int(x) for x in rng.integers(0, 2, n))
    return Graph(labels, tuple(edges), tuple(edges.values()), directed)


@pytest.fixture
def graphs():
    rng = np.random.default_rng(0)
    return [random_graph(rng, directed=i % 3 == 0) for i in range(30)]


# -- the values -------------------------------------------------------------------------------


def best_assignment(g, h, n_iter):
    """The largest sum of rounds in which assigned nodes agree, by the Hungarian method."""
    alike = np.zeros((g.n_nodes, h.n_nodes))
    for colours in colour_rounds([g, h], n_iter):
        alike += np.equal.outer(colours[: g.n_nodes], colours[g.n_nodes :])
    return alike[linear_sum_assignment(alike, maximize=True)].sum()


@pytest.mark.parametrize("n_iter", [0, 1, 3])
def test_assignments_by_the_hungarian_method(graphs, n_iter):
    K = WeisfeilerLehmanAssignment(n_iter)(graphs)
    assert_array_equal(K, [[best_assignment(g, h, n_iter) for h in graphs] for g in graphs])


def test_assignments_by_hand():
    # As they are all three nodes agree; after a round only 1 with neighbours {0, 0}.
    K = WeisfeilerLehmanAssignment(1)([PATH, TRIANGLE])
    assert_array_equal(K, [[6, 4], [4, 6]])


def test_assignments_are_intersections_of_counts(graphs):
    counts = WeisfeilerLehman(2).features(graphs).toarray()
    smaller = np.minimum(counts[:, None], counts[None]).sum(axis=2)
    assert_array_equal(WeisfeilerLehmanAssignment(2)(graphs), smaller)


def moved_mass(g, h, n_iter):
    """The Wasserstein distance of the nodes as a linear programme."""
    apart = np.zeros((g.n_nodes, h.n_nodes))
    for colours in colour_rounds([g, h], n_iter):
        apart += np.not_equal.outer(colours[: g.n_nodes], colours[g.n_nodes :]) / (n_iter + 1)
    from_each = np.kron(np.eye(g.n_nodes), np.ones(h.n_nodes))
    to_each = np.kron(np.ones(g.n_nodes), np.eye(h.n_nodes))
    masses = np.r_[np.full(g.n_nodes, 1 / g.n_nodes), np.full(h.n_nodes, 1 / h.n_nodes)]
    return linprog(apart.ravel(), A_eq=np.vstack([from_each, to_each]), b_eq=masses).fun


@pytest.mark.parametrize("n_iter", [0, 2])
def test_wasserstein_distances_are_those_of_optimal_transport(graphs, n_iter):
    some = graphs[:8]
    kernel = WeisfeilerLehmanWasserstein(n_iter)
    W = np.array([[moved_mass(g, h, n_iter) for h in some] for g in some])
    assert_allclose(kernel(some), 1 - W, atol=1e-9)
    assert_allclose(kernel(some[:3], some), 1 - W[:3], atol=1e-9)
    assert_allclose(Gaussian(kernel, 0.7)(some), np.exp(-1.4 * W), atol=1e-9)  # the paper's, of 1.4


def listed_cycles(graph, most):
    """Every ordered choice of distinct nodes that closes, each cycle named by its smallest word."""
    marks = {}
    for (i, j), mark in zip(graph.edges, graph.edge_labels):
        marks[i, j] = mark
        if not graph.directed:
            marks[j, i] = mark
    seen, found = set(), []
    for length in range(3, most + 1):
        for nodes in itertools.permutations(range(graph.n_nodes), length):
            steps = list(zip(nodes, nodes[1:] + nodes[:1]))
            if not all(step in marks for step in steps):
                continue
            key = frozenset(steps if graph.directed else map(frozenset, steps))
            if key in seen:
                continue
            seen.add(key)
            ways = [nodes] if graph.directed else [nodes, nodes[::-1]]
            turned = [way[k:] + way[:k] for way in ways for k in range(length)]
            words = [
                tuple(x for i, j in zip(w, w[1:] + w[:1]) for x in (graph.labels[i], marks[i, j]))
                for w in turned
            ]
            found.append((graph.directed, min(words)))
    return found


def test_cycles_by_listing_them_all():
    rng = np.random.default_rng(5)
    graphs = []
    for number in range(16):
        n, directed = int(rng.integers(3, 7)), number % 3 == 0
        pairs = (
            itertools.permutations(range(n), 2) if directed else itertools.combinations(range(n), 2)
        )
        edges = tuple(pair for pair in pairs if rng.uniform() < 0.6)
        marks = tuple(int(x) for x in rng.integers(0, 2, len(edges)))
        graphs.append(Graph(tuple(int(x) for x in rng.integers(0, 2, n)), edges, marks, directed))
    listed = [listed_cycles(graph, 5) for graph in graphs]
    assert sum(map(len, listed)) > 60
    expected = [[sum(a == b for a in g for b in h) for h in listed] for g in listed]
    assert_array_equal(Cycles(5)(graphs), expected)


def test_cycles_tell_one_ring_from_two():
    ring = ([0] * 6, [(i, (i + 1) % 6) for i in range(6)])
    rings = ([0] * 6, [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)])
    K = WeisfeilerLehman(3)([ring, rings])
    assert K[0, 0] == K[0, 1] == K[1, 1]
    assert_array_equal(Cycles()([ring, rings]), [[1, 0], [0, 4]])
    with pytest.raises(ValueError, match="max_length == 2"):
        Cycles(2)([ring])


def walked_paths(graph):
    """Labels of the ends and length of every shortest path, by relaxation (Floyd and Warshall)."""
    n = graph.n_nodes
    distance = np.full((n, n), np.inf)
    for i, j in graph.edges:
        distance[i, j] = 1
        if not graph.directed:
            distance[j, i] = 1
    for k in range(n):
        distance = np.minimum(distance, distance[:, [k]] + distance[k])
    return [
        (graph.labels[i], graph.labels[j], distance[i, j])
        for i in range(n)
        for j in range(n)
        if i != j and distance[i, j] < np.inf
    ]


def test_shortest_paths_pair_by_pair(graphs):
    paths = [walked_paths(graph) for graph in graphs]
    expected = [[sum(a == b for a in g for b in h) for h in paths] for g in paths]
    assert_array_equal(ShortestPath()(graphs), expected)


def test_shortest_paths_by_hand():
    # Ordered pairs: triangle 0-0 (2), 0-1 (2), 1-0 (2), all of length 1; path 0-1 (2), 1-0 (2) of
    # length 1 and 0-0 (2) of length 2.
    assert_array_equal(ShortestPath()([TRIANGLE, PATH]), [[12, 8], [8, 12]])
    lone = ([0], [])
    assert_array_equal(ShortestPath(normalise=True)([lone, PATH]), [[0, 0], [0, 1]])
    assert_array_equal(ShortestPath()([lone]), [[0]])


def test_values_agree_with_a_peer():
    grakel = pytest.importorskip("grakel")
    rng = np.random.default_rng(1)
    graphs = [random_graph(rng, low=3, loops=False) for _ in range(60)]
    # the peer knows only nodes that have edges
    graphs = [g for g in graphs if {n for e in g.edges for n in e} == set(range(g.n_nodes))]
    assert len(graphs) > 15
    peers = [
        grakel.Graph(
            {pair: 1 for i, j in g.edges for pair in ((i, j), (j, i))},
            node_labels=dict(enumerate(g.labels)),
        )
        for g in graphs
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assigned = grakel.WeisfeilerLehmanOptimalAssignment(n_iter=3).fit_transform(peers)
        paths = grakel.ShortestPath(with_labels=True).fit_transform(peers)
    assert_array_equal(WeisfeilerLehmanAssignment(3, edge_labels=False)(graphs), assigned)
    assert_array_equal(ShortestPath()(graphs), paths)


# -- laws -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_laws(kernel, graphs):
    K = kernel(graphs)
    assert_array_equal(K, K.T)
    assert_allclose(kernel.diag(graphs), K.diagonal(), rtol=1e-15)
    assert_allclose(kernel(graphs[:4], graphs), K[:4], rtol=1e-14)
    assert_allclose(gram(kernel, graphs, block_bytes=800), K, rtol=1e-14)
    assert np.linalg.eigvalsh(K)[0] > -1e-12 * np.trace(K)
    value, slopes = kernel(graphs, eval_gradient=True)
    assert_array_equal(value, K)
    assert slopes.shape == (30, 30, 0)
    assert clone(kernel) == kernel
    assert_array_equal(pickle.loads(pickle.dumps(kernel))(graphs), K)
    report = check_kernel(kernel, graphs)
    assert report.symmetric and report.psd and report.finite
    if not kernel.normalise and hasattr(kernel, "features"):
        F = kernel.features(graphs).toarray()
        assert_allclose(F @ F.T, K)
    else:
        assert set(K.diagonal()) <= {0.0, 1.0}


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_the_numbers_of_nodes_do_not_matter(kernel, graphs):
    rng = np.random.default_rng(2)
    renamed = []
    for g in graphs:
        order = rng.permutation(g.n_nodes)  # node i becomes order[i]
        labels = tuple(g.labels[i] for i in np.argsort(order))
        edges = tuple((int(order[i]), int(order[j])) for i, j in g.edges)
        renamed.append(Graph(labels, edges, g.edge_labels, g.directed))
    assert_allclose(kernel(graphs, renamed), kernel(graphs, graphs), rtol=1e-14)


@pytest.mark.parametrize("kernel", KERNELS[1::2], ids=repr)
def test_networkx_graphs_and_their_attributes(kernel):
    pytest.importorskip("networkx")
    graphs = [Graph((0, 0, 1), ((0, 1), (1, 2), (0, 2))), Graph((0, 1, 0), ((0, 1), (1, 2)))]
    theirs = [graph.to_networkx() for graph in graphs]
    assert_array_equal(kernel(theirs), kernel([TRIANGLE, PATH]))
    for graph in theirs:
        for node in graph:
            graph.nodes[node]["atom"] = graph.nodes[node].pop("label")
    assert_array_equal(
        clone(kernel).set_params(node_label="atom")(theirs), kernel([TRIANGLE, PATH])
    )


@pytest.mark.parametrize("kernel", KERNELS[1:4], ids=repr)
def test_estimators_and_files(kernel, graphs, tmp_path):
    model = KernelMap(kernel=kernel, center=False).fit(graphs)
    scores = model.transform(graphs)
    assert_allclose(scores @ scores.T, kernel(graphs), atol=1e-6 * kernel(graphs).max())
    save(model, tmp_path / "map.isthmus")
    assert_allclose(load(tmp_path / "map.isthmus").transform(graphs), scores)
    y = [graph.n_nodes > 4 for graph in graphs]
    assert SVC(kernel=kernel, C=100).fit(graphs, y).score(graphs, y) > 0.8


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="n_iter == -1"):
        WeisfeilerLehmanAssignment(-1)([PATH])
    with pytest.raises(ValueError, match=r"X\[1\] is an empty graph"):
        ShortestPath()([PATH, ([], [])])


@pytest.mark.skipif(
    not os.environ.get("ISTHMUS_DATA"), reason="ISTHMUS_DATA names no directory with the real data"
)
@pytest.mark.parametrize(
    "kernel", [WeisfeilerLehmanAssignment(), WeisfeilerLehmanWasserstein(), Cycles()], ids=repr
)
def test_positive_semidefinite_on_mutag(kernel):
    K = kernel(load_graphs("mutag").data)
    assert np.linalg.eigvalsh(K)[0] > -1e-12 * np.trace(K)
