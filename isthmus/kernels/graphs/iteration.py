r"""Fixed points ``R = Q + M * sum_e P_e R P'_e^T``, one graph against a column of others.

Two ways to the same numbers, [B2006]_ Sec. 3.4.3 for the equation:

- conjugate gradients, for undirected graphs: the operator is symmetric in coordinates scaled by the
  roots of the degrees, and its eigenvalues are within :math:`(1 - \lambda)^2` of zero;
- the plain iteration, for graphs with directed edges.

X of one graph against all others is as many columns wide as that graph has nodes, and stays in the
processor's cache.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from isthmus._linalg import Array

Step = Callable[[Array], Array]
"""A linear operator."""
_LOOK = 4  # steps between two looks at the change


@dataclass
class Solution:
    """What an iteration found."""

    value: Array
    n_iter: int
    change: float
    converged: bool


def make_step(
    M: Array,
    rows: list[sparse.csr_matrix],
    columns: list[sparse.csr_matrix],
    alike: Array | None,
    scale: float,
) -> Step:
    """``X -> scale M * sum_e P_e X P'_e^T``; ``alike`` are kernel values of edge labels, None: 0/1.

    Transitions are sparse, so that the cost is edges times nodes.
    """
    right = [scale * P for P in columns]
    if alike is not None:  # the sum over the labels of the one graph is taken first
        right = [sum(a * P for a, P in zip(row, right)) for row in alike]
    pairs = [(P, C) for P, C in zip(rows, right) if P.nnz and C.nnz]

    def step(X: Array) -> Array:
        total = np.zeros_like(X)
        for P, C in pairs:
            total += P @ (C @ X.T).T
        total *= M
        return total

    return step


def plain(op: Step, Q: Array, tol: float, max_iter: int) -> Solution:
    """``X <- Q + T X``."""
    X, change = Q, np.inf
    for step in range(1, max_iter + 1):
        previous, X = X, op(X)
        X += Q
        if step % _LOOK == 0 or step == max_iter:
            change = float(np.abs(X - previous).max(initial=0.0))
            if change < tol:
                return Solution(X, step, change, True)
    return Solution(X, max_iter, change, False)


def conjugate_gradients(op: Step, Q: Array, scale: Array, tol: float, max_iter: int) -> Solution:
    """Conjugate gradients for ``scale X``, in which the operator is symmetric.

    ``scale`` is ``sqrt(d_i d'_j / M_ij)``, zero where ``M`` is zero: there X is zero, too.
    """
    inverse = np.where(scale > 0, 1.0 / np.where(scale > 0, scale, 1.0), 0.0)
    Y = scale * Q
    r = scale * op(Q)  # the residual of the first guess Q
    p, rr = r.copy(), float(np.vdot(r, r))
    change = np.inf
    for step in range(1, max_iter + 1):
        if rr == 0.0:
            return Solution(Y * inverse, step, 0.0, True)
        Ap = p - scale * op(p * inverse)
        a = rr / float(np.vdot(p, Ap))
        Y += a * p
        r -= a * Ap
        if step % _LOOK == 0 or step == max_iter:
            change = float(np.abs(r * inverse).max(initial=0.0))
            if change < tol:
                return Solution(Y * inverse, step, change, True)
        rr, before = float(np.vdot(r, r)), rr
        p *= rr / before
        p += r
    return Solution(Y * inverse, max_iter, change, False)
