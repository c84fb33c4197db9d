"""Both models of the paper by Riemannian conjugate gradients, its Algorithms 1 and 2."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from isthmus._geometry import Geometry, Stiefel
from isthmus._linalg import ROUNDING, Array
from isthmus._saved import saved
from isthmus._solvers import SolverResult
from isthmus._validation import check_alpha, check_option, validate_data, warn
from isthmus.papers.linear import PaperRegression
from isthmus.papers.riemannian_pls.conjugate_gradients import conjugate_gradient
from isthmus.papers.riemannian_pls.generalised import GeneralisedGrassmann, GeneralisedStiefel
from isthmus.papers.riemannian_pls.grassmann import Grassmann
from isthmus.papers.riemannian_pls.oblique import Oblique
from isthmus.papers.riemannian_pls.product import Product

# Steps of subspace iteration after a descent, each as cheap as a step of the descent.
_POLISHING_STEPS = 3
_CG_DIGITS = 1e6  # condition number of X from which on a geometry with the metric X'X may fail
_TIE = 1e-6  # of the largest singular value of the fit: closer ones are equal


@saved(x_mean_="p", x_rotations_="p r")
class RiemannianPLS(ClassNamePrefixFeaturesOutMixin, TransformerMixin, PaperRegression):
    r"""PLS on a generalised Grassmann or a product manifold, by conjugate gradients [CSGHY]_ Sec. 3.

    .. math::
        \text{grassmann:}\quad \max_{W^\top X^\top X W = I} \|Y^\top X W\|_F^2 \qquad\qquad
        \text{product:}\quad \max_{W^\top X^\top X W = I,\ \|u_j\| = 1} \sum_j u_j^\top Y^\top X w_j

    with X and Y centred: Algorithm 1 on :math:`\operatorname{GGr}(p, c; X^\top X)` (Sec. 3.1), Algorithm 2
    on the product of :math:`\operatorname{GSt}(p, c; X^\top X)` and the oblique manifold (Sec. 3.2).
    Errata mended: the gradient needs :math:`(X^\top X)^{-1}`, tangents are horizontal in its inner product,
    and singular :math:`X^\top X` is treated on the range of X.

    :class:`isthmus.ManifoldPLS` has both models in closed form, some hundred times faster.

    Parameters
    ----------
    n_components : int, default=2
        Number of scores c.
    manifold : {"grassmann", "product"}, default="grassmann"
        Which of the two models.
    coordinates : {"paper", "white"}, default="paper"
        Variables of the descent: W itself with the metric of X'X, or W in coordinates in which X is
        white, on ordinary manifolds, several times faster.
    alpha : float, default=0.0
        Ridge weight, added to the diagonal of X'X.
    max_iter : int, default=1000
        Largest number of steps.
    tol : float, default=1e-8
        Stop when the norm of the gradient has fallen to this share of the first.
    random_state : int, RandomState or None, default=None
        Start of the descent.

    Attributes
    ----------
    coef_, intercept_ :
        The map, in the shape of y.
    coef_path_ : ndarray of shape (c, n_targets, n_features) or (c, n_features)
        The best maps of rank 1 to c within the subspace that was found.
    x_rotations_ : ndarray of shape (n_features, c)
        W.
    objective_ : float
        The value of the criterion that is maximised.
    n_iter_ : int
        Steps.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus import ManifoldPLS
    >>> from isthmus.datasets import make_low_rank_regression
    >>> from isthmus.papers.riemannian_pls import RiemannianPLS
    >>> X, Y, coef = make_low_rank_regression(60, 8, 4, rank=2, random_state=0)
    >>> printed = RiemannianPLS(2, random_state=0).fit(X, Y)
    >>> bool(np.allclose(printed.coef_, ManifoldPLS(2, alpha=0.0).fit(X, Y).coef_, atol=1e-5))
    True
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        manifold: str = "grassmann",
        coordinates: str = "paper",
        alpha: float = 0.0,
        max_iter: int = 1000,
        tol: float = 1e-8,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.manifold = manifold
        self.coordinates = coordinates
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _fit(self, X: Array, Y: Array) -> tuple[Array, Array]:
        check_option("manifold", self.manifold, ("grassmann", "product"))
        check_option("coordinates", self.coordinates, ("paper", "white"))
        check_alpha(self.alpha)
        self.x_mean_ = X.mean(axis=0)
        y_mean = Y.mean(axis=0)
        cross = (X - self.x_mean_).T @ (Y - y_mean)
        _, d, basis = np.linalg.svd(X - self.x_mean_, full_matrices=False)
        kept = d > ROUNDING * d.max(initial=0.0)
        d, basis = d[kept], basis[kept].T  # (p, k)
        g = 1.0 / np.sqrt(d**2 + self.alpha)
        # Y'X in coordinates A in which W = basis diag(g) A has W'(X'X + alpha I)W = A'A.
        M = g[:, None] * (basis.T @ cross)
        sigma = np.linalg.svd(M, compute_uv=False)
        rank = int(np.count_nonzero(sigma > ROUNDING * sigma.max(initial=0.0)))
        c = min(self.n_components, rank)
        if c == 0:
            return self._constant_map(X.shape[1], y_mean)
        if self.coordinates == "white":
            A, result = self._maximise_white(M, c)
        else:
            A, result = self._maximise_as_printed(cross, basis, g, c)
        self._warn(result, sigma[:rank], c)
        A = _polish(M, A)
        self.n_iter_, self.objective_ = max(result.n_iter, 1), -result.value
        self.x_rotations_ = basis @ (g[:, None] * A)
        # The singular directions of the fitted values within the subspace: maps of smaller ranks nest.
        left, size, right = np.linalg.svd(M.T @ A, full_matrices=False)
        inner = self.x_rotations_ @ right.T
        terms = np.einsum("qk,k,pk->kqp", left, size, inner)
        # In the order in which a model file keeps it: products round by it.
        path = np.ascontiguousarray(np.cumsum(terms, axis=0))
        self.coef_path_ = path[:, 0] if Y.shape[1] == 1 else path
        return path[-1], y_mean - path[-1] @ self.x_mean_

    def _constant_map(self, n_features: int, y_mean: Array) -> tuple[Array, Array]:
        """X and y are unrelated: the mean of y is all there is to predict."""
        self.n_iter_, self.objective_ = 1, 0.0
        self.x_rotations_ = np.zeros((n_features, 0))
        self.coef_path_ = np.zeros((0, len(y_mean), n_features))
        return np.zeros((len(y_mean), n_features)), y_mean

    def _maximise_white(self, M: Array, c: int) -> tuple[Array, SolverResult]:
        kind = Stiefel if self.manifold == "product" else Grassmann
        return self._maximise(M, kind(len(M), c), c)

    def _maximise_as_printed(
        self, cross: Array, basis: Array, g: Array, c: int
    ) -> tuple[Array, SolverResult]:
        # Rows with the products X'X + alpha I on the span of X: the metric also where that is singular.
        rows = basis.T / g[:, None]
        kind = GeneralisedStiefel if self.manifold == "product" else GeneralisedGrassmann
        is_regular = len(rows) == rows.shape[1]
        try:
            geometry = kind(rows.T @ rows, c) if is_regular else kind.from_data(rows, c)
            W, result = self._maximise(cross, geometry, c, beta="fletcher-reeves")
        except ValueError as error:
            condition = g[-1] / g[0]
            if condition < _CG_DIGITS:
                raise
            raise ValueError(
                f"X has condition number {condition:.0e}: coordinates='paper' works with X'X, which has "
                "no digits left for that. Use coordinates='white', or a ridge, alpha > 0."
            ) from error
        return (basis.T @ W) / g[:, None], result

    def _maximise(
        self, cross: Array, geometry: Geometry, c: int, **options: Any
    ) -> tuple[Array, SolverResult]:
        """Maximise the criterion of a model, with X'Y in the coordinates of a geometry."""
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        options |= {"max_iter": self.max_iter, "tol": self.tol}
        if self.manifold == "grassmann":

            def covariance(W: Array) -> tuple[float, Array]:
                YT = cross.T @ W
                return -float((YT**2).sum()), -2 * (cross @ YT)

            result = conjugate_gradient(covariance, geometry, geometry.random_point(rng), **options)
            return result.point, result
        both = Product(geometry, Oblique(cross.shape[1], c))

        def sum_of_covariances(point: Array) -> tuple[float, Array]:
            W, U = both.unpack(point)
            by_W = cross @ U
            return -float((W * by_W).sum()), both.pack([-by_W, -(cross.T @ W)])

        result = conjugate_gradient(sum_of_covariances, both, both.random_point(rng), **options)
        return both.unpack(result.point)[0], result

    def _warn(self, result: SolverResult, sigma: Array, c: int) -> None:
        result.raise_interrupt()
        if not result.converged:
            warn(
                f"The conjugate gradients did not converge: {result.reason}.",
                ConvergenceWarning,
            )
        elif c < len(sigma) and sigma[c - 1] - sigma[c] <= _TIE * sigma[0]:
            warn(
                f"Singular values {c} and {c + 1} of the fit differ by {sigma[c - 1] - sigma[c]:.1e} "
                f"only, the first being {sigma[0]:.1e}: the best map of rank {c} is not unique. Which of "
                "them is found depends on its start, random_state: a ridge, alpha > 0, breaks the tie.",
            )

    @property
    def _n_features_out(self) -> int:
        return self.x_rotations_.shape[1]

    def transform(self, X: ArrayLike) -> NDArray:
        """Return the scores ``(X - x_mean_) @ x_rotations_``.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        T : ndarray of shape (n_samples, c)
            With ``alpha=0`` orthonormal on the training rows.
        """
        check_is_fitted(self)
        rows: Array = validate_data(self, X, reset=False, dtype=np.float64)
        return (rows - self.x_mean_) @ self.x_rotations_


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
