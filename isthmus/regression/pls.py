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

from isthmus._linalg import EPS, ROUNDING, Array, leading_eigenvector
from isthmus.problems import (
    FoldForms,
    FoldPath,
    Form,
    GramForm,
    MomentForm,
    MomentScores,
    RowForm,
    ScoreStack,
    Split,
    off,
)
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
_IN_CACHE = 2**16


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
        Number of components. "auto" chooses it by cross-validation, with the rule of
        ``ComponentSearchCV``; None takes all there are: least squares. Its five folds are dealt by what
        the rows are, copies together, so that the order of rows changes nothing (``Rows`` and Dask: by
        position). FoldForms of neighbours in time, of batches or of scans of one sample are those of
        ``ComponentSearchCV(PLS(), cv=...)``: a number (blocks of neighbouring rows, or with ``groups``
        whole groups), "time" or a splitter.
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
        if n * p <= _IN_CACHE:
            return RowForm
        k = min(n, p) if n_components is None else n_components
        if p <= n:
            if p <= _MOMENT_ORDER_PER_COMPONENT * k:
                return MomentForm
            return RowForm
        few = n <= _GRAM_ORDER_PER_COMPONENT * k and self.algorithm == "auto"
        return GramForm if few else RowForm

    def _fold_form(self, n: int, p: int, n_components: int) -> type[Form]:
        if n < p and n * p > _IN_CACHE and self.algorithm == "auto":
            return GramForm  # no fold lifts its map to the features
        return self._cheapest_form(n, p, n_components)

    def _solve(self, form: Any, n_components: int | None) -> tuple[Form, Factors]:
        n = form.frame.n_samples
        p = len(form.frame.x_scale)
        k = min(n - 1, p) if n_components is None else min(n_components, n - 1, p)
        tolerance = EPS * max(n, p)
        factors: Factors | None
        if form.is_dual:
            factors = solve_dual(form, k, tolerance)
        elif form.is_squared:
            factors = moment_pls(form, k, tolerance, self.algorithm == "simpls")
        else:
            factors = row_pls(form, k, tolerance, self.algorithm == "simpls")
        if factors is None:
            return self._solve(form.exactly(), n_components)
        if self.algorithm == "simpls":  # rotations of unit length, which are its weights
            lengths = np.linalg.norm(factors.rotations, axis=0)
            factors.turn(np.diag(1.0 / lengths), np.diag(lengths))
        found, wanted = factors.y_loadings.shape[1], n_components or 0
        if found < wanted and self.n_components != "auto":
            why = _why_no_more(form, factors)
            factors.warning = (
                f"n_components == {wanted}, but only {found} components exist: {why}. Kept {found}."
            )
        return form, factors

    def _fold_tasks(
        self, folds: FoldForms, splits: Sequence[Split], n_components: int, alphas: list
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


def _why_no_more(form: Form, factors: Factors) -> str:
    """What of X is exhausted by the components that were found."""
    found, n, p = factors.y_loadings.shape[1], form.frame.n_samples, len(form.frame.x_scale)
    if found == p:
        return f"X has {p} column{'s' * (p > 1)}"
    if found == n - 1:
        return f"{n} rows minus their mean have no more than {n - 1} directions"
    along = factors.along_scores
    explained = np.trace(form.inner(along / factors.gram.diagonal(), along))
    if explained >= (1.0 - ROUNDING) * form.x_squares.sum():
        return f"X has rank {found}"
    return "the rest of X has no covariance with y"


def row_pls(form: RowForm, n_components: int, tol: float, simpls: bool) -> Factors:
    """NIPALS or SIMPLS components of one problem whose scores are kept as vectors, see ``primal_pls``.

    With orthonormal weights W and unit scores T, X W = T R holds to rounding whatever the condition of
    X, with R upper triangular: all components are the least squares of a QR decomposition.
    """
    S = form.along(form.Y)  # what is left of Y'X, (q, p)
    q, p = S.shape
    k = n_components
    weights = np.zeros((k, p))
    rotations = np.zeros((k, p))
    x_cross = np.zeros((k, p))
    y_loadings = np.zeros((k, q))
    basis = np.zeros((k if simpls else 0, p))  # orthonormal, of the loadings
    units = np.zeros((k, len(form.Y)))  # t / ||t||
    lengths = np.zeros(k)  # ||t||
    floor = tol * sqrt(np.vdot(S, S))
    shortest = tol * sqrt(form.x_squares.sum())
    found = 0
    for i in range(k):
        # The weight, through the smaller of the two Gram matrices of S.
        if q <= p:
            w = leading_eigenvector(S @ S.T)[1] @ S
            strength = sqrt(w @ w)
        else:
            square, w = leading_eigenvector(S.T @ S)
            strength = sqrt(max(float(square), 0.0))
        if strength <= floor:
            break
        w = off(w, weights[:i])[0]
        w /= sqrt(w @ w)
        # The score, and X and Y along it.
        t, overlaps = off(form.times(w), units[:i])
        length = sqrt(t @ t)
        if length <= shortest:
            break
        found = i + 1
        weights[i] = w
        # One column of R^-1 by substitution, so that a rotation has all digits that R has.
        rotations[i] = w - (overlaps / lengths[:i]) @ rotations[:i]
        x_cross[i] = form.along(t)
        y_loadings[i] = (t @ form.Y) / length**2
        units[i] = t / length
        lengths[i] = length
        # What is left of S.
        if simpls:
            v = off(x_cross[i], basis[:i])[0]
            basis[i] = v / (np.linalg.norm(v) or 1.0)
            S -= (S @ basis[i])[:, None] * basis[i]
        else:
            S -= y_loadings[i, :, None] * x_cross[i]
    lengths = lengths[:found]
    norms = lengths**2
    return Factors(
        rotations=rotations[:found].T,
        y_loadings=y_loadings[:found].T,
        weights=weights[:found].T,
        x_cross=x_cross[:found].T,
        y_cross=norms[:, None] * y_loadings[:found],
        gram=np.diag(norms),
        solver="rows",
        # Few rows that stand for those of the user have scores that are nobody's.
        scores=None if form.is_condensed else units[:found].T * lengths,
    )


def moment_pls(form: MomentForm, n_components: int, tol: float, simpls: bool) -> Factors | None:
    """The same from moments; None where they lack digits for as many components."""
    norm = float(np.linalg.norm(form.xx))
    product = partial(np.dot, b=form.xx)
    # Two passes: what one leaves along earlier scores grows with every further component.
    scores = MomentScores(form.xy.T[None], product, n_components, norm, n_passes=2)
    path = primal_pls(scores, n_components, tol, simpls)
    if not path.is_trusted[0]:
        return None
    k = np.count_nonzero(path.score_norms[0])
    norms, y_loadings = path.score_norms[0, :k], path.y_loadings[0, :k]
    return Factors(
        rotations=path.rotations[0, :k].T,
        y_loadings=y_loadings.T,
        weights=path.weights[0, :k].T,
        x_cross=path.x_cross[0, :k].T,
        y_cross=norms[:, None] * y_loadings,
        gram=np.diag(norms),
        solver="moments",
    )


@dataclass
class PrimalPath:
    """Components of a stack of ``b`` problems, one component per row: (b, k, p) and (b, k, q)."""

    weights: Array
    rotations: Array
    x_cross: Array  # X'T
    y_loadings: Array
    score_norms: Array  # t't, (b, k)
    is_trusted: NDArray  # whether a problem has the digits that its scores need, (b,)


def primal_pls(
    scores: ScoreStack | MomentScores, n_components: int, tol: float, simpls: bool = False
) -> PrimalPath:
    r"""NIPALS or SIMPLS components from what is known of the scores of directions.

    NIPALS (PLS2) without deflating X, after [DM1997]_, with :math:`S_1 = X^\top Y`:

    .. math::
        w_i = \text{leading left singular vector of } S_i, \quad
        r_i = w_i - \sum_{j<i} (p_j^\top w_i) r_j, \quad t_i = X r_i

    with loadings :math:`p_i = X^\top t_i / t_i^\top t_i`, :math:`q_i = Y^\top t_i / t_i^\top t_i` and
    :math:`S_{i+1} = S_i - (t_i^\top t_i)\, p_i q_i^\top`. SIMPLS [dJ1993]_ projects :math:`S` off the span
    of the loadings instead. A problem of the stack ends when its leading singular value falls to ``tol``
    times the norm of X'Y; its later components are zero.
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
    return PrimalPath(
        weights,
        scores.directions,
        scores.x_cross,
        y_loadings[:, :, :n_outputs],
        score_norms,
        is_trusted=(scores.known_to * lengths <= score_norms).all(axis=1),
    )
