"""Reduced rank regression with a ridge: the best map of rank r under the squared loss."""

from __future__ import annotations

from typing import Any

from isthmus.regression.optimum import RankConstrained


class ReducedRankRegression(RankConstrained):
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
        Rank r; more than min(rank of X, n_targets) does not constrain, None is plain ridge, 0 predicts
        the mean. "auto" chooses it by cross-validation, as in ``PLS``.
    alpha : float or "auto", default="auto"
        Weight of the ridge term, on the scale of scikit-learn's ``Ridge``; 0 is least squares, of minimum
        norm where X is collinear. "auto" is chosen by rows left out, outputs in units of their deviations:
        at full rank by leave-one-out in closed form, with a rank in five folds among that weight, a tenth
        and a hundredth of it. ``Rows``, Dask collections and missing values have no rows to leave out
        singly: there "auto" is chosen in the folds, from zero and 21 weights between 1e-8 and 100 times
        ``||X||_2^2``. ``partial_fit`` needs a number. With ``scale=True`` the ridge applies to columns
        divided by their population standard deviations, as after ``StandardScaler``. Multiplying all
        sample weights by c equals dividing a number alpha by c.
    scale : bool or "y", default=False
        Whether columns of X and y are divided by their standard deviations; "y": those of y alone. With
        False and a rank below ``n_targets``, outputs of large variance count more: the fit depends on the
        units of the outputs.
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

    def __init__(
        self,
        n_components: Any = None,
        *,
        alpha: Any = "auto",
        scale: bool | str = False,
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
