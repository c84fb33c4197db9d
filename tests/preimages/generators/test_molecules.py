"""Oracles: formulas and masses of known molecules, RDKit where installed, planted spectra."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge

from isthmus import DependencyRegressor, KernelMap
from isthmus.kernels import RBF, Graph, WeisfeilerLehman
from isthmus.preimages.generators import Dictionary, MoleculeLibrary, formula, mass

ETHANOL = ("CCO", [(0, 1), (1, 2)])
ETHER = ("COC", [(0, 1), (1, 2)])
RING = [(i, (i + 1) % 6) for i in range(6)]


@pytest.mark.parametrize(
    ("graph", "wanted"),
    [
        (ETHANOL, {"C": 2, "H": 6, "O": 1}),
        (("CC", [(0, 1)], ["DOUBLE"]), {"C": 2, "H": 4}),
        (("CN", [(0, 1)], [3]), {"C": 1, "N": 1, "H": 1}),
        (("C" * 6, RING, [1.5] * 6), {"C": 6, "H": 6}),  # benzene
        (("C" * 6 + "O", [*RING, (0, 6)], [":"] * 6 + ["-"]), {"C": 6, "H": 6, "O": 1}),  # phenol
        (("SOO", [(0, 1), (0, 2)], [2, 2]), {"S": 1, "O": 2}),
        ((["C", "Cl"], [(0, 1)]), {"C": 1, "H": 3, "Cl": 1}),
        ((["Na", "Cl"], []), {"Na": 1, "Cl": 1, "H": 1}),  # no valence of sodium is known
    ],
)
def test_formulas_with_implicit_hydrogens(graph, wanted):
    assert formula(graph) == wanted


def test_hydrogens_that_are_drawn_count_once():
    water = ("HOH", [(0, 1), (1, 2)])
    assert formula(water) == {"H": 2, "O": 1}


@pytest.mark.parametrize(
    ("atoms", "wanted"),
    [
        ("C8H10N4O2", 194.080376),
        ("C6H12O6", 180.063388),
        ("C9H8O4", 180.042259),
        ("CCl4", 151.875411),
    ],
)  # caffeine, glucose, aspirin, carbon tetrachloride
def test_masses_are_those_of_handbooks(atoms, wanted):
    assert_allclose(mass(atoms), wanted, atol=3e-6)


def test_formulas_and_masses_are_those_of_rdkit():
    chem = pytest.importorskip("rdkit.Chem")
    from rdkit.Chem.rdMolDescriptors import CalcExactMolWt, CalcMolFormula

    for smiles in ("CCO", "c1ccccc1O", "CC(=O)Oc1ccccc1C(=O)O", "C#N", "CS(=O)(=O)C", "BrCCI"):
        molecule = chem.MolFromSmiles(smiles)
        assert_allclose(mass(formula(molecule)), CalcExactMolWt(molecule), atol=1e-5)
        assert mass(CalcMolFormula(molecule)) == pytest.approx(mass(formula(molecule)))


def chains(n_atoms=5):
    """All chains of carbon, nitrogen and oxygen."""
    rng = np.random.default_rng(0)
    words = {tuple(rng.choice(list("CCNO"), n_atoms)) for _ in range(400)}
    words = sorted({min(w, w[::-1]) for w in words})
    return [Graph(w, tuple((i, i + 1) for i in range(n_atoms - 1))) for w in words]


def test_candidates_have_the_formula_or_the_mass_that_is_told():
    library = chains()
    for by, tell in (("formula", formula), ("mass", lambda g: mass(formula(g)))):
        model = MoleculeLibrary(library, of=1, by=by).fit(None, None)
        for graph in library[::17]:
            found, log_p = model.candidates([(None, tell(graph))])[0]
            same = [g for g in library if formula(g) == formula(graph)]
            assert found == same
            assert_allclose(np.exp(log_p), 1 / len(same))
    by_function = MoleculeLibrary(library, of=lambda x: x["m"]).fit(None, None)
    assert by_function.candidates([{"m": 1e4}] * 0) == []
    itself = MoleculeLibrary(by="formula").fit(None, [*library, library[0]])
    assert len(itself.molecules_) == len(library)
    assert library[3] in itself.candidates([library[3]])[0][0]
    with pytest.warns(UserWarning, match="1 of 1 inputs have no molecule of their mass"):
        assert len(by_function.candidates([{"m": 1e4}])[0][0]) == 1


def test_a_known_mass_helps_to_identify_molecules():
    """Spectra are noisy sums over atoms and bonds; half of the library is never trained on."""
    library = chains()
    rng = np.random.default_rng(1)
    names = sorted({tuple(sorted((g.labels[i], g.labels[j]))) for g in library for i, j in g.edges})
    lines = rng.normal(size=(len(names), 12))
    spectra = np.array(
        [
            sum(lines[names.index(tuple(sorted((g.labels[i], g.labels[j]))))] for i, j in g.edges)
            for g in library
        ]
    )
    spectra += 0.5 * rng.normal(size=spectra.shape)
    masses = np.array([[mass(formula(g))] for g in library])
    X = np.hstack([spectra, masses])
    order = rng.permutation(len(library))
    train, test = order[: len(order) // 2], order[len(order) // 2 :]
    right = {}
    for name, generator in (
        ("mass", MoleculeLibrary(library, of=12)),
        ("all", Dictionary(library)),
    ):
        model = DependencyRegressor(
            KernelMap(kernel=RBF(0.005)),
            Ridge(0.1),
            KernelMap(kernel=WeisfeilerLehman(1)),
            candidates=generator,
        )
        model.fit(X[train], [library[i] for i in train])
        found = model.predict(X[test])
        right[name] = np.mean([g == library[i] for g, i in zip(found, test)])
    assert right["mass"] > right["all"] + 0.1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mass("Ethanol"), "'Ethanol' is not a formula"),
        (lambda: mass({"Xx": 1}), "no mass is known for Xx"),
        (lambda: formula(("CC", [(0, 1)], ["sure"])), "edge label 'sure'"),
        (lambda: MoleculeLibrary([]).fit(None, None), "molecules is empty"),
        (lambda: MoleculeLibrary([(["Q"], [])]).fit(None, None), "no mass is known for Q"),
        (lambda: MoleculeLibrary([ETHANOL], by="name").fit(None, None), "by == 'name'"),
        (lambda: MoleculeLibrary([ETHANOL], tolerance=-1).fit(None, None), "tolerance == -1"),
    ],
)
def test_what_is_wrong_is_told(call, message):
    with pytest.raises(ValueError, match=message):
        call()
