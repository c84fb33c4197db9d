"""The data and the prior of a posterior over maps of low rank."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from isthmus._linalg import ROUNDING, Array, column_signs
from isthmus.problems import MomentForm, Moments, RowForm

# A residual below this share of the squares of Y is an interpolation.
_INTERPOLATES = 1e-8
# Rates of the noise, in variances of an output: below them the scale-free law ends. The first is rounding
# error, the second keeps the noise away from 0 where a map could interpolate the data.
_ROUNDING, _WEAK = 1e-16, 1e-3
# A deviation below this share of the mean is rounding error.
_CONSTANT = 1e-14
_RANGE = 30.0  # of logarithms of variances about the size of the outputs
# Where a descent over them begins: along smooth inputs, noise alone is a maximum too.
_STARTS = (0.0, 3.0, 6.0)


@dataclass(frozen=True)
class Prior:
    """The prior in standardised units.

    ``kind`` is "normal" (both factors Gaussian), "half_normal" (singular values) or "matrix_normal"
    (the map itself); ``variance`` is that of the entries in question. ``noise`` is "per_output",
    "common" or "full". The noise scale raised to the power of the likelihood is inverse gamma with
    ``noise_shape`` and ``noise_rate``, numbers or one for each output; both 0 is the scale-free law.
    """

    kind: str
    variance: float
    noise_shape: Any  # float or (q,)
    noise_rate: Any
    noise: str = "per_output"

    @property
    def precision(self) -> float:
        return 1.0 / self.variance


@dataclass(frozen=True)
class Problem:
    """Inputs along their own principal axes, and outputs, both in standardised units.

    With ``X = U diag(d) B'``: ``squares`` d^2 (k,), ``cross`` diag(d) U'Y (k, q), ``basis`` B (p, k);
    ``rest`` is what no linear map explains of the squares of each output, ``scatter`` the same with
    products, for a covariance of the noise, and ``weight`` the number of rows. The rows are there only
    where the likelihood is not Gaussian.
    """

    squares: Array
    cross: Array
    basis: Array
    rest: Array  # (q,)
    weight: float
    intercept: bool
    x_unit: Array  # (p,), the user's units of a standardised input
    y_unit: Array  # (q,)
    rows: Array | None = None  # (n, k), unweighted
    Y: Array | None = None
    row_weights: Array | None = None
    scatter: Array | None = None  # (q, q)

    @property
    def n_targets(self) -> int:
        return self.cross.shape[1]

    @property
    def n_features(self) -> int:
        return len(self.basis)

    def is_full(self, rank: int) -> bool:
        """Whether a rank leaves the map free."""
        return rank >= min(self.n_features, self.n_targets)

    @property
    def degrees(self) -> float:
        """Number of residuals of an output that carry the noise; a flat intercept has taken one."""
        return max(self.weight - self.intercept, 1.0)

    def best_residual(self, rank: int) -> float:
        """Squared error of the best map of that rank."""
        sigma = np.linalg.svd(self.target, compute_uv=False)
        return float(self.rest.sum() + (sigma[rank:] ** 2).sum())

    @property
    def roots(self) -> Array:
        return np.sqrt(np.where(self.squares > 0, self.squares, 1.0))

    @property
    def target(self) -> Array:
        """U'Y (k, q): the part of the outputs that a linear map can explain."""
        return self.cross / self.roots[:, None]

    @property
    def totals(self) -> Array:
        """Squares of each output, (q,)."""
        return self.rest + (self.target**2).sum(axis=0)

    def complete_axes(self) -> Problem:
        """The same problem with axes for all of the input space, also where X does not vary."""
        p, k = self.basis.shape
        if k == p:
            return self
        lack = p - k
        basis = np.linalg.qr(self.basis, mode="complete")[0]
        basis[:, :k] = self.basis
        rows = None if self.rows is None else np.pad(self.rows, ((0, 0), (0, lack)))
        return replace(
            self,
            squares=np.pad(self.squares, (0, lack)),
            cross=np.pad(self.cross, ((0, lack), (0, 0))),
            basis=basis,
            rows=rows,
        )


def make_problem(
    form: MomentForm | RowForm,
    units: str,
    intercept: bool,
    rows: tuple[NDArray, NDArray, Array | None] | None = None,
    yy: Array | None = None,
) -> Problem:
    """The problem of a form.

    ``rows`` are the user's X, Y and weights, where they are needed; ``yy`` is Y'Y in the form's frame,
    for a covariance of the noise.
    """
    frame = form.frame
    x_unit = _units(form.x_squares, frame.x_mean / frame.x_scale, frame.weight, _X_UNITS[units])
    y_unit = _units(form.y_squares, frame.y_mean / frame.y_scale, frame.weight, _Y_UNITS[units])
    scaled = form.in_units(x_unit, y_unit)
    spectrum = scaled.spectrum()
    squares = spectrum.squares
    cross = spectrum.cross
    basis = spectrum.basis
    signs = column_signs(basis) if basis.size else np.ones(basis.shape[1])
    basis, cross = basis * signs, cross * signs[:, None]  # the same draws for the same moments
    dead = squares <= ROUNDING * spectrum.norm
    squares = np.where(dead, 0.0, squares)
    cross = np.where(dead[:, None], 0.0, cross)
    target = cross[~dead] / np.sqrt(squares[~dead, None])
    problem = Problem(
        squares,
        cross,
        basis,
        np.maximum(scaled.y_squares - (target**2).sum(axis=0), 0.0),
        frame.weight,
        intercept,
        frame.x_scale * x_unit,
        frame.y_scale * y_unit,
        scatter=None if yy is None else _unexplained(yy / np.outer(y_unit, y_unit), target),
    )
    return problem if rows is None else _with_rows(problem, form, rows)


def _unexplained(yy: Array, target: Array) -> Array:
    """Y'Y minus what a linear map explains, without the negative eigenvalues of rounding."""
    values, axes = np.linalg.eigh(yy - target.T @ target)
    return (axes * np.maximum(values, 0.0)) @ axes.T


def _with_rows(
    problem: Problem, form: MomentForm | RowForm, rows: tuple[NDArray, NDArray, Array | None]
) -> Problem:
    X, Y, weights = rows
    frame = form.frame
    Z = ((X - frame.x_mean) - frame.x_rest) / problem.x_unit
    Ys = (Y - frame.y_mean) / problem.y_unit
    return replace(
        problem,
        rows=np.ascontiguousarray(Z @ problem.basis),
        Y=np.ascontiguousarray(Ys),
        row_weights=weights,
    )


# What inputs and outputs are divided by: one number for all columns, each column's own, or nothing.
_X_UNITS = {"outputs": "common", "columns": "own", "common": "common", "none": "none"}
_Y_UNITS = {"outputs": "own", "columns": "own", "common": "common", "none": "none"}


def _units(squares: Array, mean: Array, weight: float, kind: str) -> Array:
    """Unit of each column: its deviation, or its mean where it is constant."""
    if kind == "none":
        return np.ones(len(squares))
    deviations = np.sqrt(squares / weight)
    size = np.abs(mean)
    if kind == "common":
        deviations = np.full(len(squares), np.sqrt((squares / weight).mean()))
        size = np.full(len(squares), size.max(initial=0.0))
    units = np.where(deviations > _CONSTANT * size, deviations, size)
    return np.where(units > 0, units, 1.0)


def make_prior(
    kind: str, variance: Any, noise_prior: Any, noise: str, problem: Problem, rank: int
) -> Prior:
    """The prior; "auto" noise is scale-free down to rounding error, or to what keeps it from 0.

    The prior "auto" is the conjugate one, and its variance that of the largest marginal likelihood.
    """
    shape: Any
    rate: Any
    if noise_prior == "auto":
        shape = 0.0
        rate = np.where(interpolates(problem, noise, rank), _WEAK, _ROUNDING)
    else:
        shape, rate = (np.float64(number) for number in noise_prior)
    if kind == "auto":
        kind = "matrix_normal" if problem.is_full(rank) else "normal"
    if variance == "auto":
        variance = 1.0
        if kind == "matrix_normal" and problem.is_full(rank):
            variance = likely_variance(problem, shape, rate, noise == "common")
    return Prior(kind, float(variance), shape, rate, noise)


def likely_variance(problem: Problem, shape: Any, rate: Any, is_common: bool) -> float:
    """The variance of coefficients under which the outputs are most likely, with Gaussian noise.

    Along each axis of the inputs outputs are normal with variance ``tau^2 + v d^2``; what no map explains
    tells ``tau`` alone. Noise scales are found with v, by descents over the logarithms.
    """
    live = problem.squares > 0
    g, t2 = problem.squares[live, None], problem.target[live] ** 2
    off = max(problem.degrees - live.sum(), 0.0)
    size = problem.totals.sum() / problem.n_targets / problem.degrees
    if not live.any() or not size > 0:
        return 1.0
    unit = size * problem.degrees / g.sum()  # of v: with it, a map explains as much as there is
    n_scales = 1 if is_common else problem.n_targets
    shape, rate = (number * n_scales / problem.n_targets for number in (shape, rate))

    def minus_log(x: Array) -> tuple[float, Array]:
        v, tau2 = unit * np.exp(x[0]), size * np.exp(np.broadcast_to(x[1:], problem.n_targets))
        total = tau2 + v * g
        slope = (1 - t2 / total) / total  # of twice the value by the total
        ends = (off + 2 * shape) * np.log(tau2) + (problem.rest + 2 * rate) / tau2
        by_tau = tau2 * slope.sum(axis=0) + off + 2 * shape - (problem.rest + 2 * rate) / tau2
        value = (np.log(total) + t2 / total).sum() + ends.sum()
        by_noise = [by_tau.sum()] if is_common else by_tau
        return float(value), np.r_[v * (g * slope).sum(), by_noise]

    bounds = [(-_RANGE, _RANGE)] * (1 + n_scales)
    starts = (np.r_[first, np.full(n_scales, np.log(0.5))] for first in _STARTS)
    ends = [minimize(minus_log, x, jac=True, method="L-BFGS-B", bounds=bounds) for x in starts]
    found = min(ends, key=lambda end: end.fun)
    return float(unit * np.exp(found.x[0]))


def interpolates(problem: Problem, noise: str, rank: int) -> Any:
    """Whether a map of this rank leaves no residual where the noise has a scale of its own.

    A map of rank one is enough for one output, or for one combination of them.
    """
    totals = problem.totals
    if noise == "common":
        return problem.best_residual(rank) <= _INTERPOLATES * totals.sum()
    if noise == "per_output":
        return problem.rest <= _INTERPOLATES * totals
    assert problem.scatter is not None
    unit = np.sqrt(np.where(totals > 0, totals, 1.0))
    smallest = np.linalg.eigvalsh(problem.scatter / np.outer(unit, unit))[0]
    return smallest <= _INTERPOLATES


def uncentred_form(X: Any, Y: NDArray, weights: Array | None) -> MomentForm:
    """Moments about 0."""
    moments = Moments.squares_of(X, Y, weights)
    x_mean, y_mean = moments.x_mean, moments.y_mean
    moments.xx = moments.xx + moments.weight * np.outer(x_mean, x_mean)
    moments.xy = moments.xy + moments.weight * np.outer(x_mean, y_mean)
    moments.yy = moments.yy + moments.weight * y_mean**2
    moments._x_mean = (np.zeros_like(x_mean), np.zeros_like(x_mean))
    moments._y_mean = (np.zeros_like(y_mean), np.zeros_like(y_mean))
    return MomentForm.from_moments(moments, False)


def in_own_units(problem: Problem, Y: NDArray) -> Problem:
    """Targets that are neither centred nor scaled (labels, counts); inputs in those of the priors."""
    return replace(
        problem,
        cross=problem.cross * problem.y_unit,
        rest=problem.rest * problem.y_unit**2,
        y_unit=np.ones(problem.n_targets),
        Y=np.asarray(Y, dtype=float),
    )
