"""The rows at which a compressed expansion is fitted to the outputs of the original."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from isthmus._linalg import BLOCK, Array, row_blocks
from isthmus.compression.refit import OutputFit, fit_outputs
from isthmus.compression.select import Problem, memory_bound
from isthmus.expansion import Expansion
from isthmus.kernels import Pursuit, gram, gram_diagonal, length, take

_WORKING_COPIES = 8  # of them, in other bases and beside the outputs


class OutputRows:
    """The rows at which outputs are fitted, and the original's outputs there."""

    def __init__(self, expansion: Expansion, problem: Problem, X: Any) -> None:
        self.expansion, self.problem = expansion, problem
        self.own = X is None
        constant = np.broadcast_to(expansion.intercept, (problem.coef.shape[1],))
        self.rows = problem.points if X is None else X.tocsr() if issparse(X) else X
        if X is None:
            self.outputs = problem.values + constant
        else:
            self.outputs = expansion(X).reshape(length(X), -1)

    def fit(self, points: Any, order: NDArray | None, pursuit: Pursuit) -> OutputFit:
        """Least squares on the outputs with the first 0, 1, .. points."""
        blocks = self._blocks(points, order)
        return fit_outputs(blocks, pursuit.triangle, pursuit.T, lengths=self._lengths())

    def _lengths(self) -> Array | None:
        """``k(x, x)`` of the rows; None where it is no squared length."""
        if self.problem.indefinite:
            return None
        if self.own:
            return self.problem.diagonal()
        if self.expansion.is_precomputed:
            return np.array(np.asarray(self.rows).diagonal(), dtype=np.float64)
        return np.asarray(gram_diagonal(self.problem.kernel, self.rows), dtype=np.float64)

    def _blocks(self, points: Any, order: NDArray | None) -> Iterator[tuple[Array, Array]]:
        n_values = min(BLOCK, int(memory_bound() / (8 * _WORKING_COPIES)))
        size = max(1, n_values // max(length(points), 1))
        for part in row_blocks(len(self.outputs), size):
            yield self._values(part, points, order), self.outputs[part]

    def _values(self, part: slice | NDArray, points: Any, order: NDArray | None) -> Array:
        if not self.expansion.is_precomputed:
            rows = take(self.rows, part)
            return np.asarray(gram(self.problem.kernel, rows, points), dtype=np.float64)
        if self.own:
            assert self.problem.matrix is not None
            return self.problem.matrix[part][:, order]
        return np.asarray(self.rows, dtype=np.float64)[part][:, np.asarray(points)]
