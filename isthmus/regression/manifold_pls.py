"""Partial least squares whose factors are found together, on a Riemannian manifold."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from isthmus.geometry import (
    GeneralisedGrassmann,
    GeneralisedStiefel,
    Grassmann,
    Oblique,
    Product,
    Stiefel,
)
from isthmus.linalg import Array
from isthmus.problems import Form, RowForm
from isthmus.regression.factors import Factors
from isthmus.regression.optimum import RankConstrained, tie_warning
from isthmus.solvers import SolverResult, conjugate_gradient
from isthmus.validation import check_option, check_verbose

# Steps of subspace iteration after a descent, each as cheap as a step of the descent.
_POLISHING_STEPS = 3
_CG_DIGITS = 1e6  # condition number of X from which on a geometry with the metric X'X may fail


class ManifoldPLS(RankConstrained):
    r"""PLS with orthonormal scores, all components at once [CSGHY]_.

    .. math::
        \text{grassmann:}\quad \max_{W^\top X^\top X W = I} \|Y^\top X W\|_F^2 \qquad\qquad
        \text{product:}\quad \max_{W^\top X^\top X W = I,\ \|u_j\| = 1} \sum_j u_j^\top Y^\top X w_j

    Both have closed forms. With :math:`X = U D B^\top` and :math:`U^\top Y = P \Sigma Q^\top` the first
    is solved by :math:`W = B D^{-1} P_c`, the second by the same W times the rotation that gives all
    scores equal covariance with Y. **The two share their map**, which is the reduced rank optimum; they
    differ in the basis in which it is shown. With ``IndicatorClassifier`` it is the paper's classifier.

    Parameters
    ----------
    n_components : int, "auto" or None, default=2
        Number of scores c; at most the rank of :math:`U^\top Y`.
    manifold : {"grassmann", "product"}, default="grassmann"
        Which of the two models.
    solver : {"exact", "cg", "whitened"}, default="exact"
        The closed form; the paper's conjugate gradients over W with W'X'XW = I, errata mended; or
        conjugate gradients in coordinates in which X is white, several times faster than the paper's.
    alpha : float or "auto", default=0.0
        Ridge weight. Where X interpolates balanced indicators all singular values are tied and every
        subspace is optimal: the closed form then takes the one with the smallest coefficients, which
        is the limit of small ridges. "auto" is ``1e-6 ||X||_2^2``.
    scale : bool or "y", default=False
        Whether columns of X and y are divided by their standard deviations; "y": those of y alone. With
        False, outputs of large variance count more: the fit depends on the units of the outputs.
    max_iter : int, default=1000
        Largest number of steps of the iterations.
    tol : float, default=1e-8
        Share of its first norm to which the iterations bring the gradient.
    random_state : int, RandomState or None, default=None
        Start of the iterations.
    verbose : int, default=0
        1 shows the steps of the iterations.

    Attributes
    ----------
    coef_, intercept_, coef_path_, n_components_ :
        As in ``PLS``, and so are the means, scales, loadings and explained variances.
    x_rotations_ : ndarray of shape (n_features, n_components_)
        W. With ``alpha=0`` the training scores ``X W`` are orthonormal.
    objective_ : float
        The value of the criterion that is maximised.
    n_iter_ : int
        Steps of the iterations, otherwise 1.

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
        n_components: Any = 2,
        *,
        manifold: str = "grassmann",
        solver: str = "exact",
        alpha: Any = 0.0,
        scale: bool | str = False,
        max_iter: int = 1000,
        tol: float = 1e-8,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.manifold = manifold
        self.solver = solver
        self.alpha = alpha
        self.scale = scale
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> int | None:
        check_option("manifold", self.manifold, ("grassmann", "product"))
        check_option("solver", self.solver, ("exact", "cg", "whitened"))
        check_verbose(self.verbose)
        return super()._check_parameters()

    def _cheapest_form(self, n: int, p: int, n_components: int | None) -> type[Form]:
        return RowForm if self.solver != "exact" else super()._cheapest_form(n, p, n_components)

    def _solve(self, form: Form, n_components: int | None) -> Factors | None:
        if self.solver != "exact":
            return self._descend(form, n_components)
        return super()._solve(form, n_components)

    def _turn(self, factors: Factors) -> Array | None:
        if self.solver != "exact" or not factors.y_loadings.shape[1]:
            return factors.shown
        # The nested rotations are B g P Sigma, so T'Y has rows sigma_i^2 q_i; W = B g P.
        sigma = np.sqrt(np.einsum("kq,qk->k", factors.y_cross, factors.y_loadings))
        if self.manifold == "grassmann":
            self.objective_ = float((sigma**2).sum())
            return np.diag(1.0 / sigma)
        self.objective_ = float(np.sqrt(len(sigma) * (sigma**2).sum()))
        return equalising_rotation(sigma**2) / sigma[:, None]

    # -- iterations -----------------------------------------------------------------------------

    def _descend(self, form: Form, n_components: int | None) -> Factors | None:
        """Conjugate gradients over W, or over the A in W = B g A, which has orthonormal columns."""
        spectrum = form.spectrum()
        alpha = self._alpha_in_frame(spectrum.norm, form)
        if not spectrum.has_digits(form.n_directions, alpha):
            return None
        spectrum = spectrum.truncated(spectrum.rank)
        g = 1.0 / np.sqrt(spectrum.squares + alpha)
        M = g[:, None] * spectrum.cross
        rank = int(np.linalg.matrix_rank(M))
        c = rank if n_components is None else min(n_components, rank)
        if c == 0:
            return Factors.empty(form.xy.shape[0], form.xy.shape[1], spectrum.solver)
        if self.solver == "whitened":
            kind: Any = Stiefel if self.manifold == "product" else Grassmann
            result, A = self._maximise(M, kind(len(M), c), c)
        else:
            # Rows with the products X'X + alpha I on the span of X: the metric also where that is singular.
            rows = spectrum.basis.T / g[:, None]
            kind = GeneralisedStiefel if self.manifold == "product" else GeneralisedGrassmann
            regular = len(rows) == rows.shape[1]
            where = kind(rows.T @ rows, c) if regular else kind.from_data(rows, c)
            try:
                result, W = self._maximise(form.xy, where, c, beta="fletcher-reeves")
            except ValueError as error:
                condition = g[-1] / g[0]
                if condition < _CG_DIGITS:
                    raise
                raise ValueError(
                    f"X has condition number {condition:.0e}: solver='cg' works with X'X, which has no "
                    "digits left for that. Use solver='whitened' or 'exact', or a ridge, alpha > 0."
                ) from error
            A = (spectrum.basis.T @ W) / g[:, None]
        A = _polish(M, A)
        self.n_iter_, self.objective_ = max(result.n_iter, 1), -result.value
        # The singular directions of the fitted values within the subspace found: the maps of all smaller
        # ranks are nested in them. The basis that was found is shown.
        left, sigma, right = np.linalg.svd(M.T @ A, full_matrices=False)
        inner = g[:, None] * (A @ right.T)
        scores = np.sqrt(spectrum.squares)[:, None] * inner
        return Factors(
            rotations=spectrum.basis @ inner,
            y_loadings=left * sigma,
            weights=None,
            x_cross=spectrum.basis @ (spectrum.squares[:, None] * inner),
            y_cross=inner.T @ spectrum.cross,
            gram=scores.T @ scores,
            solver=self.solver,
            shown=right,
            warning=self._iteration_warning(M, rank, c, result),
        )

    def _iteration_warning(self, M: Array, rank: int, c: int, result: SolverResult) -> str | None:
        if not result.converged:
            return f"solver={self.solver!r} did not converge: {result.reason}."
        sigma = np.asarray(np.linalg.svd(M, compute_uv=False)[:rank], dtype=np.float64)
        return tie_warning(
            sigma,
            c,
            f"Which of them solver={self.solver!r} ends at depends on its start, random_state: a ridge, "
            "alpha > 0, breaks the tie.",
        )

    def _maximise(
        self, cross: Array, geometry: Any, c: int, **options: Any
    ) -> tuple[SolverResult, Array]:
        """Maximise the criterion of a model, with X'Y in the coordinates of a geometry."""
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        options |= {"max_iter": self.max_iter, "tol": self.tol, "verbose": self.verbose}
        if self.manifold == "grassmann":

            def covariance(W: Array) -> tuple[float, Array]:
                YT = cross.T @ W
                return -float((YT**2).sum()), -2 * (cross @ YT)

            result = conjugate_gradient(covariance, geometry, geometry.random_point(rng), **options)
            return result, result.point
        both = Product(geometry, Oblique(cross.shape[1], c))

        def sum_of_covariances(point: Array) -> tuple[float, Array]:
            W, U = both.unpack(point)
            by_W = cross @ U
            return -float((W * by_W).sum()), both.pack([-by_W, -(cross.T @ W)])

        result = conjugate_gradient(sum_of_covariances, both, both.random_point(rng), **options)
        return result, both.unpack(result.point)[0]


def _polish(M: Array, A: Array) -> Array:
    """Bring an almost optimal subspace nearer to the leading left singular vectors of M.

    The criterion is flat at its optimum: values that differ by eps belong to subspaces that differ by
    its root. Steps of subspace iteration do not look at values. The basis stays the nearest to A.
    """
    for _ in range(_POLISHING_STEPS):
        Q = np.linalg.qr(M @ (M.T @ A))[0]
        left, _, right = np.linalg.svd(Q.T @ A)
        A = Q @ (left @ right)
    return A


def equalising_rotation(values: Array) -> Array:
    r"""Orthogonal O for which the diagonal of :math:`O^\top \operatorname{diag}(v) O` is constant.

    Schur and Horn: the mean lies between the smallest and the largest entry, so that one Givens rotation
    of those two makes one diagonal entry the mean; c - 1 of them make all.
    """
    c = len(values)
    turn, diagonal = np.eye(c), np.diag(np.asarray(values, dtype=float))
    mean, open_entries = float(np.mean(values)), list(range(c))
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
