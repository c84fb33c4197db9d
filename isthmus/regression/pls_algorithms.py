"""The recursions behind ``PLS``: NIPALS and SIMPLS on the features, kernel PLS on the samples.

None of them deflates X. The primal recursion needs of X only the product with X'X, so that moments,
rows in memory and the folds of a cross-validation go through the same lines; it works on a stack
of problems at once, because a thousand leave-one-out problems are then a few matrix products.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.linalg import EPS, Array
from isthmus.linalg.eigen import leading_eigenvector

GramProduct = Callable[[Array], tuple[Array, Array]]
"""Maps directions r (b, p) to X'X r (b, p) and r'X'X r (b,)."""


GRAM_DIGITS = 1e-10
"""A score norm below this fraction of its bound has lost too many digits in a Gram matrix.

The relative error of the fit is then near 1e-10, and 1e-6 a few components later.
"""


@dataclass
class PrimalPath:
    """Components of a stack of ``b`` problems, one component a row: (b, k, p) and (b, k, q)."""

    weights: Array
    rotations: Array
    x_cross: Array  # X'T
    y_loadings: Array
    score_norms: Array  # t't, (b, k)
    n_found: Array  # (b,)

    def digits_lost(self, norm: Any) -> NDArray:
        """Whether r'X'Xr fell so far below ``norm`` r'r that X'X has too few digits of it, (b,)."""
        bound = norm * np.einsum("bkp,bkp->bk", self.rotations, self.rotations)
        return (self.score_norms < GRAM_DIGITS * bound).any(axis=1)


@dataclass
class DualPath:
    """Components of one problem in the coordinates of its samples: w = X'weights, r = X'rotations."""

    weights: Array  # (n, k), as are the next three
    rotations: Array
    scores: Array
    gram_scores: Array  # K T
    y_loadings: Array  # (q, k)
    score_norms: Array  # t't, (k,)

    @property
    def n_found(self) -> int:
        return self.scores.shape[1]


def primal_pls(
    cross: Array, gram_product: GramProduct, n_components: int, *, tol: float, simpls: bool = False
) -> PrimalPath:
    r"""NIPALS or SIMPLS components from ``cross`` = X'Y (b, p, q) and the product with X'X.

    NIPALS (PLS2) without deflating X, after [DM1997]_:

    .. math::
        w_i = \text{leading left singular vector of } S_i, \quad
        r_i = w_i - \sum_{j<i} (p_j^\top w_i) r_j, \quad t_i = X r_i

    with loadings :math:`p_i = X^\top t_i / t_i^\top t_i`, :math:`q_i = S_i^\top r_i / t_i^\top t_i` and
    :math:`S_{i+1} = S_i - (t_i^\top t_i)\, p_i q_i^\top`. SIMPLS [dJ1993]_ takes :math:`r_i = w_i` and
    projects :math:`S` off the span of the loadings instead. A problem of the stack ends when its
    leading singular value falls to ``tol`` times the norm of X'Y; its later components are zero.
    """
    b, p, n_outputs = cross.shape
    k = n_components
    # Y'X has long rows, which memory likes, in fours, which BLAS likes; those added stay zero.
    q = n_outputs if n_outputs == 1 else n_outputs + -n_outputs % 4
    first = np.zeros((b, q, p))
    first[:, :n_outputs] = _t(cross)
    S, step = first.copy() if simpls else first, np.empty_like(first)
    weights, rotations, x_cross = (np.zeros((b, k, p)) for _ in range(3))
    basis = np.zeros((b, k if simpls else 0, p))  # orthonormal, of the loadings
    y_loadings, score_norms = np.zeros((b, k, q)), np.zeros((b, k))
    inverses = np.zeros((b, k))  # 1 / t't
    floor = tol * np.sqrt(np.einsum("bqp,bqp->b", S, S))
    alive = floor > 0
    n_found = np.zeros(b, dtype=int)
    for i in range(k):
        w, strength = _leading_right(S)
        alive &= strength > floor
        if not alive.any():
            break
        w *= alive[:, None]
        r = w
        if not simpls:
            overlaps = _times(x_cross[:, :i], w) * inverses[:, :i]  # p_j'w
            r = w - _times(_t(rotations[:, :i]), overlaps)
        h, tt = gram_product(r)
        alive &= tt > 0
        inverse = inverses[:, i] = alive / np.where(alive, tt, 1.0)
        y_loading = _times(first if simpls else S, r) * inverse[:, None]
        weights[:, i], rotations[:, i], x_cross[:, i] = w, r * alive[:, None], h * alive[:, None]
        y_loadings[:, i], score_norms[:, i] = y_loading, tt * alive
        n_found += alive
        if simpls:
            v = h * inverse[:, None]
            for _ in range(2):  # once is not enough when the loadings are nearly dependent
                v = v - _times(_t(basis[:, :i]), _times(basis[:, :i], v))
            v /= np.maximum(np.linalg.norm(v, axis=1, keepdims=True), np.finfo(float).tiny)
            basis[:, i] = v
            S -= np.multiply(_times(S, v)[:, :, None], v[:, None, :], out=step)
        else:
            S -= np.multiply(y_loading[:, :, None], h[:, None, :], out=step)
    return PrimalPath(
        weights, rotations, x_cross, y_loadings[:, :, :n_outputs], score_norms, n_found
    )


def dual_pls(gram: Array, Y: Array, n_components: int, *, tol: float) -> DualPath:
    r"""Kernel PLS [RT2001]_ from the centred Gram matrix K = XX' (n, n) and Y (n, q).

    The NIPALS components in the coordinates of the samples, :math:`w_i = X^\top u_i` and
    :math:`r_i = X^\top a_i`:

    .. math::
        u_i = Y_i c_i / \|X^\top Y_i c_i\|, \quad a_i = u_i - \sum_{j<i} (p_j^\top w_i) a_j, \quad
        t_i = K a_i, \quad Y_{i+1} = Y_i - t_i q_i^\top

    with :math:`c_i` the leading eigenvector of :math:`Y_i^\top K Y_i`. K is not deflated: :math:`Y_i` is
    orthogonal to the earlier scores already. Taking :math:`t_i` from :math:`a_i`, and not from
    :math:`K u_i` less its part along the earlier scores, saves up to six digits.
    """
    n, q = Y.shape
    Y, KY = np.array(Y), gram @ Y
    U, A, T, KT = (np.zeros((n_components, n)) for _ in range(4))
    Q, norms = np.zeros((n_components, q)), np.zeros(n_components)
    found, norm = 0, np.linalg.norm(gram)
    for i in range(n_components):
        strength, c = leading_eigenvector(Y.T @ KY)  # ||X'Y_i||^2, with the rounding errors of K
        if strength <= tol * norm * np.einsum("ij,ij->", Y, Y):
            break
        u = (Y @ c) / np.sqrt(strength)
        a = u - A[:i].T @ ((KT[:i] @ u) / norms[:i])
        t = gram @ a
        t -= T[:i].T @ ((T[:i] @ t) / norms[:i])
        norms[i] = t @ t
        if norms[i] <= 0:
            break
        Q[i] = (t @ Y) / norms[i]
        U[i], A[i], T[i], KT[i] = u, a, t, gram @ t
        Y -= np.outer(t, Q[i])
        KY -= np.outer(KT[i], Q[i])
        found = i + 1
    U, A, T, KT, Q = (F[:found].T for F in (U, A, T, KT, Q))
    return DualPath(U, A, T, KT, Q, norms[:found])


def _leading_right(S: Array) -> tuple[Array, Array]:
    """Leading right singular vector (b, p) and singular value (b,) of each S (q, p)."""
    q, p = S.shape[1:]
    if q <= p:
        w = S[:, 0].copy() if q == 1 else _times(_t(S), leading_eigenvector(S @ _t(S))[1])
        strength = np.linalg.norm(w, axis=1)
        return w / np.where(strength > 0, strength, 1.0)[:, None], strength
    values, w = leading_eigenvector(_t(S) @ S)
    return w, np.sqrt(np.maximum(values, 0.0))


def _times(A: Array, x: Array) -> Array:
    return (A @ x[:, :, None])[:, :, 0]


def _t(A: Array) -> Array:
    return A.transpose(0, 2, 1)


def moment_product(H: Array) -> GramProduct:
    """The product with an explicit X'X."""

    def product(r: Array) -> tuple[Array, Array]:
        h = r @ H
        return h, np.einsum("bp,bp->b", r, h)

    return product


def row_product(rows: Any, scores: list[Array]) -> GramProduct:
    """The product through the scores X r, which are kept: twice the digits of an explicit X'X."""

    def product(r: Array) -> tuple[Array, Array]:
        t = rows.times(r[0])
        scores.append(t)
        return rows.along(t)[None], np.array([t @ t])

    return product


def rank_tolerance(n_samples: int, n_features: int) -> float:
    """Below this fraction of the leading one, a singular value is rounding error."""
    return max(n_samples, n_features) * EPS
