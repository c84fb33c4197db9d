r"""Fixed points ``R = Q + M * sum_e P_e R P'_e^T``, one graph against a column of others.

Three ways to the same numbers, [B2006]_ Sec. 3.4.3 for the equation:

- the plain iteration, for graphs with directed edges;
- Chebyshev's semi-iteration, for undirected ones: all eigenvalues of the operator are real and within
  :math:`\rho = (1 - \lambda)^2` of zero, [GV1961]_;
- conjugate gradients on the symmetrised system, for a small ``stop``.

X of one graph against all others is as many columns wide as that graph has nodes, and stays in the
processor's cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import sparse

from isthmus._linalg import Array, row_blocks

CG_BELOW = 0.05
"""Conjugate gradients need fewer steps than Chebyshev's iteration for a ``stop`` below this."""
_DENSE = 48  # nodes up to which the transitions of one graph are a dense matrix
_LOOK = 4  # steps between two looks at the change
_BLOCK = 2**14  # numbers of a block of rows, such that the block and its like stay in the cache


@dataclass
class Solution:
    """What an iteration found."""

    value: Array
    n_iter: int
    change: float
    converged: bool


class Stepper(Protocol):
    """A linear operator whose results come a block of rows at a time."""

    blocks: list[slice]

    def begin(self, X: Array) -> None: ...

    def rows(self, number: int) -> Array: ...

    def __call__(self, X: Array) -> Array: ...


class Operator:
    """``X -> scale M * sum_e P_e X P'_e^T``; ``alike`` are kernel values of edge labels, None: 0/1.

    The transitions of a small graph are a dense matrix, for which products are fastest; those of a
    large one stay sparse, so that the cost is edges times nodes. The products are made a block of rows at a
    time: what is done to a block afterwards finds it in the cache, and nothing of the size of X is
    allocated in a step.
    """

    def __init__(
        self,
        M: Array,
        rows: list[sparse.csr_matrix],
        columns: list[sparse.csr_matrix],
        alike: Array | None,
        scale: float,
    ) -> None:
        right = [scale * P for P in columns]
        if alike is not None:  # the sum over the labels of the one graph is taken first
            right = [sum(a * P for a, P in zip(row, right)) for row in alike]
        pairs = [(P, C) for P, C in zip(rows, right) if P.nnz and C.nnz]
        n, m = M.shape
        size = max(1, _BLOCK // m)
        self.M, self.small = M, m <= _DENSE
        self.blocks = list(row_blocks(n, size))
        self.left = [
            [P if len(self.blocks) == 1 else P[block] for P, _ in pairs] for block in self.blocks
        ]
        self.right = [np.ascontiguousarray(C.toarray().T) if self.small else C for _, C in pairs]
        self.products = [np.empty((n, m)) for _ in pairs]

    def begin(self, X: Array) -> None:
        """Take ``X P'_e^T`` for all e; :meth:`rows` is then about this X."""
        for C, product in zip(self.right, self.products):
            if self.small:
                np.matmul(X, C, out=product)
                continue
            for block in self.blocks:
                product[block] = (C @ np.ascontiguousarray(X[block].T)).T

    def rows(self, number: int) -> Array:
        """The result in one of the blocks of rows, in memory of its own."""
        block = self.blocks[number]
        if not self.products:
            return np.zeros((block.stop - block.start, self.M.shape[1]))
        out = self.left[number][0] @ self.products[0]
        for P, product in zip(self.left[number][1:], self.products[1:]):
            out += P @ product
        out *= self.M[block]
        return np.asarray(out)

    def __call__(self, X: Array) -> Array:
        self.begin(X)
        if len(self.blocks) == 1:
            return self.rows(0)
        out = np.empty_like(X)
        for number, block in enumerate(self.blocks):
            out[block] = self.rows(number)
        return out


def plain(op: Stepper, Q: Array, tol: float, max_iter: int) -> Solution:
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


def chebyshev(op: Stepper, Q: Array, rho: float, tol: float, max_iter: int) -> Solution:
    """``X_{k+1} = w_{k+1} (T X_k + Q - X_{k-1}) + X_{k-1}``, written over ``X_{k-1}``."""
    before, X = Q.copy(), op(Q)
    X += Q
    w, change = 1.0 / (1.0 - rho**2 / 2.0), np.inf
    for step in range(2, max_iter + 1):
        look = step % _LOOK == 0 or step == max_iter
        change = 0.0
        op.begin(X)
        for number, block in enumerate(op.blocks):
            new, old = op.rows(number), before[block]
            new += Q[block]
            new *= w
            old *= 1.0 - w
            old += new
            if look:
                np.subtract(old, X[block], out=new)
                change = max(change, float(np.abs(new, out=new).max()))
        before, X = X, before
        w = 1.0 / (1.0 - rho**2 * w / 4.0)
        if look and change < tol:
            return Solution(X, step, change, True)
    return Solution(X, max_iter, change, False)


def conjugate_gradients(op: Stepper, Q: Array, scale: Array, tol: float, max_iter: int) -> Solution:
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
