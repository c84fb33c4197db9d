"""Reduced rank regression with a ridge: the best map of rank r under the squared loss."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import svd

from isthmus.linalg import Array
from isthmus.regression.base import LatentRegression
from isthmus.regression.factors import Factors
from isthmus.regression.forms import Form
from isthmus.regression.pls_algorithms import rank_tolerance
from isthmus.regression.spectrum import (
    RIDGE_SAFE,
    Spectrum,
    cheapest_form,
    check_digits,
    numerical_rank,
    spectrum_of,
)
from isthmus.validation import check_alpha

_AUTO_ALPHA = 1e-6
_TIE = 1e-8


class ReducedRankRegression(LatentRegression):
    r"""Least squares under a rank constraint, with a ridge term: the global optimum in closed form.

    .. math::
        \min_{\operatorname{rank} C \le r} \|Y - XC\|_F^2 + \alpha \|C\|_F^2

    With :math:`X = U D B^\top` and :math:`Z = (D^2 + \alpha)^{-1/2} D U^\top Y = P \Sigma Q^\top` the
    minimiser is :math:`B (D^2 + \alpha)^{-1/2} P_r \Sigma_r Q_r^\top`: the ridge solution projected on the
    leading directions of its fitted values, [I1975]_ and [MZ2011]_. With ``alpha=0`` it is the map of
    Stiefel regression under the squared loss [BGFS2004]_ and of both models of PLS on Riemannian
    manifolds [CSGHY]_; where X is collinear it is the one of minimum norm.

    Parameters
    ----------
    n_components : int, "auto" or None, default=None
        Rank r; more than min(rank of X, n_targets) is no constraint, None is plain ridge, 0 predicts
        the mean. "auto" chooses it by cross-validation.
    alpha : float or "auto", default=1.0
        Weight of the ridge term, on the scale of scikit-learn's ``Ridge``. "auto" is ``1e-6 ||X||_2^2``.
        With ``scale=True`` it applies to the scaled columns.
    scale : bool, default=False
        Whether columns of X and y are divided by their standard deviations.
    missing : {"error", "em"}, default="error"
        What to do with NaN, see ``PLS``.
    max_iter : int, default=500
        Largest number of iterations of ``missing="em"``; nothing else iterates.
    tol : float, default=1e-6
        Relative change of the log-likelihood at which ``missing="em"`` stops.

    Attributes
    ----------
    coef_, intercept_, coef_path_, n_components_ :
        As in ``PLS``, and so are the means, scales, loadings and explained variances. The maps of
        ``coef_path_`` are the optima of every smaller rank.
    x_rotations_ : ndarray of shape (n_features, n_components_)
        ``B (D^2 + alpha)^(-1/2) P Sigma``; the scores are the fitted values along ``y_loadings_``.
    y_loadings_ : ndarray of shape (n_targets, n_components_)
        ``Q``, orthonormal columns.
    alpha_ : float
        The ridge weight used.
    solver_ : {"moments", "dual", "svd"}
        What was decomposed. X'X or XX' are used where ``alpha >= 1e-8 ||X||_2^2`` or X is well
        conditioned, X itself otherwise.

    Examples
    --------
    >>> from isthmus import ReducedRankRegression
    >>> from isthmus.datasets import make_low_rank_regression
    >>> X, Y, coef = make_low_rank_regression(80, 8, 5, rank=2, noise=0.01, random_state=0)
    >>> model = ReducedRankRegression(2, alpha=0.0).fit(X, Y)
    >>> bool(abs(model.coef_ - coef).max() < 0.02)
    True
    """

    _min_components = 0
    _ridge_path = True

    def __init__(
        self,
        n_components: Any = None,
        *,
        alpha: Any = 1.0,
        scale: bool = False,
        missing: str = "error",
        max_iter: int = 500,
        tol: float = 1e-6,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.scale = scale
        self.missing = missing
        self.max_iter = max_iter
        self.tol = tol

    def _check_parameters(self) -> int | None:
        if not (isinstance(self.alpha, str) and self.alpha == "auto"):
            check_alpha(self.alpha)
        return super()._check_parameters()

    def _cheapest_form(self, n: int, p: int, n_components: int | None) -> type[Form]:
        return cheapest_form(n, p)

    def _solve(self, form: Form, n_components: int | None, exact: bool) -> Factors:
        spectrum = spectrum_of(form)
        alpha = self._alpha_in_frame(spectrum, form)
        optimum = _Optimum(form, spectrum, alpha, exact)
        r = optimum.rank if n_components is None else min(n_components, optimum.rank)
        inner, loadings = optimum.factors(r)
        scores = np.sqrt(optimum.squares)[:, None] * inner
        return Factors(
            rotations=optimum.basis @ inner,
            y_loadings=loadings,
            weights=None,
            x_cross=optimum.basis @ (optimum.squares[:, None] * inner),
            y_cross=inner.T @ optimum.cross,
            gram=scores.T @ scores,
            solver=spectrum.solver,
            warning=optimum.tie(r),
        )

    def _solve_path(
        self, form: Form, n_components: int, alphas: list[float], exact: bool
    ) -> list[tuple[Array, Array]]:
        spectrum, unit = spectrum_of(form), self._unit(form)
        optima = [_Optimum(form, spectrum, alpha / unit**2, exact) for alpha in alphas]
        pairs = [optimum.factors(min(n_components, optimum.rank)) for optimum in optima]
        # One product for all ridge weights; coordinates cut off by a rank decision are zero.
        inner = [np.pad(A, ((0, len(spectrum.squares) - len(A)), (0, 0))) for A, _ in pairs]
        rotations = spectrum.basis @ np.hstack(inner)
        ends = np.cumsum([A.shape[1] for A in inner])[:-1]
        return [(R, Q) for R, (_, Q) in zip(np.split(rotations, ends, axis=1), pairs, strict=True)]

    def _unit(self, form: Form) -> float:
        # Without scaling the frame has one scale, a power of two that keeps huge data in range.
        return 1.0 if self.scale else float(form.frame.x_scale[0])

    def _alpha_in_frame(self, spectrum: Spectrum, form: Form) -> float:
        """The ridge weight in units of the standardised problem; sets ``alpha_`` in the user's."""
        unit = self._unit(form)
        if self.alpha == "auto":
            alpha = _AUTO_ALPHA * spectrum.norm
            self.alpha_ = alpha * unit**2
            return alpha
        self.alpha_ = float(self.alpha)
        return self.alpha_ / unit**2


class _Optimum:
    """The closed form for every rank, in coordinates along the basis of a spectrum."""

    def __init__(self, form: Form, spectrum: Spectrum, alpha: float, exact: bool) -> None:
        n, p = form.frame.n_samples, len(form.frame.x_scale)
        if not exact:
            check_digits(spectrum, min(n - 1, p), alpha)
        if alpha < RIDGE_SAFE * spectrum.norm or alpha == 0.0:
            spectrum = spectrum.truncated(numerical_rank(spectrum))
        self.squares, self.cross, self.basis = spectrum.squares, spectrum.cross, spectrum.basis
        self.g = 1.0 / np.sqrt(spectrum.squares + alpha)
        self.P, self.sigma, self.Qt = svd(
            self.g[:, None] * spectrum.cross, full_matrices=False, check_finite=False
        )
        floor = rank_tolerance(n, p) * np.sqrt(form.y_squares.sum())
        self.rank = int(np.count_nonzero(self.sigma > floor))

    def factors(self, r: int) -> tuple[Array, Array]:
        """Rotations along the basis, (m, r), and loadings, (q, r)."""
        return self.g[:, None] * self.P[:, :r] * self.sigma[:r], self.Qt[:r].T

    def tie(self, r: int) -> str | None:
        """A tie at the last component leaves the best map undetermined."""
        if not 0 < r < self.rank:
            return None
        gap = self.sigma[r - 1] - self.sigma[r]
        if gap > _TIE * self.sigma[0]:
            return None
        return (
            f"Singular values {r} and {r + 1} of the fit differ by {gap:.1e} only, the first being "
            f"{self.sigma[0]:.1e}: the best map of rank {r} is not unique."
        )
