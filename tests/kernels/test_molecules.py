"""Molecules: SMILES there and back against RDKit's canonical form; searches that answer with molecules."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import WhiteKernel

from isthmus.features import KernelMap
from isthmus.kernels import (
    Gaussian,
    Graph,
    GraphKernel,
    Indexed,
    WeisfeilerLehman,
    as_graph,
    from_smiles,
    to_molecule,
    to_smiles,
)
from isthmus.preimages import GraphSearch
from isthmus.preimages.graph_rules import GraphRules

SMILES = [
    "CCO",
    "CC(=O)O",
    "c1ccccc1",
    "C1CCCCC1",
    "O=[N+]([O-])c1ccccc1",
    "c1cc[nH]c1",
    "Cn1cnc2c1c(=O)n(C)c(=O)n2C",
    "C#N",
    "CS(=O)(=O)C",
    "OC[C@H](O)C=O",
    "c1ccc2[nH]cnc2c1",
    "[NH4+].[Cl-]",
]


def test_smiles_come_back():
    chem = pytest.importorskip("rdkit.Chem")
    expected = []
    for text in SMILES:
        molecule = chem.MolFromSmiles(text)
        chem.RemoveStereochemistry(molecule)
        expected.append(chem.MolToSmiles(molecule))
    graphs = from_smiles(SMILES)
    assert to_smiles(graphs) == expected
    assert "N+" in graphs[4].labels and "O-" in graphs[4].labels
    order = np.random.default_rng(0).permutation(graphs[6].n_nodes)
    place = np.argsort(order)
    mixed = Graph(
        tuple(graphs[6].labels[i] for i in order),
        tuple((int(place[i]), int(place[j])) for i, j in graphs[6].edges),
        graphs[6].edge_labels,
    )
    assert to_smiles([mixed]) == [expected[6]]
    assert to_molecule((["C", "O"], [(0, 1)])).GetNumAtoms() == 2


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ((["F", "F", "F"], [(0, 1), (1, 2)]), r"graphs\[0\]: not a molecule"),
        ((["Xx", "C"], [(0, 1)]), "'Xx' is not the symbol"),
        (([3, "C"], [(0, 1)]), "3 is not the symbol"),
        ((["C", "C"], [(0, 1)], ["glue"]), "'glue' is not a type of bond"),
    ],
)
def test_what_is_no_molecule_is_named(graph, message):
    pytest.importorskip("rdkit")
    with pytest.raises(ValueError, match=message):
        to_smiles([graph])
    with pytest.raises(ValueError, match=r"smiles\[1\] == 'C\(C' is not"):
        from_smiles(["C", "C(C"])
    with pytest.raises(ValueError, match="one string"):
        from_smiles("CC")


def test_without_rdkit_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "rdkit", None)
    with pytest.raises(ImportError, match=r"isthmus\[chem\]"):
        from_smiles(["C"])


# -- searches ----------------------------------------------------------------------------------

CHAINS = [  # without RDKit: atoms and bonds of small alcohols, ethers and alkenes
    (["C", "C", "O"], [(0, 1), (1, 2)], ["SINGLE", "SINGLE"]),
    (["C", "O", "C"], [(0, 1), (1, 2)], ["SINGLE", "SINGLE"]),
    (["C", "C", "C", "O"], [(0, 1), (1, 2), (2, 3)], ["SINGLE", "SINGLE", "SINGLE"]),
    (["C", "C", "C"], [(0, 1), (1, 2)], ["DOUBLE", "SINGLE"]),
    (["C", "C", "O"], [(0, 1), (1, 2)], ["SINGLE", "DOUBLE"]),
    (["C", "C", "C", "C"], [(0, 1), (1, 2), (2, 3)], ["SINGLE", "DOUBLE", "SINGLE"]),
    (["O", "O", "C"], [(0, 1)], ["DOUBLE"]),  # in two pieces
    (["O", "O", "C"], [(0, 1), (1, 2)], ["DOUBLE", "DOUBLE"]),  # too many bonds of oxygen
]
VALENCES = {"C": 4, "O": 2}


def is_molecule(graph):
    """The two rules again, by counting and by walking."""
    orders = {"SINGLE": 1, "DOUBLE": 2}
    bonds, reached = np.zeros(graph.n_nodes), {0}
    for (i, j), mark in zip(graph.edges, graph.edge_labels or ()):
        bonds[[i, j]] += orders[mark]
    for _ in graph.labels:
        reached |= {b for i, j in graph.edges for a, b in ((i, j), (j, i)) if a in reached}
    fits = all(n <= VALENCES[label] for n, label in zip(bonds, graph.labels))
    return fits and len(reached) == graph.n_nodes


def test_answers_are_in_one_piece_and_keep_to_the_valences():
    embedding = KernelMap(kernel=GraphKernel(0.1)).fit(CHAINS)
    scores = embedding.transform(CHAINS)
    rng = np.random.default_rng(0)
    targets = np.vstack(
        [scores[6:], 1.5 * scores[6:] + 0.1 * rng.normal(size=(2, scores.shape[1]))]
    )
    options = {"max_evaluations": 3000, "random_state": 0}
    asked = GraphSearch(connected=True, valences=VALENCES, **options).fit(CHAINS, scores, embedding)
    free = GraphSearch(**options).fit(CHAINS, scores, embedding)
    answers, losses = asked.inverse(targets, return_loss=True, n_best=3)
    assert all(is_molecule(graph) for ranked in answers for graph in ranked)
    anything, lower = free.inverse(targets, return_loss=True)
    assert not all(is_molecule(Graph(*g) if isinstance(g, tuple) else g) for g in anything)
    assert (lower <= losses[:, 0] + 1e-9).all()
    assert (np.diff(losses, axis=1) >= -1e-12).all()


def test_rules_agree_with_counting_and_walking():
    rng = np.random.default_rng(1)
    names = ["SINGLE", "DOUBLE"]
    rules = GraphRules(True, VALENCES, ["C", "O"], names)
    codes = np.triu(rng.choice(3, p=[0.6, 0.3, 0.1], size=(300, 5, 5)), 1)
    codes, labels = codes + codes.transpose(0, 2, 1), rng.integers(2, size=(300, 5))
    expected = []
    for code, tags in zip(codes, labels):
        edges = [(int(i), int(j)) for i, j in zip(*np.nonzero(np.triu(code)))]
        marks = tuple(names[code[i, j] - 1] for i, j in edges)
        expected.append(is_molecule(Graph(tuple("CO"[t] for t in tags), tuple(edges), marks)))
    assert 20 < sum(expected) < 280
    assert_array_equal(rules.allow(codes, labels), expected)
    rings = GraphRules(False, "atoms", ["C"], ["AROMATIC"])
    path, ring = np.zeros((2, 3, 3), dtype=int)
    path[0, 1] = path[1, 0] = 1
    ring[~np.eye(3, dtype=bool)] = 1
    assert_array_equal(rings.allow(np.stack([path, ring]), np.zeros(3, dtype=int)), [False, True])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"valences": {"C": 4}}, "no entry for the node label 'O'"),
        ({"valences": "some"}, "valences == 'some'"),
        ({"connected": "yes"}, "connected == 'yes'"),
    ],
)
def test_wrong_rules_are_named(options, message):
    embedding = KernelMap(kernel=GraphKernel(0.1)).fit(CHAINS)
    with pytest.raises(ValueError, match=message):
        GraphSearch(**options).fit(CHAINS, embedding.transform(CHAINS), embedding)


# -- Gaussian processes of scikit-learn --------------------------------------------------------


@pytest.mark.parametrize("kind", ["tuples", "networkx"])
def test_gaussian_processes_of_graphs(kind):
    """They make arrays of lists of tuples, so objects go by number; the posterior is written out."""
    graphs = CHAINS[:6]
    if kind == "networkx":
        pytest.importorskip("networkx")
        graphs = [Graph(tuple(g[0]), tuple(g[1]), tuple(g[2])).to_networkx() for g in graphs]
    y = np.array([1.0, 2.0, 1.5, -1.0, 0.0, -2.0])
    inner = Gaussian(WeisfeilerLehman(2), 0.1)
    rows = np.arange(6)[:, None]
    process = GaussianProcessRegressor(Indexed(inner, graphs) + WhiteKernel(0.1), optimizer=None)
    mean, deviation = process.fit(rows[:4], y[:4]).predict(rows, return_std=True)
    K = inner(graphs)
    inverse = np.linalg.inv(K[:4, :4] + 0.1 * np.eye(4) + process.alpha * np.eye(4))
    np.testing.assert_allclose(mean, K[:, :4] @ inverse @ y[:4], atol=1e-9)
    variances = K.diagonal() + 0.1 - np.einsum("ij,jk,ik->i", K[:, :4], inverse, K[:, :4])
    np.testing.assert_allclose(deviation**2, variances, atol=1e-9)
    # Lists of them would become tables: an array of objects, or one of Graph, is taken as it is.
    array = np.empty(6, dtype=object)
    array[:] = graphs
    for given in (array, [as_graph(graph) for graph in graphs]):
        direct = GaussianProcessRegressor(inner, alpha=0.1 + 1e-10, optimizer=None)
        direct.fit(given[:4], y[:4])
        np.testing.assert_allclose(direct.predict(given), mean, atol=1e-9)
