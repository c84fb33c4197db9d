"""Partial least squares: NIPALS, SIMPLS and kernel PLS, exact and without deflating X."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from isthmus.linalg import rank_tolerance
from isthmus.problems import Folds, Form, GramForm, MomentForm, RowForm, Split
from isthmus.problems.form import GRAM_DIGITS
from isthmus.problems.paths import FoldPath
from isthmus.regression.base import LatentRegression
from isthmus.regression.crossval import Task
from isthmus.regression.factors import Factors
from isthmus.regression.pls_algorithms import dual_pls, primal_pls
from isthmus.validation import check_option

ALGORITHMS = ("auto", "nipals", "simpls", "kernel")

# One component through the rows costs two passes over X; so many columns of X'X, or rows of XX' (whose
# map must be lifted to the features at the end), cost as much.
_MOMENT_ORDER_PER_COMPONENT = 32
_GRAM_ORDER_PER_COMPONENT = 16
# Entries of X that stay in cache: passes over it are free, and keep twice the digits.
_SMALL = 2**16


class PLS(LatentRegression):
    r"""Partial least squares regression (PLS2), each component an exact singular vector.

    .. math::
        w_i = \arg\max_{\|w\| = 1} \|Y^\top X_i w\|, \quad t_i = X_i w_i, \quad
        X_{i+1} = (I - t_i t_i^\top / t_i^\top t_i) X_i

    on centred, and by default scaled, columns; the map is
    :math:`W (W^\top X^\top X W)^{-1} W^\top X^\top Y`, [W1975]_. The defaults are those of scikit-learn's
    ``PLSRegression`` and the fit is what its power iteration converges to. For one output the fit with k
    components is that of k steps of conjugate gradients on the normal equations.

    Parameters
    ----------
    n_components : int, "auto" or None, default=2
        Number of components. "auto" chooses it by cross-validation (``ComponentSearchCV`` with its
        defaults), None takes all there are: least squares.
    scale : bool or "y", default=True
        Whether columns of X and y are divided by their standard deviations; "y": those of y alone, for
        inputs in one unit (a spectrum) and outputs in several. With False the fit depends on the units
        of the columns, and with "y" on those of X.
    algorithm : {"auto", "nipals", "simpls", "kernel"}, default="auto"
        "nipals" and "kernel" find the same components, in the space of the features and in that of the
        samples; "auto" takes the cheaper. "simpls" [dJ1993]_ finds the same for one output or one
        component and slightly different ones otherwise.
    missing : {"error", "em"}, default="error"
        What to do with NaN in X or y: refuse it, or fit to the moments expected under probabilistic PCA
        of the columns, by expectation-maximisation; NaN in new rows is then filled likewise. The rows
        tell how many latent dimensions that has: one model of the gaps serves all numbers of components.
    max_iter : int, default=500
        Largest number of iterations of ``missing="em"``; nothing else iterates.
    tol : float, default=1e-6
        Relative change of the log-likelihood, so far or expected of all further steps, at which
        ``missing="em"`` stops.

    Attributes
    ----------
    coef_ : ndarray of shape (n_targets, n_features) or (n_features,)
        The map: a prediction is ``X @ coef_.T + intercept_``.
    intercept_ : float or ndarray of shape (n_targets,)
        Constant term.
    coef_path_ : ndarray of shape (n_components_[, n_targets], n_features)
        The maps with 1..n_components_ components.
    n_components_ : int
        Number of components found; fewer than asked for where no more exist.
    x_weights_, x_rotations_, x_loadings_ : ndarray of shape (n_features, n_components_)
        Weights w; the rotations that give the scores straight from X; the loadings of X on the scores.
    y_loadings_ : ndarray of shape (n_targets, n_components_)
        Loadings of y on the scores: ``coef_`` is ``y_loadings_ @ x_rotations_.T`` in units of the scales.
    x_explained_variance_ratio_, y_explained_variance_ratio_ : ndarray of shape (n_components_,)
        Share of the training variance that each component explains.
    x_mean_, x_scale_, y_mean_, y_scale_ : ndarray
        Centres and scales of the columns.
    score_gram_ : ndarray of shape (n_components_, n_components_)
        Weighted products of the training scores.
    solver_ : {"moments", "rows", "dual"}
        What the fit was computed from: X'X, X itself or XX'.
    n_iter_ : int
        Iterations of ``missing="em"``, otherwise 1.
    missing_model_ : MissingModel
        The model that fills NaN, with its ``log_likelihood`` history; with ``missing="em"`` only.
    moments_ : Moments
        What ``partial_fit`` has seen; after it only.

    Examples
    --------
    >>> from isthmus import PLS
    >>> from isthmus.datasets import make_low_rank_regression
    >>> X, Y, coef = make_low_rank_regression(50, 8, 3, rank=2, random_state=0)
    >>> pls = PLS(n_components=3).fit(X, Y)
    >>> pls.predict_path(X).shape
    (3, 50, 3)
    >>> pls.transform(X).shape
    (50, 3)
    """

    def __init__(
        self,
        n_components: Any = 2,
        *,
        scale: bool | str = True,
        algorithm: str = "auto",
        missing: str = "error",
        max_iter: int = 500,
        tol: float = 1e-6,
    ) -> None:
        self.n_components = n_components
        self.scale = scale
        self.algorithm = algorithm
        self.missing = missing
        self.max_iter = max_iter
        self.tol = tol

    def _check_parameters(self) -> int | None:
        check_option("algorithm", self.algorithm, ALGORITHMS)
        return super()._check_parameters()

    def _cheapest_form(self, n: int, p: int, n_components: int | None) -> type[Form]:
        if self.algorithm == "kernel":
            return GramForm
        if n * p <= _SMALL:
            return RowForm
        k = min(n, p) if n_components is None else n_components
        if p <= n:
            return MomentForm if p <= _MOMENT_ORDER_PER_COMPONENT * k else RowForm
        few = n <= _GRAM_ORDER_PER_COMPONENT * k and self.algorithm == "auto"
        return GramForm if few else RowForm

    def _fold_form(self, n: int, p: int, n_components: int) -> type[Form]:
        if n < p and n * p > _SMALL and self.algorithm == "auto":
            return GramForm  # no fold lifts its map to the features
        return self._cheapest_form(n, p, n_components)

    def _solve(self, form: Form, n_components: int | None) -> Factors | None:
        most = form.n_directions
        k = most if n_components is None else min(n_components, most)
        factors = _solve_dual(form, k) if form.is_dual else self._solve_primal(form, k)
        if factors is None:
            return None
        found, wanted = factors.y_loadings.shape[1], n_components or 0
        if found < wanted:
            factors.warning = (
                f"n_components == {wanted}, but only {found} components exist: the rest of X has no "
                f"covariance with y. Kept {found}."
            )
        return factors

    def _solve_primal(self, form: Any, k: int) -> Factors | None:
        scores = form.new_scores(k)
        path = primal_pls(form.xy[None], scores, k, form.tolerance, self.algorithm == "simpls")
        if not scores.has_digits(path.rotations, path.score_norms)[0]:
            return None
        found = int(path.n_found[0])
        return Factors(
            rotations=path.rotations[0, :found].T,
            y_loadings=path.y_loadings[0, :found].T,
            weights=path.weights[0, :found].T,
            x_cross=path.x_cross[0, :found].T,
            y_cross=path.score_norms[0, :found, None] * path.y_loadings[0, :found],
            gram=np.diag(path.score_norms[0, :found]),
            solver=scores.solver,
            scores=scores.vectors(found),
        )

    def _fold_tasks(
        self, folds: Folds, splits: Sequence[Split], n_components: int, alphas: list
    ) -> list[Task]:
        stacks = folds.stacks(splits, n_components)
        if not stacks:
            return super()._fold_tasks(folds, splits, n_components, alphas)
        return [partial(self._stacked_paths, stack, n_components) for stack in stacks]

    def _stacked_paths(self, stack: Any, n_components: int) -> Iterator[tuple[int, list[FoldPath]]]:
        """Paths of many small folds, solved as one."""
        stack.open()
        scores = stack.new_scores(n_components)
        tolerance = rank_tolerance(*stack.folds.rows.shape)
        simpls = self.algorithm == "simpls"
        path = primal_pls(stack.cross, scores, n_components, tolerance, simpls)
        lost = stack.lost | ~scores.has_digits(path.rotations, path.score_norms)
        for b, split in enumerate(stack.splits):
            i = stack.start + b
            if lost[b]:
                yield i, self._fold_paths(stack.folds.without(split), split.test, n_components, [])
                continue
            loadings = path.y_loadings[b].T * stack.y_scale[b][:, None]
            T = stack.coordinates(b) @ path.rotations[b].T
            yield i, [FoldPath(T, loadings, stack.y_mean[b])]


def _solve_dual(form: Any, k: int) -> Factors | None:
    path = dual_pls(form.gram, form.Y, k, tol=form.tolerance)
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
