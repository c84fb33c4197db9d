"""Molecules as labelled graphs: from SMILES and RDKit, and back. Needs the extra ``chem``."""

from __future__ import annotations

import itertools
import re
from collections.abc import Hashable, Iterable
from typing import Any

from isthmus.kernels.graphs.graph import Graph, as_graph

_SIGNS = re.compile(r"^([A-Z][a-z]?)(\++|-+)?$")


def from_smiles(smiles: Iterable[str]) -> list[Graph]:
    """Read graphs of molecules from SMILES strings.

    Parameters
    ----------
    smiles : iterable of str
        One string a molecule.

    Returns
    -------
    graphs : list of Graph
        Heavy atoms by their symbols, with a sign for each charge (``"N+"``), and types of bonds
        (``"SINGLE"``, ``"DOUBLE"``, ``"TRIPLE"``, ``"AROMATIC"``). Stereochemistry and isotopes are
        left out.

    Examples
    --------
    >>> from isthmus.kernels import from_smiles, to_smiles
    >>> graphs = from_smiles(["CCO"])  # doctest: +SKIP
    >>> to_smiles(graphs)  # doctest: +SKIP
    ['CCO']
    """
    if isinstance(smiles, str):
        raise ValueError("smiles is one string; give a list of strings.")
    if not isinstance(smiles, Iterable):
        raise ValueError(f"smiles == {smiles!r}, must be a list of strings.")
    chem, graphs = _rdkit(), []
    for index, text in enumerate(smiles):
        molecule = chem.MolFromSmiles(str(text))
        if molecule is None:
            raise ValueError(f"smiles[{index}] == {text!r} is not a molecule for RDKit.")
        if not molecule.GetNumAtoms():
            raise ValueError(f"smiles[{index}] == {text!r} has no atoms: leave it out.")
        graphs.append(as_graph(molecule))
    return graphs


def to_molecule(graph: Any) -> Any:
    """Return the RDKit molecule of a graph, its valences checked.

    Parameters
    ----------
    graph : graph
        Whatever :func:`as_graph` takes; labels as :func:`from_smiles` makes them. Edges without
        labels are single bonds. Hydrogens are filled in; that of an aromatic nitrogen is found by trial.

    Returns
    -------
    molecule : rdkit.Chem.Mol
        The molecule; ValueError if there is none with these atoms and bonds.
    """
    chem, graph = _rdkit(), as_graph(graph)
    if graph.directed:
        raise ValueError("a directed graph is not a molecule.")
    marks = graph.edge_labels or ("SINGLE",) * len(graph.edges)
    draft = chem.RWMol()
    for label in graph.labels:
        draft.AddAtom(_atom(chem, label))
    for (i, j), mark in zip(graph.edges, marks):
        kind = chem.BondType.names.get(str(mark).upper())
        if kind is None:
            raise ValueError(f"edge label {mark!r} is not a type of bond, such as 'SINGLE'.")
        draft.AddBond(i, j, kind)
        if kind == chem.BondType.AROMATIC:
            draft.GetBondBetweenAtoms(i, j).SetIsAromatic(True)
            for node in (i, j):
                draft.GetAtomWithIdx(node).SetIsAromatic(True)
    with chem.rdBase.BlockLogs():
        return _checked(chem, draft)


def to_smiles(graphs: Iterable[Any]) -> list[str]:
    """Return canonical SMILES strings of graphs; ValueError names a graph that is not a molecule."""
    chem, found = _rdkit(), []
    for index, graph in enumerate(graphs):
        try:
            found.append(str(chem.MolToSmiles(to_molecule(graph))))
        except ValueError as error:
            raise ValueError(f"graphs[{index}]: {error}") from None
    return found


def atom_label(atom: Any) -> str:
    """Symbol and charge of an RDKit atom."""
    charge = atom.GetFormalCharge()
    return str(atom.GetSymbol()) + ("+" if charge > 0 else "-") * abs(charge)


def _atom(chem: Any, label: Hashable) -> Any:
    parts = _SIGNS.match(str(label))
    if parts is None:
        raise ValueError(
            f"node label {label!r} is not the symbol of an element, such as 'C' or 'N+'."
        )
    try:
        atom = chem.Atom(parts[1])
    except RuntimeError:
        raise ValueError(f"node label {label!r} is not the symbol of an element.") from None
    signs = parts[2] or ""
    atom.SetFormalCharge(len(signs) if signs.startswith("+") else -len(signs))
    return atom


def _checked(chem: Any, draft: Any) -> Any:
    """The molecule, with hydrogen at as few aromatic nitrogens as its rings ask for."""
    places = [
        atom.GetIdx()
        for atom in draft.GetAtoms()
        if atom.GetSymbol() == "N" and atom.GetIsAromatic() and atom.GetDegree() == 2
    ]
    problem: Exception | None = None
    for count in range(min(len(places), 4) + 1):
        for chosen in itertools.combinations(places, count):
            trial = chem.RWMol(draft)
            for place in chosen:
                trial.GetAtomWithIdx(place).SetNumExplicitHs(1)
                trial.GetAtomWithIdx(place).SetNoImplicit(True)
            try:
                chem.SanitizeMol(trial)
            except chem.MolSanitizeException as error:
                problem = problem or error
                continue
            return trial.GetMol()
    raise ValueError(f"not a molecule: {problem}")


def _rdkit() -> Any:
    try:
        from rdkit import Chem, rdBase
    except ImportError:
        raise ImportError("SMILES need RDKit: pip install 'isthmus[chem]'.") from None
    Chem.rdBase = rdBase
    return Chem
