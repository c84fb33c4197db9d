"""Oracles: the full loss from kernel values, exact images, moves counted by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge

from isthmus import DependencyRegressor
from isthmus.features import KernelMap
from isthmus.kernels import Graph, GraphKernel, WeisfeilerLehman
from isthmus.preimages import CandidateSearch, GraphSearch, Nearest
from isthmus.preimages import graph_moves as moves
from isthmus.preimages.graph_losses import GraphTarget, encode_graph


def random_graph(rng, m, n_labels=3, n_marks=1, extra=2):
    code = moves.random_code(m, m - 1 + extra, n_marks, rng)
    i, j = np.nonzero(np.triu(code))
    marks = None if n_marks == 1 else tuple(int(code[a, b]) for a, b in zip(i, j))
    labels = tuple(int(x) for x in rng.randint(n_labels, size=m))
    return Graph(labels, tuple(zip(i.tolist(), j.tolist())), marks)


def half(a, b):
    return 1.0 if a == b else 0.5


@pytest.fixture
def rng():
    return np.random.RandomState(0)


@pytest.mark.parametrize("n_marks", [1, 2])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"termination": "proper"},
        {"normalise": True},
        {"label_kernel": half},
        {"edge_label_kernel": half},
    ],
    ids=lambda options: next(iter(options), "plain"),
)
def test_batched_losses_are_the_direct_ones(options, n_marks, rng):
    kernel = GraphKernel(0.2, **options)
    points = [random_graph(rng, m, 2, n_marks) for m in (4, 5, 70, 5)]
    points.append(Graph((0, 1), ()))  # sinks
    coef = rng.normal(size=5)
    norm = float(coef @ kernel(points) @ coef)
    marks = [None] if n_marks == 1 else [1, 2]
    target = GraphTarget(kernel, points, coef, norm, [0, 1], marks)
    exact = GraphTarget(kernel, points, coef, norm, [0, 1], marks, tol=kernel.tol)
    candidates = [random_graph(rng, 5, 2, n_marks) for _ in range(6)]
    codes, labels = zip(*(encode_graph(g, True, [0, 1], marks) for g in candidates))
    found = exact.losses(np.array(codes), np.array(labels))
    expected = kernel.diag(candidates) - 2 * kernel(candidates, points) @ coef + norm
    assert_allclose(found, np.maximum(expected, 0), rtol=1e-7, atol=1e-9 * norm)
    rough = target.losses(np.array(codes), np.array(labels))
    assert_allclose(rough, found, atol=1e-4 * norm)
    alone = exact.losses(codes[0][None], labels[0])  # a batch of one
    assert_allclose(alone, found[:1], rtol=1e-7, atol=1e-9 * norm)
    again = [target.graph(code, label) for code, label in zip(codes, labels)]
    assert_allclose(kernel(again, candidates).diagonal(), kernel.diag(candidates), rtol=1e-9)


def test_moves_by_hand():
    path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    assert len(moves.flips(path, 1)) == 3
    assert len(moves.flips(path, 2)) == 6
    assert {code[0, 2] + 2 * code[0, 1] for code in moves.moved_ends(path)} == {1, 3}
    assert len(moves.swapped_labels(path, np.array([0, 1, 0]))) == 2
    assert len(moves.substitutions(np.array([0, 1, 0]), 3)) == 6
    square = np.zeros((4, 4), dtype=int)
    for i, j in ((0, 1), (2, 3)):
        square[i, j] = square[j, i] = 1
    for code in moves.crossed_pairs(square):
        assert (code.sum(axis=0) == square.sum(axis=0)).all() and (code != square).any()


def test_all_moves_keep_codes_symmetric(rng):
    code = moves.random_code(7, 9, 2, rng)
    labels = rng.randint(2, size=7)
    for batch in (
        moves.flips(code, 2),
        moves.moved_ends(code),
        moves.crossed_pairs(code),
        moves.swapped_labels(code, labels),
        np.array([moves.shaken(code, 3, 2, rng) for _ in range(20)]),
    ):
        assert (batch == batch.transpose(0, 2, 1)).all()
        assert (np.diagonal(batch, axis1=1, axis2=2) == 0).all()


def test_a_node_more_or_less(rng):
    code, labels = moves.random_code(7, 9, 2, rng), rng.randint(2, size=7)
    sizes = set()
    for _ in range(30):
        new, tags = moves.resized(code, labels, 2, rng)
        assert (new == new.T).all() and (np.diagonal(new) == 0).all() and len(new) == len(tags)
        if len(new) == 8:  # all that was there, and a node with one edge
            assert (new[:7, :7] == code).all() and (new[7] > 0).sum() == 1
        sizes.add(len(new))
    assert sizes == {6, 8}
    # The last two nodes are never taken away.
    assert len(moves.resized(code[:2, :2], labels[:2], 2, rng)[0]) == 3


def test_sizes_beside_the_mean_are_found():
    """A path and two copies of it are one point; the mean of their sizes is that of neither."""
    path = Graph((0, 1, 2), ((0, 1), (1, 2)))
    twice = Graph((0, 1, 2) * 2, ((0, 1), (1, 2), (3, 4), (4, 5)))
    other = Graph((0, 1, 2, 0), ((0, 1), (1, 2), (2, 3), (0, 3)))
    kernel = GraphKernel(0.2)
    embedding = KernelMap(kernel=kernel, center=False).fit([path, twice, other])
    search = GraphSearch("local", n_starts=1, random_state=0)
    search.fit([other], embedding.transform([other]), embedding)
    coef, norm = np.array([[0.5, 0.5, 0.0]]), kernel.diag([path])[0]
    found, loss = search.inverse_expansion(coef, return_loss=True)
    assert loss[0] < 1e-9 * norm and found[0].n_nodes in (3, 6)
    _, of_mean = search.inverse_expansion(coef, return_loss=True, sizes=[4])
    assert of_mean[0] > 1e-3 * norm


def test_few_points_stand_for_the_target(rng):
    kernel = GraphKernel(0.2)
    points = [random_graph(rng, 6) for _ in range(12)]
    embedding = KernelMap(kernel=kernel, center=False).fit(points)
    K, coef = kernel(points), rng.normal(size=12)
    norm = coef @ K @ coef
    errors = []
    for n in (2, 6, 11):
        search = GraphSearch(max_points=n).fit(points, embedding.transform(points), embedding)
        graphs, fitted = search._reduced(coef)
        full = np.zeros(12)
        full[[search.graphs_.index(graph) for graph in graphs]] = fitted
        errors.append((full - coef) @ K @ (full - coef) / norm)
    assert errors[0] > errors[1] > errors[2] and errors[2] < 1e-2


@pytest.mark.parametrize("normalise", [False, True])
@pytest.mark.parametrize("n_marks", [1, 2])
def test_slopes_of_the_loss_are_differences(n_marks, normalise, rng):
    """Transitions a little of the way to another graph, against the fixed points solved anew."""
    kernel = GraphKernel(0.2, normalise=normalise)
    points = [random_graph(rng, m, 3, n_marks) for m in (6, 8, 9)]
    coef = rng.normal(size=3)
    norm = float(coef @ kernel(points) @ coef)
    target = GraphTarget(kernel, points, coef, norm, [0, 1, 2], [None] if n_marks == 1 else [1, 2])
    code, labels = moves.random_code(7, 8, n_marks, rng), rng.randint(3, size=7)
    P = target._transitions(code[None])
    other = target._transitions(moves.shaken(code, 3, n_marks, rng)[None])
    predicted = sum(
        ((b - a)[0] * G).sum() for a, b, G in zip(P, other, target._slopes(code, labels))
    )
    q = np.full((1, 7), 0.2)

    def loss(share):
        mixed = [a + share * (b - a) for a, b in zip(P, other)]
        own = target._iterate(
            target.alike[labels[:, None], labels][None],
            q[:, :, None] * q[:, None, :],
            lambda X: target._own_step(X, mixed),
            1e-14,
        )
        cross = target._iterate(
            target.alike[target.labels[:, None], labels][None],
            target.q[:, None] * q[:, None, :],
            lambda X: target._cross_step(X, mixed),
            1e-14,
        )
        inner, square = target.weights @ cross[0].sum(axis=1) / 7, own.sum() / 49
        return 1 - 2 * inner / np.sqrt(square) if normalise else square - 2 * inner

    difference = (loss(1e-4) - loss(-1e-4)) / 2e-4
    assert_allclose(predicted, difference, rtol=2e-2, atol=1e-4 * norm)


def test_promising_changes_are_the_good_ones(rng):
    kernel = GraphKernel(0.1)
    points = [random_graph(rng, m) for m in (8, 9, 10, 12)]
    target = GraphTarget(kernel, points, np.full(4, 0.25), 1.0, [0, 1, 2], [None])
    code, labels = moves.random_code(9, 10, 1, rng), rng.randint(3, size=9)
    codes = moves.flips(code, 1)
    best = int(target.losses(codes, labels).argmin())
    assert best in target.promising(code, labels, codes, len(codes) // 4)


def test_automatic_preimage_makes_new_graphs(rng):
    points = [random_graph(rng, m) for m in (4, 5, 5, 6)]
    embedding = KernelMap(kernel=GraphKernel(0.2), preimage="auto").fit(points)
    assert isinstance(embedding.preimage_, GraphSearch)
    assert embedding.inverse_transform(embedding.transform(points)) == points
    ring = Graph((0, 0, 0), ((0, 1), (1, 2), (2, 0)), None, True)
    embedding = KernelMap(kernel=GraphKernel(0.2), preimage="auto").fit([*points, ring])
    assert isinstance(embedding.preimage_, Nearest)


def test_search_keeps_to_its_budget(rng):
    points = [random_graph(rng, 8) for _ in range(5)]
    embedding = KernelMap(kernel=GraphKernel(0.2), center=False).fit(points)
    search = GraphSearch(max_evaluations=50, random_state=0)
    search.fit(points[1:], embedding.transform(points[1:]), embedding)
    _, short = search.inverse_expansion(np.eye(5)[:1], return_loss=True)
    search.max_evaluations = None
    _, long = search.inverse_expansion(np.eye(5)[:1], return_loss=True)
    assert long[0] <= short[0] + 1e-12


@pytest.mark.parametrize("n_marks", [1, 2])
def test_finds_exact_images_that_were_not_fitted(n_marks):
    for seed in range(3):
        rng = np.random.RandomState(seed)
        points = [random_graph(rng, 6, 3, n_marks) for _ in range(5)]
        kernel = GraphKernel(0.1)
        embedding = KernelMap(kernel=kernel, center=False).fit(points)
        search = GraphSearch(random_state=seed)
        search.fit(points[1:], embedding.transform(points[1:]), embedding)
        found, loss = search.inverse_expansion(np.eye(5)[:1], return_loss=True)
        assert loss[0] < 1e-9 * kernel.diag(points[:1])[0]
        assert sorted(found[0].labels) == sorted(points[0].labels)


@pytest.mark.parametrize("method", ["auto", "local", "cross_entropy", "nearest"])
def test_losses_are_true_and_ranked(method, rng):
    points = [random_graph(rng, m) for m in (4, 5, 5, 6, 6, 7)]
    kernel = GraphKernel(0.3)
    embedding = KernelMap(kernel=kernel, center=False).fit(points)
    search = GraphSearch(method, n_starts=1, n_samples=40, max_void=3, max_points=3, random_state=0)
    search.fit(points, embedding.transform(points), embedding)
    coef = np.full((1, 6), 1 / 6)
    found, losses = search.inverse_expansion(coef, return_loss=True, n_best=3)
    direct = (
        kernel.diag(found[0])
        - 2 * kernel(found[0], points) @ coef[0]
        + coef[0] @ kernel(points) @ coef[0]
    )
    assert_allclose(losses[0], direct, atol=1e-10)
    assert (np.diff(losses[0]) >= 0).all()
    every = kernel.diag(points) - 2 * kernel(points) @ coef[0] + coef[0] @ kernel(points) @ coef[0]
    assert losses[0, 0] <= every.min() + 1e-12


def test_fitted_graphs_come_back_and_sizes_are_kept(rng):
    points = [random_graph(rng, m) for m in (4, 5, 6, 6, 7)]
    embedding = KernelMap(kernel=GraphKernel(0.2), preimage=GraphSearch(random_state=0)).fit(points)
    assert embedding.inverse_transform(embedding.transform(points)) == points
    search = GraphSearch(n_starts=1, random_state=0).fit(
        points, embedding.transform(points), embedding
    )
    found = search.inverse_expansion(np.full((1, 5), 0.2), sizes=[[5]])
    assert found[0].n_nodes == 5


def test_candidates_for_other_kernels_of_graphs(rng):
    points = [random_graph(rng, 5) for _ in range(8)]
    embedding = KernelMap(kernel=WeisfeilerLehman(2), center=False).fit(points)
    search = CandidateSearch().fit(points, embedding.transform(points), embedding)
    found, losses = search.inverse(embedding.transform(points[:2]), return_loss=True)
    assert found == points[:2]
    assert_allclose(losses, 0, atol=1e-6)
    with pytest.raises(ValueError, match="GraphSearch works with GraphKernel"):
        GraphSearch().fit(points, embedding.transform(points), embedding)


def test_directed_points_are_refused():
    ring = Graph((0, 0, 0), ((0, 1), (1, 2), (2, 0)), None, True)
    other = Graph((0, 1), ((0, 1),), None, True)
    embedding = KernelMap(kernel=GraphKernel(0.3), center=False).fit([ring, other])
    with pytest.raises(ValueError, match="directed"):
        GraphSearch().fit([ring, other], embedding.transform([ring, other]), embedding)


def test_vectors_to_graphs(rng):
    """Two numbers say how many of a ring's nodes are marked and how large it is.

    Rings of one label are one point whatever their size: only mixed ones are asked for.
    """

    def ring(marked, m):
        return Graph((1,) * marked + (0,) * (m - marked), tuple((i, (i + 1) % m) for i in range(m)))

    pairs = [(k, m) for m in range(4, 9) for k in range(m + 1)]
    X = np.array(pairs, dtype=float)
    graphs = [ring(k, m) for k, m in pairs]
    model = DependencyRegressor(
        KernelMap(gamma=0.2), Ridge(1e-4), KernelMap(kernel=GraphKernel(0.2), preimage="nearest")
    ).fit(X, graphs)
    found = model.predict(X[[2, 8, 20]])
    assert found == [graphs[i] for i in (2, 8, 20)]


def test_search_passes_over_fitted_graphs_with_unknown_edge_labels():
    """A fitted object whose bonds no point has is no start of a local search."""
    path = ((0, 1), (1, 2))
    points = [
        Graph((0, 1, 0), path, (1, 1)),
        Graph((0, 0, 1), path, (1, 1)),
        Graph((0, 1), ((0, 1),), (1,)),
    ]
    embedding = KernelMap(kernel=GraphKernel(0.2)).fit(points)
    others = [*points[:2], Graph((0, 1, 1), path, (1, 2))]
    search = GraphSearch("local", random_state=0).fit(
        others, embedding.transform(others), embedding
    )
    middle = embedding.transform(others).mean(axis=0, keepdims=True)
    (found,) = search.inverse(middle)
    assert isinstance(found, Graph)
