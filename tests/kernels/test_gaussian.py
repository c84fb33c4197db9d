"""Gaussians of the distances of kernels: the formula, units, widths from data, estimators, files."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import Ridge
from sklearn.svm import SVC

from isthmus import DependencyRegressor
from isthmus.features import KernelMap
from isthmus.kernels import (
    RBF,
    Gaussian,
    GraphKernel,
    Linear,
    SpectrumKernel,
    WeisfeilerLehman,
    as_graph,
    gram,
    median_gamma,
)
from isthmus.kernels.report import check_kernel
from isthmus.kernels.resolve import resolve_kernel
from isthmus.persistence import load, save
from isthmus.preimages import Nearest

WORDS = ["low", "lower", "lowest", "high", "higher", "highest", "slow", "slower", "slowest"]


def random_graphs(n, seed=0):
    """Trees with two kinds of nodes, as (labels, edges)."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, 9, n)
    return [
        (rng.integers(0, 2, size).tolist(), [(int(rng.integers(i)), i) for i in range(1, size)])
        for size in sizes
    ]


GRAPHS = random_graphs(24)
OBJECTS = {
    "sequences": (SpectrumKernel(2), WORDS),
    "graphs": (WeisfeilerLehman(2), GRAPHS),
    "walks": (GraphKernel(0.3, normalise=True), GRAPHS),
}


def by_distances(kernel, gamma, X, Y):
    """The formula of the docstring, pair by pair."""
    values = [
        [kernel([x])[0, 0] + kernel([y])[0, 0] - 2 * kernel([x], [y])[0, 0] for y in Y] for x in X
    ]
    return np.exp(-gamma * np.array(values))


@pytest.mark.parametrize("name", OBJECTS)
def test_objects_by_the_formula(name):
    kernel, X = OBJECTS[name]
    ours = Gaussian(kernel, 0.2)
    expected = by_distances(kernel, 0.2, X[:6], X[:6])
    assert_allclose(ours(X[:6]), expected, rtol=1e-9)
    assert_allclose(ours(X[:2], X[:6]), expected[:2], rtol=1e-9)
    assert_array_equal(ours(X), ours(X).T)
    assert_array_equal(ours(X).diagonal(), ours.diag(X))
    assert_allclose(gram(ours, X, block_bytes=200), ours(X), rtol=1e-9)  # piece by piece
    assert not ours.requires_vector_input
    assert np.linalg.eigvalsh(ours(X))[0] > -1e-12 * len(X)


def test_of_the_linear_kernel_is_rbf():
    X = np.random.default_rng(0).normal(size=(10, 3))
    assert_allclose(Gaussian(Linear(), 0.4)(X, X[:4]), RBF(0.4)(X, X[:4]), rtol=1e-12)
    assert_allclose(median_gamma(X, metric=Linear()), median_gamma(X), rtol=1e-12)


def test_hyperparameters_of_both_kernels_against_differences():
    kernel = Gaussian(GraphKernel(0.3, tol=1e-13), 5.0)
    assert [h.name for h in kernel.hyperparameters] == ["gamma", "kernel__stop"]
    assert_allclose(np.exp(kernel.theta), [5.0, 0.3])
    K, slopes = kernel(GRAPHS[:8], eval_gradient=True)
    assert_allclose(K, kernel(GRAPHS[:8]), rtol=1e-12)
    for i, step in enumerate(1e-5 * np.eye(2)):
        up, down = (kernel.clone_with_theta(kernel.theta + s)(GRAPHS[:8]) for s in (step, -step))
        assert_allclose(slopes[:, :, i], (up - down) / 2e-5, rtol=1e-5, atol=1e-8)
    fixed = Gaussian(GraphKernel(0.3, tol=1e-13), 5.0, "fixed")
    assert_allclose(fixed(GRAPHS[:8], eval_gradient=True)[1], slopes[:, :, 1:], rtol=1e-12)
    assert clone(kernel) == kernel
    assert kernel.set_params(kernel__stop=0.5).kernel.stop == 0.5


@pytest.mark.parametrize("name", OBJECTS)
def test_width_from_the_data_has_no_units(name):
    kernel, X = OBJECTS[name]
    D = -np.log(Gaussian(kernel, 1.0)(X))
    found = resolve_kernel(Gaussian(kernel), X)
    assert_allclose(found.gamma, 0.5 / np.median(D[D > 1e-9]), rtol=1e-9)
    scaled = resolve_kernel(Gaussian(1e6 * kernel), X)
    assert_allclose(scaled(X), found(X), rtol=1e-9)
    twice = resolve_kernel(Gaussian(kernel), [*X, *X])  # pairs of equal objects do not count
    assert_allclose(twice.gamma, found.gamma, rtol=1e-12)


def test_inner_widths_are_set_first():
    X = 1e3 * np.random.default_rng(1).normal(size=(20, 3))
    found = resolve_kernel(Gaussian(RBF(None)), X)
    assert found.kernel.gamma == median_gamma(X)
    assert found.gamma == median_gamma(X, metric=RBF(median_gamma(X)))


def test_objects_that_are_all_equal_have_width_one():
    assert median_gamma(["abc"] * 4, metric=SpectrumKernel(2, normalise=True)) == 1.0


def test_many_objects_are_drawn_by_the_seed():
    X = np.random.default_rng(2).normal(size=(700, 2))
    few, same, other = (median_gamma(X, metric=Linear(), random_state=s) for s in (0, 0, 1))
    assert few == same
    assert few != other
    assert_allclose(few, median_gamma(X), rtol=0.2)
    listed = median_gamma(list(map(tuple, X)), metric=Linear(), random_state=0)
    assert_allclose(listed, few, rtol=0.2)  # objects have no order of their own: others are drawn
    assert_allclose(median_gamma(X[::-1], metric=Linear(), random_state=0), few, rtol=1e-12)


def test_estimators_set_the_width():
    model = KernelMap(kernel=Gaussian(WeisfeilerLehman(2)), center=False).fit(GRAPHS)
    gamma = median_gamma(GRAPHS, metric=WeisfeilerLehman(2))
    expected = Gaussian(WeisfeilerLehman(2), gamma)(GRAPHS)
    scores = model.transform(GRAPHS)
    assert_allclose(scores @ scores.T, expected, atol=1e-7)
    assert check_kernel(Gaussian(WeisfeilerLehman(2), gamma), GRAPHS).ok


def test_files_keep_it(tmp_path):
    model = KernelMap(kernel=Gaussian(WeisfeilerLehman(2))).fit(GRAPHS)
    save(model, tmp_path / "map.isthmus")
    assert_allclose(load(tmp_path / "map.isthmus").transform(GRAPHS), model.transform(GRAPHS))


def as_networkx(graph):
    networkx = pytest.importorskip("networkx")
    labels, edges = graph
    result = networkx.Graph()
    for node, label in enumerate(labels):
        result.add_node(f"node {node}", label=label)
    result.add_edges_from((f"node {i}", f"node {j}") for i, j in edges)
    return result


def as_objects(items):
    """An array of objects, which scikit-learn leaves as they are."""
    result = np.empty(len(items), dtype=object)
    for index, item in enumerate(items):
        result[index] = item
    return result


@pytest.mark.parametrize(
    "convert",
    [
        lambda graphs: [as_graph(graph) for graph in graphs],
        as_objects,
        lambda graphs: as_objects([as_networkx(graph) for graph in graphs]),
    ],
    ids=["list of Graph", "tuples", "networkx"],
)
def test_graphs_in_a_gaussian_process(convert):
    """The width is learned by marginal likelihood; predictions are the closed form's."""
    plain = random_graphs(40, seed=1)
    graphs = convert(plain)
    y = np.array([sum(labels) / len(labels) for labels, _ in plain])
    start = Gaussian(WeisfeilerLehman(1), median_gamma(graphs, metric=WeisfeilerLehman(1)))
    process = GaussianProcessRegressor(start, alpha=1e-3).fit(graphs[:30], y[:30])
    assert process.kernel_.gamma != start.gamma
    fixed = GaussianProcessRegressor(start, alpha=1e-3, optimizer=None).fit(graphs[:30], y[:30])
    assert process.log_marginal_likelihood_value_ > fixed.log_marginal_likelihood_value_
    K = Gaussian(WeisfeilerLehman(1), process.kernel_.gamma)(plain)
    coef = np.linalg.solve(K[:30, :30] + 1e-3 * np.eye(30), y[:30])
    mean, covariance = process.predict(graphs[30:], return_cov=True)
    assert_allclose(mean, K[30:, :30] @ coef, rtol=1e-6, atol=1e-8)
    assert np.linalg.eigvalsh(covariance)[0] > -1e-9


def test_an_open_width_in_a_gaussian_process_says_what_to_do():
    graphs = [as_graph(graph) for graph in GRAPHS]
    with pytest.raises(ValueError, match=r"gamma == None in Gaussian.*median_gamma\(X, metric"):
        GaussianProcessRegressor(Gaussian(WeisfeilerLehman())).fit(graphs, np.arange(24.0))


@pytest.mark.parametrize("kind", [list, as_objects], ids=["list", "array"])
@pytest.mark.parametrize("convert", [as_graph, tuple, as_networkx])
def test_forms_of_graphs_as_inputs_and_outputs(convert, kind):
    """Objects that look like arrays go through both ends of a regression as they are."""
    graphs = kind([convert(graph) for graph in GRAPHS])
    Y = np.array([[sum(labels), len(labels)] for labels, _ in GRAPHS], dtype=float)
    embedding = KernelMap(kernel=Gaussian(WeisfeilerLehman(2)), preimage=Nearest())
    into = DependencyRegressor(embedding, Ridge(0.1)).fit(graphs, Y).predict(graphs)
    expected = DependencyRegressor(embedding, Ridge(0.1)).fit(GRAPHS, Y).predict(GRAPHS)
    assert_allclose(into, expected, rtol=1e-8)
    found = DependencyRegressor(KernelMap(), Ridge(1e-6), embedding).fit(Y, graphs).predict(Y)
    assert isinstance(found, type(graphs))
    assert all(any(answer is graph for graph in graphs) for answer in found)


@pytest.mark.parametrize("convert", [tuple, as_networkx], ids=["tuples", "networkx"])
def test_lists_of_graphs_in_a_support_vector_machine(convert):
    y = np.array([sum(labels) > len(labels) / 2 for labels, _ in GRAPHS])
    graphs = [convert(graph) for graph in GRAPHS]
    machine = SVC(kernel=Gaussian(WeisfeilerLehman(1), 0.1), C=100).fit(graphs, y)
    assert machine.score(graphs, y) > 0.9
