"""Kernel PLS: the components of partial least squares in the coordinates of the samples."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from isthmus._linalg import leading_eigenvector
from isthmus.problems import GRAM_DIGITS, GramForm
from isthmus.regression.factors import Factors


def solve_dual(form: GramForm, n_components: int, tol: float) -> Factors | None:
    r"""Kernel PLS [RT2001]_ from the centred Gram matrix K = XX' (n, n) and Y (n, q).

    The NIPALS components in the coordinates of the samples, :math:`w_i = X^\top u_i` and
    :math:`r_i = X^\top a_i`:

    .. math::
        u_i = Y_i c_i / \|X^\top Y_i c_i\|, \quad a_i = u_i - \sum_{j<i} (p_j^\top w_i) a_j, \quad
        t_i = K a_i, \quad Y_{i+1} = Y_i - t_i q_i^\top

    with :math:`c_i` the leading eigenvector of :math:`Y_i^\top K Y_i`. K is not deflated: :math:`Y_i` is
    orthogonal to the earlier scores already. Taking :math:`t_i` from :math:`a_i`, and not from
    :math:`K u_i` less its part along the earlier scores, saves up to six digits. None where the Gram
    matrix lacks digits for as many components.
    """
    gram, Y = form.gram, np.array(form.Y)
    n, q = Y.shape
    KY, norm = gram @ Y, np.linalg.norm(gram)
    U, A, T, KT = (np.zeros((n_components, n)) for _ in range(4))
    Q = np.zeros((n_components, q))
    norms = np.zeros(n_components)
    for i in range(n_components):
        strength, c = leading_eigenvector(Y.T @ KY)  # ||X'Y_i||^2, with the rounding errors of K
        if strength <= tol * norm * np.einsum("ij,ij->", Y, Y):
            return None
        u = (Y @ c) / np.sqrt(strength)
        a = u - A[:i].T @ ((KT[:i] @ u) / norms[:i])
        t = gram @ a
        t -= T[:i].T @ ((T[:i] @ t) / norms[:i])
        norms[i] = t @ t
        # In the coordinates of the samples t = K a loses its digits to ||K|| ||a||.
        if not np.sqrt(norms[i]) > GRAM_DIGITS * norm * np.linalg.norm(a):
            return None
        Q[i] = (t @ Y) / norms[i]
        U[i], A[i], T[i], KT[i] = u, a, t, gram @ t
        Y -= np.outer(t, Q[i])
        KY -= np.outer(KT[i], Q[i])
    pw = (KT @ U.T) / norms[:, None]  # P'W, R = W (P'W)^-1
    return Factors(
        rotations=A.T,
        mix=solve_triangular(pw, np.eye(n_components), unit_diagonal=True),
        y_loadings=Q.T,
        weights=U.T,
        x_cross=T.T,
        y_cross=norms[:, None] * Q,
        gram=np.diag(norms),
        solver="dual",
        scores=T.T,
    )
