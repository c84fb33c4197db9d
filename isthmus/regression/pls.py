"""Partial least squares: NIPALS and SIMPLS, exact and without deflating X.

The recursion needs of X only the scores of directions: those that are vectors have all the digits of X,
those known from X'X half of them. It works on a stack of problems at once, because a thousand
leave-one-out problems are then a few matrix products.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import EPS, Array, leading_eigenvector
from isthmus.problems import Folds, Form, GramForm, MomentForm, RowForm, Split
from isthmus.problems.moments import MomentScores
from isthmus.problems.paths import FoldPath
from isthmus.problems.rows import RowScores, ScoreStack, off
from isthmus.regression.base import LatentRegression
from isthmus.regression.crossval import Task, fold_paths
from isthmus.regression.factors import Factors
from isthmus.regression.kernel_pls import solve_dual

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
        defaults), None takes all there are: least squares. Its five folds are consecutive, so that
        neighbours in time stay together: the choice depends on the order of rows.
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

    _choices = {"missing": ("error", "em"), "algorithm": ALGORITHMS}

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

    def _solve(self, form: Any, n_components: int | None) -> tuple[Form, Factors]:
        n, p = form.frame.n_samples, len(form.frame.x_scale)
        k = min(n - 1, p) if n_components is None else min(n_components, n - 1, p)
        tolerance = EPS * max(n, p)
        has_digits = True
        if form.is_dual:
            factors = solve_dual(form, k, tolerance)
        else:
            scores = form.new_scores(k, tolerance)
            path = primal_pls(scores, k, tolerance, self.algorithm == "simpls")
            has_digits = path.is_trusted[0]
            k = int(path.n_found[0])
            factors = Factors(
                rotations=path.rotations[0, :k].T,
                y_loadings=path.y_loadings[0, :k].T,
                weights=path.weights[0, :k].T,
                x_cross=path.x_cross[0, :k].T,
                y_cross=path.score_norms[0, :k, None] * path.y_loadings[0, :k],
                gram=np.diag(path.score_norms[0, :k]),
                solver=scores.solver,
                scores=None if scores.vectors is None else scores.vectors[:k].T,
            )
        if factors is None or not has_digits:
            return self._solve(form.exactly(), n_components)
        found, wanted = factors.y_loadings.shape[1], n_components or 0
        if found < wanted:
            factors.warning = (
                f"n_components == {wanted}, but only {found} components exist: the rest of X has no "
                f"covariance with y. Kept {found}."
            )
        return form, factors

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
        tolerance = EPS * max(stack.folds.rows.shape)
        path = primal_pls(scores, n_components, tolerance, self.algorithm == "simpls")
        lost = stack.lost | ~path.is_trusted
        for b, split in enumerate(stack.splits):
            i = stack.start + b
            if lost[b]:
                form = stack.folds.without(split)
                yield i, fold_paths(self, form, split.test, n_components, [])
                continue
            loadings = path.y_loadings[b].T * stack.y_scale[b][:, None]
            T = stack.coordinates(b) @ path.rotations[b].T
            yield i, [FoldPath(T, loadings, stack.y_mean[b])]


@dataclass
class PrimalPath:
    """Components of a stack of ``b`` problems, one component per row: (b, k, p) and (b, k, q)."""

    weights: Array
    rotations: Array
    x_cross: Array  # X'T
    y_loadings: Array
    score_norms: Array  # t't, (b, k)
    n_found: Array  # (b,)
    is_trusted: NDArray  # whether a problem has the digits that its scores need, (b,)


def primal_pls(
    scores: RowScores | ScoreStack | MomentScores,
    n_components: int,
    tol: float,
    simpls: bool = False,
) -> PrimalPath:
    r"""NIPALS or SIMPLS components from what is known of the scores of directions.

    NIPALS (PLS2) without deflating X, after [DM1997]_, with :math:`S_1 = X^\top Y`:

    .. math::
        w_i = \text{leading left singular vector of } S_i, \quad
        r_i = w_i - \sum_{j<i} (p_j^\top w_i) r_j, \quad t_i = X r_i

    with loadings :math:`p_i = X^\top t_i / t_i^\top t_i`, :math:`q_i = Y^\top t_i / t_i^\top t_i` and
    :math:`S_{i+1} = S_i - (t_i^\top t_i)\, p_i q_i^\top`. SIMPLS [dJ1993]_ projects :math:`S` off the span
    of the loadings instead; its rotations are shown with unit length. A problem of the stack ends when
    its leading singular value falls to ``tol`` times the norm of X'Y; its later components are zero.
    """
    b, n_outputs, p = scores.cross.shape
    k = n_components
    # S' is stored by rows, padded to a multiple of four outputs for BLAS; padded rows stay zero.
    q = n_outputs if n_outputs == 1 else n_outputs + -n_outputs % 4
    first = np.zeros((b, q, p))
    first[:, :n_outputs] = scores.cross
    S = first.copy() if simpls else first
    step = np.empty_like(first)
    weights = np.zeros((b, k, p))
    basis = np.zeros((b, k if simpls else 0, p))  # orthonormal, of the loadings
    y_loadings = np.zeros((b, k, q))
    score_norms = np.zeros((b, k))
    floor = tol * np.sqrt(np.einsum("bqp,bqp->b", S, S))
    alive = floor > 0
    for i in range(k):
        # The weight, through the smaller of the two Gram matrices of S.
        if q <= p:
            outputs_gram = (S @ S.transpose(0, 2, 1))[:, :n_outputs, :n_outputs]
            c = leading_eigenvector(outputs_gram)[1]
            w = (c[:, None, :] @ S[:, :n_outputs])[:, 0]
            strength = np.sqrt(np.einsum("bp,bp->b", w, w))
            if b > 1:  # a single problem is normalised below
                w /= np.where(strength > 0, strength, 1.0)[:, None]
        else:
            squares, w = leading_eigenvector(S.transpose(0, 2, 1) @ S)
            strength = np.sqrt(np.maximum(squares, 0.0))
        alive &= strength > floor
        if not alive.any():
            break
        if b == 1:  # the digits of a stack are looked at afterwards, which is cheaper
            direction = off(w[0], weights[0, :i])[0]
            w[0] = direction / sqrt(direction @ direction)
        weights[:, i] = w * alive[:, None]
        # The score, and X and Y along it.
        tt, outputs = scores.add(weights[:, i], first if simpls else S, i)
        alive &= tt > 0
        y_loading = outputs * (alive / np.where(alive, tt, 1.0))[:, None]
        h = scores.x_cross[:, i]
        y_loadings[:, i] = y_loading
        score_norms[:, i] = tt * alive
        # What is left of S.
        if simpls:
            for problem, v in zip(basis, h):
                v = off(v, problem[:i])[0]
                problem[i] = v / (np.linalg.norm(v) or 1.0)
            v = basis[:, i]
            S -= np.multiply(S @ v[:, :, None], v[:, None, :], out=step)
        else:
            S -= np.multiply(y_loading[:, :, None], h[:, None, :], out=step)
    lengths = np.einsum("bkp,bkp->bk", scores.directions, scores.directions)
    path = PrimalPath(
        weights,
        scores.directions,
        scores.x_cross,
        y_loadings[:, :, :n_outputs],
        score_norms,
        n_found=np.count_nonzero(score_norms, axis=1),
        is_trusted=(scores.known_to * lengths <= score_norms).all(axis=1),
    )
    if simpls:
        _shorten(path)
    return path


def _shorten(path: PrimalPath) -> None:
    """Show rotations with unit length, which are the weights of SIMPLS."""
    lengths = np.linalg.norm(path.rotations, axis=2)
    lengths = np.where(lengths > 0, lengths, 1.0)
    path.rotations = path.rotations / lengths[:, :, None]
    path.x_cross = path.x_cross / lengths[:, :, None]
    path.y_loadings = path.y_loadings * lengths[:, :, None]
    path.score_norms = path.score_norms / lengths**2
    path.weights = path.rotations
