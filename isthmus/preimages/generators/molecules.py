"""A generator of candidates: molecules of a library by formula or by a range of masses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from isthmus._linalg import Array
from isthmus._saved import saved
from isthmus._validation import BaseEstimator, check_number, check_option, warn
from isthmus.kernels import Graph, as_graph
from isthmus.kernels.graphs import edge_marks
from isthmus.preimages.generators.generator import Generator
from isthmus.preimages.generators.order import identity
from isthmus.preimages.graph_rules import bond_order

# Masses of the most abundant isotopes in unified atomic mass units, [AWT2003]_, rounded to 1e-6.
_MASSES = {
    "H": 1.007825, "Li": 7.016005, "B": 11.009305, "C": 12.0, "N": 14.003074, "O": 15.994915,
    "F": 18.998403, "Na": 22.989769, "Mg": 23.985042, "Al": 26.981539, "Si": 27.976927, "P": 30.973762,
    "S": 31.972071, "Cl": 34.968853, "K": 38.963707, "Ca": 39.962591, "Cr": 51.940508, "Mn": 54.938045,
    "Fe": 55.934938, "Co": 58.933195, "Ni": 57.935343, "Cu": 62.929598, "Zn": 63.929142, "As": 74.921597,
    "Se": 79.916521, "Br": 78.918337, "Ag": 106.905097, "Sn": 119.902195, "I": 126.904473,
    "Pt": 194.964791, "Au": 196.966569, "Hg": 201.970643, "Pb": 207.976652,
}  # fmt: skip
# Bonds of an atom without charge; of several the first that is not exceeded.
_VALENCES = {
    "H": (1,), "B": (3,), "C": (4,), "N": (3, 5), "O": (2,), "F": (1,), "Si": (4,), "P": (3, 5),
    "S": (2, 4, 6), "Cl": (1,), "Se": (2, 4, 6), "Br": (1,), "I": (1,),
}  # fmt: skip


def formula(molecule: Any) -> dict[str, int]:
    """Count the atoms of a molecule.

    Parameters
    ----------
    molecule : graph
        Atomic symbols as labels of its nodes. Labels of edges are the orders of bonds: 1, 2, 3 and 1.5
        (aromatic), ``"SINGLE"``, ``"DOUBLE"``, ``"TRIPLE"``, ``"AROMATIC"``, or ``-``, ``=``, ``#``, ``:``;
        without labels all are single. Atoms have as many hydrogens more as their valences leave free.

    Returns
    -------
    atoms : dict of str to int
        Numbers of atoms by symbol.

    Examples
    --------
    >>> from isthmus.preimages.generators import formula
    >>> formula(("CCO", [(0, 1), (1, 2)]))
    {'C': 2, 'O': 1, 'H': 6}
    """
    graph = as_graph(molecule)
    atoms = Counter(str(label) for label in graph.labels)
    added = sum(_free(graph))
    if added:
        atoms["H"] += added
    return dict(atoms)


def _free(graph: Graph) -> list[int]:
    """Free valences of the atoms; those of unknown symbols are none."""
    bonds = np.zeros(graph.n_nodes)
    for (i, j), label in zip(graph.edges, edge_marks(graph, True)):
        bonds[i] += bond_order(label)
        bonds[j] += bond_order(label)
    free = []
    for label, used in zip(graph.labels, np.floor(bonds + 1e-6)):  # three aromatic bonds are four
        left = [v - int(used) for v in _VALENCES.get(str(label), ()) if v >= used]
        free.append(left[0] if left else 0)
    return free


def mass(atoms: Any) -> float:
    """Return the mass of the most abundant isotopes.

    Parameters
    ----------
    atoms : str or dict
        A formula, ``"C2H6O"`` or ``{"C": 2, "H": 6, "O": 1}``.

    Returns
    -------
    mass : float
        In unified atomic mass units.

    Examples
    --------
    >>> from isthmus.preimages.generators import mass
    >>> round(mass("C2H6O"), 4)
    46.0419
    """
    atoms = _as_formula(atoms)
    unknown = sorted(set(atoms) - set(_MASSES))
    if unknown:
        raise ValueError(f"no mass is known for {', '.join(unknown)}: use by='formula'.")
    return float(sum(_MASSES[symbol] * n for symbol, n in atoms.items()))


def _as_formula(value: Any) -> dict[str, int]:
    if isinstance(value, Mapping):
        return {str(symbol): int(n) for symbol, n in value.items() if n}
    parts = re.findall(r"([A-Z][a-z]?)(\d*)", value) if isinstance(value, str) else []
    if not parts or "".join(a + n for a, n in parts) != value:
        raise ValueError(
            f"{value!r} is not a formula such as 'C2H6O' or {{'C': 2, 'H': 6, 'O': 1}}."
        )
    atoms: Counter[str] = Counter()
    for symbol, n in parts:
        atoms[symbol] += int(n or 1)
    return dict(atoms)


@saved(molecules_="n", formulas_="n", masses_="nan n")
class MoleculeLibrary(Generator, BaseEstimator):
    """Propose the molecules of a library that have the formula, or about the mass, of an input.

    All are equally probable, so that :class:`~isthmus.DependencyRegressor` ranks them by its kernels,
    as in the identification of metabolites from spectra whose precursor mass is known, [BPDR2016]_.
    If no molecule qualifies, the one nearest in mass is proposed, with a warning.

    Parameters
    ----------
    molecules : sequence of graphs, default=None
        The library, in any form that kernels of graphs accept; None: the outputs that were fitted.
    of : None, int or callable, default=None
        Where the formula or mass of an input is: None: the input is a molecule itself; an integer: the
        place in the input, as in ``(spectrum, mass)``; a function of the input.
    by : {"mass", "formula"}, default="mass"
        What must agree.
    tolerance : float, default=0.01
        Largest difference of masses.

    Attributes
    ----------
    molecules_ : list
        The library.
    masses_ : ndarray
        Their masses; NaN where an atom has none.
    formulas_ : list of dict
        Their formulas.

    Examples
    --------
    >>> from isthmus.preimages import MoleculeLibrary
    >>> ethanol, ether = ("CCO", [(0, 1), (1, 2)]), ("COC", [(0, 1), (1, 2)])
    >>> propane = ("CCC", [(0, 1), (1, 2)])
    >>> library = MoleculeLibrary([ethanol, ether, propane], of=0).fit(None, None)
    >>> found, log_p = library.candidates([(46.04,)])[0]
    >>> found == [ethanol, ether]
    True
    """

    def __init__(
        self,
        molecules: Any = None,
        *,
        of: Any = None,
        by: str = "mass",
        tolerance: float = 0.01,
    ) -> None:
        self.molecules = molecules
        self.of = of
        self.by = by
        self.tolerance = tolerance

    def fit(self, X: Any, y: Any) -> MoleculeLibrary:
        """Weigh the molecules of the library, or else the outputs ``y``; ``X`` is not used."""
        check_option("by", self.by, ("mass", "formula"))
        check_number("tolerance", self.tolerance, ">= 0")
        given = list(y if self.molecules is None else self.molecules)
        if not given:
            raise ValueError("molecules is empty: name at least one.")
        if self.molecules is None:
            first = {identity(as_graph(m)): m for m in reversed(given)}
            given = list(first.values())[::-1]
        self.molecules_ = given
        self.formulas_ = [formula(m) for m in given]
        self.masses_ = np.array([_mass_or_nan(atoms) for atoms in self.formulas_])
        if self.by == "mass" and np.isnan(self.masses_).any():
            mass(self.formulas_[int(np.isnan(self.masses_).argmax())])  # tells which atom
        return self

    def candidates(self, X: Sequence[Any], n_best: int = 30) -> list[tuple[list[Any], Array]]:
        """Return all molecules that qualify, however many."""
        check_is_fitted(self)
        found, n_lost = [], 0
        for x in X:
            rows = self._rows(self._told(x))
            n_lost += not len(rows)
            rows = rows if len(rows) else self._nearest(self._told(x))
            found.append(
                ([self.molecules_[i] for i in rows], np.full(len(rows), -np.log(len(rows))))
            )
        if n_lost:
            warn(
                f"{n_lost} of {len(found)} inputs have no molecule of their {self.by} in the library: the "
                "nearest in mass is proposed.",
            )
        return found

    def _told(self, x: Any) -> Any:
        """The formula or mass that belongs to an input."""
        if self.of is None:
            return formula(x)
        return self.of(x) if callable(self.of) else x[self.of]

    def _rows(self, told: Any) -> Any:
        if self.by == "formula":
            wanted = _as_formula(told)
            return np.flatnonzero([atoms == wanted for atoms in self.formulas_])
        return np.flatnonzero(np.abs(self.masses_ - _weight(told)) <= self.tolerance)

    def _nearest(self, told: Any) -> Any:
        if np.isnan(self.masses_).all():
            return np.zeros(1, dtype=np.int64)
        return np.array([np.nanargmin(np.abs(self.masses_ - _weight(told)))])


def _weight(told: Any) -> float:
    return mass(told) if isinstance(told, (str, Mapping)) else float(told)


def _mass_or_nan(atoms: dict[str, int]) -> float:
    try:
        return mass(atoms)
    except ValueError:
        return float("nan")
