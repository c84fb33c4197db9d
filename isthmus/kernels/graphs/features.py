"""What the kernels of counts share: sparse features, and inner products of them."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy import sparse

from isthmus._linalg import Array
from isthmus.kernels.graphs.graph import Graph, as_graphs
from isthmus.kernels.structured import StructuredKernel


class FeatureKernel(StructuredKernel):
    """Inner product of sparse features of graphs, which are counted over all graphs of a call."""

    node_label: str
    edge_label: str = "label"

    def _convert(self, X: Any, name: str) -> list[Graph]:
        return as_graphs(X, name, self.node_label, self.edge_label)

    @abstractmethod
    def _features(self, graphs: list[Graph]) -> sparse.csr_matrix:
        """Features of all graphs, one row each."""

    def features(self, X: Any) -> sparse.csr_matrix:
        """Return the features whose inner products are the kernel before it is normalised.

        Parameters
        ----------
        X : sequence of graphs
            Columns are numbered by what occurs in them: only rows of one call can be compared.

        Returns
        -------
        sparse matrix of shape (n_X, n_features)
        """
        self._check()
        return self._features(self._convert(X, "X"))

    def _matrix(self, X: list[Graph], Y: list[Graph] | None) -> Array:
        F = self._features(X if Y is None else [*X, *Y])
        left = F[: len(X)]
        right = F if Y is None else F[len(X) :]
        return np.asarray((left @ right.T).toarray())

    def _diagonal(self, X: list[Graph]) -> Array:
        F = self._features(X)
        return np.asarray(F.multiply(F).sum(axis=1)).ravel()
