"""Maps of low rank under any loss, for an estimator: start, descent, and the factors of what was found."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import svd
from sklearn.exceptions import ConvergenceWarning

from isthmus.linalg import Array, power_of_two
from isthmus.losses import Loss, get_loss, robust_scale
from isthmus.losses.checks import check_user_loss
from isthmus.losses.residual import ResidualLoss
from isthmus.losses.scale import robust_scales
from isthmus.problems import RowForm
from isthmus.regression.factors import Factors
from isthmus.regression.kinked import fit_outputs, outputs_come_apart
from isthmus.regression.optimum import RankOptimum
from isthmus.regression.pls import PLS
from isthmus.regression.rank_descent import (
    Penalty,
    RankProblem,
    descend_geodesics,
    finite_or_raise,
    singular_form,
)
from isthmus.regression.scales import middle_and_spread, ridge_residuals, winsorised
from isthmus.regression.starts import descend_well
from isthmus.solvers import Reason

# Rounds in which a parameter such as Huber's delta follows the scale of the residuals.
_SETTLING, _SETTLED = 8, 0.01
_SHARE = 0.2  # of the scale of the ridge: robust fits end with smaller residuals, but not at none
_LEAST_RANK = 1e-8  # of the largest singular value: less is no component of a start
_LARGEST_START = 10.0  # times y: what a start may predict
_SQUARABLE = 1e140  # spreads beyond this, or below its inverse, leave float64 when they are squared


@dataclass
class _Outputs:
    """The outputs as a loss sees them: centred, and in units of their spread where it has none itself."""

    Y: Array
    easy: Array  # a copy without gross outliers, for the start
    middle: Array
    unit: Array

    @classmethod
    def of(cls, Y: Array, loss: Loss, weights: Array | None) -> _Outputs:
        if isinstance(loss, ResidualLoss):
            # Residuals do not know where y is: near its middle the objective has digits to go down by.
            middle, spread = middle_and_spread(Y, weights)
            unit = np.ones(Y.shape[1]) if loss.has_units else spread
            if loss.has_units and not 1 / _SQUARABLE < spread.max() < _SQUARABLE:
                raise ValueError(
                    f"y has a spread of {spread.max():.1e}, out of the range of {loss!r}, whose numbers "
                    "are in the units of y: rescale y and them."
                )
        else:
            middle, unit = np.zeros(Y.shape[1]), np.ones(Y.shape[1])
        easy = winsorised(Y, loss, weights)
        return cls((Y - middle) / unit, (easy - middle) / unit, middle, unit)


class LossFit:
    """The part of an estimator that fits a map under a loss without a closed form."""

    def _fit_loss(
        self: Any, X: NDArray, Y: Array, weights: Array | None, n_components: int | None
    ) -> tuple[RowForm, Factors]:
        """Descent from a start in the whitened coordinates of X."""
        given = get_loss(self.loss)
        y_unit, w_unit = 1.0, 1.0
        if isinstance(given, ResidualLoss) and not given.has_units:
            y_unit = power_of_two(Y)
        if weights is not None:  # a common factor of loss and ridge, which may be out of range
            w_unit = power_of_two(weights)
            weights = weights / w_unit
        outputs = _Outputs.of(Y / y_unit, given, weights)
        check_user_loss(given, outputs.Y, outputs.easy)
        form = RowForm.from_rows(X, outputs.easy, weights, self.scale)
        q = Y.shape[1]
        form.Y, form.frame.y_scale = form.Y * form.frame.y_scale, np.full(q, y_unit)
        form.y_squares = (form.Y**2).sum(axis=0)
        spectrum = form.whitening()
        alpha = self._alpha_in_frame(spectrum.norm, form)
        if self.alpha != "auto":
            alpha /= w_unit
        rows = (form.X if weights is None else form.frame.x(X)) @ spectrum.basis
        optimum = RankOptimum(form, spectrum, alpha)
        most = min(len(spectrum.squares), q)
        r = most if n_components is None else min(n_components, most)
        constant = (Y == Y[0]).all(axis=0)
        if constant.all():  # nothing to map to: the location alone
            r = 0
        A, D = self._start(form, spectrum, optimum, r, outputs.unit * y_unit)  # C = basis A D'
        if r == 0:
            A, D = np.zeros((len(spectrum.squares), 1)), np.zeros((q, 1))
        start = (A, D, form.frame.y_mean)
        A, D, b, result = self._settle(rows, spectrum.squares, outputs, weights, alpha, start)
        finite_or_raise(A, self.loss_)
        self.objective_ *= w_unit
        self.output_scale_ = self.output_scale_ * outputs.unit * y_unit
        self._report(result)
        D, b = D * outputs.unit[:, None], b * outputs.unit + outputs.middle
        if constant.any() and isinstance(self.loss_, ResidualLoss):
            D = np.where(constant[:, None], 0.0, D)
            b = np.where(constant, Y[0] / y_unit, b)
        return self._as_factors(
            form, spectrum.basis @ A[:, :r], D[:, :r], Y / y_unit - b, b * y_unit, weights
        )

    def _settle(
        self: Any,
        rows: Array,
        squares: Array,
        outputs: _Outputs,
        weights: Array | None,
        alpha: float,
        start: tuple[Array, Array, Array],
    ) -> tuple[Array, Array, Array, Any]:
        """Descend; where the loss counts in the scale of the residuals, until that settles."""
        given, Y = get_loss(self.loss), outputs.Y
        (A, D, b), n_iter = start, 0
        residual, least = Y - (rows @ A) @ D.T - b, np.zeros(Y.shape[1])
        if isinstance(given, ResidualLoss):
            # A smooth loss in the units of y only counts its tolerance in this scale, which is there
            # unless inputs are many enough to interpolate.
            if not (given.is_smooth and given.has_units) or 2 * len(squares) > len(Y):
                free, least = ridge_residuals(rows, squares, Y, outputs.easy, weights, alpha)
                least = np.maximum(least, _SHARE * robust_scales(free, weights))
            if not given.has_units and given.resolve(residual, weights, scale=1.0) is given:
                residual = free  # nothing follows the scales: they do not depend on the rank either
        scales, self.loss_ = self._resolved(given, residual, weights, least)
        settles = self.loss_ is not given
        for turn in range(_SETTLING if settles else 1):
            task = _Task(self, rows, squares, Y, weights, alpha, scales)
            last = not settles or turn == _SETTLING - 1
            (A, D, b), result = task.descend((A, D, b), rough=not last)
            n_iter += result.n_iter
            if last or not result.converged:
                break
            residual = Y - (rows @ A) @ D.T - b
            new, loss = self._resolved(given, residual, weights, least)
            if (np.abs(new - scales) <= _SETTLED * scales).all():
                (A, D, b), result = task.descend((A, D, b))
                n_iter += result.n_iter
                break
            scales, self.loss_ = new, loss
        self.output_scale_ = scales if not given.has_units else np.ones(Y.shape[1])
        self.objective_ = task.objective
        if self.alpha == "auto":
            self.alpha_ *= task.alpha / alpha if alpha else 1.0
        return A, D, b, replace(result, n_iter=n_iter)

    def _resolved(
        self: Any, given: Loss, residual: Array, weights: Array | None, least: Array
    ) -> tuple[Array, Loss]:
        """Scales of the residuals of each output, and the loss with its parameters for them.

        A loss in the units of y has one scale, for all outputs, which only its tolerances know of.
        """
        if not given.has_units:
            found = robust_scales(residual, weights)
            scales = np.maximum(found, least)
            # The parameters are those of residuals that are as large as their scale says.
            residual = residual / np.where(found > 0, found, 1.0)
            return scales, given.resolve(residual, weights, scale=1.0)
        scale, floor = robust_scale(residual, weights), float(np.median(least))
        if isinstance(given, ResidualLoss) and scale < floor:
            residual, scale = residual * (floor / scale), floor
        return np.full(len(least), scale), given.resolve(residual, weights)

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
        self: Any, form: RowForm, spectrum: Any, optimum: RankOptimum, r: int, unit: Array
    ) -> tuple[Array, Array]:
        """Factors of the start in the coordinates of the spectrum, (k, r) and (q, r).

        ``unit`` is that of each output, (q,).
        """
        k, q = len(spectrum.squares), form.Y.shape[1]
        given = self._last_coef if self._last_coef is not None else self.init
        if isinstance(given, str):
            if given == "identity":
                return spectrum.basis[:r].T.copy(), np.eye(q, r)  # the papers': unit vectors
            if given == "exact" or r == 0:
                A, D = optimum.factors(min(r, optimum.rank))
                A = np.pad(A, ((0, k - len(A)), (0, 0)))
            elif given == "ridge":
                W, s, V = singular_form(*optimum.factors(optimum.rank))
                A, D = np.pad(W * s, ((0, k - len(W)), (0, 0)))[:, :r], V[:, :r]
            else:
                factors = PLS(max(r, 1))._solved(form, max(r, 1))[1]
                A, D = spectrum.basis.T @ factors.rotations, factors.y_loadings
        else:
            coef = np.asarray(given, dtype=np.float64)
            if coef.shape != (q, len(form.frame.x_scale)):
                what = "init has" if self._last_coef is None else "warm_start: the last map has"
                raise ValueError(
                    f"{what} shape {coef.shape}, expected (n_targets, n_features) = "
                    f"{(q, len(form.frame.x_scale))}."
                )
            # Of any size: as a start, a map far larger than y serves by its directions.
            common = power_of_two(coef)
            inner = spectrum.basis.T @ ((coef / common / unit[:, None]) * form.frame.x_scale).T
            size = float(np.linalg.norm(np.sqrt(spectrum.squares)[:, None] * inner))
            most = _LARGEST_START * float(np.sqrt(form.y_squares.sum()))
            factor = min(common, most / size) if size > 0 else 1.0
            inner *= factor if factor * size > _LEAST_RANK * most else 0.0
            U, s, Vt = svd(inner, full_matrices=False)
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
                f"{result.reason} (max_iter={self.max_iter}, certificate of the end "
                f"{result.certificate:.1e}): raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=5,
            )


class _Task:
    """One descent of an estimator, with given scales of the outputs."""

    def __init__(
        self,
        model: Any,
        rows: Array,
        squares: Array,
        Y: Array,
        weights: Array | None,
        alpha: float,
        scales: Array,
    ) -> None:
        self.model, self.loss = model, model.loss_
        is_scaled = not get_loss(model.loss).has_units
        self.scales = scales if is_scaled else np.ones(len(scales))
        self.scale = 1.0 if is_scaled else float(scales[0])
        curvature = self.loss.typical_curvature(self.scale)
        # A ridge that is left open is a share of the curvature of the loss in every direction.
        self.alpha = alpha * curvature if model.alpha == "auto" else alpha
        self.g = 1.0 / np.sqrt(squares + self.alpha / curvature)
        weight = model._output_weights(Y.shape[1])
        penalty = Penalty(self.alpha)
        self.problem = RankProblem(
            rows * self.g, self.g, Y / self.scales, weights, self.loss, penalty, weight
        )
        self.objective = np.nan

    def descend(
        self, start: tuple[Array, Array, Array], rough: bool = False
    ) -> tuple[tuple[Array, Array, Array], Any]:
        """From factors in the units of the outputs to better ones; rough where the scales go on to move."""
        model, problem = self.model, self.problem
        point = (
            start[0] / self.g[:, None],
            start[1] / self.scales[:, None],
            start[2] / self.scales,
        )
        options: dict[str, Any] = {
            "scale": self.scale,
            "max_iter": model.max_iter,
            "tol": model.tol,
            "verbose": model.verbose,
            "callback": model._step_hook,
        }
        if model.solver == "paper":
            point, result = descend_geodesics(problem, point, **options)
        elif outputs_come_apart(problem, point[0].shape[1]):
            point, result = fit_outputs(problem, model.max_iter)
        else:
            chosen = model._last_coef is not None or not _is_default(model.init)
            point, result = descend_well(problem, point, options, rough=rough, chosen=chosen)
        self.objective = problem.objective(*point)
        A, D, b = point
        return (self.g[:, None] * A, D * self.scales[:, None], b * self.scales), result


def _is_default(init: Any) -> bool:
    return isinstance(init, str) and init == "exact"


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
