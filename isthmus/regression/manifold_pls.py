"""Partial least squares with all components found at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus._linalg import Array
from isthmus._validation import check_option
from isthmus.regression.factors import Factors
from isthmus.regression.optimum import RankConstrained


class ManifoldPLS(RankConstrained):
    r"""Fit PLS with orthonormal scores, all components at once [CSGHY]_.

    .. math::
        \text{grassmann:}\quad \max_{W^\top X^\top X W = I} \|Y^\top X W\|_F^2 \qquad\qquad
        \text{product:}\quad \max_{W^\top X^\top X W = I,\ \|u_j\| = 1} \sum_j u_j^\top Y^\top X w_j

    Both have closed forms. With :math:`X = U D B^\top` and :math:`U^\top Y = P \Sigma Q^\top` the first
    is solved by :math:`W = B D^{-1} P_c`, the second by the same W times the rotation that gives all
    scores equal covariance with Y. **The two share their map**, which is the reduced rank optimum; they
    differ in the basis in which it is shown. With ``IndicatorClassifier`` it is the paper's classifier; the
    conjugate gradients of the paper are in ``isthmus.papers.riemannian_pls``.

    Parameters
    ----------
    n_components : int, "auto" or None, default=None
        Number of scores c; at most the rank of :math:`U^\top Y`, which is None.
    manifold : {"grassmann", "product"}, default="grassmann"
        Which of the two models.
    alpha : float or "auto", default="auto"
        Ridge weight, chosen as in ``ReducedRankRegression``; the models above have 0. If X interpolates
        balanced indicators, all singular values are tied then and every subspace is optimal: the one with
        the smallest coefficients is taken, which is the limit of small ridges.
    scale : bool or "y", default=False
        Whether columns of X and y are divided by their standard deviations; "y": those of y alone. With
        False, outputs of large variance count more: the fit depends on the units of the outputs.

    Attributes
    ----------
    coef_, intercept_, coef_path_, n_components_ :
        As in ``PLS``, and so are the means, scales, loadings and explained variances.
    x_rotations_ : ndarray of shape (n_features, n_components_)
        W. With ``alpha=0`` the training scores ``X W`` are orthonormal.
    objective_ : float
        The value of the criterion that is maximised.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus import ManifoldPLS
    >>> from isthmus.datasets import make_low_rank_regression
    >>> X, Y, coef = make_low_rank_regression(60, 8, 4, rank=2, random_state=0)
    >>> grassmann, product = (
    ...     ManifoldPLS(2, manifold=m).fit(X, Y) for m in ("grassmann", "product")
    ... )
    >>> bool(np.allclose(grassmann.coef_, product.coef_))
    True
    """

    _min_components = 1
    missing = "error"

    def __init__(
        self,
        n_components: Any = None,
        *,
        manifold: str = "grassmann",
        alpha: Any = "auto",
        scale: bool | str = False,
    ) -> None:
        self.n_components = n_components
        self.manifold = manifold
        self.alpha = alpha
        self.scale = scale

    def _check_parameters(self) -> int | None:
        check_option("manifold", self.manifold, ("grassmann", "product"))
        return super()._check_parameters()

    def _turn(self, factors: Factors) -> tuple[Array, Array] | None:
        if not factors.y_loadings.shape[1]:
            return None
        # The nested rotations are B g P Sigma, so T'Y has rows sigma_i^2 q_i; W = B g P.
        sigma = np.sqrt(np.einsum("kq,qk->k", factors.y_cross, factors.y_loadings))
        if self.manifold == "grassmann":
            self.objective_ = float((sigma**2).sum())
            return np.diag(1.0 / sigma), np.diag(sigma)
        self.objective_ = float(np.sqrt(len(sigma) * (sigma**2).sum()))
        turn = equalising_rotation(sigma**2)
        return turn / sigma[:, None], turn.T * sigma


def equalising_rotation(values: Array) -> Array:
    r"""Orthogonal O for which the diagonal of :math:`O^\top \operatorname{diag}(v) O` is constant.

    Schur and Horn: the mean lies between the smallest and the largest entry, so that one Givens rotation
    of those two makes one diagonal entry the mean; c - 1 of them make all.
    """
    c = len(values)
    turn = np.eye(c)
    diagonal = np.diag(np.asarray(values, dtype=float))
    mean = float(np.mean(values))
    open_entries = list(range(c))
    while len(open_entries) > 1:
        d = diagonal.diagonal()
        low = min(open_entries, key=lambda i: d[i])
        high = max(open_entries, key=lambda i: d[i])
        if d[high] - d[low] <= 16 * c * np.finfo(float).eps * abs(mean):
            break  # equal to rounding, as tied singular values are
        G = _givens(diagonal, low, high, mean)
        diagonal, turn = G.T @ diagonal @ G, turn @ G
        open_entries.remove(low)
    return turn


def _givens(S: Array, i: int, j: int, target: float) -> Array:
    """Rotation in the plane (i, j) after which entry (i, i) of G'SG is ``target``."""
    a, b, m = S[i, i], S[j, j], S[i, j]
    # (a - target) + 2 m t + (b - target) t^2 = 0 for t = tan(angle), with a < target < b
    root = np.sqrt(max(m * m - (a - target) * (b - target), 0.0))
    t = (-m + root) / (b - target) if b != target else 0.0
    cosine = 1.0 / np.hypot(1.0, t)
    G = np.eye(len(S))
    G[i, i], G[j, i], G[i, j], G[j, j] = cosine, t * cosine, -t * cosine, cosine
    return G
