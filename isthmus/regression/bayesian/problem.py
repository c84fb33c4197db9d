"""What a posterior over maps of low rank needs to know of the data and of the prior."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.linalg import Array, column_signs
from isthmus.moments import Moments
from isthmus.regression.forms import MomentForm, RowForm
from isthmus.regression.spectrum import spectrum_of

# Squared singular values of X below this share of the largest are rounding errors.
_ZERO = 1e-12
# A residual of the best map of rank r below this share of ||Y||^2 is an interpolation.
_INTERPOLATES = 1e-8
_WEAK_NOISE = (1.0, 1e-3)


@dataclass(frozen=True)
class Prior:
    """The prior in standardised units.

    ``kind`` is "normal" (both factors Gaussian), "half_normal" (singular values) or "matrix_normal"
    (the map itself); ``variance`` is that of the entries in question. The noise scale raised to the
    power of the likelihood is inverse gamma with ``noise_shape`` and ``noise_rate``; both 0 is the
    scale-free law.
    """

    kind: str
    variance: float
    noise_shape: float
    noise_rate: float

    @property
    def precision(self) -> float:
        return 1.0 / self.variance


@dataclass(frozen=True)
class Problem:
    """Inputs along their own principal axes, and outputs, both in standardised units.

    With ``X = U diag(d) B'``: ``squares`` d^2 (k,), ``cross`` diag(d) U'Y (k, q), ``basis`` B (p, k);
    ``rest`` is what no linear map explains of ||Y||^2 and ``weight`` the number of rows. The rows are
    there only where the likelihood is not Gaussian.
    """

    squares: Array
    cross: Array
    basis: Array
    rest: float
    weight: float
    intercept: bool
    x_unit: Array  # (p,), the user's units of a standardised input
    y_unit: Array  # (q,)
    rows: Array | None = None  # (n, k), unweighted
    Y: Array | None = None
    row_weights: Array | None = None

    @property
    def n_targets(self) -> int:
        return self.cross.shape[1]

    @property
    def n_features(self) -> int:
        return len(self.basis)

    @property
    def degrees(self) -> float:
        """Number of residuals that carry the noise; a flat intercept has taken one row."""
        return max(self.weight - self.intercept, 1.0) * self.n_targets

    @property
    def entries(self) -> float:
        return self.weight * self.n_targets

    def best_residual(self, rank: int) -> float:
        """Squared error of the best map of that rank."""
        sigma = np.linalg.svd(self.cross / self.roots[:, None], compute_uv=False)
        return self.rest + float((sigma[rank:] ** 2).sum())

    @property
    def roots(self) -> Array:
        return np.sqrt(np.where(self.squares > 0, self.squares, 1.0))

    @property
    def total(self) -> float:
        """||Y||^2."""
        return self.rest + float(((self.cross / self.roots[:, None]) ** 2).sum())

    def completed(self) -> Problem:
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
    scale: str,
    intercept: bool,
    rows: tuple[NDArray, NDArray, Array | None] | None = None,
) -> Problem:
    """The problem of a form; ``rows`` are the user's X, Y and weights, where they are needed."""
    frame = form.frame
    x_unit = _units(form.x_squares, frame.weight, scale)
    y_unit = _units(form.y_squares, frame.weight, scale)
    if isinstance(form, MomentForm):
        scaled: Any = replace(
            form,
            xx=form.xx / np.outer(x_unit, x_unit),
            xy=form.xy / np.outer(x_unit, y_unit),
            y_squares=form.y_squares / y_unit**2,
        )
    else:
        scaled = RowForm(
            frame,
            form.Y / y_unit,
            form.x_squares / x_unit**2,
            form.y_squares / y_unit**2,
            form.X / x_unit,
        )
    spectrum = spectrum_of(scaled)
    squares, cross, basis = spectrum.squares, spectrum.cross, spectrum.basis
    signs = column_signs(basis) if basis.size else np.ones(basis.shape[1])
    basis, cross = basis * signs, cross * signs[:, None]  # the same draws for the same moments
    dead = squares <= _ZERO * spectrum.norm
    squares, cross = np.where(dead, 0.0, squares), np.where(dead[:, None], 0.0, cross)
    explained = (cross[~dead] ** 2 / squares[~dead, None]).sum()
    rest = max(float(scaled.y_squares.sum() - explained), 0.0)
    problem = Problem(
        squares,
        cross,
        basis,
        rest,
        frame.weight,
        intercept,
        frame.x_scale * x_unit,
        frame.y_scale * y_unit,
    )
    return problem if rows is None else _with_rows(problem, form, rows)


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


def _units(squares: Array, weight: float, scale: str) -> Array:
    """Unit of each column: common to all, its own deviation, or 1."""
    if scale == "none":
        return np.ones(len(squares))
    variances = squares / weight
    if scale == "common":
        variances = np.full(len(squares), variances.mean())
    return np.sqrt(np.where(variances > 0, variances, 1.0))


def make_prior(kind: str, variance: float, noise_prior: Any, problem: Problem, rank: int) -> Prior:
    """The prior; "auto" noise is scale-free unless a map of this rank interpolates the data."""
    if noise_prior == "auto":
        interpolates = problem.best_residual(rank) <= _INTERPOLATES * problem.total
        shape, rate = _WEAK_NOISE if interpolates else (0.0, 0.0)
    else:
        shape, rate = noise_prior
    return Prior(kind, float(variance), float(shape), float(rate))


def uncentred_form(X: Any, Y: NDArray, weights: Array | None) -> MomentForm:
    """Moments about 0."""
    moments = Moments(X.shape[1], Y.shape[1], full_yy=False)._sum(X, Y, weights)
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
        y_unit=np.ones(problem.n_targets),
        Y=np.asarray(Y, dtype=float),
    )
