"""Oracles: refined labels written out by hand, differences, rings that one kernel alone tells apart."""

from functools import cache

import networkx
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, LeaveOneOut, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from isthmus import DependencyRegressor, KernelMap
from isthmus.kernels import (
    Gaussian,
    Graph,
    GraphKernel,
    WeisfeilerLehmanAssignment,
    graph_kernels,
)
from isthmus.kernels.report import check_kernel
from isthmus.preimages import GraphSearch, Nearest, make_preimage


def random_graph(rng, marked=True, directed=False):
    m = int(rng.integers(3, 8))
    pairs = [(i, j) for i in range(m) for j in range(i) if rng.random() < 0.4]
    marks = tuple(str(x) for x in rng.integers(0, 2, len(pairs))) if marked else None
    return Graph(tuple(str(x) for x in rng.integers(0, 2, m)), tuple(pairs), marks, directed)


def written_out(graph, rounds, edge_labels=True):
    """The labels of a graph after some rounds, as text: own label, then those around it in order."""
    marked = edge_labels and graph.edge_labels is not None
    labels = list(graph.labels)
    for _ in range(rounds):
        around = [[] for _ in labels]
        for k, (i, j) in enumerate(graph.edges):
            mark = graph.edge_labels[k] if marked else ""
            around[i].append(f"{mark}{labels[j]}")
            if not graph.directed:
                around[j].append(f"{mark}{labels[i]}")
        labels = [f"<{own}:{','.join(sorted(near))}>" for own, near in zip(labels, around)]
    return Graph(tuple(labels), graph.edges, graph.edge_labels, graph.directed)


@pytest.fixture(params=[(True, False), (False, False), (True, True)], ids=str)
def graphs(request):
    rng = np.random.default_rng(0)
    return [random_graph(rng, *request.param) for _ in range(15)]


@pytest.mark.parametrize("rounds", [1, 2, 3])
@pytest.mark.parametrize("options", [{}, {"normalise": True}, {"edge_labels": False}], ids=str)
def test_walks_meet_refined_labels(graphs, rounds, options):
    by_hand = [written_out(g, rounds, options.get("edge_labels", True)) for g in graphs]
    kernel, refined = GraphKernel(0.2, **options), GraphKernel(0.2, refine=rounds, **options)
    K = kernel(by_hand)
    assert np.abs(K - kernel(graphs)).max() > 1e-3
    assert_allclose(refined(graphs), K, atol=1e-12)
    # Labels of the rows and of the columns are the same ones, whatever else is in the call.
    assert_allclose(refined(graphs[:4], graphs[4:]), K[:4, 4:], atol=1e-12)
    assert_allclose(refined.diag(graphs), K.diagonal(), atol=1e-12)


def test_the_protocol_of_refined_walks():
    rng = np.random.default_rng(1)
    graphs = [random_graph(rng) for _ in range(12)]
    report = check_kernel(GraphKernel(0.3, refine=1), graphs)
    assert report.symmetric and report.psd and report.converged and report.diagonal_error < 1e-9
    kernel = GraphKernel(0.3, refine=1)
    _, slopes = kernel(graphs, eval_gradient=True)
    step = 1e-6
    up, down = (GraphKernel(0.3 * np.exp(s), refine=1)(graphs) for s in (step, -step))
    assert_allclose(slopes[:, :, 0], (up - down) / (2 * step), atol=1e-6)


def test_wrong_rounds_of_refinement():
    for wrong in (-1, 1.5, True):
        with pytest.raises(ValueError, match=f"refine == {wrong}, must be an integer >= 0"):
            GraphKernel(refine=wrong)([Graph((0,))])
    with pytest.raises(ValueError, match="refine == 1 needs label_kernel=None"):
        GraphKernel(refine=1, label_kernel=lambda a, b: float(a == b))([Graph((0,))])


def test_refined_walks_have_no_open_search():
    rng = np.random.default_rng(2)
    points = [random_graph(rng) for _ in range(6)]
    kernel = GraphKernel(0.3, refine=1)
    assert isinstance(make_preimage("auto", kernel, points), Nearest)
    assert isinstance(make_preimage("auto", GraphKernel(0.3), points), GraphSearch)
    embedding = KernelMap(kernel=kernel, center=False).fit(points)
    with pytest.raises(ValueError, match=r"GraphSearch works with GraphKernel\(refine=0\)"):
        GraphSearch().fit(points, embedding.transform(points), embedding)


def test_all_kernels_to_choose_among_are_positive_and_differ():
    rng = np.random.default_rng(3)
    graphs = [random_graph(rng) for _ in range(20)]
    kernels = graph_kernels()
    scores = [KernelMap(kernel=kernel).fit_transform(graphs) for kernel in kernels]
    matrices = [Z @ Z.T for Z in scores]
    for i, K in enumerate(matrices):
        assert np.trace(K) > 0
        for other in matrices[:i]:
            assert np.abs(K / np.trace(K) - other / np.trace(other)).max() > 1e-4
    assert graph_kernels()[0] is not kernels[0]  # new objects: one that is tuned changes no other


def test_the_kernel_is_chosen_by_cross_validation():
    """Rings in one piece or in two, with one mark: only rings, and long rounds, tell them apart.

    With eight graphs of a class held out, chance gives all of them right once in 65 536.
    """

    def rings(*sizes):
        edges, first = [], 0
        for m in sizes:
            edges += [(first + i, first + (i + 1) % m) for i in range(m)]
            first += m
        return Graph((0,) * (first - 1) + (1,), tuple(edges))

    one = [rings(m) for m in range(10, 26)]
    two = [rings(3, m - 3) for m in range(10, 26)]
    y = np.repeat([0, 1], 16)
    train = np.arange(32) % 2 == 0
    model = make_pipeline(KernelMap(), SVC(kernel="linear"))
    grid = {"kernelmap__kernel": graph_kernels(), "svc__C": [10.0]}
    graphs = one + two
    search = GridSearchCV(model, grid, cv=4).fit([g for g, t in zip(graphs, train) if t], y[train])
    assert search.score([g for g, t in zip(graphs, train) if not t], y[~train]) == 1.0


NAMED = KernelMap(kernel=Gaussian(WeisfeilerLehmanAssignment(3)))


@cache
def counted_graphs():
    """Graphs, how many nodes have one label, and the best ridge weight, each time with all stages."""
    rng = np.random.default_rng(4)
    graphs = [random_graph(rng) for _ in range(60)]
    y = np.array([sum(label == "1" for label in g.labels) for g in graphs], dtype=float)
    weights = 10.0 ** np.arange(-3, 2)
    errors = []
    for alpha in weights:
        left_out = cross_val_predict(
            DependencyRegressor(NAMED, Ridge(alpha)), graphs[:40], y[:40], cv=LeaveOneOut()
        )
        errors.append(((left_out - y[:40]) ** 2).mean())
    return graphs, y, weights[int(np.argmin(errors))]


@pytest.mark.parametrize("convert", [lambda g: g, Graph.to_networkx], ids=["Graph", "networkx"])
def test_graphs_need_no_kernel(convert):
    """The ridge weight of the default is the best by leaving one out."""
    graphs, y, best = counted_graphs()
    train, test = ([convert(g) for g in part] for part in (graphs[:40], graphs[40:]))
    for given, alpha in ((None, best), (Ridge(0.5), 0.5)):
        model = DependencyRegressor(map=given).fit(train, y[:40])
        same = DependencyRegressor(NAMED, Ridge(alpha)).fit(graphs[:40], y[:40])
        assert_allclose(model.predict(test), same.predict(graphs[40:]), rtol=1e-7)
    assert DependencyRegressor(solver="dual").fit(train, y[:40]).solver_ == "dual"
    assert DependencyRegressor().fit(train, y[:40]).score(test, y[40:]) > 0.5
    assert isinstance(graphs[0].to_networkx(), networkx.Graph)
