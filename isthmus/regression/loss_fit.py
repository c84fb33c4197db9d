"""Maps of low rank under any loss, for an estimator: start, descent, and the factors of what was found."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import svd
from sklearn.exceptions import ConvergenceWarning

from isthmus.linalg import Array
from isthmus.losses import get_loss, robust_scale
from isthmus.losses.residual import ResidualLoss
from isthmus.regression.factors import Factors
from isthmus.regression.forms import RowForm
from isthmus.regression.optimum import RankOptimum
from isthmus.regression.pls import PLS
from isthmus.regression.rank_descent import (
    Penalty,
    RankProblem,
    descend_factors,
    descend_geodesics,
    finite_or_raise,
    identity_start,
    shaken,
    singular_form,
    winsorised,
)
from isthmus.regression.scales import least_scale
from isthmus.regression.spectrum import whitening_of
from isthmus.solvers import Reason

# Rounds in which a parameter such as Huber's delta follows the scale of the residuals.
_SETTLING, _SETTLED = 8, 0.01
_LEAST_RANK = 1e-8  # of the largest singular value: less is no component of a start


class LossFit:
    """The part of an estimator that fits a map under a loss without a closed form."""

    def _fit_loss(
        self: Any, X: NDArray, Y: Array, weights: Array | None, n_components: int | None
    ) -> tuple[RowForm, Factors]:
        """Descent from a start in the whitened coordinates of X."""
        easy = winsorised(Y, self.loss_, weights)
        form = RowForm.from_rows(X, easy, weights, self.scale)
        form.Y, form.frame.y_scale = form.Y * form.frame.y_scale, np.ones(Y.shape[1])
        form.y_squares = (form.Y**2).sum(axis=0)
        spectrum = whitening_of(form)
        alpha = self._alpha_in_frame(spectrum, form)
        rows = (form.X if weights is None else form.frame.x(X)) @ spectrum.basis
        optimum = RankOptimum(form, spectrum, alpha, exact=True)
        most = min(len(spectrum.squares), Y.shape[1])
        r = most if n_components is None else min(n_components, most)
        constant = (Y == Y[0]).all(axis=0)
        if constant.all():  # nothing to map to: the location alone
            r = 0
        A, D = self._start(form, spectrum, optimum, r)  # C = basis A D'
        # Residuals do not know where y is: near its middle the objective has digits to go down by.
        middle = form.frame.y_mean * isinstance(self.loss_, ResidualLoss)
        Y, easy, b = Y - middle, easy - middle, form.frame.y_mean - middle
        if r == 0:
            A, D = np.zeros((len(spectrum.squares), 1)), np.zeros((Y.shape[1], 1))
        A, D, b, result = self._settle(rows, spectrum.squares, (Y, easy), weights, alpha, (A, D, b))
        finite_or_raise(A, self.loss_)
        self._report(result)
        if constant.any() and isinstance(self.loss_, ResidualLoss):
            D = np.where(constant[:, None], 0.0, D)
            b = np.where(constant, Y[0], b)
        return self._as_factors(
            form, spectrum.basis @ A[:, :r], D[:, :r], Y - b, b + middle, weights
        )

    def _settle(
        self: Any,
        rows: Array,
        squares: Array,
        targets: tuple[Array, Array],
        weights: Array | None,
        alpha: float,
        factors: tuple[Array, Array, Array],
    ) -> tuple[Array, Array, Array, Any]:
        """Descend; where the loss takes its parameters from the residuals, until those settle."""
        given, (Y, easy) = get_loss(self.loss), targets
        descend = descend_geodesics if self.solver == "paper" else descend_factors
        A, D, b = factors
        n_iter, least = 0, 0.0
        if isinstance(given, ResidualLoss):
            residual = Y - (rows @ A) @ D.T - b
            # A smooth loss without open parameters only counts its tolerance in this scale, which is
            # there unless inputs are many enough to interpolate.
            settled = given.is_smooth and given.resolve(residual, weights) is given
            if not settled or 2 * len(squares) > len(Y):
                least = least_scale(residual, rows, squares, Y, easy, weights, alpha)
        for _ in range(_SETTLING):
            residual = Y - (rows @ A) @ D.T - b
            scale = robust_scale(residual, weights)
            if scale < least:  # the parameters are proportional to the residuals
                residual, scale = residual * (least / scale), least
            self.loss_ = given.resolve(residual, weights)
            g = 1.0 / np.sqrt(squares + alpha / self.loss_.typical_curvature(scale))
            problem = RankProblem(
                rows * g,
                g,
                Y,
                weights,
                self.loss_,
                Penalty(alpha),
                self._output_weights(Y.shape[1]),
            )
            options: dict[str, Any] = {
                "scale": scale,
                "max_iter": self.max_iter,
                "tol": self.tol,
                "verbose": self.verbose,
                "callback": self._step_hook,
            }
            (A, D, b), result = descend(problem, (A / g[:, None], D, b), **options)
            if self.solver != "paper" and not self.loss_.is_smooth:
                (A, D, b), result = shaken(problem, (A, D, b), result, options)
            self.objective_ = problem.objective(A, D, b)
            A, n_iter = g[:, None] * A, n_iter + result.n_iter
            if given is self.loss_ or not result.converged:
                break
            new = robust_scale(Y - (rows @ A) @ D.T - b, weights)
            if abs(max(new, least) - scale) <= _SETTLED * scale:
                break
        return A, D, b, replace(result, n_iter=n_iter)

    def _output_weights(self: Any, n_targets: int) -> Array | None:
        if self.output_weight is None:
            return None
        given = np.asarray(self.output_weight, dtype=np.float64)
        if given.shape != (n_targets,):
            raise ValueError(
                f"output_weight has shape {given.shape}, expected (n_targets,) = ({n_targets},)."
            )
        if not (np.isfinite(given).all() and (given >= 0).all() and given.any()):
            raise ValueError(
                f"output_weight == {self.output_weight!r}, must be finite, >= 0 and not all zero."
            )
        return given

    def _start(
        self: Any, form: RowForm, spectrum: Any, optimum: RankOptimum, r: int
    ) -> tuple[Array, Array]:
        """Factors of the start in the coordinates of the spectrum, (k, r) and (q, r)."""
        k, q = len(spectrum.squares), form.Y.shape[1]
        given = self._last_coef if self._last_coef is not None else self.init
        if isinstance(given, str):
            if given == "identity":
                return identity_start(k, q, r)
            if given == "exact" or r == 0:
                A, D = optimum.factors(min(r, optimum.rank))
                A = np.pad(A, ((0, k - len(A)), (0, 0)))
            elif given == "ridge":
                W, s, V = singular_form(*optimum.factors(optimum.rank))
                A, D = np.pad(W * s, ((0, k - len(W)), (0, 0)))[:, :r], V[:, :r]
            else:
                factors = PLS(max(r, 1))._solve(form, max(r, 1), exact=True)
                A, D = spectrum.basis.T @ factors.rotations, factors.y_loadings
        else:
            coef = np.asarray(given, dtype=np.float64)
            if coef.shape != (q, len(form.frame.x_scale)):
                what = "init has" if self._last_coef is None else "warm_start: the last map has"
                raise ValueError(
                    f"{what} shape {coef.shape}, expected (n_targets, n_features) = "
                    f"{(q, len(form.frame.x_scale))}."
                )
            U, s, Vt = svd(spectrum.basis.T @ (coef * form.frame.x_scale).T, full_matrices=False)
            rank = np.count_nonzero(s[:r] > _LEAST_RANK * s.max(initial=0.0))
            A, D = _completed(U[:, :rank] * s[:rank], Vt[:rank].T, optimum, r)
        return _widened(A, D, r)

    def _as_factors(
        self: Any,
        form: RowForm,
        A: Array,
        D: Array,
        Y: Array,
        b: Array,
        weights: Array | None,
    ) -> tuple[RowForm, Factors]:
        """Factors of the map A D' for the base class; the intercept stands in for the mean of y."""
        root = 1.0 if weights is None else np.sqrt(weights)[:, None]
        form.frame.y_mean, form.Y = b, Y * root
        form.y_squares = (form.Y**2).sum(axis=0)
        if A.shape[1]:
            W, s, V = singular_form(A, D)
            keep = s > 1e-14 * max(s[0], np.finfo(float).tiny)
            W, s, V = W[:, keep], s[keep], V[:, keep]
        else:
            W, s, V = A, np.zeros(0), D
        T = form.X @ W
        factors = Factors(
            rotations=W,
            y_loadings=V * s,
            weights=None,
            x_cross=form.X.T @ T,
            y_cross=T.T @ form.Y,
            gram=T.T @ T,
            solver="paper" if self.solver == "paper" else "lbfgs",
        )
        return form, factors

    def _report(self: Any, result: Any) -> None:
        self.n_iter_ = max(result.n_iter, 1)
        self._interrupted = result.reason is Reason.INTERRUPTED
        if not result.converged and not self._interrupted:
            warnings.warn(
                f"{result.reason} (max_iter={self.max_iter}, gradient norm {result.certificate:.1e}): "
                "raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=5,
            )


def _completed(A: Array, D: Array, optimum: RankOptimum, r: int) -> tuple[Array, Array]:
    """Fill up to r columns with the closed form for what a start of lower rank leaves.

    Where a column is zero it has no gradient: a start of too low a rank is a saddle, and a descent from it
    ends there.
    """
    if A.shape[1] >= r:
        return A, D
    m = len(optimum.squares)  # the rest of the coordinates was cut off by a rank decision
    left = optimum.cross - optimum.squares[:, None] * (A[:m] @ D.T)
    P, sigma, Qt = svd(optimum.g[:, None] * left, full_matrices=False)
    more = min(r - A.shape[1], np.count_nonzero(sigma > _LEAST_RANK * sigma.max(initial=0.0)))
    extra = np.zeros((len(A), more))
    extra[:m] = optimum.g[:, None] * P[:, :more] * sigma[:more]
    return np.hstack([A, extra]), np.hstack([D, Qt[:more].T])


def _widened(A: Array, D: Array, r: int) -> tuple[Array, Array]:
    """Fill up to r columns with tiny ones: a column of zeros has no gradient to leave it."""
    lack = r - A.shape[1]
    if lack <= 0:
        return A[:, :r], D[:, :r]
    size = 1e-3 * max(float(np.linalg.norm(A)), 1e-3) / max(A.shape[0], 1)
    rng = np.random.default_rng(0)
    extra = [size * rng.standard_normal((len(F), lack)) for F in (A, D)]
    return np.hstack([A, extra[0]]), np.hstack([D, extra[1]])
