"""Principal component regression."""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus.problems import Form
from isthmus.regression.base import LatentRegression
from isthmus.regression.factors import Factors


class PCR(LatentRegression):
    r"""Least squares on the leading principal components of the inputs.

    .. math::
        X = U D B^\top, \qquad C_k = B_k D_k^{-1} U_k^\top Y

    on centred columns, [HTF2009]_ Sec. 3.5.1. With all components it is (minimum norm) least squares.

    Parameters
    ----------
    n_components : int, "auto" or None, default=None
        Number of components. "auto" chooses it by cross-validation, as in ``PLS``; None takes all there
        are.
    scale : bool or "y", default=False
        Whether columns of X and y are divided by their standard deviations; "y": those of y alone. Unscaled
        inputs count by their variance, so that the components depend on the units of X; the units of the
        outputs do not matter.
    missing : {"error", "em"}, default="error"
        What to do with NaN, see ``PLS``.
    max_iter : int, default=500
        Largest number of iterations of ``missing="em"``; nothing else iterates.
    tol : float, default=1e-6
        Relative change of the log-likelihood, so far or expected of all further steps, at which
        ``missing="em"`` stops.

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
        scale: bool | str = False,
        missing: str = "error",
        max_iter: int = 500,
        tol: float = 1e-6,
    ) -> None:
        self.n_components = n_components
        self.scale = scale
        self.missing = missing
        self.max_iter = max_iter
        self.tol = tol

    def _solve(self, form: Form, n_components: int | None) -> tuple[Form, Factors]:
        spectrum = form.spectrum()
        if spectrum.norm == 0.0:
            p, q = form.xy.shape
            return form, Factors.empty(p, q, spectrum.solver)
        most = form.n_directions
        k = most if n_components is None else min(n_components, most)
        if not spectrum.has_digits(k):
            return self._solve(form.exactly(), n_components)
        k = min(k, spectrum.rank)
        squares = spectrum.squares[:k]
        B = spectrum.basis[:, :k]
        factors = Factors(
            rotations=B,
            y_loadings=(spectrum.cross[:k] / squares[:, None]).T,
            weights=None,
            x_cross=None,
            y_cross=spectrum.cross[:k],
            gram=np.diag(squares),
            solver=spectrum.solver,
            principal=True,
        )
        if n_components is not None and k < n_components:
            factors.warning = f"n_components == {n_components}, but X has rank {k}. Kept {k}."
        return form, factors
