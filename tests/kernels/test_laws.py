"""Laws of the kernels of sequences and graphs, looped over all of them.

A kernel knows nothing of the place of a sample, of what else is in the list, of the names of labels, or of
how the nodes of a graph are numbered. Its matrices are symmetric and positive semi-definite.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import isthmus.kernels
from isthmus.kernels import (
    Cycles,
    Gaussian,
    Graph,
    GraphKernel,
    MismatchKernel,
    Normalised,
    PositionKernel,
    SequenceKernel,
    ShortestPath,
    SpectrumKernel,
    SubsequenceKernel,
    VectorSequenceKernel,
    WeisfeilerLehman,
    WeisfeilerLehmanAssignment,
    WeisfeilerLehmanWasserstein,
    gram,
)
from isthmus.kernels.gram_matrix import gram_diagonal

RNG = np.random.default_rng(0)
WORDS = ["".join(RNG.choice(list("abc"), size=k)) for k in (3, 7, 5, 4, 9, 6)]


def random_graph(n):
    """A connected graph with labels on nodes and edges."""
    edges = [(i, int(RNG.integers(i))) for i in range(1, n)] + [(0, n - 1), (1, n - 1)]
    edges = sorted({tuple(sorted(edge)) for edge in edges if edge[0] != edge[1]})
    labels = tuple(RNG.choice(list("CNO"), size=n).tolist())
    return Graph(labels, tuple(edges), tuple(RNG.choice(["-", "="], size=len(edges)).tolist()))


GRAPHS = [random_graph(n) for n in (4, 6, 5, 7, 5)]
SEQUENCES = [
    SequenceKernel(0.3),
    SequenceKernel(0.3, max_length=3),
    SequenceKernel(0.3, normalise=True),
    SpectrumKernel(2),
    SpectrumKernel(2, cumulative=True, normalise=True),
    MismatchKernel(3, 1, n_symbols=3),
    SubsequenceKernel(2),
    PositionKernel(2),
    Gaussian(SpectrumKernel(2), 0.1),
    Normalised(SequenceKernel(0.3)),
]
OF_GRAPHS = [
    GraphKernel(0.2),
    GraphKernel(0.2, refine=1, edge_labels=False, normalise=True),
    WeisfeilerLehman(2),
    WeisfeilerLehmanAssignment(2),
    WeisfeilerLehmanWasserstein(2),
    ShortestPath(),
    Cycles(),
    Normalised(WeisfeilerLehman(2)),
]
FRAMES = [RNG.normal(size=(n, 2)) for n in (3, 1, 4, 2, 3)]
OF_VECTORS = [VectorSequenceKernel(0.3), VectorSequenceKernel(0.3, reach=2, normalise=False)]
CASES = [
    *((kernel, WORDS) for kernel in SEQUENCES),
    *((kernel, GRAPHS) for kernel in OF_GRAPHS),
    *((kernel, FRAMES) for kernel in OF_VECTORS),
]
every_kernel = pytest.mark.parametrize(
    ("kernel", "samples"), CASES, ids=[str(kernel)[:60] for kernel, _ in CASES]
)


def renumbered(graph, order):
    """The same graph with its nodes in another order, and its edges too."""
    place = np.argsort(order)
    edges = [(int(place[i]), int(place[j])) for i, j in graph.edges][::-1]
    marks = None if graph.edge_labels is None else graph.edge_labels[::-1]
    return ([graph.labels[i] for i in order], edges, marks)


@every_kernel
def test_matrices_are_symmetric_and_semi_definite(kernel, samples):
    K = gram(kernel, samples)
    assert_allclose(K, K.T, rtol=1e-12)
    assert np.linalg.eigvalsh(K)[0] >= -1e-10 * np.linalg.eigvalsh(K)[-1]
    assert (K.diagonal() > 0).all()
    # Different samples are different: a constant matrix would obey all laws.
    assert np.ptp(K / np.sqrt(np.outer(K.diagonal(), K.diagonal()))) > 0.01


@every_kernel
def test_place_and_company_do_not_matter(kernel, samples):
    K = gram(kernel, samples)
    order = np.random.default_rng(1).permutation(len(samples))
    mixed = [samples[i] for i in order]
    assert_allclose(gram(kernel, mixed), K[np.ix_(order, order)], rtol=1e-9)
    assert_allclose(gram(kernel, samples[:2], samples[2:]), K[:2, 2:], rtol=1e-9)
    assert_allclose(gram(kernel, samples[1:2]), K[1:2, 1:2], rtol=1e-9)
    assert_allclose(gram(kernel, samples[2:], samples[:2]), K[2:, :2], rtol=1e-9)
    assert_allclose(gram_diagonal(kernel, samples), K.diagonal(), rtol=1e-9)


@every_kernel
def test_copies_are_alike(kernel, samples):
    K = gram(kernel, [*samples, samples[1]])
    assert_allclose(K[-1], K[1], rtol=1e-9)
    assert_allclose(K[-1, -1], K[1, -1], rtol=1e-9)


@every_kernel
def test_names_of_labels_do_not_matter(kernel, samples):
    if samples is FRAMES:
        renamed = [x[:, ::-1] for x in samples]  # the order of the columns
    elif samples is WORDS:
        renamed = [[{"a": "zz", "b": "a", "c": "q"}[s] for s in word] for word in samples]
    else:
        names, marks = {"C": 7, "N": 3, "O": 11}, {"-": "b", "=": "a"}
        renamed = [
            Graph(
                tuple(names[s] for s in g.labels), g.edges, tuple(marks[s] for s in g.edge_labels)
            )
            for g in samples
        ]
    assert_allclose(gram(kernel, renamed), gram(kernel, samples), rtol=1e-9)


@every_kernel
def test_normalised_kernels_have_unit_length(kernel, samples):
    K = gram(kernel, samples)
    lengths = np.sqrt(K.diagonal())
    assert_allclose(gram(Normalised(kernel), samples), K / np.outer(lengths, lengths), rtol=1e-9)
    if getattr(kernel, "normalise", False):
        assert_allclose(K.diagonal(), 1.0, rtol=1e-12)
        plain = type(kernel)(**{**kernel.get_params(), "normalise": False})
        assert_allclose(gram(Normalised(plain), samples), K, rtol=1e-9)


@pytest.mark.parametrize("kernel", OF_GRAPHS, ids=str)
def test_the_numbers_of_nodes_do_not_matter(kernel):
    rng = np.random.default_rng(2)
    mixed = [renumbered(g, rng.permutation(len(g.labels))) for g in GRAPHS]
    K = gram(kernel, GRAPHS)
    assert_allclose(gram(kernel, mixed), K, rtol=1e-8)
    assert_allclose(gram(kernel, GRAPHS, mixed), K, rtol=1e-8)


def test_every_kernel_of_structures_is_listed():
    on_trial = {type(kernel).__name__ for kernel, _ in CASES}
    public = set()
    for name in isthmus.kernels.__all__:
        module = getattr(getattr(isthmus.kernels, name), "__module__", "")
        is_kernel = isinstance(getattr(isthmus.kernels, name), type) and name != "Graph"
        if is_kernel and (".sequences" in module or ".graphs" in module):
            public.add(name)
    assert public <= on_trial, sorted(public - on_trial)
