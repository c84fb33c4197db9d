"""The recursions behind ``PLS``: NIPALS and SIMPLS on the features, kernel PLS on the samples.

None of them deflates X. The primal recursion needs of X only the scores of directions: those that are
vectors have all the digits of X, those known from X'X half of them. It works on a stack of problems at
once, because a thousand leave-one-out problems are then a few matrix products.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from isthmus.linalg import Array
from isthmus.linalg.eigen import leading_eigenvector
from isthmus.problems.moments import MomentScores
from isthmus.problems.rows import RowScores, off


@dataclass
class PrimalPath:
    """Components of a stack of ``b`` problems, one component a row: (b, k, p) and (b, k, q)."""

    weights: Array
    rotations: Array
    x_cross: Array  # X'T
    y_loadings: Array
    score_norms: Array  # t't, (b, k)
    n_found: Array  # (b,)


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
    cross: Array,
    scores: RowScores | MomentScores,
    n_components: int,
    tol: float,
    simpls: bool = False,
) -> PrimalPath:
    r"""NIPALS or SIMPLS components from ``cross`` = X'Y (b, p, q) and the scores of directions.

    NIPALS (PLS2) without deflating X, after [DM1997]_:

    .. math::
        w_i = \text{leading left singular vector of } S_i, \quad
        r_i = w_i - \sum_{j<i} (p_j^\top w_i) r_j, \quad t_i = X r_i

    with loadings :math:`p_i = X^\top t_i / t_i^\top t_i`, :math:`q_i = Y^\top t_i / t_i^\top t_i` and
    :math:`S_{i+1} = S_i - (t_i^\top t_i)\, p_i q_i^\top`. SIMPLS [dJ1993]_ projects :math:`S` off the span
    of the loadings instead; its rotations are shown with unit length. A problem of the stack ends when
    its leading singular value falls to ``tol`` times the norm of X'Y; its later components are zero.
    """
    b, p, n_outputs = cross.shape
    k = n_components
    # Y'X has long rows, which memory likes, in fours, which BLAS likes; those added stay zero.
    q = n_outputs if n_outputs == 1 else n_outputs + -n_outputs % 4
    first = np.zeros((b, q, p))
    first[:, :n_outputs] = _t(cross)
    S, step = first.copy() if simpls else first, np.empty_like(first)
    weights = np.zeros((b, k, p))
    basis = np.zeros((b, k if simpls else 0, p))  # orthonormal, of the loadings
    y_loadings, score_norms = np.zeros((b, k, q)), np.zeros((b, k))
    floor = tol * np.sqrt(np.einsum("bqp,bqp->b", S, S))
    alive = floor > 0
    n_found = np.zeros(b, dtype=int)
    for i in range(k):
        w, strength = _leading_right(S)
        alive &= strength > floor
        if not alive.any():
            break
        if b == 1:  # the digits of a stack are looked at afterwards, which is cheaper
            direction = off(w[0], weights[0, :i])[0]
            w[0] = direction / sqrt(direction @ direction)
        weights[:, i] = w * alive[:, None]
        tt = scores.add(weights[:, i], i)
        alive &= tt > 0
        inverse = alive / np.where(alive, tt, 1.0)
        y_loading = scores.outputs(first if simpls else S, i) * inverse[:, None]
        h = scores.x_cross[:, i]
        y_loadings[:, i], score_norms[:, i] = y_loading, tt * alive
        n_found += alive
        if simpls:
            for problem, v in zip(basis, h):
                v = off(v, problem[:i])[0]
                problem[i] = v / (np.linalg.norm(v) or 1.0)
            v = basis[:, i]
            S -= np.multiply(_times(S, v)[:, :, None], v[:, None, :], out=step)
        else:
            S -= np.multiply(y_loading[:, :, None], h[:, None, :], out=step)
    path = PrimalPath(
        weights,
        scores.rotations(weights),
        scores.x_cross,
        y_loadings[:, :, :n_outputs],
        score_norms,
        n_found,
    )
    if simpls:
        _shorten(path)
    return path


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
        strength = np.sqrt(np.einsum("bp,bp->b", w, w))
        w /= np.where(strength > 0, strength, 1.0)[:, None]
        return w, strength
    values, w = leading_eigenvector(_t(S) @ S)
    return w, np.sqrt(np.maximum(values, 0.0))


def _shorten(path: PrimalPath) -> None:
    """Show rotations with unit length, which are the weights of SIMPLS."""
    lengths = np.linalg.norm(path.rotations, axis=2)
    lengths = np.where(lengths > 0, lengths, 1.0)
    path.rotations = path.rotations / lengths[:, :, None]
    path.x_cross = path.x_cross / lengths[:, :, None]
    path.y_loadings = path.y_loadings * lengths[:, :, None]
    path.score_norms = path.score_norms / lengths**2
    path.weights = path.rotations


def _times(A: Array, x: Array) -> Array:
    return (A @ x[:, :, None])[:, :, 0]


def _t(A: Array) -> Array:
    return A.transpose(0, 2, 1)
