"""Kernel PLS: the components of partial least squares in the coordinates of the samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from isthmus._linalg import Array, leading_eigenvector
from isthmus.problems import GramForm
from isthmus.problems.form import GRAM_DIGITS
from isthmus.regression.factors import Factors


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


def solve_dual(form: GramForm, k: int, tol: float) -> Factors | None:
    """Factors in the coordinates of the samples; None where the Gram matrix lacks digits for them."""
    path = dual_pls(form.gram, form.Y, k, tol=tol)
    # In the coordinates of the samples t = K a loses its digits to ||K|| ||a||.
    bound = np.linalg.norm(form.gram) * np.linalg.norm(path.rotations, axis=0)
    if path.n_found < k or (np.sqrt(path.score_norms) < GRAM_DIGITS * bound).any():
        return None
    pw = (path.gram_scores.T @ path.weights) / path.score_norms[:, None]  # P'W, R = W (P'W)^-1
    return Factors(
        rotations=path.rotations,
        mix=solve_triangular(pw, np.eye(path.n_found), unit_diagonal=True),
        y_loadings=path.y_loadings,
        weights=path.weights,
        x_cross=path.scores,
        y_cross=path.score_norms[:, None] * path.y_loadings.T,
        gram=np.diag(path.score_norms),
        solver="dual",
        scores=path.scores,
    )
