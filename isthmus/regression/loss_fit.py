"""Fit maps of low rank under any loss: start, descent, and the factors of the map that was found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import svd

from isthmus._linalg import Array, graded_units, power_of_two
from isthmus._solvers import SolverResult
from isthmus.losses import Loss, ResidualLoss, check_user_loss, robust_scale, robust_scales
from isthmus.problems import RowForm
from isthmus.regression.factors import Factors
from isthmus.regression.kinked import fit_outputs, outputs_come_apart
from isthmus.regression.optimum import RankOptimum, output_sizes
from isthmus.regression.rank_descent import (
    Penalty,
    RankProblem,
    check_finite,
    map_factors,
)
from isthmus.regression.scales import middle_and_spread, ridge_residuals, winsorise
from isthmus.regression.starts import descend_well

# Rounds in which a parameter such as Huber's delta follows the scale of the residuals.
_SETTLING, _SETTLED = 8, 0.01
_SHARE = 0.2  # of the scale of the ridge: robust fits end with smaller residuals, but not at none
_LEAST_RANK = 1e-8  # of the largest singular value: less is no component of a start
_LARGEST_START = 10.0  # times y: what a start may predict
_SQUARABLE = 1e140  # spreads beyond this, or below its inverse, leave float64 when they are squared

Point = tuple[Array, Array, Array]  # both factors of a map, and intercepts


@dataclass
class _Outputs:
    """The outputs as a loss sees them: centred, and in units of their spread where it has none itself."""

    Y: Array
    easy: Array  # a copy without gross outliers, for the start
    middle: Array
    unit: Array

    @classmethod
    def from_targets(cls, Y: Array, loss: Loss, weights: Array | None) -> _Outputs:
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
            middle = np.zeros(Y.shape[1])
            unit = np.ones(Y.shape[1])
        easy = winsorise(Y, loss, weights)
        return cls((Y - middle) / unit, (easy - middle) / unit, middle, unit)


@dataclass(frozen=True)
class LossSettings:
    """Parameters of a fit: the loss, the ridge, the start and the limits of the descent."""

    loss: Loss
    alpha: Any  # a number or "auto"
    scale: Any  # of the columns of X
    max_iter: int
    tol: float
    output_weight: Array | None = None
    start: Array | None = None  # a map (n_targets, n_features), or None for the closed form
    start_name: str = "init"
    verbose: int = 0
    callback: Any = None


def check_start(init: Any) -> Array | None:
    """Return the start that a user gives, a map (n_targets, n_features), or None."""
    if init is None:
        return None
    try:
        start = np.asarray(init, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"init == {init!r}, must be None or an array (n_targets, n_features)."
        ) from None
    if not np.isfinite(start).all():
        raise ValueError("init has NaN or infinite entries, all must be finite.")
    return start


@dataclass
class LossFit:
    """A fitted map under a loss without a closed form."""

    form: Any  # rows, or moments of a source
    factors: Factors
    loss: Loss  # with the parameters that were set from the data
    objective: float
    output_scale: Array
    ridge_factor: float  # by which a ridge weight left at "auto" was multiplied
    result: SolverResult


def fit_loss(
    X: NDArray,
    Y: Array,
    weights: Array | None,
    n_components: int | None,
    settings: LossSettings,
    ridge_weight: Callable[[Any], float],
) -> LossFit:
    """Descend from a start in the whitened coordinates of X.

    ``ridge_weight(form)`` gives the ridge weight in the units of a form.
    """
    loss = settings.loss
    y_unit = np.ones(Y.shape[1])
    w_unit = 1.0
    if isinstance(loss, ResidualLoss) and not loss.has_units:
        y_unit = graded_units(Y)
    if weights is not None:  # a common factor of loss and ridge, which may be out of range
        w_unit = power_of_two(weights)
        weights = weights / w_unit
    outputs = _Outputs.from_targets(Y / y_unit, loss, weights)
    check_user_loss(loss, outputs.Y, outputs.easy)
    form = RowForm.from_rows(X, outputs.easy, weights, settings.scale)
    q = Y.shape[1]
    form.Y = form.Y * form.frame.y_scale
    form.frame.y_scale = y_unit
    form.y_squares = (form.Y**2).sum(axis=0)
    spectrum = form.spectrum()
    form.frame.weight_unit = w_unit
    alpha = ridge_weight(form)
    rows = (form.X if weights is None else form.frame.x(X)) @ spectrum.basis
    optimum = RankOptimum(form, spectrum, alpha, output_sizes(form))
    most = min(len(spectrum.squares), q)
    r = most if n_components is None else min(n_components, most)
    constant = (Y == Y[0]).all(axis=0)
    if constant.all():  # nothing to map to: the location alone
        r = 0
    unit = outputs.unit * y_unit
    A, D = _start(settings, form, spectrum, optimum, r, unit)  # C = basis A D'
    if r == 0:
        A = np.zeros((len(spectrum.squares), 1))
        D = np.zeros((q, 1))
    descent = _Descent(settings, rows, spectrum.squares, outputs, weights, alpha)
    A, D, b = descent.run((A, D, form.frame.y_mean))
    check_finite(A, descent.loss)
    D, b = D * outputs.unit[:, None], b * outputs.unit + outputs.middle
    if constant.any() and isinstance(descent.loss, ResidualLoss):
        D = np.where(constant[:, None], 0.0, D)
        b = np.where(constant, Y[0] / y_unit, b)
    residual = Y / y_unit - b
    factors = _factors(form, spectrum.basis @ A[:, :r], D[:, :r], residual, b * y_unit, weights)
    return LossFit(
        form,
        factors,
        descent.loss,
        descent.objective * w_unit,
        descent.output_scale * outputs.unit * y_unit,
        descent.ridge_factor,
        descent.result,
    )


class _Descent:
    """Descents with the scales of the outputs adapted to the residuals, until they settle."""

    loss: Loss
    objective: float
    output_scale: Array
    ridge_factor: float = 1.0
    result: SolverResult

    def __init__(
        self,
        settings: LossSettings,
        rows: Array,
        squares: Array,
        outputs: _Outputs,
        weights: Array | None,
        alpha: float,
    ) -> None:
        self.settings, self.rows, self.squares = settings, rows, squares
        self.outputs, self.weights, self.alpha = outputs, weights, alpha

    def run(self, start: Point) -> Point:
        """Descend; a loss that is measured in the scale of the residuals is updated until it settles."""
        given, Y = self.settings.loss, self.outputs.Y
        point, n_iter = start, 0
        residual = self._residual(point)
        least = np.zeros(Y.shape[1])
        if isinstance(given, ResidualLoss):
            # A smooth loss in the units of y only counts its tolerance in this scale, which is there
            # unless inputs are many enough to interpolate.
            if not (given.is_smooth and given.has_units) or 2 * len(self.squares) > len(Y):
                free, least = ridge_residuals(
                    self.rows, self.squares, Y, self.outputs.easy, self.weights, self.alpha
                )
                least = np.maximum(least, _SHARE * robust_scales(free, self.weights))
            if not given.has_units and given.resolve(residual, self.weights, scale=1.0) is given:
                residual = free  # nothing follows the scales: they do not depend on the rank either
        scales, self.loss = self._resolve(residual, least)
        settles = self.loss is not given
        for turn in range(_SETTLING if settles else 1):
            stage = _Stage(self, scales)
            last = not settles or turn == _SETTLING - 1
            point, result = stage.descend(point, rough=not last)
            n_iter += result.n_iter
            if last or not result.converged:
                break
            new, loss = self._resolve(self._residual(point), least)
            if (np.abs(new - scales) <= _SETTLED * scales).all():
                point, result = stage.descend(point)
                n_iter += result.n_iter
                break
            scales, self.loss = new, loss
        self.output_scale = scales if not given.has_units else np.ones(Y.shape[1])
        self.objective = stage.objective
        self.result = replace(result, n_iter=n_iter)
        if self.settings.alpha == "auto" and self.alpha:
            self.ridge_factor = stage.alpha / self.alpha
        return point

    def _residual(self, point: Point) -> Array:
        A, D, b = point
        return self.outputs.Y - (self.rows @ A) @ D.T - b

    def _resolve(self, residual: Array, least: Array) -> tuple[Array, Loss]:
        """Return scales of the residuals of each output, and the loss with its parameters for them.

        A loss in the units of y has one scale, for all outputs, which only its tolerances know of.
        """
        given, weights = self.settings.loss, self.weights
        if not given.has_units:
            found = robust_scales(residual, weights)
            scales = np.maximum(found, least)
            # The parameters are those of residuals that are as large as their scale says.
            residual = residual / np.where(found > 0, found, 1.0)
            return scales, given.resolve(residual, weights, scale=1.0)
        scale = robust_scale(residual, weights)
        floor = float(np.median(least))
        if isinstance(given, ResidualLoss) and scale < floor:
            residual, scale = residual * (floor / scale), floor
        return np.full(len(least), scale), given.resolve(residual, weights)


class _Stage:
    """One descent with given scales of the outputs."""

    def __init__(self, descent: _Descent, scales: Array) -> None:
        self.settings, loss = descent.settings, descent.loss
        is_scaled = not self.settings.loss.has_units
        self.scales = scales if is_scaled else np.ones(len(scales))
        self.scale = 1.0 if is_scaled else float(scales[0])
        curvature = loss.typical_curvature(self.scale)
        self.alpha = descent.alpha
        if self.settings.alpha == "auto":
            # A ridge that is left open is a share of the curvature of the loss in every direction.
            self.alpha *= curvature
        self.g = 1.0 / np.sqrt(descent.squares + self.alpha / curvature)
        self.problem = RankProblem(
            descent.rows * self.g,
            self.g,
            descent.outputs.Y / self.scales,
            descent.weights,
            loss,
            Penalty(self.alpha),
            self.settings.output_weight,
        )
        self.objective = np.nan

    def descend(self, start: Point, rough: bool = False) -> tuple[Point, SolverResult]:
        """From factors in the units of the outputs to better ones; rough where the scales go on to move."""
        settings, problem = self.settings, self.problem
        A, D, b = start
        point = A / self.g[:, None], D / self.scales[:, None], b / self.scales
        if outputs_come_apart(problem, A.shape[1]):
            point, result = fit_outputs(problem, settings.max_iter)
        else:
            options: dict[str, Any] = {
                "scale": self.scale,
                "max_iter": settings.max_iter,
                "tol": settings.tol,
                "verbose": settings.verbose,
                "callback": settings.callback,
            }
            chosen = settings.start is not None
            point, result = descend_well(problem, point, options, rough=rough, chosen=chosen)
        self.objective = problem.objective(*point)
        A, D, b = point
        return (self.g[:, None] * A, D * self.scales[:, None], b * self.scales), result


def _start(
    settings: LossSettings,
    form: RowForm,
    spectrum: Any,
    optimum: RankOptimum,
    r: int,
    unit: Array,
) -> tuple[Array, Array]:
    """Return factors of the start in the coordinates of the spectrum, (k, r) and (q, r).

    ``unit`` is that of each output, (q,).
    """
    k, q = len(spectrum.squares), form.Y.shape[1]
    given = settings.start
    if given is None:
        A, D = optimum.factors(min(r, optimum.rank))
        return _add_tiny_columns(np.pad(A, ((0, k - len(A)), (0, 0))), D, r)
    expected = (q, len(form.frame.x_scale))
    if given.shape != expected:
        raise ValueError(
            f"{settings.start_name} has shape {given.shape}, expected (n_targets, n_features) = {expected}."
        )
    # Of any size: as a start, a map far larger than y serves by its directions.
    common = power_of_two(given)
    inner = spectrum.basis.T @ ((given / common / unit[:, None]) * form.frame.x_scale).T
    size = float(np.linalg.norm(np.sqrt(spectrum.squares)[:, None] * inner))
    most = _LARGEST_START * float(np.sqrt(form.y_squares.sum()))
    factor = min(common, most / size) if size > 0 else 1.0
    inner *= factor if factor * size > _LEAST_RANK * most else 0.0
    U, s, Vt = svd(inner, full_matrices=False)
    rank = np.count_nonzero(s[:r] > _LEAST_RANK * s.max(initial=0.0))
    A, D = _complete_rank(U[:, :rank] * s[:rank], Vt[:rank].T, optimum, r)
    return _add_tiny_columns(A, D, r)


def _complete_rank(A: Array, D: Array, optimum: RankOptimum, r: int) -> tuple[Array, Array]:
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


def _add_tiny_columns(A: Array, D: Array, r: int) -> tuple[Array, Array]:
    """Fill up to r columns with tiny ones: a column of zeros has no gradient to leave it."""
    lack = r - A.shape[1]
    if lack <= 0:
        return A[:, :r], D[:, :r]
    size = 1e-3 * max(float(np.linalg.norm(A)), 1e-3) / max(A.shape[0], 1)
    rng = np.random.default_rng(0)
    extra = [size * rng.standard_normal((len(F), lack)) for F in (A, D)]
    return np.hstack([A, extra[0]]), np.hstack([D, extra[1]])


def _factors(
    form: RowForm, A: Array, D: Array, Y: Array, b: Array, weights: Array | None
) -> Factors:
    """Factors of the map A D' for the base class; the intercept stands in for the mean of y."""
    root = 1.0 if weights is None else np.sqrt(weights)[:, None]
    form.frame.y_mean = b
    form.Y = Y * root
    form.y_squares = (form.Y**2).sum(axis=0)
    return map_factors(form, A, D)
