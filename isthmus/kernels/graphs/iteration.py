r"""Fixed points ``R = Q + M * sum_e P_e R P'_e^T``, one graph against a column of others.

Three roads to the same numbers, [B2006]_ Sec. 3.4.3 for the equation:

- the plain iteration, for graphs with directed edges;
- Chebyshev's semi-iteration, for undirected ones: all eigenvalues of the operator are real and within
  :math:`\rho = (1 - \lambda)^2` of zero, [GV1961]_;
- conjugate gradients on the symmetrised system, for a small ``stop``.

X of one graph against all others is as many columns wide as that graph has nodes, and stays in the
processor's cache.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from isthmus.linalg import Array

CG_BELOW = 0.05
"""Conjugate gradients need fewer steps than Chebyshev's iteration for a ``stop`` below this."""
_DENSE = 48  # nodes up to which the transitions of one graph are a dense matrix
_LOOK = 4  # steps between two looks at the change


@dataclass
class Solution:
    """What an iteration found."""

    value: Array
    n_iter: int
    change: float
    converged: bool


def operator(
    M: Array,
    rows: list[sparse.csr_matrix],
    columns: list[sparse.csr_matrix],
    alike: Array | None,
    scale: float,
) -> Callable[[Array], Array]:
    """``X -> scale M * sum_e P_e X P'_e^T``; ``alike`` are kernel values of edge labels, None: 0/1.

    The transitions of a small graph are a dense matrix, for which products are fastest; those of a
    large one stay sparse, so that the cost is edges times nodes.
    """
    right = [scale * P for P in columns]
    if alike is not None:  # the sum over the labels of the one graph is taken first
        right = [sum(a * P for a, P in zip(row, right)) for row in alike]
    pairs = [(P, C) for P, C in zip(rows, right) if P.nnz and C.nnz]
    if M.shape[1] <= _DENSE:
        dense = [(P, np.ascontiguousarray(C.toarray().T)) for P, C in pairs]

        def step(X: Array) -> Array:
            out = dense[0][0] @ (X @ dense[0][1])
            for P, Ct in dense[1:]:
                out += P @ (X @ Ct)
            return np.asarray(out)
    else:

        def step(X: Array) -> Array:
            Xt = np.ascontiguousarray(X.T)
            out = pairs[0][0] @ np.ascontiguousarray((pairs[0][1] @ Xt).T)
            for P, C in pairs[1:]:
                out += P @ np.ascontiguousarray((C @ Xt).T)
            return np.asarray(out)

    def apply(X: Array) -> Array:
        if not pairs:
            return np.zeros_like(X)
        out = step(X)
        out *= M
        return out

    return apply


def plain(op: Callable[[Array], Array], Q: Array, tol: float, max_iter: int) -> Solution:
    """``X <- Q + T X``."""
    X, change = Q, np.inf
    for step in range(1, max_iter + 1):
        previous, X = X, op(X)
        X += Q
        if step % _LOOK == 0 or step == max_iter:
            change = float(np.abs(X - previous).max())
            if change < tol:
                return Solution(X, step, change, True)
    return Solution(X, max_iter, change, False)


def chebyshev(
    op: Callable[[Array], Array], Q: Array, rho: float, tol: float, max_iter: int
) -> Solution:
    """``X_{k+1} = w_{k+1} (T X_k + Q - X_{k-1}) + X_{k-1}``."""
    before, X = Q, op(Q)
    X += Q
    w, change = 1.0 / (1.0 - rho**2 / 2.0), np.inf
    for step in range(2, max_iter + 1):
        after = op(X)
        after += Q
        after -= before
        after *= w
        after += before
        before, X = X, after
        w = 1.0 / (1.0 - rho**2 * w / 4.0)
        if step % _LOOK == 0 or step == max_iter:
            change = float(np.abs(X - before).max())
            if change < tol:
                return Solution(X, step, change, True)
    return Solution(X, max_iter, change, False)


def conjugate_gradients(
    op: Callable[[Array], Array], Q: Array, scale: Array, tol: float, max_iter: int
) -> Solution:
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
            change = float(np.abs(r * inverse).max())
            if change < tol:
                return Solution(Y * inverse, step, change, True)
        rr, before = float(np.vdot(r, r)), rr
        p *= rr / before
        p += r
    return Solution(Y * inverse, max_iter, change, False)
