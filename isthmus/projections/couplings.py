r"""The matrix ``G`` of the outputs: what distinguishes the supervised projections.

=================  ==============================================  ==========================
coupling           ``G``                                           projections
=================  ==============================================  ==========================
``SliceMeans``     :math:`C (C^\top C)^{-1} C^\top`                SIR, kernel SIR
``OutputSmoother`` :math:`L (L + \alpha_y I)^{-1}`                 COIR, kernel CCA
``Mixture``        :math:`(1 - \beta) K + \beta L`                 MORP, reduced-rank ridge
=================  ==============================================  ==========================

``C`` are slice indicators, ``K`` and ``L`` the centred Gram matrices of inputs and outputs. A coupling
is asked in one of two ways. :meth:`~Coupling.root` answers from moments of output features ``T``, with
``G = T R R' T'``; :meth:`~Coupling.factor` and :meth:`~Coupling.operator` answer from the rows
themselves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from isthmus._linalg import Array, inverse_factor
from isthmus.projections.eigen import Apply, EigenGram, Ridge, ridge_gram

_NO_ROWS = 1e-9  # of all weights: what is left of a slice whose rows were taken away


class Coupling(ABC):
    """A way to turn outputs into ``G``."""

    x_weight = 0.0  # weight of K itself in G
    balanced = False  # whether both sides are brought to trace n

    @abstractmethod
    def root(self, n: float, mean: Array, tt: Array, n_rows: int) -> Array:
        """``R`` with ``G = T R R' T' + x_weight K``, from the means of T and its centred moments.

        ``n`` is the sum of the weights; ``n_rows`` is given where rows do not all count once.
        """

    def check_landmarks(self, kept: int, asked: int) -> None:
        """Refuse landmarks of the outputs from which ``G`` cannot be had."""
        return

    def factor(self, T: Array, weights: Array) -> Array | None:
        """``Q`` with ``G = Q Q'`` from output features; None where there is no such Q.

        Rows of Q are multiplied by the roots of their weights.
        """
        mean = np.average(T, axis=0, weights=weights)
        centred = (T - mean) * np.sqrt(weights)[:, None]
        return centred @ self.root(float(weights.sum()), mean, centred.T @ centred, len(T))

    def operator(self, L: Array, K: Array) -> Apply:
        """``V -> G V`` for a centred output Gram matrix, where ``factor`` has no Q."""
        raise NotImplementedError


class SliceMeans(Coupling):
    """``T`` are slice indicators; a slice without rows (in a fold) counts for nothing."""

    def root(self, n: float, mean: Array, tt: Array, n_rows: int) -> Array:
        counts = n * mean
        some = counts > _NO_ROWS * n
        return np.diag(np.where(some, 1.0 / np.sqrt(np.where(some, counts, 1.0)), 0.0))


class OutputSmoother(Coupling):
    """Ridge smoother of the outputs."""

    def __init__(self, ridge: Ridge) -> None:
        self.ridge = ridge

    def root(self, n: float, mean: Array, tt: Array, n_rows: int) -> Array:
        alpha = self.ridge.at(float(np.trace(tt)))
        if alpha == 0.0:
            found = _range_of(tt, n_rows)
            return found.vectors / np.sqrt(found.values)
        A = tt + alpha * np.eye(len(tt))
        return inverse_factor(A)

    def check_landmarks(self, kept: int, asked: int) -> None:
        """Without a ridge the rank must be seen to end: some landmark depends on the others."""
        if self.ridge.value == 0.0 and kept >= asked:
            raise ValueError(
                f"alpha_y == 0 and none of the {asked} landmarks of the outputs depends on the others: "
                "the output kernel may have full rank, and G would be the span of the landmarks, "
                "whatever the outputs. Give alpha_y > 0, or alpha_y='auto'."
            )

    def operator(self, L: Array, K: Array) -> Apply:
        alpha = self.ridge.at(float(np.trace(L)))
        if alpha == 0.0:
            return _range_of(L, len(L)).smooth
        return ridge_gram(L, alpha).smooth


def _range_of(matrix: Array, n: int) -> EigenGram:
    """The range of centred second moments of n samples, which must not be all there is."""
    found = EigenGram(matrix)
    rank = found.rank
    if rank >= n - 1:
        raise ValueError(
            f"alpha_y == 0 and the output kernel has full rank {rank} on {n} samples: G is then the "
            "identity and the outputs are ignored. Give alpha_y > 0, or alpha_y='auto'."
        )
    return found


class Mixture(Coupling):
    """Inputs and outputs reconstructed together, both of trace n."""

    balanced = True

    def __init__(self, beta: float) -> None:
        self.beta = beta
        self.x_weight = 1.0 - beta

    def root(self, n: float, mean: Array, tt: Array, n_rows: int) -> Array:
        return np.sqrt(self.beta) * np.eye(len(mean))

    def factor(self, T: Array, weights: Array) -> Array | None:
        return super().factor(T, weights) if self.x_weight == 0.0 else None

    def operator(self, L: Array, K: Array) -> Apply:
        a, b = self.x_weight, self.beta
        return lambda V: a * (K @ V) + b * (L @ V)
