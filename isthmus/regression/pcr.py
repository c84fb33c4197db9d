"""Principal component regression."""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus.regression.base import Factors, LatentRegression
from isthmus.regression.forms import MomentForm, RowForm
from isthmus.regression.spectrum import SMALL, check_digits, numerical_rank, spectrum_of


class PCR(LatentRegression):
    r"""Least squares on the leading principal components of the inputs.

    .. math::
        X = U D B^\top, \qquad C_k = B_k D_k^{-1} U_k^\top Y

    on centred columns, [HTF2009]_ Sec. 3.5.1. With all components it is (minimum norm) least squares.

    Parameters
    ----------
    n_components : int, "auto" or None, default=None
        Number of components. "auto" chooses it by cross-validation, None takes all there are.
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
        As in ``PLS``, and so are the means, scales, loadings and explained variances.
    x_weights_, x_rotations_ : ndarray of shape (n_features, n_components_)
        The principal directions.
    solver_ : {"moments", "dual", "svd"}
        What was decomposed: X'X, XX' or, where squaring X would cost digits, X itself.

    Examples
    --------
    >>> from isthmus import PCR
    >>> from isthmus.datasets import make_low_rank_regression
    >>> X, Y, coef = make_low_rank_regression(50, 8, 3, rank=2, random_state=0)
    >>> PCR(4).fit(X, Y).n_components_
    4
    """

    def __init__(
        self,
        n_components: Any = None,
        *,
        scale: bool = False,
        missing: str = "error",
        max_iter: int = 500,
        tol: float = 1e-6,
    ) -> None:
        self.n_components = n_components
        self.scale = scale
        self.missing = missing
        self.max_iter = max_iter
        self.tol = tol

    def _prefers_moments(self, n_samples: int, n_features: int, n_components: int | None) -> bool:
        return n_features <= n_samples

    def _prefers_exact(self, n_samples: int, n_features: int, n_components: int | None) -> bool:
        return n_samples * n_features * min(n_samples, n_features) <= SMALL

    def _solve(self, form: MomentForm | RowForm, n_components: int | None, exact: bool) -> Factors:
        p, q = form.xy.shape
        spectrum = spectrum_of(form, exact=exact)
        if spectrum.norm == 0.0:
            return Factors.empty(p, q, spectrum.solver)
        most = min(form.frame.n_samples - 1, p)
        k = most if n_components is None else min(n_components, most)
        if not exact:
            check_digits(spectrum, k)
        k = min(k, numerical_rank(spectrum))
        squares = spectrum.squares[:k]
        B = spectrum.lift(np.eye(len(spectrum.squares), k))
        factors = Factors(
            rotations=B,
            y_loadings=(spectrum.cross[:k] / squares[:, None]).T,
            weights=B,
            x_cross=B * squares,
            gram=np.diag(squares),
            solver=spectrum.solver,
        )
        if n_components is not None and k < n_components:
            factors.warning = f"n_components == {n_components}, but X has rank {k}. Kept {k}."
        return factors
