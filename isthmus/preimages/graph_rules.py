"""Which graphs a search may answer with: connected ones, and those whose bonds the atoms can carry."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import Array

Ints = NDArray[np.int64]

ATOMS = {
    **{"H": 1, "B": 3, "C": 4, "N": 3, "O": 2, "F": 1, "Si": 4, "P": 5, "S": 6},
    **{"Cl": 1, "Br": 1, "I": 1, "N+": 4, "O-": 1, "O+": 3, "N-": 2, "S-": 1, "P+": 4, "B-": 4},
}
"""Most bonds of an atom, by its symbol and charge; double ones count twice."""

_ORDERS = {"SINGLE": 1.0, "DOUBLE": 2.0, "TRIPLE": 3.0, "AROMATIC": 1.5}
_ORDERS |= {"-": 1.0, "=": 2.0, "#": 3.0, ":": 1.5}


class GraphRules:
    """What is asked of graphs, by codes (n, m, m) and labels (m,) or (n, m) as the search has them."""

    def __init__(
        self,
        connected: bool = False,
        valences: Any = None,
        node_names: Sequence[Hashable] = (),
        edge_names: Sequence[Hashable] = (),
    ) -> None:
        self.connected = connected
        self.limits: Array | None = None
        if valences is None:
            return
        table = self._table(valences)
        missing = [name for name in node_names if name not in table]
        if missing:
            raise ValueError(f"valences has no entry for the node label {missing[0]!r}.")
        self.limits = np.array([float(table[name]) for name in node_names])
        self.orders = np.array([0.0, *(bond_order(name) for name in edge_names)])
        self.aromatic = np.array(
            [False, *(str(n).upper() in ("AROMATIC", ":") for n in edge_names)]
        )

    @staticmethod
    def _table(valences: Any) -> Mapping[Any, Any]:
        if isinstance(valences, str) and valences == "atoms":
            return ATOMS
        if isinstance(valences, Mapping):
            return valences
        raise ValueError(
            f"valences == {valences!r}, must be None, 'atoms' or a table of node labels and numbers."
        )

    @property
    def are_any(self) -> bool:
        """Whether anything is asked at all."""
        return self.connected or self.limits is not None

    def allow(self, codes: Ints, labels: Ints) -> NDArray[np.bool_]:
        """Whether each graph is as asked."""
        found = np.ones(len(codes), dtype=bool)
        if self.limits is not None:
            bonds = np.floor(self.orders[codes].sum(axis=2) + 1e-9)
            found &= (bonds <= self.limits[np.broadcast_to(labels, bonds.shape)]).all(axis=1)
            if self.aromatic.any():  # such bonds are found in rings alone
                found &= (self.aromatic[codes].sum(axis=2) != 1).all(axis=1)
        if self.connected:
            found[found] = _is_connected(codes[found])
        return found


def _is_connected(codes: Ints) -> NDArray[np.bool_]:
    m = codes.shape[1]
    reached = (codes > 0) | np.eye(m, dtype=bool)
    for _ in range(max(1, int(np.ceil(np.log2(max(m, 2)))))):
        reached = (
            np.einsum("nij,njk->nik", reached.astype(np.float32), reached.astype(np.float32)) > 0
        )
    return np.asarray(reached[:, 0].all(axis=1))


def bond_order(label: Any) -> float:
    """Return the order of a bond by its label: a number, or a name; edges without labels are single."""
    if label is None:
        return 1.0
    try:
        return _ORDERS.get(str(label).upper()) or float(label)
    except (TypeError, ValueError):
        raise ValueError(
            f"edge label {label!r} is not the order of a bond: use 1, 2, 3, 1.5 or 'SINGLE', 'DOUBLE', "
            "'TRIPLE', 'AROMATIC'."
        ) from None
