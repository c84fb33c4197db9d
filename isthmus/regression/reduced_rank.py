"""Reduced rank regression with a ridge: the best map of rank r under the squared loss."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import svd

from isthmus.linalg import Array
from isthmus.regression.base import Factors, LatentRegression
from isthmus.regression.forms import MomentForm, RowForm
from isthmus.regression.pls_algorithms import rank_tolerance
from isthmus.regression.spectrum import (
    RIDGE_SAFE,
    SMALL,
    Spectrum,
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

    def _prefers_moments(self, n_samples: int, n_features: int, n_components: int | None) -> bool:
        return n_features <= n_samples

    def _prefers_exact(self, n_samples: int, n_features: int, n_components: int | None) -> bool:
        return n_samples * n_features * min(n_samples, n_features) <= SMALL

    def _solve(self, form: MomentForm | RowForm, n_components: int | None, exact: bool) -> Factors:
        p, q = form.xy.shape
        spectrum = spectrum_of(form, exact=exact)
        alpha = self._alpha_in_frame(spectrum, form)
        if not exact:
            check_digits(spectrum, min(form.frame.n_samples - 1, p), alpha)
        if alpha < RIDGE_SAFE * spectrum.norm or alpha == 0.0:
            spectrum = spectrum.truncated(numerical_rank(spectrum))
        g = 1.0 / np.sqrt(spectrum.squares + alpha)
        Z = g[:, None] * spectrum.cross
        P, sigma, Qt = svd(Z, full_matrices=False, check_finite=False)
        floor = rank_tolerance(form.frame.n_samples, p) * np.sqrt(form.y_squares.sum())
        rank = int(np.count_nonzero(sigma > floor))
        r = rank if n_components is None else min(n_components, rank)
        if r == 0:
            return Factors.empty(p, q, spectrum.solver)
        inner = g[:, None] * P[:, :r] * sigma[:r]  # coordinates of the rotations along B
        scores = np.sqrt(spectrum.squares)[:, None] * inner
        rotations = spectrum.lift(inner)
        return Factors(
            rotations=rotations,
            y_loadings=Qt[:r].T,
            weights=rotations / np.linalg.norm(rotations, axis=0),
            x_cross=spectrum.lift(spectrum.squares[:, None] * inner),
            gram=scores.T @ scores,
            solver=spectrum.solver,
            warning=_tie_warning(sigma, r, rank),
        )

    def _alpha_in_frame(self, spectrum: Spectrum, form: MomentForm | RowForm) -> float:
        """The ridge weight in units of the standardised problem; sets ``alpha_`` in the user's."""
        # Without scaling the frame has one scale, a power of two that keeps huge data in range.
        unit = 1.0 if self.scale or not form.frame.x_scale.size else float(form.frame.x_scale[0])
        if self.alpha == "auto":
            alpha = _AUTO_ALPHA * spectrum.norm
            self.alpha_ = alpha * unit**2
            return alpha
        self.alpha_ = float(self.alpha)
        return self.alpha_ / unit**2


def _tie_warning(sigma: Array, r: int, rank: int) -> str | None:
    """A tie at the last component leaves the best map undetermined."""
    if r >= rank or sigma[r - 1] - sigma[r] > _TIE * sigma[0]:
        return None
    return (
        f"Singular values {r} and {r + 1} of the fit differ by {sigma[r - 1] - sigma[r]:.1e} only, relative "
        f"to {sigma[0]:.1e}: the best map of rank {r} is not unique."
    )
