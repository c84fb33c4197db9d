r"""Kernel dimension reduction: linear directions by conditional independence, as a baseline."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, eigh
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from isthmus._linalg import Array, column_signs
from isthmus._saved import saved
from isthmus._validation import (
    check_count,
    check_enough_samples,
    check_memory,
    finite_answer,
    validate_data,
    warn,
)
from isthmus.kernels import center_train, deal_by_content, median_gamma, resolve_kernel
from isthmus.projections.base import seed_of
from isthmus.projections.coir import kernel_outputs
from isthmus.projections.crossval import mean_score
from isthmus.projections.fitted import SupervisedTransformer
from isthmus.projections.held_out import Judge, KernelJudge
from isthmus.projections.rows import OF_ROWS, counted_rows, require_variation

AUTO_GAUSSIAN_ALPHA = 1e-2  # of the trace of the Gaussian Gram matrix
GRAM_MATRICES = 9  # n x n numbers at a time, at most


@saved(components_="r p", _mean="p", held_out_score_="nan")
class KDR(SupervisedTransformer):
    r"""Find the linear subspace that explains most of the outputs: kernel dimension reduction.

    .. math::
        \min_{B^\top B = I} \operatorname{tr} L \left(K_B + \alpha I\right)^{-1}

    with the centred Gram matrices ``K_B`` of the inputs projected on ``B`` (a Gaussian kernel) and ``L``
    of the outputs, [FBJ2009]_. The start is in closed form, the leading eigenvectors of the averaged
    gradients of the kernel regression (gKDR, [FL2014]_); a descent on orthonormal matrices follows.
    Much slower than :class:`COIR`: every iteration costs a Cholesky factorisation.

    Several outputs are compared in their own units, so that an output with small values has little
    weight. If their units are not comparable, divide them by their standard deviations first.

    Parameters
    ----------
    n_components : int, default=2
        Number of directions.
    kernel_y : kernel object, str, callable or "precomputed", default="rbf"
        Similarity of two outputs.
    alpha : float or "auto", default="auto"
        Ridge weight, added to the centred Gram matrix. "auto" is a fixed fraction, 1e-2 of the trace n
        of the Gaussian Gram matrix.
    gamma : float or None, default=None
        Inverse width of the Gaussian kernel of projected inputs; None is the median rule on the start.
    max_iter : int, default=50
        Most iterations of the descent; 0 is gKDR alone.
    tol : float, default=1e-5
        Relative decrease of the criterion at which to stop.
    cv : int, list of splits or None, default=None
        Folds for ``held_out_score_``, one complete fit per fold.
    random_state : int, RandomState or None, default=None
        Seed for the median rule and the folds.
    n_jobs : int or None, default=None
        Number of threads for Gram matrices of objects.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal directions, in no particular order.
    alpha_ : float
        The ridge weight that was used.
    objective_ : float
        The value of the criterion.
    n_iter_ : int
        Iterations of the descent.
    held_out_score_, held_out_scores_ :
        As in :class:`COIR`; NaN and None without folds.
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel_y: Any = "rbf",
        alpha: float | str = "auto",
        gamma: float | None = None,
        max_iter: int = 50,
        tol: float = 1e-5,
        cv: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel_y = kernel_y
        self.alpha = alpha
        self.gamma = gamma
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KDR:
        """Find the directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), list or matrix
            Outputs.
        sample_weight : array-like of shape (n_samples,), default=None
            As in :meth:`COIR.fit`.

        Returns
        -------
        self : object
            The fitted projection.
        """
        X, y, weights, folds = counted_rows(self, X, y, sample_weight)
        X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
        check_enough_samples(len(X))
        self._check(X.shape[1])
        n = len(X)
        check_memory(GRAM_MATRICES * 8.0 * n * n, f"KDR of {n} rows", "fit fewer of them, or COIR.")
        side, judge = kernel_outputs(self, y, len(X), weights)
        self.kernel_y_ = side.kernel
        raw = side.output_gram()
        w = np.ones(n) if weights is None else weights
        L = weighted_centre(raw, w)
        require_variation(float(np.trace(L)), float(w @ np.abs(raw.diagonal())), "y")
        X = X.astype(np.float64)
        size = float((X**2).sum())
        self._mean = np.average(X, axis=0, weights=weights)
        X -= self._mean  # distances keep their digits far from zero
        require_variation(float((X**2).sum()), size, "X", OF_ROWS)
        B = self._solve(X, L, w)
        self.components_ = (B * column_signs(X @ B)).T
        self.alpha_ = self._ridge(float(w.sum()))
        self.held_out_score_, self.held_out_scores_ = np.nan, None
        if folds is not None:
            if isinstance(folds, Integral):
                folds = deal_by_content(X, int(folds), seed_of(self.random_state))
            judges = (judge or KernelJudge(raw, w)).merge_copies(X)
            self.held_out_scores_ = self._held_out(X, raw, judges, w, folds)
            self.held_out_score_ = float(mean_score(self.held_out_scores_))
        return self

    def _check(self, p: int) -> None:
        r = check_count("n_components", self.n_components)
        if self.alpha != "auto" and not (isinstance(self.alpha, Real) and self.alpha > 0):
            raise ValueError(f"alpha == {self.alpha!r}, must be a number > 0 or 'auto'.")
        if r > p:
            warn(
                f"n_components == {r} is more than the {p} inputs: {p} components are kept.",
            )

    def _solve(self, X: Array, L: Array, w: Array) -> Array:
        r = min(int(self.n_components), X.shape[1])
        ridge = self._ridge(float(w.sum()))
        B = gradient_directions(X, L, ridge, r, self._gamma(X, w), w)
        # Distances in the subspace are shorter than those of all inputs, so they have a width of their own.
        gamma = self._gamma(X @ B, w)
        options = gamma, ridge, self.max_iter, self.tol
        B, self.objective_, self.n_iter_ = descend(B, X, L, *options, w)
        return B

    def _ridge(self, n: float) -> float:
        if isinstance(self.alpha, str):
            return AUTO_GAUSSIAN_ALPHA * n
        return float(self.alpha)

    def _gamma(self, X: Array, w: Array) -> float:
        if self.gamma is not None:
            return float(resolve_kernel("rbf", gamma=self.gamma).gamma)
        weights = None if (w == 1).all() else w
        return median_gamma(X, random_state=seed_of(self.random_state), sample_weight=weights)

    def _held_out(self, X: Array, raw: Array, judge: Judge, w: Array, folds: NDArray) -> Array:
        scores, kept = [], (self.objective_, self.n_iter_)
        for k in range(int(folds.max()) + 1):
            train = np.flatnonzero(folds != k)
            test = np.flatnonzero(folds == k)
            L = weighted_centre(raw[np.ix_(train, train)], w[train])
            B = self._solve(X[train], L, w[train])
            scores.append(judge.scores(X @ B, train, test))
        self.objective_, self.n_iter_ = kept
        return mean_score(np.array(scores).T)

    def transform(self, X: Any) -> Any:
        """Return the coordinates of new rows, (n_samples, n_components)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        Z = (X - self._mean) @ self.components_.T
        return finite_answer(self, Z.astype(X.dtype, copy=False))

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)


def weighted_centre(K: Array, w: Array) -> Array:
    """A Gram matrix seen from the weighted mean, rows and columns times the roots of their weights."""
    K = center_train(K, share=w / w.sum())[0]
    root = np.sqrt(w)
    K *= root[:, None]
    K *= root
    return K


def _factorise(Z: Array, gamma: float, ridge: float, w: Array) -> tuple[Array, Any]:
    """Gaussian kernel values of rows, and the Cholesky factor of ``K + ridge``, centred and weighted."""
    squares = (Z**2).sum(axis=1)
    k = np.exp(-gamma * np.maximum(squares[:, None] + squares - 2.0 * Z @ Z.T, 0.0))
    A = weighted_centre(k, w)
    A.flat[:: len(A) + 1] += ridge
    return k, cho_factor(A, lower=True, overwrite_a=True)


def criterion(
    B: Array, X: Array, L: Array, gamma: float, ridge: float, w: Array
) -> tuple[float, Array]:
    r"""Value and gradient of :math:`\operatorname{tr} L (K_B + \text{ridge})^{-1}`.

    With :math:`A = K_B + \text{ridge}` the gradient is :math:`4 \gamma X^\top (\operatorname{diag}(W 1) -
    W) X B`, :math:`W = (H^\top A^{-1} L A^{-1} H) \circ k`, of the Gaussian kernel ``exp(-gamma |.|^2)``.
    :math:`H = D^{1/2} (I - 1 s^\top)` centres and weighs rows, with the weights :math:`D` and their shares
    s; :math:`L` and :math:`K_B` are such matrices.
    """
    Z = X @ B
    k, factor = _factorise(Z, gamma, ridge, w)
    AL = cho_solve(factor, L)
    W = _times_centring(cho_solve(factor, AL.T), w) * k
    laplacian_X = W.sum(axis=1)[:, None] * X - W @ X
    return float(np.trace(AL)), 4.0 * gamma * laplacian_X.T @ Z


def _times_centring(M: Array, w: Array) -> Array:
    """``H' M H`` of the criterion."""
    root, share = np.sqrt(w), w / w.sum()
    M = M * root[:, None] * root
    sums = M.sum(axis=0)
    M -= np.outer(share, sums)
    M -= np.outer(sums, share)
    M += sums.sum() * np.outer(share, share)
    return M


def gradient_directions(X: Array, L: Array, ridge: float, r: int, gamma: float, w: Array) -> Array:
    """gKDR: leading eigenvectors of the averaged ``D_i' (K + ridge)^-1 L (K + ridge)^-1 D_i``.

    ``D_i`` (n, p) holds the gradients of ``k(x_j, x)`` at ``x_i``.
    """
    k, factor = _factorise(X, gamma, ridge, w)
    root = np.sqrt(w)
    inner = root[:, None] * cho_solve(factor, cho_solve(factor, L).T) * root
    M = np.zeros((X.shape[1], X.shape[1]))
    for i in range(len(X)):
        D = 2.0 * gamma * k[:, i, None] * (X - X[i])
        M += w[i] * (D.T @ (inner @ D))
    return eigh(M / w.sum())[1][:, ::-1][:, :r]


def descend(
    B: Array,
    X: Array,
    L: Array,
    gamma: float,
    ridge: float,
    max_iter: int,
    tol: float,
    w: Array,
) -> tuple[Array, float, int]:
    """Steepest descent with Barzilai-Borwein steps, retracted by QR, backtracking on the value."""
    value, gradient = criterion(B, X, L, gamma, ridge, w)
    direction, step = _tangent(B, gradient), 0.0
    for iteration in range(1, max_iter + 1):
        norm = float(np.linalg.norm(direction))
        if norm == 0.0:
            return B, value, iteration
        # A first move of a tenth in an orthonormal frame, whatever the units of the criterion.
        step = step or 0.1 / norm
        # Twenty cuts leave 3e-11 of the first step: there is no descent then.
        for _ in range(20):
            trial = _retract(B - step * direction)
            new_value, new_gradient = criterion(trial, X, L, gamma, ridge, w)
            # Armijo: a small share of the decrease that the slope promises is enough.
            if new_value <= value - 1e-4 * step * norm**2:
                break
            step *= 0.3
        else:
            return B, value, iteration
        new_direction = _tangent(trial, new_gradient)
        s, d = trial - B, new_direction - direction
        curvature = float((s * d).sum())
        # Barzilai-Borwein needs positive curvature; along the rest a longer step costs one evaluation.
        step = float((s * s).sum()) / curvature if curvature > 0 else 2.0 * step
        done = value - new_value <= tol * abs(value)
        B, value, direction = trial, new_value, new_direction
        if done:
            return B, value, iteration
    if max_iter > 0:
        warn(
            f"KDR did not converge in max_iter={max_iter} steps; the criterion is {value:.6g}.",
            ConvergenceWarning,
        )
    return B, value, max_iter


def _tangent(B: Array, gradient: Array) -> Array:
    inner = B.T @ gradient
    return gradient - B @ (inner + inner.T) / 2


def _retract(B: Array) -> Array:
    # QR may flip columns; differences between two steps would then measure the flip.
    Q, R = np.linalg.qr(B)
    return Q * np.where(R.diagonal() < 0, -1.0, 1.0)
